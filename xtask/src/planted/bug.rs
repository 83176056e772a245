//! A bug of the list: what it changes, and who should see it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bug {
    /// What it is called.
    pub(super) name: String,
    /// The part of rqps that it is in.
    pub(super) area: String,
    /// The file, from the root.
    pub(super) file: String,
    /// What stands there once.
    pub(super) from: String,
    /// What takes its place.
    pub(super) to: String,
    /// The packages whose tests should catch it.
    pub(super) packages: Vec<String>,
}

/// The file of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    bug: Vec<Bug>,
}

impl Bug {
    /// All of the list, in its order.
    pub(super) fn list(root: &Path) -> Result<Vec<Self>> {
        let path = super::list_in(root);
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let list: List =
            toml::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        Ok(list.bug)
    }

    /// Whether it can be put into the tree at `root`.
    pub(super) fn check(&self, root: &Path) -> Result<()> {
        self.changed(root).map(drop)
    }

    /// Changes the file in the tree at `root`.
    pub(super) fn put_into(&self, root: &Path) -> Result<()> {
        let text = self.changed(root)?;
        fs::write(root.join(&self.file), text).with_context(|| format!("write {}", self.file))
    }

    fn changed(&self, root: &Path) -> Result<String> {
        let Self { name, file, from, to, packages, .. } = self;
        let text = fs::read_to_string(root.join(file));
        let text = text.with_context(|| format!("{name}: read {file}"))?;
        let n = text.matches(from.as_str()).count();
        ensure!(n == 1, "{name}: {from:?} is {n} times in {file}, and should be once");
        ensure!(from != to, "{name}: changes nothing");
        ensure!(!packages.is_empty(), "{name}: names no package");
        Ok(text.replacen(from.as_str(), to, 1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn each_bug_of_the_list_changes_one_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let bugs = Bug::list(root).unwrap();
        for bug in &bugs {
            bug.check(root).unwrap();
            for package in &bug.packages {
                assert!(root.join("crates").join(package).is_dir(), "{}: {package}", bug.name);
            }
        }
        let names: BTreeSet<&str> = bugs.iter().map(|bug| bug.name.as_str()).collect();
        assert_eq!(names.len(), bugs.len(), "a name comes twice");
        let mut areas = BTreeMap::new();
        for bug in &bugs {
            *areas.entry(bug.area.as_str()).or_insert(0) += 1;
        }
        let wanted = [
            ("audit", 2),
            ("exit codes", 1),
            ("gate", 2),
            ("import", 2),
            ("report", 3),
            ("resume", 2),
            ("schedule", 3),
            ("statistics", 5),
            ("wire", 4),
        ];
        assert_eq!(areas, BTreeMap::from(wanted));
    }

    #[test]
    fn a_place_that_is_not_there_once_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rs"), "let a = 1;\nlet b = 1;\n").unwrap();
        let bug = |from: &str, to: &str| Bug {
            name: "n".to_owned(),
            area: "wire".to_owned(),
            file: "a.rs".to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            packages: vec!["rqps".to_owned()],
        };
        for (from, to) in [("= 1", "= 2"), ("c", "d"), ("let a", "let a")] {
            assert!(bug(from, to).check(dir.path()).is_err(), "{from:?}");
        }
        bug("a = 1", "a = 2").put_into(dir.path()).unwrap();
        let text = fs::read_to_string(dir.path().join("a.rs")).unwrap();
        assert_eq!(text, "let a = 2;\nlet b = 1;\n");
    }
}
