//! The blocks of a step of the Insert Benchmark, and what is checked after them.

use std::sync::Arc;

use anyhow::anyhow;
use rqps_model::StepIdx;
use rqps_workload::insert::Pair;

use super::check::check_step;
use crate::engine::clients::StepClients;
use crate::engine::waiting::Waiting;
use crate::failure::Broken;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::schedule::plans::keep_plans;
use crate::schedule::recording::Recording;
use crate::schedule::work_blocks::{self, Ended};
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
    let Some((_, args)) = planned.of_insert() else {
        return Err(Broken::Unattributed(anyhow!("not a step of the Insert Benchmark")));
    };
    let is_kept = recording.is_kept;
    let open = |member: &Member<'_>, seed| {
        let schema = run.schema(member.idx(), args);
        StepClients::of_insert(&run.bench(&member.up), planned, &schema, seed)
    };
    let ended = work_blocks::measure(run, journal, members, step, recording, &open)?;
    let Some(Ended { result, all_clients, waiting }) = ended else { return Ok(()) };
    if let Err(broken) = result {
        // What the others did before one failed stays in their tables.
        for (member, clients) in members.iter_mut().zip(all_clients) {
            drop(clients.pool);
            member.state.tables.exchange(args, clients.pairs.iter().map(|pair| pair.rows()));
        }
        return Err(broken);
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
