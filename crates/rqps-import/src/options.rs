//! What the user says of results that their files do not tell, and about the import itself.

use rqps_model::Dbms;

/// What files do not tell.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The directory or files as the user named them.
    pub source: String,
    /// Name of the run; of several the beginning of their names. The directory's where absent.
    pub name: Option<String>,
    /// Label of the base; the first system where absent.
    pub base: Option<String>,
    /// Name of the host that was measured on.
    pub host: Option<String>,
    /// Client threads, where no file says it.
    pub clients: Option<u32>,
    /// The DBMS of labels that do not say it.
    pub dbms: Option<Dbms>,
    /// The block device of the data directory, of those that iostat lists.
    pub device: Option<String>,
    /// When it was measured, milliseconds since 1970; the import where it is not known.
    pub at_unix_ms: i64,
    /// Version of rqps.
    pub rqps_version: String,
    /// The words of the command as typed.
    pub command_line: Vec<String>,
}
