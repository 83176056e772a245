//! One log taken apart, line by line. Lines that are none of sysbench's are passed over: logs have those of
//! scripts around it. So that such lines are not taken for its own, each counts below its heading alone.
//!
//! ```text
//! [ 10s ] thds: 4 tps: 812.31 qps: 16251.10 (r/w/o: 11377.07/3249.42/1624.61) lat (ms,95%): 6.55 err/s: 0.10 reconn/s: 0.00
//!        0.354 |*****                                    120        (histogram: upper end, count)
//!     queries:                             162511 (16250.33 per sec.)
//!     total time:                          10.0004s                 (1.0; 1.1: time elapsed)
//!          95th percentile:                         6.55
//! ```

use rqps_model::{ErrorCount, SeriesPoint, Slice, Stated, StatedResponse};

use super::histogram;
use crate::number::{ns_of_ms, whole};
use crate::sheet;

/// Longest interval that is laid out second by second: longer ones tell nothing of seconds.
const MAX_INTERVAL_S: u64 = 3600;

/// The part of a report that a line is of: by the last heading above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    /// None of the others.
    #[default]
    Other,
    /// `Latency histogram (values are in milliseconds)`.
    Histogram,
    /// `SQL statistics:`.
    Sql,
    /// `General statistics:`; of 1.1 `Throughput:`.
    General,
    /// `Latency (ms):`.
    Latency,
}

impl Part {
    /// The part that begins with a line.
    fn of_heading(text: &str) -> Option<Self> {
        match text {
            "SQL statistics:" => Some(Self::Sql),
            "General statistics:" | "Throughput:" => Some(Self::General),
            "Latency (ms):" => Some(Self::Latency),
            "Threads fairness:" => Some(Self::Other),
            _ => text.starts_with("Latency histogram").then_some(Self::Histogram),
        }
    }
}

/// What a log has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Log {
    /// Version, from the first line: `1.0.20`.
    pub version: Option<String>,
    /// The script, from a line with the command before the log: `oltp_read_only`.
    pub script: Option<String>,
    /// The driver of that command: `mysql` or `pgsql`.
    pub driver: Option<String>,
    /// Client threads.
    pub threads: Option<u32>,
    /// Statements answered, and per second.
    pub queries: Option<(u64, f64)>,
    /// Events finished, and per second.
    pub events: Option<(u64, f64)>,
    /// All events, as the end of the log counts them; tests without SQL have no other count.
    pub n_events: Option<u64>,
    /// Events that met an error that is ignored.
    pub ignored_errors: Option<u64>,
    /// Connections made anew.
    pub reconnects: Option<u64>,
    /// Measured time, seconds.
    pub seconds: Option<f64>,
    /// Response times.
    pub latency: Latency,
    /// Report intervals in order of time.
    pub intervals: Vec<Interval>,
    /// Upper ends of buckets in milliseconds, with how many responses were there.
    pub histogram: Vec<(f64, u64)>,
    /// The first line that says why sysbench gave up.
    pub fatal: Option<String>,
    /// Why its statistics are not those of one whole run.
    pub unfit: Option<String>,
    part: Part,
}

/// Response times of events, milliseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Latency {
    /// Shortest.
    pub min: Option<f64>,
    /// Mean.
    pub avg: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
    /// Percentiles and their values: one of sysbench's, none with `--percentile=0`, several of
    /// `rqps sysbench`.
    pub percentiles: Vec<(f64, f64)>,
}

/// One line of `--report-interval`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Interval {
    /// Its end, seconds since the start.
    pub at_s: u64,
    /// Events per second.
    pub tps: f64,
    /// Statements per second.
    pub qps: f64,
    /// Ignored errors per second.
    pub errors_per_s: f64,
    /// Connections made anew per second.
    pub reconnects_per_s: f64,
}

impl Log {
    /// Reads a log.
    ///
    /// # Errors
    /// Text without the figures of a finished run of sysbench; what is missing, in words, and sysbench's own
    /// reason where it has one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut log = Self::default();
        for line in text.lines() {
            log.take(line);
        }
        if let Some(unfit) = log.unfit.take() {
            return Err(unfit);
        }
        log.events = log.events.or_else(|| log.counted_without_sql());
        if log.events.is_some() || log.queries.is_some() {
            return Ok(log);
        }
        Err(match &log.fatal {
            Some(fatal) => format!("sysbench gave up: {fatal}"),
            None if log.version.is_none() && log.intervals.is_empty() => {
                "this is no log of sysbench".to_owned()
            }
            None => "the log ends before sysbench's statistics".to_owned(),
        })
    }

    /// Events, and per second, of a test without SQL: all events over the time.
    fn counted_without_sql(&self) -> Option<(u64, f64)> {
        let (n, seconds) = (self.n_events?, self.seconds.filter(|s| *s > 0.0)?);
        Some((n, n as f64 / seconds))
    }

    fn take(&mut self, line: &str) {
        let text = line.trim();
        if let Some(version) = version(text) {
            self.begin(version);
        } else if text.is_empty() {
            self.part = Part::Other;
        } else if let Some(part) = Part::of_heading(text) {
            self.part = part;
        } else if let Some(interval) = Interval::parse(text) {
            self.intervals.push(interval);
        } else if text.starts_with('[') && text.ends_with("] Checkpoint report:") {
            self.unfit.get_or_insert_with(|| {
                "it has reports of --report-checkpoints, after each of which sysbench counts from 0 again: \
                 log a run without them"
                    .to_owned()
            });
        } else if self.part == Part::Histogram
            && let Some(bucket) = bucket(text)
        {
            self.histogram.push(bucket);
        } else if let Some((name, value)) = text.split_once(':') {
            self.take_pair(name.trim(), value.trim());
        }
        if self.script.is_none()
            && let Some(words) = command(text)
        {
            self.script = script(&words);
            let driver = words.iter().find_map(|word| word.strip_prefix("--db-driver="));
            self.driver = driver.map(str::to_owned);
        }
    }

    /// A first line of sysbench's: what came before it is of another command, `prepare` or a run that gave up.
    /// A run that ended has a figure of its own, though.
    fn begin(&mut self, version: &str) {
        if self.events.is_some() || self.queries.is_some() || self.n_events.is_some() {
            self.unfit.get_or_insert_with(|| {
                "it has several runs of sysbench: give each a log of its own".to_owned()
            });
        }
        let is_known = version.starts_with("1.");
        let unfit = (!is_known).then(|| {
            format!(
                "it is a log of sysbench {version}, whose reports are others: those of 1.0 and 1.1 can be \
                 imported"
            )
        });
        *self = Self {
            version: Some(version.to_owned()),
            script: self.script.take(),
            driver: self.driver.take(),
            unfit: self.unfit.take().or(unfit),
            ..Self::default()
        };
    }

    fn take_pair(&mut self, name: &str, value: &str) {
        let number = || quantity(value.trim_end_matches('s'));
        match (self.part, name) {
            (_, "Number of threads") => self.threads = value.parse().ok().or(self.threads),
            (_, "FATAL" | "PANIC") => {
                self.fatal.get_or_insert_with(|| value.to_owned());
            }
            (Part::Sql, "queries") => self.queries = counted(value),
            (Part::Sql, "transactions") => self.events = counted(value),
            (Part::Sql, "ignored errors") => self.ignored_errors = counted(value).map(|(n, _)| n),
            (Part::Sql, "reconnects") => self.reconnects = counted(value).map(|(n, _)| n),
            (Part::General, "total time" | "time elapsed") => self.seconds = number(),
            (Part::General, "total number of events") => self.n_events = value.parse().ok(),
            (Part::Latency, "min") => self.latency.min = number(),
            (Part::Latency, "avg") => self.latency.avg = number(),
            (Part::Latency, "max") => self.latency.max = number(),
            (Part::Latency, name) => {
                // `th` stands behind every number.
                let percentile = name.strip_suffix("th percentile").and_then(quantity);
                self.latency.percentiles.extend(percentile.zip(number()));
            }
            _ => {}
        }
    }

    /// The log as a slice: its counts, and what it states of rates and response times.
    #[must_use]
    pub fn to_slice(&self) -> Slice {
        let (n_events, tps) = self.events.unwrap_or_default();
        // A script without statements of its own counts no queries.
        let (n_queries, qps) = self.queries.unwrap_or((n_events, tps));
        let response = self.latency.stated(n_events);
        // An event of either is begun again; one with a new connection counts as a reconnect alone.
        let errors = [("ignored", self.ignored_errors), ("reconnect", self.reconnects)];
        let error = |(code, n): (&str, Option<u64>)| {
            Some(ErrorCount { code: code.to_owned(), n: n.filter(|n| *n > 0)? })
        };
        Slice {
            duration_ns: self.seconds.map_or(0, |s| whole(s * 1e9)),
            n_events,
            n_queries,
            n_operations: n_queries,
            errors: errors.into_iter().filter_map(error).collect(),
            series: self.series(),
            response_times: histogram::encoded(&self.histogram),
            ..sheet::slice(Stated { figure: Some(qps), response, ..Stated::default() })
        }
    }

    /// A point per second: every second of a longer interval has its mean. Response times of seconds are
    /// not known.
    fn series(&self) -> Vec<SeriesPoint> {
        let small = |rate: f64| u32::try_from(whole(rate)).unwrap_or(u32::MAX);
        let mut points = Vec::new();
        let mut from = 0;
        for interval in &self.intervals {
            let seconds = interval.at_s.saturating_sub(from);
            if seconds == 0 || seconds > MAX_INTERVAL_S {
                return Vec::new();
            }
            let point = SeriesPoint {
                queries: small(interval.qps),
                events: small(interval.tps),
                errors: small(interval.errors_per_s + interval.reconnects_per_s),
                ..SeriesPoint::default()
            };
            points.extend((0..seconds).map(|_| point));
            from = interval.at_s;
        }
        points
    }
}

impl Latency {
    /// The same in nanoseconds; `None` without a mean.
    fn stated(&self, n: u64) -> Option<StatedResponse> {
        let ms = |value: Option<f64>| value.map_or(0, ns_of_ms);
        Some(StatedResponse {
            n,
            min_ns: ms(self.min),
            mean_ns: self.avg? * 1e6,
            max_ns: ms(self.max),
            percentiles_ns: self.percentiles.iter().map(|(p, v)| (*p, ns_of_ms(*v))).collect(),
        })
    }
}

impl Interval {
    /// Reads `[ 10s ] thds: 4 tps: 812.31 qps: ...`.
    fn parse(text: &str) -> Option<Self> {
        let (at, rest) = text.strip_prefix('[')?.split_once(']')?;
        let at_s = at.trim().strip_suffix('s')?.parse().ok()?;
        // Lines on a queue, of runs at a rate, begin alike and have no rates.
        let after = |name: &str| -> Option<f64> {
            let (_, behind) = rest.split_once(name)?;
            quantity(behind.split_whitespace().next()?)
        };
        Some(Self {
            at_s,
            // Tests without SQL have events alone.
            tps: after(" tps: ").or_else(|| after(" eps: "))?,
            qps: after(" qps: ").or_else(|| after(" eps: "))?,
            // Scripts that print it themselves have no colon here.
            errors_per_s: after(" err/s: ").or_else(|| after(" err/s ")).unwrap_or(0.0),
            reconnects_per_s: after(" reconn/s: ").unwrap_or(0.0),
        })
    }
}

/// `0.354 |*****   120`: the upper end of a bucket and its count.
fn bucket(text: &str) -> Option<(f64, u64)> {
    let (value, rest) = text.split_once('|')?;
    let count = rest.trim_start_matches('*').trim();
    Some((quantity(value.trim())?, count.parse().ok()?))
}

/// `162511 (16250.33 per sec.)`; what never happened in no time is `0 (-nan per sec.)`.
fn counted(value: &str) -> Option<(u64, f64)> {
    let (n, rest) = value.split_once('(')?;
    let per_s = rest.trim_end_matches([')', '.', ' ']).strip_suffix(" per sec")?;
    let n: u64 = n.trim().parse().ok()?;
    let per_s = if n == 0 { 0.0 } else { quantity(per_s.trim())? };
    Some((n, per_s))
}

/// A number from 0 on; a quotient by nothing is none.
fn quantity(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// The version of a first line: `sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)`; of older ones
/// `sysbench 0.5:  multi-threaded system evaluation benchmark`.
fn version(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("sysbench ")?;
    let (word, _) = rest.split_once(" (").or_else(|| rest.split_once(':'))?;
    let is_version = word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(' ');
    is_version.then_some(word)
}

/// The words of a command that runs sysbench, those behind its name; a shell that echoes it puts `+` or `$`
/// before it. `None` for any other line.
fn command(text: &str) -> Option<Vec<&str>> {
    let mut words = text.split_whitespace().skip_while(|word| matches!(*word, "+" | "$"));
    let is_sysbench = words.next()?.rsplit('/').next() == Some("sysbench");
    let words: Vec<&str> = words.collect();
    (is_sysbench && words.contains(&"run")).then_some(words)
}

/// The script of a command: `.../oltp_read_only.lua --threads=1 run`, else its first word that is no option.
fn script(words: &[&str]) -> Option<String> {
    let file = words.iter().find(|word| word.ends_with(".lua"));
    let word =
        file.or_else(|| words.iter().find(|word| !word.starts_with('-') && **word != "run"))?;
    let name = word.rsplit('/').next().unwrap_or(word);
    Some(name.strip_suffix(".lua").unwrap_or(name).to_owned())
}
