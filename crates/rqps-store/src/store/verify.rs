//! The soundness of a store: the database's own, what its rows say of one another, and the files beside
//! it. Reads everything and changes nothing.

use std::collections::BTreeSet;
use std::path::Path;

use rqps_model::{Run, RunStatus, StepOutcome};

use crate::store::Store;
use crate::{Error, RunRef};

/// Findings of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// Runs that were read.
    pub n_runs: usize,
    /// Slices that were read.
    pub n_slices: usize,
    /// Something is lost or damaged.
    pub problems: Vec<String>,
    /// Notes: interrupted runs, directories without a run.
    pub notes: Vec<String>,
}

impl Store {
    /// Reads the whole store and checks it.
    ///
    /// # Errors
    /// When it cannot be read at all; damage is no error here.
    pub fn verify(&self) -> Result<Verified, Error> {
        let mut found = Verified::default();
        match self.integrity_check() {
            Ok(()) => {}
            Err(Error::NotADatabase { problem, .. }) => {
                found.problems.extend(problem.split("; ").map(str::to_owned));
            }
            Err(other) => return Err(other),
        }
        let runs = self.list_runs()?;
        for summary in &runs {
            // Held by whoever measures it: what it says may be true no more in a moment.
            let is_held = self.is_held(&summary.id).unwrap_or(false);
            match self.select_run(&RunRef::Id(summary.id.clone())) {
                Ok(run) => {
                    found.n_runs += 1;
                    found.n_slices += n_slices(&run);
                    let problems = problems_of(&run).into_iter();
                    found.problems.extend(problems.map(|text| format!("run {}: {text}", run.id)));
                    found.notes.extend(note_on(&run, is_held));
                }
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
                    found.problems.push(format!("{error}{cause}"));
                }
            }
            self.verify_files(&summary.id, &mut found)?;
        }
        let known: BTreeSet<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        for name in dirs_in(&self.dir().join("artifacts")) {
            if !known.contains(name.as_str()) {
                let dir = self.dir().join("artifacts").join(name);
                found.notes.push(format!("{} belongs to no run", dir.display()));
            }
        }
        Ok(found)
    }

    fn verify_files(&self, run_id: &str, found: &mut Verified) -> Result<(), Error> {
        let dir = self.artifact_path(run_id)?;
        for artifact in self.list_artifacts(run_id)? {
            let path = dir.join(&artifact.path);
            if !path.is_file() {
                let (what, path) = (&artifact.what, path.display());
                found.problems.push(format!("run {run_id}: {path} ({what}) is missing"));
            }
        }
        Ok(())
    }
}

fn n_slices(run: &Run) -> usize {
    run.steps.iter().flat_map(|step| &step.systems).map(|system| system.slices.len()).sum()
}

/// What of a run contradicts itself.
fn problems_of(run: &Run) -> Vec<String> {
    let mut problems = Vec::new();
    let is_of_nothing = |system: Option<usize>| system.is_some_and(|idx| idx >= run.systems.len());
    if run.warnings.iter().any(|warning| is_of_nothing(warning.scope.system())) {
        problems.push("a warning names a system that the run does not have".to_owned());
    }
    for step in &run.steps {
        let name = &step.info.name;
        if step.systems.len() != run.systems.len() {
            let (n, of) = (step.systems.len(), run.systems.len());
            problems.push(format!("step {name} has {n} of {of} systems"));
        }
        for (state, system) in step.systems.iter().zip(&run.systems) {
            let label = &system.spec.label;
            let has_gap = (0_u32..).zip(&state.slices).any(|(idx, slice)| slice.idx != idx);
            if has_gap {
                problems.push(format!("slices of step {name} on {label} are missing"));
            }
            if run.status == RunStatus::Finished && state.outcome == StepOutcome::Pending {
                problems.push(format!("the run is finished, but step {name} on {label} is not"));
            }
            if state.outcome == StepOutcome::Done && state.slices.is_empty() {
                problems.push(format!("step {name} on {label} is done but has no slice"));
            }
        }
    }
    problems
}

fn note_on(run: &Run, is_held: bool) -> Option<String> {
    let id = &run.id;
    match run.status {
        RunStatus::Running if is_held => Some(format!("run {id} is being measured")),
        RunStatus::Running => {
            Some(format!("run {id} ended unexpectedly; the command that began it resumes it"))
        }
        RunStatus::Interrupted => Some(format!("run {id} was interrupted")),
        RunStatus::Failed => Some(format!("run {id} is incomplete")),
        RunStatus::Finished => None,
    }
}

/// The directories in `parent`, by name.
fn dirs_in(parent: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> =
        dirs.filter_map(|entry| entry.file_name().to_str().map(str::to_owned)).collect();
    names.sort();
    names
}
