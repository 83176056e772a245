//! The state of the tables: read before a step that reads, on all systems at rest, and what a step has written.

use anyhow::Result;
use rqps_model::{StepIdx, StepKind, TableFact, TableState};

use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// Reads the state that a step which reads finds, and stores it. One that cannot be read keeps nothing from being
/// measured.
pub(crate) fn keep_before(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<()> {
    let (planned, system) = (run.step(step), member.idx());
    let is_known = !journal.cell(step, system).table_state.is_empty();
    if planned.info.kind != StepKind::Read || is_known {
        return Ok(());
    }
    match member.up.table_state() {
        Ok(state) => journal.keep_table_state(step, system, state),
        Err(error) => {
            let (label, step) = (run.label(system), &planned.info.name);
            journal.note(&format!("{label}: no state of the tables before {step}: {error:#}"));
            Ok(())
        }
    }
}

/// Stores how much a step that changes rows has written on a system.
pub(crate) fn keep_writes(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<()> {
    let n_writes = std::mem::take(&mut member.state.n_writes);
    if !run.step(step).changes_rows() || n_writes == 0 {
        return Ok(());
    }
    let state = TableState::from([(TableFact::Writes, n_writes)]);
    journal.keep_table_state(step, member.idx(), state)
}
