//! Errors of archives, each with what to do.

use std::path::PathBuf;

/// Why a run cannot be exported or imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read, written or moved.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was to be done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The archive is not one of rqps, or of a later one.
    #[error("{} is not a run that rqps exported ({problem}); name a file of `rqps runs export`", path.display())]
    NotAnArchive {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The archive ends early, or lacks files.
    #[error("{} is incomplete ({problem}); copy it again. Nothing was imported", path.display())]
    Incomplete {
        /// The archive.
        path: PathBuf,
        /// What is missing.
        problem: String,
    },
    /// A file in the archive differs from the manifest, or is not allowed there.
    #[error("{} is damaged or forged: {problem}. Nothing was imported", path.display())]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// Which file, and what is wrong with it.
        problem: String,
    },
    /// The run is there already.
    #[error("run {run_id} is in the store already")]
    Exists {
        /// The run.
        run_id: String,
    },
    /// The table cannot be written as Parquet.
    #[cfg(feature = "parquet")]
    #[error("cannot write table {table} as Parquet")]
    Parquet {
        /// Its name.
        table: String,
        /// What is wrong.
        #[source]
        source: Box<parquet::errors::ParquetError>,
    },
    /// The store of the archive or of this host.
    #[error(transparent)]
    Store(#[from] rqps_store::Error),
}
