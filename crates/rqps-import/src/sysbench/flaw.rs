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
    /// The histogram is not that of the events, and was left out.
    Histogram {
        /// Events in the histogram.
        n: u64,
        /// Events by the statistics.
        n_events: u64,
    },
    /// The log has no end, so that response times and counts may lack.
    Cut,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeadThreads { n_running, n_threads } => {
                write!(f, "sysbench ran on with {n_running} of {n_threads} threads")
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
                "its histogram was left out: it has {n} events and the statistics {n_events}"
            ),
            Self::Cut => f.write_str("the log ends before sysbench's last line"),
        }
    }
}
