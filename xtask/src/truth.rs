//! Verdicts against a known truth: the same server several times, and servers that burn 1, 2, 5 and 10% more CPU.
//!
//! Two parts, unless options say otherwise: the same server five times, each two of them a pair, for how
//! often a verdict is false; and slowed servers beside one that is not, for how often that is found, how
//! often intervals hold the truth, and whether the cause is right. Both with two clients and on several
//! starts of the servers; what each of the starts alone would have said is counted too. Pairs of one run
//! share their servers, and so are not independent.
//!
//! Servers are slowed by code outside rqps: a library in the server's program (`truth/slow.c`) burns a set
//! share of the CPU that a command needs, and counts it. The base has the same library and burns nothing.
//!
//! Runs of rqps's own binary, kept in a results directory: what was measured counts, and the same call
//! resumes until there are enough step pairs. The rules are those of every run, with a smaller practical bound.

mod added;
mod counts;
mod group;
mod numbers;
mod pair;
mod slowed;
mod tables;
mod tally;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result, ensure};
use rqps_model::{Run, RunStatus};
use rqps_server::{Installed, Watch, ensure_patchelf};
use rqps_store::{RunRef, Store};

use crate::bench_client::{cache_dir, environment, plan_of};
use counts::{Counter, Log, Recorder};
use slowed::{Slowdown, SlowedServer, Workshop};
use tally::{Tally, Wanted};

/// A server that is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) dbms: rqps_model::Dbms,
    pub(crate) version: String,
}

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
    /// The servers.
    pub(crate) servers: Vec<Server>,
    /// Steps, of those that are measured by default; all where empty.
    pub(crate) steps: Vec<String>,
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
    /// CPU to burn in slowed servers, percent of the CPU that a command needs.
    pub(crate) slowdowns: Vec<f64>,
    /// The practical bound in place of half the smallest slowdown, percent.
    pub(crate) bound: Option<f64>,
}

impl Options {
    /// All parts of what is to be shown.
    pub(crate) fn parts(servers: &[Server], rqps: Option<&PathBuf>, results: &Path) -> [Self; 2] {
        let part = |pairs, (starts, seconds), twins, slowdowns: &[f64], bound| Self {
            servers: servers.to_vec(),
            steps: Vec::new(),
            pairs,
            seconds,
            starts,
            clients: Some(2),
            twins,
            rqps: rqps.cloned(),
            results: results.to_owned(),
            slowdowns: slowdowns.to_vec(),
            bound: Some(bound),
        };
        [
            part(100 * servers.len(), (4, 5), 4, &[], 2.5),
            part(10 * servers.len(), (10, 6), 0, &[1.0, 2.0, 5.0, 10.0], 1.0),
        ]
    }

    /// The practical bound, as a share.
    fn bound(&self) -> f64 {
        if let Some(percent) = self.bound {
            return percent / 100.0;
        }
        let least = self.slowdowns.iter().copied().reduce(f64::min);
        least.map_or(rqps_stats::DEFAULT_BOUND, |percent| percent / 200.0)
    }

    /// The steps that are measured.
    fn steps(&self) -> Vec<&str> {
        if self.steps.is_empty() {
            return STEPS.to_vec();
        }
        self.steps.iter().map(String::as_str).collect()
    }

    /// The base, its twins and the slowed systems, in the plan's order.
    fn systems(&self) -> Vec<Slowdown> {
        let equal = |label: String| Slowdown { label, bp: 0 };
        let twin = |nth: u64| {
            let nth = if nth > 1 { nth.to_string() } else { String::new() };
            equal(format!("same{nth}"))
        };
        let mut systems = vec![equal("base".to_owned())];
        systems.extend((1..=self.twins).map(twin));
        systems.extend(self.slowdowns.iter().map(|percent| Slowdown {
            label: format!("slowed{percent}"),
            bp: basis_points(*percent),
        }));
        systems
    }

    /// Runs of one kind have one name: those of others do not count.
    fn name(&self, server: &Server) -> String {
        let slowdowns: Vec<String> = self.slowdowns.iter().map(ToString::to_string).collect();
        let starts = if self.starts > 1 { format!("-{}x", self.starts) } else { String::new() };
        let twins = match self.twins {
            0 => "-alone".to_owned(),
            1 => String::new(),
            several => format!("-{several}same"),
        };
        let clients = self.clients.map(|n| format!("-{n}c")).unwrap_or_default();
        format!(
            "truth-{}-{}s{starts}{twins}{clients}-{}",
            server.dbms,
            self.seconds,
            slowdowns.join("-")
        )
    }

    /// The plan of a run; systems without files of their own are the server as it is fetched.
    fn plan(&self, server: &Server, slowed: &[SlowedServer]) -> String {
        use std::fmt::Write as _;
        let Server { dbms, version } = server;
        let mut text = format!("name = \"{}\"\nbase = \"base\"\n", self.name(server));
        for system in self.systems() {
            let own = slowed.iter().find(|server| server.slowdown == system);
            let files = own.map_or_else(
                || format!("version = \"{version}\""),
                |server| format!("basedir = {:?}", server.basedir),
            );
            let label = system.label;
            let _ = write!(text, "\n[[system]]\ndbms = \"{dbms}\"\n{files}\nlabel = \"{label}\"\n");
        }
        let clients = self.clients.map(|n| format!("clients = [{n}]\n")).unwrap_or_default();
        let _ = write!(
            text,
            "\n[[suite]]\nsize = \"tiny\"\n{clients}steps = {:?}\n\n[schedule]\nmode = \"interleaved\"\n\
             budget = \"{}s\"\nstarts = {}\n",
            self.steps(),
            self.seconds * self.starts,
            self.starts
        );
        text
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 100%")]
fn basis_points(percent: f64) -> u32 {
    (percent.clamp(0.0, 100.0) * 100.0).round() as u32
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
    let options = &Options { results: options.results.canonicalize()?, ..options.clone() };
    let rqps = match &options.rqps {
        Some(path) => path.clone(),
        None => build_rqps(root)?,
    };
    // Servers alternate, so that a change of the host meets all of them.
    let per_server = options.pairs.div_ceil(options.servers.len().max(1));
    loop {
        let mut is_done = true;
        for server in &options.servers {
            let n = tallied(options, server, false)?.whole.n_pairs();
            if n >= per_server {
                continue;
            }
            is_done = false;
            eprintln!("truth: {}: {n} of {per_server} step pairs", options.name(server));
            measure(root, options, server, &rqps)?;
        }
        if is_done {
            break;
        }
    }
    report(options)
}

/// One run of a server, with its libraries' counts recorded meanwhile.
fn measure(root: &Path, options: &Options, server: &Server, rqps: &Path) -> Result<()> {
    let name = options.name(server);
    let slowed = make_slowed(root, options, server)?;
    let plan = options.results.join(format!("{name}.toml"));
    std::fs::write(&plan, options.plan(server, &slowed)).context("write the plan")?;
    let counter = |server: &SlowedServer| -> Result<Counter> {
        let file = server.counts.reopen().context("open the counts")?;
        Ok(Counter { label: server.slowdown.label.clone(), file })
    };
    let counters = slowed.iter().map(counter).collect::<Result<Vec<_>>>()?;
    let recorder = Recorder::start(&options.results, &name, counters)?;
    let measured = Command::new(rqps)
        .args(["run", "--no-html", "--results"])
        .args([&options.results, &plan])
        .stdout(Stdio::null())
        .status()
        .context("run rqps")?;
    recorder.finish()?;
    ensure!(measured.success(), "rqps run {} failed", plan.display());
    Ok(())
}

/// The files of all systems, each with the library; none where nothing is slowed.
fn make_slowed(root: &Path, options: &Options, server: &Server) -> Result<Vec<SlowedServer>> {
    if options.slowdowns.is_empty() {
        return Ok(Vec::new());
    }
    let Server { dbms, version } = server;
    let nobody = AtomicBool::new(false);
    let patchelf =
        ensure_patchelf(&cache_dir()?, &mut Watch { stop: &nobody, report: &mut |_| {} })?;
    let workshop = Workshop {
        installed: &fetch(root, server)?,
        patchelf: &patchelf,
        dir: options.results.join("servers").join(format!("{dbms}-{version}")),
    };
    options.systems().iter().map(|slowdown| workshop.make(slowdown)).collect()
}

/// A server of the catalogue.
fn fetch(root: &Path, server: &Server) -> Result<Installed> {
    let plan = plan_of(server.dbms, &server.version, "truth", "")?;
    let environment = environment(root, "truth")?;
    let installed = rqps_runner::fetch(&plan, 0, &environment, &mut |_| {})?;
    installed.with_context(|| format!("{} is not started by rqps", server.dbms))
}

/// What is known of one server's runs: by all their starts, and by each start alone.
#[derive(Default)]
struct Tallies {
    whole: Tally,
    by_start: Tally,
}

/// Prints the tables of what is there, and writes the pairs as CSV.
pub(crate) fn report(options: &Options) -> Result<()> {
    let mut all = Tallies::default();
    for server in &options.servers {
        let tallies = tallied(options, server, options.starts > 1)?;
        println!("\n{} {}: {}", server.dbms, server.version, tallies.whole.host());
        print(options, &tallies);
        all.whole.add(&tallies.whole);
        all.by_start.add(&tallies.by_start);
    }
    println!("\nAll, bound {}%", options.bound() * 100.0);
    print(options, &all);
    let kind = if options.slowdowns.is_empty() { "equal" } else { "slowed" };
    let csv = options.results.join(format!("truth-{kind}.csv"));
    std::fs::write(&csv, tables::csv(&all.whole)).context("write the pairs")?;
    println!("pairs: {}", csv.display());
    let slowdowns_bp: Vec<u32> = options.slowdowns.iter().copied().map(basis_points).collect();
    let short = all.whole.short_of(&Wanted {
        n_pairs: options.pairs,
        slowdowns_bp: &slowdowns_bp,
        has_a_minute: options.seconds * options.starts >= 60,
    });
    ensure!(short.is_empty(), "short of what is wanted: {}", short.join("; "));
    Ok(())
}

fn print(options: &Options, tallies: &Tallies) {
    let (seconds, starts) = (options.seconds, options.starts);
    println!("{} s a step on each system, runs: {}", seconds * starts, tallies.whole.n_runs());
    print_tables(&tallies.whole);
    if starts > 1 {
        println!("each of the {starts} starts alone, {seconds} s a step on each system");
        print_tables(&tallies.by_start);
    }
}

fn print_tables(tally: &Tally) {
    println!("{}\n\n{}\n\n{}", tables::verdicts(tally), tables::rates(tally), tables::cpu(tally));
    if let Some(seen) = tables::seen(tally) {
        println!("{seen}");
    }
}

fn tallied(options: &Options, server: &Server, by_start: bool) -> Result<Tallies> {
    let store = Store::open(&options.results)?;
    let name = options.name(server);
    let log = Log::read(&options.results, &name)?;
    let mut tallies = Tallies::default();
    for summary in store.list_runs()? {
        if summary.name != name || summary.status != RunStatus::Finished {
            continue;
        }
        let run: Run = store.select_run(&RunRef::Id(summary.id))?;
        if !has_steps(&run, &options.steps()) {
            continue;
        }
        let judge = |run: &Run| pair::judge(run, &log, &options.systems(), options.bound());
        tallies.whole.count(&run, judge(&run)?);
        let has = |start: &u32| by_start && run.steps.iter().any(|step| step.start == *start);
        for start in (0..).take_while(has) {
            let alone = of_start(&run, start);
            tallies.by_start.count(&alone, judge(&alone)?);
        }
    }
    Ok(tallies)
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
fn has_steps(run: &Run, names: &[&str]) -> bool {
    names.iter().all(|name| run.steps.iter().any(|step| step.info.name == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_can_be_carried_out() {
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let server = Server { dbms: rqps_model::Dbms::Mariadb, version: "10.11.5".to_owned() };
        for options in Options::parts(std::slice::from_ref(&server), None, Path::new("/results")) {
            let slowed: Vec<SlowedServer> = options
                .systems()
                .into_iter()
                .filter(|_| !options.slowdowns.is_empty())
                .map(|slowdown| SlowedServer {
                    basedir: PathBuf::from("/servers").join(&slowdown.label),
                    slowdown,
                    counts: tempfile::NamedTempFile::new().unwrap(),
                })
                .collect();
            let text = options.plan(&server, &slowed);
            let plan = rqps_runner::PlanFile::parse(&text, "truth").unwrap();
            let plan = plan.resolve("truth", &catalogue).unwrap();
            assert_eq!(plan.systems.len(), 5);
            let is_own = |spec: &rqps_model::SystemSpec| {
                matches!(spec.source, rqps_model::SystemSource::Basedir { .. })
            };
            assert_eq!(plan.systems.iter().filter(|spec| is_own(spec)).count(), slowed.len());
        }
    }
}
