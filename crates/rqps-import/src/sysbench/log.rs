//! One log taken apart, line by line. Lines that are none of sysbench's are passed over: logs have those of
//! scripts around it.
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
}

/// Response times of events, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Latency {
    /// Shortest.
    pub min: Option<f64>,
    /// Mean.
    pub avg: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
    /// Which percentile, and its value.
    pub percentile: Option<(f64, f64)>,
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
    /// The percentile that was asked for, milliseconds.
    pub percentile_ms: Option<f64>,
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
        if let Some(interval) = Interval::parse(text) {
            self.intervals.push(interval);
        } else if let Some(bucket) = bucket(text) {
            self.histogram.push(bucket);
        } else if let Some((name, value)) = text.split_once(':') {
            self.take_pair(name.trim(), value.trim());
        } else if let Some(rest) = text.strip_prefix("sysbench ")
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            self.version = rest.split_whitespace().next().map(str::to_owned);
        }
        if self.script.is_none() && is_command(text) {
            self.script = script(text);
            self.driver = text
                .split_whitespace()
                .find_map(|word| word.strip_prefix("--db-driver="))
                .map(str::to_owned);
        }
    }

    fn take_pair(&mut self, name: &str, value: &str) {
        let number = || value.trim_end_matches('s').parse::<f64>().ok();
        let counted = || counted(value);
        match name {
            "Number of threads" => self.threads = value.parse().ok(),
            "queries" => self.queries = counted(),
            "transactions" => self.events = counted(),
            "ignored errors" => self.ignored_errors = counted().map(|(n, _)| n),
            "reconnects" => self.reconnects = counted().map(|(n, _)| n),
            "total time" | "time elapsed" => self.seconds = number(),
            "total number of events" => self.n_events = value.parse().ok(),
            "min" => self.latency.min = number(),
            "avg" => self.latency.avg = number(),
            "max" => self.latency.max = number(),
            "FATAL" => {
                self.fatal.get_or_insert_with(|| value.to_owned());
            }
            _ => {
                let percentile = name.strip_suffix("th percentile").and_then(|p| p.parse().ok());
                self.latency.percentile = percentile.zip(number()).or(self.latency.percentile);
            }
        }
    }

    /// The log as a slice: its counts, and what it states of rates and response times.
    #[must_use]
    pub fn to_slice(&self) -> Slice {
        let (n_events, tps) = self.events.unwrap_or_default();
        // A script without statements of its own counts no queries.
        let (n_queries, qps) = self.queries.unwrap_or((n_events, tps));
        let response = self.latency.stated(n_events);
        let errors = self.ignored_errors.filter(|n| *n > 0);
        Slice {
            duration_ns: self.seconds.map_or(0, |s| whole(s * 1e9)),
            n_events,
            n_queries,
            n_operations: n_queries,
            errors: errors
                .map(|n| ErrorCount { code: "ignored".to_owned(), n })
                .into_iter()
                .collect(),
            series: self.series(),
            response_times: histogram::encoded(&self.histogram),
            ..sheet::slice(Stated { figure: Some(qps), metrics: Vec::new(), response })
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
                errors: small(interval.errors_per_s),
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
            percentiles_ns: self.percentile.iter().map(|(p, v)| (*p, ns_of_ms(*v))).collect(),
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
            behind.split_whitespace().next()?.parse().ok()
        };
        let percentile_ms = rest
            .split_once("lat (ms,")
            .and_then(|(_, behind)| behind.split_once("): "))
            .and_then(|(_, behind)| behind.split_whitespace().next()?.parse().ok());
        Some(Self {
            at_s,
            // Tests without SQL have events alone.
            tps: after(" tps: ").or_else(|| after(" eps: "))?,
            qps: after(" qps: ").or_else(|| after(" eps: "))?,
            errors_per_s: after(" err/s: ").unwrap_or(0.0),
            percentile_ms,
        })
    }
}

/// `0.354 |*****   120`: the upper end of a bucket and its count.
fn bucket(text: &str) -> Option<(f64, u64)> {
    let (value, rest) = text.split_once('|')?;
    let count = rest.trim_start_matches('*').trim();
    Some((value.trim().parse().ok()?, count.parse().ok()?))
}

/// `162511 (16250.33 per sec.)`.
fn counted(value: &str) -> Option<(u64, f64)> {
    let (n, rest) = value.split_once('(')?;
    let per_s = rest.trim_end_matches([')', '.', ' ']).strip_suffix(" per sec")?;
    Some((n.trim().parse().ok()?, per_s.trim().parse().ok()?))
}

/// Whether a line is a command that runs sysbench.
fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.rsplit('/').next() == Some("sysbench")
        && text.split_whitespace().any(|word| word == "run")
}

/// The script of a command line: `.../oltp_read_only.lua --threads=1 run`.
fn script(text: &str) -> Option<String> {
    let mut words = text.split_whitespace().skip(1);
    let word = words.find(|word| word.ends_with(".lua") || word.starts_with("oltp_"))?;
    let name = word.rsplit('/').next().unwrap_or(word);
    Some(name.strip_suffix(".lua").unwrap_or(name).to_owned())
}
