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
//!
//! Versions 0.4 and 0.5 have other headings, and print read and write requests apart from other operations
//! in place of queries.

use super::agree::{Held, Latency, Totals};
use super::checks::{CountedLine, Pair, is_no_thread_count};
use super::flaw::Flaw;
use super::line::{self, Interval, counted, quantity};
use super::part::Part;
use crate::number::MAX_SECONDS;

/// Share of the measured time that threads lack on average before they count as ended early.
const UNEQUAL_SHARE: f64 = 0.005;

/// Threads of two groups, one that ran for the whole time and one that did not run, have a known variance. From
/// this share of it on, times count as those of two groups.
const TWO_GROUPS: f64 = 0.25;

/// One event of so many may be in the statistics alone, and one of each thread: with `--warmup-time` sysbench 1.1
/// begins to count some microseconds before the histogram.
const HISTOGRAM_SLACK: u64 = 1000;

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
    /// Why its figure is not that of a whole run.
    pub flaws: Vec<Flaw>,
    /// The first line that says why sysbench gave up.
    fatal: Option<String>,
    /// Time that a thread spent on events, seconds: mean and standard deviation.
    thread_time: Option<(f64, f64)>,
    /// Whether a time limit ended it before its last events.
    is_forced: bool,
    /// Whether it has its last line.
    is_whole: bool,
    /// Before 1.0: statements that read or write, and all others.
    requests: Option<(u64, f64)>,
    other_operations: Option<(u64, f64)>,
    /// All counts with their rates, which have to fit the measured time.
    counted: Vec<CountedLine>,
    /// Counts that other counts are held against.
    totals: Totals,
    /// Names of lines that each part has once.
    named: Vec<(Part, String)>,
    /// Why its statistics are not those of one run.
    unfit: Option<String>,
    part: Part,
    /// The parts that have begun.
    seen: Vec<Part>,
}

impl Log {
    /// Reads a log.
    ///
    /// # Errors
    /// Text without the figures of one finished run of sysbench with SQL; what is missing, in words, and
    /// sysbench's own reason where it has one.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('{') {
            return Err("this is the JSON of rqps sysbench --json; import takes the text that it prints without"
                .to_owned());
        }
        let text = &line::without_colours(text);
        Self::parse_plain(text).map_err(|why| line::stamped(text).unwrap_or(why))
    }

    fn parse_plain(text: &str) -> Result<Self, String> {
        let mut log = Self::read(text);
        // Where a log was cut off, the last line may lack digits.
        if !log.is_whole && !text.ends_with('\n') {
            log = Self::read(text.rsplit_once('\n').map_or("", |(whole, _)| whole));
        }
        log.finish()
    }

    fn read(text: &str) -> Self {
        let mut log = Self::default();
        for (idx, line) in text.lines().enumerate() {
            log.take(idx, line);
        }
        log
    }

    /// The log when all lines were read, if these are of one run that has a figure.
    fn finish(mut self) -> Result<Self, String> {
        if let Some(unfit) = self.unfit.take() {
            return Err(unfit);
        }
        let contradicts =
            |seconds| self.counted.iter().find_map(|line| line.contradiction(seconds));
        if let Some(problem) = self.seconds.and_then(contradicts) {
            return Err(problem);
        }
        if self.queries.is_none()
            && let (Some(requests), Some(others)) = (self.requests, self.other_operations)
        {
            // Both rates have two digits behind the point.
            let rate = ((requests.1 + others.1) * 100.0).round() / 100.0;
            self.queries = Some((requests.0 + others.0, rate));
        }
        let held = Held {
            n_queries: self.queries.map(|(n, _)| n),
            n_transactions: self.events.map(|(n, _)| n),
            is_before_1_0: self.other_operations.is_some(),
            threads: self.threads.unwrap_or(1),
            latency: &self.latency,
        };
        if let Some(problem) = self.totals.contradiction(held) {
            return Err(problem);
        }
        if self.queries.is_some() && self.events.is_some() {
            self.flaws = self.find_flaws();
            return Ok(self);
        }
        Err(match self.fatal {
            Some(fatal) => format!("sysbench gave up: {fatal}"),
            None if self.version.is_none() && self.intervals.is_empty() => {
                "this is no log of sysbench".to_owned()
            }
            None if self.seen.contains(&Part::General) && !self.seen.contains(&Part::Sql) => {
                "it has no SQL statistics: tests of CPU, memory, threads and files measure no \
                 database"
                    .to_owned()
            }
            None => "the log ends before sysbench's statistics".to_owned(),
        })
    }

    fn find_flaws(&self) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        // Threads may have ended when the last interval is printed.
        let before_last = self.intervals.split_last().map_or(&[][..], |(_, before)| before);
        let fewest = before_last.iter().filter_map(|interval| interval.threads).min();
        if let (Some(n_running), Some(n_threads)) = (fewest, self.threads)
            && n_running < n_threads
        {
            flaws.push(Flaw::DeadThreads { n_running, n_threads });
        }
        if flaws.is_empty() {
            flaws.extend(self.unequal_threads());
        }
        flaws.extend(self.fatal.clone().map(|reason| Flaw::Fatal { reason }));
        flaws.extend(self.is_forced.then_some(Flaw::ForcedShutdown));
        flaws.extend(self.unfit_histogram());
        flaws.extend((!self.is_whole).then_some(Flaw::Cut));
        flaws
    }

    /// Threads that died leave the others' times as they were: the times then differ as those of two groups do,
    /// one near the whole time and one far below. Threads that wait for their turn at a rate differ much less.
    fn unequal_threads(&self) -> Option<Flaw> {
        let ((mean_s, deviation_s), total_s) = self.thread_time.zip(self.seconds)?;
        let lacking_s = total_s - mean_s;
        let is_unequal = lacking_s > UNEQUAL_SHARE * total_s
            && deviation_s * deviation_s > TWO_GROUPS * mean_s * lacking_s;
        is_unequal.then_some(Flaw::UnequalThreads { mean_s, total_s })
    }

    /// A histogram that has more or fewer events than the statistics.
    fn unfit_histogram(&self) -> Option<Flaw> {
        let (n_events, _) = self.events.filter(|_| !self.histogram.is_empty())?;
        let n = self.histogram.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
        let slack = n_events / HISTOGRAM_SLACK + u64::from(self.threads.unwrap_or(1));
        (n.abs_diff(n_events) > slack).then_some(Flaw::Histogram { n, n_events })
    }

    fn take(&mut self, idx: usize, line: &str) {
        let text = line.trim();
        let intervals = Interval::parse_all(text);
        if let Some(version) = line::version(text) {
            self.begin(version);
        } else if text.is_empty() {
            self.part = Part::Other;
        } else if let Some(part) = Part::of_heading(text) {
            self.enter(part);
        } else if text.starts_with('[') && text.ends_with("] Checkpoint report:") {
            self.unfit.get_or_insert_with(|| {
                "it has reports of --report-checkpoints, after each of which sysbench counts from 0 again: \
                 log a run without them"
                    .to_owned()
            });
        } else if self.part == Part::Histogram
            && let Some(bucket) = line::bucket(text)
        {
            self.histogram.push(bucket);
        } else if let Some((name, value)) = text.split_once(':') {
            let own = value.split_once('[').filter(|_| !intervals.is_empty());
            let value = own.map_or(value, |(before, _)| before);
            self.take_pair(Pair { line_idx: idx, name: name.trim(), value: value.trim() });
        }
        for interval in intervals {
            self.add(interval);
        }
        if self.script.is_none()
            && let Some(words) = line::command(text)
        {
            self.script = line::script(&words);
            let driver = words.iter().find_map(|word| word.strip_prefix("--db-driver="));
            self.driver = driver.map(str::to_owned);
        }
    }

    /// A first line of sysbench's: what came before it is of another command, `prepare` or a run that gave up.
    /// A run that ended has a figure of its own, though.
    fn begin(&mut self, version: &str) {
        if self.seen.contains(&Part::General) || self.events.is_some() {
            self.unfit.get_or_insert_with(|| {
                "it has several runs of sysbench: give each a log of its own".to_owned()
            });
        }
        let is_known = ["0.4", "0.5", "1."].iter().any(|known| version.starts_with(known));
        let unfit = (!is_known).then(|| {
            format!(
                "it is a log of sysbench {version}: those of 0.4, 0.5, 1.0 and 1.1 can be imported"
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

    /// Begins a part of the log, which each run has once.
    fn enter(&mut self, part: Part) {
        if self.seen.contains(&part) {
            self.refuse_two_processes();
        }
        self.seen.push(part);
        self.part = part;
    }

    fn add(&mut self, interval: Interval) {
        if self.intervals.last().is_some_and(|last| last.at_s >= interval.at_s) {
            self.refuse_two_processes();
        }
        self.intervals.push(interval);
    }

    fn refuse_two_processes(&mut self) {
        self.unfit.get_or_insert_with(|| {
            "two processes of sysbench wrote it at the same time: give each a log of its own"
                .to_owned()
        });
    }

    fn take_pair(&mut self, pair: Pair<'_>) {
        let Pair { name, value, .. } = pair;
        // sysbench's own names begin with small letters or digits; messages may stand between.
        let is_own = self.part.is_statistics() && !name.starts_with(char::is_uppercase);
        if is_own {
            let key = (self.part, name.to_owned());
            if self.named.contains(&key) {
                self.refuse_two_processes();
            }
            self.named.push(key);
        }
        match (self.part, name) {
            (_, "Number of threads") if is_no_thread_count(value) => {
                self.refuse(pair, "no number of threads from 1 on");
            }
            (part, "Number of threads") => {
                let threads = value.parse().ok();
                if part == Part::Options && self.threads.is_some() && self.threads != threads {
                    self.refuse_two_processes();
                }
                // What scripts print later is none of sysbench's.
                self.threads = self.threads.or(threads);
            }
            (Part::Options, "Target transaction rate") => {
                let why = format!(
                    "it ran at a set rate, {value}: its figure is that rate, and not what the server can do"
                );
                self.unfit.get_or_insert(why);
            }
            (_, "FATAL" | "PANIC" | "ALERT") if value.ends_with("forcing shutdown...") => {
                self.is_forced = true;
            }
            // What follows sysbench's last line is another program's.
            (_, "FATAL" | "PANIC" | "ALERT") if self.is_whole => {}
            (_, "FATAL" | "PANIC" | "ALERT") => {
                self.fatal.get_or_insert_with(|| value.to_owned());
            }
            (Part::Sql, "queries") => self.queries = self.counted(pair),
            (Part::Sql, "transactions") => self.events = self.counted(pair),
            (Part::Sql, "read/write requests") => self.requests = self.counted(pair),
            (Part::Sql, "other operations") => self.other_operations = self.counted(pair),
            (Part::Sql, "ignored errors" | "deadlocks") => {
                self.ignored_errors = self.counted(pair).map(|(n, _)| n);
            }
            (Part::Sql, "read" | "write" | "other" | "total")
            | (Part::General, "total number of events") => {
                if let Err(wanted) = self.totals.take(pair) {
                    self.refuse(pair, wanted);
                }
            }
            (Part::Sql, "reconnects") => self.reconnects = self.counted(pair).map(|(n, _)| n),
            (Part::General, "total time" | "time elapsed") => {
                self.seconds =
                    pair.time().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS);
                if self.seconds.is_none() {
                    self.refuse(pair, "no time above 0");
                }
            }
            (Part::Latency, "min") => self.latency.min = self.response_time(pair),
            (Part::Latency, "avg") => self.latency.avg = self.response_time(pair),
            (Part::Latency, "max") => self.latency.max = self.response_time(pair),
            (Part::Latency, name) => {
                // `th` stands behind every number; before 1.0 `approx.  95 percentile`.
                let name = name.trim_start_matches("approx.").trim();
                let number_of = |suffix| name.strip_suffix(suffix).and_then(quantity);
                let percentile = number_of("th percentile").or_else(|| number_of(" percentile"));
                if let Some(percentile) = percentile {
                    let time = self.response_time(pair);
                    self.latency.percentiles.extend(time.map(|time| (percentile, time)));
                }
            }
            (Part::Fairness, "execution time (avg/stddev)") => {
                self.is_whole = true;
                let both = value.split_once('/');
                self.thread_time =
                    both.and_then(|(mean, deviation)| quantity(mean).zip(quantity(deviation)));
            }
            _ => {}
        }
    }

    /// A count with its rate.
    fn counted(&mut self, pair: Pair<'_>) -> Option<(u64, f64)> {
        let found = counted(pair.value);
        match found {
            Some((n, per_s)) => self.counted.push(CountedLine::new(pair, n, per_s)),
            None => self.refuse(pair, "no count with its rate"),
        }
        found
    }

    /// A response time; where there was no event, it may be a quotient by nothing.
    fn response_time(&mut self, pair: Pair<'_>) -> Option<f64> {
        let time = pair.time().filter(|ms| *ms <= MAX_SECONDS * 1e3);
        let is_empty = self.events.is_some_and(|(n, _)| n == 0);
        if time.is_none() && !pair.is_nan() && !is_empty {
            self.refuse(pair, "no time from 0 on");
        }
        time
    }

    /// Refuses a log for a line that is not what it should be.
    fn refuse(&mut self, pair: Pair<'_>, wanted: &str) {
        self.unfit.get_or_insert_with(|| pair.problem(wanted));
    }
}
