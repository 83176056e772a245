//! Client CPU per query: sysbench, rqps and a minimal loop, interleaved on the same fetched server.
//!
//! User and system time are the kernel's own account of the client process (sysbench as a child,
//! the others in this process), divided by the queries it made. Client and server share one CPU, as
//! in paired placement. A round is one slice of each. The medians are printed, and ratios are taken round
//! by round.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::unistd::Pid;
use rqps_client::{Address, AnyConnection, Connection as _, Endpoint};
use rqps_load::{ClientPool, Control, Member, Order, Pace, Stop};
use rqps_model::{Dbms, Engine};
use rqps_runner::{Plan, PlanFile, Sandbox};
use rqps_server::Catalogue;
use rqps_workload::{
    LoadCut, LoadSpec, Loader, Program, Size, Suite, SuiteArgs, SysbenchWorker, Worker as _,
};

use crate::replay::{Framing, Recorder};

/// Rows of the table: all in memory everywhere.
const ROWS: u64 = 100_000;

/// What is measured: our step, and what makes sysbench do the same.
struct Work {
    name: &'static str,
    step: &'static str,
    script: &'static str,
    options: &'static [&'static str],
    /// The most user CPU per query that rqps may take, as a share of sysbench's.
    bound: Option<f64>,
}

const WORKS: [Work; 4] = [
    Work {
        name: "point-query",
        step: "point",
        script: "oltp_point_select",
        options: &[],
        bound: Some(0.5),
    },
    Work {
        name: "range n=100",
        step: "range",
        script: "oltp_read_only",
        options: &[
            "--skip_trx=on",
            "--point_selects=0",
            "--simple_ranges=1",
            "--sum_ranges=0",
            "--order_ranges=0",
            "--distinct_ranges=0",
            "--range_size=100",
        ],
        bound: Some(0.35),
    },
    Work {
        name: "read-only n=10000",
        step: "read-only",
        script: "oltp_read_only",
        options: &["--range_size=10000"],
        bound: Some(0.3),
    },
    Work {
        name: "update-nonindex",
        step: "update-nonindex",
        script: "oltp_update_non_index",
        options: &[],
        bound: None,
    },
];

/// A server to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) dbms: Dbms,
    pub(crate) endpoint: &'a Endpoint,
}

impl Target<'_> {
    /// A connection such as the binary opens for a client.
    pub(crate) fn connect(self) -> Result<AnyConnection> {
        Ok(AnyConnection::open(self.dbms, self.endpoint)?)
    }
}

/// CPU per query, microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) user_us: f64,
    pub(crate) system_us: f64,
    pub(crate) qps: f64,
}

/// Options of the task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Length of each slice.
    pub(crate) slice: Duration,
    /// Rounds, of one slice each.
    pub(crate) rounds: usize,
}

/// Runs the benchmark on both servers and prints a table for each.
pub(crate) fn run(root: &Path, options: Options) -> Result<()> {
    let setup = Command::new(root.join("scripts/setup"))
        .arg("sysbench:sysbench")
        .status()
        .context("run scripts/setup")?;
    ensure!(setup.success(), "sysbench is missing and could not be installed");
    pin_to_one_cpu()?;
    for (dbms, version) in [(Dbms::Mariadb, "10.11.5"), (Dbms::Postgres, "17.4")] {
        one_server(root, dbms, version, options)
            .with_context(|| format!("measure with {dbms} {version}"))?;
    }
    Ok(())
}

/// Everything started from here on inherits the one CPU: server, sysbench, rqps, the minimal loop.
pub(crate) fn pin_to_one_cpu() -> Result<()> {
    let cpus = rqps_runner::placement::usable_cpus()?;
    let mut set = CpuSet::new();
    set.set(*cpus.first().context("no CPU")?)?;
    sched_setaffinity(Pid::from_raw(0), &set).context("pin to one CPU")
}

/// A server with an empty database, for the task of this name.
pub(crate) fn sandbox(root: &Path, dbms: Dbms, version: &str, task: &str) -> Result<Sandbox> {
    sandbox_with(root, dbms, version, task, "")
}

/// The same with more keys of the system.
pub(crate) fn sandbox_with(
    root: &Path,
    dbms: Dbms,
    version: &str,
    task: &str,
    keys: &str,
) -> Result<Sandbox> {
    let plan = plan_of(dbms, version, task, keys)?;
    Sandbox::start(&plan, &environment(root, task)?, &mut |_| {})
}

/// A plan of one server of the catalogue, with more keys of the system.
pub(crate) fn plan_of(dbms: Dbms, version: &str, task: &str, keys: &str) -> Result<Plan> {
    let text = format!("[[system]]\ndbms = \"{dbms}\"\nversion = \"{version}\"\n{keys}");
    Ok(PlanFile::parse(&text, task)?.resolve(task, &Catalogue::builtin()?)?)
}

/// What surrounds the task of this name.
pub(crate) fn environment(root: &Path, task: &str) -> Result<rqps_runner::Environment> {
    Ok(rqps_runner::Environment {
        results: root.join("target").join(task),
        cache: cache_dir()?,
        catalogue: Arc::new(Catalogue::builtin()?),
        temp: std::env::temp_dir(),
        stopped_by: Arc::default(),
        interrupt: Arc::new(AtomicBool::new(false)),
        command_line: ["cargo", "xtask", task].map(str::to_owned).to_vec(),
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        new_run: true,
        allow_settings: false,
        trial: rqps_server::Trial::default(),
        templates: None,
        patience: rqps_server::Patience::default(),
        wait_for_quiet: None,
        suspension: rqps_runner::Suspension::default(),
        drawn_seed: 1,
        watchdog: Vec::new(),
        variables: |_| None,
    })
}

fn one_server(root: &Path, dbms: Dbms, version: &str, options: Options) -> Result<()> {
    let sandbox = sandbox(root, dbms, version, "bench-client")?;
    let endpoint = sandbox.endpoint().clone();
    let measured = all_works(Target { dbms, endpoint: &endpoint }, options);
    let name = sandbox.name();
    sandbox.stop()?;
    print_table(&name, &measured?);
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a task for developers, run by hand")]
/// Where servers and tools are kept.
pub(crate) fn cache_dir() -> Result<std::path::PathBuf> {
    let home = std::env::var_os("HOME").context("HOME is not set")?;
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map_or_else(|| Path::new(&home).join(".cache"), Into::into);
    Ok(cache.join("rqps"))
}

/// One row of the table: each client's cost, round by round.
struct Row {
    work: &'static Work,
    rounds: Vec<[Cost; 3]>,
}

fn all_works(target: Target<'_>, options: Options) -> Result<Vec<Row>> {
    let mut args = Size::Tiny.args();
    args.rows = ROWS;
    fill(target, &args)?;
    let suite = Suite::parse(include_str!("bench_client.toml"), "bench_client.toml")?;
    let mut rows = Vec::new();
    let mut seed = 0;
    for work in &WORKS {
        let program = Program::compile(suite.step(work.step)?, &args, target.dbms)?;
        let mut rounds = Vec::new();
        for _ in 0..options.rounds {
            // A new seed each time: an update that writes what is there already changes no row.
            seed += 2;
            rounds.push([
                sysbench(target, work, options.slice)?,
                ours(target, &program, options.slice, seed)?,
                minimal(target, &program, options.slice, seed + 1)?,
            ]);
        }
        rows.push(Row { work, rounds });
    }
    Ok(rows)
}

/// Makes the tables and fills them over one connection.
pub(crate) fn fill(target: Target<'_>, args: &SuiteArgs) -> Result<()> {
    let dbms = target.dbms;
    let engine = if dbms == Dbms::Postgres { Engine::Heap } else { Engine::Innodb };
    let spec = LoadSpec::new(args, dbms, engine, 1);
    let mut connection = target.connect()?;
    connection.query(&spec.create_table_sql(1))?;
    let cut = LoadCut::of(spec.tables, spec.rows, 1);
    for part in spec.split(cut) {
        let inserts = part.inserts.clone();
        let mut loader = Loader::new(&spec, cut, part);
        for _ in inserts {
            loader.event(&mut connection, &mut |_| {})?;
        }
    }
    for sql in spec.finish_table_sql(1) {
        connection.query(&sql)?;
    }
    Ok(())
}

fn sysbench(target: Target<'_>, work: &Work, slice: Duration) -> Result<Cost> {
    let Target { dbms, endpoint } = target;
    let Address::Unix(socket) = &endpoint.address else { bail!("the sandbox has no socket") };
    let mut command = Command::new("sysbench");
    if dbms == Dbms::Postgres {
        let dir = socket.parent().context("socket without a directory")?;
        let port = socket.extension().context("socket without a port")?;
        command
            .arg("--db-driver=pgsql")
            .arg(format!("--pgsql-host={}", dir.display()))
            .arg(format!("--pgsql-port={}", port.to_string_lossy()))
            .arg(format!("--pgsql-user={}", endpoint.user))
            .arg(format!("--pgsql-password={}", endpoint.password.0))
            .arg(format!("--pgsql-db={}", endpoint.database));
    } else {
        command
            .arg("--db-driver=mysql")
            .arg(format!("--mysql-socket={}", socket.display()))
            .arg(format!("--mysql-user={}", endpoint.user))
            .arg(format!("--mysql-password={}", endpoint.password.0))
            .arg(format!("--mysql-db={}", endpoint.database));
    }
    command
        .args(["--tables=1", "--threads=1", "--rand-type=uniform"])
        .arg(format!("--table-size={ROWS}"))
        .arg(format!("--time={}", slice.as_secs().max(1)))
        .args(work.options)
        .args([work.script, "run"]);
    let before = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let output = command.output().context("run sysbench")?;
    let after = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "sysbench failed:\n{text}");
    // `    queries:                             123456 (24691.20 per sec.)`
    let line = text.lines().find(|l| l.trim_start().starts_with("queries:"));
    let mut words = line.unwrap_or_default().split_whitespace().skip(1);
    let queries: u64 =
        words.next().and_then(|w| w.parse().ok()).context("read sysbench's output")?;
    let qps = words.next().and_then(|w| w.trim_start_matches('(').parse().ok()).unwrap_or(0.0);
    cost(&before, &after, queries, qps)
}

fn ours(target: Target<'_>, program: &Arc<Program>, slice: Duration, seed: u64) -> Result<Cost> {
    let mut connection = target.connect()?;
    let worker = SysbenchWorker::new(Arc::clone(program), &mut connection, 0, seed)?;
    let mut pool =
        ClientPool::of_steps(vec![Member { connection, worker, cpus: Vec::new(), role: 0 }])?;
    let order = Order { pace: Pace::Closed, stop: Stop::Time(slice), seed };
    let before = getrusage(UsageWho::RUSAGE_SELF)?;
    let tally = pool.run(&order, &mut |_| {}, &mut |_| Control::Go)?;
    let after = getrusage(UsageWho::RUSAGE_SELF)?;
    cost(&before, &after, tally.n_queries, tally.n_queries as f64 / slice.as_secs_f64())
}

fn minimal(target: Target<'_>, program: &Arc<Program>, slice: Duration, seed: u64) -> Result<Cost> {
    let Target { dbms, endpoint } = target;
    let Address::Unix(server) = &endpoint.address else { bail!("the sandbox has no socket") };
    let framing = if dbms == Dbms::Postgres { Framing::Postgres } else { Framing::Mysql };
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("recorder.sock");
    let recorder = Recorder::listen(&path, server)?;
    let through = Endpoint { address: Address::Unix(path), ..endpoint.clone() };
    let mut connection = Target { dbms, endpoint: &through }.connect()?;
    let mut worker = SysbenchWorker::new(Arc::clone(program), &mut connection, 0, seed)?;
    // The first event teaches the server the parameters' types; the second is what is repeated.
    worker.event(&mut connection, &mut |_| {})?;
    worker.event(&mut connection, &mut |_| {})?;
    let mut replay = recorder.finish()?;
    drop(connection);
    replay.keep_last(usize::try_from(program.statements_per_event())?)?;
    let mut buffer = vec![0; 256 << 10];
    let before = getrusage(UsageWho::RUSAGE_SELF)?;
    let began = Instant::now();
    let mut queries = 0;
    while began.elapsed() < slice {
        queries += replay.event(framing, &mut buffer)?;
    }
    let after = getrusage(UsageWho::RUSAGE_SELF)?;
    cost(&before, &after, queries, queries as f64 / began.elapsed().as_secs_f64())
}

pub(crate) fn cost(before: &Usage, after: &Usage, queries: u64, qps: f64) -> Result<Cost> {
    ensure!(queries > 0, "no query was made");
    let us = |time: fn(&Usage) -> nix::sys::time::TimeVal| {
        (time(after) - time(before)).num_microseconds() as f64 / queries as f64
    };
    Ok(Cost { user_us: us(Usage::user_time), system_us: us(Usage::system_time), qps })
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn print_table(server: &str, rows: &[Row]) {
    println!(
        "\n{server}: client CPU per query, microseconds, median of {} rounds",
        rows[0].rounds.len()
    );
    println!(
        "{:20} {:>17} {:>17} {:>17}   {:>22}   {:>12}",
        "",
        "sysbench us+sy",
        "rqps us+sy",
        "minimal us+sy",
        "rqps/sysbench us, all",
        "rqps/minimal"
    );
    for row in rows {
        let of = |client: usize, what: fn(&Cost) -> f64| {
            median(row.rounds.iter().map(|r| what(&r[client])).collect())
        };
        let ratio = |a: usize, b: usize, what: fn(&Cost) -> f64| {
            median(row.rounds.iter().map(|r| what(&r[a]) / what(&r[b])).collect())
        };
        let user = |c: &Cost| c.user_us;
        let all = |c: &Cost| c.user_us + c.system_us;
        let pair = |client| format!("{:.2} + {:.2}", of(client, user), of(client, |c| c.system_us));
        let bound = row.work.bound.map_or_else(String::new, |b| format!(" (<= {b})"));
        println!(
            "{:20} {:>17} {:>17} {:>17}   {:>22}   {:>12}",
            row.work.name,
            pair(0),
            pair(1),
            pair(2),
            format!("{:.2}{bound}, {:.2}", ratio(1, 0, user), ratio(1, 0, all)),
            format!("{:.2} (<= 2)", ratio(1, 2, user)),
        );
        println!(
            "{:20} {:>17.0} {:>17.0} {:>17.0}",
            "  queries/s",
            of(0, |c| c.qps),
            of(1, |c| c.qps),
            of(2, |c| c.qps)
        );
    }
}
