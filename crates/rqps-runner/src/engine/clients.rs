//! The clients of a step on one system: connected and placed, with their statements prepared.

mod insert;
mod load;
mod vector;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use rqps_client::{AnyConnection, Connection as _};
use rqps_load::{ClientPool, Member, Order, Pace, PlaceInBlock, Stop};
use rqps_model::{Figure, Placement, Role, StepKind};
use rqps_server::{process, threads};
use rqps_workload::insert::{Pair, Schema};
use rqps_workload::{LoadSpec, Program, SysbenchWorker};

use crate::engine::bench::Bench;
use crate::engine::injected_slowdown::{InjectedSlowdown, Served};
use crate::plan::placement;
use crate::plan::seed::mix;
use crate::plan::steps::{Job, PlannedStep};
use crate::vector_sets::VectorSet;

pub(crate) use insert::reset_sequence;

/// The clients of a step on one system.
pub(crate) struct StepClients {
    pub(crate) pool: ClientPool,
    /// One for each role, in the order of their numbers; the first one's work is the step's rate.
    pub(crate) roles: Vec<RoleSpec>,
    /// What stops the threads that serve them now and then.
    pub(crate) injected_slowdown: Option<InjectedSlowdown>,
    /// Where the threads of the server are.
    pub(crate) placed: Placed,
    /// The threads that serve them, where that is known; PostgreSQL's processes.
    pub(crate) serving: Vec<i32>,
    /// Inserters and their deleters, in the steps that delete.
    pub(crate) pairs: Vec<Arc<Pair>>,
}

/// What the clients of one role do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoleSpec {
    /// Absent where clients run the events of a suite file.
    pub(crate) role: Option<Role>,
    pub(crate) clients: u32,
    /// Events per second of all of them; `None` for as fast as they go.
    pub(crate) events_per_s: Option<f64>,
    /// Rows per second of all of them, where their rate is meant in rows.
    pub(crate) rows_per_s: Option<f64>,
}

impl RoleSpec {
    fn order(&self, stop: Stop, place: PlaceInBlock, seed: u64) -> Order {
        let pace = self
            .events_per_s
            .map_or(Pace::Closed, |events_per_s| Pace::Ongoing { events_per_s, place });
        Order { pace, stop, seed: self.role.map_or(seed, |role| mix(seed, role as u64)) }
    }
}

impl StepClients {
    /// The clients of a step that is read from a suite file.
    pub(crate) fn of_file(bench: &Bench<'_>, planned: &PlannedStep, seed: u64) -> Result<Self> {
        let (step, args, _) = planned.of_file()?;
        let program = Program::compile(step, args, bench.dbms)?;
        clients_of(bench, planned, &program, seed)
    }

    /// The same for when the steps after it have changed its tables: no number of rows is looked at.
    pub(crate) fn without_checks(
        bench: &Bench<'_>,
        planned: &PlannedStep,
        seed: u64,
    ) -> Result<Self> {
        let (step, args, _) = planned.of_file()?;
        let program = Program::compile(step, args, bench.dbms)?.without_checks();
        clients_of(bench, planned, &program, seed)
    }

    /// The clients that fill the tables of a suite file.
    pub(crate) fn of_load(
        bench: &Bench<'_>,
        planned: &PlannedStep,
        spec: &LoadSpec,
        seed: u64,
    ) -> Result<Self> {
        load::open(bench, planned, spec, seed)
    }

    /// The clients of a search of vectors.
    pub(crate) fn of_search(
        bench: &Bench<'_>,
        planned: &PlannedStep,
        vectors: &VectorSet,
        seed: u64,
    ) -> Result<Self> {
        vector::open_search(bench, planned, vectors, seed)
    }

    /// The clients that fill the tables of vectors.
    pub(crate) fn of_vector_load(
        bench: &Bench<'_>,
        planned: &PlannedStep,
        vectors: &VectorSet,
        seed: u64,
    ) -> Result<Self> {
        vector::open_load(bench, planned, vectors, seed)
    }

    /// The clients of a step of the Insert Benchmark, on tables of `schema`.
    pub(crate) fn of_insert(
        bench: &Bench<'_>,
        planned: &PlannedStep,
        schema: &Schema,
        seed: u64,
    ) -> Result<Self> {
        insert::open(bench, planned, schema, seed)
    }

    /// The orders of a slice, one for each role.
    pub(crate) fn orders(&self, stop: Stop, place: PlaceInBlock, seed: u64) -> Vec<Order> {
        self.roles.iter().map(|role| role.order(stop, place, seed)).collect()
    }

    /// The first clients of each role, at most `n` of one, by their numbers in the pool.
    pub(crate) fn first_of_roles(&self, n: u32) -> Vec<usize> {
        let mut begin = 0;
        let mut first = Vec::new();
        for role in &self.roles {
            first.extend(begin..begin + role.clients.min(n) as usize);
            begin += role.clients as usize;
        }
        first
    }

    /// How many clients there are.
    pub(crate) fn n_clients(&self) -> u32 {
        self.roles.iter().map(|role| role.clients).sum()
    }

    /// Ends what stops the threads that serve them, until the next slice.
    pub(crate) fn end_injected_slowdown(&self) -> Result<()> {
        self.injected_slowdown.as_ref().map_or(Ok(()), InjectedSlowdown::end)
    }

    /// Whether all go as fast as they can.
    pub(crate) fn is_closed(&self) -> bool {
        self.roles.iter().all(|role| role.events_per_s.is_none())
    }
}

/// Where the threads of a server are while it is measured.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    /// Absent where no thread has a CPU of its own.
    server_pid: Option<i32>,
    /// Those that serve the clients.
    served: Vec<i32>,
    /// The CPUs of all others.
    cpus: Vec<usize>,
}

impl Placed {
    pub(crate) fn of(bench: &Bench<'_>, placement: Placement, served: &[Served]) -> Self {
        Self {
            server_pid: bench.server_pid.filter(|_| placement == Placement::Paired),
            served: served.iter().filter_map(|one| one.thread).collect(),
            cpus: placement::server_cpus(placement, bench.cpus),
        }
    }

    /// Gives all CPUs to the threads that a paired one has made since: they have inherited its own.
    pub(crate) fn renew(&self) -> Result<()> {
        let Some(pid) = self.server_pid else { return Ok(()) };
        Ok(threads::pin_all_but(&self.served, &process::tree(pid), &self.cpus)?)
    }
}

fn clients_of(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    program: &Arc<Program>,
    seed: u64,
) -> Result<StepClients> {
    place_server(bench, planned.placement)?;
    let (mut members, mut served) = (Vec::new(), Vec::new());
    for client_idx in 0..planned.clients {
        let (member, by) = member(bench, planned, program, client_idx, seed)?;
        members.push(member);
        served.push(by);
    }
    let injected_slowdown = InjectedSlowdown::of(bench, &served, seed)?;
    let placed = Placed::of(bench, planned.placement, &served);
    let pool = ClientPool::of_steps(members)?;
    let pool = if planned.changes_rows() { pool.with_one_stream() } else { pool };
    watch(bench, &served, &pool);
    let serving = served.iter().filter_map(|one| one.thread).collect();
    let (_, _, events_per_s) = planned.of_file()?;
    let roles =
        vec![RoleSpec { role: None, clients: planned.clients, events_per_s, rows_per_s: None }];
    Ok(StepClients { pool, roles, injected_slowdown, placed, serving, pairs: Vec::new() })
}

/// Has the samplers tell what threads that serve clients, the first ones of the client pool, and these clients' own
/// threads use and wait for.
fn watch(bench: &Bench<'_>, served: &[Served], pool: &ClientPool) {
    // One that is not known makes their sum unknown.
    let threads: Option<Vec<i32>> = served.iter().map(|one| one.thread).collect();
    let clients: Vec<i32> = pool.thread_ids().into_iter().take(served.len()).collect();
    bench.samples.watch(&threads.unwrap_or_default(), &clients);
}

/// Places all threads of a server of our own.
pub(crate) fn place_server(bench: &Bench<'_>, placement: Placement) -> Result<()> {
    if let Some(pid) = bench.server_pid {
        let cpus = placement::server_cpus(placement, bench.cpus);
        threads::pin_all(&process::tree(pid), &cpus)?;
    }
    Ok(())
}

/// The warm-up before a step, unless it is one itself or there is to be none.
pub(super) fn warm_up(planned: &PlannedStep, seed: u64) -> Option<Order> {
    let whole = match &planned.job {
        Job::File { args, .. } => args.times.warm_up,
        Job::Vector { args, .. } => args.warm_up,
        Job::Insert { .. } => return None,
    };
    let time = planned.warm_up(whole);
    let wanted = !time.is_zero() && planned.info.kind != StepKind::WarmUp && !planned.fills();
    wanted.then(|| Order { pace: Pace::Closed, stop: Stop::Time(time), seed: mix(seed, 0) })
}

/// Opens a client's connection, the `idx`th of the step with seed `seed`, and places the thread that
/// serves it.
pub(crate) fn connect(
    bench: &Bench<'_>,
    placement: Placement,
    idx: u32,
    seed: u64,
) -> Result<(AnyConnection, Served)> {
    let mut connection = AnyConnection::open(bench.dbms, bench.endpoint)
        .with_context(|| format!("connect client {idx}"))?;
    connection.set_timeout(Some(bench.patience.question()))?;
    let cpus = placement::client_cpus(placement, idx as usize, bench.cpus, seed);
    let is_paired = placement == Placement::Paired;
    let mut served = Served { cpus, thread: None };
    if let Some(pid) = bench.server_pid
        && (is_paired || bench.injected_slowdown > 0.0)
    {
        let doing = if is_paired {
            "place the connection thread (placement = \"free\" does not need it)"
        } else {
            "find the connection thread that the injected slowdown stops"
        };
        let tid = threads::thread_of(bench.dbms, pid, &mut connection).context(doing)?;
        if is_paired {
            threads::pin_thread(tid, &served.cpus)?;
        }
        served.thread = Some(tid);
    }
    Ok((connection, served))
}

/// Opens one client's connection, finds the thread that serves it, prepares its statements.
fn member(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    program: &Arc<Program>,
    client_idx: u32,
    seed: u64,
) -> Result<(Member<AnyConnection, SysbenchWorker>, Served)> {
    let (mut connection, served) = connect(bench, planned.placement, client_idx, seed)?;
    let (step, args, _) = planned.of_file()?;
    if step.figure == Figure::RowsRead {
        // All clients go through a table at a time.
        let n_rows = args.rows.saturating_mul(planned.clients.into());
        connection.set_timeout(Some(bench.patience.through_rows(n_rows)))?;
    }
    let worker = SysbenchWorker::new(Arc::clone(program), &mut connection, client_idx, seed)
        .with_context(|| format!("prepare the statements of {}", planned.info.name))?;
    Ok((Member { connection, worker, cpus: served.cpus.clone(), role: 0 }, served))
}
