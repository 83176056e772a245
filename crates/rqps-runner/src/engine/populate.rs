//! Fills tables without measuring it: only the steps after it count.

use anyhow::{Context as _, Result};
use rqps_client::{AnyConnection, Connection as _};
use rqps_load::{Control, Order, Pace, Stop};
use rqps_workload::{LoadCut, LoadSpec};

use crate::engine::bench::Bench;
use crate::engine::clients::StepClients;
use crate::engine::index::{TableIndexes, create_indexes};
use crate::plan::steps::PlannedStep;

/// Creates the tables of a load step, fills and indexes them. `show` gets the rows so far.
pub(crate) fn fill(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    spec: &LoadSpec,
    show: &mut dyn FnMut(u64),
) -> Result<()> {
    let seed = spec.seed;
    let mut connection =
        AnyConnection::open(bench.dbms, bench.endpoint).context("connect to load")?;
    for table in 1..=spec.tables {
        connection.query(&spec.create_table_sql(table)).context("create a table")?;
    }
    let cut = LoadCut::of(spec.tables, spec.rows, planned.clients);
    let all = cut.inserts_per_table * u64::from(spec.tables);
    let rows_per_insert = spec.rows / cut.inserts_per_table;
    let order = Order { pace: Pace::Closed, stop: Stop::Part { from: 0, to: all }, seed };
    let mut clients = StepClients::of_load(bench, planned, spec, seed)?;
    clients.pool.run(&order, &mut |_| {}, &mut |live| {
        show(live.n_queries * rows_per_insert);
        if bench.is_interrupted() { Control::Stop } else { Control::Go }
    })?;
    drop(clients);
    let of_table = |table| TableIndexes {
        rows: spec.rows,
        before: Vec::new(),
        statements: spec.finish_table_sql(table),
    };
    let tables: Vec<TableIndexes> = (1..=spec.tables).map(of_table).collect();
    create_indexes(bench, planned, &tables, seed, &mut |_| !bench.is_interrupted())?;
    Ok(())
}
