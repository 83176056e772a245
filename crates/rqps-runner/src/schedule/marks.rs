//! What every slice of a step on a system is marked with, because of what happened to the system before.

use rqps_model::{Mark, StepIdx, StepKind, StepOutcome, SystemIdx};

use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::system_state::SystemState;

/// What is said of slices after a server failed.
const STARTED_ANEW: &str = "the server failed before and was started anew: measured on tables filled \
                            anew, without the writes before";

/// What is said of slices of a system that came too late to take turns with the base.
const TOO_LATE: &str = "measured without the base, which had been measured before: no ratio";

/// What slices say that were measured on data that an earlier attempt had left.
const STARTED_AGAIN: &str = "the run was interrupted: the server was started again on its data, brought to \
                             rest and its caches warmed anew";

/// The same of the Insert Benchmark, which warms nothing.
const STARTED_COLD: &str = "the run was interrupted: the server was started again on its data, with cold \
                            caches";

/// The marks that every slice of a step on a system gets. A load makes even what was before it.
pub(crate) fn marks_of(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    state: &mut SystemState,
    step: StepIdx,
) -> Vec<Mark> {
    let planned = run.step(step);
    state.is_refilled &= !planned.fills();
    state.is_on_kept_data &= !planned.fills();
    let started_again = (state.is_on_kept_data && !state.is_refilled).then(|| {
        let text = if planned.of_insert().is_some() { STARTED_COLD } else { STARTED_AGAIN };
        Mark::Note { text: text.to_owned() }
    });
    let resumed = state.is_refilled.then(|| match state.n_faults {
        0 => Mark::Resumed,
        _ => Mark::Note { text: STARTED_ANEW.to_owned() },
    });
    let unsettled = state.unsettled.iter().map(|left| Mark::NotSettled { left: left.clone() });
    let too_late = is_too_late(run, journal, state.idx, step)
        .then(|| Mark::Note { text: TOO_LATE.to_owned() });
    let by_restart = run.plan.is_by_restart.then(|| {
        let text = "the systems do not fit into memory together, so that they did not take turns";
        Mark::Note { text: text.to_owned() }
    });
    let of_attempt = resumed.into_iter().chain(started_again);
    of_attempt.chain(unsettled).chain(too_late).chain(by_restart).collect()
}

/// Whether the base has ended an interleaved step that a system is only about to begin: the system had been
/// excluded, and an attempt at the run after that has it alone.
fn is_too_late(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    system: SystemIdx,
    step: StepIdx,
) -> bool {
    use StepKind::{Index, Load, WarmUp};
    run.plan.schedule.is_interleaved()
        && !matches!(run.step(step).info.kind, Load | WarmUp | Index)
        && system != run.base()
        && journal.cell(step, run.base()).outcome == StepOutcome::Done
}
