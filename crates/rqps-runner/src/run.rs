//! A run from its plan to its end: the launches of the servers, one after the other.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rqps_model::{Label, Run, RunStatus, RunStep, StepKind, StepOutcome, SystemSource};
use rqps_store::{RunRef, Store};

use crate::Plan;
use crate::audit::Audit;
use crate::engine::precision;
use crate::environment::Environment;
use crate::event::{Event, Listener, RunShape};
use crate::failure::{Broken, BrokenTables, is_disk_full};
use crate::journal::Journal;
use crate::journal::begin::{self, Begun, OnHost};
use crate::plan::launches;
use crate::plan::seed::{self, SeedDomain, shuffled};
use crate::plan::steps::PlannedStep;
use crate::plan::{limits, placement};
use crate::quiet;
use crate::recovery::reuse;
use crate::recovery::{clear_done, measure_alone, measure_interleaved};
use crate::run_context::RunContext;
use crate::schedule::profiles::{Profiler, check_patterns};
use crate::system::installation::{self, Installation, Ready};
use crate::system::{guests, leftover};
use crate::system_state::SystemState;
use crate::vector_sets::VectorSets;

/// The outcome of a run.
#[derive(Debug)]
pub struct Carried {
    /// Its id.
    pub id: String,
    /// Systems with steps that were not measured, each with the cause. The same call tries them again.
    pub missing: Vec<(Label, anyhow::Error)>,
    /// Measured share of the time after all servers were fetched.
    pub measured_share: f64,
}

/// Carries out a plan. Every slice is stored as it ends. After a failure the same call resumes the run.
///
/// With three or more systems, a system that cannot be started, or whose server fails repeatedly, is
/// excluded, except the base. In a sequential run, so is a system that cannot be fetched.
///
/// # Errors
/// Whatever keeps the run from finishing: a server that cannot be fetched or started or that dies,
/// a full disk, the user's interrupt. A step that fails by itself is recorded and is no error here.
pub fn run<'a>(
    plan: &'a Plan,
    store: &'a Store,
    environment: &'a Environment,
    listen: &'a mut Listener<'a>,
) -> Result<Carried> {
    let cpus = placement::usable_cpus()?;
    let all_local = plan.systems.iter().all(|s| !matches!(s.source, SystemSource::External { .. }));
    let host = rqps_sample::host_info(&environment.results).context("read the size of memory")?;
    limits::check(plan, &cpus, host.memory_bytes)?;
    installation::check_passwords(plan, environment)?;
    let steps = launches::of_plan(plan, &cpus, all_local)?;
    guests::check_statements(plan, &steps)?;
    precision::check(plan, &steps)?;
    if let Some(profiling) = &plan.profiling {
        check_patterns(profiling, &steps)?;
    }
    let Begun { run, lock, steps } =
        begin::run(plan, OnHost { steps, cpus: &cpus, host: &host }, store, environment, listen)?;
    let id = run.id.clone();
    let expected = still_expected(plan, &steps, &run);
    let n_steps = steps.len() * plan.systems.len();
    let shape = RunShape {
        n_steps: steps.iter().filter(|step| step.start == 0).count(),
        n_systems: plan.systems.len(),
        n_starts: plan.starts,
    };
    let mut context = RunContext {
        plan,
        steps,
        environment,
        vectors: VectorSets::default(),
        cpus,
        run_id: id.clone(),
        seed: run.seed,
        n_resumed: run.n_resumed,
        launch: 0,
    };
    let mut journal = Journal::new(store, run, listen);
    let n_done = journal.n_done();
    journal.tell(Event::RunStarted { run: &id, shape, n_steps, n_done, expected });
    leftover::sweep(store, environment, journal.listener())?;
    let measured_before = measured(journal.run());
    let mut fetched = None;
    let result = carry_out(&mut context, &mut journal, expected, &mut fetched);
    let since = fetched.map_or(Duration::ZERO, |at: Instant| at.elapsed());
    let measured = measured(journal.run()).saturating_sub(measured_before);
    let status = match &result {
        Ok(()) if journal.excluded().is_empty() => RunStatus::Finished,
        Ok(()) => RunStatus::Failed,
        Err(_) if context.is_interrupted() => RunStatus::Interrupted,
        Err(_) => RunStatus::Failed,
    };
    let ended = if result.is_err() && is_nothing_known(journal.run()) {
        // A run without a server that was ever up has nothing to keep and nothing to resume with.
        drop(lock);
        store.remove_run(&RunRef::Id(id.clone())).map(|_| ())
    } else {
        let noted = match &result {
            Err(error) if status == RunStatus::Failed => journal.note_end(error),
            Err(_) => environment
                .stopped_by
                .get()
                .map_or(Ok(()), |why| journal.note_end(&anyhow::anyhow!("{why}"))),
            Ok(()) => Ok(()),
        };
        noted.and(journal.end(status))
    };
    result?;
    ended?;
    journal.tell(Event::RunEnded { run: &id });
    let excluded = journal.into_excluded().into_iter();
    let missing = excluded.map(|one| (context.label(one.system).clone(), one.error)).collect();
    let measured_share = measured.as_secs_f64() / since.as_secs_f64().max(f64::EPSILON);
    Ok(Carried { id, missing, measured_share })
}

/// Measured time of all systems together. One system is measured at a time. Steps that only warm caches do not count.
fn measured(run: &Run) -> Duration {
    let steps = run.steps.iter().filter(|step| step.info.kind != StepKind::WarmUp);
    let systems = steps.flat_map(|step| &step.systems);
    let slices = systems.flat_map(|system| &system.slices);
    Duration::from_nanos(slices.map(|slice| slice.duration_ns).fold(0, u64::saturating_add))
}

/// How long the pending steps take on all systems, without starts and settling.
fn still_expected(plan: &Plan, steps: &[PlannedStep], run: &Run) -> Duration {
    let n_pending = |step: &RunStep| {
        let pending = step.systems.iter().filter(|state| state.outcome == StepOutcome::Pending);
        u32::try_from(pending.count()).unwrap_or(u32::MAX)
    };
    let all = steps.iter().zip(&run.steps);
    all.map(|(planned, step)| planned.expected(plan.schedule) * n_pending(step)).sum()
}

fn is_nothing_known(run: &Run) -> bool {
    run.systems.iter().all(|system| system.version_text.is_empty())
}

/// Carries out the launches of the servers, one after the other, with all systems' steps.
/// Notes in `fetched` when their files were there.
fn carry_out(
    run: &mut RunContext<'_>,
    journal: &mut Journal<'_>,
    expected: Duration,
    fetched: &mut Option<Instant>,
) -> Result<()> {
    let mut profiler = Profiler::begin(run, journal)?;
    let mut audit = Audit::default();
    clear_done(run, journal)?;
    let mut ready = fetch_all(run, journal)?;
    let cache = installation::places(run.environment)?.cache;
    let interrupt = &run.environment.interrupt;
    run.vectors = VectorSets::of(run.plan, &cache, interrupt, &mut |text| journal.note(text))?;
    quiet::look(run, journal, expected)?;
    *fetched = Some(Instant::now());
    let mut states: Vec<SystemState> = run.systems().map(SystemState::new).collect();
    if !run.plan.schedule.is_interleaved() {
        audit.in_advance(run, journal, &ready)?;
    }
    reuse::provide(run, journal, &ready)?;
    run.launch = 0;
    while run.launch < run.n_launches() {
        let launched = one_launch(run, journal, &mut audit, &mut profiler, &mut states, &ready);
        let broken = launched.err().map(|error| error.downcast::<BrokenTables>()).transpose()?;
        ready.retain(|one| journal.excluded().iter().all(|out| out.system != one.system));
        if let Some(broken) = broken {
            reuse::fill_instead(run, journal, &ready, &broken)?;
            run.launch = 0;
            continue;
        }
        reuse::keep(run, journal, &ready)?;
        run.launch += 1;
    }
    Ok(())
}

/// A launch of the servers that have something to do in it.
fn one_launch(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    profiler: &mut Profiler,
    states: &mut [SystemState],
    ready: &[Ready],
) -> Result<()> {
    states.iter_mut().for_each(SystemState::begin_launch);
    let pending = pending_of(run, journal, ready);
    if pending.is_empty() {
        return Ok(());
    }
    let n_launches = run.n_launches();
    if n_launches > 1 {
        journal.note(&format!("start {} of {n_launches} of the servers", run.launch + 1));
    }
    if run.plan.schedule.is_interleaved() {
        let order = drawn_order(run, pending.len());
        let pending: Vec<&Ready> = order.into_iter().map(|at| pending[at]).collect();
        return measure_interleaved(run, journal, audit, profiler, states, &pending);
    }
    for at in order_of_start(run, ready.len()) {
        let state = &mut states[ready[at].system.0];
        one_system(run, journal, audit, profiler, state, &ready[at])?;
    }
    Ok(())
}

/// The systems that have something to do in the launch under way.
fn pending_of<'r>(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    ready: &'r [Ready],
) -> Vec<&'r Ready> {
    let has_more =
        |one: &&Ready| journal.first_pending(run.steps_of_launch(), one.system).is_some();
    ready.iter().filter(has_more).collect()
}

/// A system that has the host to itself; it is excluded where it cannot be measured and the others are of use
/// without it.
fn one_system(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    profiler: &mut Profiler,
    state: &mut SystemState,
    ready: &Ready,
) -> Result<()> {
    if journal.first_pending(run.steps_of_launch(), ready.system).is_none() {
        return Ok(());
    }
    let doing = format!("measure {}", run.label(ready.system));
    match measure_alone(run, journal, audit, profiler, state, ready) {
        Err(Broken::System(system, error)) if journal.is_of_use_without(run, system) => {
            journal.exclude(system, error.context(doing))
        }
        Err(broken) => Err(broken.into_error().context(doing)),
        Ok(()) => Ok(()),
    }
}

/// Gets the files of all systems that have something to do, before the first is started: a version that cannot be
/// had costs no measured time. Of systems that come one after the other, one is excluded where the others are of
/// use without it.
fn fetch_all(run: &RunContext<'_>, journal: &mut Journal<'_>) -> Result<Vec<Ready>> {
    let mut ready = Vec::new();
    for system in run.systems() {
        if journal.first_pending(run.all_steps(), system).is_none() {
            continue;
        }
        let installation =
            Installation::of(run.plan, system.0, run.environment, journal.listener());
        match installation.with_context(|| format!("get {}", run.label(system))) {
            Ok(installation) => ready.push(Ready { system, installation }),
            // What the others lack would not fit either.
            Err(error)
                if run.is_of_run(&error)
                    || is_disk_full(&error)
                    || run.plan.schedule.is_interleaved()
                    || !journal.is_of_use_without(run, system) =>
            {
                return Err(error);
            }
            Err(error) => journal.exclude(system, error)?,
        }
    }
    Ok(ready)
}

/// In which order `n` systems are measured one after the other: the plan's on a single launch, else drawn
/// for each launch, so that no system always has the host early or late.
fn order_of_start(run: &RunContext<'_>, n: usize) -> Vec<usize> {
    if run.n_launches() < 2 { (0..n).collect() } else { drawn_order(run, n) }
}

/// In which order `n` systems are started, filled and warmed up in the launch under way. The memory
/// that a server gets depends on which servers came before it. Every second launch has the order of the
/// one before it reversed: of two systems each is first as often as the other.
fn drawn_order(run: &RunContext<'_>, n: usize) -> Vec<usize> {
    // The launch that only fills tables is not one of two.
    let nth = run.launch + u32::from(run.plan.reuses_tables());
    let seed = seed::derive(run.seed, SeedDomain::Start, u64::from(nth / 2));
    let mut order = shuffled(n, seed);
    if nth % 2 == 1 {
        order.reverse();
    }
    order
}
