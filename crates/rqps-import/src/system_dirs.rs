//! The systems of a raw folder: the folder itself, or each of its directories that has a system's files.

use crate::Error;
use crate::folder::Folder;

/// A system's directory and its label.
pub(crate) struct SystemDir {
    pub(crate) label: String,
    pub(crate) folder: Folder,
}

/// The directories of systems.
#[derive(Default)]
pub(crate) struct SystemDirs {
    pub(crate) systems: Vec<SystemDir>,
    /// Directories and names that cannot be read.
    pub(crate) problems: Vec<Error>,
}

impl SystemDirs {
    /// The folder itself as a system of this label.
    pub(crate) fn of_one(folder: &Folder, label: String) -> Self {
        let systems = vec![SystemDir { label, folder: folder.clone() }];
        Self { systems, problems: Vec::new() }
    }

    /// The directories in a folder that are systems.
    pub(crate) fn within(folder: &Folder, is_system: impl Fn(&Folder) -> bool) -> Self {
        let mut found = Self::default();
        for name in folder.dirs() {
            match Folder::read(&folder.dir.join(name)) {
                Ok(own) if is_system(&own) => {
                    found.problems.extend(own.odd_names());
                    found.systems.push(SystemDir { label: name.to_owned(), folder: own });
                }
                Ok(_) => {}
                Err(problem) => found.problems.push(problem),
            }
        }
        found
    }
}
