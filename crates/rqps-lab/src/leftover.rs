//! What runs that were ended by force left: the data directories of their servers. Nobody goes on
//! with them, as a run that is resumed fills its tables anew.

use std::fs;
use std::path::{Path, PathBuf};

use rqps_server::{Wishes, instance, places};
use rqps_store::{RunLock, Store};

use crate::event::{Event, Listener};
use crate::run::Context;

/// A data directory that a run left.
#[derive(Debug)]
pub struct Leftover {
    /// Where it is, or was.
    pub dir: PathBuf,
    /// Why it is still there: it is not marked as ours, is in use, or cannot be deleted.
    pub kept: Option<rqps_server::Error>,
}

/// Removes the data directories that a run left, where they are marked as ours and not in use. The
/// lock says that no process works on the run.
#[must_use]
pub fn remove_data(run_id: &str, _lock: &RunLock, context: &Context) -> Vec<Leftover> {
    let removed = |dir: PathBuf| Leftover { kept: instance::clear(&dir).err(), dir };
    data_dirs(run_id, context).into_iter().map(removed).collect()
}

/// Removes the data of all runs of a store that no process works on, and tells of each.
pub(crate) fn sweep(
    store: &Store,
    context: &Context,
    listen: &mut Listener<'_>,
) -> Result<(), rqps_store::Error> {
    for run in store.list_runs()? {
        if data_dirs(&run.id, context).is_empty() {
            continue;
        }
        // Another process is at work on it, or this one is.
        let Ok(lock) = store.lock_run(&run.id) else { continue };
        for Leftover { dir, kept } in remove_data(&run.id, &lock, context) {
            let (id, dir) = (&run.id, dir.display());
            listen(Event::Note(&match kept {
                None => format!("removed {dir}, which run {id} left when it was killed"),
                Some(error) => format!("{dir} has the name of data of run {id} and stays: {error}"),
            }));
        }
    }
    Ok(())
}

fn data_dirs(run_id: &str, context: &Context) -> Vec<PathBuf> {
    let data = context.results.join("data");
    let wishes = Wishes { cache: &context.cache, data: &data, temp: &context.temp };
    let mut found: Vec<PathBuf> =
        places::existing_data(&wishes).iter().flat_map(|parent| dirs_of(run_id, parent)).collect();
    found.sort();
    found
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
}
