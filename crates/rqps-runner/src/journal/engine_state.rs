//! What an engine tells of its own state at the end of each step: a file per system of the run, a
//! line of JSON per step.

use std::fs::OpenOptions;
use std::io::Write as _;

use anyhow::Result;
use rqps_model::SystemIdx;
use rqps_store::Artifact;

use crate::journal::Journal;
use crate::plan::steps::PlannedStep;
use crate::system::RunningSystem;

/// Adds the state after `step` to the system's file, when its engine has one to tell.
pub(crate) fn keep(
    journal: &Journal<'_>,
    system: SystemIdx,
    step: &PlannedStep,
    up: &mut RunningSystem,
) -> Result<()> {
    let Some(state) = up.lsm_state()? else { return Ok(()) };
    let path = format!("engine-{system}.jsonl");
    let file = journal.artifact_dir()?.join(&path);
    let line = state.to_json_line(&step.info.name, step.clients);
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&file)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        // Of the store's directory, as which it is told from a failure of the system.
        .map_err(|source| rqps_store::Error::File { action: "write", path: file, source })?;
    let label = &journal.run.systems[system.0].spec.label;
    let what = format!("levels, sizes and debt of {label} after each step");
    journal.store.insert_artifact(&journal.run.id, &Artifact { path, what })?;
    Ok(())
}
