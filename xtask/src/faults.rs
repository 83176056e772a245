//! Faults on purpose: real runs on two small servers that are hit at random moments by what hits runs, and
//! whether anything was lost, left behind or not told.
//!
//! Every trial has a directory of its own below the results directory, which stays when something was
//! wrong with it. A line per trial is kept, and the same call resumes until there are enough of each.

mod check;
mod fault;
mod hosted;
mod strike;
mod table;
mod thief;
mod trial;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::truth::build_rqps;
use fault::Fault;
use table::Row;
use trial::{Mode, Trial};

/// How often a moment is drawn for a trial that strikes nothing.
const MOST_DRAWS: u64 = 5;

/// What to try.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Trials of each fault that are wanted.
    pub(crate) trials: usize,
    /// The faults, by name; all when empty.
    pub(crate) only: Vec<String>,
    /// What moments, schedules and servers are drawn from.
    pub(crate) seed: u64,
    /// The binary that is tried; built as users get it when absent.
    pub(crate) rqps: Option<PathBuf>,
    /// The servers, as DBMS and version.
    pub(crate) servers: Vec<(String, String)>,
    /// Where the trials are.
    pub(crate) results: PathBuf,
}

impl Options {
    fn faults(&self) -> Result<Vec<Fault>> {
        let known = |name: &String| Fault::ALL.iter().any(|fault| fault.name() == name);
        if let Some(unknown) = self.only.iter().find(|name| !known(name)) {
            let names: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
            bail!("no fault {unknown:?}; known: {}", names.join(", "));
        }
        let is_wanted =
            |fault: &Fault| self.only.is_empty() || self.only.iter().any(|n| n == fault.name());
        Ok(Fault::ALL.into_iter().filter(is_wanted).collect())
    }
}

/// Tries until there are enough of each fault, and prints the table.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let faults = options.faults()?;
    std::fs::create_dir_all(&options.results).context("make the results directory")?;
    // Servers of root run as another user, who must get to their data.
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&options.results, open).context("open the results directory")?;
    let results = options.results.canonicalize().context("find the results directory")?;
    let is_closed = |dir: &&Path| {
        std::fs::metadata(dir).map_or(true, |meta| meta.permissions().mode() & 0o001 == 0)
    };
    if let Some(closed) = results.ancestors().find(is_closed) {
        bail!(
            "not every user may enter {}: rqps would put the servers' data elsewhere, where nothing looks; \
             give --results below a directory that is open to all",
            closed.display()
        );
    }
    let rqps = match &options.rqps {
        Some(path) => std::path::absolute(path).context("find the binary")?,
        None => build_rqps(root)?,
    };
    let lengths: [Duration; 2] = [Mode::Sequential, Mode::Interleaved]
        .map(|mode| trial::undisturbed(&rqps, options, mode))
        .into_iter()
        .collect::<Result<Vec<_>>>()?
        .try_into()
        .map_err(|_| anyhow::anyhow!("two schedules have two lengths"))?;
    // Faults alternate, so that what is broken everywhere is seen early.
    for nth in 0..options.trials {
        for &fault in &faults {
            if table::read(&options.results)?.iter().any(|row| row.is_of(fault, nth)) {
                continue;
            }
            if let Some(reason) = fault.cannot() {
                eprintln!("faults: {} is skipped: {reason}", fault.name());
                continue;
            }
            let mut draws = 0;
            loop {
                let trial = Trial::drawn(fault, nth, draws, options, lengths);
                eprintln!("faults: {trial}");
                let row = trial.carry_out(&rqps, options)?;
                eprintln!("faults: {}", row.sentence());
                draws += 1;
                // A run that was over by then has shown nothing.
                if row.is_hit() || !row.problems.is_empty() || draws == MOST_DRAWS {
                    table::add(&options.results, &row)?;
                    break;
                }
            }
        }
    }
    report(options)
}

/// Prints the table of what is there. An error when anything was wrong.
pub(crate) fn report(options: &Options) -> Result<()> {
    let faults = options.faults()?;
    let rows: Vec<Row> = table::read(&options.results)?;
    let rows: Vec<Row> =
        rows.into_iter().filter(|r| faults.iter().any(|f| r.is_named(*f))).collect();
    println!("{}", table::render(&rows));
    let n_wrong = rows.iter().filter(|row| !row.problems.is_empty()).count();
    for row in rows.iter().filter(|row| !row.problems.is_empty()) {
        println!("{}", row.sentence());
    }
    ensure!(!rows.is_empty(), "nothing was tried yet");
    ensure!(n_wrong == 0, "{n_wrong} of {} trials went wrong", rows.len());
    Ok(())
}
