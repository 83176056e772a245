//! The tree that bugs are put into: a copy of the files that git tracks, as they are now.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// A copy of the tree at a root.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    dir: PathBuf,
}

impl Tree {
    pub(super) fn new(root: &Path, dir: PathBuf) -> Self {
        Self { root: root.to_owned(), dir }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes the copy like the original. Files that are alike stay as they are, so that cargo rebuilds nothing
    /// for them; files that the original has not go.
    pub(super) fn copy(&self) -> Result<()> {
        let tracked = self.tracked()?;
        for name in &tracked {
            let (from, to) = (self.root.join(name), self.dir.join(name));
            let bytes = fs::read(&from).with_context(|| format!("read {}", from.display()))?;
            if fs::read(&to).is_ok_and(|there| there == bytes) {
                continue;
            }
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).with_context(|| format!("make {}", parent.display()))?;
            }
            // Not its time: cargo must see that a bug has gone again.
            fs::write(&to, &bytes).with_context(|| format!("write {}", to.display()))?;
            let permissions = fs::metadata(&from).map(|meta| meta.permissions());
            permissions
                .and_then(|permissions| fs::set_permissions(&to, permissions))
                .with_context(|| format!("set the permissions of {}", to.display()))?;
        }
        self.remove_others(&self.dir, &tracked)
    }

    /// The files that git tracks and that are there.
    fn tracked(&self) -> Result<BTreeSet<PathBuf>> {
        let git = Command::new("git").args(["ls-files", "-z"]).current_dir(&self.root).output();
        let git = git.context("run git")?;
        ensure!(git.status.success(), "git: {}", String::from_utf8_lossy(&git.stderr).trim());
        let names = String::from_utf8(git.stdout).context("read the names of files")?;
        let names = names.split_terminator('\0').map(PathBuf::from);
        Ok(names.filter(|name| self.root.join(name).is_file()).collect())
    }

    fn remove_others(&self, dir: &Path, tracked: &BTreeSet<PathBuf>) -> Result<()> {
        for entry in fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                self.remove_others(&path, tracked)?;
                // Fails where something is in it.
                let _ = fs::remove_dir(&path);
            } else if !path.strip_prefix(&self.dir).is_ok_and(|name| tracked.contains(name)) {
                fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_as_the_original_again() {
        let dir = tempfile::tempdir().unwrap();
        let (root, copy) = (dir.path().join("root"), dir.path().join("copy"));
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/b.rs"), "1").unwrap();
        fs::write(root.join("not-tracked"), "2").unwrap();
        for args in [&["init", "-q"][..], &["add", "a/b.rs"]] {
            assert!(Command::new("git").args(args).current_dir(&root).status().unwrap().success());
        }
        let tree = Tree::new(&root, copy.clone());
        tree.copy().unwrap();
        assert!(copy.join("a/b.rs").is_file() && !copy.join("not-tracked").exists());
        let time = || fs::metadata(copy.join("a/b.rs")).unwrap().modified().unwrap();
        let before = time();
        fs::create_dir(copy.join("c")).unwrap();
        fs::write(copy.join("c/left-by-a-test"), "3").unwrap();
        tree.copy().unwrap();
        assert!(!copy.join("c").exists() && time() == before);
        fs::write(copy.join("a/b.rs"), "bug").unwrap();
        tree.copy().unwrap();
        assert_eq!(fs::read_to_string(copy.join("a/b.rs")).unwrap(), "1");
    }
}
