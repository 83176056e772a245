//! What a run is carried out with: nothing of it changes within a start of the servers.

use std::sync::atomic::Ordering;

use anyhow::{Result, bail};
use rqps_model::{Label, StepIdx, SystemIdx, SystemSpec};
use rqps_workload::InsertArgs;
use rqps_workload::insert::Schema;

use crate::Plan;
use crate::engine::bench::Bench;
use crate::environment::Environment;
use crate::failure::{Broken, Kept};
use crate::plan::seed;
use crate::plan::steps::PlannedStep;
use crate::system::RunningSystem;

/// What a run is carried out with.
pub(crate) struct RunContext<'a> {
    pub(crate) plan: &'a Plan,
    /// Those of all starts of the servers, one start after the other.
    pub(crate) steps: Vec<PlannedStep>,
    pub(crate) environment: &'a Environment,
    /// CPUs that rqps may use.
    pub(crate) cpus: Vec<usize>,
    pub(crate) run_id: String,
    pub(crate) seed: u64,
    /// How often the run was interrupted and resumed.
    pub(crate) n_resumed: u32,
    /// The start of the servers that is under way, from 0.
    pub(crate) start_idx: u32,
}

impl RunContext<'_> {
    pub(crate) fn step(&self, step: StepIdx) -> &PlannedStep {
        &self.steps[step.0]
    }

    pub(crate) fn spec(&self, system: SystemIdx) -> &SystemSpec {
        &self.plan.systems[system.0]
    }

    pub(crate) fn label(&self, system: SystemIdx) -> &Label {
        &self.spec(system).label
    }

    pub(crate) fn base(&self) -> SystemIdx {
        SystemIdx(self.plan.base)
    }

    /// All systems of the plan.
    pub(crate) fn systems(&self) -> impl Iterator<Item = SystemIdx> + Clone + use<> {
        (0..self.plan.systems.len()).map(SystemIdx)
    }

    /// The steps of all starts.
    pub(crate) fn all_steps(&self) -> impl DoubleEndedIterator<Item = StepIdx> + Clone + use<> {
        StepIdx(0).until(StepIdx(self.steps.len()))
    }

    /// The steps of the start of the servers that is under way.
    pub(crate) fn steps_of_start(
        &self,
    ) -> impl DoubleEndedIterator<Item = StepIdx> + Clone + use<> {
        self.steps_of(self.start_idx)
    }

    /// The steps of any of them.
    pub(crate) fn steps_of(
        &self,
        start_idx: u32,
    ) -> impl DoubleEndedIterator<Item = StepIdx> + Clone + use<> {
        self.begin_of(start_idx).until(self.begin_of(start_idx + 1))
    }

    /// The first step of the start under way.
    pub(crate) fn first_step(&self) -> StepIdx {
        self.begin_of(self.start_idx)
    }

    /// What comes after the last step of the start under way.
    pub(crate) fn end_of_start(&self) -> StepIdx {
        self.begin_of(self.start_idx + 1)
    }

    fn begin_of(&self, start_idx: u32) -> StepIdx {
        let n = self.steps.len() / usize::try_from(self.plan.starts).unwrap_or(1).max(1);
        StepIdx(usize::try_from(start_idx).unwrap_or(0) * n)
    }

    /// The step that has filled the tables that a step uses; none before the first load.
    pub(crate) fn filled_by(&self, step: StepIdx) -> Option<StepIdx> {
        self.first_step().until(step.next()).rev().find(|&step| self.step(step).fills())
    }

    /// The Insert Benchmark's schema on a system.
    pub(crate) fn schema(&self, system: SystemIdx, args: &InsertArgs) -> Schema {
        let spec = self.spec(system);
        Schema::new(args, spec.dbms, spec.engine, spec.variant.compression)
    }

    /// The seed of a step, the same for every system.
    pub(crate) fn seed_of(&self, step: StepIdx) -> u64 {
        seed::of_step(self.seed, step.0)
    }

    /// What measuring needs of a system that is up.
    pub(crate) fn bench<'b>(&'b self, up: &'b RunningSystem) -> Bench<'b> {
        up.bench(&self.cpus, &self.environment.interrupt)
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.environment.interrupt.load(Ordering::Relaxed)
    }

    pub(crate) fn check_interrupt(&self) -> Result<()> {
        if self.is_interrupted() {
            bail!("interrupted");
        }
        Ok(())
    }

    /// What an error that was met on a system breaks off.
    pub(crate) fn broken(&self, system: SystemIdx, error: anyhow::Error) -> Broken {
        if self.is_of_run(&error) { Broken::Run(error) } else { Broken::System(system, error) }
    }

    /// Whether an error would meet every other system as well: results that cannot be written, the user's wish to
    /// stop. In an interleaved run also what keeps one system from its data, as the others have to wait for it. The
    /// full disk of a server's data is that server's: others may have room.
    pub(crate) fn is_of_run(&self, error: &anyhow::Error) -> bool {
        let waits = self.plan.schedule.is_interleaved() && error.downcast_ref::<Kept>().is_some();
        waits || error.downcast_ref::<rqps_store::Error>().is_some() || self.is_interrupted()
    }
}
