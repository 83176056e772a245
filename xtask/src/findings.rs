//! The plans of `examples/findings`, measured, and kept as exported runs beside them.
//!
//! Each plan is run by rqps as a user would; what is kept is what `rqps runs export --small` writes. The
//! tables of `docs/findings.md` and the README come out of these files: a test of rqps fills them in.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use rqps_model::RunStatus;
use rqps_store::{RunSummary, Store};

use crate::truth::build_rqps;

/// The plans that are measured before the others, in this order: those that a visitor reads first.
const FIRST: [&str; 4] =
    ["mysql-versions-sysbench", "mysql-versions-insert", "tls", "myrocks-io-bound"];

/// What to measure.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Names of plans, measured anew; without any, those of which no run is kept.
    pub(crate) names: Vec<String>,
    /// A binary in place of one that is built.
    pub(crate) rqps: Option<PathBuf>,
    /// Where runs are kept with all that was measured.
    pub(crate) results: PathBuf,
}

/// A plan, and the file that its run is kept in.
struct Finding {
    name: String,
    plan: PathBuf,
    kept: PathBuf,
}

/// Measures, one plan after the other; one that fails costs none of the others.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let dir = root.join("examples/findings");
    let chosen = chosen(all(&dir)?, &options.names)?;
    let rqps = match &options.rqps {
        Some(path) => path.clone(),
        None => build_rqps(root)?,
    };
    for dir in [&options.results, &dir.join("results")] {
        std::fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    }
    let mut failed = Vec::new();
    for finding in &chosen {
        eprintln!("findings: {}", finding.name);
        if let Err(error) = measure(finding, &rqps, &options.results) {
            eprintln!("findings: {}: {error:#}", finding.name);
            failed.push(finding.name.as_str());
        }
    }
    ensure!(failed.is_empty(), "not measured, or not whole: {}", failed.join(", "));
    println!(
        "{} measured. UPDATE_EXPECT=1 cargo test -p rqps --test it findings puts them into the docs",
        chosen.len()
    );
    Ok(())
}

/// The plans, by name.
fn all(dir: &Path) -> Result<Vec<Finding>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))? {
        let plan = entry.context("list the plans")?.path();
        let name = plan.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if plan.extension().is_some_and(|ending| ending == "toml") {
            let kept = dir.join("results").join(format!("{name}.tar.zst"));
            out.push(Finding { name, plan, kept });
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

/// Those that are to be measured, [`FIRST`] first, the others by name.
fn chosen(all: Vec<Finding>, names: &[String]) -> Result<Vec<Finding>> {
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|it| it.name != **name)) {
        let known: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        bail!("no plan {unknown:?}; there are {}", known.join(", "));
    }
    let is_chosen = |it: &Finding| {
        if names.is_empty() { !it.kept.exists() } else { names.contains(&it.name) }
    };
    let mut chosen: Vec<Finding> = all.into_iter().filter(is_chosen).collect();
    let place = |it: &Finding| FIRST.iter().position(|first| *first == it.name);
    chosen.sort_by_key(|it| place(it).unwrap_or(FIRST.len()));
    Ok(chosen)
}

/// Runs a plan, or goes on with an unfinished run of it, and writes the file. A step that failed on a system costs
/// its figure and not the run: that is kept all the same, and the error is told then.
fn measure(finding: &Finding, rqps: &Path, results: &Path) -> Result<()> {
    let run = |args: &[&str]| -> Result<()> {
        let mut command = Command::new(rqps);
        command.args(args).arg("--results").arg(results);
        let status = command.stdout(std::process::Stdio::null()).status().context("run rqps")?;
        ensure!(status.success(), "rqps {} failed", args.join(" "));
        Ok(())
    };
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let began = SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?;
    let measured = run(&["run", "--no-html", &path(&finding.plan)]);
    let of_plan = format!("finding-{}", finding.name);
    let found = finished_since(results, &of_plan, began.as_millis());
    let id = match (found, measured.is_err()) {
        (Ok(Some(id)), _) => id,
        (_, true) => return measured,
        (Ok(None), false) => bail!("no run that is named {of_plan:?} has finished"),
        (Err(error), false) => return Err(error),
    };
    run(&["runs", "export", "--small", &id, "--output", &path(&finding.kept)])?;
    measured.with_context(|| format!("run {id} is kept, and lacks what failed"))
}

/// The run of this name that has finished since, begun since or resumed.
fn finished_since(results: &Path, name: &str, since_unix_ms: u128) -> Result<Option<String>> {
    let is_it = |run: &RunSummary| {
        let ended = run.finished_unix_ms.and_then(|ms| u128::try_from(ms).ok());
        let is_since = ended.is_some_and(|ms| ms >= since_unix_ms);
        run.name == name && run.status == RunStatus::Finished && is_since
    };
    let store = Store::open_existing(results)?;
    Ok(store.list_runs()?.into_iter().find(is_it).map(|run| run.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_first_is_measured_first() {
        let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/findings");
        let all = all(&plans).unwrap();
        let names: Vec<String> = all.iter().map(|it| it.name.clone()).collect();
        let chosen = chosen(all, &names).unwrap();
        let order: Vec<&str> = chosen.iter().map(|it| it.name.as_str()).collect();
        let (first, others) = order.split_at(FIRST.len());
        assert_eq!(first, FIRST);
        assert!(others.is_sorted() && order.len() == names.len(), "{order:?}");
    }
}
