//! The journal of a run: the one way into the store, and to whoever shows progress. What is stored is kept in
//! memory as well, as the run stands.

pub(crate) mod announce;
pub(crate) mod begin;
pub(crate) mod engine_state;
mod run_id;
pub(crate) mod step_record;
pub(crate) mod warnings;

use anyhow::Result;
use rqps_model::{
    QueryPlan, Recall, Run, RunStatus, Slice, StepIdx, StepOutcome, SystemIdx, SystemStep,
    TableState,
};
use rqps_stacks::profile::StackProfile;
use rqps_store::{RunRef, Store, unix_ms};

use crate::event::{Event, Listener};
use crate::plan::steps::PlannedStep;

/// The journal of a run.
pub(crate) struct Journal<'a> {
    store: &'a Store,
    run: Run,
    listen: &'a mut Listener<'a>,
    excluded: Vec<Excluded>,
}

/// A system that is not measured further.
#[derive(Debug)]
pub(crate) struct Excluded {
    pub(crate) system: SystemIdx,
    pub(crate) error: anyhow::Error,
}

impl<'a> Journal<'a> {
    pub(crate) fn new(store: &'a Store, run: Run, listen: &'a mut Listener<'a>) -> Self {
        Self { store, run, listen, excluded: Vec::new() }
    }

    /// The run as it stands.
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// A step on a system as it stands.
    pub(crate) fn cell(&self, step: StepIdx, system: SystemIdx) -> &SystemStep {
        self.run.cell(step, system)
    }

    /// The same, for what is stored with the outcome.
    pub(crate) fn cell_mut(&mut self, step: StepIdx, system: SystemIdx) -> &mut SystemStep {
        self.run.cell_mut(step, system)
    }

    pub(crate) fn is_pending(&self, step: StepIdx, system: SystemIdx) -> bool {
        self.cell(step, system).outcome == StepOutcome::Pending
    }

    /// The first of some steps that a system has not done.
    pub(crate) fn first_pending(
        &self,
        mut steps: impl Iterator<Item = StepIdx>,
        system: SystemIdx,
    ) -> Option<StepIdx> {
        steps.find(|&step| self.is_pending(step, system))
    }

    /// How many steps of all systems are not pending.
    pub(crate) fn n_done(&self) -> usize {
        let cells = self.run.steps.iter().flat_map(|step| &step.systems);
        cells.filter(|cell| cell.outcome != StepOutcome::Pending).count()
    }

    /// Shows how far something has come.
    pub(crate) fn tell(&mut self, event: Event<'_>) {
        (self.listen)(event);
    }

    /// Says a sentence.
    pub(crate) fn note(&mut self, sentence: &str) {
        (self.listen)(Event::Note(sentence));
    }

    /// Who is told.
    pub(crate) fn listener(&mut self) -> &mut Listener<'a> {
        self.listen
    }

    /// Stores a load's slice, or that of the indexes, unless an attempt that was interrupted while it settled has
    /// done so.
    pub(crate) fn keep_slice(
        &mut self,
        step: StepIdx,
        system: SystemIdx,
        slice: Slice,
    ) -> Result<()> {
        if self.cell(step, system).slices.is_empty() {
            self.keep_block(step, vec![(system, slice)])?;
        }
        Ok(())
    }

    /// Stores a slice of each system.
    fn keep_block(&mut self, step: StepIdx, block: Vec<(SystemIdx, Slice)>) -> Result<()> {
        let refs: Vec<(usize, &Slice)> = block.iter().map(|(idx, slice)| (idx.0, slice)).collect();
        self.store.insert_block(&self.run.id, step.0, &refs)?;
        for (system, slice) in block {
            self.run.cell_mut(step, system).slices.push(slice);
        }
        Ok(())
    }

    /// Stores how a step ended on a system.
    pub(crate) fn keep_outcome(
        &mut self,
        step: StepIdx,
        system: SystemIdx,
        outcome: StepOutcome,
    ) -> Result<()> {
        self.run.cell_mut(step, system).outcome = outcome;
        let cell = self.run.cell(step, system);
        self.store.set_outcome(&self.run.id, step.0, system.0, cell)?;
        Ok(())
    }

    /// Stores how a system goes about the statements of a step.
    pub(crate) fn keep_plans(
        &mut self,
        step: StepIdx,
        system: SystemIdx,
        plans: Vec<QueryPlan>,
    ) -> Result<()> {
        self.store.insert_plans(&self.run.id, step.0, system.0, &plans)?;
        self.run.cell_mut(step, system).plans = plans;
        Ok(())
    }

    /// Stores the recall of a search on a system.
    pub(crate) fn keep_recall(
        &mut self,
        step: StepIdx,
        system: SystemIdx,
        recall: Recall,
    ) -> Result<()> {
        self.store.insert_recall(&self.run.id, step.0, system.0, &recall)?;
        let start = self.run.steps[step.0].start;
        self.run.cell_mut(step, system).recalls.insert(start, recall);
        Ok(())
    }

    /// Stores facts of the tables of a step on a system.
    pub(crate) fn keep_table_state(
        &mut self,
        step: StepIdx,
        system: SystemIdx,
        state: TableState,
    ) -> Result<()> {
        self.store.keep_table_state(&self.run.id, step.0, system.0, &state)?;
        self.run.cell_mut(step, system).table_state.extend(state);
        Ok(())
    }

    /// Stores a stack profile.
    pub(crate) fn keep_profile(
        &mut self,
        profile: &StackProfile,
        step: &PlannedStep,
    ) -> Result<()> {
        let label = &self.run.systems[profile.system_idx].spec.label;
        let names = (step.info.name.as_str(), label.as_str());
        Ok(self.store.insert_stack_profile(&self.run.id, profile, names)?)
    }

    /// The stack profiles that an earlier attempt has stored.
    pub(crate) fn stored_profiles(&self) -> Result<Vec<StackProfile>> {
        Ok(self.store.select_stack_profiles(&RunRef::Id(self.run.id.clone()))?)
    }

    /// Stores that the run ended.
    pub(crate) fn end(&self, status: RunStatus) -> Result<(), rqps_store::Error> {
        self.store.set_run_status(&self.run.id, status, Some(unix_ms()))
    }

    /// The directory of what belongs to the run beside the database.
    pub(crate) fn artifact_dir(&self) -> Result<std::path::PathBuf> {
        Ok(self.store.artifact_dir(&self.run.id)?)
    }

    /// The systems that are not measured further.
    pub(crate) fn excluded(&self) -> &[Excluded] {
        &self.excluded
    }

    pub(crate) fn into_excluded(self) -> Vec<Excluded> {
        self.excluded
    }
}
