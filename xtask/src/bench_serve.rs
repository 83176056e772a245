//! How long the pages of `rqps serve` take with 200 runs, and what telling of a run costs.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rqps_model::run::SystemStep;
use rqps_model::{
    Dbms, Figure, Group, Host, Label, Placement, Run, RunStatus, RunStep, RunSystem, Schedule,
    Slice, StepInfo, StepKind, StepOutcome, SystemSource, SystemSpec, Usage, Windows,
};
use rqps_store::live::{LiveRate, LiveStep};
use rqps_store::{Live, RunRef, Store};

/// Runs in the list.
const RUNS: u32 = 200;

/// Systems and steps of each.
const SHAPE: (usize, usize) = (5, 47);

/// Slices of each step on each system: the list must not depend on how many there are.
const SLICES: u32 = 2;

/// Times that each page is asked for.
const TIMES: usize = 21;

/// The longest that the list may take, milliseconds.
const LIST_MS: f64 = 100.0;

/// Writings of the file in which a run tells of itself.
const WRITINGS: u32 = 20_000;

/// What is measured with what.
pub(crate) struct Options {
    /// A binary in place of one that is built.
    pub(crate) rqps: Option<PathBuf>,
    /// Where the store is made and kept; in a directory that goes when absent.
    pub(crate) results: Option<PathBuf>,
}

/// Makes a store in a temporary directory, asks for its pages, and prints a table.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let rqps = match &options.rqps {
        Some(path) => path.clone(),
        None => crate::truth::build_rqps(root)?,
    };
    let temp = tempfile::Builder::new().prefix("rqps-bench-serve").tempdir()?;
    let results = options.results.as_deref().unwrap_or(temp.path());
    let began = Instant::now();
    let id = fill(results)?;
    println!(
        "{RUNS} runs of {} systems x {} steps x {SLICES} slices, stored in {:.0} s",
        SHAPE.0,
        SHAPE.1,
        began.elapsed().as_secs_f64()
    );
    let (child, at) = serve(&rqps, results)?;
    let step = "/history?step=step-00&by=time";
    let pages = [
        ("list", "/".to_owned()),
        ("search", "/?q=bench+step".to_owned()),
        ("about", format!("/runs/{id}/about")),
        ("report", format!("/runs/{id}")),
        ("history", step.to_owned()),
    ];
    println!("\n{:10} {:>10} {:>10} {:>10}", "page", "median ms", "worst ms", "KB");
    let mut list_ms = f64::NAN;
    for (name, path) in &pages {
        let mut ms = Vec::new();
        let mut bytes = 0;
        for _ in 0..TIMES {
            let began = Instant::now();
            bytes = get(&at, path)?;
            ms.push(began.elapsed().as_secs_f64() * 1e3);
        }
        ms.sort_by(f64::total_cmp);
        let (median, worst) = (ms[TIMES / 2], ms[TIMES - 1]);
        println!("{name:10} {median:>10.1} {worst:>10.1} {:>10.0}", bytes as f64 / 1024.0);
        if *name == "list" {
            list_ms = median;
        }
    }
    stop(child)?;
    println!("\ntelling of a run: {:.1} us a writing, one a second at most", telling(results)?);
    ensure!(list_ms < LIST_MS, "the list took {list_ms:.1} ms, more than {LIST_MS:.0}");
    Ok(())
}

/// Stores the runs; gives the id of the latest.
fn fill(dir: &Path) -> Result<String> {
    let store = Store::open(dir)?;
    let there = store.list_briefly()?.len();
    let mut last = String::new();
    for n in 0..RUNS {
        if there > 0 {
            last = made_up(n).id;
            continue;
        }
        let run = made_up(n);
        store.create_run(&run)?;
        last.clone_from(&run.id);
    }
    ensure!(store.select_outline(&RunRef::Latest)?.brief.id == last, "the latest run is another");
    Ok(last)
}

/// A finished run.
fn made_up(n: u32) -> Run {
    let started_unix_ms = 1_767_225_600_000 + i64::from(n) * 3_600_000;
    Run {
        id: format!("20260101-{n:06}-bench"),
        name: format!("bench step {n}"),
        status: RunStatus::Finished,
        started_unix_ms,
        finished_unix_ms: Some(started_unix_ms + 1_800_000),
        n_resumed: 0,
        rqps_version: "0.1.0".to_owned(),
        command_line: ["rqps", "run", "bench.toml"].map(str::to_owned).to_vec(),
        plan: "name = 'bench'\n".to_owned(),
        seed: 7,
        schedule: Schedule::Sequential { slices: SLICES },
        host: Host { hostname: "bench1".to_owned(), n_cpus: 2, ..Host::default() },
        imported: None,
        calibration: None,
        warnings: Vec::new(),
        base: 0,
        systems: (0..SHAPE.0).map(system).collect(),
        steps: (0..SHAPE.1).map(|step_idx| step(step_idx, n)).collect(),
    }
}

fn system(idx: usize) -> RunSystem {
    let version = format!("17.{idx}").parse::<rqps_model::Version>().ok();
    let source = match version.clone() {
        Some(version) => SystemSource::Catalogue { version, build: None },
        None => SystemSource::Builtin,
    };
    let label = Label(format!("pg17{idx}.small"));
    RunSystem {
        version,
        version_text: format!("17.{idx}"),
        settings: (0..300).map(|n| (format!("setting_{n}"), n.to_string())).collect(),
        ..RunSystem::new(SystemSpec::new(label, Dbms::Postgres, source))
    }
}

fn step(idx: usize, run: u32) -> RunStep {
    let name = format!("step-{idx:02}");
    let info = StepInfo {
        family: name.clone(),
        n: None,
        kind: StepKind::Read,
        group: Group::Point,
        figure: Figure::Queries,
        what: format!("the statements of {name}"),
        name,
    };
    let state = |system: usize| SystemStep {
        outcome: StepOutcome::Done,
        slices: (0..SLICES).map(|slice_idx| slice(slice_idx, system as u64, run)).collect(),
        ..SystemStep::pending()
    };
    let systems = (0..SHAPE.0).map(state).collect();
    RunStep { info, clients: 1, placement: Placement::Paired, start: 0, systems }
}

fn slice(idx: u32, system: u64, run: u32) -> Slice {
    // Some noise of half a percent that is the same each time.
    let noise = (u64::from(run) * 7919 + u64::from(idx) * 104_729 + system * 31) % 200;
    let n = (20_000 + system * 500 + noise) * 10;
    Slice {
        start: 0,
        load: 0,
        idx,
        n_rounds: None,
        start_unix_ms: 0,
        duration_ns: 10_000_000_000,
        seed: 7,
        n_events: n,
        n_queries: n,
        n_operations: n,
        n_rows: n,
        errors: Vec::new(),
        lateness: None,
        windows: Windows::default(),
        series: Vec::new(),
        response_times: Vec::new(),
        usage: Usage::default(),
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: None,
        counters: BTreeMap::new(),
        stated: None,
    }
}

/// Starts the server; gives its address.
fn serve(rqps: &Path, results: &Path) -> Result<(Child, String)> {
    let mut child = Command::new(rqps)
        .args(["serve", "--listen", "127.0.0.1:0", "--results"])
        .arg(results)
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("start {}", rqps.display()))?;
    let mut line = String::new();
    let stderr = child.stderr.take().context("read what the server says")?;
    BufReader::new(stderr).read_line(&mut line)?;
    let at = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
    let at = at.with_context(|| format!("the server did not start: {line}"))?;
    Ok((child, at.to_owned()))
}

/// Asks for a page over a connection of its own; gives its length in bytes.
fn get(at: &str, path: &str) -> Result<usize> {
    let mut stream = TcpStream::connect(at)?;
    stream.set_read_timeout(Some(Duration::from_secs(600)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let head = String::from_utf8_lossy(&answer[..answer.len().min(40)]).into_owned();
    ensure!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
    Ok(answer.len())
}

fn stop(mut child: Child) -> Result<()> {
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM)?;
    let status = child.wait()?;
    ensure!(status.success(), "the server ended with {status}");
    Ok(())
}

/// Microseconds of a writing of what a run of these systems tells of itself.
fn telling(dir: &Path) -> Result<f64> {
    let store = Store::open(dir)?;
    let file = store.create_live_file("telling")?;
    let rate = |system_idx| LiveRate { system_idx, elapsed_ms: 1234, per_s: 20_000.5 };
    let step = LiveStep { rates: (0..SHAPE.0).map(rate).collect(), ..LiveStep::default() };
    let mut live = Live { doing: "measure".to_owned(), step: Some(step), ..Live::default() };
    let began = Instant::now();
    for n in 0..WRITINGS {
        live.n_written = u64::from(n);
        file.write(&live)?;
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(WRITINGS))
}
