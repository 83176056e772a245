//! What is asked and sent before logs and tables go on a server that rqps started.

/// The statements of a DBMS for a server of our own.
#[derive(Debug)]
pub struct OwnGuard {
    /// What tells where it works.
    pub(crate) location: Location,
    /// Whether it has binary logs.
    pub(crate) has_binary_logs: bool,
    /// The version since which the statement that deletes them names them, and not the master.
    pub(crate) reset_names_logs_since: Option<&'static [u32]>,
}

/// What tells where a server works.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Location {
    /// A statement that asks for the data directory, which holds all that statements reach.
    DataDirectory(&'static str),
    /// The variables of MySQL: besides the data directory they name further directories and files.
    MysqlVariables,
    /// Nothing, so nothing is sent.
    Untold,
}

/// The guard of a DBMS that rqps does not start.
pub(crate) const NOT_STARTED: OwnGuard =
    OwnGuard { location: Location::Untold, has_binary_logs: false, reset_names_logs_since: None };
