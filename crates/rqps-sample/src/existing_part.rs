//! The part of a path that is there already.

use std::path::{Path, PathBuf};

use crate::Error;

/// The longest part of `path` that exists, absolute and without symbolic links.
pub(crate) fn existing_part(path: &Path) -> Result<PathBuf, Error> {
    let unreadable = |source| Error::Read { path: path.to_path_buf(), source };
    let absolute = std::path::absolute(path).map_err(unreadable)?;
    let found = absolute.ancestors().find_map(|part| part.canonicalize().ok());
    Ok(found.unwrap_or_else(|| PathBuf::from("/")))
}
