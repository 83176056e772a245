//! Verdicts against a known truth: the same server several times, and slowed on purpose by 2, 5 and 10%.
//!
//! Three parts, unless options say otherwise: the same server five times, each two of them a pair, for how
//! often a verdict is false; a server slowed by 5% beside it for a minute a step, for whether that is found
//! and how wide intervals are then; and servers slowed by 2% and 10% for 40 s a step. All with two clients
//! and on several starts of the servers; what each of the starts alone would have said is counted too. Pairs
//! of one run share their servers, and so are not independent.
//!
//! Runs of rqps's own binary, kept in a results directory: what was measured counts, and the same call
//! resumes until there are enough step pairs. The rules are those of every run, with a practical bound
//! of 2.5%: with that of 5%, which users get, a slowdown of 5% is found to be large enough in half of the
//! cases, however well it is measured. What is slower or faster beyond chance, be it by less than the bound,
//! is counted as well: it is all that a slowdown of 2% can be.

mod count;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use rqps_model::{Run, RunStatus};
use rqps_store::{RunRef, Store};

use count::{Counts, Wanted};

/// The servers that are measured.
const SERVERS: [(&str, &str); 3] =
    [("mariadb", "10.11.5"), ("postgres", "17.4"), ("mysql", "8.0.33")];

/// Six steps that read and four that write.
const STEPS: [&str; 10] = [
    "point-query",
    "random-points_range=100",
    "points-covered-si",
    "range-covered-pk",
    "range-notcovered-si",
    "read-only_range=100",
    "update-inlist",
    "update-index",
    "update-nonindex",
    "read-write_range=100",
];

/// What to measure.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Step pairs that are wanted: of the same server, where there are any, else of the smallest slowdown.
    pub(crate) pairs: usize,
    /// Measured seconds of a step on each system and start.
    pub(crate) seconds: u64,
    /// Starts of the servers in a run.
    pub(crate) starts: u64,
    /// Clients of each step; those of the suite's size without.
    pub(crate) clients: Option<u64>,
    /// Systems beside the base that are the same server; each two of these and the base are a pair.
    pub(crate) twins: u64,
    /// A binary in place of one that is built.
    pub(crate) rqps: Option<PathBuf>,
    /// Where runs are kept.
    pub(crate) results: PathBuf,
    /// Slowdowns to find, percent.
    pub(crate) injected_slowdowns: Vec<f64>,
    /// The practical bound in place of half the smaller slowdown, percent.
    pub(crate) bound: Option<f64>,
}

impl Options {
    /// All parts of what is to be shown.
    pub(crate) fn parts(rqps: Option<&PathBuf>, results: &Path) -> [Self; 3] {
        let part = |pairs, (starts, seconds), twins, injected_slowdowns: &[f64]| Self {
            pairs,
            seconds,
            starts,
            clients: Some(2),
            twins,
            rqps: rqps.cloned(),
            results: results.to_owned(),
            injected_slowdowns: injected_slowdowns.to_vec(),
            bound: Some(2.5),
        };
        [
            part(200, (4, 5), 4, &[]),
            part(20, (10, 6), 0, &[5.0]),
            part(20, (10, 4), 0, &[2.0, 10.0]),
        ]
    }

    /// The practical bound, as a share.
    fn bound(&self) -> f64 {
        if let Some(percent) = self.bound {
            return percent / 100.0;
        }
        let least = self.injected_slowdowns.iter().copied().filter(|percent| *percent > 0.0);
        least.reduce(f64::min).map_or(rqps_stats::DEFAULT_BOUND, |percent| percent / 200.0)
    }

    /// Runs of one kind have one name: those of others do not count.
    fn name(&self, dbms: &str) -> String {
        let injected_slowdowns: Vec<String> =
            self.injected_slowdowns.iter().map(ToString::to_string).collect();
        let starts = if self.starts > 1 { format!("-{}x", self.starts) } else { String::new() };
        let twins = match self.twins {
            0 => "-alone".to_owned(),
            1 => String::new(),
            several => format!("-{several}same"),
        };
        let clients = self.clients.map(|n| format!("-{n}c")).unwrap_or_default();
        format!(
            "truth-{dbms}-{}s{starts}{twins}{clients}-{}",
            self.seconds,
            injected_slowdowns.join("-")
        )
    }

    fn plan(&self, dbms: &str, version: &str) -> String {
        use std::fmt::Write as _;
        let mut text = format!("name = \"{}\"\nbase = \"base\"\n", self.name(dbms));
        let mut system = |label: &str, injected_slowdown: f64| {
            let _ = write!(
                text,
                "\n[[system]]\ndbms = \"{dbms}\"\nversion = \"{version}\"\nlabel = \"{label}\"\n"
            );
            if injected_slowdown > 0.0 {
                let _ = writeln!(text, "injected_slowdown = {injected_slowdown:?}");
            }
        };
        system("base", 0.0);
        for twin in 1..=self.twins {
            let nth = if twin > 1 { twin.to_string() } else { String::new() };
            system(&format!("same{nth}"), 0.0);
        }
        for &percent in &self.injected_slowdowns {
            system(&format!("slowed{percent}"), percent);
        }
        let clients = self.clients.map(|n| format!("clients = [{n}]\n")).unwrap_or_default();
        let _ = write!(
            text,
            "\n[[suite]]\nsize = \"tiny\"\n{clients}steps = {STEPS:?}\n\n[schedule]\nmode = \"interleaved\"\n\
             budget = \"{}s\"\nstarts = {}\n",
            self.seconds * self.starts,
            self.starts
        );
        text
    }
}

/// Builds the binary as users get it.
pub(crate) fn build_rqps(root: &Path) -> Result<PathBuf> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "rqps"])
        .current_dir(root)
        .status()
        .context("run cargo")?;
    ensure!(built.success(), "rqps was not built");
    Ok(root.join("target/release/rqps"))
}

/// All parts; each is measured and printed, whatever another was short of.
pub(crate) fn all(root: &Path, parts: &[Options], is_report: bool) -> Result<()> {
    let mut result = Ok(());
    for options in parts {
        let of_part = if is_report { report(options) } else { run(root, options) };
        if let Err(error) = of_part {
            eprintln!("truth: {error:#}");
            result = Err(error);
        }
    }
    result
}

/// Measures until there are enough pairs, and prints the table.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.results).context("make the results directory")?;
    let rqps = match &options.rqps {
        Some(path) => path.clone(),
        None => build_rqps(root)?,
    };
    // Servers alternate, so that a change of the host meets both.
    let per_server = options.pairs.div_ceil(SERVERS.len());
    loop {
        let mut is_done = true;
        for server in SERVERS {
            let there = counts(options, server.0, false)?.whole;
            if there.n_pairs() >= per_server {
                continue;
            }
            is_done = false;
            let (n, name) = (there.n_pairs(), options.name(server.0));
            eprintln!("truth: {name}: {n} of {per_server} step pairs");
            let plan = options.results.join(format!("{name}.toml"));
            let (dbms, version) = server;
            std::fs::write(&plan, options.plan(dbms, version)).context("write the plan")?;
            let measured = Command::new(&rqps)
                .args(["run", "--no-html", "--results"])
                .args([&options.results, &plan])
                .stdout(std::process::Stdio::null())
                .status()
                .context("run rqps")?;
            ensure!(measured.success(), "rqps run {} failed", plan.display());
        }
        if is_done {
            break;
        }
    }
    report(options)
}

/// What is known of one server's runs: by all their starts, and by each start alone.
#[derive(Default)]
struct There {
    whole: Counts,
    by_start: Counts,
}

/// Prints the tables of what is there.
pub(crate) fn report(options: &Options) -> Result<()> {
    let mut all = There::default();
    let mut short = Vec::new();
    for (dbms, version) in SERVERS {
        let there = counts(options, dbms, options.starts > 1)?;
        println!("\n{dbms} {version}: {}", there.whole.host());
        print(options, &there);
        all.whole.add(&there.whole);
        all.by_start.add(&there.by_start);
    }
    println!("\nAll, bound {}%", options.bound() * 100.0);
    print(options, &all);
    let wanted = Wanted {
        n_pairs: options.pairs,
        slowdowns: &options.injected_slowdowns,
        has_a_minute: options.seconds * options.starts >= 60,
    };
    short.extend(all.whole.short_of(&wanted));
    ensure!(short.is_empty(), "short of what is wanted: {}", short.join("; "));
    Ok(())
}

fn print(options: &Options, there: &There) {
    let (seconds, starts) = (options.seconds, options.starts);
    let n_runs = there.whole.n_runs();
    println!("{} s a step on each system, runs: {n_runs}", seconds * starts);
    println!("{}", there.whole.table());
    if starts > 1 {
        println!("each of the {starts} starts alone, {seconds} s a step on each system");
        println!("{}", there.by_start.table());
    }
}

fn counts(options: &Options, dbms: &str, by_start: bool) -> Result<There> {
    let store = Store::open(&options.results)?;
    let name = options.name(dbms);
    let mut there = There::default();
    for summary in store.list_runs()? {
        if summary.name != name || summary.status != RunStatus::Finished {
            continue;
        }
        let run: Run = store.select_run(&RunRef::Id(summary.id))?;
        if !has_these_steps(&run) {
            continue;
        }
        there.whole.count(&run, options.bound());
        let has = |start: &u32| by_start && run.steps.iter().any(|step| step.start == *start);
        for start in (0..).take_while(has) {
            there.by_start.count(&of_start(&run, start), options.bound());
        }
    }
    Ok(there)
}

/// What was measured on one start of the servers, as a run of its own.
fn of_start(run: &Run, start: u32) -> Run {
    let mut alone = run.clone();
    alone.steps.retain(|step| step.start == start);
    for step in &mut alone.steps {
        step.start = 0;
        let slices = step.systems.iter_mut().flat_map(|system| &mut system.slices);
        slices.for_each(|slice| slice.start = 0);
    }
    alone
}

/// Runs of an older list of steps do not count.
fn has_these_steps(run: &Run) -> bool {
    STEPS.iter().all(|name| run.steps.iter().any(|step| step.info.name == *name))
}
