//! Why the figure of a log is not that of a whole, undisturbed run.

use std::fmt;

/// One reason.
#[derive(Debug, Clone, PartialEq)]
pub enum Flaw {
    /// Client threads ended before the time was over.
    DeadThreads {
        /// Threads that were still running.
        n_running: u32,
        /// Threads that were started.
        n_threads: u32,
    },
    /// Some client threads ran for a part of the time, by their times at the end.
    UnequalThreads {
        /// Mean time that a thread spent on events, seconds.
        mean_s: f64,
        /// The measured time, seconds.
        total_s: f64,
    },
    /// sysbench printed a fatal error and went on.
    Fatal {
        /// The first of them, in sysbench's words.
        reason: String,
    },
    /// The last events did not end in time, and sysbench ended without them.
    ForcedShutdown,
    /// The histogram is not that of the events, and was excluded.
    Histogram {
        /// Events in the histogram.
        n: u64,
        /// Events by the statistics.
        n_events: u64,
    },
    /// The histogram has other times than the statistics, and was excluded.
    HistogramTime {
        /// The time, as the statistics name it: `95th percentile`, `max`.
        what: String,
        /// By the histogram, milliseconds.
        ms: f64,
        /// By the statistics, milliseconds.
        stated_ms: f64,
    },
    /// Report intervals are missing before the last one.
    MissingIntervals {
        /// How many.
        n: u64,
        /// End of the interval before which the first is missing, seconds.
        before_s: u64,
    },
    /// Report intervals have more or less than the statistics.
    Intervals {
        /// `queries` or `events`.
        what: &'static str,
        /// By the intervals.
        n: f64,
        /// By the statistics.
        stated: u64,
    },
    /// The mean response time is not that of all events, and response times were excluded.
    MeanTime {
        /// The mean that the log states, milliseconds.
        avg_ms: f64,
        /// The sum of all response times over the events, milliseconds.
        mean_ms: f64,
    },
    /// The times of threads are not those of events, and response times were excluded.
    ThreadTimes {
        /// Mean time that a thread spent on events, seconds.
        mean_s: f64,
        /// Threads that were started.
        n_threads: u32,
        /// All response times together, seconds.
        sum_s: f64,
    },
    /// The events of threads are not all events.
    ThreadEvents {
        /// Mean number of events of a thread.
        mean: f64,
        /// Threads that were started.
        n_threads: u32,
        /// Events by the statistics.
        n_events: u64,
    },
    /// Client threads spent little of the time on events.
    IdleThreads {
        /// Mean time that a thread spent on events, seconds.
        mean_s: f64,
        /// The measured time, seconds.
        total_s: f64,
    },
    /// A line of a percentile is of none, and was excluded.
    NoPercentile {
        /// The line, from 1.
        line_no: usize,
        /// Its name: `950th percentile`.
        name: String,
    },
    /// Report intervals name another percentile than the statistics, whose time was excluded.
    OtherPercentile {
        /// By the statistics.
        stated: f64,
        /// By the report intervals.
        own: f64,
    },
    /// The command above the log has an option that the log contradicts.
    OtherOption {
        /// The option, without dashes.
        name: &'static str,
        /// Its value in the command.
        said: f64,
        /// Its value by the log.
        own: f64,
    },
    /// The command above the log runs a script that has no such statements.
    OtherScript {
        /// The script.
        script: String,
        /// `reads` or `writes`.
        what: &'static str,
        /// How many the log has.
        n: f64,
    },
    /// The log has no end, so that response times and counts may lack.
    Cut,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeadThreads { n_running, n_threads } => {
                write!(f, "sysbench continued with {n_running} of {n_threads} threads")
            }
            Self::UnequalThreads { mean_s, total_s } => write!(
                f,
                "threads ended early: they ran for {mean_s:.1} of {total_s:.1} seconds on average, and not all \
                 for the same time"
            ),
            Self::Fatal { reason } => write!(f, "sysbench reported an error: {reason}"),
            Self::ForcedShutdown => f.write_str(
                "sysbench forced the shutdown at its time limit: events were still running",
            ),
            Self::Histogram { n, n_events } => write!(
                f,
                "its histogram is excluded: it has {n} events, but the statistics have {n_events}"
            ),
            Self::HistogramTime { what, ms, stated_ms } => write!(
                f,
                "its histogram is excluded: its {what} is {ms:.2} ms, but that of the statistics \
                 is {stated_ms} ms"
            ),
            Self::MissingIntervals { n, before_s } => {
                let n = if *n == 1 { "1 is".to_owned() } else { format!("{n} are") };
                write!(
                    f,
                    "its report intervals are not complete: {n} missing, the first before {before_s} s"
                )
            }
            Self::Intervals { what, n, stated } => write!(
                f,
                "its report intervals have {n:.0} {what}, but its statistics have {stated}, which \
                 are used"
            ),
            Self::MeanTime { avg_ms, mean_ms } => write!(
                f,
                "its response times are excluded: avg is {avg_ms} ms, but sum over the events is \
                 {mean_ms:.2} ms"
            ),
            Self::ThreadTimes { mean_s, n_threads, sum_s } => write!(
                f,
                "its times contradict one another: {n_threads} threads of {mean_s} s on average, \
                 and {sum_s:.2} s of all events, so response times are excluded"
            ),
            Self::ThreadEvents { mean, n_threads, n_events } => write!(
                f,
                "its counts contradict one another: {n_threads} threads with {mean} events on \
                 average, but {n_events} events in all"
            ),
            Self::IdleThreads { mean_s, total_s } => write!(
                f,
                "threads spent {mean_s:.1} of {total_s:.1} seconds on events: a set rate or a pause in the \
                 script kept them from more"
            ),
            Self::NoPercentile { line_no, name } => {
                write!(
                    f,
                    "line {line_no} is excluded: {name:?} is not a percentile above 0 and up to 100"
                )
            }
            Self::OtherPercentile { stated, own } => write!(
                f,
                "its {stated}th percentile is excluded: its report intervals have the {own}th"
            ),
            Self::OtherOption { name, said, own } => write!(
                f,
                "its command has --{name}={said}, but the log has {own}: check whether the command \
                 belongs to this log"
            ),
            Self::OtherScript { script, what, n } => write!(
                f,
                "its command runs {script}, which has no {what}, but the log has {n}: check \
                 whether the command belongs to this log"
            ),
            Self::Cut => f.write_str("the log ends before sysbench's last line"),
        }
    }
}

/// Share of the measured time that threads lack on average before they count as ended early.
const UNEQUAL_SHARE: f64 = 0.005;

/// Threads of two groups, one that ran for the whole time and one that did not run, have a known variance. From
/// this share of it on, times count as those of two groups.
const TWO_GROUPS: f64 = 0.25;

/// Threads that spend less of the time on events have waited for something else. In 6091 public logs they spend
/// more than 0.91 of it.
const IDLE_SHARE: f64 = 0.5;

/// What threads spent on events: mean and standard deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadTimes {
    pub(super) mean_s: f64,
    pub(super) deviation_s: f64,
}

/// What the times of threads tell. Threads that died leave the others'
/// times as they were: the times then differ as those of two groups do, one near the whole time and one far below.
/// Threads that wait for their turn at a rate differ much less.
pub(super) fn of_thread_times(times: ThreadTimes, total_s: f64) -> Option<Flaw> {
    let ThreadTimes { mean_s, deviation_s } = times;
    let lacking_s = total_s - mean_s;
    let is_unequal = lacking_s > UNEQUAL_SHARE * total_s
        && deviation_s * deviation_s > TWO_GROUPS * mean_s * lacking_s;
    if is_unequal {
        Some(Flaw::UnequalThreads { mean_s, total_s })
    } else {
        (mean_s < IDLE_SHARE * total_s).then_some(Flaw::IdleThreads { mean_s, total_s })
    }
}
