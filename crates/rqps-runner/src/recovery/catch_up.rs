//! Brings a system that was just started to where the run is.

use std::collections::BTreeMap;

use crate::journal::warnings::in_words;
use anyhow::{Context as _, Result, anyhow};
use rqps_model::WarningKind;
use rqps_model::{StepIdx, SystemIdx};

use super::reuse::are_untouched;
use crate::audit::Audit;
use crate::event::Event;
use crate::failure::{Broken, BrokenTables};
use crate::filled_by::FilledBy;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::schedule::recording::Recording;
use crate::schedule::settle::{settle, tell_left};
use crate::schedule::step::work_step;
use crate::schedule::warm::{tell_cold, warm_caches};
use crate::side_by_side::on_each;
use crate::system_state::Member;

/// Asks a server that was just started what it is, and brings its tables to where the run is.
pub(super) fn take_back(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    member: &mut Member<'_>,
) -> Result<()> {
    let system = member.idx();
    let label = run.label(system);
    let facts = member.up.facts().with_context(|| format!("identify {label}"))?;
    audit.judge_if_new(run, journal, system, &facts)?;
    journal.keep_facts(system, facts)?;
    catch_up(run, journal, member, None).with_context(|| format!("prepare {label}"))
}

/// Brings systems that were just started on their own data to rest, all at once.
///
/// # Errors
/// When the host starts no thread.
pub(super) fn rest_on_kept_data(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [Member<'_>],
) -> Result<BTreeMap<SystemIdx, Result<AtRest>>> {
    let mut to_rest = Vec::new();
    for member in members {
        let load = load_of(run, journal, member).filter(|_| member.state.is_on_kept_data);
        let Some(load) = load else { continue };
        journal
            .tell(Event::Preparing { label: run.label(member.idx()), doing: "settle and warm up" });
        to_rest.push((member, load));
    }
    let rested = on_each(to_rest, |(member, load)| (member.idx(), rest(run, member, load)))?;
    Ok(rested.into_iter().collect())
}

/// What came of bringing a server to rest on its data.
pub(super) struct AtRest {
    /// The work that is left.
    left: Option<String>,
    /// Whether its tables were read through.
    is_whole: bool,
}

/// The load whose tables a system resumes with.
fn load_of(run: &RunContext<'_>, journal: &Journal<'_>, member: &Member<'_>) -> Option<StepIdx> {
    let first = journal.first_pending(run.steps_of_launch(), member.idx());
    run.filled_by(first.unwrap_or(run.first_step()))
}

/// Settles a server and fills its caches. Statistics of the tables are drawn again: a start holds what these draw,
/// too. The Insert Benchmark settles before it queries.
fn rest(run: &RunContext<'_>, member: &mut Member<'_>, load: StepIdx) -> Result<AtRest> {
    let mut left = None;
    if run.step(load).of_insert().is_none() {
        left = member.up.settle(run.step(load).rows(), &run.environment.interrupt)?;
    }
    Ok(AtRest { left, is_whole: warm_caches(run, member, load)? })
}

/// Brings a system that was just started to where an interrupted run left it. `at_rest` is what came of bringing it
/// to rest, where that is done.
pub(super) fn catch_up(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    at_rest: Option<Result<AtRest>>,
) -> Result<()> {
    let begin = run.first_step();
    let first = journal.first_pending(run.steps_of_launch(), member.idx()).unwrap_or(begin);
    member.state.unsettled = None;
    if member.state.is_on_kept_data {
        match resume_on_kept_data(run, journal, member, first, at_rest) {
            Err(error) if !run.is_of_run(&error) && member.up.answers() => {
                let reason = in_words(&error);
                if are_untouched(run, journal, member.idx()) {
                    return Err(BrokenTables { system: member.idx(), reason }.into());
                }
                journal.warn(member.idx(), WarningKind::DataNotUsed { reason })?;
                member.state.forget_kept_data();
            }
            other => return other,
        }
    }
    // On tables that were filled again, until the next load.
    member.state.is_refilled = first > begin;
    if first > begin {
        refill(run, journal, member, first)?;
    }
    Ok(())
}

/// Brings a system that was started on its own data to where the run is: to rest, with its caches warmed.
fn resume_on_kept_data(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    first: StepIdx,
    at_rest: Option<Result<AtRest>>,
) -> Result<()> {
    if member.state.is_broken_off {
        journal.note(&format!("{}: resumes with its data", run.label(member.idx())));
        member.state.resumed_step = Some(first);
    }
    let Some(load) = run.filled_by(first) else { return Ok(()) };
    let AtRest { left, is_whole } = at_rest.unwrap_or_else(|| rest(run, member, load))?;
    if let Some(left) = &left {
        tell_left(run, journal, member.idx(), load, left);
    }
    member.state.unsettled = left;
    if !is_whole {
        tell_cold(run, journal, member.idx());
    }
    Ok(())
}

/// Fills the tables of the suite that the run resumes with again, where the data of the interrupted attempt are not
/// sound or not there. Caches are warmed as before. The writes in between are not repeated, and every slice that
/// follows says so. Nothing of it is stored.
fn refill(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    first: StepIdx,
) -> Result<()> {
    if run.step(first).fills() {
        return Ok(());
    }
    let filled_by = run.filled_by(first);
    let filled_by =
        filled_by.ok_or_else(|| anyhow!("the suite has no load step to resume from"))?;
    let label = run.label(member.idx());
    journal.note(&format!("{label}: tables are filled again before the run resumes"));
    for step in filled_by.until(first) {
        refill_step(run, journal, member, step)?;
    }
    let is_insert = run.step(filled_by).of_insert().is_some();
    if !is_insert && !run.step(first).makes_tables() {
        settle(run, journal, member, filled_by)?;
        if !warm_caches(run, member, filled_by)? {
            tell_cold(run, journal, member.idx());
        }
    }
    let note = FilledBy { load: filled_by, is_refilled: true };
    member.up.set_note(Some(&note.to_string()))
}

/// Does a step again that has filled the tables or indexed them. Rows that others exchanged are not exchanged again.
fn refill_step(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<()> {
    if !run.step(step).makes_tables() {
        return Ok(());
    }
    let filled = work_step(run, journal, &mut [&mut *member], step, Recording::dropped());
    filled.map_err(Broken::into_error)
}
