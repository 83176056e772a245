//! A server's own counters around what is measured: read before and after, never in between.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rqps_client::Endpoint;
use rqps_model::Dbms;
use rqps_server::counters::{Counters, Probe};

/// What reads the counters of a system; nothing where it does not tell them.
#[derive(Debug)]
pub(crate) struct Counted {
    /// Gone when its connection has failed: the counters are then absent, and what ails the server shows
    /// in what is measured.
    probe: RefCell<Option<Probe>>,
}

impl Counted {
    /// Opens a connection of its own to a server.
    pub(crate) fn open(dbms: Dbms, endpoint: &Endpoint) -> Self {
        let probe = match dbms {
            Dbms::Null => None,
            _ => Probe::open(dbms, endpoint).ok(),
        };
        Self { probe: RefCell::new(probe) }
    }

    /// The counters as they stand. The server must be running, and not stopped.
    pub(crate) fn read(&self) -> Option<Counters> {
        let mut probe = self.probe.borrow_mut();
        let counters = probe.as_mut()?.read().ok();
        if counters.is_none() {
            *probe = None;
        }
        counters
    }

    /// What was counted since `first`; empty where it is not known.
    pub(crate) fn since(&self, first: Option<&Counters>) -> BTreeMap<String, u64> {
        let last = self.read();
        let probe = self.probe.borrow();
        match (probe.as_ref(), first, last) {
            (Some(probe), Some(first), Some(last)) => probe.between(first, &last),
            _ => BTreeMap::new(),
        }
    }
}
