//! The warnings of every slice of a step on a system, because of what happened to the system before.

use rqps_model::{StepIdx, StepKind, StepOutcome, SystemIdx, WarningKind};

use crate::journal::Journal;
use crate::journal::step_record::SystemWarnings;
use crate::run_context::RunContext;
use crate::system_state::SystemState;

/// The warnings that every slice of a step on a system gets. A load makes even what was before it.
pub(crate) fn warnings_of_step(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    state: &mut SystemState,
    step: StepIdx,
) -> SystemWarnings {
    let planned = run.step(step);
    state.is_refilled &= !planned.fills();
    if planned.fills() {
        state.forget_kept_data();
    }
    let started_again =
        (state.is_broken_off && !state.is_refilled).then_some(WarningKind::StartedAgain);
    let resumed = state.is_refilled.then_some(match state.n_faults {
        0 => WarningKind::Resumed,
        _ => WarningKind::StartedOnNewData,
    });
    let unsettled =
        state.unsettled.iter().map(|left| WarningKind::NotSettled { left: left.clone() });
    let too_late = is_too_late(run, journal, state.idx, step).then_some(WarningKind::WithoutBase);
    let sequential = run.plan.is_sequential_to_fit.then_some(WarningKind::OneAfterTheOther);
    let of_attempt = resumed.into_iter().chain(started_again).chain(unsettled).chain(too_late);
    let kinds = of_attempt.chain(sequential).chain(bulk_load(run, state.idx, step)).collect();
    SystemWarnings { system: state.idx, kinds }
}

/// Whether the base has ended an interleaved step that a system is only about to begin: the system had been
/// excluded, and an attempt at the run after that has it alone.
fn is_too_late(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    system: SystemIdx,
    step: StepIdx,
) -> bool {
    run.plan.schedule.is_interleaved()
        && !matches!(run.step(step).info.kind, StepKind::WarmUp | StepKind::Index)
        && system != run.base()
        && journal.cell(step, run.base()).outcome == StepOutcome::Done
}

/// That a load has fewer connections than clients, as its engine fills each table from one.
fn bulk_load(run: &RunContext<'_>, system: SystemIdx, step: StepIdx) -> Option<WarningKind> {
    let planned = run.step(step);
    let (_, args, _) = planned.of_file().ok().filter(|_| planned.fills())?;
    let spec = run.load_spec(system, args);
    let is_fewer = spec.bulk_load_sql().is_some() && spec.tables < planned.clients;
    is_fewer.then_some(WarningKind::BulkLoad { n_loaders: spec.tables, n_clients: planned.clients })
}
