//! How long the HTML report of a large run takes, from the store to the file, and how large it gets; and how
//! smoothly it scrolls, filters and sorts in Chromium, where node, that and the packages of `tests/browser` are.
//!
//! The run is made up: its rates vary as those of real ones do, and every second of every slice is
//! there, so that the page has as much to tell as after two weeks of measuring.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use rqps_analysis::Analysis;
use rqps_html as html;
use rqps_model::run::SystemStep;
use rqps_model::{
    Dbms, Figure, Group, Label, Placement, Run, RunStep, RunSystem, SeriesPoint, Slice, StepInfo,
    StepKind, StepOutcome, SystemSource, SystemSpec,
};
use rqps_store::{RunRef, Store};

/// What a report without flame graphs may take.
const MAX_BYTES: usize = 1_500_000;
const MAX_TIME: Duration = Duration::from_secs(2);

/// What `smooth.mjs` ends with where the page is not smooth.
const TOO_SLOW: i32 = 3;

/// The size of the run.
pub(crate) struct Options {
    pub(crate) systems: usize,
    pub(crate) steps: usize,
    /// Slices of each step on each system.
    pub(crate) rounds: u32,
    /// Seconds of a slice.
    pub(crate) seconds: u64,
    /// Where the page is kept; nowhere when absent.
    pub(crate) keep: Option<std::path::PathBuf>,
}

/// A small generator, so that the run is the same everywhere: Knuth's MMIX constants.
struct Draw(u64);

impl Draw {
    /// Uniform in 0..1.
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as f64 / f64::from(u32::MAX)
    }

    /// `value` by up to `share` more or less.
    fn around(&mut self, value: f64, share: f64) -> f64 {
        value * (1.0 + share * (2.0 * self.unit() - 1.0))
    }
}

/// Makes the run, stores it, and writes its report three times; prints the fastest of each part.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let results = tempfile::Builder::new().prefix("rqps-bench-report-").tempdir()?;
    let Options { systems, steps, rounds, seconds, .. } = options;
    println!("{systems} systems, {steps} steps, {rounds} rounds, series of {seconds} s");
    let store = Store::open(results.path())?;
    store.create_run(&made_up(options)?)?;
    let path = results.path().join("report.html");
    let mut best = [Duration::MAX; 3];
    let mut bytes = 0;
    for _ in 0..3 {
        let began = Instant::now();
        let run = store.select_run(&RunRef::Latest)?;
        let read = began.elapsed();
        let page = html::render(&Analysis::of(&run, rqps_stats::DEFAULT_BOUND));
        let rendered = began.elapsed();
        fs::write(&path, &page).with_context(|| format!("write {}", path.display()))?;
        let all = began.elapsed();
        if all < best[2] {
            best = [read, rendered - read, all];
        }
        bytes = page.len();
    }
    let [read, rendered, all] = best.map(|time| time.as_secs_f64());
    println!("read from the store  {read:.2} s\nanalysed, rendered   {rendered:.2} s");
    println!("all, with the file   {all:.2} s (at most {} s)", MAX_TIME.as_secs());
    println!("page                 {bytes} bytes (at most {MAX_BYTES})");
    if let Some(keep) = &options.keep {
        copy(&path, keep)?;
    }
    let is_smooth = in_browser(root, &path)?;
    ensure!(bytes <= MAX_BYTES, "the page is too large");
    ensure!(cfg!(debug_assertions) || best[2] <= MAX_TIME, "the report took too long");
    ensure!(is_smooth, "the page is not smooth");
    Ok(())
}

/// Opens the page in Chromium, which prints its times; gives whether they are short enough. Where something
/// for it is missing, that is printed.
fn in_browser(root: &Path, page: &Path) -> Result<bool> {
    let tests = root.join("tests/browser");
    let found = |names: &str| -> Option<String> {
        let which = format!("for p in {names}; do command -v $p && exit; done");
        let said = Command::new("sh").args(["-c", &which]).output().ok()?;
        let path = String::from_utf8(said.stdout).ok()?.trim().to_owned();
        (!path.is_empty()).then_some(path)
    };
    let chromium = found("chromium chromium-browser google-chrome");
    let (Some(node), Some(chromium)) = (found("node"), chromium) else {
        println!("in the browser       not tried: node or chromium is not installed");
        return Ok(true);
    };
    if !tests.join("node_modules/playwright-core").is_dir() {
        println!("in the browser       not tried: packages of tests/browser are not installed");
        return Ok(true);
    }
    let status = Command::new(node)
        .arg("smooth.mjs")
        .arg(page)
        .env("RQPS_CHROMIUM", chromium)
        .current_dir(tests)
        .status()
        .context("run node")?;
    ensure!(status.success() || status.code() == Some(TOO_SLOW), "the page was not opened");
    Ok(status.success())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("write {}", to.display()))?;
    println!("kept as {}", to.display());
    Ok(())
}

fn made_up(options: &Options) -> Result<Run> {
    let mut draw = Draw(7);
    let systems = (0..options.systems).map(system).collect::<Result<Vec<_>>>()?;
    let steps =
        (0..options.steps).map(|at| step(options, at, &mut draw)).collect::<Result<Vec<_>>>()?;
    Ok(Run {
        id: "20261121-203015-bench-report".to_owned(),
        name: "bench-report".to_owned(),
        status: rqps_model::RunStatus::Finished,
        started_unix_ms: 1_795_293_015_000,
        finished_unix_ms: Some(1_796_500_000_000),
        n_resumed: 0,
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: ["rqps", "run", "bench.toml"].map(str::to_owned).to_vec(),
        plan: "name = \"bench-report\"\n".to_owned(),
        seed: 7,
        schedule: rqps_model::Schedule::Sequential { slices: options.rounds },
        host: rqps_model::Host { hostname: "bench".to_owned(), n_cpus: 8, ..Default::default() },
        imported: None,
        calibration: None,
        warnings: Vec::new(),
        base: 0,
        systems,
        steps,
    })
}

fn system(at: usize) -> Result<RunSystem> {
    let version: rqps_model::Version = format!("8.0.{}", 30 + at).parse()?;
    let settings = (0..400).map(|n| (format!("setting_{n}"), format!("{}", n * (1 + at % 2))));
    let label = Label::of(Dbms::Mysql, &version, None, "small");
    let source = SystemSource::Catalogue { version: version.clone(), build: None };
    Ok(RunSystem {
        version_text: version.to_string(),
        version: Some(version),
        origin: "made up".to_owned(),
        settings: settings.collect(),
        ..RunSystem::new(SystemSpec::new(label, Dbms::Mysql, source))
    })
}

fn step(options: &Options, at: usize, draw: &mut Draw) -> Result<RunStep> {
    let groups = [Group::Point, Group::Range, Group::RangeAggregate, Group::Write];
    let group = groups[at * groups.len() / options.steps.max(1)];
    let kind = if group == Group::Write { StepKind::Write } else { StepKind::Read };
    let qps = 300.0 * 100_f64.powf(draw.unit());
    let systems = (0..options.systems)
        .map(|nth| {
            let qps = if nth == 0 { qps } else { draw.around(qps, 0.25) };
            let slices = (0..options.rounds)
                .map(|idx| slice(idx, qps, options.seconds, draw))
                .collect::<Result<_>>()?;
            Ok(SystemStep { outcome: StepOutcome::Done, slices, ..SystemStep::pending() })
        })
        .collect::<Result<Vec<_>>>()?;
    let name = format!("{}-{}", group.title().to_lowercase().replace(' ', "-"), at + 1);
    let info = StepInfo {
        family: name.clone(),
        n: None,
        kind,
        group,
        figure: Figure::Queries,
        what: format!("the statements of {name}"),
        name,
    };
    Ok(RunStep { info, clients: 1, placement: Placement::Paired, start: 0, systems })
}

fn slice(idx: u32, qps: f64, seconds: u64, draw: &mut Draw) -> Result<Slice> {
    let qps = draw.around(qps, 0.01);
    let mut times = Histogram::<u64>::new(3)?;
    let mut series = Vec::new();
    for _ in 0..seconds {
        let queries = whole(draw.around(qps, 0.02));
        let mean_ns = 1e9 / qps;
        series.push(SeriesPoint {
            queries: u32::try_from(queries)?,
            events: u32::try_from(queries)?,
            errors: 0,
            sum_ns: whole(mean_ns * queries as f64),
            max_ns: whole(mean_ns * (3.0 + 20.0 * draw.unit().powi(4))),
        });
        for _ in 0..20 {
            times
                .record(whole(mean_ns * (0.8 + 0.3 * draw.unit() + 20.0 * draw.unit().powi(12))))?;
        }
    }
    let mut response_times = Vec::new();
    V2DeflateSerializer::new().serialize(&times, &mut response_times)?;
    let n: u64 = series.iter().map(|point| u64::from(point.queries)).sum();
    let cpu_ns = whole(0.6e9 * seconds as f64);
    let windows = (0..seconds * 50).map(|_| u32::try_from(whole(draw.around(qps / 50.0, 0.1))));
    Ok(Slice {
        idx,
        start: 0,
        load: 0,
        n_rounds: None,
        start_unix_ms: 1_795_293_015_000 + i64::from(idx) * 600_000,
        duration_ns: seconds * 1_000_000_000,
        seed: u64::from(idx),
        n_events: n,
        n_queries: n,
        n_operations: n,
        n_rows: n,
        errors: Vec::new(),
        lateness: None,
        windows: rqps_model::Windows {
            length_ns: 20_000_000,
            counts: windows.collect::<Result<_, _>>()?,
        },
        series,
        response_times,
        usage: rqps_model::Usage {
            wall_ns: seconds * 1_000_000_000,
            host: rqps_model::HostCounters {
                cpu_user_ns: cpu_ns,
                cpu_system_ns: cpu_ns / 3,
                context_switches: n * 2,
                n_cpus: 8,
                ..Default::default()
            },
            server: Some(rqps_model::ProcessCounters {
                cpu_user_ns: cpu_ns,
                cpu_system_ns: cpu_ns / 4,
                cpu_total_ns: whole(draw.around(cpu_ns as f64, 0.01)),
                rss_bytes: 400_000_000,
                ..Default::default()
            }),
            client: rqps_model::ProcessCounters { cpu_total_ns: cpu_ns / 5, ..Default::default() },
            storage: None,
            sampler_cpu_ns: 1_000_000,
            waits: rqps_model::Waits::default(),
        },
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: None,
        counters: std::collections::BTreeMap::new(),
        stated: None,
    })
}

/// The nearest whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values are above 0 and small"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
