//! A server's own counters around what is measured: read before and after, never in between.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rqps_client::Endpoint;
use rqps_model::Dbms;
use rqps_server::Patience;
use rqps_server::counters::{Counters, Probe};

/// What is said where a server refuses to tell any of its counters.
const TELLS_NONE: &str = "the server reports none of the requested counters";

/// What reads the counters of a system; nothing where it does not tell them.
#[derive(Debug)]
pub(crate) struct Counted {
    /// Gone when its connection has failed: the counters are then absent, and what ails the server shows
    /// in what is measured.
    probe: RefCell<Option<Probe>>,
    /// Why there is none, where there should be one.
    failure: RefCell<Option<String>>,
}

impl Counted {
    /// Opens a connection of its own to a server.
    pub(crate) fn open(dbms: Dbms, endpoint: &Endpoint, patience: Patience) -> Self {
        let opened = dbms.is_server().then(|| Probe::open(dbms, endpoint, patience.answer()));
        let (probe, failure) = match opened {
            None => (None, None),
            Some(Ok(probe)) if probe.tells_any() => (Some(probe), None),
            Some(Ok(_)) => (None, Some(TELLS_NONE.to_owned())),
            Some(Err(error)) => (None, Some(words(error))),
        };
        Self { probe: RefCell::new(probe), failure: RefCell::new(failure) }
    }

    /// The counters as they stand. The server must be running, and not stopped.
    pub(crate) fn read(&self) -> Option<Counters> {
        let mut probe = self.probe.borrow_mut();
        let read = probe.as_mut()?.read();
        match read {
            Ok(counters) => Some(counters),
            Err(error) => {
                *probe = None;
                *self.failure.borrow_mut() = Some(words(error));
                None
            }
        }
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

    /// Why the counters cannot be read, where that is so.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }
}

/// An error with all that led to it.
fn words(error: rqps_server::Error) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rqps_client::Address;

    use super::*;
    use crate::system::null_endpoint;

    #[test]
    fn why_counters_are_absent_is_known() {
        let address = Address::Unix("/nowhere".into());
        let connect_timeout = Duration::from_secs(1);
        let nowhere = Endpoint { address, connect_timeout, ..null_endpoint() };
        for dbms in [Dbms::Mysql, Dbms::Postgres] {
            let counted = Counted::open(dbms, &nowhere, Patience::default());
            let why = counted.failure().unwrap();
            assert!(why.contains("/nowhere"), "{why}");
            assert_eq!(counted.read(), None);
            assert!(counted.since(None).is_empty());
        }
        // The null client has no counters, and nobody misses them.
        assert_eq!(Counted::open(Dbms::Null, &nowhere, Patience::default()).failure(), None);
    }
}
