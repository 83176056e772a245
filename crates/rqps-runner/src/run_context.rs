//! What a run is carried out with: nothing of it changes within a start of the servers.

use std::sync::atomic::Ordering;

use anyhow::{Result, bail};
use rqps_model::{Label, StepIdx, SystemIdx, SystemSpec};
use rqps_workload::insert::Schema;
use rqps_workload::{InsertArgs, LoadSpec, SuiteArgs};

use crate::Plan;
use crate::engine::bench::Bench;
use crate::environment::Environment;
use crate::failure::{Broken, BrokenTables, Kept};
use crate::plan::seed;
use crate::plan::steps::PlannedStep;
use crate::system::RunningSystem;
use crate::vector_sets::VectorSets;

/// The seed of tables for later runs, where the plan sets none.
const SEED_OF_REUSED_TABLES: u64 = 1;

/// What a run is carried out with.
pub(crate) struct RunContext<'a> {
    pub(crate) plan: &'a Plan,
    /// Those of all launches of the servers, one launch after the other.
    pub(crate) steps: Vec<PlannedStep>,
    pub(crate) environment: &'a Environment,
    /// The vectors that its suites search.
    pub(crate) vectors: VectorSets,
    /// CPUs that rqps may use.
    pub(crate) cpus: Vec<usize>,
    pub(crate) run_id: String,
    pub(crate) seed: u64,
    /// How often the run was interrupted and resumed.
    pub(crate) n_resumed: u32,
    /// The launch of the servers that is under way, from 0.
    pub(crate) launch: u32,
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

    /// The steps of all launches.
    pub(crate) fn all_steps(&self) -> impl DoubleEndedIterator<Item = StepIdx> + Clone + use<> {
        StepIdx(0).until(StepIdx(self.steps.len()))
    }

    /// How often the servers are launched in all.
    pub(crate) fn n_launches(&self) -> u32 {
        self.steps.last().map_or(0, |last| last.launch + 1)
    }

    /// The steps of the launch of the servers that is under way.
    pub(crate) fn steps_of_launch(
        &self,
    ) -> impl DoubleEndedIterator<Item = StepIdx> + Clone + use<> {
        self.steps_of(self.launch)
    }

    /// The steps of any of them.
    pub(crate) fn steps_of(
        &self,
        launch: u32,
    ) -> impl DoubleEndedIterator<Item = StepIdx> + Clone + use<> {
        let before = |launch: u32| StepIdx(self.steps.partition_point(|s| s.launch < launch));
        before(launch).until(before(launch + 1))
    }

    /// The set of data that the launch under way is on, from 0.
    pub(crate) fn load(&self) -> u32 {
        self.steps_of_launch().next().map_or(0, |first| self.step(first).load)
    }

    /// The steps on a set of data, of all launches.
    pub(crate) fn steps_of_load(
        &self,
        load: u32,
    ) -> impl DoubleEndedIterator<Item = StepIdx> + Clone + use<> {
        let before = |load: u32| StepIdx(self.steps.partition_point(|s| s.load < load));
        before(load).until(before(load + 1))
    }

    /// The first step on the data of the launch under way.
    pub(crate) fn first_step(&self) -> StepIdx {
        StepIdx(self.steps.partition_point(|s| s.load < self.load()))
    }

    /// What comes after the last step of the launch under way.
    pub(crate) fn end_of_launch(&self) -> StepIdx {
        StepIdx(self.steps.partition_point(|s| s.launch <= self.launch))
    }

    /// Whether the next launch is on the data of the one under way.
    pub(crate) fn is_followed(&self) -> bool {
        let end = self.end_of_launch();
        self.steps.get(end.0).is_some_and(|next| next.load == self.load())
    }

    /// The step that has filled the tables that a step uses; none before the first load.
    pub(crate) fn filled_by(&self, step: StepIdx) -> Option<StepIdx> {
        let load = self.step(step).load;
        self.steps_of_load(load).rev().find(|&at| at <= step && self.step(at).fills())
    }

    /// The last step that made the tables that a step finds: their load, or their indexes.
    pub(crate) fn made_by(&self, step: StepIdx) -> Option<StepIdx> {
        let load = self.step(step).load;
        self.steps_of_load(load).rev().find(|&at| at < step && self.step(at).makes_tables())
    }

    /// The Insert Benchmark's schema on a system.
    pub(crate) fn schema(&self, system: SystemIdx, args: &InsertArgs) -> Schema {
        let spec = self.spec(system);
        Schema::new(args, spec.dbms, spec.engine, spec.variant.compression)
    }

    /// What the tables of a suite from a file are made of on a system.
    pub(crate) fn load_spec(&self, system: SystemIdx, args: &SuiteArgs) -> LoadSpec {
        let spec = self.spec(system);
        // One seed for all: every system holds the same rows.
        LoadSpec::new(args, spec.dbms, spec.engine, self.seed_of_tables())
            .compressed(spec.variant.compression)
    }

    /// What the rows of the tables are drawn from. Tables for later runs have a seed that does not change from run to
    /// run.
    fn seed_of_tables(&self) -> u64 {
        let is_drawn = self.plan.seed.is_none();
        if self.plan.reuses_tables() && is_drawn { SEED_OF_REUSED_TABLES } else { self.seed }
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
        waits
            || error.downcast_ref::<BrokenTables>().is_some()
            || error.downcast_ref::<rqps_store::Error>().is_some()
            || self.is_interrupted()
    }
}
