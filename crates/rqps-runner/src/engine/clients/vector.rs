//! The clients of a step of vector search on one system, connected and placed.

use anyhow::{Context as _, Result, bail};
use rqps_client::Connection as _;
use rqps_load::{ClientPool, Member};
use rqps_model::Role;
use rqps_workload::TablePart;
use rqps_workload::vector::{SearchPlace, Searcher, VectorLoader};

use super::{Placed, RoleSpec, StepClients, connect, place_server, watch};
use crate::engine::bench::Bench;
use crate::engine::injected_slowdown::{InjectedSlowdown, Served};
use crate::plan::steps::PlannedStep;
use crate::vector_sets::VectorSet;

/// Opens the connections of a load, one for each part of a table.
pub(super) fn open_load(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    vectors: &VectorSet,
    seed: u64,
) -> Result<StepClients> {
    let Some((_, args)) = planned.of_vector() else {
        bail!("{} loads no vectors", planned.info.name)
    };
    place_server(bench, planned.placement)?;
    let dimension = vectors.set.vectors.dimension();
    let cut = VectorLoader::cut(args.tables(), vectors.rows(), dimension, planned.clients);
    let encoded = vectors.encoded_vectors(bench.dbms);
    let (mut members, mut served) = (Vec::new(), Vec::new());
    for (idx, part) in (0..).zip(TablePart::of_tables(args.tables(), cut)) {
        let (mut connection, by) = connect(bench, planned.placement, idx, seed)?;
        let worker = VectorLoader::new(&mut connection, encoded.clone(), cut, part)
            .context("prepare the INSERTs of vectors")?;
        members.push(Member { connection, worker, cpus: by.cpus.clone(), role: 0 });
        served.push(by);
    }
    let role = Some(Role::Insert);
    finish(bench, planned, role, ClientPool::of_vector_loaders(members)?, &served, seed)
}

/// Opens the connections of a search.
pub(super) fn open_search(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    vectors: &VectorSet,
    seed: u64,
) -> Result<StepClients> {
    let Some((step, args)) = planned.of_vector() else {
        bail!("{} searches no vectors", planned.info.name)
    };
    place_server(bench, planned.placement)?;
    let schema = vectors.schema(bench.dbms, args);
    let searched = step.searched(args);
    let queries = vectors.encoded_queries(bench.dbms);
    let (mut members, mut served) = (Vec::new(), Vec::new());
    for client_idx in 0..planned.clients {
        let (mut connection, by) = connect(bench, planned.placement, client_idx, seed)?;
        if searched.is_none() {
            // Each looks at all vectors.
            let n_rows = vectors.rows().saturating_mul(planned.clients.into());
            connection.set_timeout(Some(bench.patience.through_rows(n_rows)))?;
        }
        for sql in schema.session_sql(searched) {
            connection.query(&sql).with_context(|| sql.clone())?;
        }
        let place = SearchPlace {
            table: step.table(),
            is_exact: searched.is_none(),
            n_vectors: vectors.rows(),
            client_idx,
        };
        let worker = Searcher::new(&mut connection, &schema, queries.clone(), place, seed)
            .with_context(|| format!("prepare the search of {}", planned.info.name))?;
        members.push(Member { connection, worker, cpus: by.cpus.clone(), role: 0 });
        served.push(by);
    }
    finish(bench, planned, None, ClientPool::of_searchers(members)?, &served, seed)
}

fn finish(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    role: Option<Role>,
    pool: ClientPool,
    served: &[Served],
    seed: u64,
) -> Result<StepClients> {
    let clients = u32::try_from(served.len()).unwrap_or(u32::MAX);
    let injected_slowdown = InjectedSlowdown::of(bench, served, seed)?;
    let placed = Placed::of(bench, planned.placement, served);
    watch(bench, served, &pool);
    let serving = served.iter().filter_map(|one| one.thread).collect();
    let roles = vec![RoleSpec { role, clients, events_per_s: None, rows_per_s: None }];
    Ok(StepClients { pool, roles, injected_slowdown, placed, serving, pairs: Vec::new() })
}
