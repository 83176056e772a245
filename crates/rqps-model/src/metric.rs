//! Metrics per operation: what each is, its unit, its direction, its source and its arithmetic.

use serde::{Deserialize, Serialize};

use crate::{Better, ProcessCounters, StorageCounters, Usage};

/// One metric of an operation, as reports list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// CPU of the server's processes.
    ServerCpu,
    /// The part of it in user mode.
    ServerCpuUser,
    /// The part of it in the kernel.
    ServerCpuSystem,
    /// CPU of rqps.
    ClientCpu,
    /// CPU of the whole host, as the field counts it.
    HostCpu,
    /// Context switches of the whole host.
    ContextSwitches,
    /// Reads of the data directory's device.
    Reads,
    /// Kilobytes read from it.
    ReadKb,
    /// Kilobytes written to it.
    WrittenKb,
    /// CPU of the whole host as the field's files have it: percent of all CPUs over operations per
    /// second. Only in imported runs.
    HostCpuShare,
    /// Operations per second that the field's metrics are of, which need not be the QPS. Only in
    /// imported runs.
    Rate,
}

/// What is said of a metric.
struct MetricFacts {
    heading: &'static str,
    unit: &'static str,
    stem: &'static str,
    words: &'static str,
    meaning: &'static str,
    source: &'static str,
}

impl Metric {
    /// Every metric that rqps measures, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::ServerCpu,
        Self::ServerCpuUser,
        Self::ServerCpuSystem,
        Self::ClientCpu,
        Self::HostCpu,
        Self::ContextSwitches,
        Self::Reads,
        Self::ReadKb,
        Self::WrittenKb,
    ];

    /// The columns of the field's `o.met` files, in their order: what imported runs have.
    pub const STATED: [Self; 6] = [
        Self::HostCpuShare,
        Self::ContextSwitches,
        Self::Reads,
        Self::ReadKb,
        Self::WrittenKb,
        Self::Rate,
    ];

    /// Those that the field's `o.met` files have as well, in their order.
    pub const OF_FIELD: [Self; 5] =
        [Self::HostCpu, Self::ContextSwitches, Self::Reads, Self::ReadKb, Self::WrittenKb];

    /// What is said of each in reports and documents.
    fn facts(self) -> MetricFacts {
        match self {
            Self::ServerCpu => MetricFacts {
                heading: "srvcpu/o",
                unit: "us",
                stem: "server_cpu",
                words: "server CPU",
                meaning: "CPU of the server's processes per operation",
                source: "process CPU clock",
            },
            Self::ServerCpuUser => MetricFacts {
                heading: "srvus/o",
                unit: "us",
                stem: "server_cpu_user",
                words: "server CPU, user",
                meaning: "server CPU in user mode per operation",
                source: "/proc/PID/stat utime, stime",
            },
            Self::ServerCpuSystem => MetricFacts {
                heading: "srvsy/o",
                unit: "us",
                stem: "server_cpu_system",
                words: "server CPU, kernel",
                meaning: "server CPU in the kernel per operation",
                source: "/proc/PID/stat utime, stime",
            },
            Self::ClientCpu => MetricFacts {
                heading: "clicpu/o",
                unit: "us",
                stem: "client_cpu",
                words: "client CPU",
                meaning: "CPU of the client per operation",
                source: "process CPU clock",
            },
            Self::HostCpu => MetricFacts {
                heading: "cpu/o",
                unit: "us",
                stem: "host_cpu",
                words: "host CPU",
                meaning: "CPU of the whole host, user and system, per operation",
                source: "/proc/stat cpu",
            },
            Self::ContextSwitches => MetricFacts {
                heading: "cs/o",
                unit: "count",
                stem: "context_switches",
                words: "context switches of the host",
                meaning: "context switches of the host per operation",
                source: "/proc/stat ctxt",
            },
            Self::Reads => MetricFacts {
                heading: "r/o",
                unit: "count",
                stem: "reads",
                words: "storage reads",
                meaning: "storage reads per operation",
                source: "/proc/diskstats",
            },
            Self::ReadKb => MetricFacts {
                heading: "rKB/o",
                unit: "KB",
                stem: "read",
                words: "KB read",
                meaning: "KB read from storage per operation",
                source: "/proc/diskstats",
            },
            Self::WrittenKb => MetricFacts {
                heading: "wKB/o",
                unit: "KB",
                stem: "written",
                words: "KB written",
                meaning: "KB written to storage per operation",
                source: "/proc/diskstats",
            },
            Self::HostCpuShare => MetricFacts {
                heading: "cpu/o",
                unit: "% s",
                stem: "host_cpu_pct",
                words: "host CPU, percent",
                meaning: "CPU of the whole host: percent of all CPUs / operations per second",
                source: "the imported files",
            },
            Self::Rate => MetricFacts {
                heading: "o/s",
                unit: "1/s",
                stem: "rate",
                words: "operations per second",
                meaning: "operations per second behind the imported metrics",
                source: "the imported files",
            },
        }
    }

    /// The column heading, as the field writes it where the field has one.
    #[must_use]
    pub fn heading(self) -> &'static str {
        self.facts().heading
    }

    /// The unit of one value.
    #[must_use]
    pub fn unit(self) -> &'static str {
        self.facts().unit
    }

    /// Its name for programs, without the unit: `server_cpu`.
    #[must_use]
    pub fn stem(self) -> &'static str {
        self.facts().stem
    }

    /// Its name for people: `server CPU`.
    #[must_use]
    pub fn words(self) -> &'static str {
        self.facts().words
    }

    /// What it is, in words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.facts().meaning
    }

    /// Where the kernel counts it.
    #[must_use]
    pub fn source(self) -> &'static str {
        self.facts().source
    }

    /// Less is better for all that are per operation.
    #[must_use]
    pub fn better(self) -> Better {
        if self == Self::Rate { Better::Higher } else { Better::Lower }
    }

    /// The metric's value for `n_operations`; `None` where it was not measured or nothing was done.
    #[must_use]
    pub fn value(self, usage: &Usage, n_operations: u64) -> Option<f64> {
        if n_operations == 0 {
            return None;
        }
        let server = |f: fn(&ProcessCounters) -> u64| usage.server.as_ref().map(f);
        let storage = |f: fn(&StorageCounters) -> u64| usage.storage.as_ref().map(f);
        let (total, scale) = match self {
            Self::ServerCpu => (server(|s| s.cpu_total_ns)?, 1e-3),
            Self::ServerCpuUser => (server(|s| s.cpu_user_ns)?, 1e-3),
            Self::ServerCpuSystem => (server(|s| s.cpu_system_ns)?, 1e-3),
            Self::ClientCpu => (usage.client.cpu_total_ns, 1e-3),
            Self::HostCpu => (usage.host.cpu_user_ns + usage.host.cpu_system_ns, 1e-3),
            Self::ContextSwitches => (usage.host.context_switches, 1.0),
            Self::Reads => (storage(|s| s.reads)?, 1.0),
            Self::ReadKb => (storage(|s| s.read_bytes)?, 1.0 / 1024.0),
            Self::WrittenKb => (storage(|s| s.write_bytes)?, 1.0 / 1024.0),
            Self::HostCpuShare | Self::Rate => return None,
        };
        Some(total as f64 * scale / n_operations as f64)
    }
}

/// All metrics of one slice or of several slices together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PerOperation {
    /// Each metric's value where it was measured, in the order of [`Metric::ALL`].
    pub values: Vec<(Metric, Option<f64>)>,
}

impl PerOperation {
    /// The metrics of `n_operations` that used `usage`.
    #[must_use]
    pub fn of(usage: &Usage, n_operations: u64) -> Self {
        let values = Metric::ALL.iter().map(|&m| (m, m.value(usage, n_operations))).collect();
        Self { values }
    }

    /// The value of one metric.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.values.iter().find(|(m, _)| *m == metric).and_then(|(_, value)| *value)
    }
}

/// `value / base` as the field defines it: 0/0 is 1, x/0 is infinite.
#[must_use]
pub fn relative(value: f64, base: f64) -> f64 {
    if base == 0.0 && value == 0.0 { 1.0 } else { value / base }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostCounters, Sample};

    #[test]
    fn per_operation_by_hand() {
        let first = Sample::default();
        let last = Sample {
            at_ns: 1_000_000_000,
            host: HostCounters {
                cpu_user_ns: 600_000_000,
                cpu_system_ns: 400_000_000,
                context_switches: 4000,
                ..HostCounters::default()
            },
            server: None,
            ..Sample::default()
        };
        let usage = Usage::between(&first, &last);
        let per = PerOperation::of(&Usage { server: None, ..usage }, 2000);
        assert_eq!(per.get(Metric::HostCpu), Some(500.0));
        assert_eq!(per.get(Metric::ContextSwitches), Some(2.0));
        assert_eq!(per.get(Metric::ServerCpu), None);
        assert_eq!(PerOperation::of(&usage, 0).get(Metric::HostCpu), None);
    }

    #[test]
    fn the_documented_metrics_are_these() {
        let docs = include_str!("../../../docs/reference/metrics.md");
        let beside = [Metric::HostCpuShare, Metric::Rate];
        for metric in Metric::ALL.into_iter().chain(beside) {
            let row = format!(
                "| `{}` | {} | {} | {} |",
                metric.heading(),
                metric.meaning(),
                metric.unit(),
                metric.source()
            );
            assert!(docs.contains(&row), "docs/reference/metrics.md lacks the row\n{row}");
        }
    }

    #[test]
    fn relative_follows_the_field() {
        assert_eq!(relative(0.0, 0.0).to_bits(), 1.0_f64.to_bits());
        assert!(relative(2.0, 0.0).is_infinite());
    }
}
