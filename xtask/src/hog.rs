//! One server against itself while somebody else takes the CPUs in the middle third of the time: what a
//! sequential run makes of it, and what one in turns does.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rqps_model::Verdict;
use rqps_report::Analysis;
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

/// Measures in both schedules and prints a table. An error when the run in turns is fooled, or when
/// the sequential one is not and so shows nothing.
pub(crate) fn run(root: &Path) -> Result<()> {
    let rqps = build_rqps(root)?;
    let results = tempfile::Builder::new().prefix("rqps-hog-").tempdir_in("/var/tmp")?;
    println!("| schedule | step | rQPS | 95% interval | verdict |\n|---|---|---|---|---|");
    let mut fooled = Vec::new();
    for mode in ["sequential", "interleaved"] {
        measure(&rqps, results.path(), mode)?;
        fooled.push(print(results.path(), mode)?);
    }
    println!("\nfalse verdicts: sequential {}, interleaved {}", fooled[0], fooled[1]);
    ensure!(fooled[1] == 0, "turns were fooled {} times", fooled[1]);
    ensure!(fooled[0] > 0, "the sequential run was not fooled: repeat it");
    Ok(())
}

fn measure(rqps: &Path, results: &Path, mode: &str) -> Result<()> {
    let system = |label: &str| {
        format!("[[system]]\ndbms = \"postgres\"\nversion = \"17.4\"\nlabel = \"{label}\"\n")
    };
    let text = format!(
        "name = \"hog-{mode}\"\n{}{}[[suite]]\nsize = \"tiny\"\nsteps = {STEPS:?}\n\
         seconds = {{ read = 2, write = 2, warm_up = 0 }}\n[schedule]\nmode = \"{mode}\"\nslices = {}\n",
        system("one"),
        system("other"),
        STEP_S / 2
    );
    let plan = results.join(format!("{mode}.toml"));
    std::fs::write(&plan, text).context("write the plan")?;
    let mut child = Command::new(rqps)
        .args(["run", "--no-html", "--results"])
        .args([results, &plan])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("run rqps")?;
    let lines = child.stderr.take().context("read what rqps says")?;
    let mut said = String::new();
    let mut hog = None;
    for line in BufReader::new(lines).lines() {
        let line = line?;
        // The tables are filled when the first step begins.
        if hog.is_none() && line.contains(STEPS[0]) && !line.contains(".pre") {
            let third = Duration::from_secs(STEP_S * 2 * STEPS.len() as u64 / 3);
            hog = Some(Hog::start(third, third));
        }
        said.push_str(&line);
        said.push('\n');
    }
    let status = child.wait().context("wait for rqps")?;
    drop(hog);
    ensure!(status.success(), "rqps run {} failed:\n{said}", plan.display());
    Ok(())
}

/// Prints the latest run; gives the number of its false verdicts.
fn print(results: &Path, mode: &str) -> Result<usize> {
    let run = Store::open(results)?.select_run(&RunRef::Latest)?;
    let analysis = Analysis::of(&run, BOUND);
    let mut fooled = 0;
    for step in analysis.steps.iter().filter(|step| step.is_compared()) {
        let cell = &step.cells[1];
        let (Some(rqps), Some(verdict)) = (cell.rqps, cell.verdict) else { continue };
        fooled += usize::from(matches!(verdict, Verdict::Slower | Verdict::Faster));
        let interval = rqps
            .interval
            .map_or_else(|| "n=1".to_owned(), |(low, high)| format!("[{low:.2}, {high:.2}]"));
        println!("| {mode} | {} | {:.3} | {interval} | {verdict} |", step.title, rqps.point);
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
