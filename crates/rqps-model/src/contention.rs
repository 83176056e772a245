//! CPU time of the host that others took, as far as its counters show it.
//!
//! `/proc/stat` counts ticks of 10 ms (`proc(5)`: USER_HZ is 100), each charged whole to whatever ran
//! when it came, while the CPU time of processes is exact. Of a few ticks the difference says nothing:
//! a share counts only where it is more than what sampling by ticks makes of none.

use crate::sample::Usage;

/// What the host's counters count in, nanoseconds.
const TICK_NS: u64 = 10_000_000;

/// Standard errors by which a share must exceed nothing: reports have hundreds of cells.
const Z: u64 = 3;

/// Steal from this share of the host's CPU time on is told, percent.
const STEAL_PCT: u64 = 2;

/// CPU of processes that have no part in the run from this share of the host's CPU time on is told,
/// percent. An idle host's own services stay well below it.
const OTHERS_PCT: u64 = 4;

impl Usage {
    /// Share of all CPU time that the hypervisor took, percent; `None` below 2%, and where it is within
    /// the counters' error.
    #[must_use]
    pub fn stolen_pct(&self) -> Option<u32> {
        self.share(self.host.cpu_steal_ns, STEAL_PCT)
    }

    /// Share of all CPU time that was used by neither rqps nor the server, percent; `None` below 4%,
    /// where it is within the counters' error, and where the server's share is not known.
    #[must_use]
    pub fn others_pct(&self) -> Option<u32> {
        let ours_ns = self.server?.cpu_total_ns.saturating_add(self.client.cpu_total_ns);
        let host_ns = self.host.cpu_user_ns.saturating_add(self.host.cpu_system_ns);
        self.share(host_ns.saturating_sub(ours_ns), OTHERS_PCT)
    }

    /// Share of all CPU time that other programs and the hypervisor used, percent. The kernel's own
    /// work is excluded, because the server may cause it. Other programs are not known where the
    /// server is not.
    #[must_use]
    pub fn taken_pct(&self) -> u32 {
        let others_ns = self.server.map_or(0, |server| {
            let own_ns = server.cpu_user_ns.saturating_add(self.client.cpu_user_ns);
            self.host.cpu_user_ns.saturating_sub(own_ns)
        });
        let others = self.share(others_ns, OTHERS_PCT).unwrap_or(0);
        others.saturating_add(self.stolen_pct().unwrap_or(0))
    }

    /// CPU time of the host that was used by neither rqps nor the server, nanoseconds: 0 where it is within
    /// the counters' error; `None` where the server's share is not known.
    #[must_use]
    pub fn others_ns(&self) -> Option<u64> {
        let ours_ns = self.server?.cpu_total_ns.saturating_add(self.client.cpu_total_ns);
        let host_ns = self.host.cpu_user_ns.saturating_add(self.host.cpu_system_ns);
        let others_ns = host_ns.saturating_sub(ours_ns);
        let is_seen = others_ns > self.error_ns(self.whole_ns());
        Some(if is_seen { others_ns } else { 0 })
    }

    /// Share of the CPU time wanted by rqps and the server that the hypervisor or other processes
    /// took, from 0 to 1.
    ///
    /// It is a share of the CPU time wanted, not of all CPU time: steal grows with demand. Other
    /// processes count as far as threads of the run waited for a CPU; where that is not known, or
    /// the server is not, they do not. Steal counts where [`Usage::stolen_pct`] is known: a server
    /// that waits for storage wants little. The kernel's own work is excluded, because the server
    /// may cause it, as by writing back.
    #[must_use]
    pub fn denied_share(&self) -> f64 {
        let share = |part: u64, rest: u64| {
            if part == 0 { 0.0 } else { part as f64 / part.saturating_add(rest) as f64 }
        };
        let busy_ns = self.host.cpu_user_ns.saturating_add(self.host.cpu_system_ns);
        let steal_ns = if self.stolen_pct().is_some() { self.host.cpu_steal_ns } else { 0 };
        let stolen = share(steal_ns, busy_ns);
        let waits = self.waits.served_run_wait_ns.zip(self.waits.client_threads_run_wait_ns);
        let contended = self.server.zip(waits).map_or(0.0, |(server, (served_ns, clients_ns))| {
            let own_ns = server.cpu_user_ns.saturating_add(self.client.cpu_user_ns);
            let others_ns = self.host.cpu_user_ns.saturating_sub(own_ns);
            let is_seen = others_ns > self.error_ns(self.whole_ns());
            let lost_ns =
                if is_seen { others_ns.min(served_ns.saturating_add(clients_ns)) } else { 0 };
            share(lost_ns, server.cpu_total_ns.saturating_add(self.client.cpu_total_ns))
        });
        stolen + contended - stolen * contended
    }

    fn whole_ns(&self) -> u64 {
        let host = &self.host;
        let parts = [
            host.cpu_user_ns,
            host.cpu_system_ns,
            host.cpu_idle_ns,
            host.cpu_iowait_ns,
            host.cpu_steal_ns,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    fn share(&self, part_ns: u64, least_pct: u64) -> Option<u32> {
        let whole_ns = self.whole_ns();
        if whole_ns == 0 || part_ns <= self.error_ns(whole_ns) {
            return None;
        }
        let pct = u128::from(part_ns) * 100 / u128::from(whole_ns);
        let pct = u32::try_from(pct).unwrap_or(u32::MAX);
        (u64::from(pct) >= least_pct).then_some(pct)
    }

    /// What a difference of ticks and exact times can be of nothing: ticks that fall at random on
    /// CPUs that are busy half of the time, the worst case, and one at the edge on each CPU.
    fn error_ns(&self, whole_ns: u64) -> u64 {
        let n_ticks = whole_ns / TICK_NS;
        let ticks = (Z * Z * n_ticks / 4).isqrt() + u64::from(self.host.n_cpus);
        ticks * TICK_NS
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::{HostCounters, ProcessCounters};

    use super::*;

    /// Of two CPUs for `wall_ms`: the host's busy and stolen ticks, and what server and client used.
    fn usage(wall_ms: u64, busy: u64, stolen: u64, ours_ms: u64) -> Usage {
        Usage {
            host: HostCounters {
                n_cpus: 2,
                cpu_user_ns: busy * TICK_NS,
                cpu_idle_ns: (wall_ms / 5 - busy - stolen) * TICK_NS,
                cpu_steal_ns: stolen * TICK_NS,
                ..Default::default()
            },
            server: Some(ProcessCounters {
                cpu_total_ns: ours_ms * 1_000_000,
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn a_few_ticks_tell_nothing() {
        // Both CPUs were busy at each of two ticks, and the run's own part was 20 ms of 40.
        assert_eq!(usage(20, 4, 0, 20).others_pct(), None);
        assert_eq!(usage(20, 0, 1, 20).stolen_pct(), None);
        // 10% of a second are less than sampling makes of none, 15% are more.
        assert_eq!(usage(1000, 120, 0, 1000).others_pct(), None);
        assert_eq!(usage(1000, 130, 0, 1000).others_pct(), Some(15));
        assert_eq!(usage(1000, 120, 0, 1000).others_ns(), Some(0));
        assert_eq!(usage(1000, 140, 0, 1000).others_ns(), Some(400_000_000));
    }

    #[test]
    fn what_is_denied_is_a_share_of_what_is_wanted() {
        let near = |usage: Usage, share: f64| (usage.denied_share() - share).abs() < 1e-9;
        let with = |mut usage: Usage, own_user_ms: u64, waited_ms: u64| {
            usage.server.as_mut().unwrap().cpu_user_ns = own_user_ms * 1_000_000;
            usage.waits.served_run_wait_ns = Some(waited_ms * 1_000_000);
            usage.waits.client_threads_run_wait_ns = Some(0);
            usage
        };
        // A fifth is stolen of 1.25 s and of 5 s that are wanted.
        assert!(near(usage(1000, 100, 25, 1000), 0.2));
        assert!(near(usage(10_000, 400, 100, 4000), 0.2));
        // A fifth of 0.5 s is within the counters' error; of a long time, below what is told of steal.
        assert!(near(usage(1000, 40, 10, 400), 0.0));
        assert!(near(usage(100_000, 1500, 375, 15_000), 0.0));
        // 200 ms of others are within the error; 600 ms are not, and count as far as the run waited.
        assert!(near(with(usage(1000, 120, 0, 1000), 1000, 900), 0.0));
        assert!(near(with(usage(1000, 120, 0, 600), 600, 200), 0.25));
        assert!(near(with(usage(1000, 120, 0, 600), 600, 900), 0.5));
        assert!(near(with(usage(1000, 120, 0, 600), 600, 0), 0.0));
        assert!(near(with(usage(1000, 120, 30, 600), 600, 900), 1.0 - 0.8 * 0.5));
        // The client's own code is none of others'.
        let mut client = with(usage(1000, 120, 0, 600), 600, 900);
        client.client.cpu_user_ns = 600_000_000;
        assert!(near(client, 0.0));
        // Where waits or the server are not known, steal alone is.
        assert!(near(usage(1000, 120, 30, 600), 0.2));
        let alone = Usage { server: None, ..with(usage(1000, 120, 30, 600), 600, 900) };
        assert!(near(alone, 0.2));
        assert!(near(Usage::default(), 0.0));
    }

    #[test]
    fn a_long_time_tells_small_shares() {
        assert_eq!(usage(100_000, 10_800, 0, 100_000).others_pct(), Some(4));
        assert_eq!(usage(100_000, 10_700, 0, 100_000).others_pct(), None);
        assert_eq!(usage(100_000, 10_000, 400, 100_000).stolen_pct(), Some(2));
        assert_eq!(usage(100_000, 10_000, 399, 100_000).stolen_pct(), None);
        // More of ours than ticks found: nothing of others.
        assert_eq!(usage(100_000, 9_000, 0, 100_000).others_pct(), None);
    }

    #[test]
    fn without_a_server_or_a_host_nothing_is_told() {
        let unknown = Usage { server: None, ..usage(100_000, 20_000, 0, 0) };
        assert_eq!(unknown.others_pct(), None);
        assert_eq!(Usage::default().stolen_pct(), None);
    }
}
