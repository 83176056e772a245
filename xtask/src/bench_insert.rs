//! Client CPU of the Insert Benchmark: per inserted row of l.i0 and per query.
//!
//! The kernel's own account of this process, divided by the rows inserted or the queries made. Client
//! and server share one CPU, over a unix socket.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use rqps_client::{AnyConnection, Connection as _, Protocol};
use rqps_load::{ClientPool, Control, Member, Order, Pace, Stop};
use rqps_model::{Compression, Dbms, Engine};
use rqps_workload::Size;
use rqps_workload::insert::{
    InsertClient, InsertSize, InsertWorker, Inserter, Querier, Queries, Rows, Schema, TableIds,
};

use crate::bench_client::{Cost, Target, cost, median, pin_to_one_cpu, sandbox};

/// Rows of a statement, as in l.i0.
const ROWS: u32 = 100;

/// Statements of a round.
const STATEMENTS: u64 = 4_000;

/// Queries of a round: user time is sampled by the kernel's tick, some hundred samples a second.
const QUERIES: u64 = 300_000;

/// The most client CPU per inserted row, microseconds: a tenth or less of a client in Python.
const ROW_BOUND_US: f64 = 0.5;

/// The most user CPU per range query of ten rows, microseconds.
const QUERY_BOUND_US: f64 = 1.5;

/// Runs the benchmark on both servers and prints a table for each.
pub(crate) fn run(root: &Path, rounds: usize) -> Result<()> {
    pin_to_one_cpu()?;
    let mut too_dear = Vec::new();
    for (dbms, version) in [(Dbms::Mariadb, "10.11.5"), (Dbms::Postgres, "17.4")] {
        let sandbox = sandbox(root, dbms, version, "bench-insert")?;
        let endpoint = sandbox.endpoint().clone();
        let measured = all(Target { dbms, endpoint: &endpoint }, rounds);
        let name = sandbox.name();
        sandbox.stop()?;
        let measured = measured.with_context(|| format!("measure with {name}"))?;
        print_table(&name, rounds, &measured);
        too_dear.extend(measured.iter().filter_map(Measured::beyond));
    }
    ensure!(too_dear.is_empty(), "beyond their bounds: {}", too_dear.join("; "));
    Ok(())
}

/// A kind of work, and what it cost in each round.
struct Measured {
    name: &'static str,
    bound: Option<Bound>,
    costs: Vec<Cost>,
}

/// The most that the median of something may be, microseconds.
struct Bound {
    what: &'static str,
    of: fn(&Cost) -> f64,
    us: f64,
}

impl Measured {
    fn median(&self, of: fn(&Cost) -> f64) -> f64 {
        median(self.costs.iter().map(of).collect())
    }

    /// What is dearer than it may be.
    fn beyond(&self) -> Option<String> {
        let Bound { what, of, us } = self.bound.as_ref()?;
        let found = self.median(*of);
        (found > *us).then(|| format!("{} ({what}): {found:.3} of {us}", self.name))
    }
}

fn all(target: Target<'_>, rounds: usize) -> Result<Vec<Measured>> {
    let dbms = target.dbms;
    let args = InsertSize::args(Size::Tiny);
    let engine = if dbms == Dbms::Postgres { Engine::Heap } else { Engine::Innodb };
    let schema = Schema::new(&args, dbms, engine, Compression::None);
    let mut connection = target.connect()?;
    for sql in schema.create_table_sql(1) {
        connection.query(&sql)?;
    }
    let ids = Arc::new(TableIds::new(1, 0));
    let row_bound = Bound { what: "all", of: |c| c.user_us + c.system_us, us: ROW_BOUND_US };
    let mut inserts = [
        Measured { name: "inserted row, text", bound: Some(row_bound), costs: Vec::new() },
        Measured { name: "inserted row, prepared", bound: None, costs: Vec::new() },
    ];
    for round in 0..rounds as u64 {
        for (protocol, to) in [Protocol::Text, Protocol::Prepared].into_iter().zip(&mut inserts) {
            to.costs.push(insert(target, &schema, protocol, &ids, round)?);
        }
    }
    for sql in schema.index_sql(1) {
        connection.query(&sql)?;
    }
    let table = Schema::table(1);
    connection.query(&match dbms {
        Dbms::Postgres => format!("VACUUM (ANALYZE) {table}"),
        _ => format!("ANALYZE TABLE {table}"),
    })?;
    let query_bound = Bound { what: "user", of: |c| c.user_us, us: QUERY_BOUND_US };
    let mut queries = [
        Measured { name: "range query", bound: Some(query_bound), costs: Vec::new() },
        Measured { name: "point query", bound: None, costs: Vec::new() },
    ];
    for round in 0..rounds as u64 {
        for (kind, to) in [Queries::Range, Queries::Point].into_iter().zip(&mut queries) {
            to.costs.push(query(target, &schema, kind, &ids, round)?);
        }
    }
    Ok(inserts.into_iter().chain(queries).collect())
}

fn insert(
    target: Target<'_>,
    schema: &Schema,
    protocol: Protocol,
    ids: &Arc<TableIds>,
    seed: u64,
) -> Result<Cost> {
    let mut connection = target.connect()?;
    let rows = Rows { ids: Arc::clone(ids), pair: None };
    let client = InsertClient { protocol, client_idx: 0, seed };
    let inserter = Inserter::new(&mut connection, schema, 1, rows, ROWS, client)?;
    run_one(connection, InsertWorker::Insert(inserter), STATEMENTS, u64::from(ROWS), seed)
}

fn query(
    target: Target<'_>,
    schema: &Schema,
    kind: Queries,
    ids: &Arc<TableIds>,
    seed: u64,
) -> Result<Cost> {
    let mut connection = target.connect()?;
    let client = InsertClient { protocol: Protocol::Prepared, client_idx: 0, seed };
    let querier = Querier::new(&mut connection, schema, 1, kind, Arc::clone(ids), client)?;
    run_one(connection, InsertWorker::Query(querier), QUERIES, 1, seed)
}

/// One worker for `n` events of so many operations each.
fn run_one(
    connection: AnyConnection,
    worker: InsertWorker,
    n: u64,
    operations: u64,
    seed: u64,
) -> Result<Cost> {
    let mut pool =
        ClientPool::of_inserts(vec![Member { connection, worker, cpus: Vec::new(), role: 0 }])?;
    let order = Order { pace: Pace::Closed, stop: Stop::Events(n), seed };
    let before = getrusage(UsageWho::RUSAGE_SELF)?;
    let tally = pool.run(&order, &mut |_| {}, &mut |_| Control::Go)?;
    let after = getrusage(UsageWho::RUSAGE_SELF)?;
    let n = n * operations;
    cost(&before, &after, n, n as f64 * 1e9 / tally.duration_ns().max(1) as f64)
}

fn print_table(server: &str, rounds: usize, rows: &[Measured]) {
    println!("\n{server}: client CPU, microseconds, median of {rounds} rounds");
    println!("{:24} {:>8} {:>8} {:>8} {:>12}", "", "user", "system", "all", "per second");
    for row in rows {
        let bound = row.bound.as_ref();
        println!(
            "{:24} {:>8.3} {:>8.3} {:>8.3} {:>12.0}  {}",
            row.name,
            row.median(|c| c.user_us),
            row.median(|c| c.system_us),
            row.median(|c| c.user_us + c.system_us),
            row.median(|c| c.qps),
            bound.map_or_else(String::new, |Bound { what, us, .. }| format!("{what} <= {us}")),
        );
    }
}
