//! Two servers of one kind, up and filled, measured in whatever way is asked for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use rqps_model::{Placement, Slice};
use rqps_workload::LoadSpec;
use rqps_workload::statement::table_name;

use crate::context::Context;
use crate::event::{Event, Listener};
use crate::failure::Broken;
use crate::guard::Guards;
use crate::installation::Installation;
use crate::leftover::Purpose;
use crate::measure::{Wanted, crew, of_file};
use crate::rounds::{Cut, Next, Rounds, There, Turn};
use crate::seed::shuffled;
use crate::steps::{self, PlannedStep};
use crate::system::{Data, Start, Up};
use crate::waiting::Waiting;
use crate::{Plan, measure, populate};

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
    context: &'a Context,
    cpus: &'a [usize],
    steps: Vec<PlannedStep>,
    ups: Vec<Up>,
    name: String,
    n_measured: u64,
    disturbed: Disturbed,
}

/// The part of a calibration's seed that draws the order of its trials: the others are of measurements.
const ORDER: u64 = 1 << 42;

impl<'a> Bench<'a> {
    /// Starts and fills them.
    pub(super) fn start(
        plan: &'a Plan,
        cpus: &'a [usize],
        context: &'a Context,
        listen: &mut Listener<'_>,
    ) -> Result<Self> {
        let steps = steps::of_plan(plan, cpus, true)?;
        let (ups, name, n_measured) = (Vec::new(), String::new(), 0);
        let disturbed = Disturbed::default();
        let mut bench = Self { plan, context, cpus, steps, ups, name, n_measured, disturbed };
        match bench.start_all(listen) {
            Ok(()) => Ok(bench),
            Err(error) => Err(bench.fail(error)),
        }
    }

    fn start_all(&mut self, listen: &mut Listener<'_>) -> Result<()> {
        for idx in 0..self.plan.systems.len() {
            let label = &self.plan.systems[idx].label;
            let installation = Installation::of(self.plan, idx, self.context, listen);
            let installation = installation.with_context(|| format!("get {label}"))?;
            self.name = match &installation {
                Installation::Local(installed, ..) => installed.name(),
                Installation::External(dsn) => dsn.to_string(),
                Installation::Null => "the null client".to_owned(),
            };
            let tag = Purpose::Calibrate.tag(idx);
            let how = Start { context: self.context, name: &tag, data: Data::New };
            let up = Up::start(self.plan, idx, &installation, how, listen);
            self.ups.push(up.with_context(|| format!("start {label}"))?);
            self.fill(idx, listen).with_context(|| format!("fill {label}"))?;
        }
        Ok(())
    }

    fn fill(&mut self, idx: usize, listen: &mut Listener<'_>) -> Result<()> {
        let spec = &self.plan.systems[idx];
        let step = self.steps.iter().find(|step| step.fills()).context("no step fills tables")?;
        let (_, args, _) = of_file(step)?;
        let load =
            LoadSpec::new(args, spec.dbms, spec.engine, super::seed(self.plan, self.context, 0))
                .compressed(spec.variant.compression);
        let up = &mut self.ups[idx];
        up.make_room((1..=load.tables).map(table_name).collect())?;
        let (label, total_rows) = (&spec.label, load.rows * u64::from(load.tables));
        let mut show = |rows| listen(Event::Populating { label, rows, total_rows });
        let interrupt = &self.context.interrupt;
        let open = populate::opener(spec.dbms, up.endpoint());
        let patience = self.context.patience;
        let around = populate::Surroundings { open: &open, interrupt, patience };
        let clients = step.clients;
        populate::fill(&load, clients, &around, &mut show)?;
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
        shuffled(n, super::seed(self.plan, self.context, ORDER))
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

    /// Gives the second side a handicap, basis points.
    pub(super) fn slow_down(&mut self, handicap_bp: u32) {
        if let Some(up) = self.ups.last_mut() {
            up.slow_down(handicap_bp);
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
        super::seed(self.plan, self.context, self.n_measured)
    }

    /// Both sides in turns of `slice_ms`.
    pub(super) fn in_turns(
        &mut self,
        step: &str,
        way: Way,
        slice_ms: u32,
        listen: &mut Listener<'_>,
    ) -> Result<Sides> {
        let (planned, seed) = (self.planned(step, way)?, self.next_seed());
        let interrupt: &AtomicBool = &self.context.interrupt;
        let mut turns = Vec::new();
        for (system_idx, up) in self.ups.iter().enumerate() {
            let manned = crew(&up.bench(self.cpus, interrupt), &planned, seed)?;
            turns.push(Turn::of(system_idx, manned, (up.samples(), up.counted())));
        }
        let freezers = self.ups.iter().map(Up::freezer).collect();
        let is_slowed = self.ups.iter().any(Up::is_slowed);
        let mut waiting = Waiting::new(freezers, is_slowed, self.context)?;
        let cut = Cut::of(way.time, Duration::from_millis(slice_ms.into()), false);
        let (waiting, planned) = (&mut waiting, &planned);
        let mut rounds = Rounds { turns, waiting, planned, cut, seed, interrupt };
        let mut sides: Sides = [Vec::new(), Vec::new()];
        let (mut guards, disturbed) = (Guards::new(), &mut self.disturbed);
        let mut keep = |mut block: Vec<(usize, Slice)>| -> Result<Next> {
            guards.look(&mut block);
            for (idx, slice) in block {
                disturbed.add(&slice);
                sides[idx].push(slice);
            }
            Ok(Next::Block)
        };
        match rounds.run(There::default(), listen, &mut keep) {
            Ok(()) => Ok(sides),
            Err(Broken::Run(error)) => Err(error),
            Err(Broken::System(idx, error)) => {
                let label = &self.plan.systems[idx].label;
                Err(anyhow!(error).context(format!("measure {label}")))
            }
        }
    }

    /// All of the first side, in slices of the suite's length, then all of the second.
    pub(super) fn one_by_one(
        &mut self,
        step: &str,
        way: Way,
        listen: &mut Listener<'_>,
    ) -> Result<Sides> {
        let (planned, seed) = (self.planned(step, way)?, self.next_seed());
        let (of_step, args, _) = of_file(&planned)?;
        let n_slices = way.time.as_nanos() / of_step.slice_time(args).as_nanos().max(1);
        let n_slices = u32::try_from(n_slices).unwrap_or(u32::MAX).max(2);
        let mut sides: Sides = [Vec::new(), Vec::new()];
        for (idx, (side, up)) in sides.iter_mut().zip(&self.ups).enumerate() {
            let bench = up.bench(self.cpus, &self.context.interrupt);
            let wanted = Wanted { seed, attempt: 0, from: 0, n_slices };
            let (mut guards, disturbed) = (Guards::new(), &mut self.disturbed);
            let mut keep = |slice: Slice| -> Result<()> {
                let mut one = [(idx, slice)];
                guards.look(&mut one);
                let [(_, slice)] = one;
                disturbed.add(&slice);
                side.push(slice);
                Ok(())
            };
            measure::step(&bench, &planned, wanted, listen, &mut keep)?;
        }
        Ok(sides)
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
        if !self.context.interrupt.load(Ordering::Relaxed) {
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
