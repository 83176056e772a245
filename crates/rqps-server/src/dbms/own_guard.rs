//! What is asked and sent before logs and tables go on a server that rqps started.

use rqps_model::Version;

/// The statements of a DBMS for a server of our own.
#[derive(Debug)]
pub struct OwnGuard {
    /// The question for its data directory, where that holds all that statements reach; `None` where variables name more
    /// places.
    pub(crate) data_dir_sql: Option<&'static str>,
    /// Deletes all binary logs; `None` where it has none.
    pub(crate) reset_logs_sql: Option<fn(&Version) -> &'static str>,
}
