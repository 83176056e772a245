//! The clients of a step of the Insert Benchmark on one system, connected and placed.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use rqps_client::Connection;
use rqps_load::{ClientPool, Member};
use rqps_model::{Dbms, Engine, Role};
use rqps_workload::InsertArgs;
use rqps_workload::insert::{
    DeletedTable, Deleter, Holder, InsertClient, InsertStep, InsertWorker, Inserter, Pair, Querier,
    Rows, Schema, TableIds, Work,
};

use super::{Placed, RoleSpec, StepClients, connect, place_server, watch};
use crate::engine::bench::Bench;
use crate::engine::injected_slowdown::InjectedSlowdown;
use crate::plan::seed::mix;
use crate::plan::steps::{Job, PlannedStep};

/// The roles of a step.
fn roles(step: &InsertStep, args: &InsertArgs) -> Vec<RoleSpec> {
    let spec = |role, rows_per_s: Option<f64>| RoleSpec {
        role: Some(role),
        clients: args.clients,
        events_per_s: rows_per_s.map(|rows| rows / f64::from(step.rows_per_commit)),
        rows_per_s,
    };
    match step.work {
        Work::Load | Work::Index => vec![spec(Role::Insert, None)],
        Work::Churn { .. } => vec![spec(Role::Insert, None), spec(Role::Delete, None)],
        Work::Query { rate, .. } => {
            let target = Some(f64::from(rate) * f64::from(args.clients));
            let mut all = vec![
                spec(Role::Query, None),
                spec(Role::Insert, target),
                spec(Role::Delete, target),
            ];
            if args.hold.is_some() {
                all.push(RoleSpec { clients: 1, ..spec(Role::Hold, None) });
            }
            all
        }
    }
}

/// Of all clients, those whose time is taken apart: beside others that work at a rate, those of the
/// figure, which come first.
fn n_watched(roles: &[RoleSpec], n_clients: usize) -> usize {
    let is_rated = roles.iter().any(|spec| spec.rows_per_s.is_some());
    let of_figure = roles.first().map_or(0, |spec| spec.clients as usize);
    if is_rated { of_figure } else { n_clients }
}

/// Opens the connections of a step, prepares its statements and places its threads.
pub(super) fn open(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    schema: &Schema,
    seed: u64,
) -> Result<StepClients> {
    let Job::Insert { step, args } = &planned.job else {
        bail!("{} is not a step of the Insert Benchmark", planned.info.name);
    };
    place_server(bench, planned.placement)?;
    let roles = roles(step, args);
    let (mut first, _) = connect(bench, planned.placement, 0, seed)?;
    let mut tables = Vec::new();
    for table in 1..=args.tables() {
        reset_sequence(&mut first, table, bench.dbms)?;
        let (min, max) = ids_of(&mut first, table, bench.dbms)?;
        tables.push(Arc::new(TableIds::new(min, max)));
    }
    drop(first);
    let deletes = roles.iter().any(|spec| spec.role == Some(Role::Delete));
    let pairs: Vec<Arc<Pair>> =
        (0..args.clients).filter(|_| deletes).map(|_| Arc::new(Pair::default())).collect();
    let (mut members, mut served) = (Vec::new(), Vec::new());
    for (nth, spec) in roles.iter().enumerate() {
        let Some(role) = spec.role else { continue };
        for client in 0..spec.clients {
            // Connections of one client are spread over the CPUs, those of several likewise.
            let place = client + u32::try_from(nth).unwrap_or(0);
            let (mut connection, by) = connect(bench, planned.placement, place, seed)?;
            let table = args.table_of(client);
            let ids = Arc::clone(&tables[table as usize - 1]);
            let pair = pairs.get(client as usize).cloned();
            let protocol = args.protocol.for_role(role, bench.dbms);
            let of_client =
                InsertClient { protocol, client_idx: client, seed: mix(seed, nth as u64) };
            let n_rows = step.rows_per_commit;
            let worker = match (role, pair, step.work) {
                (Role::Insert, pair, _) => {
                    let rows = Rows { ids, pair };
                    let inserter =
                        Inserter::new(&mut connection, schema, table, rows, n_rows, of_client);
                    let statements = step.statements(args, client).filter(|_| {
                        args.bulk_load
                            && step.work == Work::Load
                            && schema.engine == Engine::Rocksdb
                    });
                    match statements {
                        Some(n) => inserter.and_then(|i| i.bulk_load(&mut connection, n)),
                        None => inserter,
                    }
                    .map(InsertWorker::Insert)
                }
                (Role::Delete, Some(pair), _) => {
                    let from = DeletedTable { table, alone: !args.shared_table, ids, pair };
                    Deleter::new(&mut connection, schema, from, n_rows, protocol)
                        .map(InsertWorker::Delete)
                }
                (Role::Query, _, Work::Query { queries, .. }) => {
                    Querier::new(&mut connection, schema, table, queries, ids, of_client)
                        .map(InsertWorker::Query)
                }
                _ => {
                    let hold = args.hold.unwrap_or_default();
                    Ok(InsertWorker::Hold(Holder::new(bench.dbms, table, hold)))
                }
            };
            let worker = worker.with_context(|| {
                format!("prepare the statements of {} ({})", planned.info.name, role.name())
            })?;
            members.push(Member { connection, worker, cpus: by.cpus.clone(), role: nth });
            served.push(by);
        }
    }
    let injected_slowdown = InjectedSlowdown::of(bench, &served, seed)?;
    let placed = Placed::of(bench, planned.placement, &served);
    let pool = ClientPool::of_inserts(members)?;
    watch(bench, &served[..n_watched(&roles, served.len())], &pool);
    let serving = served.iter().filter_map(|one| one.thread).collect();
    Ok(StepClients { pool, roles, injected_slowdown, placed, serving, pairs })
}

/// Sets the sequence of a table's ids back to the last one, so that no step leaves a hole.
pub(crate) fn reset_sequence(
    connection: &mut dyn Connection,
    table: u32,
    dbms: Dbms,
) -> Result<()> {
    let Some(sql) = Schema::reset_sequence_sql(dbms, table) else { return Ok(()) };
    connection.query(&sql).with_context(|| sql.clone())?;
    Ok(())
}

/// Smallest and largest id of a table; 1 and 0 for an empty one.
fn ids_of(connection: &mut dyn Connection, table: u32, dbms: Dbms) -> Result<(u64, u64)> {
    if !dbms.is_server() {
        return Ok((1, 1_000_000));
    }
    let sql = Schema::ids_sql(table);
    let result = connection.query(&sql).with_context(|| sql.clone())?;
    let row = result.rows.first();
    let text = |column: usize| row.and_then(|row| row.get(column)?.as_deref());
    match (text(0), text(1)) {
        (None, None) => Ok((1, 0)),
        (Some(min), Some(max)) => match (min.parse(), max.parse()) {
            (Ok(min), Ok(max)) => Ok((min, max)),
            _ => bail!("{sql}: {min}, {max} are not ids"),
        },
        _ => bail!("{sql}: only one of two ids"),
    }
}
