//! Samples: counters of host, server, client and storage, and their differences.
//!
//! All counters are cumulative; a [`Usage`] is the difference of two samples. Fields that are
//! gauges (a value of the moment) say so.

use serde::{Deserialize, Serialize};

/// Host-wide counters, from `/proc/stat`, `/proc/meminfo` and `/proc/vmstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostCounters {
    /// CPU time in user mode, all CPUs, nice included, guest not counted twice; nanoseconds.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, interrupts included; nanoseconds.
    pub cpu_system_ns: u64,
    /// CPU time idle, waiting for storage not included; nanoseconds.
    pub cpu_idle_ns: u64,
    /// CPU time idle with storage requests outstanding; nanoseconds.
    pub cpu_iowait_ns: u64,
    /// CPU time taken by the hypervisor; nanoseconds.
    pub cpu_steal_ns: u64,
    /// Context switches of all CPUs.
    pub context_switches: u64,
    /// Gauge: tasks that run or could run.
    pub procs_running: u64,
    /// Gauge: tasks blocked on storage.
    pub procs_blocked: u64,
    /// Gauge: memory that could be had without swapping, bytes.
    pub memory_available_bytes: u64,
    /// Pages swapped in.
    pub swap_in_pages: u64,
    /// Pages swapped out.
    pub swap_out_pages: u64,
    /// Gauge: number of CPUs.
    pub n_cpus: u32,
}

/// Counters of a process, or the sum over a process tree, from `/proc/PID/*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessCounters {
    /// CPU time in user mode, nanoseconds (10 ms steps).
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, nanoseconds (10 ms steps).
    pub cpu_system_ns: u64,
    /// CPU time in all, nanoseconds, from the process CPU clock (1 ns steps).
    pub cpu_total_ns: u64,
    /// Gauge: resident memory, bytes; memory shared inside the tree is counted once.
    pub rss_bytes: u64,
    /// Page faults served without storage.
    pub minor_faults: u64,
    /// Page faults that read storage.
    pub major_faults: u64,
    /// Context switches in which a thread waited for something.
    pub voluntary_switches: u64,
    /// Context switches in which a thread was pushed off its CPU.
    pub involuntary_switches: u64,
    /// Bytes fetched from storage on behalf of the processes.
    pub read_bytes: u64,
    /// Bytes sent to storage on behalf of the processes.
    pub write_bytes: u64,
    /// Gauge: processes in the tree.
    pub n_processes: u32,
    /// Gauge: threads in the tree.
    pub n_threads: u32,
}

/// Counters of one block device, from `/proc/diskstats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StorageCounters {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time during which requests were under way, nanoseconds.
    pub busy_ns: u64,
}

/// Times of waiting threads, as far as the kernel counts them; a counter that it does not have is
/// absent, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Waits {
    /// Time in which threads of the server's process tree could run and did not, nanoseconds, from
    /// `/proc/PID/task/TID/schedstat`. In a block that of its whole time.
    pub server_run_wait_ns: Option<u64>,
    /// CPU time of the threads that serve the clients, nanoseconds. Where others work at a set rate
    /// beside the measured clients, of these alone. Absent where the threads are not known.
    pub served_cpu_ns: Option<u64>,
    /// Time in which these threads could run and did not, nanoseconds.
    pub served_run_wait_ns: Option<u64>,
    /// CPU time of the client threads, nanoseconds: rqps without its samplers and helpers.
    pub client_threads_cpu_ns: Option<u64>,
    /// Time in which the client threads could run and did not, nanoseconds.
    pub client_threads_run_wait_ns: Option<u64>,
    /// Time in which at least one task of the host waited for storage, nanoseconds, from
    /// `/proc/pressure/io`.
    pub io_stalled_ns: Option<u64>,
}

impl Waits {
    /// Applies `f` counter by counter; what either side lacks is absent.
    fn with(&self, other: &Self, f: fn(u64, u64) -> u64) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| f(a, b));
        Self {
            server_run_wait_ns: both(self.server_run_wait_ns, other.server_run_wait_ns),
            served_cpu_ns: both(self.served_cpu_ns, other.served_cpu_ns),
            served_run_wait_ns: both(self.served_run_wait_ns, other.served_run_wait_ns),
            client_threads_cpu_ns: both(self.client_threads_cpu_ns, other.client_threads_cpu_ns),
            client_threads_run_wait_ns: both(
                self.client_threads_run_wait_ns,
                other.client_threads_run_wait_ns,
            ),
            io_stalled_ns: both(self.io_stalled_ns, other.io_stalled_ns),
        }
    }
}

/// Everything that was read at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Monotonic time since the sampler's epoch, nanoseconds.
    pub at_ns: u64,
    /// The host.
    pub host: HostCounters,
    /// The server's process tree; absent for a server on another host.
    pub server: Option<ProcessCounters>,
    /// rqps itself.
    pub client: ProcessCounters,
    /// The device that holds the data directory; absent when it has none (tmpfs, overlay).
    pub storage: Option<StorageCounters>,
    /// CPU that the samplers themselves used so far, nanoseconds.
    pub sampler_cpu_ns: u64,
    /// Times of waiting threads.
    #[serde(default)]
    pub waits: Waits,
}

/// What was used between two samples; gauges are those of the later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Wall-clock time between the samples, nanoseconds.
    pub wall_ns: u64,
    /// The host.
    pub host: HostCounters,
    /// The server's process tree.
    pub server: Option<ProcessCounters>,
    /// rqps itself, samplers included.
    pub client: ProcessCounters,
    /// The data directory's device.
    pub storage: Option<StorageCounters>,
    /// CPU of the samplers, nanoseconds.
    pub sampler_cpu_ns: u64,
    /// Times of waiting threads.
    #[serde(default)]
    pub waits: Waits,
}

impl HostCounters {
    fn since(&self, first: &Self) -> Self {
        Self {
            cpu_user_ns: self.cpu_user_ns.saturating_sub(first.cpu_user_ns),
            cpu_system_ns: self.cpu_system_ns.saturating_sub(first.cpu_system_ns),
            cpu_idle_ns: self.cpu_idle_ns.saturating_sub(first.cpu_idle_ns),
            cpu_iowait_ns: self.cpu_iowait_ns.saturating_sub(first.cpu_iowait_ns),
            cpu_steal_ns: self.cpu_steal_ns.saturating_sub(first.cpu_steal_ns),
            context_switches: self.context_switches.saturating_sub(first.context_switches),
            swap_in_pages: self.swap_in_pages.saturating_sub(first.swap_in_pages),
            swap_out_pages: self.swap_out_pages.saturating_sub(first.swap_out_pages),
            ..*self
        }
    }
}

impl ProcessCounters {
    fn since(&self, first: &Self) -> Self {
        Self {
            cpu_user_ns: self.cpu_user_ns.saturating_sub(first.cpu_user_ns),
            cpu_system_ns: self.cpu_system_ns.saturating_sub(first.cpu_system_ns),
            cpu_total_ns: self.cpu_total_ns.saturating_sub(first.cpu_total_ns),
            minor_faults: self.minor_faults.saturating_sub(first.minor_faults),
            major_faults: self.major_faults.saturating_sub(first.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(first.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(first.involuntary_switches),
            read_bytes: self.read_bytes.saturating_sub(first.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(first.write_bytes),
            ..*self
        }
    }
}

impl StorageCounters {
    fn since(&self, first: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(first.reads),
            read_bytes: self.read_bytes.saturating_sub(first.read_bytes),
            writes: self.writes.saturating_sub(first.writes),
            write_bytes: self.write_bytes.saturating_sub(first.write_bytes),
            busy_ns: self.busy_ns.saturating_sub(first.busy_ns),
        }
    }
}

impl HostCounters {
    fn plus(&self, later: &Self) -> Self {
        Self {
            cpu_user_ns: self.cpu_user_ns.saturating_add(later.cpu_user_ns),
            cpu_system_ns: self.cpu_system_ns.saturating_add(later.cpu_system_ns),
            cpu_idle_ns: self.cpu_idle_ns.saturating_add(later.cpu_idle_ns),
            cpu_iowait_ns: self.cpu_iowait_ns.saturating_add(later.cpu_iowait_ns),
            cpu_steal_ns: self.cpu_steal_ns.saturating_add(later.cpu_steal_ns),
            context_switches: self.context_switches.saturating_add(later.context_switches),
            swap_in_pages: self.swap_in_pages.saturating_add(later.swap_in_pages),
            swap_out_pages: self.swap_out_pages.saturating_add(later.swap_out_pages),
            ..*later
        }
    }
}

impl ProcessCounters {
    fn plus(&self, later: &Self) -> Self {
        Self {
            cpu_user_ns: self.cpu_user_ns.saturating_add(later.cpu_user_ns),
            cpu_system_ns: self.cpu_system_ns.saturating_add(later.cpu_system_ns),
            cpu_total_ns: self.cpu_total_ns.saturating_add(later.cpu_total_ns),
            minor_faults: self.minor_faults.saturating_add(later.minor_faults),
            major_faults: self.major_faults.saturating_add(later.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_add(later.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_add(later.involuntary_switches),
            read_bytes: self.read_bytes.saturating_add(later.read_bytes),
            write_bytes: self.write_bytes.saturating_add(later.write_bytes),
            ..*later
        }
    }
}

impl StorageCounters {
    fn plus(&self, later: &Self) -> Self {
        Self {
            reads: self.reads.saturating_add(later.reads),
            read_bytes: self.read_bytes.saturating_add(later.read_bytes),
            writes: self.writes.saturating_add(later.writes),
            write_bytes: self.write_bytes.saturating_add(later.write_bytes),
            busy_ns: self.busy_ns.saturating_add(later.busy_ns),
        }
    }
}

impl Usage {
    /// What was used here and `later`; gauges are the later ones. Parts that either lacks are absent.
    #[must_use]
    pub fn plus(&self, later: &Self) -> Self {
        Self {
            wall_ns: self.wall_ns.saturating_add(later.wall_ns),
            host: self.host.plus(&later.host),
            server: self.server.zip(later.server).map(|(a, b)| a.plus(&b)),
            client: self.client.plus(&later.client),
            storage: self.storage.zip(later.storage).map(|(a, b)| a.plus(&b)),
            sampler_cpu_ns: self.sampler_cpu_ns.saturating_add(later.sampler_cpu_ns),
            waits: self.waits.with(&later.waits, u64::saturating_add),
        }
    }

    /// The same CPU times, faults, device traffic and host's context switches, with everything else
    /// from `whole`, which was read in full at both ends of a longer time.
    #[must_use]
    pub fn with_rest_of(&self, whole: &Self) -> Self {
        let process = |own: &ProcessCounters, whole: &ProcessCounters| ProcessCounters {
            cpu_user_ns: own.cpu_user_ns,
            cpu_system_ns: own.cpu_system_ns,
            cpu_total_ns: own.cpu_total_ns,
            minor_faults: own.minor_faults,
            major_faults: own.major_faults,
            ..*whole
        };
        Self {
            host: HostCounters {
                memory_available_bytes: whole.host.memory_available_bytes,
                swap_in_pages: whole.host.swap_in_pages,
                swap_out_pages: whole.host.swap_out_pages,
                ..self.host
            },
            server: self.server.zip(whole.server).map(|(own, whole)| process(&own, &whole)),
            client: ProcessCounters {
                voluntary_switches: self.client.voluntary_switches,
                involuntary_switches: self.client.involuntary_switches,
                ..process(&self.client, &whole.client)
            },
            waits: Waits { server_run_wait_ns: whole.waits.server_run_wait_ns, ..self.waits },
            ..*self
        }
    }

    /// What was used from `first` to `last`. Parts that either sample lacks are absent.
    #[must_use]
    pub fn between(first: &Sample, last: &Sample) -> Self {
        let pair = |a: Option<ProcessCounters>, b: Option<ProcessCounters>| {
            a.zip(b).map(|(a, b)| b.since(&a))
        };
        Self {
            wall_ns: last.at_ns.saturating_sub(first.at_ns),
            host: last.host.since(&first.host),
            server: pair(first.server, last.server),
            client: last.client.since(&first.client),
            storage: first.storage.zip(last.storage).map(|(a, b)| b.since(&a)),
            sampler_cpu_ns: last.sampler_cpu_ns.saturating_sub(first.sampler_cpu_ns),
            waits: last.waits.with(&first.waits, u64::saturating_sub),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(n: u64) -> Usage {
        let process = ProcessCounters { cpu_total_ns: n, rss_bytes: n, ..Default::default() };
        Usage {
            wall_ns: n,
            host: HostCounters { cpu_user_ns: n, n_cpus: 2, ..Default::default() },
            server: Some(process),
            client: process,
            storage: Some(StorageCounters { reads: n, ..Default::default() }),
            sampler_cpu_ns: n,
            waits: Waits {
                server_run_wait_ns: Some(n),
                served_cpu_ns: Some(n),
                ..Waits::default()
            },
        }
    }

    #[test]
    fn usages_add_up_and_gauges_are_the_later_ones() {
        let sum = usage(1).plus(&usage(2));
        assert_eq!((sum.wall_ns, sum.host.cpu_user_ns, sum.host.n_cpus), (3, 3, 2));
        let server = sum.server.unwrap();
        assert_eq!((server.cpu_total_ns, server.rss_bytes), (3, 2));
        assert_eq!((sum.client.cpu_total_ns, sum.sampler_cpu_ns), (3, 3));
        assert_eq!(sum.storage.unwrap().reads, 3);
        assert_eq!(usage(1).plus(&Usage { server: None, ..usage(1) }).server, None);
        assert_eq!(sum.waits.served_cpu_ns, Some(3));
        // What the kernel does not tell of one slice is not told of the sum.
        let unknown = Usage { waits: Waits::default(), ..usage(1) };
        assert_eq!(usage(1).plus(&unknown).waits, Waits::default());
    }

    #[test]
    fn what_a_brief_sample_lacks_comes_from_the_whole_time() {
        let mut whole = usage(100);
        whole.host.swap_in_pages = 7;
        let both = usage(1).with_rest_of(&whole);
        let server = both.server.unwrap();
        assert_eq!((server.cpu_total_ns, server.rss_bytes), (1, 100));
        assert_eq!((both.host.cpu_user_ns, both.host.swap_in_pages, both.wall_ns), (1, 7, 1));
        assert_eq!(both.storage.unwrap().reads, 1);
        assert_eq!(both.waits.server_run_wait_ns, Some(100));
        assert_eq!(both.waits.served_cpu_ns, Some(1));
    }
}
