//! The clients of a step of the Insert Benchmark on one system, connected and placed.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use rqps_load::{Crew, Member, Order, Pace, Stop, Turn};
use rqps_model::{Engine, Role};
use rqps_workload::InsertArgs;
use rqps_workload::insert::{
    Deleter, Holder, InsertStep, InsertWorker, Inserter, Pair, Querier, Rows, Schema, TableIds,
    Work,
};

use super::{ids_of, reset_sequence};
use crate::bench::Bench;
use crate::handicap::Handicap;
use crate::measure::{Placed, connect, place_server, watch};
use crate::seed::mix;
use crate::steps::PlannedStep;

/// What the clients of one role do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoleSpec {
    pub(crate) role: Role,
    pub(crate) clients: u32,
    /// Rows per second of all of them.
    pub(crate) target_per_s: Option<f64>,
    /// Rows of a statement.
    rows_per_statement: u32,
}

/// The clients of one step on one system.
pub(crate) struct Clients {
    pub(crate) crew: Crew,
    /// What stops the threads that serve them now and then.
    pub(crate) handicap: Option<Handicap>,
    /// Where the threads of the server are.
    pub(crate) placed: Placed,
    /// One for each role, in the order of their numbers; the first one's work is the step's figure.
    pub(crate) roles: Vec<RoleSpec>,
    /// Inserters and their deleters, in the steps that delete.
    pub(crate) pairs: Vec<Arc<Pair>>,
}

impl Clients {
    /// The orders of a turn, one for each role. The clock of the rates goes on from turn to turn.
    pub(crate) fn orders(&self, stop: Stop, turn: Turn, seed: u64) -> Vec<Order> {
        let order = |spec: &RoleSpec| {
            let pace = match spec.target_per_s {
                Some(rows_per_s) => {
                    let events_per_s = rows_per_s / f64::from(spec.rows_per_statement);
                    Pace::Ongoing { events_per_s, turn }
                }
                None => Pace::Closed,
            };
            Order { pace, stop, seed: mix(seed, spec.role as u64) }
        };
        self.roles.iter().map(order).collect()
    }
}

/// The roles of a step.
fn roles(step: &InsertStep, args: &InsertArgs) -> Vec<RoleSpec> {
    let spec = |role, target_per_s| RoleSpec {
        role,
        clients: args.clients,
        target_per_s,
        rows_per_statement: step.rows_per_commit,
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
    let is_rated = roles.iter().any(|spec| spec.target_per_s.is_some());
    let of_figure = roles.first().map_or(0, |spec| spec.clients as usize);
    if is_rated { of_figure } else { n_clients }
}

/// Opens the connections of a step, prepares its statements and places its threads.
pub(crate) fn open(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    (step, args): (&InsertStep, &InsertArgs),
    schema: &Schema,
    seed: u64,
) -> Result<Clients> {
    place_server(bench, planned.placement)?;
    let roles = roles(step, args);
    let (mut first, _) = connect(bench, planned.placement, (0, seed))?;
    let mut tables = Vec::new();
    for table in 1..=args.tables() {
        reset_sequence(&mut first, table, bench.dbms)?;
        let (min, max) = ids_of(&mut first, table, bench.dbms)?;
        tables.push(Arc::new(TableIds::new(min, max)));
    }
    drop(first);
    let has = |role| roles.iter().any(|spec| spec.role == role);
    let deletes = has(Role::Delete);
    let pairs: Vec<Arc<Pair>> =
        (0..args.clients).filter(|_| deletes).map(|_| Arc::new(Pair::default())).collect();
    let (mut members, mut served) = (Vec::new(), Vec::new());
    for (role, spec) in roles.iter().enumerate() {
        for client in 0..spec.clients {
            // Connections of one client are spread over the CPUs, those of several likewise.
            let place = client + u32::try_from(role).unwrap_or(0);
            let (mut connection, by) = connect(bench, planned.placement, (place, seed))?;
            let table = args.table_of(client);
            let ids = Arc::clone(&tables[table as usize - 1]);
            let pair = pairs.get(client as usize).cloned();
            let protocol = args.protocol.for_role(spec.role, bench.dbms);
            let draw = (protocol, client, mix(seed, role as u64));
            let n_rows = step.rows_per_commit;
            let worker = match (spec.role, pair, step.work) {
                (Role::Insert, pair, _) => {
                    let rows = (Rows { ids, pair }, n_rows);
                    let inserter = Inserter::new(&mut connection, (schema, table), rows, draw);
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
                    let of = (schema, table, !args.shared_table);
                    Deleter::new(&mut connection, of, (ids, pair), (n_rows, protocol))
                        .map(InsertWorker::Delete)
                }
                (Role::Query, _, Work::Query { queries, .. }) => {
                    Querier::new(&mut connection, (schema, table, queries), ids, draw)
                        .map(InsertWorker::Query)
                }
                _ => {
                    let hold = args.hold.unwrap_or_default();
                    Ok(InsertWorker::Hold(Holder::new(bench.dbms, table, hold)))
                }
            };
            let worker = worker.with_context(|| {
                format!("prepare the statements of {} ({})", planned.info.name, spec.role.name())
            })?;
            members.push(Member { connection, worker, cpus: by.cpus.clone(), role });
            served.push(by);
        }
    }
    let handicap = Handicap::of(bench, &served, seed)?;
    let placed = Placed::of(bench, planned.placement, &served);
    let crew = Crew::of_inserts(members)?;
    watch(bench, (&served, n_watched(&roles, served.len())), &crew);
    Ok(Clients { crew, handicap, placed, roles, pairs })
}
