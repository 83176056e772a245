//! Causes where the truth is known: servers whose slowness was put there on purpose, and what reports
//! make of it, as a confusion matrix.
//!
//! Runs of rqps's own binary, kept in a results directory: what was measured counts, and the same call
//! resumes until there are enough trials. Judged is the cause that the report gives, whatever rules and
//! evidence it rests on.

mod hog;
mod matrix;
mod trial;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use rqps_analysis::{Analysis, Judging};
use rqps_model::RunStatus;
use rqps_store::{RunRef, Store};

use crate::truth::build_rqps;
use hog::Hog;
use matrix::{Judged, Matrix};
use trial::{TRIALS, Trial};

/// The practical bound of the verdicts: half of what the smallest of the causes costs, which is 5%.
const BOUND: f64 = 0.025;

/// A busy host is among what is tried.
const ON_ANY_HOST: Judging = Judging { bound: BOUND, allow_busy_host: true };

/// Of the trials of the whole set, how many may miss their cause: 2 of 24.
const MISSED_AT_MOST: f64 = 2.0 / 24.0;

/// What to measure.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Trials of each cause that are wanted.
    pub(crate) trials: usize,
    /// Measured seconds of a step on each system.
    pub(crate) seconds: u64,
    /// Where runs are kept.
    pub(crate) results: PathBuf,
    /// The causes that are put there, by name; all when empty.
    pub(crate) only: Vec<String>,
    /// The binary that measures; built as users get it when absent.
    pub(crate) rqps: Option<PathBuf>,
}

impl Options {
    fn trials_of(&self) -> Result<Vec<&'static Trial>> {
        let known = |name: &String| TRIALS.iter().any(|trial| trial.name == name);
        if let Some(unknown) = self.only.iter().find(|name| !known(name)) {
            let names: Vec<&str> = TRIALS.iter().map(|trial| trial.name).collect();
            anyhow::bail!("no cause {unknown:?}; known: {}", names.join(", "));
        }
        let is_wanted =
            |trial: &&Trial| self.only.is_empty() || self.only.iter().any(|n| n == trial.name);
        Ok(TRIALS.iter().filter(is_wanted).collect())
    }

    /// Runs of one kind have one name: those of others do not count.
    fn name(&self, trial: &Trial) -> String {
        format!("causes-{}-{}s", trial.name, self.seconds)
    }
}

/// Measures until there are enough trials of each cause, and prints the matrix.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let trials = options.trials_of()?;
    std::fs::create_dir_all(&options.results).context("make the results directory")?;
    let rqps = match &options.rqps {
        Some(path) => path.clone(),
        None => build_rqps(root)?,
    };
    // Trials alternate, so that a change of the host meets all of them.
    for wanted in 1..=options.trials {
        for trial in &trials {
            let there = judged(options, trial)?.len();
            if there < wanted {
                eprintln!("causes: {}: trial {wanted} of {}", trial.name, options.trials);
                measure(&rqps, options, trial, there)?;
            }
        }
    }
    report(options)
}

/// One run of a trial, the `nth` of its kind.
fn measure(rqps: &Path, options: &Options, trial: &Trial, nth: usize) -> Result<()> {
    let name = options.name(trial);
    let plan = options.results.join(format!("{name}.toml"));
    // A seed of its own makes each trial a run of its own.
    let text = trial.plan(&name, options.seconds, 1000 + nth as u64);
    std::fs::write(&plan, text).context("write the plan")?;
    let child = Command::new(rqps)
        .args(["run", "--no-html", "--results"])
        .args([&options.results, &plan])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("run rqps")?;
    let mut child = Running(child);
    let lines = child.0.stderr.take().context("read what rqps says")?;
    let mut lines = BufReader::new(lines);
    let (mut said, mut line, mut hog) = (String::new(), Vec::new(), None);
    while lines.read_until(b'\n', &mut line).context("read what rqps says")? > 0 {
        let text = String::from_utf8_lossy(&line);
        if hog.is_none() && trial.starts_hog(&text) {
            hog = trial.hog.map(Hog::start).transpose()?;
        }
        said.push_str(&text);
        line.clear();
    }
    let status = child.0.wait().context("wait for rqps")?;
    let has_cause = trial.hog.is_none() || hog.is_some();
    drop(hog);
    ensure!(status.success(), "rqps run {} failed:\n{said}", plan.display());
    if !has_cause {
        // It must not count as a trial whose cause was missed.
        let store = Store::open(&options.results)?;
        let same = |run: &rqps_store::RunSummary| run.name == name;
        let newest =
            store.list_runs()?.into_iter().filter(same).max_by_key(|run| run.started_unix_ms);
        if let Some(run) = newest {
            store.remove_run(&RunRef::Id(run.id))?;
        }
        bail!("{name}: nothing was made busy, as rqps did not say when the base was done:\n{said}");
    }
    Ok(())
}

/// rqps while it measures; ended when what goes on beside it fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails where it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Prints the matrix of what is there.
pub(crate) fn report(options: &Options) -> Result<()> {
    let mut matrix = Matrix::default();
    for trial in options.trials_of()? {
        for judged in judged(options, trial)? {
            println!("{}: {}", trial.name, judged.sentence);
            matrix.add(trial, &judged);
        }
    }
    println!("\n{}", matrix.table());
    let n = matrix.n_trials();
    println!("{} of {n} right, {} wrongly explained", matrix.n_right(), matrix.n_wrong());
    ensure!(n > 0, "nothing was measured yet");
    let missed = (n - matrix.n_right()) as f64;
    ensure!(missed <= MISSED_AT_MOST * n as f64, "{missed} of {n} miss their cause");
    ensure!(matrix.n_wrong() == 0, "{} are explained by a wrong cause", matrix.n_wrong());
    Ok(())
}

/// What the reports on all finished runs of a trial say.
fn judged(options: &Options, trial: &Trial) -> Result<Vec<Judged>> {
    let store = Store::open(&options.results)?;
    let name = options.name(trial);
    let mut all = Vec::new();
    for summary in store.list_runs()? {
        if summary.name == name && summary.status == RunStatus::Finished {
            let run = store.select_run(&RunRef::Id(summary.id))?;
            all.push(Judged::of(&Analysis::of(&run, ON_ANY_HOST), trial)?);
        }
    }
    Ok(all)
}
