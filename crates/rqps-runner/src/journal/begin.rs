//! How a run begins: an unfinished run of the same plan is resumed, else a new one is made.

use std::fs;

use anyhow::{Context as _, Result};
use rqps_model::warning::LastSlice;
use rqps_model::{
    Calibration, Host, Imported, Placement, Run, RunStatus, RunStep, RunSystem, Scope, Slice,
    SystemSource, WarningKind,
};
use rqps_store::{Error, RunLock, RunRef, Store, unix_ms};
use sha2::{Digest as _, Sha256};

use crate::Plan;
use crate::environment::Environment;
use crate::event::{Event, Listener};
use crate::journal::run_id;
use crate::journal::warnings::now;
use crate::plan::steps::PlannedStep;
use crate::plan::{limits, placement};

/// How often other processes may take the ids of imported runs first.
const MAX_TAKEN_IDS: u32 = 100;

/// A run under way, which no other process works on.
pub(crate) struct Begun {
    pub(crate) run: Run,
    pub(crate) lock: RunLock,
    /// Its steps, placed as they were when it began.
    pub(crate) steps: Vec<PlannedStep>,
}

/// A plan's steps on a host.
pub(crate) struct OnHost<'a> {
    /// Placed as they would be now.
    pub(crate) steps: Vec<PlannedStep>,
    /// Those that rqps may use.
    pub(crate) cpus: &'a [usize],
    pub(crate) host: &'a Host,
}

/// The unfinished run of the same plan on the same host by the same version of rqps, or a new one.
pub(crate) fn run(
    plan: &Plan,
    on_host: OnHost<'_>,
    store: &Store,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<Begun> {
    let OnHost { steps, cpus, host } = on_host;
    if !environment.new_run
        && let Some((mut run, lock)) = taken_up(&plan.to_toml(), store)?
    {
        let mut placed = steps.clone();
        adopt_placements(plan, &mut placed, &run.steps, cpus);
        let why = why_not(&run, &placed, host, environment);
        match why.or_else(|| was_edited(store, &run.id, &placed)) {
            None => {
                let warning = now(Scope::Run, WarningKind::RunResumed { last: last_slice(&run) });
                store.mark_resumed(&run.id, &warning)?;
                run.warnings.push(warning);
                return Ok(Begun { run, lock, steps: placed });
            }
            Some(why) => listen(Event::Note(&format!(
                "the unfinished run {} of this plan cannot be resumed: {why}; a new run begins",
                run.id
            ))),
        }
    }
    let (run, lock) = created(plan, &steps, host, store, environment)?;
    Ok(Begun { run, lock, steps })
}

/// The latest unfinished run of a plan, held by this process and read after that: what another process
/// did of it up to then is in it.
fn taken_up(plan: &str, store: &Store) -> Result<Option<(Run, RunLock)>> {
    let latest = || -> Result<Option<String>> {
        let mut all = store.list_unfinished()?.into_iter();
        Ok(all.find(|unfinished| unfinished.plan == plan).map(|unfinished| unfinished.run_id))
    };
    let mut seen = latest()?;
    while let Some(run_id) = seen {
        let lock = store.lock_run(&run_id)?;
        seen = latest()?;
        if seen.as_ref() == Some(&run_id) {
            return Ok(Some((store.select_run(&RunRef::Id(run_id))?, lock)));
        }
        // Finished or removed by another process meanwhile.
    }
    Ok(None)
}

/// The slice of a run that was stored last, before it was interrupted.
fn last_slice(run: &Run) -> Option<LastSlice> {
    let cells = run.steps.iter().flat_map(|step| {
        let systems = step.systems.iter().zip(&run.systems);
        systems.map(move |(state, system)| (step, &system.spec.label, state))
    });
    // The slices of all systems are in a block's time, each with its own part.
    let end = |step: &RunStep, slice: &Slice| {
        let is_same = |other: &&Slice| other.idx == slice.idx && other.n_rounds.is_some();
        let of_all = step.systems.iter().flat_map(|state| &state.slices).filter(is_same);
        let ns = match slice.n_rounds {
            Some(_) => of_all.map(|slice| slice.duration_ns).sum(),
            None => slice.duration_ns,
        };
        slice.start_unix_ms + i64::try_from(ns / 1_000_000).unwrap_or(0)
    };
    let slices = cells.flat_map(|(step, label, state)| {
        state.slices.iter().map(move |slice| (end(step, slice), step, label, slice))
    });
    let (until_unix_ms, step, label, slice) = slices.max_by_key(|(end, ..)| *end)?;
    let system = slice.n_rounds.is_none().then(|| label.0.clone());
    let (step, n_clients) = (step.info.name.clone(), step.clients);
    Some(LastSlice { step, n_clients, system, until_unix_ms })
}

/// Places the steps as those of the run are where the plan leaves that to rqps: a calibration that was
/// made after the run began is for runs that begin after it.
fn adopt_placements(plan: &Plan, steps: &mut [PlannedStep], stored: &[RunStep], cpus: &[usize]) {
    if plan.placement != Placement::Auto {
        return;
    }
    let all_local = plan.systems.iter().all(|s| !matches!(s.source, SystemSource::External { .. }));
    let cpus = limits::narrowest(plan, cpus);
    for (step, stored) in steps.iter_mut().zip(stored) {
        let can_be_had =
            placement::resolve(stored.placement, stored.clients, &cpus, all_local, None);
        if can_be_had.is_ok() {
            step.placement = stored.placement;
        }
    }
}

/// Why a run of the same plan cannot be resumed: another rqps would measure it, a suite file may have
/// been edited since, and the host may have become another or got another kernel. Rates of other steps or
/// of another host must not pass for this run's.
fn why_not(
    run: &Run,
    planned: &[PlannedStep],
    host: &Host,
    environment: &Environment,
) -> Option<String> {
    let Environment { rqps_version, .. } = environment;
    if run.rqps_version != *rqps_version {
        return Some(format!("rqps {} began it, this is rqps {rqps_version}", run.rqps_version));
    }
    if let Some(why) = other_host(&run.host, host) {
        return Some(why);
    }
    if run.steps.len() != planned.len() {
        let (was, now) = (run.steps.len(), planned.len());
        return Some(format!("its suite had {was} steps and now has {now}"));
    }
    run.steps.iter().zip(planned).find_map(|(stored, planned)| {
        let name = &stored.info.name;
        if stored.info != planned.info
            || stored.clients != planned.clients
            || stored.start != planned.start
        {
            return Some(format!("step {name} has changed"));
        }
        (stored.placement != planned.placement).then(|| {
            let (was, now) = (stored.placement, planned.placement);
            format!("the placement of step {name} was {was} and is now {now}")
        })
    })
}

/// Why a run whose steps have the same names and statements cannot be resumed: what else a suite file says of them,
/// such as the parameters of a statement, is another than when it began.
fn was_edited(store: &Store, run_id: &str, planned: &[PlannedStep]) -> Option<String> {
    let was = store.artifact_dir(run_id).map(|dir| fs::read_to_string(dir.join(STEPS)));
    let is_same = matches!(was, Ok(Ok(was)) if was == digest(planned));
    (!is_same).then(|| "its suite file has changed".to_owned())
}

/// The file of a run that tells its steps from those of an edited suite.
const STEPS: &str = "steps.sha256";

/// A hash of all that steps do.
fn digest(steps: &[PlannedStep]) -> String {
    let mut hash = Sha256::new();
    steps.iter().for_each(|step| hash.update(format!("{:?}\n", step.job)));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How a host is not what it was when a run began, where that changes rates.
fn other_host(was: &Host, now: &Host) -> Option<String> {
    let texts = [
        ("kernel", was.kernel.clone(), now.kernel.clone()),
        ("CPU", was.cpu_model.clone(), now.cpu_model.clone()),
        ("storage", was.storage_kind(), now.storage_kind()),
    ];
    let differs = |(_, was, now): &(&str, String, String)| was != now;
    if let Some((what, was, now)) = texts.into_iter().find(differs) {
        return Some(format!("the host's {what} was {was:?} and is now {now:?}"));
    }
    // Runs of before it was recorded are resumed, and so are those on a file system that has none.
    if let (Some(was), Some(now)) = (was.read_ahead_kb, now.read_ahead_kb)
        && was != now
    {
        return Some(format!("the host's read-ahead was {was} KB and is now {now} KB"));
    }
    if was.n_cpus != now.n_cpus {
        return Some(format!("the host had {} CPUs and now has {}", was.n_cpus, now.n_cpus));
    }
    // Kernels keep some of it for themselves, not the same at each boot.
    let (less, more) =
        (was.memory_bytes.min(now.memory_bytes), was.memory_bytes.max(now.memory_bytes));
    (less < more / 20 * 19).then(|| {
        let mib = |bytes: u64| bytes >> 20;
        let (was, now) = (mib(was.memory_bytes), mib(now.memory_bytes));
        format!("the host had {was} MiB of memory and now has {now} MiB")
    })
}

/// A new run, held by this process before anybody can see it.
fn created(
    plan: &Plan,
    steps: &[PlannedStep],
    host: &Host,
    store: &Store,
    environment: &Environment,
) -> Result<(Run, RunLock)> {
    let started_unix_ms = unix_ms();
    let systems: Vec<RunSystem> =
        plan.systems.iter().map(|spec| RunSystem::new(spec.clone())).collect();
    let pending: Vec<RunStep> = steps.iter().map(|s| s.pending(systems.len())).collect();
    let (id, lock) = new_id(started_unix_ms, &plan.name, store)?;
    let run = Run {
        id,
        name: plan.name.clone(),
        status: RunStatus::Running,
        started_unix_ms,
        finished_unix_ms: None,
        n_resumed: 0,
        rqps_version: environment.rqps_version.clone(),
        command_line: environment.command_line.clone(),
        plan: plan.to_toml(),
        seed: plan.seed.unwrap_or(environment.drawn_seed),
        schedule: plan.schedule,
        host: host.clone(),
        imported: None,
        calibration: plan.calibration.as_ref().map(Calibration::summary),
        warnings: Vec::new(),
        base: plan.base,
        systems,
        steps: pending,
    };
    let file = store.artifact_dir(&run.id)?.join(STEPS);
    fs::write(&file, digest(steps)).with_context(|| format!("write {}", file.display()))?;
    store.create_run(&run)?;
    Ok((run, lock))
}

/// Stores imported runs together, each under its own id, and returns the ids. If the process is killed first,
/// none is stored.
///
/// # Errors
/// When the store cannot be written.
pub fn keep_imported(mut runs: Vec<Run>, store: &Store) -> Result<Vec<String>> {
    let is_of_unknown_host: Vec<bool> = runs
        .iter()
        .map(|run| run.imported.is_some() && run.host.hostname == Imported::UNKNOWN_HOST)
        .collect();
    for left in (0..MAX_TAKEN_IDS).rev() {
        let mut taken: Vec<String> = store.list_runs()?.into_iter().map(|run| run.id).collect();
        for (run, is_of_unknown_host) in runs.iter_mut().zip(&is_of_unknown_host) {
            // Another process may hold the id of a run that it is about to store.
            let is_taken = |id: &str| {
                taken.iter().any(|taken| taken == id) || store.is_held(id).unwrap_or(false)
            };
            run.id = run_id::make(run.started_unix_ms, &run.name, is_taken);
            taken.push(run.id.clone());
            // Runs of hosts that nobody names are not of one host for all that is known.
            if *is_of_unknown_host {
                run.host.hostname = format!("{} ({})", Imported::UNKNOWN_HOST, run.id);
            }
        }
        match store.create_runs(&runs) {
            // Another process stored one between the look and the transaction.
            Err(Error::Exists { .. }) if left > 0 => {}
            stored => {
                stored?;
                break;
            }
        }
    }
    Ok(runs.into_iter().map(|run| run.id).collect())
}

/// An id that no run has and that no other process is about to give to one.
fn new_id(started_unix_ms: i64, name: &str, store: &Store) -> Result<(String, RunLock)> {
    let mut held: Vec<String> = Vec::new();
    loop {
        let taken = |id: &str| -> Result<bool> {
            Ok(held.iter().any(|held| held == id)
                || store.list_runs()?.iter().any(|run| run.id == id))
        };
        // An error counts as taken for the moment and is met again below.
        let id = run_id::make(started_unix_ms, name, |id| taken(id).unwrap_or(false));
        match store.lock_run(&id) {
            // Another process may have made it between the look and the lock.
            Ok(lock) if !taken(&id)? => return Ok((id, lock)),
            Ok(_) | Err(Error::RunInUse { .. }) => held.push(id),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
