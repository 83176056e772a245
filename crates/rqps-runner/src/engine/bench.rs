//! A system that is up, as measuring needs it.

use std::sync::atomic::{AtomicBool, Ordering};

use rqps_client::Endpoint;
use rqps_model::{Dbms, Label};
use rqps_sample::Background;
use rqps_server::Patience;

use crate::engine::counted::Counted;

/// A system that is up, as measuring needs it.
pub(crate) struct Bench<'a> {
    /// What reports call it.
    pub(crate) label: &'a Label,
    /// Family of the server.
    pub(crate) dbms: Dbms,
    /// Where it is.
    pub(crate) endpoint: &'a Endpoint,
    /// Process id of the server; absent for an external one.
    pub(crate) server_pid: Option<i32>,
    /// Samples it once a second.
    pub(crate) samples: &'a Background,
    /// Reads what the server counts itself.
    pub(crate) counted: &'a Counted,
    /// CPUs that rqps may use.
    pub(crate) cpus: &'a [usize],
    /// Set when the user wants to stop.
    pub(crate) interrupt: &'a AtomicBool,
    /// How long it is waited for.
    pub(crate) patience: Patience,
    /// The share of the measured time in which its threads are stopped.
    pub(crate) injected_slowdown: f64,
}

impl Bench<'_> {
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}
