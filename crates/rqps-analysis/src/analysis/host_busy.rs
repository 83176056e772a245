//! Steps during which something outside the run had the host's CPUs for half of the time or more.
//!
//! Fewer disturbed blocks are excluded from ratios, or interleaving makes them alike for all systems. When most blocks are
//! disturbed, what a server could have done is not known: its ratio is one of servers that starve.

use rqps_model::run::SystemStep;
use rqps_model::{Slice, WarningKind};

use super::Analysis;
use super::disturbed::DENIED;

/// Share of all CPU time, percent, from which on others had the host, whatever the run wanted of it: caches and
/// memory were theirs as well.
const TAKEN_PCT: u32 = 40;

/// Share of a step's slices from which on the step is disturbed.
const LEAST_SHARE: f64 = 0.5;

/// What others took of all CPU time in a step, percent; absent where it was too little to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HostBusy {
    pub(super) others_pct: Option<u32>,
    pub(super) stolen_pct: Option<u32>,
}

/// Whether the host was busy with something else while a system was measured, and with what.
pub(super) fn host_busy(system: &SystemStep) -> Option<HostBusy> {
    let n_disturbed = system.slices.iter().filter(|slice| is_disturbed(slice)).count();
    let n_slices = system.slices.len();
    if n_slices == 0 || (n_disturbed as f64) < LEAST_SHARE * n_slices as f64 {
        return None;
    }
    let usage = system.slices.iter().map(|slice| slice.usage);
    let usage = usage.reduce(|sum, usage| sum.plus(&usage))?;
    Some(HostBusy { others_pct: usage.others_pct(), stolen_pct: usage.stolen_pct() })
}

fn is_disturbed(slice: &Slice) -> bool {
    slice.usage.denied_share() >= DENIED || slice.usage.taken_pct() >= TAKEN_PCT
}

/// The warning of a run whose host was busy in steps that are compared.
pub(super) fn warning(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let (mut steps, mut found) = (Vec::new(), Vec::new());
    let compared = || analysis.steps.iter().filter(|step| step.is_compared());
    for step in compared() {
        let busy: Vec<HostBusy> = step.step.systems.iter().filter_map(host_busy).collect();
        if !busy.is_empty() {
            steps.push(step.title.clone());
            found.extend(busy);
        }
    }
    let range = |share: fn(&HostBusy) -> Option<u32>| {
        let shares = || found.iter().filter_map(share);
        shares().min().zip(shares().max())
    };
    (!steps.is_empty()).then(|| WarningKind::HostBusy {
        n_steps: compared().count(),
        others_pct: range(|busy| busy.others_pct),
        stolen_pct: range(|busy| busy.stolen_pct),
        is_barred: !analysis.judging.allow_busy_host,
        steps,
    })
}
