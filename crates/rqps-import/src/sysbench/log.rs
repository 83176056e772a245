//! One log: what its lines say together, if these are of one run that has a figure.

use std::collections::BTreeMap;

use super::agree::{Held, Kinds, Latency};
use super::command::Command;
use super::command_check;
use super::flaw::{self, Flaw};
use super::histogram;
use super::intervals::{self, Statistics};
use super::line::{self, Interval, is_same_percentile};
use super::lines::Lines;
use super::part::LogSection;
use super::times::{self, Run};

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
    /// Reconnects.
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
    /// Statements by kind, where it states all three.
    pub(super) kinds: Option<Kinds>,
    /// Options of the command, with their values.
    pub(super) options: BTreeMap<String, String>,
}

impl Log {
    /// Reads a log.
    ///
    /// # Errors
    /// Text without the figures of one finished run of sysbench with SQL; what is missing, in words, and
    /// sysbench's own reason where it has one.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('{') {
            return Err(
                "this is the JSON of rqps sysbench --json; import the text that it prints \
                        without --json"
                    .to_owned(),
            );
        }
        let text = &line::without_colours(text);
        Self::parse_plain(text).map_err(|why| line::stamped(text).unwrap_or(why))
    }

    fn parse_plain(text: &str) -> Result<Self, String> {
        let mut lines = Lines::read(text);
        // Where a log was cut off, the last line may lack digits.
        let ends_whole = text.ends_with('\n') || (lines.is_whole && times::ends_whole(text));
        if !ends_whole {
            lines = Lines::read(text.rsplit_once('\n').map_or("", |(whole, _)| whole));
        }
        Self::of(lines)
    }

    /// The log of its lines, if these are of one run that has a figure.
    fn of(mut lines: Lines) -> Result<Self, String> {
        if let Some(unfit) = lines.unfit.take().or_else(|| command_check::set_rate(&lines)) {
            return Err(unfit);
        }
        if lines.queries.is_none()
            && let (Some(requests), Some(others)) = (lines.requests, lines.other_operations)
        {
            // Both rates have two digits behind the point.
            let rate = ((requests.1 + others.1) * 100.0).round() / 100.0;
            lines.queries = Some((requests.0 + others.0, rate));
        }
        // Scripts before 1.0 that begin no transaction count their events alone.
        if let (Some((0, _)), Some(n), Some(seconds)) =
            (lines.events, lines.totals.n_events().filter(|n| *n > 0), lines.seconds)
            && lines.other_operations.is_some()
        {
            lines.events = Some((n, n as f64 / seconds));
        }
        if let Some(problem) = contradiction(&lines) {
            return Err(problem);
        }
        if lines.queries.is_none() || lines.events.is_none() {
            return Err(why_unfinished(&lines));
        }
        let other_percentiles = take_out_other_percentiles(&mut lines);
        let mut flaws = find_flaws(&lines);
        flaws.extend(other_percentiles);
        let Lines { version, threads, queries, events, ignored_errors, reconnects, .. } = lines;
        let Lines { seconds, latency, intervals, histogram, command, totals, .. } = lines;
        Ok(Self {
            version,
            script: command.as_ref().and_then(Command::script),
            driver: command.as_ref().and_then(Command::driver),
            threads,
            queries,
            events,
            ignored_errors,
            reconnects,
            seconds,
            latency,
            intervals,
            histogram,
            flaws,
            kinds: totals.kinds(),
            options: command.map(|command| command.options()).unwrap_or_default(),
        })
    }
}

/// Why a file that is no log at all is refused.
pub(crate) const NO_LOG: &str = "this is no log of sysbench; name the output of `sysbench ... run`";

/// Why a log has no figure.
fn why_unfinished(lines: &Lines) -> String {
    match &lines.fatal {
        Some((line_idx, said)) => format!(
            "line {}: sysbench stopped and said {said:?}; correct that and run the test again",
            line_idx + 1
        ),
        None if lines.version.is_none() && lines.intervals.is_empty() => NO_LOG.to_owned(),
        None if lines.seen.contains(&LogSection::General)
            && !lines.seen.contains(&LogSection::Sql) =>
        {
            "it has no SQL statistics: tests of CPU, memory, threads and files measure no database"
                .to_owned()
        }
        None => "the log ends before sysbench's statistics".to_owned(),
    }
}

/// Takes out percentiles that the report intervals name otherwise: nobody knows which percentile the time is.
fn take_out_other_percentiles(lines: &mut Lines) -> Vec<Flaw> {
    let Lines { latency, interval_percentiles, .. } = lines;
    let Some(own) = interval_percentiles.first().copied() else { return Vec::new() };
    let is_own = |p: f64| interval_percentiles.iter().any(|own| is_same_percentile(*own, p));
    let others = latency.percentiles.extract_if(.., |(p, _)| !is_own(*p));
    others.map(|(stated, _)| Flaw::OtherPercentile { stated, own }).collect()
}

fn find_flaws(lines: &Lines) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    // Threads may have ended when the last interval is printed.
    let before_last = lines.intervals.split_last().map_or(&[][..], |(_, before)| before);
    let fewest = before_last.iter().filter_map(|interval| interval.threads).min();
    if let (Some(n_running), Some(n_threads)) = (fewest, lines.threads)
        && n_running < n_threads
    {
        flaws.push(Flaw::DeadThreads { n_running, n_threads });
    }
    if let (true, Some(times), Some(total_s)) =
        (flaws.is_empty(), lines.times.thread_times(), lines.seconds)
    {
        flaws.extend(flaw::of_thread_times(times, total_s));
    }
    flaws.extend(command_check::flaws(lines));
    flaws.extend(lines.no_percentiles.iter().cloned());
    flaws.extend(lines.fatal.as_ref().map(|(_, line)| Flaw::Fatal { reason: line.clone() }));
    flaws.extend(lines.is_forced.then_some(Flaw::ForcedShutdown));
    flaws.extend(lines.events.and_then(|(n_events, _)| {
        let statistics = histogram::Statistics {
            n_events,
            threads: lines.threads.unwrap_or(1),
            latency: &lines.latency,
            may_have_others: lines.is_forced || warmup(lines) != Some(0.0),
        };
        histogram::flaw(&lines.histogram, statistics)
    }));
    flaws.extend(run(lines).map(|run| lines.times.flaws(run)).unwrap_or_default());
    flaws.extend(intervals::flaws(&lines.intervals, statistics(lines)));
    flaws.extend((!lines.is_whole).then_some(Flaw::Cut));
    flaws
}

/// What intervals are held against.
fn statistics(lines: &Lines) -> Statistics {
    Statistics {
        threads: lines.threads,
        total_s: lines.seconds,
        n_events: lines.events.map_or(0, |(n, _)| n),
        n_queries: lines.queries.map_or(0, |(n, _)| n),
        every_s: lines.every_s,
        may_have_warmup: warmup(lines) != Some(0.0),
    }
}

/// What times are held against.
fn run(lines: &Lines) -> Option<Run<'_>> {
    let ((n, events_per_s), total_s) = lines.events.zip(lines.seconds)?;
    Some(Run {
        // Before 1.0 a transaction may have several events.
        n_events: lines.totals.n_events().unwrap_or(n),
        events_per_s,
        threads: lines.threads?,
        total_s,
        warmup_s: warmup(lines),
        latency: &lines.latency,
    })
}

/// Seconds of warm-up; `None` where the options are not in the log.
fn warmup(lines: &Lines) -> Option<f64> {
    let default_s = lines.seen.contains(&LogSection::Options).then_some(0.0);
    lines.warmup_s.or(default_s)
}

/// Which of the log's numbers contradict one another, in words.
fn contradiction(lines: &Lines) -> Option<String> {
    let contradicts = |seconds| lines.counted.iter().find_map(|line| line.contradiction(seconds));
    let held = Held {
        n_queries: lines.queries.map(|(n, _)| n),
        n_transactions: lines.events.map(|(n, _)| n),
        is_before_1_0: lines.other_operations.is_some(),
        threads: lines.threads.unwrap_or(1),
        latency: &lines.latency,
    };
    let of_times = || lines.times.contradiction(run(lines)?);
    lines
        .seconds
        .and_then(contradicts)
        .or_else(|| lines.totals.contradiction(held))
        .or_else(of_times)
        .or_else(|| intervals::contradiction(&lines.intervals, statistics(lines)))
}
