//! Where a server's tree is, and what outlives its data there.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::fault::Rule;

/// The file with the version in a tree.
pub(crate) const VERSION: &str = "version";

/// Where servers write what outlives their data: the one directory besides their own that rqps leaves open.
const SHARED_MEMORY: &str = "/dev/shm";

/// A tree as the server sees it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    dir: PathBuf,
}

impl Place {
    /// The tree above a program.
    pub(crate) fn above(program: &Path) -> Self {
        let dir = program.parent().and_then(Path::parent).unwrap_or(program);
        Self { dir: dir.to_owned() }
    }

    pub(crate) fn version(&self) -> String {
        let text = fs::read_to_string(self.dir.join(VERSION)).unwrap_or_default();
        text.trim().to_owned()
    }

    pub(crate) fn faults(&self) -> PathBuf {
        file_in(&self.dir)
    }

    /// Counts one more of something, and says how many it are.
    pub(crate) fn count(&self, what: &str) -> u32 {
        let path = shared_of(&self.dir).join(what);
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        let counted = file.and_then(|mut file| {
            file.write_all(b".")?;
            Ok(file.metadata()?.len())
        });
        counted.map_or(1, |n| u32::try_from(n).unwrap_or(u32::MAX))
    }

    /// Whether a fault that happens once has not happened yet; it has then.
    pub(crate) fn is_first(&self, rule: &Rule) -> bool {
        let path = shared_of(&self.dir).join(format!("met-{:x}", hash(&rule.to_string())));
        match fs::OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// Where a tree's faults are before the server has them.
pub(crate) fn file_in(dir: &std::path::Path) -> PathBuf {
    dir.join("faults")
}

pub(crate) fn shared_of(dir: &Path) -> PathBuf {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    Path::new(SHARED_MEMORY).join(format!("rqps-fake-{:x}", hash(&dir.to_string_lossy())))
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
