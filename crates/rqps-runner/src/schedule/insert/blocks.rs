//! The blocks of a step of the Insert Benchmark, and what is checked after them.

use std::sync::Arc;

use anyhow::anyhow;
use rqps_model::{StepIdx, SystemIdx};
use rqps_workload::insert::{Pair, Work};

use super::Recording;
use super::check::{check_step, interrupted};
use crate::engine::blocks::{Blocks, Lane};
use crate::engine::clients::StepClients;
use crate::engine::cut::{Cut, Done};
use crate::engine::waiting::{RAN_ON, Waiting};
use crate::failure::Broken;
use crate::journal::Journal;
use crate::journal::step_record::{StepRecord, Unrecorded};
use crate::plan::seed;
use crate::run_context::RunContext;
use crate::schedule::outcome::{attempt_number, was_measured};
use crate::schedule::plans::keep_plans;
use crate::schedule::warnings::warnings_of_step;
use crate::system_state::Member;

/// Measures the blocks of a step, with all members interleaved.
pub(super) fn measure(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
) -> Result<(), Broken> {
    let planned = run.step(step);
    let Some((work, args)) = planned.of_insert() else {
        return Err(Broken::Unattributed(anyhow!("not a step of the Insert Benchmark")));
    };
    let Recording { is_kept, others } = recording;
    let systems: Vec<SystemIdx> = members.iter().map(|member| member.idx()).collect();
    let cut = Cut::of_step(planned, run.plan.schedule);
    let stored = journal.done_of(step, &systems);
    // An interrupted step resumes after the blocks that there are. A load that was interrupted begins with empty
    // tables again: its first blocks are repeated, and what is stored of them stays.
    let done = if is_kept && work.work != Work::Load { stored } else { Done::default() };
    if cut.is_over(done) {
        for member in members {
            was_measured(run, journal, member.state, step, interrupted);
        }
        return Ok(());
    }
    // What an attempt that was broken off has inserted is not inserted again.
    let attempt = members.iter().map(|member| attempt_number(run, member.state, step)).max();
    let seed = seed::of_attempt(run.seed_of(step), attempt.unwrap_or(0));
    let mut warnings = Vec::new();
    // A load that is done again makes nothing even: what is measured on its tables says so.
    for member in members.iter_mut().filter(|_| is_kept) {
        warnings.push(warnings_of_step(run, journal, member.state, step));
    }
    let mut lanes = Vec::new();
    for member in &*members {
        let bench = run.bench(&member.up);
        let schema = run.schema(member.idx(), args);
        let clients = StepClients::of_insert(&bench, planned, &schema, seed);
        let clients = clients.map_err(|error| Broken::System(member.idx(), error))?;
        lanes.push(Lane::new(member.idx(), clients, bench));
    }
    let freezers = members.iter().map(|member| member.up.freezer()).chain(others).collect();
    let is_slowed = members.iter().any(|member| member.up.is_slowed());
    let waiting = Waiting::new(freezers, is_slowed, run.environment);
    let mut waiting = waiting.map_err(Broken::Unattributed)?;
    let interrupt = &run.environment.interrupt;
    let mut blocks = Blocks { lanes, waiting: &mut waiting, planned, cut, seed, interrupt };
    let result = if is_kept {
        let record = StepRecord::new(journal, step, warnings);
        blocks.run(done, &mut record.repeating(stored.n_blocks))
    } else {
        blocks.run(done, &mut Unrecorded(journal))
    };
    // The clients end here, so that nothing is inserted while rows are counted.
    let all_clients: Vec<StepClients> = blocks.lanes.into_iter().map(|lane| lane.clients).collect();
    if waiting.gave_up() {
        journal.note(&format!("{}: {RAN_ON}", planned.info.name));
    }
    if let Err(broken) = result {
        waiting.thaw();
        // What the others did before one failed stays in their tables.
        for (member, clients) in members.iter_mut().zip(all_clients) {
            drop(clients.pool);
            member.state.tables.exchange(args, clients.pairs.iter().map(|pair| pair.rows()));
        }
        return Err(broken);
    }
    if is_kept {
        members.iter_mut().for_each(|member| member.state.measured_step = Some(step));
    }
    check_after_blocks(run, journal, members, AfterBlocks { step, is_kept, all_clients, waiting })
}

/// What is left of a step after its last block.
struct AfterBlocks {
    step: StepIdx,
    is_kept: bool,
    all_clients: Vec<StepClients>,
    waiting: Waiting,
}

/// Reads what servers have left to do and checks their tables. What fails on one system is reported when all were
/// looked at.
fn check_after_blocks(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    after: AfterBlocks,
) -> Result<(), Broken> {
    let AfterBlocks { step, is_kept, all_clients, mut waiting } = after;
    let mut failed = None;
    let mut all_pairs: Vec<Vec<Arc<Pair>>> = Vec::new();
    for (at, clients) in all_clients.into_iter().enumerate() {
        // What is left to do is read at once, with the others stopped, who have as much left.
        waiting.only(at).map_err(Broken::Unattributed)?;
        if is_kept {
            let system = members[at].idx();
            match members[at].up.debt() {
                Ok(debt) => journal.cell_mut(step, system).debt = debt,
                Err(error) => failed = failed.or(Some(Broken::System(system, error))),
            }
            let kept = keep_plans(run, journal, &*members[at], step, &clients);
            kept.map_err(|error| run.broken(system, error))?;
        }
        all_pairs.push(clients.pairs);
        drop(clients.pool);
    }
    drop(waiting);
    for (member, pairs) in members.iter_mut().zip(all_pairs) {
        let system = member.idx();
        match check_step(run, journal, member, step, &pairs) {
            Ok(checks) if is_kept => journal.cell_mut(step, system).checks = checks,
            Ok(_) => {}
            Err(error) => failed = failed.or(Some(Broken::System(system, error))),
        }
    }
    failed.map_or(Ok(()), Err)
}
