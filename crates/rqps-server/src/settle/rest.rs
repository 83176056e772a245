//! What settling waits for, and how settings are changed meanwhile.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use rqps_client::Connection;
use rqps_model::{Dbms, Version};

use crate::destructive::Scope;
use crate::guest::settings;
use crate::watch::{Progress, Watch};
use crate::{Error, destructive};

/// The server to settle.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its DBMS.
    pub dbms: Dbms,
    /// Its version.
    pub version: &'a Version,
    /// What may be changed: an external server keeps its logs and, without the user's consent, its settings.
    pub scope: Scope<'a>,
    /// Its data directory, if rqps can reach it: the kernel then writes back its files as well.
    pub data_dir: Option<&'a Path>,
}

/// The tables that are settled, and how long that may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables<'a> {
    /// Their names as SQL takes them.
    pub(crate) names: &'a [String],
    /// The longest time that is waited.
    pub(crate) limit: Duration,
}

/// The outcome of settling.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// How long it took, s.
    pub seconds: f64,
    /// Work that remained: `dirty pages: 1200 (settled at 100 or less)`. Empty if nothing did.
    pub left: Vec<String>,
    /// What could not be done, and the state at the end, for the record.
    pub detail: Vec<String>,
}

impl Settled {
    /// Whether no work remained.
    #[must_use]
    pub fn at_rest(&self) -> bool {
        self.left.is_empty()
    }
}

/// A counter of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Debt {
    /// What is counted.
    pub(crate) what: &'static str,
    /// How much there is.
    pub(crate) value: u64,
    /// Up to which value it is at rest.
    pub(crate) bound: u64,
}

impl fmt::Display for Debt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (settled at {} or less)", self.what, self.value, self.bound)
    }
}

/// How often the counters are read.
const EVERY: Duration = Duration::from_millis(250);

/// Polls until every debt is within its bound or `limit` has passed; gives the last reading.
pub(crate) fn wait_for_rest(
    limit: Duration,
    watch: &mut Watch<'_>,
    mut read: impl FnMut() -> Result<Vec<Debt>, Error>,
) -> Result<Vec<Debt>, Error> {
    let mut last = Vec::new();
    watch.poll("settle", limit, EVERY, |watch| {
        last = read()?;
        let open: Vec<String> =
            last.iter().filter(|debt| debt.value > debt.bound).map(ToString::to_string).collect();
        if open.is_empty() {
            return Ok(Some(()));
        }
        (watch.report)(Progress::Waiting { what: &open.join(", ") });
        Ok(None)
    })?;
    Ok(last)
}

/// Sets a variable of the server, where that is allowed to fail by the server's word; says what it said.
pub(crate) fn try_set_global(
    target: &Target<'_>,
    setting: (&str, &str),
    connection: &mut dyn Connection,
    detail: &mut Vec<String>,
) -> Result<bool, Error> {
    not_refused(destructive::set_global(target.scope, setting, connection), detail)
}

/// Claims the settings before they are read and changed; false, and a word in `detail`, where they have to stay.
pub(crate) fn claim(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    detail: &mut Vec<String>,
) -> Result<bool, Error> {
    if !target.scope.allows_settings() {
        return Ok(false);
    }
    let is_claimed = settings::claim(target.scope, connection)?;
    if !is_claimed {
        detail.push("settings stay as they are: another rqps has changed them".to_owned());
    }
    Ok(is_claimed)
}

/// Whether something was done; a refusal of the server's goes to `detail`.
pub(crate) fn not_refused(
    done: Result<(), Error>,
    detail: &mut Vec<String>,
) -> Result<bool, Error> {
    match done {
        Ok(()) => Ok(true),
        Err(Error::Client { doing, source: rqps_client::Error::Server(said) }) => {
            detail.push(format!("not done: {doing} ({said})"));
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn waits_until_all_debts_are_paid_and_tells_what_is_open() {
        let stop = AtomicBool::new(false);
        let mut told = Vec::new();
        let mut report = |progress: Progress<'_>| {
            if let Progress::Waiting { what } = progress {
                told.push(what.to_owned());
            }
        };
        let mut watch = Watch { stop: &stop, report: &mut report };
        let mut pages = 2;
        let last = wait_for_rest(Duration::from_secs(60), &mut watch, || {
            pages -= 1;
            Ok(vec![Debt { what: "dirty pages", value: pages, bound: 0 }])
        });
        assert_eq!(last.unwrap(), [Debt { what: "dirty pages", value: 0, bound: 0 }]);
        assert_eq!(told, ["dirty pages: 1 (settled at 0 or less)"]);
    }

    #[test]
    fn gives_up_at_the_limit_with_the_last_reading() {
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let debt = Debt { what: "x", value: 9, bound: 1 };
        let last = wait_for_rest(Duration::ZERO, &mut watch, || Ok(vec![debt.clone()]));
        assert_eq!(last.unwrap(), [debt]);
    }
}
