//! What a run needs beside its plan.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rqps_server::Catalogue;

use crate::suspension::Suspension;

/// What a run needs beside its plan.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The results directory.
    pub results: PathBuf,
    /// The cache of fetched servers.
    pub cache: PathBuf,
    /// The servers that can be fetched.
    pub catalogue: Arc<Catalogue>,
    /// The directory for temporary files.
    pub temp: PathBuf,
    /// Set when the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
    /// Set before `interrupt` when something other than the user stops the run: the reason, for the report.
    pub stopped_by: Arc<OnceLock<String>>,
    /// The words of the command as typed, without passwords.
    pub command_line: Vec<String>,
    /// Version of rqps.
    pub rqps_version: String,
    /// Start a new run although an unfinished run of the plan exists.
    pub new_run: bool,
    /// Whether settings of servers given by their address may be changed, and restored.
    pub allow_settings: bool,
    /// What becomes of Ctrl-Z.
    pub suspension: Suspension,
    /// The environment, where an address names a variable for its password.
    pub variables: rqps_server::Variables,
    /// Seed to use where the plan sets none.
    pub drawn_seed: u64,
    /// Program and arguments of a process that calls [`rqps_server::watchdog::watch`] on its standard input.
    /// It ends stopped servers when this process dies.
    pub watchdog: Vec<OsString>,
    /// What a trial switches off.
    pub trial: rqps_server::Trial,
    /// In tests: where data directories are kept as templates and copied from.
    pub templates: Option<PathBuf>,
    /// How long servers are waited for.
    pub patience: rqps_server::Patience,
    /// How long a run waits for a quiet host before it measures; absent for not at all.
    pub wait_for_quiet: Option<std::time::Duration>,
}

#[cfg(test)]
impl Environment {
    /// For what needs no run, with a process in the watchdog's place.
    pub(crate) fn of_test(watchdog: &[&str]) -> Self {
        Self {
            results: PathBuf::new(),
            cache: PathBuf::new(),
            catalogue: Arc::new(Catalogue::builtin().unwrap()),
            temp: PathBuf::new(),
            interrupt: Arc::default(),
            stopped_by: Arc::default(),
            command_line: Vec::new(),
            rqps_version: String::new(),
            new_run: false,
            allow_settings: false,
            suspension: Suspension::default(),
            variables: |_| None,
            drawn_seed: 1,
            watchdog: watchdog.iter().map(OsString::from).collect(),
            trial: rqps_server::Trial::default(),
            templates: None,
            patience: rqps_server::Patience::default(),
            wait_for_quiet: None,
        }
    }
}
