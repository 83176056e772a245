//! The base against itself, where a plan measures it twice: what its ratios say of the intervals.

use rqps_model::{Verdict, WarningKind};

use super::Analysis;

/// How often the base, as a server of its own, came out unlike itself; of a joined run none.
pub(super) fn of_run(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let is_arm = |idx: &usize| analysis.run.systems[*idx].spec.is_null_arm;
    let system = analysis.candidates().find(is_arm)?;
    let (mut n, mut outside, mut called) = (0, Vec::new(), Vec::new());
    for step in analysis.steps.iter().filter(|step| step.is_compared()) {
        let cell = &step.cells[system];
        // A ratio that has no verdict, as of starts with other plans, says nothing of intervals.
        let Some((low, high)) = cell.comparable_rqps().and_then(|ratio| ratio.interval) else {
            continue;
        };
        n += 1;
        if low > 1.0 || high < 1.0 {
            outside.push(step.title.clone());
        }
        if matches!(cell.verdict(), Some(Verdict::Slower | Verdict::Faster)) {
            called.push(step.title.clone());
        }
    }
    (n > 0).then_some(WarningKind::NullArm { system, n, outside, called })
}
