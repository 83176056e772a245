//! What is asked and sent before logs and tables go on a server that rqps started.

/// The statements of a DBMS for a server of our own.
#[derive(Debug)]
pub struct OwnGuard {
    /// The question for its data directory, where that holds all that statements reach; `None` where variables name more
    /// places.
    pub(crate) data_dir_sql: Option<&'static str>,
    /// Whether it has binary logs.
    pub(crate) has_binary_logs: bool,
    /// The version since which the statement that deletes them names them, and not the master.
    pub(crate) reset_names_logs_since: Option<&'static [u32]>,
}
