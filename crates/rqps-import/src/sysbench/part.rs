//! The parts of a log, by their headings.

/// The part of a log that a line is of: by the last heading above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LogSection {
    /// None of the others.
    #[default]
    Other,
    /// `Running the test with following options:`.
    Options,
    /// `Threads started!`.
    Started,
    /// `Latency histogram (values are in milliseconds)`.
    Histogram,
    /// `SQL statistics:`; before 1.0 `OLTP test statistics:`.
    Sql,
    /// `General statistics:`; of 1.1 `Throughput:`, of 0.4 `Test execution summary:`.
    General,
    /// `Latency (ms):`, of some builds `Latency (us):`; before 1.0 a list within the general statistics.
    Latency,
    /// `Threads fairness:`.
    Fairness,
}

impl LogSection {
    /// Whether it has sysbench's statistics. Each of their lines is there once.
    pub(super) fn is_statistics(self) -> bool {
        matches!(self, Self::Sql | Self::General | Self::Latency | Self::Fairness)
    }

    /// The part that begins with a line.
    pub(super) fn of_heading(text: &str) -> Option<Self> {
        match text {
            "Running the test with following options:" => Some(Self::Options),
            "Threads started!" => Some(Self::Started),
            "SQL statistics:" | "OLTP test statistics:" => Some(Self::Sql),
            "General statistics:" | "Throughput:" | "Test execution summary:" => {
                Some(Self::General)
            }
            "response time:" | "per-request statistics:" => Some(Self::Latency),
            "Threads fairness:" => Some(Self::Fairness),
            _ if text.starts_with("Latency (") && text.ends_with("):") => Some(Self::Latency),
            _ => text.starts_with("Latency histogram").then_some(Self::Histogram),
        }
    }
}
