//! Servers that fail in the middle of a run. Their step is recorded as failed, they are started on new data, and
//! the run continues. One that fails again and again is excluded.

use crate::journal::warnings::in_words;
use anyhow::{Result, anyhow};
use rqps_model::StepOutcome;
use rqps_model::WarningKind;
use rqps_model::warning::ServerFault;

use super::kept_data::start;
use super::start::{FAULTS_AT_MOST, Fate, give_up};
use crate::failure::Broken;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::schedule::insert;
use crate::schedule::outcome::{judged, was_measured};
use crate::system::RunningSystem;
use crate::system::installation::{Installation, Ready};
use crate::system_state::SystemState;

/// What becomes of a system after `error`. Its server may have ended, may hang, may have been killed for lack of
/// memory, or may have no room left for its data. Then the step under way is recorded as failed, and the server is
/// started on new data. Its tables are filled by whoever catches it up.
///
/// # Errors
/// [`Broken::Run`] for what would meet every other system as well; [`Broken::System`] when the server is
/// not to blame, cannot be started, or has failed too often.
pub(super) fn after_failure(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    ready: &Ready,
    mut up: RunningSystem,
    error: anyhow::Error,
) -> Result<RunningSystem, Broken> {
    let system = state.idx;
    // What failed may have failed because the server died, which shows a moment later.
    // Whoever interrupts is not made to wait for the answer of a server that hangs.
    let is_gone = !run.is_interrupted() && !up.answers();
    // A server without room for its data may go on to answer.
    let is_full = up.is_out_of_space();
    // Told by the error itself, of which only words are left below.
    let is_of_run = run.is_of_run(&error);
    // What the server tells is the cause of what was seen, and its log reads best at the end.
    let fate = if is_of_run { Fate::Kept } else { Fate::Removed };
    let error = match give_up(run, journal, system, up, fate) {
        Some(cause) => anyhow!(cause).context(format!("{error:#}")),
        None => error,
    };
    if is_of_run {
        return Err(Broken::Run(error));
    }
    let is_ours = matches!(ready.installation, Installation::Local(..));
    // What makes tables and fills the disk would fill it again.
    let is_mended_by_start = if is_full { !makes_tables(run, state) } else { is_gone };
    if !is_ours || !is_mended_by_start {
        return Err(Broken::System(system, error));
    }
    state.n_faults += 1;
    let n = state.n_faults;
    let label = run.label(system);
    let error = if n >= FAULTS_AT_MOST {
        error.context(format!("{label} is excluded after {n} failures of its server"))
    } else {
        error
    };
    record_fault(run, journal, state, &error).map_err(Broken::Run)?;
    if n >= FAULTS_AT_MOST {
        return Err(Broken::System(system, error));
    }
    let fault = ServerFault { n, n_tolerated: FAULTS_AT_MOST, reason: in_words(&error) };
    journal.warn(system, WarningKind::ServerFailed { fault }).map_err(Broken::Run)?;
    start(run, journal, state, ready, None).map_err(|error| {
        let doing = format!("start {label} again after its server failed");
        run.broken(system, error.context(doing))
    })
}

/// Whether a system is in a load, has its indexes made, or is between steps, where tables are filled again.
fn makes_tables(run: &RunContext<'_>, state: &SystemState) -> bool {
    state.current_step.is_none_or(|step| run.step(step).makes_tables())
}

/// Records the step that a system was in as failed, except one that is done again. One that was
/// measured to its end is done: what comes after it, settling and sizes, is no part of its rate.
fn record_fault(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    error: &anyhow::Error,
) -> Result<()> {
    let Some(step) = state.current_step.take() else { return Ok(()) };
    if run.step(step).makes_tables() || !journal.is_pending(step, state.idx) {
        return Ok(());
    }
    let outcome = if state.measured_step == Some(step) {
        was_measured(run, journal, state, step, insert::server_failed);
        judged(journal, step, state.idx, StepOutcome::Done)
    } else {
        StepOutcome::Failed { reason: in_words(error) }
    };
    journal.tell_end(run, step, state.idx, &outcome);
    journal.keep_outcome(step, state.idx, outcome)
}
