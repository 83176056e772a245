//! Planted bugs: small faults put into the code one at a time, and whether the tests catch each.
//!
//! The list is `xtask/planted.toml`. The code is a copy of the tracked files below `target/planted`, which has a
//! build of its own. A bug counts as caught when a test fails that passes without it, or tests do not end.
//! What was caught stays in `results.toml`, and the same call resumes with the rest.

mod bug;
mod cargo;
mod results;
mod tree;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use bug::Bug;
use cargo::{Cargo, Outcome};
use results::{Results, Row};
use tree::Tree;

/// Of the whole list, how many may slip through: 2 of 24.
const MAY_SLIP: usize = 2;

/// How long the tests of a bug's packages may take, and all of them: three times what they take on two CPUs. What takes
/// longer hangs.
const PACKAGES_WITHIN: Duration = Duration::from_secs(90 * 60);
const ALL_WITHIN: Duration = Duration::from_secs(3 * 3600);

/// What to try.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The bugs, by name, tried again; without any, those that no test was seen to catch.
    pub(crate) only: Vec<String>,
    /// Whether the tests of a bug's packages are all that is run.
    pub(crate) packages_only: bool,
}

/// Plants each bug in turn and prints a table. An error when too many slip through, or one cannot be tried.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let bugs = chosen(Bug::list(root)?, &options.only)?;
    for bug in &bugs {
        bug.check(root)?;
    }
    let dir = root.join("target/planted");
    let mut results = Results::read(&dir.join("results.toml"))?;
    let tree = Tree::new(root, dir.join("tree"));
    let cargo = Cargo { tree: dir.join("tree"), target: dir.join("build") };
    let mut broken = Vec::new();
    for bug in &bugs {
        if options.only.is_empty() && results.of(bug).is_some_and(Row::is_caught) {
            continue;
        }
        eprintln!("planted: {}", bug.name);
        match plant(bug, &tree, &cargo, options.packages_only) {
            Ok(row) => {
                eprintln!("planted: {}: {}", bug.name, row.words());
                results.put(row)?;
            }
            Err(error) => {
                eprintln!("planted: {}: {error:#}", bug.name);
                broken.push(bug.name.as_str());
            }
        }
    }
    tree.copy()?;
    println!("{}", results.render(&bugs));
    let n_caught = bugs.iter().filter(|bug| results.of(bug).is_some_and(Row::is_caught)).count();
    println!("{n_caught} of {} caught", bugs.len());
    ensure!(broken.is_empty(), "could not be tried: {}", broken.join(", "));
    let may_slip = if options.only.is_empty() { MAY_SLIP } else { 0 };
    let n_slipped = bugs.len() - n_caught;
    ensure!(n_slipped <= may_slip, "{n_slipped} slipped through, {may_slip} may");
    Ok(())
}

/// The bugs of these names; all without any.
fn chosen(mut bugs: Vec<Bug>, names: &[String]) -> Result<Vec<Bug>> {
    let is_known = |name: &&String| bugs.iter().any(|bug| bug.name == **name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = bugs.iter().map(|bug| bug.name.as_str()).collect();
        bail!("no bug {unknown:?}; known: {}", known.join(", "));
    }
    bugs.retain(|bug| names.is_empty() || names.contains(&bug.name));
    Ok(bugs)
}

/// Runs the tests with one bug in the code: those of its packages, then all.
fn plant(bug: &Bug, tree: &Tree, cargo: &Cargo, packages_only: bool) -> Result<Row> {
    // What tests wrote with the bug before goes, too.
    tree.copy()?;
    bug.put_into(tree.dir())?;
    let packages: Vec<&str> = bug.packages.iter().flat_map(|name| ["-p", name]).collect();
    cargo.build(&packages).context("it does not compile")?;
    let began = Instant::now();
    let mut row = Row::new(bug, "packages");
    let mut selected = packages.as_slice();
    let mut outcome = cargo.test(selected, None, PACKAGES_WITHIN)?;
    if outcome == Outcome::Passed && !packages_only {
        row = Row::new(bug, "all");
        selected = &["--workspace"];
        outcome = cargo.test(selected, None, ALL_WITHIN)?;
    }
    let took = began.elapsed();
    if let Outcome::Failed(test) = &outcome {
        // A test that fails now and then, or always, has caught nothing.
        tree.copy()?;
        let without = cargo.test(selected, Some(test), PACKAGES_WITHIN)?;
        ensure!(without == Outcome::Passed, "{test} fails without it, too");
    }
    row.set(outcome, took);
    Ok(row)
}

/// Where the list is.
fn list_in(root: &Path) -> PathBuf {
    root.join("xtask/planted.toml")
}
