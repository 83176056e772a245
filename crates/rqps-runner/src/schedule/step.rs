//! A step on one system that has the host to itself.

use anyhow::Result;
use rqps_model::{StepIdx, StepKind};

use crate::engine::bench::Bench;
use crate::engine::blocks::{Blocks, Lane};
use crate::engine::clients::StepClients;
use crate::engine::cut::Cut;
use crate::engine::waiting::Waiting;
use crate::failure::Broken;
use crate::journal::Journal;
use crate::journal::step_record::StepRecord;
use crate::plan::seed;
use crate::plan::steps::PlannedStep;
use crate::run_context::RunContext;
use crate::schedule::index::create_indexes;
use crate::schedule::insert::{self, insert_step};
use crate::schedule::load::load;
use crate::schedule::outcome::{attempt_number, end_step, in_step, outcome, was_measured};
use crate::schedule::plans::keep_plans;
use crate::schedule::recording::Recording;
use crate::schedule::table_state::keep_before;
use crate::schedule::vector;
use crate::schedule::warnings::warnings_of_step;
use crate::system_state::Member;

/// Carries out a step on one system, the others at rest or not there.
pub(crate) fn one_step(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<()> {
    let system = member.idx();
    member.state.current_step = Some(step);
    journal.announce(run, &[system], step);
    let planned = run.step(step);
    let measured = if planned.is_work() {
        work_step(run, journal, &mut [&mut *member], step, Recording::kept())
    } else {
        keep_before(run, journal, member, step)?;
        measure(run, journal, member, step)
    };
    let measured = match measured {
        Ok(()) => Ok(()),
        Err(Broken::System(_, error)) => Err(error),
        Err(Broken::Run(error) | Broken::Unattributed(error)) => {
            return Err(in_step(run, step, error));
        }
    };
    let outcome = outcome(run, &mut member.up, step, measured)?;
    end_step(run, journal, member, step, outcome)
}

/// Carries out a step that makes tables or changes them by its work, on one system or several that are interleaved.
pub(crate) fn work_step(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
) -> Result<(), Broken> {
    let planned = run.step(step);
    match planned.info.kind {
        _ if planned.of_insert().is_some() => insert_step(run, journal, members, step, recording),
        StepKind::Load if planned.of_vector().is_some() => {
            vector::load(run, journal, members, step, recording)
        }
        StepKind::Index => create_indexes(run, journal, members, step, recording),
        _ => load(run, journal, members, step, recording),
    }
}

/// Measures a step of a suite file, and stores its slices.
fn measure(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<(), Broken> {
    let system = member.idx();
    let warnings = warnings_of_step(run, journal, member.state, step);
    // An interrupted step resumes after the slices that it has.
    let done = journal.done_of(step, &[system]);
    if Cut::of_step(run.step(step), run.plan.schedule).is_over(done) {
        was_measured(run, journal, member.state, step, insert::interrupted);
        return Ok(());
    }
    let attempt = attempt_number(run, member.state, step);
    let mut n_writes = 0;
    let measured = alone(run, member, step, attempt, |blocks| {
        let measured = blocks.run(done, &mut StepRecord::new(journal, step, vec![warnings]));
        n_writes = blocks.lanes.iter().map(Lane::n_events).sum();
        measured?;
        for lane in &blocks.lanes {
            let kept = keep_answers(run, journal, member, step, &lane.clients);
            kept.map_err(|error| run.broken(system, error))?;
        }
        Ok(())
    });
    member.state.n_writes += n_writes;
    measured
}

/// The clients of a step that is measured by time.
pub(crate) fn clients_of(
    run: &RunContext<'_>,
    bench: &Bench<'_>,
    planned: &PlannedStep,
    seed: u64,
) -> Result<StepClients> {
    match planned.of_vector() {
        Some((_, args)) => StepClients::of_search(bench, planned, run.vectors.get(args)?, seed),
        None => StepClients::of_file(bench, planned, seed),
    }
}

/// Asks in the sessions of a step what no rate tells: how its statements are executed, and what searches find.
pub(crate) fn keep_answers(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &Member<'_>,
    step: StepIdx,
    clients: &StepClients,
) -> Result<()> {
    keep_plans(run, journal, member, step, clients)?;
    vector::keep_recall(run, journal, member.idx(), step, clients)
}

/// Does something with the clients of a step on one system.
fn alone(
    run: &RunContext<'_>,
    member: &Member<'_>,
    step: StepIdx,
    attempt: u64,
    carry_out: impl FnOnce(&mut Blocks<'_, '_>) -> Result<(), Broken>,
) -> Result<(), Broken> {
    let (up, system) = (&member.up, member.idx());
    let planned = run.step(step);
    let seed = run.seed_of(step);
    let bench = run.bench(up);
    let clients = clients_of(run, &bench, planned, seed);
    let clients = clients.map_err(|error| Broken::System(system, error))?;
    let waiting = Waiting::new(vec![up.freezer()], up.is_slowed(), run.environment);
    let mut waiting = waiting.map_err(Broken::Unattributed)?;
    carry_out(&mut Blocks {
        lanes: vec![Lane::new(system, clients, bench)],
        waiting: &mut waiting,
        planned,
        cut: Cut::of_step(planned, run.plan.schedule),
        seed: seed::of_attempt(seed, attempt),
        interrupt: &run.environment.interrupt,
    })
}
