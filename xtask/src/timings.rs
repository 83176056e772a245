//! How long `make build`, `make test` and `make test-all` take on a clean clone, and which tests are slow: the table
//! of CONTRIBUTING.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// What can be timed, in this order.
const GOALS: &[&str] = &["build", "test", "test-all"];

/// Where the table stands in CONTRIBUTING.md.
const BEGIN: &str = "<!-- cargo xtask timings -->\n";
const END: &str = "<!-- end of timings -->\n";

/// How many of the slowest tests are named.
const N_SLOWEST: usize = 10;

/// What was measured, in `target/timings/results.toml`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Results {
    #[serde(default)]
    goal: Vec<Goal>,
    #[serde(default)]
    test: Vec<Test>,
}

/// A goal of the Makefile.
#[derive(Debug, Serialize, Deserialize)]
struct Goal {
    name: String,
    seconds: f64,
    commit: String,
    date: String,
    n_cpus: usize,
}

/// A test of `make test-all`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Test {
    name: String,
    seconds: f64,
    /// Whether `make test` leaves it out.
    is_of_all: bool,
}

/// Times these goals, each on a clone without a target folder, and writes the table.
pub(crate) fn run(root: &Path, goals: &[String]) -> Result<()> {
    if let Some(unknown) = goals.iter().find(|goal| !GOALS.contains(&goal.as_str())) {
        bail!("unknown goal {unknown:?} (known: {})", GOALS.join(", "));
    }
    let dir = root.join("target/timings");
    let file = dir.join("results.toml");
    let mut results: Results = match fs::read_to_string(&file) {
        Ok(text) => toml::from_str(&text).with_context(|| format!("read {}", file.display()))?,
        Err(_) => Results::default(),
    };
    for goal in GOALS.iter().filter(|name| goals.is_empty() || goals.iter().any(|g| g == **name)) {
        let clone = dir.join("clone");
        if clone.exists() {
            fs::remove_dir_all(&clone).context("remove the clone before")?;
        }
        let (from, to) = (root.display().to_string(), clone.display().to_string());
        said("git", &["clone", "--quiet", &from, &to], root)?;
        eprintln!("timings: make {goal}");
        let since = Instant::now();
        let status = Command::new("make").arg(goal).current_dir(&clone).status()?;
        let seconds = since.elapsed().as_secs_f64();
        eprintln!("timings: make {goal} took {seconds:.0} s");
        let junit = clone.join("target/nextest/default/junit.xml");
        if junit.is_file() {
            results.test = tests(&clone, &fs::read_to_string(junit)?)?;
        }
        ensure!(status.success(), "make {goal} failed");
        results.goal.retain(|known| known.name != *goal);
        results.goal.push(Goal {
            name: (*goal).to_owned(),
            seconds,
            commit: said("git", &["rev-parse", "--short", "HEAD"], &clone)?,
            date: said("date", &["-u", "+%-d %B %Y"], &clone)?,
            n_cpus: std::thread::available_parallelism()?.get(),
        });
        fs::write(&file, toml::to_string(&results)?)?;
    }
    let page = root.join("CONTRIBUTING.md");
    let text = fs::read_to_string(&page)?;
    let (before, rest) = text.split_once(BEGIN).context("CONTRIBUTING.md has no place for it")?;
    let (_, after) = rest.split_once(END).context("the table of CONTRIBUTING.md has no end")?;
    fs::write(page, format!("{before}{BEGIN}{}{END}{after}", results.table()))?;
    print!("{}", results.table());
    Ok(())
}

/// What a command says on standard output.
fn said(program: &str, args: &[&str], dir: &Path) -> Result<String> {
    let output = Command::new(program).args(args).current_dir(dir).output();
    let output = output.with_context(|| format!("run {program}"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {}: {error}", args.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The tests of nextest's file of times.
fn tests(clone: &Path, junit: &str) -> Result<Vec<Test>> {
    let args = "nextest list --workspace --locked --features rqps/png,rqps/parquet --run-ignored only \
                --message-format oneline";
    let args: Vec<&str> = args.split_whitespace().collect();
    let listed = said("cargo", &args, clone)?;
    let of_all: BTreeSet<&str> = listed.lines().map(str::trim).collect();
    let attribute = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let test = |line: &str| {
        let name = [attribute(line, "classname")?, attribute(line, "name")?].join(" ");
        let seconds = attribute(line, "time")?.parse().ok()?;
        let is_of_all = of_all.contains(name.as_str());
        Some(Test { name, seconds, is_of_all })
    };
    let cases = junit.lines().filter(|line| line.trim_start().starts_with("<testcase "));
    Ok(cases.filter_map(test).collect())
}

impl Results {
    fn table(&self) -> String {
        let mut text =
            "\n| command | minutes | commit | CPUs | date |\n|---|---|---|---|---|\n".to_owned();
        for Goal { name, seconds, commit, date, n_cpus } in &self.goal {
            let minutes = seconds / 60.0;
            text.push_str(&format!(
                "| `make {name}` | {minutes:.1} | {commit} | {n_cpus} | {date} |\n"
            ));
        }
        let (of_all, of_test): (Vec<&Test>, Vec<&Test>) =
            self.test.iter().partition(|test| test.is_of_all);
        for (heading, mut tests) in [("`make test`", of_test), ("`make test-all` alone", of_all)] {
            if tests.is_empty() {
                continue;
            }
            tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
            let n = tests.len();
            text.push_str(&format!("\nThe slowest of the {n} tests of {heading}:\n\n"));
            text.push_str("| test | s |\n|---|---|\n");
            for Test { name, seconds, .. } in tests.into_iter().take(N_SLOWEST) {
                text.push_str(&format!("| `{name}` | {seconds:.0} |\n"));
            }
        }
        text
    }
}
