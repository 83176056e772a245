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

/// Something that is the same as something before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Duplicate<'a, T> {
    pub(crate) own: &'a T,
    pub(crate) first: &'a T,
}

/// What is the same as something before it, each with the first that is.
pub(crate) fn duplicates<T>(
    all: &[T],
    is_same: impl Fn(&T, &T) -> bool,
) -> impl Iterator<Item = Duplicate<'_, T>> {
    all.iter().enumerate().filter_map(move |(at, own)| {
        let first = all[..at].iter().find(|first| is_same(own, first))?;
        Some(Duplicate { own, first })
    })
}

/// Notes on files that stand for several steps or systems.
pub(crate) fn notes(files: &[FileText]) -> Vec<String> {
    let note = |Duplicate { own, first }: Duplicate<'_, FileText>| {
        format!(
            "{} is the same as {}, byte for byte: one of them is a copy.",
            own.shown.display(),
            first.shown.display()
        )
    };
    duplicates(files, FileText::is_copy_of).map(note).collect()
}
