//! Data directories that interrupted runs did not remove. An unfinished run resumes with whole ones.
//! Nobody resumes with others, or with those of calibrations, audits and shells.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rqps_server::{Wishes, instance, places};
use rqps_store::{RunLock, Store};

use crate::environment::Environment;
use crate::event::{Event, Listener};

/// A data directory that a run left.
#[derive(Debug)]
pub struct Leftover {
    /// Where it is, or was.
    pub dir: PathBuf,
    /// Why it still exists: it is not marked as rqps's, is in use, or cannot be deleted.
    pub kept: Option<rqps_server::Error>,
}

/// Removes the data directories of a run that are marked as rqps's and not in use. The lock proves that no
/// process works on the run.
#[must_use]
pub fn remove_data(run_id: &str, _lock: &RunLock, environment: &Environment) -> Vec<Leftover> {
    let removed = |dir: PathBuf| Leftover { kept: clear(&dir, environment).err(), dir };
    data_dirs(run_id, environment).into_iter().map(removed).collect()
}

/// What servers are started for beside runs; their directories are named after it and the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Calibrate,
    Audit,
    Sandbox,
}

impl Purpose {
    const ALL: [Self; 3] = [Self::Calibrate, Self::Audit, Self::Sandbox];

    /// What left a directory: `a shell`.
    fn what(self) -> &'static str {
        match self {
            Self::Calibrate => "a calibration",
            Self::Audit => "an audit",
            Self::Sandbox => "a shell",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Calibrate => "calibrate",
            Self::Audit => "audit",
            Self::Sandbox => "sandbox",
        }
    }

    /// The name of the directory of its server `idx` in this process.
    pub(crate) fn tag(self, idx: usize) -> String {
        format!("{}-{}-{idx}", self.word(), std::process::id())
    }

    /// Whether a directory has such a name.
    fn is_of(self, name: &str) -> bool {
        let mut parts = name.split('-');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.next() == Some(self.word()) && name.contains('-') && parts.all(is_number)
    }
}

/// Removes the data of servers that were started for no run by a process that was killed, and tells of
/// each. What is not marked as ours, or in use, stays.
pub(crate) fn sweep_strays(environment: &Environment, listen: &mut Listener<'_>) {
    for dir in places_of_data(environment).iter().flat_map(|parent| strays_of(parent)) {
        let Some(name) = dir.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(purpose) = Purpose::ALL.into_iter().find(|p| p.is_of(name)) else { continue };
        let what = purpose.what();
        // Another process may be at work in it, or not have marked it yet.
        match instance::is_ours(&dir).then(|| clear(&dir, environment)) {
            Some(Ok(())) => listen(Event::Note(&format!(
                "removed {}, left by {what} that was killed",
                dir.display()
            ))),
            None | Some(Err(rqps_server::Error::InUse { .. })) => {}
            Some(Err(error)) => {
                listen(Event::Note(&format!("{} stays: {error}", dir.display())));
            }
        }
    }
}

/// The directories in `parent` that are named after a purpose and a process.
fn strays_of(parent: &Path) -> Vec<PathBuf> {
    let is_one = |name: &str| Purpose::ALL.into_iter().any(|purpose| purpose.is_of(name));
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_one));
    let mut found: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Removes the data of all runs of a store that no process works on and that cannot resume with them. Removes those of
/// servers that were started for no run, too. Reports each, and what stays.
pub(crate) fn sweep(
    store: &Store,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<(), rqps_store::Error> {
    sweep_strays(environment, listen);
    let unfinished = latest_unfinished(store)?;
    for run in store.list_runs()? {
        let dirs = data_dirs(&run.id, environment);
        if dirs.is_empty() {
            continue;
        }
        // Another process is at work on it, or this one is.
        let Ok(_lock) = store.lock_run(&run.id) else { continue };
        let id = &run.id;
        for dir in dirs {
            let shown = dir.display();
            let is_of_use = unfinished.contains(id) && instance::note_on(&dir).is_some();
            listen(Event::Note(&if is_of_use {
                format!(
                    "the unfinished run {id} keeps its data in {shown}; its command resumes the run, \
                     `rqps runs rm {id}` removes both"
                )
            } else {
                match clear(&dir, environment) {
                    Ok(()) => format!("removed {shown}, left by run {id} when it was killed"),
                    Err(error) => {
                        format!("{shown} has the name of data of run {id}, but stays: {error}")
                    }
                }
            }));
        }
    }
    Ok(())
}

/// The runs that the same command resumes: of each plan the latest that has not finished.
fn latest_unfinished(store: &Store) -> Result<BTreeSet<String>, rqps_store::Error> {
    let mut plans = BTreeSet::new();
    let mut all = store.list_unfinished()?;
    all.retain(|run| plans.insert(run.plan.clone()));
    Ok(all.into_iter().map(|run| run.run_id).collect())
}

/// Removes a data directory and the directory of its server's socket.
pub(crate) fn clear(dir: &Path, environment: &Environment) -> Result<(), rqps_server::Error> {
    instance::clear(dir)?;
    let data = environment.results.join("data");
    let wishes = Wishes { cache: &environment.cache, data: &data, temp: &environment.temp };
    for sockets in places::existing_sockets(&wishes) {
        instance::clear_socket(&sockets, dir);
    }
    Ok(())
}

fn data_dirs(run_id: &str, environment: &Environment) -> Vec<PathBuf> {
    let places = places_of_data(environment);
    let mut found: Vec<PathBuf> =
        places.iter().flat_map(|parent| dirs_of(run_id, parent)).collect();
    found.sort();
    found
}

/// The same, each with the place of its system in the run.
pub(crate) fn dirs_of_systems(run_id: &str, environment: &Environment) -> Vec<(usize, PathBuf)> {
    let dirs = data_dirs(run_id, environment).into_iter();
    dirs.filter_map(|dir| {
        let idx = dir.file_name()?.to_str()?.rsplit('-').next()?.parse().ok()?;
        Some((idx, dir))
    })
    .collect()
}

fn places_of_data(environment: &Environment) -> Vec<PathBuf> {
    let data = environment.results.join("data");
    let wishes = Wishes { cache: &environment.cache, data: &data, temp: &environment.temp };
    places::existing_data(&wishes)
}

/// The directories in `parent` that are named after a run and one of its systems: `RUN-0`.
fn dirs_of(run_id: &str, parent: &Path) -> Vec<PathBuf> {
    let is_of_run = |name: &str| {
        let system = name.strip_prefix(run_id).and_then(|rest| rest.strip_prefix('-'));
        system.is_some_and(|idx| !idx.is_empty() && idx.bytes().all(|b| b.is_ascii_digit()))
    };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.filter(|e| e.file_name().to_str().is_some_and(is_of_run)).map(|e| e.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_run_s_systems_count() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["a-0", "a-12", "a-2-0", "a-", "a", "ab-0", "b-0", "a-x"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        let mut found = dirs_of("a", parent.path());
        found.sort();
        assert_eq!(found, [parent.path().join("a-0"), parent.path().join("a-12")]);
        assert_eq!(dirs_of("a", &parent.path().join("absent")), Vec::<PathBuf>::new());
    }

    #[test]
    fn strays_have_the_name_of_a_purpose_and_a_process() {
        let parent = tempfile::tempdir().unwrap();
        let strays = ["audit-7-1", "calibrate-123-0", "sandbox-9", "sandbox-9-0"];
        let others = ["audit", "audit-", "audit-x-0", "calibrate-1-0-x", "20260101-000000-audit-0"];
        for name in strays.iter().chain(&others) {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        assert_eq!(strays_of(parent.path()), strays.map(|name| parent.path().join(name)));
        assert!(Purpose::Audit.is_of(&Purpose::Audit.tag(3)));
    }
}
