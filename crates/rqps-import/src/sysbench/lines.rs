//! The lines of a log. Lines that are none of sysbench's are passed over: logs have those of
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

use super::agree::{Latency, Totals};
use super::checks::{CountedLine, Pair, is_no_thread_count};
use super::command::Command;
use super::flaw::Flaw;
use super::intervals;
use super::line::{self, Interval, PrintedTime, counted, quantity};
use super::part::LogSection;
use super::times::Times;
use crate::number::MAX_SECONDS;

/// Most letters of a command that goes on over several lines.
const MAX_COMMAND: usize = 10_000;

/// Why a run at a set rate is not imported.
pub(super) fn at_set_rate(rate: &str) -> String {
    format!("it ran at a set rate, {rate}: its QPS are that rate, not what the server can do")
}

/// What the lines of a log say.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Lines {
    /// Version, from the first line: `1.0.20`.
    pub(super) version: Option<String>,
    /// Client threads.
    pub(super) threads: Option<u32>,
    /// Statements answered, and per second.
    pub(super) queries: Option<(u64, f64)>,
    /// Events finished, and per second.
    pub(super) events: Option<(u64, f64)>,
    /// Events that met an error that is ignored.
    pub(super) ignored_errors: Option<u64>,
    /// Reconnects.
    pub(super) reconnects: Option<u64>,
    /// Measured time, seconds.
    pub(super) seconds: Option<f64>,
    /// Response times.
    pub(super) latency: Latency,
    /// Lines of percentiles that are none.
    pub(super) no_percentiles: Vec<Flaw>,
    /// Report intervals in order of time.
    pub(super) intervals: Vec<Interval>,
    /// Percentiles of their response times.
    pub(super) interval_percentiles: Vec<f64>,
    /// Upper ends of buckets in milliseconds, with how many responses were there.
    pub(super) histogram: Vec<(f64, u64)>,
    /// The first message of an error, with its line from 0.
    pub(super) fatal: Option<(usize, String)>,
    /// The command above the log.
    pub(super) command: Option<Command>,
    /// The last command of all, that of a run which may begin below it.
    last_command: Option<Command>,
    /// A command whose line goes on in the next one.
    open_command: String,
    /// Times of all events and of threads.
    pub(super) times: Times,
    /// Milliseconds of the unit of response times, and of the histogram.
    unit_ms: Option<f64>,
    /// Seconds before the measured time, by `--warmup-time`.
    pub(super) warmup_s: Option<f64>,
    /// Seconds between report intervals, by `--report-interval`.
    pub(super) every_s: Option<u64>,
    /// Whether a time limit ended it before its last events.
    pub(super) is_forced: bool,
    /// Whether it has its last line.
    pub(super) is_whole: bool,
    /// Before 1.0: statements that read or write, and all others.
    pub(super) requests: Option<(u64, f64)>,
    pub(super) other_operations: Option<(u64, f64)>,
    /// All counts with their rates, which have to fit the measured time.
    pub(super) counted: Vec<CountedLine>,
    /// Counts that other counts are held against.
    pub(super) totals: Totals,
    /// Names of lines that each part has once.
    named: Vec<(LogSection, String)>,
    /// Why its statistics are not those of one run.
    pub(super) unfit: Option<String>,
    /// Whether another command of sysbench began below the run: `cleanup`, as a rule.
    is_behind: bool,
    part: LogSection,
    /// The parts that have begun.
    pub(super) seen: Vec<LogSection>,
}

impl Lines {
    /// Reads all lines.
    pub(super) fn read(text: &str) -> Self {
        let mut lines = Self::default();
        for (idx, line) in text.lines().enumerate() {
            lines.take(idx, line);
        }
        lines
    }

    fn take(&mut self, idx: usize, line: &str) {
        let text = line.trim();
        let intervals = Interval::parse_all(text);
        if self.is_behind {
            let is_of_run = LogSection::of_heading(text).is_some() || !intervals.is_empty();
            if is_of_run {
                self.refuse_several_runs();
            }
            return;
        }
        if let Some(version) = line::version(text) {
            self.begin(version);
        } else if text.is_empty() {
            self.part = LogSection::Other;
        } else if let Some(part) = LogSection::of_heading(text) {
            self.enter(part);
            if matches!(part, LogSection::Latency | LogSection::Histogram) {
                self.take_unit(text, idx);
            }
        } else if text.starts_with('[') && text.ends_with("] Checkpoint report:") {
            self.unfit.get_or_insert_with(|| {
                "it has reports of --report-checkpoints, each of which resets the counts: log a \
                 run without them"
                    .to_owned()
            });
        } else if self.part == LogSection::Histogram
            && let Some(bucket) = line::bucket(text)
        {
            self.histogram.push((bucket.0 * self.unit_ms.unwrap_or(1.0), bucket.1));
        } else if self.part == LogSection::Options
            && let Some(every_s) = line::report_interval(text)
        {
            self.every_s = Some(every_s);
        } else if let Some((name, value)) = text.split_once(':') {
            let own = value.split_once('[').filter(|_| !intervals.is_empty());
            let value = own.map_or(value, |(before, _)| before);
            self.take_pair(Pair { line_idx: idx, name: name.trim(), value: value.trim() });
        }
        if let Some((name, value)) = line::unreadable_rate(text) {
            self.refuse(Pair { line_idx: idx, name, value }, "not a number from 0 on");
        }
        if self.interval_percentiles.is_empty() && !intervals.is_empty() {
            self.interval_percentiles = line::interval_percentiles(text);
        }
        for interval in intervals {
            self.add(interval);
        }
        self.take_command(text);
    }

    /// Takes a command that runs sysbench: of a run the last one above it. A line that ends with `\` continues in
    /// the next one.
    fn take_command(&mut self, text: &str) {
        let is_open = self.open_command.len() <= MAX_COMMAND && text.ends_with('\\');
        let command = if self.open_command.is_empty() && !is_open {
            Command::parse(text)
        } else {
            // Shells put `>` before what goes on.
            self.open_command.push_str(text.trim_end_matches('\\').trim_start_matches("> "));
            self.open_command.push(' ');
            if is_open {
                return;
            }
            Command::parse(&std::mem::take(&mut self.open_command))
        };
        if let Some(command) = command {
            // Without a first line of sysbench's, the first command is that of the log.
            self.command.get_or_insert_with(|| command.clone());
            self.last_command = Some(command);
        }
    }

    /// A first line of sysbench's: what came before it is of another command, `prepare` or a run that gave up.
    /// A run that ended has a figure of its own, though, and what comes behind it is of another command.
    fn begin(&mut self, version: &str) {
        if self.seen.contains(&LogSection::General) || self.events.is_some() {
            self.is_behind = true;
            return;
        }
        let is_known = ["0.4", "0.5", "1."].iter().any(|known| version.starts_with(known));
        let unfit = (!is_known).then(|| {
            format!(
                "it is a log of sysbench {version}: only logs of 0.4, 0.5, 1.0 and 1.1 can be \
                 imported"
            )
        });
        *self = Self {
            version: Some(version.to_owned()),
            command: self.last_command.take().or_else(|| self.command.take()),
            unfit: self.unfit.take().or(unfit),
            ..Self::default()
        };
    }

    /// Begins a part of the log, which each run has once.
    fn enter(&mut self, part: LogSection) {
        if self.seen.contains(&part) {
            self.refuse_two_processes();
        }
        self.seen.push(part);
        self.part = part;
    }

    /// Takes the unit of response times from the heading above them.
    fn take_unit(&mut self, heading: &str, line_idx: usize) {
        match line::unit_ms(heading) {
            Ok(unit_ms) => self.unit_ms = Some(unit_ms),
            Err(unit) => {
                let line_no = line_idx + 1;
                self.unfit.get_or_insert_with(|| {
                    format!(
                        "line {line_no}: its response times are in {unit:?}: only ns, us, ms and s \
                         can be read"
                    )
                });
            }
        }
    }

    fn add(&mut self, interval: Interval) {
        let last_s = self.intervals.last().map_or(0, |last| last.at_s);
        let is_late = last_s == interval.at_s && intervals::is_after_late(&self.intervals);
        if last_s > interval.at_s || (last_s == interval.at_s && last_s > 0 && !is_late) {
            self.refuse_two_processes();
            return;
        }
        self.intervals.push(interval);
    }

    fn refuse_several_runs(&mut self) {
        self.unfit.get_or_insert_with(|| {
            "it has several runs of sysbench: give each run its own log".to_owned()
        });
    }

    fn refuse_two_processes(&mut self) {
        self.unfit.get_or_insert_with(|| {
            "two processes of sysbench wrote it at the same time: give each process its own log"
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
        if self.take_message(pair) {
            return;
        }
        match (self.part, name) {
            (_, "Number of threads") if is_no_thread_count(value) => {
                self.refuse(pair, "not a number of threads from 1 on");
            }
            (part, "Number of threads") => {
                let threads = value.parse().ok();
                if part == LogSection::Options && self.threads.is_some() && self.threads != threads
                {
                    self.refuse_two_processes();
                }
                // What scripts print later is none of sysbench's.
                self.threads = self.threads.or(threads);
            }
            (LogSection::Options, "Target transaction rate") => {
                self.unfit.get_or_insert_with(|| at_set_rate(value));
            }
            (LogSection::Options, "Warmup time") => self.warmup_s = pair.seconds(),
            (LogSection::Sql, "queries") => self.queries = self.counted(pair),
            (LogSection::Sql, "transactions") => self.events = self.counted(pair),
            (LogSection::Sql, "read/write requests") => self.requests = self.counted(pair),
            (LogSection::Sql, "other operations") => self.other_operations = self.counted(pair),
            (LogSection::Sql, "ignored errors" | "deadlocks") => {
                self.ignored_errors = self.counted(pair).map(|(n, _)| n);
            }
            (LogSection::Sql, "read" | "write" | "other" | "total")
            | (LogSection::General, "total number of events") => {
                if let Err(wanted) = self.totals.take(pair) {
                    self.refuse(pair, wanted);
                }
            }
            (LogSection::Sql, "reconnects") => self.reconnects = self.counted(pair).map(|(n, _)| n),
            (LogSection::General, "total time" | "time elapsed") => {
                self.seconds =
                    pair.seconds().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS);
                if self.seconds.is_none() {
                    self.refuse(pair, "not a time above 0");
                }
            }
            _ => self.take_times(pair),
        }
    }

    /// Takes a line of the times of events and threads.
    fn take_times(&mut self, pair: Pair<'_>) {
        match (self.part, pair.name) {
            (LogSection::Latency, "min") => self.latency.min = self.response_time(pair),
            (LogSection::Latency, "avg") => self.latency.avg = self.response_time(pair),
            (LogSection::Latency, "sum") => self.times.take_sum(pair, self.unit_ms.unwrap_or(1.0)),
            (LogSection::Latency, "max") => self.latency.max = self.response_time(pair),
            (LogSection::Latency, name) => {
                // `th` stands behind every number; before 1.0 `approx.  95 percentile`.
                let Some(before) = name.strip_suffix(" percentile") else { return };
                let number = before.trim_start_matches("approx.").trim();
                let percentile = quantity(number.trim_end_matches("th"));
                if let Some(percentile) = percentile.filter(|p| *p > 0.0 && *p <= 100.0) {
                    let time = self.response_time(pair);
                    self.latency.percentiles.extend(time.map(|time| (percentile, time)));
                } else {
                    let (line_no, name) = (pair.line_idx + 1, line::quotable(name));
                    self.no_percentiles.push(Flaw::NoPercentile { line_no, name });
                }
            }
            (LogSection::General, "events/s (eps)") => self.times.take_rate(pair),
            (LogSection::General, "total time taken by event execution") => {
                self.times.take_sum(pair, 1e3);
            }
            (LogSection::Fairness, "events (avg/stddev)") => self.times.take_events(pair),
            (LogSection::Fairness, "execution time (avg/stddev)") => {
                self.is_whole = true;
                self.times.take_thread_time(pair);
            }
            _ => return,
        }
        self.refuse_separators(pair);
    }

    /// Takes a message of an error; whether it is one.
    fn take_message(&mut self, pair: Pair<'_>) -> bool {
        let Pair { line_idx, name, value } = pair;
        match name {
            "FATAL" | "PANIC" | "ALERT" if value.ends_with("forcing shutdown...") => {
                self.is_forced = true;
            }
            // What follows sysbench's last line is another program's.
            "FATAL" | "PANIC" | "ALERT" if self.is_whole => {}
            "FATAL" | "PANIC" | "ALERT" => {
                self.fatal.get_or_insert_with(|| (line_idx, line::quotable(value)));
            }
            // Of the command line, before a test begins; such a line has no word before it.
            "invalid option" | "Unknown command" | "Unrecognized command line argument"
                if self.seen.is_empty() =>
            {
                let said = format!("{name}: {}", line::quotable(value));
                self.fatal.get_or_insert((line_idx, said));
            }
            _ => return false,
        }
        true
    }

    /// A count with its rate.
    fn counted(&mut self, pair: Pair<'_>) -> Option<(u64, f64)> {
        let found = counted(pair.value);
        match found {
            Some((n, per_s)) => self.counted.push(CountedLine::new(pair, n, per_s)),
            None => self.refuse(pair, "not a count with its rate"),
        }
        found
    }

    /// A response time; where there was no event, it may be a quotient by nothing.
    fn response_time(&mut self, pair: Pair<'_>) -> Option<f64> {
        let time = PrintedTime::in_ms(pair.value, self.unit_ms.unwrap_or(1.0));
        let time = time.filter(|time| time.value <= MAX_SECONDS * 1e3);
        let is_empty = self.events.is_some_and(|(n, _)| n == 0);
        if time.is_none() && !pair.is_nan() && !is_empty {
            self.refuse(pair, "not a time from 0 on");
        }
        let PrintedTime { value, last_digit } = time?;
        self.latency.take_last_digit(last_digit);
        Some(value)
    }

    /// Refuses a log for a number with marks between its digits. Others that cannot be read, as quotients by nothing,
    /// are held against nothing.
    fn refuse_separators(&mut self, pair: Pair<'_>) {
        let number = |text: &str| line::has_separators(text.trim_end_matches(['m', 'u', 's']));
        if pair.value.split('/').any(number) {
            self.refuse(pair, "not a number from 0 on");
        }
    }

    /// Refuses a log for a line that is not what it should be.
    fn refuse(&mut self, pair: Pair<'_>, wanted: &str) {
        self.unfit.get_or_insert_with(|| pair.problem(wanted));
    }
}
