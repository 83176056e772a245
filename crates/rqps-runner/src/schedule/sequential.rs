//! The sequential schedule: one system after the other, the whole suite each.

use anyhow::{Result, ensure};

use crate::audit::Audit;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::schedule::profiles::{GONE, Profiler, may_have_lost_servers};
use crate::schedule::step::one_step;
use crate::system::RunningSystem;
use crate::system_state::Member;

/// The steps of the launch under way that a system has not done.
pub(crate) fn pending_steps(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    profiler: &mut Profiler,
    member: &mut Member<'_>,
) -> Result<()> {
    for step in run.steps_of_launch() {
        if !journal.is_pending(step, member.idx()) {
            continue;
        }
        run.check_interrupt()?;
        audit.judge_sizes(run, journal, step)?;
        if run.step(step).fills() {
            profiler.record_rest(run, journal, &[&*member], step)?;
            is_there(run, &mut member.up)?;
        }
        one_step(run, journal, member, step)?;
        profiler.record_if_read(run, journal, &[&*member], step)?;
        is_there(run, &mut member.up)?;
    }
    profiler.record_rest(run, journal, &[&*member], run.end_of_launch())
}

/// An error where a server has ended while stacks were recorded, which fails without a word: it would
/// cost the next step.
fn is_there(run: &RunContext<'_>, up: &mut RunningSystem) -> Result<()> {
    ensure!(!may_have_lost_servers(run) || up.answers(), GONE);
    Ok(())
}
