//! Runs out of one store and into another, and archives that somebody tampered with.

#![expect(clippy::unwrap_used, reason = "what tests share is outside of test functions")]

mod archives;
mod hostile;
#[cfg(feature = "parquet")]
mod parquet_files;
mod tables;

use std::path::{Path, PathBuf};

use rqps_import::{Options, mytools};
use rqps_store::{Artifact, RunRef, Store};

/// The id of [`store`]'s run.
const ID: &str = "20250831-000000-raw";

/// A store with a run of the importer's own test data: series, response times, steps that were not run.
fn store(dir: &Path) -> Store {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../rqps-import/tests/data/raw");
    let options = Options { source: "raw".to_owned(), ..Options::default() };
    let mut run = mytools::import(&data, &options).unwrap().runs.remove(0);
    ID.clone_into(&mut run.id);
    let store = Store::open(dir).unwrap();
    store.create_run(&run).unwrap();
    let own = store.artifact_dir(ID).unwrap();
    std::fs::create_dir(own.join("stacks")).unwrap();
    std::fs::write(own.join("server.log"), "started\n").unwrap();
    std::fs::write(own.join("stacks/00-0-cpu.folded"), "main;work 7\n").unwrap();
    let what = "server log".to_owned();
    store.insert_artifact(ID, &Artifact { path: "server.log".to_owned(), what }).unwrap();
    store
}

fn run_ref() -> RunRef {
    ID.parse().unwrap_or_default()
}
