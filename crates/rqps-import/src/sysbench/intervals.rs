//! Whether the report intervals of a log are those of its statistics, and all there.

use super::checks::REMEDY;
use super::flaw::Flaw;
use super::line::Interval;

/// How far sums of intervals may be from the statistics: as a share, and as what is done in so many seconds at the
/// highest rate. Ends of intervals are whole seconds. In 1777 public logs they differ by 0.2% at most.
const SLACK_SHARE: f64 = 0.02;
const SLACK_S: f64 = 1.0;

/// From this share on sums are those of another run; below it a script may count otherwise in its own reports.
const OTHER_RUN_SHARE: f64 = 0.1;

/// How late the last interval may be printed, seconds.
const LATE_S: f64 = 1.5;

/// What intervals are held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statistics {
    pub(super) threads: Option<u32>,
    pub(super) total_s: Option<f64>,
    pub(super) n_events: u64,
    pub(super) n_queries: u64,
    /// Seconds between reports, by the log's options.
    pub(super) every_s: Option<u64>,
    /// Whether the first interval has what was done before the measured time.
    pub(super) may_have_warmup: bool,
}

/// The sum of intervals, and the count that it should be.
#[derive(Debug, Clone, Copy)]
struct Sum {
    what: &'static str,
    n: f64,
    stated: u64,
    slack: f64,
}

/// What cannot be of one run, in words.
pub(super) fn contradiction(intervals: &[Interval], of: Statistics) -> Option<String> {
    let last = intervals.last()?;
    let more = intervals.iter().find(|i| i.threads.zip(of.threads).is_some_and(|(n, of)| n > of));
    if let (Some(interval), Some(of)) = (more, of.threads) {
        let (at_s, n) = (interval.at_s, interval.threads.unwrap_or(0));
        return Some(format!(
            "its interval [ {at_s}s ] has {n} threads, but its options have {of}; give each run \
             its own log"
        ));
    }
    let total_s = of.total_s?;
    let (at_s, latest_s) = (last.at_s, total_s * (1.0 + SLACK_SHARE) + LATE_S);
    if at_s as f64 > latest_s {
        return Some(format!(
            "its interval [ {at_s}s ] is later than its total time: {total_s} s; {REMEDY}"
        ));
    }
    let Sum { what, n, stated, .. } =
        sums(intervals, of).find(|sum| sum.excess() > OTHER_RUN_SHARE * sum.stated as f64)?;
    Some(format!("its intervals have {n:.0} {what}, but its statistics have {stated}; {REMEDY}"))
}

/// What has an innocent reason.
pub(super) fn flaws(intervals: &[Interval], of: Statistics) -> Vec<Flaw> {
    let other = sums(intervals, of).find(|sum| sum.excess() > 0.0);
    let other = other.map(|Sum { what, n, stated, .. }| Flaw::Intervals { what, n, stated });
    missing(intervals, of.every_s).into_iter().chain(other).collect()
}

/// Whether an interval that ends in the same second as the one before it is of the same run: of a report that was
/// late, its second rounded up.
pub(super) fn is_after_late(intervals: &[Interval]) -> bool {
    match intervals {
        [] => false,
        [only] => only.at_s == 2,
        [.., before, late] => late.at_s - before.at_s == 2,
    }
}

/// Intervals that lack before the last one. sysbench itself leaves some out when it gets no CPU.
fn missing(intervals: &[Interval], every_s: Option<u64>) -> Option<Flaw> {
    let ends = || intervals.iter().map(|interval| interval.at_s);
    let mut lengths: Vec<u64> =
        std::iter::once(0).chain(ends()).zip(ends()).map(|(from, to)| to - from).collect();
    let own_lengths = lengths.clone();
    lengths.sort_unstable();
    let every_s = every_s.or_else(|| lengths.get(lengths.len() / 2).copied()).filter(|n| *n > 0)?;
    let mut found: Option<(u64, u64)> = None;
    for (idx, (length, at_s)) in own_lengths.iter().zip(ends()).enumerate() {
        // A report that is late makes the next interval shorter.
        let next = own_lengths.get(idx + 1).map_or(every_s, |next| every_s.min(*next));
        let n = (length.saturating_sub(every_s - next) / every_s).saturating_sub(1);
        if n > 0 {
            let (so_far, first_s) = found.unwrap_or((0, at_s));
            found = Some((so_far + n, first_s));
        }
    }
    found.map(|(n, before_s)| Flaw::MissingIntervals { n, before_s })
}

/// Queries and events by the intervals. Those before 1.0 have no queries, and those of some scripts no events.
fn sums(intervals: &[Interval], of: Statistics) -> impl Iterator<Item = Sum> {
    let sum_of = |what, stated, rate: fn(&Interval) -> Option<f64>| {
        let (total_s, last) = of.total_s.zip(intervals.last())?;
        let (mut from, mut n, mut highest) = (0, 0.0, 0.0_f64);
        for interval in intervals {
            let rate = rate(interval)?;
            n += rate * (interval.at_s - from) as f64;
            highest = highest.max(rate);
            from = interval.at_s;
        }
        let first_s = intervals.first().map_or(0, |first| first.at_s);
        let before_s = if of.may_have_warmup { first_s as f64 } else { 0.0 };
        let every_s = of.every_s.unwrap_or(first_s).max(1) as f64;
        let rest_s = (total_s - last.at_s as f64).max(0.0);
        let slack = SLACK_SHARE * f64::max(n, stated as f64) + (SLACK_S + before_s) * highest;
        // What was done after the last interval is in the statistics alone.
        let is_whole = rest_s <= 2.0 * every_s && missing(intervals, of.every_s).is_none();
        let rest = if is_whole { rest_s * highest } else { f64::INFINITY };
        let slack = if n < stated as f64 { slack + rest } else { slack };
        (n > 0.0).then_some(Sum { what, n, stated, slack })
    };
    let queries = sum_of("queries", of.n_queries, |interval| interval.qps);
    let events = sum_of("events", of.n_events, |interval| Some(interval.tps));
    queries.into_iter().chain(events)
}

impl Sum {
    /// How far it is from the statistics beyond what is explained.
    fn excess(&self) -> f64 {
        (self.n - self.stated as f64).abs() - self.slack
    }
}
