//! One server against itself while somebody else takes the CPUs in the middle third of the time, in a
//! sequential and in an interleaved run. A sequential run that nobody disturbs tells how long the
//! measuring takes.
//!
//! The server is MariaDB, whose starts differ less than one can see here: what starts of PostgreSQL draw would be
//! in the ratios of every schedule (docs/explanation/method.md).

use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rqps_analysis::{Analysis, Judging};
use rqps_model::{RunStep, Verdict};
use rqps_store::{RunRef, Store};

use crate::truth::build_rqps;

const STEPS: [&str; 6] = [
    "point-query",
    "random-points_range=100",
    "range-covered-pk",
    "read-only_range=100",
    "update-index",
    "update-nonindex",
];

/// Measured seconds of a step on each system.
const STEP_S: u64 = 12;

/// The practical bound of the verdicts.
const BOUND: f64 = 0.05;

/// A busy host is among what is tried.
const ON_ANY_HOST: Judging = Judging { bound: BOUND, allow_busy_host: true };

/// Measures in both schedules and prints a table. An error when the interleaved run is fooled, or when
/// the sequential one is not and so shows nothing.
pub(crate) fn run(root: &Path) -> Result<()> {
    let rqps = build_rqps(root)?;
    let results = tempfile::Builder::new().prefix("rqps-hog-").tempdir_in("/var/tmp")?;
    println!(
        "| schedule | others | step | rQPS | 95% interval | verdict |\n|---|---|---|---|---|---|"
    );
    let mut fooled = Vec::new();
    let alone = measure(&rqps, results.path(), "sequential", None)?;
    fooled.push(print(results.path(), "sequential", false)?);
    for mode in ["sequential", "interleaved"] {
        measure(&rqps, results.path(), mode, Some(alone / 3))?;
        fooled.push(print(results.path(), mode, true)?);
    }
    println!(
        "\nfalse verdicts: sequential and alone {}, sequential {}, interleaved {}",
        fooled[0], fooled[1], fooled[2]
    );
    ensure!(fooled[2] == 0, "the interleaved run was fooled {} times", fooled[2]);
    ensure!(fooled[1] > fooled[0], "the sequential run was not fooled by the others: repeat it");
    Ok(())
}

/// Runs the steps in `mode`; with a `third`, others take the CPUs for this long, after as long again from
/// the first slice on. Gives the time from the first slice to the end of the run.
fn measure(rqps: &Path, results: &Path, mode: &str, third: Option<Duration>) -> Result<Duration> {
    let name = format!("hog-{mode}-{}", third.is_some());
    let system = |label: &str| {
        format!("[[system]]\ndbms = \"mariadb\"\nversion = \"10.11.5\"\nlabel = \"{label}\"\n")
    };
    let text = format!(
        "name = \"{name}\"\n{}{}[[suite]]\nsize = \"tiny\"\nsteps = {STEPS:?}\n\
         seconds = {{ read = 2, write = 2 }}\n[schedule]\nmode = \"{mode}\"\nslices = {}\n",
        system("one"),
        system("other"),
        STEP_S / 2
    );
    let plan = results.join(format!("{name}.toml"));
    std::fs::write(&plan, text).context("write the plan")?;
    let said = tempfile::tempfile_in(results)?;
    let mut child = Command::new(rqps)
        .args(["run", "--no-html", "--results"])
        .args([results, &plan])
        .stdout(Stdio::null())
        .stderr(said.try_clone()?)
        .spawn()
        .context("run rqps")?;
    let mut begin = None;
    let mut hog = None;
    let status = loop {
        if let Some(status) = child.try_wait().context("wait for rqps")? {
            break status;
        }
        if begin.is_none() && has_begun(results, &name) {
            begin = Some(Instant::now());
            hog = third.map(|third| Hog::start(third, third));
        }
        std::thread::park_timeout(Duration::from_millis(300));
    };
    drop(hog);
    if !status.success() {
        let mut text = String::new();
        let mut said = said;
        said.rewind()?;
        said.read_to_string(&mut text)?;
        bail!("rqps run {} failed:\n{text}", plan.display());
    }
    Ok(begin.context("the run ended before its first slice was seen")?.elapsed())
}

/// Whether the latest run has this name and measured something of a step; the tables are filled by then.
fn has_begun(results: &Path, name: &str) -> bool {
    let run = Store::open(results).and_then(|store| store.select_run(&RunRef::Latest));
    run.is_ok_and(|run| {
        let is_step = |step: &&RunStep| STEPS.contains(&step.info.name.as_str());
        let mut systems = run.steps.iter().filter(is_step).flat_map(|step| &step.systems);
        run.name == name && systems.any(|system| !system.slices.is_empty())
    })
}

/// Prints the latest run; gives the number of its false verdicts.
fn print(results: &Path, mode: &str, is_busy: bool) -> Result<usize> {
    let others = if is_busy { "busy, middle third" } else { "none" };
    let run = Store::open(results)?.select_run(&RunRef::Latest)?;
    let analysis = Analysis::of(&run, ON_ANY_HOST);
    let mut fooled = 0;
    for step in analysis.steps.iter().filter(|step| step.is_compared()) {
        let cell = &step.cells[1];
        let (Some(rqps), Some(verdict)) = (cell.rqps(), cell.verdict()) else { continue };
        fooled += usize::from(matches!(verdict, Verdict::Slower | Verdict::Faster));
        let interval = rqps
            .interval
            .map_or_else(|| "n=1".to_owned(), |(low, high)| format!("[{low:.2}, {high:.2}]"));
        println!(
            "| {mode} | {others} | {} | {:.3} | {interval} | {verdict} |",
            step.title, rqps.point
        );
    }
    Ok(fooled)
}

/// Threads that take all the CPU they get, one for each CPU.
struct Hog {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Hog {
    /// They begin after `wait` and end after `time`, or when this is dropped.
    fn start(wait: Duration, time: Duration) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let n = std::thread::available_parallelism().map_or(2, usize::from);
        let threads = (0..n)
            .map(|_| {
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || {
                    let begin = Instant::now();
                    while begin.elapsed() < wait && !stop.load(Ordering::Relaxed) {
                        std::thread::park_timeout(Duration::from_millis(10));
                    }
                    while begin.elapsed() < wait + time && !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        Self { stop, threads }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
