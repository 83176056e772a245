//! Options of an import: facts that the files lack, and facts of the import itself.

use rqps_model::Dbms;

/// Facts that the files lack.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The directory or files as the user named them.
    pub source: String,
    /// Name of the run, or the beginning of the names of several; by default the directory's.
    pub name: Option<String>,
    /// Label of the base; by default the first system.
    pub base: Option<String>,
    /// Name of the measured host.
    pub host: Option<String>,
    /// Number of clients, where no file has it.
    pub clients: Option<u32>,
    /// The DBMS of labels that name none.
    pub dbms: Option<Dbms>,
    /// The block device of the data directory, among those that iostat lists.
    pub device: Option<String>,
    /// Time of the measurement, milliseconds since 1970; by default the time of the import.
    pub at_unix_ms: i64,
    /// Version of rqps.
    pub rqps_version: String,
    /// The words of the command as typed.
    pub command_line: Vec<String>,
}
