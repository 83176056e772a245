//! How a run begins: an unfinished one of the same plan goes on, else a new one is made.

use anyhow::{Context as _, Result};
use rqps_model::{Calibration, Run, RunStatus, RunStep, RunSystem};
use rqps_store::{RunLock, Store};

use crate::measure::unix_ms;
use crate::run::Context;
use crate::steps::PlannedStep;
use crate::{Plan, run_id};

/// The unfinished run of the same plan by the same version of rqps, or a new one.
pub(crate) fn run(
    plan: &Plan,
    steps: &[PlannedStep],
    store: &Store,
    context: &Context,
) -> Result<(Run, RunLock)> {
    let text = plan.to_toml();
    if !context.anew
        && let Some(run) = store.select_latest_unfinished(&text)?
        && run.rqps_version == context.rqps_version
        && is_of(&run.steps, steps)
    {
        let lock = store.lock_run(&run.id)?;
        store.mark_resumed(&run.id)?;
        return Ok((run, lock));
    }
    let started_unix_ms = unix_ms();
    let taken = store.list_runs()?;
    let host = rqps_sample::host_info(&context.results).context("describe this host")?;
    let systems: Vec<RunSystem> = plan
        .systems
        .iter()
        .map(|spec| RunSystem {
            spec: spec.clone(),
            version: None,
            version_text: String::new(),
            origin: String::new(),
            settings: std::collections::BTreeMap::new(),
            session: std::collections::BTreeMap::new(),
            process: std::collections::BTreeMap::new(),
            build: std::collections::BTreeMap::new(),
            origins: std::collections::BTreeMap::new(),
        })
        .collect();
    let pending: Vec<RunStep> = steps.iter().map(|s| s.pending(systems.len())).collect();
    let run = Run {
        id: run_id::of(started_unix_ms, &plan.name, |id| taken.iter().any(|run| run.id == id)),
        name: plan.name.clone(),
        status: RunStatus::Running,
        started_unix_ms,
        finished_unix_ms: None,
        n_resumed: 0,
        rqps_version: context.rqps_version.clone(),
        command_line: context.command_line.clone(),
        plan: text,
        seed: plan.seed.unwrap_or(context.drawn_seed),
        schedule: plan.schedule,
        host,
        calibration: plan.calibration.as_ref().map(Calibration::summary),
        base: plan.base,
        systems,
        steps: pending,
    };
    store.create_run(&run)?;
    let lock = store.lock_run(&run.id)?;
    Ok((run, lock))
}

/// Whether a run's steps are these: a suite file may have been edited since, and the host's CPUs may
/// have become others. Figures of other steps must not pass for the same step's.
fn is_of(stored: &[RunStep], planned: &[PlannedStep]) -> bool {
    let same = |(stored, planned): (&RunStep, &PlannedStep)| {
        stored.info == planned.info
            && stored.clients == planned.clients
            && stored.placement == planned.placement
            && stored.start == planned.start
    };
    stored.len() == planned.len() && stored.iter().zip(planned).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanFile, steps};

    #[test]
    fn a_run_goes_on_with_its_own_steps_alone() {
        let text = "[[system]]\ndbms = \"postgres\"\nversion = \"17.4\"\n";
        let plan = PlanFile::parse(text, "test")
            .unwrap()
            .resolve("test", &rqps_server::Catalogue::builtin().unwrap())
            .unwrap();
        let planned = steps::of_plan(&plan, &[0, 1], true).unwrap();
        let stored: Vec<RunStep> = planned.iter().map(|s| s.pending(1)).collect();
        assert!(is_of(&stored, &planned));
        let mut edited = planned.clone();
        edited[3].info.what.push_str(" with another n");
        assert!(!is_of(&stored, &edited));
        assert!(!is_of(&stored[1..], &planned));
    }
}
