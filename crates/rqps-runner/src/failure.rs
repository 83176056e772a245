//! What fails: one system or the whole run, and what stays for the next attempt.

use std::fmt;
use std::path::PathBuf;

use rqps_load::ClientPoolError;
use rqps_model::SystemIdx;

/// Why the rounds of a step ended before its last block.
#[derive(Debug)]
pub(crate) enum Broken {
    /// A system failed.
    System(SystemIdx, anyhow::Error),
    /// The run ends: every other system would meet the error as well ([`RunContext::is_of_run`]).
    ///
    /// [`RunContext::is_of_run`]: crate::run_context::RunContext::is_of_run
    Run(anyhow::Error),
    /// An error that names no system. A server that has died may be the cause: whoever can start it again
    /// looks for one.
    Unattributed(anyhow::Error),
}

impl Broken {
    /// What ended a slice of a system's clients.
    pub(crate) fn of_clients(system: SystemIdx, error: ClientPoolError) -> Self {
        match error {
            ClientPoolError::Stopped => Self::Run(error.into()),
            other => Self::System(system, other.into()),
        }
    }

    /// The error, whatever it breaks off.
    pub(crate) fn into_error(self) -> anyhow::Error {
        match self {
            Self::System(_, error) | Self::Run(error) | Self::Unattributed(error) => error,
        }
    }
}

/// The server did not start, and its data are not the cause: they stay for the next attempt.
#[derive(Debug)]
pub(crate) struct Kept(pub(crate) PathBuf);

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the data of this run stay in {}; run the same command again when the obstacle is gone",
            self.0.display()
        )
    }
}

/// Tables that were copied from the store turn out to be of no use. They are filled in their place.
#[derive(Debug, thiserror::Error)]
#[error("the stored tables are unusable: {reason}")]
pub(crate) struct BrokenTables {
    /// Whose tables they are.
    pub(crate) system: SystemIdx,
    /// Why they are of no use.
    pub(crate) reason: String,
}

/// Whether there was no room for what rqps itself or a program of a server was about to write.
pub(crate) fn is_disk_full(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(rqps_server::Error::DiskFull { .. }))
}
