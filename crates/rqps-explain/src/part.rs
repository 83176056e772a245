//! The parts of an operation's time.
//!
//! ```text
//! clients  ├ send ┤├──────── server ────────┤├ receive ┤├ send ┤├── ...
//! time     │client ││ server │ taken │storage│ waiting  │        one operation
//! ```
//!
//! Clients of a closed loop start an operation when the one before is answered, so that the time of an
//! operation is the slots' time over their operations, and whatever is not CPU is waiting.

use rqps_model::{Placement, Slice};

use crate::sides::Sides;

/// A part of the time per operation. Together they are all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimePart {
    /// CPU of the server; of its connection threads, where these are known.
    Server,
    /// CPU of the server's other threads, as far as they took CPUs from connection threads.
    Background,
    /// CPU of the client threads.
    Client,
    /// CPUs taken by other processes or the hypervisor while threads of the run could have used them.
    Taken,
    /// Waiting for storage.
    Storage,
    /// Everything else: locks, other threads, wake-ups, stops.
    Waiting,
}

impl TimePart {
    /// Every part, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Server, Self::Background, Self::Client, Self::Taken, Self::Storage, Self::Waiting];

    /// For programs: `server_cpu`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Server => "server_cpu",
            Self::Background => "background_cpu",
            Self::Client => "client_cpu",
            Self::Taken => "taken",
            Self::Storage => "storage",
            Self::Waiting => "waiting",
        }
    }

    /// For people: `CPU of client threads`.
    #[must_use]
    pub fn words(self, basis: Basis) -> &'static str {
        match self {
            Self::Server if basis.served => "CPU of connection threads",
            Self::Server => "server CPU",
            Self::Background => "CPU taken by the server's other threads",
            Self::Client if basis.clients => "CPU of client threads",
            Self::Client => "client CPU without sampling",
            Self::Taken => "CPU taken by others",
            Self::Storage => "waiting for storage",
            Self::Waiting => "other waiting",
        }
    }

    /// What it is, in a sentence without a full stop.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Server => {
                "CPU of the server's connection threads; of all its threads where connection threads \
                 are not known"
            }
            Self::Background => {
                "CPU that the server's other threads take from connection and client threads"
            }
            Self::Client => {
                "CPU of the client threads; of the whole client without its sampling where threads are not known"
            }
            Self::Taken => {
                "CPU that other processes and the hypervisor take from the threads of the run"
            }
            Self::Storage => {
                "waiting for storage (/proc/pressure/io times slots, or iowait of the host if larger)"
            }
            Self::Waiting => "the rest: locks, other threads, wake-ups, stopped servers",
        }
    }
}

/// Operations that can be in progress at once without taking each other's CPU: the clients, or the
/// CPUs where there are fewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slots {
    /// How many.
    pub n: f64,
    /// CPUs that the run could use.
    pub n_cpus: f64,
    /// CPUs that the servers could use.
    pub n_server_cpus: f64,
    /// Whether client CPU is a part of a slot's time: not where clients have separate CPUs and are
    /// more than these.
    pub has_client: bool,
    /// Whether a client shares a CPU with its connection thread.
    pub is_paired: bool,
}

impl Slots {
    /// The slots of a step.
    #[must_use]
    pub fn of(clients: u32, placement: Placement, n_cpus: u32) -> Self {
        let n_cpus = n_cpus.max(1);
        let half = (n_cpus / 2).max(1);
        let is_split = placement == Placement::Split && n_cpus > 1;
        let n_server_cpus = if is_split { half } else { n_cpus };
        let crowded = is_split && clients > half;
        let most = if crowded { half } else { n_cpus };
        let n = clients.max(1).min(most);
        let is_paired = placement == Placement::Paired;
        let [n, n_cpus, n_server_cpus] = [n, n_cpus, n_server_cpus].map(f64::from);
        Self { n, n_cpus, n_server_cpus, has_client: !crowded, is_paired }
    }

    /// The slots' share of the CPUs that the servers could use.
    fn share(&self) -> f64 {
        (self.n / self.n_server_cpus).min(1.0)
    }

    /// Their share of all CPUs of the host, over which what is not of the run spreads.
    fn share_of_host(&self, n_cpus: u32) -> f64 {
        self.n / f64::from(n_cpus).max(self.n_cpus)
    }
}

/// What is known of all slices of both sides, so that they are split alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Basis {
    /// Whether connection threads are known.
    pub served: bool,
    /// Whether client threads are known.
    pub clients: bool,
    /// Whether it is known how long client threads and connection threads, or all server threads,
    /// waited for a CPU.
    pub run_waits: bool,
    /// Whether that is known of connection threads.
    pub served_waits: bool,
    /// Whether the kernel has pressure stall information for storage.
    pub pressure: bool,
}

impl Basis {
    /// What is known of the slices of both sides.
    #[must_use]
    pub fn of(sides: &Sides<'_>) -> Self {
        let all = |known: fn(&Slice) -> bool| sides.slices().all(known);
        let clients = all(|s| s.usage.waits.client_threads_cpu_ns.is_some());
        let served = all(|s| s.usage.waits.served_cpu_ns.is_some());
        let client_waits = all(|s| s.usage.waits.client_threads_run_wait_ns.is_some());
        let served_waits = all(|s| s.usage.waits.served_run_wait_ns.is_some());
        let server_waits = all(|s| s.usage.waits.server_run_wait_ns.is_some());
        Self {
            served,
            clients,
            run_waits: client_waits && (served_waits || server_waits),
            served_waits,
            pressure: all(|s| s.usage.waits.io_stalled_ns.is_some()),
        }
    }
}

/// The parts of one slice, microseconds per operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// The time per operation.
    pub total_us: f64,
    /// Each part, in the order of [`TimePart::ALL`].
    values_us: [f64; 6],
    /// The server's CPU in the kernel.
    pub kernel_us: f64,
}

impl Parts {
    /// The parts of a slice; `None` where the server's processes are not known or nothing was done.
    #[must_use]
    pub fn of(slice: &Slice, slots: Slots, basis: Basis) -> Option<Self> {
        let (usage, waits) = (&slice.usage, &slice.usage.waits);
        let server = usage.server?;
        if slice.n_operations == 0 || slice.duration_ns == 0 {
            return None;
        }
        let per = |ns: f64| ns / 1e3 / slice.n_operations as f64;
        let known = |ns: Option<u64>| ns.unwrap_or(0) as f64;
        let total_us = per(slots.n * slice.duration_ns as f64);
        let all = server.cpu_total_ns as f64;
        let served = if basis.served { known(waits.served_cpu_ns).min(all) } else { all };
        let client = if basis.clients {
            known(waits.client_threads_cpu_ns)
        } else {
            usage.client.cpu_total_ns.saturating_sub(usage.sampler_cpu_ns) as f64
        };
        let client = if slots.has_client { client } else { 0.0 };
        let mut left_us = total_us - per(served + client);
        let mut take = |wanted_ns: f64| {
            let taken = per(wanted_ns).min(left_us.max(0.0));
            left_us -= taken;
            taken
        };
        // A thread that was woken while its client still ran on their CPU waited for the client.
        let for_client = if slots.is_paired { client } else { 0.0 };
        let run_wait = basis.run_waits.then(|| {
            let all =
                known(server_run_wait_ns(slice, basis)) + known(waits.client_threads_run_wait_ns);
            (all - for_client).max(0.0)
        });
        // What else the server does on CPUs that nobody waits for costs the clients nothing.
        let background = ((all - served) * slots.share()).min(run_wait.unwrap_or(f64::INFINITY));
        let background_us = take(background);
        let host = &usage.host;
        let others = usage.others_ns()? as f64;
        // The kernel does not count a thread on a CPU that the hypervisor has as waiting for one.
        let share = slots.share_of_host(host.n_cpus);
        let stolen = host.cpu_steal_ns as f64 * share;
        let others = run_wait.map_or(others * share, |ns| others.min(ns - background));
        let taken_us = take(others + stolen);
        let pressure = if basis.pressure { known(waits.io_stalled_ns) } else { 0.0 };
        // Pressure is one clock for all, iowait one for each CPU.
        let storage_us = take((pressure * slots.n).max(host.cpu_iowait_ns as f64));
        let ticks = (server.cpu_user_ns + server.cpu_system_ns) as f64;
        let kernel = if ticks > 0.0 { server.cpu_system_ns as f64 / ticks } else { 0.0 };
        let values_us = [per(served), background_us, per(client), taken_us, storage_us, left_us];
        Some(Self { total_us, values_us, kernel_us: per(served) * kernel })
    }

    /// The time per operation that the systems cause. Other processes take CPU from interleaved
    /// systems in proportion to what these use: that part is excluded.
    #[must_use]
    pub fn own_us(&self, is_interleaved: bool) -> f64 {
        if is_interleaved { self.total_us - self.get(TimePart::Taken) } else { self.total_us }
    }

    /// One part, microseconds per operation.
    #[must_use]
    pub fn get(&self, part: TimePart) -> f64 {
        let at = TimePart::ALL.iter().position(|p| *p == part);
        at.map_or(0.0, |at| self.values_us[at])
    }
}

/// How long the threads that serve clients waited for a CPU; where that is not known of all slices, as in
/// some runs one after the other, how long all of the server's did.
pub(crate) fn server_run_wait_ns(slice: &Slice, basis: Basis) -> Option<u64> {
    let waits = &slice.usage.waits;
    if basis.served_waits { waits.served_run_wait_ns } else { waits.server_run_wait_ns }
}

/// The share of the time of a slice in which a task of the host waited for storage, from 0 to 1.
#[must_use]
pub fn stalled(slice: &Slice, basis: Basis) -> Option<f64> {
    let usage = &slice.usage;
    let pressure = if basis.pressure { usage.waits.io_stalled_ns? } else { 0 };
    let ns = pressure.max(usage.host.cpu_iowait_ns) as f64;
    (slice.duration_ns > 0).then(|| (ns / slice.duration_ns as f64).min(1.0))
}

/// User-mode CPU of other processes and CPU of the hypervisor over all CPU time of the host in a
/// slice, from 0 to 1; `None` where the server's processes are not known. Kernel CPU is excluded:
/// its threads work for the server as well.
#[must_use]
pub fn others_in_user_mode(slice: &Slice) -> Option<f64> {
    let (host, server) = (&slice.usage.host, slice.usage.server?);
    let busy = host.cpu_user_ns + host.cpu_system_ns;
    let all = busy + host.cpu_idle_ns + host.cpu_iowait_ns + host.cpu_steal_ns;
    let ours = server.cpu_user_ns + slice.usage.client.cpu_user_ns;
    let others = host.cpu_user_ns.saturating_sub(ours);
    (all > 0).then(|| (others + host.cpu_steal_ns) as f64 / all as f64)
}
