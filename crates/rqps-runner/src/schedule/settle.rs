//! Lets servers come to rest between steps.

use anyhow::Result;
use rqps_model::{StepIdx, SystemIdx};

use crate::event::Event;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::side_by_side::on_each;
use crate::system_state::Member;

/// What came of settling a system.
pub(crate) struct Settled {
    pub(crate) system: SystemIdx,
    pub(crate) result: Result<()>,
}

/// Settles servers after a step, all at once. Every slice until the next settling has a warning of the work that is
/// left.
///
/// # Errors
/// When the host starts no thread.
pub(crate) fn settle_all(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: Vec<&mut Member<'_>>,
    step: StepIdx,
) -> Result<Vec<Settled>> {
    for member in &members {
        journal.tell(Event::Preparing { label: run.label(member.idx()), doing: "settle" });
    }
    let (rows, interrupt) = (run.step(step).rows(), &run.environment.interrupt);
    let ended = on_each(members, |member| {
        let settled = member.up.settle(rows, interrupt);
        let left = settled.as_ref().ok().cloned().flatten();
        let result = settled.map(|left| member.state.unsettled = left);
        (Settled { system: member.idx(), result }, left)
    })?;
    let mut out = Vec::new();
    for (settled, left) in ended {
        if let Some(left) = left {
            tell_left(run, journal, settled.system, step, &left);
        }
        out.push(settled);
    }
    Ok(out)
}

/// Says what work a server was left with.
pub(crate) fn tell_left(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    system: SystemIdx,
    step: StepIdx,
    left: &str,
) {
    let (label, step) = (run.label(system), &run.step(step).info.name);
    journal.note(&format!("{label}: not settled after {step}: {left}"));
}

/// Settles one server after a step.
pub(crate) fn settle(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<()> {
    settle_all(run, journal, vec![member], step)?.into_iter().try_for_each(|settled| settled.result)
}
