//! Lets a server come to rest between steps.

use anyhow::Result;
use rqps_model::StepIdx;

use crate::event::Event;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// Settles a server after a step. Every slice until the next settling has a warning of the work that is left.
pub(crate) fn settle(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<()> {
    let label = run.label(member.idx());
    journal.tell(Event::Preparing { label, doing: "settle" });
    let left = member.up.settle(run.step(step).rows(), &run.environment.interrupt)?;
    if let Some(left) = &left {
        let step = &run.step(step).info.name;
        journal.note(&format!("{label}: not at rest after {step}: {left}"));
    }
    member.state.unsettled = left;
    Ok(())
}
