//! Two rates between which systems of a step switch at the same times: the host's.
//!
//! A waiting server is stopped, so what two servers do together within some hundredths of a second
//! is caused by neither.

use rqps_model::run::SystemStep;
use rqps_model::{Run, RunStep, Slice, slice};
use rqps_stats::bimodal::Levels;

use super::observed::OfSystem;
use super::origin::Rule;

/// The correlation (phi) of which of their levels two systems are at, window by window, from which on they go together. On
/// a virtual machine pairs of MySQL, with turns of 20 ms, had 0.7 to 0.9 in steps that read, and 0.1 where one stalled by
/// itself.
const TOGETHER: f64 = 0.5;

/// Of each system whether it has two levels, and is at them at the times of another.
pub(super) fn of_host(
    run: &Run,
    step: &RunStep,
    observed: &[OfSystem],
    rule: &Rule<'_>,
) -> Vec<bool> {
    let all: Vec<(&SystemStep, &OfSystem)> = step.systems.iter().zip(observed).collect();
    let go_together = |a: usize, b: usize| {
        let levels = |idx: usize| all[idx].1.two_levels.as_ref();
        let both = levels(a).zip(levels(b)).filter(|_| rule.are_interleaved(run, a, b));
        both.and_then(|(of_a, of_b)| {
            let (a, b) = (
                WithLevels { system: all[a].0, levels: of_a },
                WithLevels { system: all[b].0, levels: of_b },
            );
            correlation(a, b)
        })
        .is_some_and(|phi| phi >= TOGETHER)
    };
    let mut of_host = vec![false; all.len()];
    for a in 0..all.len() {
        for b in a + 1..all.len() {
            // Whoever is known to be at the host's needs no other pair.
            if !(of_host[a] && of_host[b]) && go_together(a, b) {
                (of_host[a], of_host[b]) = (true, true);
            }
        }
    }
    of_host
}

/// A system with the rates at which its windows lie.
#[derive(Clone, Copy)]
struct WithLevels<'a> {
    system: &'a SystemStep,
    levels: &'a Levels,
}

/// The correlation of the levels of two systems over the windows of their common blocks; `None` where one of them is at
/// one level throughout.
fn correlation(a: WithLevels<'_>, b: WithLevels<'_>) -> Option<f64> {
    let mut n = [[0_u32; 2]; 2];
    for own in &a.system.slices {
        let partner =
            b.system.slices.iter().find(|other| (other.start, other.idx) == (own.start, own.idx));
        let Some(other) = partner else { continue };
        // Slices are as long on both, so that windows lie in the same order; the last are of less than a slice.
        let both = own.windows.counts.len().min(other.windows.counts.len());
        for at in 0..both {
            let high = |slice: &Slice, levels: &Levels| {
                let counts = &slice.windows.counts;
                let count = u64::from(counts[at * counts.len() / both]);
                let rate = slice::per_second(count, slice.windows.length_ns);
                usize::from(rate > f64::midpoint(levels.low, levels.high))
            };
            n[high(own, a.levels)][high(other, b.levels)] += 1;
        }
    }
    let n = n.map(|row| row.map(f64::from));
    let rows = (n[0][0] + n[0][1]) * (n[1][0] + n[1][1]);
    let columns = (n[0][0] + n[1][0]) * (n[0][1] + n[1][1]);
    let spread = (rows * columns).sqrt();
    (spread > 0.0).then(|| (n[0][0] * n[1][1] - n[0][1] * n[1][0]) / spread)
}
