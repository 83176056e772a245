//! Which side stalled where average and steady rate disagree, and what the host's counters say of
//! those slices.

use rqps_model::warning::{StallCause, TakenBy, TakenTime};
use rqps_model::{Estimate, Slice, Usage, WarningKind};
use rqps_stats::steady::Disagreement;

use super::windows;

/// Shares of the host's CPU time from which on they are evidence: those that mark a slice.
const STEAL: f64 = 0.02;
const OTHERS: f64 = 0.04;

/// The same of time spent idle with storage requests outstanding.
const IO_WAIT: f64 = 0.10;

/// How many times the other side's share it must be: what slows both alike is no cause of a difference. Of turns
/// both are of the same seconds.
const TIMES: f64 = 1.5;

/// The part of what stalls took that a share of the CPU time must be able to have cost. A share of a hundredth on two CPUs
/// costs a client at most two hundredths of its time, so it is not why a third is lost.
const EXPLAINED: f64 = 0.5;

/// The part of the blocks that is looked at: those with the most stalls.
const WORST: usize = 4;

/// Stalls of one side: how much they cost, and what the host did meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stall {
    is_of_candidate: bool,
    average: Estimate,
    steady: Estimate,
    cause: StallCause,
}

impl Stall {
    /// What the blocks of base and candidate say of a disagreement that is a finding.
    pub(super) fn of(blocks: &[(&Slice, &Slice)], found: &Disagreement) -> Self {
        let is_of_candidate = is_of_candidate(found);
        let sides = blocks.iter().map(|(b, c)| if is_of_candidate { (*c, *b) } else { (*b, *c) });
        let mut by_stall: Vec<(f64, &Slice, &Slice)> =
            sides.map(|(own, other)| (kept(own) / kept(other), own, other)).collect();
        by_stall.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n = by_stall.len().div_ceil(WORST);
        let worst = by_stall.get(..n).unwrap_or_default();
        let own = Shares::of(worst.iter().map(|(_, own, _)| &own.usage));
        let other = Shares::of(worst.iter().map(|(_, _, other)| &other.usage));
        let lost = 1.0 - mean(worst.iter().map(|(kept, ..)| *kept));
        Self::caused(found, StallCause { taken: taken(&own, &other, lost), is_of_blocks: true })
    }

    /// What slices of base and candidate, measured one after the other, say of it.
    pub(super) fn of_samples(base: &[&Slice], candidate: &[&Slice], found: &Disagreement) -> Self {
        let (own, other) =
            if is_of_candidate(found) { (candidate, base) } else { (base, candidate) };
        let mut by_stall: Vec<(f64, &Slice)> =
            own.iter().map(|slice| (kept(slice), *slice)).collect();
        by_stall.sort_by(|a, b| a.0.total_cmp(&b.0));
        let worst = by_stall.get(..by_stall.len().div_ceil(WORST)).unwrap_or_default();
        let of_other = Shares::of(other.iter().map(|slice| &slice.usage));
        let own = Shares::of(worst.iter().map(|(_, slice)| &slice.usage));
        let kept_of_other = mean(other.iter().map(|slice| kept(slice)));
        let lost = 1.0 - mean(worst.iter().map(|(kept, _)| *kept)) / kept_of_other;
        Self::caused(found, StallCause { taken: taken(&own, &of_other, lost), is_of_blocks: false })
    }

    fn caused(found: &Disagreement, cause: StallCause) -> Self {
        Self {
            is_of_candidate: is_of_candidate(found),
            average: found.average.estimate,
            steady: found.steady.estimate,
            cause,
        }
    }

    pub(super) fn warning(self) -> WarningKind {
        let Self { is_of_candidate: is_own, average, steady, cause } = self;
        WarningKind::Stalls { average, steady, is_own, cause }
    }
}

fn is_of_candidate(found: &Disagreement) -> bool {
    found.between.estimate.point < 1.0
}

/// What stalls left of a block: its average / its steady rate.
fn kept(slice: &Slice) -> f64 {
    windows::steady_rate(slice).map_or(1.0, |steady| slice.figure() / steady)
}

/// The mean of some values, 1 without any.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    if n == 0 { 1.0 } else { values.sum::<f64>() / n as f64 }
}

/// Shares of the host's CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shares {
    /// The host's CPUs: what it has of CPU time in a second.
    cpus: f64,
    steal: f64,
    /// None within the counters' error; absent where the server's processes are not known.
    others: Option<f64>,
    io_wait: f64,
}

impl Shares {
    fn of<'u>(usages: impl Iterator<Item = &'u Usage>) -> Self {
        let sum = usages.copied().reduce(|sum, usage| sum.plus(&usage)).unwrap_or_default();
        let host = &sum.host;
        let busy_ns = host.cpu_user_ns + host.cpu_system_ns;
        let all_ns = busy_ns + host.cpu_idle_ns + host.cpu_iowait_ns + host.cpu_steal_ns;
        let share = |ns: u64| if all_ns == 0 { 0.0 } else { ns as f64 / all_ns as f64 };
        let cpus = if sum.wall_ns == 0 { 1.0 } else { all_ns as f64 / sum.wall_ns as f64 };
        let others = sum.others_ns().map(share);
        Self { cpus, steal: share(host.cpu_steal_ns), others, io_wait: share(host.cpu_iowait_ns) }
    }
}

/// What took more of the CPU time of the blocks with the most stalls than on the other side, if that can be why so
/// much was `lost`.
fn taken(own: &Shares, other: &Shares, lost: f64) -> Option<TakenTime> {
    let (own_others, other_others) = own.others.zip(other.others).unwrap_or_default();
    let kinds = [
        (TakenTime { by: TakenBy::Steal, own_share: own.steal, other_share: other.steal }, STEAL),
        (
            TakenTime {
                by: TakenBy::OtherProcesses,
                own_share: own_others,
                other_share: other_others,
            },
            OTHERS,
        ),
        (
            TakenTime { by: TakenBy::IoWait, own_share: own.io_wait, other_share: other.io_wait },
            IO_WAIT,
        ),
    ];
    let more = |taken: &TakenTime| taken.own_share - taken.other_share;
    let is_evidence = |taken: &TakenTime, least: f64| {
        taken.own_share >= least
            && taken.own_share >= TIMES * taken.other_share
            && more(taken) * own.cpus >= EXPLAINED * lost
    };
    let evidence = kinds.into_iter().filter(|(taken, least)| is_evidence(taken, *least));
    evidence.map(|(taken, _)| taken).max_by(|a, b| more(a).total_cmp(&more(b)))
}

#[cfg(test)]
mod tests {
    use rqps_model::{HostCounters, ProcessCounters};

    use super::*;

    /// Of a thousand parts of the CPU time of two CPUs, each so long.
    fn shares_of(part_ns: u64, steal: u64, others: u64, io_wait: u64) -> Shares {
        let host = HostCounters {
            cpu_user_ns: (600 + others) * part_ns,
            cpu_idle_ns: (400 - others - steal - io_wait) * part_ns,
            cpu_iowait_ns: io_wait * part_ns,
            cpu_steal_ns: steal * part_ns,
            ..HostCounters::default()
        };
        let process =
            |parts| ProcessCounters { cpu_total_ns: parts * part_ns, ..ProcessCounters::default() };
        let (server, client) = (Some(process(500)), process(100));
        let wall_ns = 500 * part_ns;
        Shares::of([Usage { wall_ns, host, server, client, ..Usage::default() }].iter())
    }

    fn shares(steal: u64, others: u64, io_wait: u64) -> Shares {
        shares_of(1_000_000_000, steal, others, io_wait)
    }

    #[test]
    fn what_ticks_make_of_nothing_is_no_other_process() {
        // 50 of 1000: 5% of 1.3 s on two CPUs is 13 ticks, which are within the error of 266.
        assert_eq!(shares_of(2_660_000, 0, 50, 0).others, Some(0.0));
        assert_eq!(shares(0, 50, 0).others, Some(0.05));
    }

    #[test]
    fn the_host_is_blamed_for_what_the_other_side_was_spared() {
        let calm = shares(0, 5, 10);
        let of = |own: Shares, other: Shares| taken(&own, &other, 0.1);
        let stolen = of(shares(50, 5, 10), calm).unwrap();
        assert_eq!((stolen.by, stolen.own_share, stolen.other_share), (TakenBy::Steal, 0.05, 0.0));
        let by = |own: Shares, other: Shares| of(own, other).map(|taken| taken.by);
        assert_eq!(by(shares(0, 120, 10), calm), Some(TakenBy::OtherProcesses));
        assert_eq!(by(shares(0, 5, 200), calm), Some(TakenBy::IoWait));
        assert_eq!(by(calm, calm), None);
        assert_eq!(by(shares(50, 120, 200), shares(50, 120, 200)), None);
    }

    #[test]
    fn what_is_blamed_can_have_cost_what_was_lost() {
        let by = |own: Shares, other: Shares, lost| taken(&own, &other, lost).map(|taken| taken.by);
        // Seen with InnoDB: a third lost to writes, of whose requests the kernel's threads take some CPU.
        let (own, other) = (shares(0, 40, 200), shares(0, 26, 5));
        assert_eq!(by(own, other, 0.38), Some(TakenBy::IoWait));
        let (own, other) = (shares(0, 40, 90), shares(0, 26, 5));
        assert_eq!(by(own, other, 0.38), None);
        assert_eq!(by(own, other, 0.05), Some(TakenBy::OtherProcesses));
    }
}
