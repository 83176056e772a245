//! A run from its plan to its end: what both schedules have in common around the order of things
//! ([`crate::sequential`], [`crate::interleaved`]).

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rqps_model::{Label, Run, RunStatus, RunStep, RunSystem, StepOutcome, SystemSource};
use rqps_store::{RunRef, Store, unix_ms};

use crate::begin::Begun;
use crate::context::Context;
use crate::event::{Event, Listener};
use crate::failure::{Broken, is_disk_full};
use crate::installation::{self, Installation};
use crate::seed::{self, SeedDomain, shuffled};
use crate::stacks::{Profiler, check_patterns};
use crate::steps::{self, PlannedStep};
use crate::system_state::SystemState;
use crate::{Plan, begin, guests, leftover, limits, placement, precision};

/// A run while it is carried out.
pub(crate) struct Lab<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) steps: Vec<PlannedStep>,
    pub(crate) context: &'a Context,
    pub(crate) store: &'a Store,
    pub(crate) run: Run,
    pub(crate) cpus: Vec<usize>,
    pub(crate) listen: &'a mut Listener<'a>,
    pub(crate) n_slices: u32,
    /// What is known of each system between its steps.
    pub(crate) states: Vec<SystemState>,
    /// The start of the servers that is under way, from 0.
    pub(crate) start_idx: u32,
    /// What the systems said before the first of them was measured, in the plan's order; none where they
    /// are asked when they are up.
    pub(crate) looked_at: Vec<RunSystem>,
    /// The loads, each with a system whose tables' size after it was compared with the base's.
    pub(crate) weighed: BTreeSet<(usize, usize)>,
    /// What is known of stack profiles.
    pub(crate) profiler: Profiler,
    /// How many systems are not measured further.
    pub(crate) n_out: usize,
}

/// What came of a run.
#[derive(Debug)]
pub struct Carried {
    /// Its id.
    pub id: String,
    /// The systems that have not done all steps, each with the cause. The same call tries them again.
    pub missing: Vec<(Label, anyhow::Error)>,
}

/// Carries out a plan. Every slice is stored as it ends; when this fails, what was measured is kept
/// and the same call goes on from there. Of three systems or more that are measured one after the
/// other, one that cannot be had, started or that dies is left out, unless it is the base.
///
/// # Errors
/// Whatever keeps the run from finishing: a server that cannot be fetched or started or that dies,
/// a full disk, the user's interrupt. A step that fails by itself is recorded and is no error here.
pub fn run<'a>(
    plan: &'a Plan,
    store: &'a Store,
    context: &'a Context,
    listen: &'a mut Listener<'a>,
) -> Result<Carried> {
    let cpus = placement::usable_cpus()?;
    let all_local = plan.systems.iter().all(|s| !matches!(s.source, SystemSource::External { .. }));
    let host = rqps_sample::host_info(&context.results).context("read the size of memory")?;
    limits::check(plan, &cpus, host.memory_bytes)?;
    installation::check_passwords(plan, context)?;
    let steps = steps::of_plan(plan, &cpus, all_local)?;
    guests::check_statements(plan, &steps)?;
    precision::check(plan, &steps)?;
    if let Some(profiling) = &plan.profiling {
        check_patterns(profiling, &steps)?;
    }
    let n_slices = plan.schedule.slices();
    let begun = begin::run(plan, (steps, &cpus, &host), store, context, listen)?;
    let Begun { run, lock, steps } = begun;
    let id = run.id.clone();
    let n_done = done(&run);
    let n_steps = steps.len() * plan.systems.len();
    let expected = still_expected(plan, &steps, &run);
    listen(Event::RunStarted { run: &id, n_steps, n_done, expected });
    leftover::sweep(store, context, listen)?;
    let mut lab = Lab {
        plan,
        steps,
        context,
        store,
        run,
        cpus,
        listen,
        n_slices,
        states: vec![SystemState::default(); plan.systems.len()],
        start_idx: 0,
        looked_at: Vec::new(),
        weighed: BTreeSet::new(),
        profiler: Profiler::default(),
        n_out: 0,
    };
    let result = lab.begin_profiles().and_then(|()| lab.all_systems());
    let status = match &result {
        Ok(missing) if missing.is_empty() => RunStatus::Finished,
        Ok(_) => RunStatus::Failed,
        Err(_) if context.interrupt.load(Ordering::Relaxed) => RunStatus::Interrupted,
        Err(_) => RunStatus::Failed,
    };
    let ended = if result.is_err() && lab.nothing_known() {
        // A run without a server that was ever up has nothing to keep and nothing to go on with.
        drop(lock);
        store.remove_run(&RunRef::Id(id.clone())).map(|_| ())
    } else {
        let noted = match &result {
            Err(error) if status == RunStatus::Failed => lab.note_end(error),
            Err(_) => context
                .stopped_by
                .get()
                .map_or(Ok(()), |why| lab.note_end(&anyhow::anyhow!("{why}"))),
            Ok(_) => Ok(()),
        };
        noted.and(store.set_run_status(&id, status, Some(unix_ms())))
    };
    let missing = result?;
    ended?;
    (lab.listen)(Event::RunEnded { run: &id });
    Ok(Carried { id, missing })
}

/// How long what is not done takes on all systems, starts and settling left out.
fn still_expected(plan: &Plan, steps: &[PlannedStep], run: &Run) -> Duration {
    let n_pending = |step: &RunStep| {
        let pending = step.systems.iter().filter(|state| state.outcome == StepOutcome::Pending);
        u32::try_from(pending.count()).unwrap_or(u32::MAX)
    };
    let all = steps.iter().zip(&run.steps);
    all.map(|(planned, step)| planned.expected(plan.schedule) * n_pending(step)).sum()
}

pub(crate) fn done(run: &Run) -> usize {
    let states = run.steps.iter().flat_map(|step| &step.systems);
    states.filter(|s| s.outcome != StepOutcome::Pending).count()
}

impl Lab<'_> {
    /// All systems' steps; gives the systems that were left out, and why.
    fn all_systems(&mut self) -> Result<Vec<(Label, anyhow::Error)>> {
        self.clear_done()?;
        let has_more = |system| (0..self.steps.len()).any(|step| self.is_pending(step, system));
        let pending: Vec<usize> =
            (0..self.plan.systems.len()).filter(|&system| has_more(system)).collect();
        let mut missing = Vec::new();
        // Everything is fetched first: a version that cannot be had costs no measured time.
        let mut ready = Vec::new();
        for &idx in &pending {
            let label = &self.plan.systems[idx].label;
            let installation = Installation::of(self.plan, idx, self.context, self.listen);
            match installation.with_context(|| format!("get {label}")) {
                Ok(installation) => ready.push((idx, installation)),
                // What the others lack would not fit either.
                Err(error) if self.is_of_run(&error) || is_disk_full(&error) => return Err(error),
                Err(error) => missing.push(self.leave_out(idx, error)?),
            }
        }
        if !self.plan.schedule.is_interleaved() {
            self.audit_in_advance(&ready)?;
        }
        for start_idx in 0..self.plan.starts {
            self.begin_start(start_idx);
            if !ready.iter().any(|(idx, _)| self.first_pending(*idx).is_some()) {
                continue;
            }
            if self.plan.starts > 1 {
                let (nth, of) = (start_idx + 1, self.plan.starts);
                (self.listen)(Event::Note(&format!("start {nth} of {of} of the servers")));
            }
            if self.plan.schedule.is_interleaved() {
                let has_more = |(idx, _): &&(usize, _)| self.first_pending(*idx).is_some();
                let left: Vec<_> = ready.iter().filter(has_more).collect();
                let order: Vec<_> =
                    self.drawn_order(left.len()).into_iter().map(|at| left[at]).collect();
                missing.extend(self.interleaved(&order)?);
            } else {
                for at in self.order_of_start(ready.len()) {
                    let (idx, installation) = &ready[at];
                    missing.extend(self.alone(*idx, installation)?);
                }
            }
            let is_missing = |idx: usize| {
                missing.iter().any(|(label, _)| *label == self.plan.systems[idx].label)
            };
            ready.retain(|(idx, _)| !is_missing(*idx));
        }
        Ok(missing)
    }

    /// In which order `n` systems are measured one after the other: the plan's on a single start, else drawn
    /// for each, so that no system always has the host early or late.
    fn order_of_start(&self, n: usize) -> Vec<usize> {
        if self.plan.starts < 2 { (0..n).collect() } else { self.drawn_order(n) }
    }

    /// In which order `n` systems are started, filled and warmed up on the start under way. The memory
    /// that a server gets depends on which servers came before it. Every second start has the order of the
    /// one before it reversed: of two systems each is first as often as the other.
    fn drawn_order(&self, n: usize) -> Vec<usize> {
        let seed = seed::derive(self.run.seed, SeedDomain::Start, u64::from(self.start_idx / 2));
        let mut order = shuffled(n, seed);
        if self.start_idx % 2 == 1 {
            order.reverse();
        }
        order
    }

    /// A system that has the host to itself; where the others are of use without it, what was in its way.
    fn alone(
        &mut self,
        idx: usize,
        installation: &Installation,
    ) -> Result<Option<(Label, anyhow::Error)>> {
        if self.first_pending(idx).is_none() {
            return Ok(None);
        }
        let doing = format!("measure {}", self.plan.systems[idx].label);
        match self.one_system(idx, installation) {
            Ok(()) => Ok(None),
            Err(Broken::Run(error)) => Err(error.context(doing)),
            Err(Broken::System(_, error)) => self.leave_out(idx, error.context(doing)).map(Some),
        }
    }

    fn begin_start(&mut self, start_idx: u32) {
        self.start_idx = start_idx;
        self.states.iter_mut().for_each(SystemState::begin_start);
    }

    /// The steps of the start of the servers that is under way.
    pub(crate) fn steps_of_start(&self) -> Range<usize> {
        self.steps_of(self.start_idx)
    }

    /// The steps of any of them.
    pub(crate) fn steps_of(&self, start_idx: u32) -> Range<usize> {
        let n = self.steps.len() / usize::try_from(self.plan.starts).unwrap_or(1).max(1);
        let from = usize::try_from(start_idx).unwrap_or(0) * n;
        from..from + n
    }

    /// Goes on without a system, where the others are of use without it; else gives the error back.
    fn leave_out(&mut self, idx: usize, error: anyhow::Error) -> Result<(Label, anyhow::Error)> {
        if self.plan.schedule.is_interleaved() || !self.is_of_use_without(idx) {
            return Err(error);
        }
        self.out(idx, error)
    }

    fn nothing_known(&self) -> bool {
        self.run.systems.iter().all(|system| system.version_text.is_empty())
    }

    /// The first step of the start under way that a system has not done.
    pub(crate) fn first_pending(&self, system_idx: usize) -> Option<usize> {
        self.steps_of_start().find(|&step| self.is_pending(step, system_idx))
    }

    pub(crate) fn is_pending(&self, step_idx: usize, system_idx: usize) -> bool {
        self.run.steps[step_idx].systems[system_idx].outcome == StepOutcome::Pending
    }

    pub(crate) fn check_interrupt(&self) -> Result<()> {
        if self.context.interrupt.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        Ok(())
    }
}
