//! Two servers of one kind, up and filled, measured in whatever way is asked for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use rqps_model::{Dbms, Placement, Slice, StepKind, SystemIdx, SystemSource};
use rqps_workload::LoadSpec;
use rqps_workload::statement::table_name;

use crate::Plan;
use crate::engine::blocks::{Blocks, Lane};
use crate::engine::clients::StepClients;
use crate::engine::cut::{CountedCut, Cut, Done, TimedCut};
use crate::engine::guard::Guards;
use crate::engine::observer::{Block, Next, Observer};
use crate::engine::populate;
use crate::engine::waiting::Waiting;
use crate::environment::Environment;
use crate::event::{Event, Listener};
use crate::failure::Broken;
use crate::plan::launches;
use crate::plan::seed::shuffled;
use crate::plan::steps::PlannedStep;
use crate::system::installation::Installation;
use crate::system::leftover::Purpose;
use crate::system::{Data, Ended, RunningSystem, Start};

use super::disturbed::Disturbed;

/// The slices of both sides, in order of time.
pub(super) type Sides = [Vec<Slice>; 2];

/// How a step is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) clients: u32,
    pub(super) placement: Placement,
    /// On each side.
    pub(super) time: Duration,
}

/// Both servers.
pub(super) struct Bench<'a> {
    plan: &'a Plan,
    environment: &'a Environment,
    cpus: &'a [usize],
    steps: Vec<PlannedStep>,
    installations: Vec<Installation>,
    ups: Vec<RunningSystem>,
    name: String,
    n_measured: u64,
    disturbed: Disturbed,
}

/// Collects the slices of both sides.
struct Collector<'c, 'l> {
    guards: Guards,
    disturbed: &'c mut Disturbed,
    sides: &'c mut Sides,
    listen: &'c mut Listener<'l>,
}

impl Observer for Collector<'_, '_> {
    fn tell(&mut self, event: Event<'_>) {
        (self.listen)(event);
    }

    fn keep(&mut self, mut block: Block) -> Result<Next> {
        self.guards.look(&mut block);
        for (side, slice) in block {
            self.disturbed.add(&slice);
            self.sides[side.0].push(slice);
        }
        Ok(Next::Block)
    }
}

/// The part of a calibration's seed that draws the order of its trials: the others are of measurements.
const ORDER: u64 = 1 << 42;

impl<'a> Bench<'a> {
    /// Starts and fills them.
    pub(super) fn start(
        plan: &'a Plan,
        cpus: &'a [usize],
        environment: &'a Environment,
        listen: &mut Listener<'_>,
    ) -> Result<Self> {
        let steps = launches::of_plan(plan, cpus, true)?;
        let mut bench = Self {
            plan,
            environment,
            cpus,
            steps,
            installations: Vec::new(),
            ups: Vec::new(),
            name: String::new(),
            n_measured: 0,
            disturbed: Disturbed::default(),
        };
        match bench.start_all(listen) {
            Ok(()) => Ok(bench),
            Err(error) => Err(bench.fail(error)),
        }
    }

    fn start_all(&mut self, listen: &mut Listener<'_>) -> Result<()> {
        for idx in 0..self.plan.systems.len() {
            let label = &self.plan.systems[idx].label;
            let installation = Installation::of(self.plan, idx, self.environment, listen);
            let installation = installation.with_context(|| format!("get {label}"))?;
            self.name = match &installation {
                Installation::Local(installed, ..) => installed.name(),
                Installation::External(dsn) => dsn.to_string(),
                Installation::Null => "the null client".to_owned(),
            };
            self.installations.push(installation);
            let up = self.start_one(idx, Data::New, listen)?;
            self.ups.push(up);
            self.fill(idx, listen).with_context(|| format!("fill {label}"))?;
        }
        Ok(())
    }

    fn start_one(
        &self,
        idx: usize,
        data: Data,
        listen: &mut Listener<'_>,
    ) -> Result<RunningSystem> {
        let tag = Purpose::Calibrate.tag(idx);
        let how = Start { environment: self.environment, name: &tag, data };
        let up = RunningSystem::start(self.plan, idx, &self.installations[idx], how, listen);
        up.with_context(|| format!("start {}", self.plan.systems[idx].label))
    }

    /// Starts both servers again on their data.
    pub(super) fn restart(&mut self, listen: &mut Listener<'_>) -> Result<()> {
        let rows = self.filling()?.rows();
        for up in std::mem::take(&mut self.ups) {
            up.set_note(Some("filled"))?;
            let Ended { cause, unclean, .. } = up.leave(None);
            if let Some(reason) = unclean.or(cause) {
                bail!("{reason}");
            }
        }
        for idx in 0..self.installations.len() {
            let up = self.start_one(idx, Data::Kept, listen)?;
            self.ups.push(up);
            self.ups[idx].settle(rows, &self.environment.interrupt)?;
        }
        Ok(())
    }

    /// Whether it has servers that can be started again.
    pub(super) fn has_servers(&self) -> bool {
        self.plan.systems.iter().all(|system| system.source != SystemSource::Builtin)
    }

    fn filling(&self) -> Result<&PlannedStep> {
        self.steps.iter().find(|step| step.fills()).context("no step fills tables")
    }

    fn fill(&mut self, idx: usize, listen: &mut Listener<'_>) -> Result<()> {
        let spec = &self.plan.systems[idx];
        let step = self.filling()?.clone();
        let (_, args, _) = step.of_file()?;
        let load = LoadSpec::new(
            args,
            spec.dbms,
            spec.engine,
            super::seed(self.plan, self.environment, 0),
        )
        .compressed(spec.variant.compression);
        let up = &mut self.ups[idx];
        up.make_room((1..=load.tables).map(table_name).collect())?;
        let (label, total_rows) = (&spec.label, load.rows * u64::from(load.tables));
        let mut show = |rows| listen(Event::Populating { label, rows, total_rows });
        let interrupt = &self.environment.interrupt;
        populate::fill(&up.bench(self.cpus, interrupt), &step, &load, &mut show)?;
        let rows = step.rows();
        self.ups[idx].settle(rows, interrupt)?;
        Ok(())
    }

    /// `PostgreSQL 17.4`.
    pub(super) fn system(&self) -> String {
        self.name.clone()
    }

    /// What disturbed the slices so far.
    pub(super) fn disturbed(&self) -> &Disturbed {
        &self.disturbed
    }

    /// The numbers below `n` in an order drawn from the seed.
    pub(super) fn drawn_order(&self, n: usize) -> Vec<usize> {
        shuffled(n, super::seed(self.plan, self.environment, ORDER))
    }

    /// CPUs that rqps may use.
    pub(super) fn n_cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The numbers of clients that are tried, ascending.
    pub(super) fn clients(&self) -> Vec<u32> {
        let read = self.steps.iter().filter(|step| step.info.name == super::STEPS[0]);
        let mut all: Vec<u32> = read.map(|step| step.clients).collect();
        all.sort_unstable();
        all
    }

    /// Gives the second side an injected slowdown, basis points.
    pub(super) fn slow_down(&mut self, injected_slowdown_bp: u32) {
        if let Some(up) = self.ups.last_mut() {
            up.slow_down(injected_slowdown_bp);
        }
    }

    fn planned(&self, step: &str, way: Way) -> Result<PlannedStep> {
        let is = |p: &&PlannedStep| p.info.name == step && p.clients == way.clients;
        let planned = self.steps.iter().find(is);
        let planned = planned.with_context(|| format!("no step {step}"))?.clone();
        Ok(PlannedStep { placement: way.placement, ..planned })
    }

    fn next_seed(&mut self) -> u64 {
        self.n_measured += 1;
        super::seed(self.plan, self.environment, self.n_measured)
    }

    /// Both sides interleaved, in slices of `slice_ms`.
    pub(super) fn interleaved(
        &mut self,
        step: &str,
        way: Way,
        slice_ms: u32,
        listen: &mut Listener<'_>,
    ) -> Result<Sides> {
        let (planned, seed) = (self.planned(step, way)?, self.next_seed());
        let slice = Duration::from_millis(slice_ms.into());
        let cut = Cut::Timed(TimedCut::of(way.time, slice, false, 1));
        let mut sides: Sides = [Vec::new(), Vec::new()];
        let both: Vec<usize> = (0..self.ups.len()).collect();
        self.measure(&planned, cut, seed, &both, &mut sides, listen)?;
        Ok(sides)
    }

    /// All of the first side, in slices of the suite's length, then all of the second.
    pub(super) fn one_by_one(
        &mut self,
        step: &str,
        way: Way,
        listen: &mut Listener<'_>,
    ) -> Result<Sides> {
        let (planned, seed) = (self.planned(step, way)?, self.next_seed());
        let (of_step, args, _) = planned.of_file()?;
        let slice_time = of_step.slice_time(args);
        let n_slices = way.time.as_nanos() / slice_time.as_nanos().max(1);
        let n_slices = u32::try_from(n_slices).unwrap_or(u32::MAX).max(2);
        let cut = Cut::Counted(CountedCut::alone(n_slices, slice_time));
        let mut sides: Sides = [Vec::new(), Vec::new()];
        for side in 0..self.ups.len() {
            self.measure(&planned, cut, seed, &[side], &mut sides, listen)?;
        }
        Ok(sides)
    }

    /// Measures a step on some sides.
    fn measure(
        &mut self,
        planned: &PlannedStep,
        cut: Cut,
        seed: u64,
        measured: &[usize],
        sides: &mut Sides,
        listen: &mut Listener<'_>,
    ) -> Result<()> {
        let interrupt = &self.environment.interrupt;
        let mut lanes = Vec::new();
        for &side in measured {
            let bench = self.ups[side].bench(self.cpus, interrupt);
            let clients = StepClients::of_file(&bench, planned, seed)?;
            lanes.push(Lane::new(SystemIdx(side), clients, bench));
        }
        let freezers = measured.iter().map(|&side| self.ups[side].freezer()).collect();
        let is_slowed = measured.iter().any(|&side| self.ups[side].is_slowed());
        let mut waiting = Waiting::new(freezers, is_slowed, self.environment)?;
        let mut blocks = Blocks { lanes, waiting: &mut waiting, planned, cut, seed, interrupt };
        let (guards, disturbed) = (Guards::new(), &mut self.disturbed);
        let mut observer = Collector { guards, disturbed, sides, listen };
        match blocks.run(Done::default(), &mut observer) {
            Ok(()) => Ok(()),
            Err(Broken::Run(error) | Broken::Unattributed(error)) => Err(error),
            Err(Broken::System(side, error)) => {
                let label = &self.plan.systems[side.0].label;
                Err(error.context(format!("measure {label}")))
            }
        }
    }

    /// The DBMS of both servers, and what a step does.
    pub(super) fn describe(&self, step: &str) -> Option<(Dbms, StepKind)> {
        let planned = self.steps.iter().find(|planned| planned.info.name == step)?;
        Some((self.plan.systems.first()?.dbms, planned.info.kind))
    }

    /// Stops both servers and removes their data.
    pub(super) fn end(mut self, listen: &mut Listener<'_>) -> Result<()> {
        let mut result = Ok(());
        for (idx, up) in std::mem::take(&mut self.ups).into_iter().enumerate() {
            let label = &self.plan.systems[idx].label;
            listen(Event::Preparing { label, doing: "stop" });
            let ended = up.finish(None);
            if let Ok(Some(sentence)) = &ended {
                listen(Event::Note(sentence));
            }
            result = result.and(ended.map(|_| ()));
        }
        result
    }

    /// Ends both servers after a failure and removes their data; gives the error with what the server
    /// that caused it tells: how it ended, and the end of its log.
    pub(super) fn fail(mut self, error: anyhow::Error) -> anyhow::Error {
        let mut ups = std::mem::take(&mut self.ups);
        // What failed may have failed because a server died, which shows a moment later.
        // Whoever interrupts is not made to wait for the answer of a server that hangs.
        if !self.environment.interrupt.load(Ordering::Relaxed) {
            for up in &mut ups {
                let _ = up.answers();
            }
        }
        let mut error = error;
        for (idx, up) in ups.into_iter().enumerate() {
            if let Some(cause) = up.abandon(None) {
                let label = &self.plan.systems[idx].label;
                error = anyhow!(cause).context(format!("measure {label}: {error:#}"));
            }
        }
        error
    }
}
