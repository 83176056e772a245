//! The interleaved schedule: all systems are up, each with its own data, and every step alternates between them.
//! Warm-ups, which nothing is compared by, come one system after the other.

mod attempt;

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use rqps_model::{StepIdx, StepKind, SystemIdx};

use self::attempt::{Attempt, brakes_of_others, has_ended_partner, together};
use crate::audit::Audit;
use crate::engine::blocks::{Blocks, Lane};
use crate::engine::clients::StepClients;
use crate::engine::precision::Figures;
use crate::engine::waiting::{RAN_ON, Waiting};
use crate::failure::Broken;
use crate::journal::Journal;
use crate::journal::step_record::StepRecord;
use crate::run_context::RunContext;
use crate::schedule::insert;
use crate::schedule::outcome::{self, end_step, end_step_on_all, in_step, was_measured};
use crate::schedule::profiles::{GONE, Profiler, may_have_lost_servers};
use crate::schedule::recording::Recording;
use crate::schedule::spare;
use crate::schedule::table_state::keep_before;
use crate::schedule::warnings::warnings_of_step;

use crate::schedule::step::{clients_of, keep_answers, one_step, work_step};
use crate::system_state::Member;

/// The interleaved schedule of a launch of the servers.
#[derive(Debug, Default)]
pub(crate) struct Interleaved {
    /// How often a server has failed in a step.
    n_failed: BTreeMap<StepIdx, u32>,
}

impl Interleaved {
    /// The steps of the launch under way that members have not done. After a failure it is called again, with
    /// the members that are left.
    pub(crate) fn pending_steps(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        audit: &mut Audit,
        profiler: &mut Profiler,
        members: &mut [Member<'_>],
    ) -> Result<(), Broken> {
        for step in run.steps_of_launch() {
            run.check_interrupt().map_err(Broken::Run)?;
            audit.judge_sizes(run, journal, step).map_err(Broken::Unattributed)?;
            let is_pending = members.iter().any(|member| journal.is_pending(step, member.idx()));
            // After a failure behind its last block a step has nothing to measure, and may be to record.
            if !is_pending && !self.n_failed.contains_key(&step) {
                continue;
            }
            let planned = run.step(step);
            if planned.fills() {
                let rest = profiler.record_rest(run, journal, &seen(members), step);
                rest.and_then(|()| are_there(run, journal, members))
                    .map_err(Broken::Unattributed)?;
            }
            if planned.info.kind == StepKind::WarmUp {
                one_by_one(run, journal, members, step)?;
                continue;
            }
            let n_failed = self.n_failed.entry(step).or_default();
            let measured = interleaved(run, journal, members, step, *n_failed);
            measured.inspect_err(|_| *n_failed += 1)?;
            let read = profiler.record_if_read(run, journal, &seen(members), step);
            read.and_then(|()| are_there(run, journal, members)).map_err(Broken::Unattributed)?;
        }
        let rest = profiler.record_rest(run, journal, &seen(members), run.end_of_launch());
        rest.and_then(|()| are_there(run, journal, members)).map_err(Broken::Unattributed)
    }
}

/// The systems, to be looked at only.
fn seen<'m, 's>(members: &'m [Member<'s>]) -> Vec<&'m Member<'s>> {
    members.iter().collect()
}

/// An error where a server has ended while stacks were recorded, which fails without a word: it would
/// cost the next step. One that has nothing more to do is left as it is.
fn are_there(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    members: &mut [Member<'_>],
) -> Result<()> {
    if !may_have_lost_servers(run) {
        return Ok(());
    }
    for member in members {
        let has_more = journal.first_pending(run.steps_of_launch(), member.idx()).is_some();
        if has_more && !member.up.answers() {
            return Err(anyhow!(GONE));
        }
    }
    Ok(())
}

/// A step that nothing is compared by: one system after the other.
fn one_by_one(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [Member<'_>],
    step: StepIdx,
) -> Result<(), Broken> {
    for member in members {
        let system = member.idx();
        if journal.is_pending(step, system) {
            one_step(run, journal, member, step).map_err(|error| {
                Broken::System(system, error.context(format!("measure {}", run.label(system))))
            })?;
        }
    }
    Ok(())
}

/// A step on all systems that have not done it, in which `n_failed` servers have failed before.
fn interleaved(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [Member<'_>],
    step: StepIdx,
    n_failed: u32,
) -> Result<(), Broken> {
    let pending = members.iter().enumerate();
    let pending = pending.filter(|(_, member)| journal.is_pending(step, member.idx()));
    let n_slices = |member: &Member<'_>| journal.cell(step, member.idx()).slices.len();
    let groups = together(pending.map(|(m, member)| (m, n_slices(member))));
    for left in groups {
        let attempts = left.iter().map(|&m| outcome::attempt_number(run, members[m].state, step));
        let of_run = attempts.max().unwrap_or(0);
        let attempt = Attempt { left, n: n_failed << Attempt::BITS, of_run, ..Attempt::default() };
        measure_together(run, journal, members, step, attempt)?;
    }
    Ok(())
}

/// A step on some members. One that fails by its own fault is out of the step, and the others resume with
/// the blocks that they lack.
fn measure_together(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [Member<'_>],
    step: StepIdx,
    mut attempt: Attempt,
) -> Result<(), Broken> {
    while !attempt.left.is_empty() && !is_measured(run, journal, members, step, &attempt) {
        let systems: Vec<SystemIdx> = attempt.left.iter().map(|&m| members[m].idx()).collect();
        attempt.left.iter().for_each(|&m| members[m].state.current_step = Some(step));
        journal.announce(run, &systems, step);
        let planned = run.step(step);
        let result = if planned.is_work() {
            let others = brakes_of_others(members, &attempt.left).collect();
            let of_step = |(m, member)| attempt.left.contains(&m).then_some(member);
            let mut several: Vec<_> = members.iter_mut().enumerate().filter_map(of_step).collect();
            let recording = Recording { is_kept: true, others };
            work_step(run, journal, &mut several, step, recording)
        } else {
            // All servers run now: those that wait are stopped later.
            for &m in &attempt.left {
                let kept = keep_before(run, journal, &mut members[m], step);
                kept.map_err(|error| run.broken(members[m].idx(), error))?;
            }
            measure_blocks(run, journal, members, step, &mut attempt)
        };
        let (failed, error) = match result {
            Ok(()) => break,
            Err(Broken::System(system, error)) => (system, error),
            Err(Broken::Run(error)) => return Err(Broken::Run(in_step(run, step, error))),
            Err(Broken::Unattributed(error)) => {
                return Err(Broken::Unattributed(in_step(run, step, error)));
            }
        };
        attempt.left.retain(|&m| members[m].idx() != failed);
        attempt.n += 1;
        if let Some(member) = members.iter_mut().find(|member| member.idx() == failed) {
            let ended = outcome::outcome(run, &mut member.up, step, Err(error))
                .and_then(|outcome| end_step(run, journal, member, step, outcome));
            ended.map_err(|error| run.broken(failed, error))?;
        }
    }
    let is_left = |(m, _): &(usize, &mut Member<'_>)| attempt.left.contains(m);
    let left = members.iter_mut().enumerate().filter(is_left).map(|(_, member)| member);
    end_step_on_all(run, journal, left.collect(), step)
}

/// Whether those that are left of a step have nothing more to measure because a partner has ended it:
/// systems end a step one by one, as each settles, and an interruption may come in between.
fn is_measured(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [Member<'_>],
    step: StepIdx,
    attempt: &Attempt,
) -> bool {
    if run.step(step).makes_tables() {
        // The steps after it need its tables.
        return false;
    }
    let systems = &journal.run().steps[step.0].systems;
    let is_measured = attempt.left.iter().all(|&m| has_ended_partner(systems, members[m].idx()));
    // After a failure of another system the tables of those that are left are still the step's.
    if is_measured && attempt.n == 0 {
        for &m in &attempt.left {
            was_measured(run, journal, members[m].state, step, insert::interrupted);
        }
    }
    is_measured
}

/// The blocks of a step that the members of an attempt lack.
fn measure_blocks(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [Member<'_>],
    step: StepIdx,
    attempt: &mut Attempt,
) -> Result<(), Broken> {
    let (planned, schedule) = (run.step(step), run.plan.schedule);
    let cut = spare::cut(run, journal, step);
    let systems: Vec<SystemIdx> = attempt.left.iter().map(|&m| members[m].idx()).collect();
    // An interrupted step resumes after the blocks that there are.
    let done = journal.done_of(step, &systems);
    let cells = &journal.run().steps[step.0].systems;
    let figures = Figures::of_step(run.plan.base, cells, &systems).of_one_of(planned.n_shares);
    let half_width = schedule.half_width();
    let is_enough = half_width.is_some_and(|half_width| figures.are_enough(half_width));
    if done.n_blocks > 0 && (is_enough || cut.is_over(done)) {
        if attempt.n == 0 {
            for &m in &attempt.left {
                was_measured(run, journal, members[m].state, step, insert::interrupted);
            }
        }
        return Ok(());
    }
    let mut warnings = Vec::new();
    for &m in &attempt.left {
        warnings.push(warnings_of_step(run, journal, members[m].state, step));
    }
    let seed = run.seed_of(step);
    let mut lanes = Vec::new();
    for &m in &attempt.left {
        let system = members[m].idx();
        let bench = run.bench(&members[m].up);
        let clients = clients_of(run, &bench, planned, seed);
        let clients = clients.map_err(|error| Broken::System(system, error))?;
        let mut lane = Lane::new(system, clients, bench);
        lane.usual_event = attempt.events.get(&system).copied();
        lanes.push(lane);
    }
    let ups = || attempt.left.iter().map(|&m| &members[m].up);
    let freezers = ups().map(|up| up.freezer()).chain(brakes_of_others(members, &attempt.left));
    let (freezers, is_slowed) = (freezers.collect(), ups().any(|up| up.is_slowed()));
    let waiting = Waiting::new(freezers, is_slowed, run.environment);
    let mut waiting = waiting.map_err(Broken::Unattributed)?;
    let (seed, interrupt) = (attempt.seed(seed), &run.environment.interrupt);
    let mut blocks = Blocks { lanes, waiting: &mut waiting, planned, cut, seed, interrupt };
    let record = StepRecord::new(journal, step, warnings);
    let result = blocks.run(done, &mut record.ending_at(figures, half_width));
    let events = blocks.lanes.iter().filter_map(|lane| Some((lane.system, lane.usual_event?)));
    attempt.events.extend(events);
    let writes: Vec<_> = blocks.lanes.iter().map(|lane| (lane.system, lane.n_events())).collect();
    let clients: Vec<StepClients> = blocks.lanes.into_iter().map(|lane| lane.clients).collect();
    for member in members.iter_mut() {
        let own = writes.iter().filter(|(system, _)| *system == member.idx());
        member.state.n_writes += own.map(|(_, n)| n).sum::<u64>();
    }
    if waiting.gave_up() {
        journal.note(&format!("{}: {RAN_ON}", planned.info.name));
    }
    result?;
    // All servers run now.
    for (&m, clients) in attempt.left.iter().zip(&clients) {
        let kept = keep_answers(run, journal, &members[m], step, clients);
        kept.map_err(|error| run.broken(members[m].idx(), error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
