//! What client libraries read besides the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What client libraries read besides the command line.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Environment variables by name.
    pub variables: BTreeMap<String, String>,
    /// Name of the operating system's user; `None` where it has none.
    pub user: Option<String>,
}

impl Environment {
    /// The value of a variable; `None` when it is unset or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether a variable is set and has no value.
    pub(crate) fn is_empty(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(String::is_empty)
    }

    /// A file of the home directory.
    pub(crate) fn home_file(&self, name: &str) -> Option<PathBuf> {
        self.get("HOME").map(|home| Path::new(home).join(name))
    }
}
