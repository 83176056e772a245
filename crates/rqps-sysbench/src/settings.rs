//! The options of a command, read once and checked.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::console::Console;
use crate::options::Options;
use crate::options::cmdline::CommandLine;
use crate::random::{Distribution, Shape};
use crate::run::control::Limits;
use crate::sql::failure::Ignored;
use crate::{Environment, Error};

/// More threads than any system lets one program have, and counts of each that still fit in memory.
const MOST_THREADS: usize = 100_000;

/// The options of a command, read once and checked.
#[derive(Debug)]
pub(crate) struct Settings {
    /// All options, for those that are read when they are needed.
    pub(crate) options: Options,
    /// What client libraries read besides.
    pub(crate) environment: Environment,
    /// All words that were typed.
    pub(crate) words: Vec<String>,
    /// Where texts go.
    pub(crate) console: Console,
    /// Client threads, at least 1.
    pub(crate) n_threads: usize,
    /// What limits the events.
    pub(crate) limits: Limits,
    /// Time of the events that count; `None` for no end.
    pub(crate) time: Option<Duration>,
    /// Time of the events before.
    pub(crate) warm_up: Duration,
    /// How long after the end of the time unfinished events are waited for; `None` for ever.
    pub(crate) forced_shutdown: Option<Duration>,
    /// How long threads may take to begin.
    pub(crate) init_timeout: Duration,
    /// Seconds between intermediate reports, 0 for none.
    pub(crate) report_interval_s: u64,
    /// When whole reports are printed, seconds after the start, in order.
    pub(crate) checkpoints_s: Vec<u64>,
    /// Percentiles of response times, in the order given; none for none.
    pub(crate) percentiles: Vec<f64>,
    /// Whether to print the distribution of response times.
    pub(crate) histogram: bool,
    /// Whether the report is JSON.
    pub(crate) json: bool,
    /// Seed of all random numbers.
    pub(crate) seed: u64,
    /// Whether it was given.
    pub(crate) seed_given: bool,
    /// Parameters of the distributions.
    pub(crate) shape: Shape,
    /// Errors after which an event is begun again.
    pub(crate) ignored: Ignored,
    /// Whether prepared statements travel as text.
    pub(crate) text_only: bool,
    /// Whether every statement is printed.
    pub(crate) db_debug: bool,
    /// Whether nothing is sent to MySQL.
    pub(crate) dry_run: bool,
}

impl Settings {
    /// Reads and checks the options.
    ///
    /// # Errors
    /// The first option whose value is out of range.
    pub(crate) fn new(
        line: &CommandLine,
        environment: &Environment,
        console: Console,
    ) -> Result<Self, Error> {
        let options = line.options.clone();
        let n_threads = options.int("threads")?;
        let n_threads = usize::try_from(n_threads)
            .ok()
            .filter(|n| (1..=MOST_THREADS).contains(n))
            .ok_or_else(|| Error::Fatal(format!("Invalid value for --threads: {n_threads}.\n")))?;
        let time_s = not_negative(&options, "time")?;
        let max_events = not_negative(&options, "events")?;
        let rate = options.number("rate")?;
        if rate < 0.0 {
            return Err(Error::Fatal(format!("Invalid value for --rate: {rate}")));
        }
        let given_seed = options.int("rand-seed")?;
        let seed = if given_seed == 0 { drawn_seed() } else { given_seed.unsigned_abs() };
        let (percentiles, histogram) = (percentiles(&options)?, options.switch("histogram")?);
        if histogram && percentiles.is_empty() {
            return Err(Error::Fatal("--histogram cannot be used with --percentile=0".to_owned()));
        }
        let time = (time_s > 0).then(|| Duration::from_secs(time_s));
        Ok(Self {
            n_threads,
            limits: Limits { max_events, rate, seed },
            time,
            warm_up: Duration::from_secs(not_negative(&options, "warmup-time")?),
            forced_shutdown: forced_shutdown(&options, time_s)?,
            init_timeout: Duration::from_secs(not_negative(&options, "thread-init-timeout")?),
            report_interval_s: not_negative(&options, "report-interval")?,
            checkpoints_s: checkpoints(&options)?,
            percentiles,
            histogram,
            json: options.switch("json")?,
            seed,
            seed_given: given_seed != 0,
            shape: shape(&options)?,
            ignored: Ignored::new(&options.list("mysql-ignore-errors")?),
            text_only: options.text("db-ps-mode")? == "disable",
            db_debug: options.switch("db-debug")?,
            dry_run: options.switch("mysql-dry-run")?,
            words: line.words.clone(),
            environment: environment.clone(),
            options,
            console,
        })
    }

    /// The percentile of intermediate reports, where there is one.
    pub(crate) fn main_percentile(&self) -> Option<f64> {
        self.percentiles.first().copied()
    }
}

fn drawn_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Every reader of JSON holds numbers below 2^53.
    u64::try_from(since.as_nanos() & ((1 << 53) - 1)).unwrap_or(1)
}

fn not_negative(options: &Options, name: &str) -> Result<u64, Error> {
    let value = options.int(name)?;
    u64::try_from(value).map_err(|_| Error::Fatal(format!("Invalid value for --{name}: {value}")))
}

fn forced_shutdown(options: &Options, time_s: u64) -> Result<Option<Duration>, Error> {
    let text = options.text("forced-shutdown")?;
    // Without a value it is 5% of the time.
    let bare =
        options.given().any(|(name, given)| name == "forced_shutdown" && given.value.is_none());
    if bare {
        return Ok(Some(Duration::from_secs(time_s) / 20));
    }
    if text == "off" {
        return Ok(None);
    }
    if let Some(percent) = text.strip_suffix('%').and_then(|text| text.parse::<u32>().ok()) {
        // Whole seconds, as sysbench counts.
        return Ok(Some(Duration::from_secs(time_s.saturating_mul(percent.into()) / 100)));
    }
    let seconds = text.parse::<u32>();
    seconds
        .map(|seconds| Some(Duration::from_secs(seconds.into())))
        .map_err(|_| Error::Fatal(format!("Invalid value for --forced-shutdown: '{text}'")))
}

fn checkpoints(options: &Options) -> Result<Vec<u64>, Error> {
    let mut seconds = Vec::new();
    for text in options.list("report-checkpoints")? {
        let parsed = text.trim().parse::<u64>().ok().filter(|second| *second > 0);
        seconds.push(parsed.ok_or_else(|| {
            Error::Fatal(format!("Invalid value for --report-checkpoints: '{text}'"))
        })?);
    }
    seconds.sort_unstable();
    seconds.dedup();
    Ok(seconds)
}

fn percentiles(options: &Options) -> Result<Vec<f64>, Error> {
    let mut percentiles = Vec::new();
    for text in options.list("percentile")? {
        let parsed = text.trim().parse::<f64>().ok();
        let parsed = parsed.filter(|percent| (0.0..=100.0).contains(percent));
        let percent = parsed
            .ok_or_else(|| Error::Fatal(format!("Invalid value for --percentile: {text}")))?;
        if percent > 0.0 {
            percentiles.push(percent);
        }
    }
    Ok(percentiles)
}

fn shape(options: &Options) -> Result<Shape, Error> {
    let name = options.text("rand-type")?;
    let default = Distribution::from_name(&name)
        .ok_or_else(|| Error::Fatal(format!("Invalid random numbers distribution: {name}.")))?;
    let whole = |name: &str, least: i64, most: i64| -> Result<u32, Error> {
        let value = options.int(name)?;
        let fits = (least..=most).contains(&value);
        u32::try_from(value)
            .ok()
            .filter(|_| fits)
            .ok_or_else(|| Error::Fatal(format!("Invalid value for --{name}: {value}")))
    };
    let pareto_h = options.number("rand-pareto-h")?;
    if !(pareto_h > 0.0 && pareto_h < 1.0) {
        return Err(Error::Fatal(format!("Invalid value for --rand-pareto-h: {pareto_h}")));
    }
    let zipf_exponent = options.number("rand-zipfian-exp")?;
    if zipf_exponent < 0.0 {
        return Err(Error::Fatal(format!("--rand-zipfian-exp must be >= 0: {zipf_exponent}")));
    }
    Ok(Shape {
        default,
        n_bell: whole("rand-spec-iter", 1, 1_000_000)?,
        special_pct: whole("rand-spec-pct", 0, 100)?,
        special_res: whole("rand-spec-res", 0, 100)?,
        pareto_h,
        zipf_exponent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::cmdline;

    fn settings(words: &str) -> Result<Settings, Error> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let console = Console::new(Box::new(std::io::sink()), Box::new(std::io::sink()));
        Settings::new(&cmdline::parse(&words)?, &Environment::default(), console)
    }

    #[test]
    fn values_out_of_range_are_refused_as_sysbench_does() {
        let said = |words: &str| settings(words).unwrap_err().to_string();
        assert_eq!(said("--threads=0"), "Invalid value for --threads: 0.\n");
        assert_eq!(said("--rand-type=foo"), "Invalid random numbers distribution: foo.");
        assert_eq!(said("--percentile=101"), "Invalid value for --percentile: 101");
        let no_percentile = "--histogram cannot be used with --percentile=0";
        assert_eq!(said("--histogram --percentile=0"), no_percentile);
        let most = "--threads=9223372036854775807";
        for words in [most, "--time=-1", "--rand-pareto-h=1", "--report-checkpoints=a", "--rate=-1"]
        {
            assert!(settings(words).is_err(), "{words}");
        }
    }

    #[test]
    fn what_options_mean() {
        let it =
            settings("--time=100 --forced-shutdown --percentile=50,99.9 --rand-seed=4").unwrap();
        assert_eq!(it.forced_shutdown, Some(Duration::from_secs(5)));
        assert_eq!(it.percentiles, [50.0, 99.9]);
        assert_eq!((it.seed, it.seed_given), (4, true));
        // Of sysbench 1.0.20: 0 ends at once, and `on` is refused.
        let at_once = settings("--time=5 --forced-shutdown=0").unwrap();
        assert_eq!(at_once.forced_shutdown, Some(Duration::ZERO));
        for wrong in [
            "--forced-shutdown=on",
            "--forced-shutdown=1.5",
            "--time=1e1",
            "--threads=2.0",
            "--events=10k",
        ] {
            assert!(settings(wrong).is_err(), "{wrong}");
        }
        let half = settings("--time=5 --forced-shutdown=50%").unwrap();
        assert_eq!(half.forced_shutdown, Some(Duration::from_secs(2)));
        let long = settings("--time=9223372036854775807 --forced-shutdown").unwrap();
        assert!(long.forced_shutdown > Some(Duration::from_secs(1 << 58)));
        let it = settings("--percentile=0 --time=0 --report-checkpoints=3,1").unwrap();
        assert_eq!((it.percentiles.len(), it.time, it.checkpoints_s), (0, None, vec![1, 3]));
    }
}
