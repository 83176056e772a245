//! Files that stand for two: the same byte for byte, under two systems or two steps.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

/// What tells the text of a file from those of others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileText {
    /// The file, below the system's label.
    pub(crate) shown: PathBuf,
    length: usize,
    hash: u64,
}

impl FileText {
    pub(crate) fn new(shown: PathBuf, text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self { shown, length: text.len(), hash: hasher.finish() }
    }

    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        (self.length, self.hash) == (other.length, other.hash)
    }
}

/// Notes on files that stand for several steps or systems.
pub(crate) fn notes(files: &[FileText]) -> Vec<String> {
    let copies = files.iter().enumerate().filter_map(|(at, file)| {
        let other = files[..at].iter().find(|other| file.is_copy_of(other))?;
        Some(format!(
            "{} is the same as {}, byte for byte: one of them is a copy, and its figures are those of the other.",
            file.shown.display(),
            other.shown.display()
        ))
    });
    copies.collect()
}
