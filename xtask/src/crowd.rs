//! Many clients for a long time on a real server: whether the client's memory stays flat, whether its count
//! of statements is the server's, and how soon it stops.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rqps_client::Connection;
use rqps_load::{ClientPool, ClientPoolError, Control, Member, Order, Pace, Stop};
use rqps_model::Dbms;
use rqps_runner::Sandbox;
use rqps_workload::{Program, Size, Suite, SysbenchWorker};

use crate::bench_client::{Target, fill, sandbox_with};

/// Length of a slice: memory is looked at after each.
const SLICE: Duration = Duration::from_secs(10);

/// What memory may grow by from the first tenth of the time to the last, as a share: what an allocator
/// keeps of short-lived buffers varies.
const MOST_GROWTH: f64 = 0.02;

/// How long stopping may take, from the wish to the end of the last thread.
const STOP_WITHIN: Duration = Duration::from_secs(1);

/// Options of the task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Clients.
    pub(crate) clients: u32,
    /// For how long.
    pub(crate) time: Duration,
}

/// What came of a server's trial.
struct Seen {
    by_client: u64,
    errors: u64,
    by_server: u64,
    /// Resident memory after each slice, bytes.
    memory: Vec<u64>,
    stopped_after: Duration,
}

/// Tries both protocols and prints a table. An error where something was lost, grew or did not stop.
pub(crate) fn run(root: &Path, options: Options) -> Result<()> {
    println!(
        "| server | clients | s | statements, client | server | memory at first, MB | in the end | stopped after, ms |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let mut wrong = Vec::new();
    for (dbms, version) in [(Dbms::Mariadb, "10.11.5"), (Dbms::Postgres, "17.4")] {
        let room = format!("options = {{ max_connections = {} }}\n", options.clients + 20);
        let mut sandbox = sandbox_with(root, dbms, version, "crowd", &room)?;
        let name = sandbox.name();
        let seen = one(dbms, &mut sandbox, options);
        sandbox.stop()?;
        let seen = seen.with_context(|| format!("with {name}"))?;
        wrong.extend(told(&name, &seen, options).into_iter().map(|what| format!("{name}: {what}")));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

/// Prints a line; gives what is not as it should be.
fn told(name: &str, seen: &Seen, options: Options) -> Vec<String> {
    let tenth = (seen.memory.len() / 10).max(1);
    let most = |part: &[u64]| part.iter().copied().max().unwrap_or(0);
    let first = most(&seen.memory[..tenth]);
    let last = most(&seen.memory[seen.memory.len() - tenth..]);
    let mb = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "| {name} | {} | {} | {} | {} | {:.2} | {:.2} | {:.0} |",
        options.clients,
        options.time.as_secs(),
        seen.by_client,
        seen.by_server,
        mb(first),
        mb(last),
        seen.stopped_after.as_secs_f64() * 1e3
    );
    let mut wrong = Vec::new();
    if seen.by_client != seen.by_server {
        wrong.push(format!("{} statements counted, {} served", seen.by_client, seen.by_server));
    }
    if seen.errors > 0 {
        wrong.push(format!("{} errors", seen.errors));
    }
    let growth = last as f64 / first.max(1) as f64 - 1.0;
    if growth > MOST_GROWTH {
        wrong.push(format!("memory grew by {:.1}%", growth * 100.0));
    }
    if seen.stopped_after > STOP_WITHIN {
        wrong.push(format!("it stopped after {:?}", seen.stopped_after));
    }
    wrong
}

fn one(dbms: Dbms, sandbox: &mut Sandbox, options: Options) -> Result<Seen> {
    let endpoint = sandbox.endpoint().clone();
    let args = Size::Tiny.args();
    let target = Target { dbms, endpoint: &endpoint };
    fill(target, &args)?;
    let suite = Suite::parse(include_str!("bench_client.toml"), "bench_client.toml")?;
    let program = Program::compile(suite.step("point")?, &args, dbms)?;
    let before = served(dbms, sandbox.admin())?;
    let mut pool = manned(target, &program, options.clients)?;
    let (mut memory, mut by_client, mut errors) = (Vec::new(), 0, 0);
    let begin = Instant::now();
    let mut seed = 0;
    while begin.elapsed() < options.time {
        seed += 1;
        let order = Order { pace: Pace::Closed, stop: Stop::Time(SLICE), seed };
        let tally = pool.run(&order, &mut |_| {}, &mut |_| Control::Go)?;
        by_client += tally.n_queries;
        errors += tally.errors.iter().map(|error| error.n).sum::<u64>();
        memory.push(resident()?);
    }
    drop(pool);
    let by_server = settled(dbms, sandbox.admin())? - before;
    Ok(Seen {
        by_client,
        errors,
        by_server,
        memory,
        stopped_after: stopped(target, &program, options)?,
    })
}

/// From the wish to stop, in the middle of a slice, to the end of all threads.
fn stopped(target: Target<'_>, program: &Arc<Program>, options: Options) -> Result<Duration> {
    let mut pool = manned(target, program, options.clients)?;
    let order = Order { pace: Pace::Closed, stop: Stop::Time(Duration::from_secs(600)), seed: 7 };
    let mut wished = None;
    let result = pool.run(&order, &mut |_| {}, &mut |live| {
        if live.elapsed < Duration::from_secs(3) {
            return Control::Go;
        }
        wished.get_or_insert_with(Instant::now);
        Control::Stop
    });
    ensure!(matches!(result, Err(ClientPoolError::Stopped)), "it did not stop: {result:?}");
    drop(pool);
    Ok(wished.context("it stopped by itself")?.elapsed())
}

fn manned(target: Target<'_>, program: &Arc<Program>, clients: u32) -> Result<ClientPool> {
    let mut members = Vec::new();
    for idx in 0..clients {
        let mut connection = target.connect().with_context(|| format!("connect client {idx}"))?;
        let worker = SysbenchWorker::new(Arc::clone(program), &mut connection, idx, 1)?;
        members.push(Member { connection, worker, cpus: Vec::new(), role: 0 });
    }
    Ok(ClientPool::of_steps(members)?)
}

/// What the server has counted of the statements of the clients: prepared ones executed; PostgreSQL's
/// scans of an index of the table.
fn served(dbms: Dbms, admin: &mut dyn Connection) -> Result<u64> {
    let (sql, column) = match dbms {
        Dbms::Postgres => (
            "select coalesce(sum(idx_scan), 0) from pg_stat_user_indexes where relname = 'sbtest1'",
            0,
        ),
        _ => ("show global status like 'Com_stmt_execute'", 1),
    };
    let result = admin.query(sql).context(sql)?;
    let value = result.rows.first().and_then(|row| row.get(column)?.clone());
    let value = value.with_context(|| format!("{sql}: no answer"))?;
    value.parse().with_context(|| format!("{sql}: {value}"))
}

/// The same once it no longer changes: PostgreSQL's processes tell what they did when they end.
fn settled(dbms: Dbms, admin: &mut dyn Connection) -> Result<u64> {
    let since = Instant::now();
    let (mut before, mut n_same) = (served(dbms, admin)?, 0);
    while n_same < 3 {
        if since.elapsed() > Duration::from_secs(60) {
            bail!("the server's counter does not come to rest");
        }
        std::thread::park_timeout(Duration::from_secs(1));
        let now = served(dbms, admin)?;
        n_same = if now == before { n_same + 1 } else { 0 };
        before = now;
    }
    Ok(before)
}

/// Resident memory of this process, bytes.
fn resident() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/status").context("read /proc/self/status")?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
    let kb: u64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    Ok(kb * 1024)
}
