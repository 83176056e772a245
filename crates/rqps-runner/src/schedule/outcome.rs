//! How a step ends on a system.

use anyhow::Result;
use rqps_model::{Check, Sizes, StepIdx, StepOutcome, SystemIdx};

use crate::failure::Broken;
use crate::filled_by::FilledBy;
use crate::journal::{Journal, engine_state};
use crate::run_context::RunContext;
use crate::schedule::failed_step;
use crate::schedule::settle::{Settled, settle, settle_all};
use crate::schedule::table_state::keep_writes;
use crate::system::RunningSystem;
use crate::system_state::{Member, SystemState};

/// An error with the step that it happened in.
pub(crate) fn in_step(run: &RunContext<'_>, step: StepIdx, error: anyhow::Error) -> anyhow::Error {
    error.context(format!("step {}", run.step(step).info.name))
}

/// What came of a step on a system: done, failed by its own fault, or an error that ends the run.
pub(crate) fn outcome(
    run: &RunContext<'_>,
    up: &mut RunningSystem,
    step: StepIdx,
    measured: Result<()>,
) -> Result<StepOutcome> {
    match measured {
        Ok(()) => Ok(StepOutcome::Done),
        // What is not the step's own fault ends the run; the step stays pending. So does what makes tables:
        // without them no step after it means anything.
        Err(error)
            if run.step(step).makes_tables()
                || run.is_interrupted()
                || error.downcast_ref::<rqps_store::Error>().is_some()
                || !up.answers()
                || up.is_out_of_space() =>
        {
            Err(in_step(run, step, error))
        }
        Err(error) => Ok(StepOutcome::Failed { reason: failed_step::reason(&error) }),
    }
}

/// Settles the server where the suite says so, records the step's outcome and tells it.
pub(crate) fn end_step(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
    outcome: StepOutcome,
) -> Result<()> {
    let outcome = judged(journal, step, member.idx(), outcome);
    if outcome == StepOutcome::Done {
        member.state.measured_step = Some(step);
    }
    if outcome == StepOutcome::Done && run.step(step).settles() {
        settle(run, journal, member, step)?;
    }
    close_step(run, journal, member, step, outcome)
}

/// The same on several systems that have done a step: all settle at once, before the outcome of one is recorded.
pub(crate) fn end_step_on_all(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    mut members: Vec<&mut Member<'_>>,
    step: StepIdx,
) -> Result<(), Broken> {
    let mut to_settle = Vec::new();
    for member in &mut members {
        let outcome = judged(journal, step, member.idx(), StepOutcome::Done);
        if outcome == StepOutcome::Done {
            member.state.measured_step = Some(step);
            to_settle.extend(run.step(step).settles().then_some(&mut **member));
        }
    }
    let settled = settle_all(run, journal, to_settle, step).map_err(Broken::Unattributed)?;
    for Settled { system, result } in settled {
        result.map_err(|error| run.broken(system, error))?;
    }
    for member in members {
        let outcome = judged(journal, step, member.idx(), StepOutcome::Done);
        let closed = close_step(run, journal, member, step, outcome);
        closed.map_err(|error| run.broken(member.idx(), error))?;
    }
    Ok(())
}

/// Records a step's outcome and what it left, and tells it.
fn close_step(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
    outcome: StepOutcome,
) -> Result<()> {
    let (system, planned) = (member.idx(), run.step(step));
    keep_writes(run, journal, member, step)?;
    let is_of_step = member.state.unmeasured_step.take() != Some(step);
    let sizes = if is_of_step { member.up.sizes()? } else { Sizes::default() };
    if is_of_step {
        engine_state::keep(journal, system, planned, &mut member.up)?;
    }
    if outcome == StepOutcome::Done
        && planned.makes_tables()
        && let Some(load) = run.filled_by(step)
    {
        let note = FilledBy { load, is_refilled: member.state.is_refilled };
        member.up.set_note(Some(&note.to_string()))?;
    }
    journal.tell_end(run, step, system, &outcome);
    journal.cell_mut(step, system).sizes = sizes;
    journal.keep_outcome(step, system, outcome)?;
    member.state.current_step = None;
    member.up.dismiss_log();
    journal.warn_of_counters(system, &member.up)
}

/// What came of the checks: a step that failed one has no rate.
pub(crate) fn judged(
    journal: &Journal<'_>,
    step: StepIdx,
    system: SystemIdx,
    outcome: StepOutcome,
) -> StepOutcome {
    let failed: Vec<String> = journal
        .cell(step, system)
        .checks
        .iter()
        .filter(|check| !check.passed)
        .map(|check| format!("{}: {}", check.name, check.found))
        .collect();
    if outcome == StepOutcome::Done && !failed.is_empty() {
        let reason = format!("a check failed: {}", failed.join("; "));
        return StepOutcome::Failed { reason };
    }
    outcome
}

/// Notes that all of a step was measured and that nobody can say any more what it left, as in an earlier
/// attempt at the run: its tables may have been filled again since. `unchecked` says why there are no checks.
pub(crate) fn was_measured(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    step: StepIdx,
    unchecked: fn() -> Check,
) {
    state.unmeasured_step = Some(step);
    let checks = &mut journal.cell_mut(step, state.idx).checks;
    // What was checked before another system failed stands.
    if run.step(step).of_insert().is_some() && checks.is_empty() {
        checks.push(unchecked());
    }
}

/// What sets the seeds of this attempt at a step apart from those of an earlier one, whose writes are in
/// the tables: an update with the values that are there changes no row. 0 where there are none.
pub(crate) fn attempt_number(run: &RunContext<'_>, state: &SystemState, step: StepIdx) -> u64 {
    if state.resumed_step == Some(step) { u64::from(run.n_resumed) + 1 } else { 0 }
}
