//! The clients that fill the tables of a suite file on one system, connected and placed.

use anyhow::Result;
use rqps_load::{ClientPool, Member};
use rqps_model::Role;
use rqps_workload::{LoadCut, LoadSpec, Loader};

use super::{Placed, RoleSpec, StepClients, connect, place_server, watch};
use crate::engine::bench::Bench;
use crate::engine::injected_slowdown::InjectedSlowdown;
use crate::plan::steps::PlannedStep;

/// Opens the connections of a load, one for each part of a table.
pub(super) fn open(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    spec: &LoadSpec,
    seed: u64,
) -> Result<StepClients> {
    place_server(bench, planned.placement)?;
    let cut = LoadCut::of(spec.tables, spec.rows, planned.clients);
    let (mut members, mut served) = (Vec::new(), Vec::new());
    for (idx, part) in (0..).zip(spec.split(cut)) {
        let (connection, by) = connect(bench, planned.placement, idx, seed)?;
        let worker = Loader::new(spec, cut, part);
        members.push(Member { connection, worker, cpus: by.cpus.clone(), role: 0 });
        served.push(by);
    }
    let role = RoleSpec {
        role: Some(Role::Insert),
        clients: u32::try_from(served.len()).unwrap_or(u32::MAX),
        events_per_s: None,
        rows_per_s: None,
    };
    let injected_slowdown = InjectedSlowdown::of(bench, &served, seed)?;
    let placed = Placed::of(bench, planned.placement, &served);
    let pool = ClientPool::of_loaders(members)?;
    watch(bench, &served, &pool);
    let serving = served.iter().filter_map(|one| one.thread).collect();
    Ok(StepClients {
        pool,
        roles: vec![role],
        injected_slowdown,
        placed,
        serving,
        pairs: Vec::new(),
    })
}
