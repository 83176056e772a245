//! How a system is started: under which name, and on which data.

use crate::environment::Environment;

/// Which data a server of our own is started on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    /// New ones, in place of what was there.
    New,
    /// New ones on a server of our own, and nothing made on somebody else's.
    Look,
    /// New ones for a moment: somebody else's server, too, is asked for a schema, to see that it gives one.
    Try,
    /// Those that an earlier attempt at the same run has kept, or that stayed when rqps died.
    Kept,
}

/// How a system is started.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) environment: &'a Environment,
    /// What its directory or its schema is named after.
    pub(crate) name: &'a str,
    pub(crate) data: Data,
}
