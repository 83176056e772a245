//! Commits of a repository, by the user's own git. It reads only: no file, reference or index of the repository changes.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::{Deserialize, Serialize};

use crate::Error;

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its full hash.
    pub hash: String,
    /// The hash of its files.
    pub tree: String,
    /// When it was committed, seconds since 1970.
    pub unix_s: i64,
    /// The first line of its message.
    pub subject: String,
}

impl Commit {
    /// The first twelve digits of its hash.
    #[must_use]
    pub fn short(&self) -> &str {
        self.hash.get(..12).unwrap_or(&self.hash)
    }
}

/// A git repository, or a directory of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    dir: PathBuf,
}

/// What separates the fields of a commit; no subject has it.
const FIELDS: &str = "%H%x00%T%x00%ct%x00%s";

/// How `git ls-tree` begins the line of a submodule.
const SUBMODULE: &str = "160000 commit ";

/// How `git ls-files --stage` begins the line of a repository in the files.
const NESTED: &str = "160000 ";

impl Repository {
    /// The repository that a directory belongs to.
    ///
    /// # Errors
    /// When it is none, or git cannot be run.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        if !dir.is_dir() {
            return Err(Error::NoDirectory { dir: dir.to_owned() });
        }
        let own = Self { dir: dir.to_owned() };
        let output = own.run(&["rev-parse", "--git-dir"])?;
        if output.status.success() {
            return Ok(own);
        }
        Err(Error::NoRepository { repo: own.dir, said: said(&output) })
    }

    /// The directory as given.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The commit that a revision names: a hash, a tag, a branch, `REL_17_STABLE~3`.
    ///
    /// # Errors
    /// When there is none.
    pub fn commit(&self, revision: &str) -> Result<Commit, Error> {
        let none = || Error::NoCommit { repo: self.dir.clone(), revision: revision.to_owned() };
        // An option of git is no revision.
        if revision.starts_with('-') {
            return Err(none());
        }
        let name = format!("{revision}^{{commit}}");
        let output = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])?;
        if !output.status.success() {
            return Err(none());
        }
        let hash = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let text = self.text(&["show", "--no-patch", &format!("--format={FIELDS}"), &hash])?;
        parse(text.trim_end_matches('\n')).ok_or_else(none)
    }

    /// The commits after `good` up to `bad`, the oldest first, along first parents: what a branch was at each time.
    ///
    /// # Errors
    /// When `good` is no ancestor of `bad`.
    pub fn between(&self, good: &Commit, bad: &Commit) -> Result<Vec<Commit>, Error> {
        if !self.is_ancestor(&good.hash, &bad.hash) || good.hash == bad.hash {
            let (good, bad) = (good.short().to_owned(), bad.short().to_owned());
            return Err(Error::NotBefore { good, bad });
        }
        let range = format!("{}..{}", good.hash, bad.hash);
        let format = format!("--format={FIELDS}");
        let text = self.text(&["log", "--first-parent", "--reverse", &format, &range])?;
        Ok(text.lines().filter_map(parse).collect())
    }

    /// Whether files differ from the commit that is checked out, submodules and new files among them.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.text(&["status", "--porcelain", "--", "."]).is_ok_and(|text| !text.is_empty())
    }

    /// Whether a commit is before another one, or is it; by hashes. No, where one of them is not there.
    #[must_use]
    pub fn is_ancestor(&self, before: &str, after: &str) -> bool {
        let words = ["merge-base", "--is-ancestor", before, after];
        self.run(&words).is_ok_and(|output| output.status.success())
    }

    /// The hashes of the first parents of a commit, itself first: what its branch was, the newest first.
    ///
    /// # Errors
    /// When git fails.
    pub fn first_parents(&self, commit: &Commit) -> Result<Vec<String>, Error> {
        let text = self.text(&["rev-list", "--first-parent", &commit.hash])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// How many commits a branch made from one commit, by its hash, to another along first parents; negative where the
    /// second one is before the first. `None` where neither is an ancestor of the other, or one is not there.
    #[must_use]
    pub fn distance(&self, from: &str, to: &str) -> Option<i64> {
        let count = |from: &str, to: &str| {
            let range = format!("{from}..{to}");
            let words = ["rev-list", "--count", "--first-parent", &range];
            let text = self.is_ancestor(from, to).then(|| self.text(&words).ok())??;
            text.trim().parse::<i64>().ok()
        };
        count(from, to).or_else(|| count(to, from).map(|n| -n))
    }

    /// The text of a file of a commit or tree; `None` where it has no such file.
    #[must_use]
    pub fn file(&self, tree: &str, path: &str) -> Option<String> {
        self.text(&["show", &format!("{tree}:{path}")]).ok()
    }

    /// The hash of the files of a directory as they lie there, those of nested repositories among them and without
    /// those that git ignores. Objects are written to `scratch`, which [`Self::export`] reads.
    ///
    /// # Errors
    /// When git fails.
    pub fn tree_of_files(dir: &Path, scratch: &Path) -> Result<(Self, String), Error> {
        let own = Self { dir: dir.to_owned() };
        own.text_in(scratch, 0, &["init", "--quiet"])?;
        let tree = own.tree_in(scratch, &mut 0)?;
        Ok((Self { dir: scratch.join("git") }, tree))
    }

    /// The hash of the files of this directory; `n_indexes` counts the indexes that were made so far.
    fn tree_in(&self, scratch: &Path, n_indexes: &mut usize) -> Result<String, Error> {
        let index = *n_indexes;
        *n_indexes += 1;
        let git = |words: &[&str]| self.text_in(scratch, index, words);
        git(&["add", "--all", "."])?;
        let listed = git(&["ls-files", "--stage", "-z"])?;
        for line in listed.split('\0').filter(|line| line.starts_with(NESTED)) {
            let Some((_, path)) = line.split_once('\t') else { continue };
            let nested = Self { dir: self.dir.join(path) }.tree_in(scratch, n_indexes)?;
            git(&["update-index", "--force-remove", "--", path])?;
            git(&["read-tree", &format!("--prefix={path}/"), &nested])?;
        }
        Ok(git(&["write-tree"])?.trim().to_owned())
    }

    /// What git says of the files of this directory, with the objects and one of the indexes in `scratch`.
    fn text_in(&self, scratch: &Path, index: usize, words: &[&str]) -> Result<String, Error> {
        let mut command = self.command(words);
        command.env("GIT_INDEX_FILE", scratch.join(format!("index-{index}")));
        command.env("GIT_DIR", scratch.join("git")).env("GIT_WORK_TREE", &self.dir);
        let output = self.finish(words, command.output())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(self.failed(words, &output))
    }

    /// Writes the files of a commit or tree into a new directory, those of its submodules among them.
    ///
    /// # Errors
    /// When a submodule is not there, or the files cannot be written.
    pub fn export(&self, tree: &str, target: &Path) -> Result<(), Error> {
        fs::create_dir_all(target)
            .map_err(|e| Error::io(format!("write {}", target.display()), e))?;
        let words = ["archive", "--format=tar", tree];
        let mut command = self.command(&words);
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|e| Error::io("run git", e))?;
        if let Some(files) = child.stdout.take() {
            let mut archive = tar::Archive::new(files);
            archive.set_preserve_mtime(true);
            let unpacked = archive.unpack(target);
            unpacked.map_err(|e| Error::io(format!("write {}", target.display()), e))?;
        }
        let mut said_last = String::new();
        if let Some(mut errors) = child.stderr.take() {
            // What it says only helps to understand how it ended.
            let _ = errors.read_to_string(&mut said_last);
        }
        let status = child.wait().map_err(|e| Error::io("wait for git", e))?;
        if !status.success() {
            let (words, said) = (words.join(" "), said_last.trim().to_owned());
            return Err(Error::Git { repo: self.dir.clone(), words, said });
        }
        self.export_submodules(tree, target)
    }

    fn export_submodules(&self, tree: &str, target: &Path) -> Result<(), Error> {
        if !target.join(".gitmodules").is_file() {
            return Ok(());
        }
        let common = self.text(&["rev-parse", "--git-common-dir"])?;
        let modules = self.dir.join(common.trim()).join("modules");
        let names = self.names_of_submodules(tree)?;
        let listed = self.text(&["ls-tree", "-r", "-z", tree])?;
        for line in listed.split('\0') {
            let Some((facts, path)) = line.split_once('\t') else { continue };
            let Some(commit) = facts.strip_prefix(SUBMODULE) else { continue };
            let name = names.iter().find(|(_, at)| at == path).map_or(path, |(name, _)| name);
            let module = Self { dir: modules.join(name) };
            let none = || Error::NoSubmodule {
                repo: self.dir.clone(),
                path: path.to_owned(),
                commit: commit.to_owned(),
            };
            if !module.dir.is_dir() || module.commit(commit).is_err() {
                return Err(none());
            }
            module.export(commit, &target.join(path))?;
        }
        Ok(())
    }

    /// The names of submodules with the paths where they belong.
    fn names_of_submodules(&self, tree: &str) -> Result<Vec<(String, String)>, Error> {
        let blob = format!("{tree}:.gitmodules");
        let words = ["config", "--blob", &blob, "--get-regexp", r"^submodule\..*\.path$"];
        let text = self.text(&words)?;
        let one = |line: &str| {
            let (key, path) = line.split_once(' ')?;
            let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
            Some((name.to_owned(), path.to_owned()))
        };
        Ok(text.lines().filter_map(one).collect())
    }

    /// Applies a patch to files that were written by [`Self::export`].
    ///
    /// # Errors
    /// When it does not apply.
    pub fn apply(patch: &Path, target: &Path) -> Result<(), Error> {
        let own = Self { dir: target.to_owned() };
        let path = fs::canonicalize(patch)
            .map_err(|e| Error::io(format!("read the patch {}", patch.display()), e))?;
        let path = path.to_string_lossy();
        let words = ["apply", "--whitespace=nowarn", &path];
        let mut command = own.command(&words);
        // Outside of every repository, whatever the cache lies in.
        command.env("GIT_CEILING_DIRECTORIES", target.parent().unwrap_or(target));
        let output = own.finish(&words, command.output())?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::Patch { patch: patch.to_owned(), said: said(&output) })
    }

    fn text(&self, words: &[&str]) -> Result<String, Error> {
        let output = self.run(words)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(self.failed(words, &output))
    }

    fn run(&self, words: &[&str]) -> Result<Output, Error> {
        self.finish(words, self.command(words).output())
    }

    fn finish(&self, words: &[&str], output: std::io::Result<Output>) -> Result<Output, Error> {
        output.map_err(|e| Error::io(format!("run git {}", words.join(" ")), e))
    }

    fn failed(&self, words: &[&str], output: &Output) -> Error {
        Error::Git { repo: self.dir.clone(), words: words.join(" "), said: said(output) }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.dir).args(words).stdin(Stdio::null());
        // It takes no locks to refresh what it knows, and asks nobody.
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
            command.env_remove(variable);
        }
        command
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

fn parse(line: &str) -> Option<Commit> {
    let mut fields = line.splitn(4, '\0');
    Some(Commit {
        hash: fields.next()?.to_owned(),
        tree: fields.next()?.to_owned(),
        unix_s: fields.next()?.parse().ok()?,
        subject: fields.next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with three commits. Each changes `a`.
    fn repository() -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.arg("-C").arg(dir.path()).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
            let output = command.args(words).output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", said(&output));
        };
        git(&["init", "--quiet"]);
        for (n, subject) in ["first: one", "second", "third"].iter().enumerate() {
            fs::write(dir.path().join("a"), format!("{n}\n")).unwrap();
            git(&["add", "."]);
            git(&["commit", "--quiet", "-m", subject]);
        }
        let repository = Repository::open(dir.path()).unwrap();
        (dir, repository)
    }

    #[test]
    fn commits_have_names_subjects_and_an_order() {
        let (_dir, repository) = repository();
        let (first, last) =
            (repository.commit("HEAD~2").unwrap(), repository.commit("HEAD").unwrap());
        assert_eq!((first.subject.as_str(), first.hash.len()), ("first: one", 40));
        let between = repository.between(&first, &last).unwrap();
        let subjects: Vec<&str> = between.iter().map(|commit| commit.subject.as_str()).collect();
        assert_eq!(subjects, ["second", "third"]);
        assert_eq!(between[1], last);
        let error = repository.between(&last, &first).unwrap_err().to_string();
        assert!(error.contains("is no ancestor of"), "{error}");
        let distance = |from: &Commit, to: &Commit| repository.distance(&from.hash, &to.hash);
        assert_eq!((distance(&first, &last), distance(&last, &first)), (Some(2), Some(-2)));
        assert_eq!(distance(&first, &first), Some(0));
        assert_eq!(repository.distance(&first.hash, "nosuch"), None);
        let line = repository.first_parents(&last).unwrap();
        assert_eq!(line.len(), 3);
        assert_eq!((&line[0], &line[2]), (&last.hash, &first.hash));
        for revision in ["nosuch", "--all", "HEAD~9", ""] {
            let error = repository.commit(revision).unwrap_err();
            assert!(matches!(error, Error::NoCommit { .. }), "{revision}: {error}");
        }
    }

    #[test]
    fn files_are_those_of_the_commit_and_the_worktree_stays() {
        let (dir, repository) = repository();
        fs::write(dir.path().join("a"), "not committed\n").unwrap();
        let target = tempfile::tempdir().unwrap();
        let commit = repository.commit("HEAD~1").unwrap();
        repository.export(&commit.tree, &target.path().join("source")).unwrap();
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(read(&target.path().join("source/a")), "1\n");
        assert_eq!(read(&dir.path().join("a")), "not committed\n");
    }

    #[test]
    fn files_as_they_lie_there_have_a_hash_and_git_knows_nothing_of_it() {
        let (dir, repository) = repository();
        fs::write(dir.path().join("a"), "not committed\n").unwrap();
        fs::write(dir.path().join("b"), "new\n").unwrap();
        let before = repository.text(&["status", "--porcelain"]).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let (files, tree) = Repository::tree_of_files(dir.path(), scratch.path()).unwrap();
        let target = tempfile::tempdir().unwrap();
        files.export(&tree, target.path()).unwrap();
        assert_eq!(fs::read_to_string(target.path().join("b")).unwrap(), "new\n");
        assert_eq!(repository.text(&["status", "--porcelain"]).unwrap(), before);
        // The files of repositories within, as submodules have them, belong to it.
        let ((outer, _outer), (inner, _inner)) = (self::repository(), self::repository());
        fs::create_dir(dir.path().join("extra")).unwrap();
        fs::rename(outer.path(), dir.path().join("extra/outer")).unwrap();
        fs::rename(inner.path(), dir.path().join("extra/outer/inner")).unwrap();
        fs::write(dir.path().join("extra/outer/a"), "changed\n").unwrap();
        let third = tempfile::tempdir().unwrap();
        let (files, whole) = Repository::tree_of_files(dir.path(), third.path()).unwrap();
        assert_ne!(whole, tree);
        let target = tempfile::tempdir().unwrap();
        files.export(&whole, target.path()).unwrap();
        let read = |path: &str| fs::read_to_string(target.path().join(path)).unwrap();
        assert_eq!(
            (read("extra/outer/a"), read("b")),
            ("changed\n".to_owned(), "new\n".to_owned())
        );
        assert_eq!(read("extra/outer/inner/a"), "2\n");
        fs::remove_dir_all(dir.path().join("extra")).unwrap();
        // The same files have the same hash.
        let again = tempfile::tempdir().unwrap();
        assert_eq!(Repository::tree_of_files(dir.path(), again.path()).unwrap().1, tree);
    }

    #[test]
    fn a_patch_that_does_not_apply_is_named() {
        let (_dir, repository) = repository();
        let target = tempfile::tempdir().unwrap();
        repository.export("HEAD", target.path()).unwrap();
        let patches = tempfile::tempdir().unwrap();
        let patch = |old: &str| {
            let path = patches.path().join("x.patch");
            let text = format!("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-{old}\n+patched\n");
            fs::write(&path, text).unwrap();
            path
        };
        let error = Repository::apply(&patch("7"), target.path()).unwrap_err().to_string();
        assert!(error.contains("x.patch does not apply"), "{error}");
        Repository::apply(&patch("2"), target.path()).unwrap();
        assert_eq!(fs::read_to_string(target.path().join("a")).unwrap(), "patched\n");
    }

    #[test]
    fn a_directory_without_git_is_no_repository() {
        let dir = tempfile::tempdir().unwrap();
        let error = Repository::open(dir.path()).unwrap_err();
        assert!(matches!(error, Error::NoRepository { .. }), "{error}");
    }
}
