//! Secondary indexes after a load, one connection per table; of the Insert Benchmark after some more rows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use rqps_client::Connection;
use rqps_load::clock::Clock;
use rqps_load::{Order, Pace, Stop, Tally};
use rqps_model::{Placement, Role, Slice};
use rqps_workload::Worker as _;
use rqps_workload::insert::{InsertClient, InsertWorker, Inserter, Rows, Schema, TableIds};

use crate::engine::bench::Bench;
use crate::engine::clients::{connect, place_server, reset_sequence};
use crate::engine::guard::Witness;
use crate::engine::warnings;
use crate::engine::window::{Seen, Window, slice_of};
use crate::plan::steps::PlannedStep;

/// How often progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(500);

/// The indexes of a table.
pub(crate) struct TableIndexes {
    /// Rows of the table.
    pub(crate) rows: u64,
    /// What is done before, which no rate includes.
    pub(crate) before: Vec<String>,
    /// What creates them.
    pub(crate) statements: Vec<String>,
}

/// Creates the indexes of all tables; the time that it takes is the slice's.
pub(crate) fn create_indexes(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    tables: &[TableIndexes],
    seed: u64,
    show: &mut dyn FnMut(Duration) -> bool,
) -> Result<Slice> {
    let window = Window::open(bench)?;
    let witness = Witness::start();
    let tally = create(bench, tables, seed, show)?;
    let told = witness.warnings();
    // What the server counts would hold what it writes on behind the statements.
    let seen = Seen { counters: BTreeMap::new(), ..window.close()? };
    let of_slice = warnings::of_slice(&[&tally], &seen.usage, planned.clients);
    Ok(slice_of(&tally, 0, seed, seen, [told, of_slice].concat()))
}

/// Inserts one statement's rows into each table; gives how many.
pub(crate) fn insert_rows_before(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    schema: &Schema,
    seed: u64,
) -> Result<u32> {
    let Some((step, args)) = planned.of_insert() else { bail!("not a step to index") };
    let n_rows = step.rows_per_commit;
    place_server(bench, planned.placement)?;
    for table in 1..=args.tables() {
        let (mut connection, _) = connect(bench, planned.placement, table - 1, seed)?;
        reset_sequence(&mut connection, table, bench.dbms)?;
        let rows = Rows { ids: Arc::new(TableIds::new(1, 0)), pair: None };
        let protocol = args.protocol.for_role(Role::Insert, bench.dbms);
        let client = InsertClient { protocol, client_idx: table, seed };
        let inserter = Inserter::new(&mut connection, schema, table, rows, n_rows, client)?;
        InsertWorker::Insert(inserter).event(&mut connection, &mut |_| {})?;
    }
    Ok(n_rows)
}

/// Creates the indexes of all tables at once, each on a connection of its own; counts the tables' rows.
fn create(
    bench: &Bench<'_>,
    tables: &[TableIndexes],
    seed: u64,
    show: &mut dyn FnMut(Duration) -> bool,
) -> Result<Tally> {
    place_server(bench, Placement::Free)?;
    let order = Order { pace: Pace::Closed, stop: Stop::Events(0), seed };
    let all_rows = tables.iter().map(|table| table.rows).sum();
    let mut connections = Vec::new();
    for idx in 0..tables.len() {
        let idx = u32::try_from(idx).unwrap_or(0);
        // Threads that the server starts for this inherit the CPUs of the one that serves the client.
        let mut connection = connect(bench, Placement::Free, idx, seed)?.0;
        // All tables at once share the storage.
        connection.set_timeout(Some(bench.patience.through_rows(all_rows)))?;
        for sql in tables.get(idx as usize).iter().flat_map(|table| &table.before) {
            connection.query(sql).with_context(|| sql.clone())?;
        }
        connections.push(connection);
    }
    let breakers = connections.iter().map(Connection::breaker).collect::<Result<Vec<_>, _>>()?;
    let clock = Clock::starting_at(Instant::now());
    let mut sum = Tally::for_order(&order);
    std::thread::scope(|scope| -> Result<()> {
        let (alive, ends) = channel::<()>();
        let mut threads = Vec::new();
        for (table, mut connection) in tables.iter().zip(connections) {
            let alive = alive.clone();
            threads.push(scope.spawn(move || -> Result<Tally> {
                let _alive = alive;
                let mut tally = Tally::for_order(&order);
                let mut begin_ns = clock.now_ns();
                let TableIndexes { rows, statements, .. } = table;
                let n = statements.len() as u64;
                for (at, sql) in (0_u64..).zip(statements) {
                    connection.query(sql).with_context(|| format!("create an index ({sql})"))?;
                    let now_ns = clock.now_ns();
                    // Each of several statements indexes its part of what the rate counts.
                    tally.statement(now_ns, rows * (at + 1) / n - rows * at / n, 0);
                    tally.event(now_ns - begin_ns, now_ns);
                    begin_ns = now_ns;
                }
                Ok(tally)
            }));
        }
        drop(alive);
        let mut stopped = false;
        while ends.recv_timeout(SHOW_EVERY) == Err(RecvTimeoutError::Timeout) {
            if !show(Duration::from_nanos(clock.now_ns())) {
                // A statement that takes minutes is not waited for.
                stopped = true;
                breakers.iter().for_each(rqps_client::Breaker::break_off);
            }
        }
        for thread in threads {
            let tally = thread.join().map_err(|_| anyhow!("an indexing thread ended early"))?;
            if stopped {
                bail!("interrupted while indexes were created");
            }
            sum.merge(&tally?);
        }
        Ok(())
    })?;
    sum.last_ns = clock.now_ns();
    sum.finish(sum.last_ns);
    Ok(sum)
}
