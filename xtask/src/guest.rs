//! Runs on a server of somebody else's that are killed at random moments: whether the same command then ends well,
//! the owner's tables and settings are as they were, and no schema of rqps's is left.

mod host;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_model::Dbms;

use crate::truth::build_rqps;
use host::Host;

/// What to try.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Moments on each server.
    pub(crate) trials: usize,
    /// What moments are drawn from.
    pub(crate) seed: u64,
    /// The binary that is tried; built as users get it when absent.
    pub(crate) rqps: Option<PathBuf>,
    /// The servers.
    pub(crate) servers: Vec<(Dbms, String)>,
    /// Where the trials are.
    pub(crate) results: PathBuf,
}

/// What came of a moment.
#[derive(Debug)]
struct Row {
    server: String,
    moment: Duration,
    under_way: String,
    exit: Option<i32>,
    is_intact: bool,
    schemas: Vec<String>,
}

impl Row {
    fn is_good(&self) -> bool {
        self.exit == Some(0) && self.is_intact && self.schemas.is_empty()
    }

    fn line(&self) -> String {
        let exit = self.exit.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let tables = if self.is_intact { "intact" } else { "CHANGED" };
        let schemas =
            if self.schemas.is_empty() { "none".to_owned() } else { self.schemas.join(", ") };
        let (server, moment) = (&self.server, self.moment.as_secs_f64());
        format!("| {server} | {moment:.2} s | {} | {exit} | {tables} | {schemas} |", self.under_way)
    }
}

/// Tries the moments on each server, and prints the table. An error when anything was wrong.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let rqps = match &options.rqps {
        Some(path) => std::path::absolute(path).context("find the binary")?,
        None => build_rqps(root)?,
    };
    let mut rows = Vec::new();
    for (dbms, version) in &options.servers {
        rows.extend(try_server(&rqps, *dbms, version, options)?);
    }
    println!(
        "| server | killed after | under way | second command | owner's tables | schemas left |"
    );
    println!("|---|---|---|---|---|---|");
    rows.iter().for_each(|row| println!("{}", row.line()));
    let n_wrong = rows.iter().filter(|row| !row.is_good()).count();
    ensure!(n_wrong == 0, "{n_wrong} of {} moments went wrong", rows.len());
    Ok(())
}

fn try_server(rqps: &Path, dbms: Dbms, version: &str, options: &Options) -> Result<Vec<Row>> {
    let dir = options.results.join(format!("{dbms}-{version}"));
    if dir.exists() {
        std::fs::remove_dir_all(&dir).with_context(|| format!("remove {}", dir.display()))?;
    }
    std::fs::create_dir_all(&dir).with_context(|| format!("make {}", dir.display()))?;
    let mut host = Host::start(rqps, &dir, dbms, version)?;
    let since = Instant::now();
    let whole =
        Trial { rqps, dir: &dir, name: "whole" }.spawn()?.wait().context("wait for rqps")?;
    ensure!(whole.success(), "an undisturbed run failed; see {}", dir.join("whole.txt").display());
    let length = since.elapsed();
    let before = host.owned()?;
    let mut rows = Vec::new();
    for nth in 0..options.trials {
        let share = fraction(options.seed.wrapping_add(nth as u64));
        let moment = length.mul_f64(share);
        let trial = Trial { rqps, dir: &dir, name: &format!("trial-{nth}") };
        let mut child = trial.spawn()?;
        pause(moment);
        let under_way = trial.last_line();
        // One that was through by then is no error: nothing is left of it either.
        let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        child.wait().context("wait for rqps")?;
        let exit = trial.spawn()?.wait().context("wait for rqps")?.code();
        let row = Row {
            server: format!("{} {version}", dbms.name()),
            moment,
            under_way,
            exit,
            is_intact: host.owned()? == before,
            schemas: host.schemas()?,
        };
        eprintln!("guest: {}", row.line());
        rows.push(row);
    }
    Ok(rows)
}

/// A run with a results directory of its own.
struct Trial<'a> {
    rqps: &'a Path,
    dir: &'a Path,
    name: &'a str,
}

impl Trial<'_> {
    fn spawn(&self) -> Result<Child> {
        let said = std::fs::File::create(self.said()).context("make a file for what rqps says")?;
        let results = format!("r-{}", self.name);
        Command::new(self.rqps)
            .args(["--results", &results, "run", "plan.toml", "--no-html"])
            .current_dir(self.dir)
            .env("XDG_CONFIG_HOME", self.dir.join("config"))
            .env(host::PASSWORD_VARIABLE, host::PASSWORD)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .context("run rqps")
    }

    fn said(&self) -> PathBuf {
        self.dir.join(format!("{}.txt", self.name))
    }

    /// What rqps said last, without the time.
    fn last_line(&self) -> String {
        let text = std::fs::read_to_string(self.said()).unwrap_or_default();
        let line = text.lines().rfind(|line| !line.is_empty()).unwrap_or("it begins");
        let words = line.split_whitespace().filter(|word| !word.contains("00:"));
        words.take(8).collect::<Vec<_>>().join(" ")
    }
}

/// A number from 0 to 1, the same for the same seed (splitmix64).
fn fraction(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[expect(clippy::disallowed_methods, reason = "the moment is what is tried")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
