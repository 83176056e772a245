//! Where a run is that a command names: in the results store, or in an archive that is read where it lies.

use std::path::Path;

use anyhow::Result;
use rqps_export::archive;
use rqps_store::{RunRef, Store};

use crate::Surroundings;

/// How the names of archives end.
pub(crate) const ENDING: &str = ".tar.zst";

/// What holds a run.
enum Place {
    Results(Store),
    Archive(archive::Opened),
}

/// A run that can be read.
pub(crate) struct Opened {
    place: Place,
    of: RunRef,
}

impl Opened {
    /// Finds the run that `run` names: an archive by its ending, else one of the results store.
    pub(crate) fn of(run: &str, around: &Surroundings) -> Result<Self> {
        if run.ends_with(ENDING) {
            let archive = archive::open(Path::new(run), &around.temp)?;
            // What is unpacked goes with it.
            around.go_on()?;
            let of = RunRef::Id(archive.run_id().to_owned());
            return Ok(Self { place: Place::Archive(archive), of });
        }
        let store = Store::open_existing(&around.results)?;
        Ok(Self { place: Place::Results(store), of: run.parse().unwrap_or_default() })
    }

    /// The store that it is in.
    pub(crate) fn store(&self) -> &Store {
        match &self.place {
            Place::Results(store) => store,
            Place::Archive(archive) => archive.store(),
        }
    }

    /// How that store names it.
    pub(crate) fn run(&self) -> &RunRef {
        &self.of
    }
}
