//! What all requests share: the options, the runs that are followed.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rqps_store::{RunRef, Store};
use tokio::sync::Semaphore;

use crate::Options;
use crate::live::Hub;

/// Reports, comparisons and histories made at one time: each can take seconds of all CPUs and the memory
/// of whole runs.
const N_HEAVY: usize = 1;

/// Streams of live views at one time.
pub(crate) const MOST_STREAMS: usize = 16;

/// The state of the server.
pub(crate) struct Desk {
    pub(crate) options: Options,
    pub(crate) hub: Arc<Hub>,
    pub(crate) heavy: Arc<Semaphore>,
    /// Streams under way.
    pub(crate) streams: AtomicUsize,
}

impl Desk {
    pub(crate) fn new(options: Options) -> Self {
        let (hub, heavy) = (Arc::<Hub>::default(), Arc::new(Semaphore::new(N_HEAVY)));
        Self { options, hub, heavy, streams: AtomicUsize::new(0) }
    }

    /// The store; `None` before anything was measured.
    pub(crate) fn store(&self) -> Result<Option<Store>, rqps_store::Error> {
        match Store::open_existing(&self.options.results) {
            Ok(store) => Ok(Some(store)),
            Err(rqps_store::Error::NoResults { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The store with a run in it, which is named by its whole id.
    pub(crate) fn store_of(&self, run_id: &str) -> Result<Store, rqps_store::Error> {
        let store = Store::open_existing(&self.options.results)?;
        let found = store.resolve(&RunRef::Id(run_id.to_owned()))?;
        if found == run_id {
            Ok(store)
        } else {
            let near = vec![found];
            Err(rqps_store::Error::UnknownRun { reference: run_id.to_owned(), near })
        }
    }
}
