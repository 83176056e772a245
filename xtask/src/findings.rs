//! The plans of `examples/findings`, measured, and kept as exported runs beside them.
//!
//! Each plan is run by rqps as a user would; what is kept is what `rqps runs export --small` writes. The
//! tables of `docs/findings/*.md` and the README come out of these files: a test of rqps fills them in.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use rqps_model::RunStatus;
use rqps_runner::PlanFile;
use rqps_store::{RunSummary, Store};

use crate::truth::build_rqps;

/// The plans that are measured before the others, in this order: those that a visitor reads first, then one of each
/// claim that a post has rates for, should time run out.
const FIRST: [&str; 12] = [
    "mysql-versions-sysbench",
    "mysql-versions-insert",
    "tls",
    "myrocks-io-bound",
    "mariadb-versions-insert",
    "mariadb-vs-mysql-insert",
    "allocators",
    "allocators-memory",
    "innodb-compressed",
    "myrocks-readahead",
    "myrocks-over-time-io-bound",
    "postgres-17-vs-18-insert",
];

/// What a plan names that is meant for the kernel's own read-ahead, and that read-ahead, KB.
const READ_AHEAD: (&str, u32) = ("read_ahead_kb", 128);

/// The exit code of an rqps that was interrupted.
const INTERRUPTED: i32 = 130;

/// Somebody has interrupted rqps, who hardly wants the next plan to begin.
#[derive(Debug)]
struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted; the same command resumes")
    }
}

impl std::error::Error for Interrupted {}

/// What to measure.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Names of plans, measured again; without any, those of which no run is kept.
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

/// Measures, one plan after the other; one that fails costs none of the others, one that is interrupted ends all.
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
    check_alone(&options.results)?;
    fetch(&chosen, &rqps)?;
    let mut failed = Vec::new();
    for finding in &chosen {
        eprintln!("findings: {}", finding.name);
        if let Err(error) = measure(finding, root, &rqps, &options.results) {
            if error.is::<Interrupted>() {
                return Err(error.context(finding.name.clone()));
            }
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

/// Refuses to measure beside an rqps that still measures into the same results, as one does whose task was killed.
fn check_alone(results: &Path) -> Result<()> {
    if !results.join("rqps.db").exists() {
        return Ok(());
    }
    let store = Store::open_existing(results)?;
    for unfinished in store.list_unfinished()? {
        if let Err(error @ rqps_store::Error::RunInUse { .. }) = store.lock_run(&unfinished.run_id)
        {
            return Err(error.into());
        }
    }
    Ok(())
}

/// Gets the servers of all plans before the first is measured: one that cannot be had is told at once, and not
/// hours later by the plan that needs it.
fn fetch(chosen: &[Finding], rqps: &Path) -> Result<()> {
    let mut servers = BTreeSet::new();
    for finding in chosen {
        servers.extend(servers_of(&PlanFile::parse(&finding.text()?, &finding.name)?));
    }
    for server in &servers {
        let mut command = Command::new(rqps);
        command.args(["servers", "fetch", server.as_str()]).stdout(Stdio::null());
        let status = command.status().context("run rqps")?;
        check_interrupt(status)?;
        if !status.success() {
            eprintln!("findings: plans with {server} cannot be measured");
        }
    }
    Ok(())
}

/// The servers of a plan, as `rqps servers fetch` takes them.
fn servers_of(plan: &PlanFile) -> Vec<String> {
    let selector = |system: &rqps_runner::plan::SystemFile| {
        let (dbms, version) = (system.dbms.as_ref()?, system.version.as_ref()?);
        let build = system.build.as_ref().map_or_else(String::new, |build| format!("+{build}"));
        Some(format!("{dbms}@{version}{build}"))
    };
    plan.system.iter().filter_map(selector).collect()
}

fn check_interrupt(status: ExitStatus) -> Result<()> {
    if status.code() == Some(INTERRUPTED) {
        return Err(Interrupted.into());
    }
    Ok(())
}

/// The read-ahead in KB that is not the one a plan is meant for.
fn other_read_ahead(plan: &str, kb: Option<u32>) -> Option<u32> {
    let (word, meant) = READ_AHEAD;
    kb.filter(|kb| plan.contains(word) && *kb != meant)
}

impl Finding {
    fn text(&self) -> Result<String> {
        let plan = &self.plan;
        std::fs::read_to_string(plan).with_context(|| format!("read {}", plan.display()))
    }

    /// Refuses a host on which the plan would measure something else.
    fn check_host(&self, results: &Path) -> Result<()> {
        let host = rqps_sample::host_info(results).context("read what the host is")?;
        if let Some(kb) = other_read_ahead(&self.text()?, host.read_ahead_kb) {
            bail!("the kernel reads {kb} KB ahead; the plan says how to set what it is meant for");
        }
        Ok(())
    }
}

/// Runs a plan, or resumes an unfinished run of it, and writes the file. A step that failed on a system costs
/// its rate and not the run: that is kept all the same, and the error is told then.
fn measure(finding: &Finding, root: &Path, rqps: &Path, results: &Path) -> Result<()> {
    finding.check_host(results)?;
    // What was typed is kept with the run, and told: nobody else has this directory.
    let short =
        |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let run = |args: &[&str]| -> Result<()> {
        let mut command = Command::new(rqps);
        command.args(args).arg("--results").arg(short(results)).current_dir(root);
        let status = command.stdout(Stdio::null()).status().context("run rqps")?;
        check_interrupt(status)?;
        ensure!(status.success(), "rqps {} failed", args.join(" "));
        Ok(())
    };
    let began = SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?;
    let measured = run(&["run", "--no-html", &short(&finding.plan)]);
    let of_plan = format!("finding-{}", finding.name);
    let found = finished_since(results, &of_plan, began.as_millis());
    let id = match (found, measured.is_err()) {
        (Ok(Some(id)), _) => id,
        (_, true) => return measured,
        (Ok(None), false) => bail!("no run that is named {of_plan:?} has finished"),
        (Err(error), false) => return Err(error),
    };
    let kept = run(&["runs", "export", "--small", &id, "--output", &short(&finding.kept)]);
    kept.with_context(|| format!("run {id} has finished and is not kept: export it by hand"))?;
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

    #[test]
    fn plans_for_one_read_ahead_are_not_measured_with_another() {
        let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/findings");
        let all = all(&plans).unwrap();
        let refused = |kb| -> Vec<&str> {
            let is_refused = |it: &&Finding| other_read_ahead(&it.text().unwrap(), kb).is_some();
            all.iter().filter(is_refused).map(|it| it.name.as_str()).collect()
        };
        let meant = ["myrocks-readahead", "postgres-io-method", "postgres-io-uring"];
        assert_eq!(refused(Some(8192)), meant);
        assert!(refused(Some(128)).is_empty() && refused(None).is_empty());
    }

    #[test]
    fn servers_are_named_as_they_are_fetched() {
        let text = "[[system]]\ndbms = 'postgres'\nversion = '18.6'\nbuild = 'debian'\n\
                    [[system]]\ndbms = 'mysql'\nversion = '5.6.14'\n";
        let plan = PlanFile::parse(text, "test").unwrap();
        assert_eq!(servers_of(&plan), ["postgres@18.6+debian", "mysql@5.6.14"]);
    }
}
