//! Quantities that are compared per operation, beside the parts of its time.

use rqps_model::{Metric, ProcessCounters, Slice};

use crate::work::Work;

/// A quantity per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// A metric that every report has.
    Metric(Metric),
    /// CPU of the connection threads of the measured clients.
    ConnectionCpu,
    /// CPU of the server's other threads.
    OtherThreadsCpu,
    /// Context switches in which a server thread waited for something.
    Voluntary,
    /// Context switches in which a server thread lost its CPU.
    Involuntary,
    /// Write requests of the data directory's device.
    Writes,
    /// KB fetched from storage on behalf of the server's processes.
    ServerReadKb,
    /// KB sent to storage on their behalf.
    ServerWrittenKb,
    /// Page faults of the server served without storage.
    MinorFaults,
    /// Page faults of the server that read storage.
    MajorFaults,
    /// Time in which server threads could run and did not.
    ServerRunWait,
    /// The same of the client threads.
    ClientThreadsRunWait,
    /// Time in which a task of the host waited for storage.
    Stalled,
    /// A counter of the server.
    Work(Work),
}

impl Quantity {
    /// Every quantity, in the order of reports.
    pub fn all() -> impl Iterator<Item = Self> {
        let kernel = [
            Self::Voluntary,
            Self::Involuntary,
            Self::Writes,
            Self::ServerReadKb,
            Self::ServerWrittenKb,
            Self::MinorFaults,
            Self::MajorFaults,
            Self::ServerRunWait,
            Self::ClientThreadsRunWait,
            Self::Stalled,
        ];
        let [cpu, metrics @ ..] = Metric::ALL.map(Self::Metric);
        let of_threads = [cpu, Self::ConnectionCpu, Self::OtherThreadsCpu];
        of_threads
            .into_iter()
            .chain(metrics)
            .chain(kernel)
            .chain(Work::ALL.into_iter().map(Self::Work))
    }

    /// The unit of a value: `us`, `count` or `KB`.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Metric(metric) => metric.unit(),
            Self::ConnectionCpu
            | Self::OtherThreadsCpu
            | Self::ServerRunWait
            | Self::ClientThreadsRunWait
            | Self::Stalled => "us",
            Self::ServerReadKb | Self::ServerWrittenKb => "KB",
            Self::Work(work) => work.unit(),
            _ => "count",
        }
    }

    /// For programs, without the unit.
    #[must_use]
    pub fn stem(self) -> &'static str {
        match self {
            Self::Metric(metric) => metric.stem(),
            Self::ConnectionCpu => "connection_cpu",
            Self::OtherThreadsCpu => "other_threads_cpu",
            Self::Voluntary => "voluntary_switches",
            Self::Involuntary => "involuntary_switches",
            Self::Writes => "writes",
            Self::ServerReadKb => "server_read",
            Self::ServerWrittenKb => "server_written",
            Self::MinorFaults => "minor_faults",
            Self::MajorFaults => "major_faults",
            Self::ServerRunWait => "server_run_wait",
            Self::ClientThreadsRunWait => "client_run_wait",
            Self::Stalled => "storage_stalled",
            Self::Work(work) => work.stem(),
        }
    }

    /// For people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Metric(metric) => metric.words(),
            Self::ConnectionCpu => "CPU of connection threads",
            Self::OtherThreadsCpu => "CPU of the server's other threads",
            Self::Voluntary => "server's voluntary switches",
            Self::Involuntary => "server's involuntary switches",
            Self::Writes => "storage writes",
            Self::ServerReadKb => "KB read by the server",
            Self::ServerWrittenKb => "KB written by the server",
            Self::MinorFaults => "minor faults",
            Self::MajorFaults => "major faults",
            Self::ServerRunWait => "server threads waiting to run",
            Self::ClientThreadsRunWait => "client threads waiting to run",
            Self::Stalled => "storage awaited",
            Self::Work(work) => work.words(),
        }
    }

    /// Where it is counted, for the documentation.
    #[must_use]
    pub fn source(self) -> String {
        match self {
            Self::Metric(metric) => metric.source().to_owned(),
            Self::ConnectionCpu => "thread CPU clocks".to_owned(),
            Self::OtherThreadsCpu => "process CPU clock less thread CPU clocks".to_owned(),
            Self::Voluntary | Self::Involuntary => {
                "/proc/PID/task/TID/status; of a block its whole time".to_owned()
            }
            Self::Writes => "/proc/diskstats".to_owned(),
            Self::ServerReadKb | Self::ServerWrittenKb => {
                "/proc/PID/io; of a block its whole time".to_owned()
            }
            Self::MinorFaults | Self::MajorFaults => "/proc/PID/stat minflt, majflt".to_owned(),
            Self::ServerRunWait => {
                "/proc/PID/task/TID/schedstat; of a block its whole time".to_owned()
            }
            Self::ClientThreadsRunWait => {
                "/proc/PID/task/TID/schedstat of rqps's client threads".to_owned()
            }
            Self::Stalled => "/proc/pressure/io, some".to_owned(),
            Self::Work(work) => work.source(),
        }
    }

    /// The value per operation of a slice; `None` where it was not measured or nothing was done.
    #[must_use]
    pub fn value(self, slice: &Slice) -> Option<f64> {
        let n = slice.n_operations;
        if n == 0 {
            return None;
        }
        let (usage, waits) = (&slice.usage, &slice.usage.waits);
        let server = |f: fn(&ProcessCounters) -> u64| usage.server.as_ref().map(f);
        let own = |value: u64, scale: f64| value as f64 * scale / n as f64;
        let whole = |value: u64, scale: f64| {
            let n = slice.operations_of_counters();
            (n > 0).then(|| value as f64 * scale / n as f64)
        };
        match self {
            Self::Metric(metric) => metric.value(usage, n),
            Self::Work(work) => work.value(slice),
            Self::ConnectionCpu => Some(own(waits.served_cpu_ns?, 1e-3)),
            Self::OtherThreadsCpu => {
                let all = server(|s| s.cpu_total_ns)?;
                Some(own(all.saturating_sub(waits.served_cpu_ns?), 1e-3))
            }
            Self::Voluntary => whole(server(|s| s.voluntary_switches)?, 1.0),
            Self::Involuntary => whole(server(|s| s.involuntary_switches)?, 1.0),
            Self::ServerReadKb => whole(server(|s| s.read_bytes)?, 1.0 / 1024.0),
            Self::ServerWrittenKb => whole(server(|s| s.write_bytes)?, 1.0 / 1024.0),
            Self::ServerRunWait => whole(waits.server_run_wait_ns?, 1e-3),
            Self::Writes => usage.storage.map(|s| own(s.writes, 1.0)),
            Self::MinorFaults => Some(own(server(|s| s.minor_faults)?, 1.0)),
            Self::MajorFaults => Some(own(server(|s| s.major_faults)?, 1.0)),
            Self::ClientThreadsRunWait => Some(own(waits.client_threads_run_wait_ns?, 1e-3)),
            Self::Stalled => Some(own(waits.io_stalled_ns?, 1e-3)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_quantities_are_these() {
        let docs = include_str!("../../../docs/reference/metrics.md");
        let row = |q: Quantity| format!("| {} | {} | {} |\n", q.words(), q.unit(), q.source());
        let is_more = |q: &Quantity| !matches!(q, Quantity::Metric(_));
        let table: String = Quantity::all().filter(is_more).map(row).collect();
        assert!(docs.contains(&table), "docs/reference/metrics.md lacks the rows\n{table}");
    }

    #[test]
    fn no_quantity_has_the_name_of_another() {
        let mut stems: Vec<&str> = Quantity::all().map(Quantity::stem).collect();
        let n = stems.len();
        stems.sort_unstable();
        stems.dedup();
        assert_eq!(stems.len(), n);
    }
}
