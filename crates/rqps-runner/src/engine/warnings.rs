//! Warnings of a slice, read off what was counted and used.

use rqps_load::Tally;
use rqps_model::{Usage, WarningKind};

/// Client CPU above this share of what its threads could have had gives the slice a warning, percent. A
/// client above it may be the limit rather than the server, unless the server used more.
const CLIENT_BOUND_PCT: u64 = 80;

/// The warnings of one slice with `clients` client threads, whose roles have a tally each.
pub(crate) fn of_slice(tallies: &[&Tally], usage: &Usage, clients: u32) -> Vec<WarningKind> {
    let mut warnings = Vec::new();
    let n_errors: u64 = tallies.iter().flat_map(|tally| &tally.errors).map(|e| e.n).sum();
    if n_errors > 0 {
        warnings.push(WarningKind::Errors { n: n_errors, by_code: Vec::new() });
    }
    let missed = tallies.iter().filter_map(|tally| tally.lateness).map(|late| late.n_missed);
    let n_missed: u64 = missed.sum();
    if n_missed > 0 {
        warnings.push(WarningKind::RateMissed { n_missed });
    }
    // Not the time of the usage, in which threads are woken up before they are to work.
    let measured_ns = tallies.iter().map(|tally| tally.span_ns).max().unwrap_or_default();
    let available_ns = measured_ns * u64::from(clients.min(usage.host.n_cpus.max(1)));
    let client_ns = usage.client.cpu_total_ns.saturating_sub(usage.sampler_cpu_ns);
    let server_ns = usage.server.map_or(0, |server| server.cpu_total_ns);
    if let Some(pct) = percent(client_ns, available_ns)
        && u64::from(pct) >= CLIENT_BOUND_PCT
        && server_ns < client_ns
    {
        warnings.push(WarningKind::ClientBound { pct });
    }
    warnings.extend(usage.stolen_pct().map(|pct| WarningKind::Steal { pct }));
    warnings.extend(usage.others_pct().map(|pct| WarningKind::OtherProcesses { pct }));
    let host = &usage.host;
    let pages = host.swap_in_pages + host.swap_out_pages;
    if pages > 0 {
        warnings.push(WarningKind::Swapped { pages });
    }
    warnings
}

fn percent(part: u64, whole: u64) -> Option<u32> {
    (whole > 0).then(|| u32::try_from(part * 100 / whole).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rqps_load::{Order, Pace, Stop};
    use rqps_model::{HostCounters, ProcessCounters};

    use super::*;

    #[test]
    fn each_reason_is_named() {
        let stop = Stop::Time(Duration::from_secs(1));
        let mut tally = Tally::for_order(&Order { pace: Pace::Closed, stop, seed: 1 });
        tally.error(1, "1213".to_owned());
        let seconds = 100_000_000_000;
        tally.finish(seconds);
        let usage = Usage {
            wall_ns: seconds,
            client: ProcessCounters { cpu_total_ns: seconds * 9 / 10, ..Default::default() },
            server: Some(ProcessCounters::default()),
            host: HostCounters {
                n_cpus: 2,
                cpu_user_ns: seconds,
                cpu_idle_ns: seconds,
                cpu_steal_ns: seconds / 10,
                swap_in_pages: 3,
                ..Default::default()
            },
            ..Default::default()
        };
        let warnings = of_slice(&[&tally], &usage, 1);
        assert_eq!(
            warnings,
            [
                WarningKind::Errors { n: 1, by_code: Vec::new() },
                WarningKind::ClientBound { pct: 90 },
                WarningKind::Steal { pct: 4 },
                // 100 s of user time less the client's 90 s, of 210 s in all.
                WarningKind::OtherProcesses { pct: 4 },
                WarningKind::Swapped { pages: 3 },
            ]
        );
        assert!(
            of_slice(&[&tally], &usage, 2).len() == 4,
            "two threads could have had twice the CPU"
        );
    }
}
