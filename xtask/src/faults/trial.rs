//! One trial: a run, a fault at a moment that is drawn, whatever it takes to end the run, and the checks.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rqps_model::{Run, RunStatus};
use rqps_workload::random::Rng;

use super::Options;
use super::check::{self, Checks};
use super::fault::Fault;
use super::hosted::{Hosted, pause};
use super::strike::{Done, mount};
use super::table::{MISSED, Row};

/// The memory limit of a server, as a plan has it.
const MEMORY: &str = "memory = \"2G\"\n";

/// Rows of the table: filled in a second or two.
const ROWS: u32 = 20_000;

/// Slices of a step.
pub(super) const SLICES: usize = 2;

/// How often the same command is run again at most.
const ATTEMPTS: u32 = 3;

/// Size of a small disk: the data of two of the small servers, and the room that rqps wants before it
/// starts one.
const DISK: &str = "size=3g,mode=755";

/// The order of a run's slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Sequential,
    Interleaved,
}

/// A trial that is to be carried out.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    fault: Fault,
    nth: usize,
    mode: Mode,
    servers: [(String, String); 2],
    /// How long after the beginning of the run the fault strikes.
    after: Duration,
    /// What picks one of several servers.
    drawn: u64,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Interleaved => "interleaved",
        }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.servers.iter().map(|(dbms, version)| format!("{dbms} {version}"));
        write!(
            f,
            "{} {}: {} {:.1} s after the beginning, {}",
            self.fault.name(),
            self.nth,
            self.mode.name(),
            self.after.as_secs_f64(),
            servers.collect::<Vec<_>>().join(" and ")
        )
    }
}

/// How long a run takes that nothing happens to, measured once and kept.
pub(super) fn undisturbed(rqps: &Path, options: &Options, mode: Mode) -> Result<Duration> {
    let kept = options.results.join(format!("undisturbed-{}", mode.name()));
    if let Ok(text) = std::fs::read_to_string(&kept) {
        let ms = text.trim().parse().with_context(|| format!("read {}", kept.display()))?;
        return Ok(Duration::from_millis(ms));
    }
    eprintln!("faults: a run that nothing happens to, {}", mode.name());
    let servers = [server_of(options, 0)?, server_of(options, 1)?];
    let hosted = Hosted::new(&options.results.join("undisturbed"))?;
    std::fs::write(hosted.path("plan.toml"), plan(mode, &servers, None, ""))
        .context("write a plan")?;
    // The first one fetches what is not there.
    let mut length = Duration::ZERO;
    for _ in 0..2 {
        let since = Instant::now();
        let mut running = hosted.spawn(rqps, &["run", "plan.toml", "--new"], "said.txt")?;
        let code = running.wait(hosted.deadline())?;
        ensure!(code == Some(0), "rqps ended with {code:?}:\n{}", running.said());
        length = since.elapsed();
    }
    std::fs::remove_dir_all(hosted.dir()).context("remove the undisturbed run")?;
    std::fs::write(&kept, length.as_millis().to_string()).context("keep its length")?;
    Ok(length)
}

fn server_of(options: &Options, nth: usize) -> Result<(String, String)> {
    let n = options.servers.len().max(1);
    options.servers.get(nth % n).cloned().context("name a server: --servers DBMS@VERSION")
}

fn plan(
    mode: Mode,
    servers: &[(String, String); 2],
    basedir: Option<&Path>,
    limit: &str,
) -> String {
    let system = |label: &str, (dbms, version): &(String, String)| {
        let from = match basedir {
            Some(dir) => format!("basedir = {:?}", dir.display().to_string()),
            None => format!("version = {version:?}"),
        };
        format!("[[system]]\nlabel = {label:?}\ndbms = {dbms:?}\n{from}\n{limit}")
    };
    format!(
        "name = 'faults'\n{}{}[[suite]]\nrows = {ROWS}\nclients = [2]\n\
         steps = ['point-query', 'range-covered-pk', 'range-notcovered-pk', 'update-index',\n\
         'update-nonindex', 'scan']\n\
         [suite.seconds]\nread = 1.0\nwrite = 1.0\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nmode = {:?}\nslices = {SLICES}\n",
        system("one", &servers[0]),
        system("other", &servers[1]),
        mode.name(),
    )
}

impl Trial {
    /// The `nth` of its kind; `draws` of it have struck nothing.
    pub(super) fn drawn(
        fault: Fault,
        nth: usize,
        draws: u64,
        options: &Options,
        lengths: [Duration; 2],
    ) -> Self {
        let of_fault = Fault::ALL.iter().position(|one| *one == fault).unwrap_or(0) as u64;
        let mut draw = Rng::stream(options.seed, (draws << 48) + (of_fault << 32) + nth as u64);
        let mode = if nth.is_multiple_of(2) { Mode::Sequential } else { Mode::Interleaved };
        let length = lengths[usize::from(mode == Mode::Interleaved)];
        let n = options.servers.len().max(1) as u64;
        let one = |draw: &mut Rng| {
            let at = usize::try_from(draw.below(n)).unwrap_or(0);
            options.servers.get(at).cloned().unwrap_or_default()
        };
        let first = one(&mut draw);
        let second = if fault.needs_own_program() { first.clone() } else { one(&mut draw) };
        let after = length.mul_f64(draw.unit() * fault.span());
        Self { fault, nth, mode, servers: [first, second], after, drawn: draw.next_u64() }
    }

    /// Carries it out; what went wrong is in the row. An error only when it cannot be tried.
    pub(super) fn carry_out(&self, rqps: &Path, options: &Options) -> Result<Row> {
        let dir = options.results.join(format!("{}-{}", self.fault.name(), self.nth));
        let disk = Disk::at(&dir, self.fault.needs_small_disk())?;
        let hosted = Hosted::new(&dir.join("in"))?;
        let basedir = match self.fault.needs_own_program() {
            true => {
                let (dbms, version) = &self.servers[0];
                Some(own_program(&hosted, rqps, dbms, version)?)
            }
            false => None,
        };
        // Far more than so small tables need.
        let limit = if self.fault.needs_memory_limit() { MEMORY } else { "" };
        let text = plan(self.mode, &self.servers, basedir.as_deref(), limit);
        std::fs::write(hosted.path("plan.toml"), text).context("write the plan")?;
        let mut checks = Checks::default();
        let mut row = Row::new(self.fault, self.nth, self.mode, self.after);
        let struck = self.strike(&hosted, rqps, &mut checks, &mut row)?;
        let kept = struck.as_ref();
        let last = self.resume(&hosted, rqps, kept, &mut checks, &mut row)?;
        check::complete(self.fault, &hosted, kept, last.as_ref(), &mut checks)?;
        // What strikes before anything is known of the run, or nothing, has nobody to tell it.
        let is_known = kept.is_some_and(|run| check::n_slices(run) > 0);
        let is_felt = !self.fault.may_be_unfelt() || kept.is_some_and(check::has_failed);
        let is_to_tell = row.is_hit() && is_known && is_felt;
        check::report(self.fault, &hosted, rqps, last.as_ref(), is_to_tell, &mut checks)?;
        check::nothing_left(&hosted, true, &mut checks);
        row.problems = checks.problems;
        if row.problems.is_empty() {
            drop(disk);
            std::fs::remove_dir_all(&dir).with_context(|| format!("remove {}", dir.display()))?;
        } else if let Disk::Mounted(_) = &disk {
            // What tells of it is to outlive the disk.
            let _ = Command::new("cp")
                .arg("-a")
                .args([hosted.dir(), &dir.with_extension("kept")])
                .status();
        }
        Ok(row)
    }

    /// Begins the run and lets the fault strike; gives what is stored after it.
    fn strike(
        &self,
        hosted: &Hosted,
        rqps: &Path,
        checks: &mut Checks,
        row: &mut Row,
    ) -> Result<Option<Run>> {
        let began = Instant::now();
        let mut running = hosted.spawn(rqps, &["run", "plan.toml"], "said-1.txt")?;
        while began.elapsed() < self.after && running.ended()?.is_none() {
            pause();
        }
        let done = if running.ended()?.is_some() {
            Done::Missed
        } else {
            self.fault.strike(hosted, &mut running, self.drawn)?
        };
        let code = running.wait(hosted.deadline())?;
        let said = running.said();
        let is_missed = done.is_missed(code);
        (row.done, row.code) = (if is_missed { MISSED.to_owned() } else { done.words() }, code);
        match code {
            None => checks.add(format!("it hung; it said:\n{said}")),
            Some(code) if is_missed => {
                checks.hold(matches!(code, 0 | 130), || format!("exit code {code}:\n{said}"));
            }
            Some(code) => checks.hold(self.fault.codes().contains(&code), || {
                format!("exit code {code}; it said:\n{said}")
            }),
        }
        check::said(&said, checks);
        check::await_end(hosted, checks);
        if let Done::ReadOnly(_) = &done {
            check::refused(hosted, rqps, checks)?;
        }
        drop(done);
        check::verified(hosted, rqps, checks)?;
        hosted.stored()
    }

    /// Runs the same command until the run has ended; gives what is stored then.
    fn resume(
        &self,
        hosted: &Hosted,
        rqps: &Path,
        kept: Option<&Run>,
        checks: &mut Checks,
        row: &mut Row,
    ) -> Result<Option<Run>> {
        let mut last = kept.cloned();
        row.slices_kept = kept.map_or(0, check::n_slices);
        for attempt in 2..=ATTEMPTS + 1 {
            if last.as_ref().is_some_and(|run| run.status == RunStatus::Finished) {
                break;
            }
            row.n_resumed += 1;
            let said = format!("said-{attempt}.txt");
            let mut running = hosted.spawn(rqps, &["run", "plan.toml"], &said)?;
            let code = running.wait(hosted.deadline())?;
            let text = running.said();
            check::said(&text, checks);
            checks.hold(matches!(code, Some(0 | 2)), || {
                format!("attempt {attempt} ended with {code:?}; it said:\n{text}")
            });
            last = hosted.stored()?;
            let is_finished = last.as_ref().is_some_and(|run| run.status == RunStatus::Finished);
            checks.hold(is_finished || self.fault.is_of_server(), || {
                format!("attempt {attempt} did not finish the run; it said:\n{text}")
            });
            check::verified(hosted, rqps, checks)?;
        }
        row.slices_in_all = last.as_ref().map_or(0, check::n_slices);
        Ok(last)
    }
}

/// What lies below a trial's directory.
enum Disk {
    /// The file system that is there.
    Same,
    /// A small one of its own.
    Mounted(PathBuf),
}

impl Disk {
    fn at(dir: &Path, is_small: bool) -> Result<Self> {
        if dir.exists() {
            let _ = Command::new("umount").arg("--quiet").arg(dir).status();
            std::fs::remove_dir_all(dir).with_context(|| format!("remove {}", dir.display()))?;
        }
        std::fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
        if !is_small {
            return Ok(Self::Same);
        }
        mount(&["-t", "tmpfs", "-o", DISK, "rqps-faults"], &[dir])?;
        Ok(Self::Mounted(dir.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Self::Mounted(dir) = self {
            let _ = Command::new("umount").arg("-l").arg(dir).status();
        }
    }
}

/// A copy of a fetched server's files, by links as far as the file system is the same.
fn own_program(hosted: &Hosted, rqps: &Path, dbms: &str, version: &str) -> Result<PathBuf> {
    let name = format!("{dbms}@{version}");
    let mut running = hosted.spawn(rqps, &["servers", "fetch", &name], "fetched.txt")?;
    let code = running.wait(hosted.deadline())?;
    ensure!(code == Some(0), "rqps servers fetch {name}:\n{}", running.said());
    let from = check::fetched_dir(&running.said(), &format!("{dbms}-{version}"))?;
    let to = hosted.path("server");
    let status = Command::new("cp").arg("-a").args([&from, &to]).status().context("run cp")?;
    if !status.success() {
        bail!("{} was not copied to {}", from.display(), to.display());
    }
    Ok(to)
}
