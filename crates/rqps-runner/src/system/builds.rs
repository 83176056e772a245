//! Systems that rqps builds from source: which commit a run measures, and what is kept of the build.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use rqps_build::{Record, Repository};
use rqps_model::{
    BuildType, COMMIT, COMMIT_SUBJECT, COMMIT_TIME, COMMITS_AFTER_BASE, FILES_DIFFER, SourceBuild,
    SourceOrigin, SystemSource, SystemSpec, Version,
};
use rqps_server::Installed;

use crate::Plan;

/// Writes into the plan which commit, or which files, each system is built from. A run keeps them, whatever happens to
/// a branch meanwhile.
pub(crate) fn set_commits(plan: &mut Plan, cache: &Path) -> Result<()> {
    for spec in &mut plan.systems {
        let SystemSource::Built(how) = &mut spec.source else { continue };
        let getting = || format!("get {}", spec.label);
        how.origin = rqps_build::resolve(spec.dbms, how, cache).with_context(getting)?;
    }
    Ok(())
}

/// The version that the source says it is.
pub(crate) fn version_of(spec: &SystemSpec, how: &SourceBuild) -> Result<Version> {
    let text = rqps_build::version_of(spec.dbms, &how.origin)?;
    text.parse().with_context(|| format!("read the version of the source of {}", spec.label))
}

/// An installed server with the facts of its source; `base` is the build that others are compared with.
pub(crate) fn described(
    found: Installed,
    how: &SourceBuild,
    record: &Record,
    base: Option<&SourceBuild>,
) -> Installed {
    let origin = match (&how.origin, &record.commit) {
        (SourceOrigin::Commit { repo, .. }, Some(commit)) => {
            format!("commit {} of {}", commit.short(), repo.display())
        }
        (SourceOrigin::Commit { repo, .. }, None) => format!("source of {}", repo.display()),
        (SourceOrigin::Directory { dir, .. }, _) => format!("files of {}", dir.display()),
    };
    let mut source_facts = facts(how, record);
    let after = base.and_then(|base| commits_after(base, how));
    source_facts.extend(after.map(|n| (COMMITS_AFTER_BASE.to_owned(), n.to_string())));
    Installed { origin, source_facts, ..found }
}

/// How many commits of the branch a build is after another one; negative before it.
fn commits_after(base: &SourceBuild, how: &SourceBuild) -> Option<i64> {
    let hash_of = |of: &SourceBuild| match &of.origin {
        SourceOrigin::Commit { repo, hash, .. } => Some((repo.clone(), hash.clone()?)),
        SourceOrigin::Directory { .. } => None,
    };
    let ((base_repo, from), (repo, to)) = (hash_of(base)?, hash_of(how)?);
    if base_repo != repo || from == to {
        return None;
    }
    Repository::open(&repo).ok()?.distance(&from, &to)
}

fn facts(how: &SourceBuild, record: &Record) -> BTreeMap<String, String> {
    let source = match how.origin {
        SourceOrigin::Commit { .. } => "commit",
        SourceOrigin::Directory { .. } => "files",
    };
    let build_type = match record.build {
        BuildType::Release => "release",
        BuildType::Debug => "debug",
    };
    let commit = record.commit.as_ref();
    let time = commit.and_then(|commit| jiff::Timestamp::from_second(commit.unix_s).ok());
    let is_changed = record.is_dirty.then(|| "yes".to_owned());
    let patches = (!record.patches.is_empty()).then(|| record.patches.join(", "));
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("source", Some(source.to_owned()));
    add(COMMIT, commit.map(|commit| commit.hash.clone()));
    add(COMMIT_SUBJECT, commit.map(|commit| commit.subject.clone()));
    add(COMMIT_TIME, time.map(|time| time.to_string()));
    add(FILES_DIFFER, is_changed);
    add("source_tree", Some(record.tree.clone()));
    add("recipe", Some(record.recipe.clone()));
    add("build_type", Some(build_type.to_owned()));
    add("built_by", Some(record.compiler.clone()));
    add("cflags", Some(record.cflags.clone()));
    add("lto", Some(if record.lto { "yes" } else { "no" }.to_owned()));
    add("patches", patches);
    facts
}
