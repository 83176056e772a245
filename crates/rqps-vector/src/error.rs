//! What can be wrong with a set of vectors.

use std::path::{Path, PathBuf};

/// Why vectors cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file cannot be read.
    #[error("read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file cannot be written.
    #[error("write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file has not what its format says.
    #[error("{}: {detail}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the remedy where there is one.
        detail: String,
    },
    /// Vectors and queries that are no set.
    #[error("{name}: {detail}")]
    Set {
        /// The set.
        name: String,
        /// What is wrong, and the remedy where there is one.
        detail: String,
    },
    /// Sizes that cannot be.
    #[error("{key} = {value}: {remedy}")]
    Argument {
        /// The key of the plan.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is possible.
        remedy: String,
    },
}

impl DataError {
    pub(crate) fn content(path: &Path, detail: impl Into<String>) -> Self {
        Self::Content { path: path.to_owned(), detail: detail.into() }
    }
}
