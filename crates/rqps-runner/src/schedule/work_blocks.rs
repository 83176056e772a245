//! The blocks of a step that does a fixed amount of work, or changes its tables as it goes, on systems that are
//! interleaved. What was inserted stays: a load that is repeated begins with empty tables.

use anyhow::Result;
use rqps_model::{StepIdx, SystemIdx};
use rqps_workload::vector::VectorLoader;

use super::insert::interrupted;
use super::recording::Recording;
use crate::engine::blocks::{Blocks, Lane};
use crate::engine::clients::StepClients;
use crate::engine::cut::{CountedCut, Cut, Done};
use crate::engine::waiting::{RAN_ON, Waiting};
use crate::failure::Broken;
use crate::journal::Journal;
use crate::journal::step_record::{StepRecord, Unrecorded};
use crate::plan::seed;
use crate::plan::steps::PlannedStep;
use crate::run_context::RunContext;
use crate::schedule::outcome::{attempt_number, was_measured};
use crate::schedule::warnings::warnings_of_step;
use crate::system_state::Member;

/// Opens a member's clients, which draw from a seed.
pub(super) type OpenClients<'o> = dyn Fn(&Member<'_>, u64) -> Result<StepClients> + 'o;

/// Blocks that have ended, by themselves or by a failure.
pub(super) struct Ended {
    pub(super) result: Result<(), Broken>,
    /// Those of each member, which have nothing under way.
    pub(super) all_clients: Vec<StepClients>,
    pub(super) waiting: Waiting,
}

/// Measures the blocks of a step that are not stored, with all members interleaved; `None` where all are.
pub(super) fn measure(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
    open: &OpenClients<'_>,
) -> Result<Option<Ended>, Broken> {
    let planned = run.step(step);
    let Recording { is_kept, others } = recording;
    let systems: Vec<SystemIdx> = members.iter().map(|member| member.idx()).collect();
    let cut = cut_of(run, planned).map_err(Broken::Run)?;
    let stored = journal.done_of(step, &systems);
    // An interrupted step resumes after the blocks that there are. A load that was interrupted begins with empty
    // tables again: its first blocks are repeated, and what is stored of them stays.
    let done = if is_kept && !planned.fills() { stored } else { Done::default() };
    if cut.is_over(done) {
        for member in members {
            was_measured(run, journal, member.state, step, interrupted);
        }
        return Ok(None);
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
        let clients = open(member, seed);
        let clients = clients.map_err(|error| Broken::System(member.idx(), error))?;
        lanes.push(Lane::new(member.idx(), clients, run.bench(&member.up)));
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
    if result.is_err() {
        waiting.thaw();
    } else if is_kept {
        members.iter_mut().for_each(|member| member.state.measured_step = Some(step));
    }
    Ok(Some(Ended { result, all_clients, waiting }))
}

/// How a step is cut. The rows of vectors are known since they were read.
fn cut_of(run: &RunContext<'_>, planned: &PlannedStep) -> Result<Cut> {
    let Some((_, args)) = planned.of_vector() else {
        return Ok(Cut::of_step(planned, run.plan.schedule));
    };
    let vectors = run.vectors.get(args)?;
    let (tables, rows) = (args.tables(), vectors.rows());
    let cut = VectorLoader::cut(tables, rows, vectors.set.vectors.dimension(), planned.clients);
    Ok(Cut::Counted(CountedCut::of_parts(cut, tables, rows)))
}
