//! One step on one system: connections, placement, warm-up, slices.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, bail, ensure};
use rqps_client::{AnyConnection, Connection as _};
use rqps_load::{Control, Crew, CrewError, Edge, Live, Member, Order, Pace, Stop, Tally};
use rqps_model::{Figure, Mark, Placement, Sample, Slice, StepKind, Usage};
use rqps_server::{process, threads};
use rqps_store::unix_ms;
use rqps_workload::{Program, Step, SuiteArgs, SysbenchWorker};

use crate::bench::Bench;
use crate::event::{Event, Listener};
use crate::handicap::{Handicap, Served};
use crate::heartbeat::{self, Heartbeat, Verdict};
use crate::seed::{self, mix};
use crate::steps::{Job, PlannedStep};
use crate::{marks, placement};

/// The clients of a step, connected and placed.
pub(crate) struct Manned {
    pub(crate) crew: Crew,
    /// What stops the threads that serve them now and then.
    pub(crate) handicap: Option<Handicap>,
    /// Where the threads of the server are.
    pub(crate) placed: Placed,
    /// The threads that serve them, where that is known; PostgreSQL's processes.
    pub(crate) serving: Vec<i32>,
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

/// Which slices to take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The seed of this step and number of clients, the same for every system.
    pub(crate) seed: u64,
    /// Which attempt at the step on the same data this is ([`seed::of_attempt`]).
    pub(crate) attempt: u64,
    /// The first one: above 0 where an interrupted step goes on.
    pub(crate) from: u32,
    /// How many in all, those before `from` included.
    pub(crate) n_slices: u32,
}

/// Measures a step: each slice is handed to `keep` as it ends.
pub(crate) fn step(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    wanted: Wanted,
    listen: &mut Listener<'_>,
    keep: &mut dyn FnMut(Slice) -> Result<()>,
) -> Result<()> {
    let mut manned = crew(bench, planned, wanted.seed)?;
    let of_attempt = seed::of_attempt(wanted.seed, wanted.attempt);
    if let Some(order) = warm_up(planned, of_attempt) {
        run_slice(&mut manned.crew, &order, (bench, None), &mut |_| {}, listen)?;
    }
    let (step, args, _) = of_file(planned)?;
    let stop = Stop::Time(step.slice_time(args));
    let mut heartbeat = Heartbeat::start();
    let mut idx = wanted.from;
    while idx < wanted.n_slices {
        // A short slice ends before anybody has asked whether to stop it.
        ensure!(!bench.interrupt.load(Ordering::Relaxed), "interrupted");
        let seed = seed::of_again(mix(of_attempt, u64::from(idx) + 1), heartbeat.n_again());
        let order = Order { pace: pace(planned), stop, seed };
        heartbeat.begin();
        let mut slice = measured(&mut manned, &order, (bench, idx), planned, listen)?;
        match heartbeat.verdict() {
            Verdict::Again(seconds) => {
                listen(Event::Note(&heartbeat::told(&planned.info.name, seconds)));
                continue;
            }
            Verdict::Keep(mark) => slice.marks.extend(mark),
        }
        keep(slice)?;
        idx += 1;
    }
    Ok(())
}

/// Opens a step's connections, prepares its statements and places its threads.
pub(crate) fn crew(bench: &Bench<'_>, planned: &PlannedStep, seed: u64) -> Result<Manned> {
    let (step, args, _) = of_file(planned)?;
    let program = Program::compile(step, args, bench.dbms)?;
    crew_of(bench, planned, &program, seed)
}

/// The same for when the steps after it have changed its tables: no number of rows is looked at.
pub(crate) fn late_crew(bench: &Bench<'_>, planned: &PlannedStep, seed: u64) -> Result<Manned> {
    let (step, args, _) = of_file(planned)?;
    let program = Program::compile(step, args, bench.dbms)?.without_checks();
    crew_of(bench, planned, &program, seed)
}

fn crew_of(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    program: &Arc<Program>,
    seed: u64,
) -> Result<Manned> {
    place_server(bench, planned.placement)?;
    let (mut members, mut served) = (Vec::new(), Vec::new());
    for client_idx in 0..planned.clients {
        let (member, by) = member(bench, planned, (program, client_idx), seed)?;
        members.push(member);
        served.push(by);
    }
    let handicap = Handicap::of(bench, &served, seed)?;
    let placed = Placed::of(bench, planned.placement, &served);
    let crew = Crew::of_steps(members)?;
    watch(bench, (&served, served.len()), &crew);
    let serving = served.iter().filter_map(|one| one.thread).collect();
    Ok(Manned { crew, handicap, placed, serving })
}

/// Has the samplers tell what the threads of clients, the first `n` of the crew, and those that serve
/// them use and wait for.
pub(crate) fn watch(bench: &Bench<'_>, (served, n): (&[Served], usize), crew: &Crew) {
    // One that is not known makes their sum unknown.
    let threads: Option<Vec<i32>> = served.iter().take(n).map(|one| one.thread).collect();
    let clients: Vec<i32> = crew.thread_ids().into_iter().take(n).collect();
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

/// The step, arguments and rate of a step that is read from a file.
pub(crate) fn of_file(planned: &PlannedStep) -> Result<(&Step, &SuiteArgs, Option<f64>)> {
    match &planned.job {
        Job::File { step, args, rate } => Ok((step, args, *rate)),
        Job::Insert { .. } => bail!("{} is no step of a suite file", planned.info.name),
    }
}

/// The warm-up before a step, unless it is one itself or there is to be none.
pub(crate) fn warm_up(planned: &PlannedStep, seed: u64) -> Option<Order> {
    let time = of_file(planned).ok()?.1.times.warm_up;
    let wanted = !time.is_zero() && planned.info.kind != StepKind::WarmUp;
    wanted.then(|| Order { pace: Pace::Closed, stop: Stop::Time(time), seed: mix(seed, 0) })
}

/// How fast a step's events start.
pub(crate) fn pace(planned: &PlannedStep) -> Pace {
    let rate = of_file(planned).ok().and_then(|(_, _, rate)| rate);
    rate.map_or(Pace::Closed, |events_per_s| Pace::Rate { events_per_s })
}

/// Opens a client's connection, the `idx`th of the step with seed `seed`, and places the thread that
/// serves it.
pub(crate) fn connect(
    bench: &Bench<'_>,
    placement: Placement,
    (idx, seed): (u32, u64),
) -> Result<(AnyConnection, Served)> {
    let mut connection = AnyConnection::open(bench.dbms, bench.endpoint)
        .with_context(|| format!("connect client {idx}"))?;
    connection.set_timeout(Some(bench.patience.question()))?;
    let cpus = placement::client_cpus(placement, idx as usize, bench.cpus, seed);
    let is_paired = placement == Placement::Paired;
    let mut served = Served { cpus, thread: None };
    if let Some(pid) = bench.server_pid
        && (is_paired || bench.handicap > 0.0)
    {
        let doing = if is_paired {
            "place the server's thread (placement = \"free\" does without)"
        } else {
            "find the server's thread, which the handicap stops"
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
    (program, client_idx): (&Arc<Program>, u32),
    seed: u64,
) -> Result<(Member<AnyConnection, SysbenchWorker>, Served)> {
    let (mut connection, served) = connect(bench, planned.placement, (client_idx, seed))?;
    let (step, args, _) = of_file(planned)?;
    if step.figure == Figure::RowsRead {
        // All clients go through a table at a time.
        let n_rows = args.rows.saturating_mul(planned.clients.into());
        connection.set_timeout(Some(bench.patience.through_rows(n_rows)))?;
    }
    let worker = SysbenchWorker::new(Arc::clone(program), &mut connection, client_idx, seed)
        .with_context(|| format!("prepare the statements of {}", planned.info.name))?;
    Ok((Member { connection, worker, cpus: served.cpus.clone(), role: 0 }, served))
}

/// Runs one slice between two exact samples.
fn measured(
    Manned { crew, handicap, placed, .. }: &mut Manned,
    order: &Order,
    (bench, idx): (&Bench<'_>, u32),
    planned: &PlannedStep,
    listen: &mut Listener<'_>,
) -> Result<Slice> {
    placed.renew()?;
    // Samples of the time before belong to no slice.
    drop(bench.samples.take());
    let mut start_unix_ms = 0;
    let (mut first, mut last) = (None, None);
    let mut edge = |edge| match edge {
        Edge::Start => {
            start_unix_ms = unix_ms();
            first = Some(bench.samples.mark());
            handicap.iter().for_each(|handicap| handicap.edge(Edge::Start));
        }
        Edge::End => {
            last = Some(bench.samples.mark());
            handicap.iter().for_each(|handicap| handicap.edge(Edge::End));
        }
    };
    let counters = bench.counted.read();
    let result = run_slice(crew, order, (bench, Some(idx)), &mut edge, listen);
    let ended = handicap.as_ref().map_or(Ok(()), Handicap::end);
    // A server that has died is the reason of both, and the clients say so.
    let tally = result?;
    ended?;
    let taken = |sample: Option<Result<Sample, _>>| {
        sample.context("an end was not reached")?.context("read the counters")
    };
    let first = taken(first).context("sample the start of a slice")?;
    let last = taken(last).context("sample the end of a slice")?;
    let mut samples = bench.samples.take();
    samples.retain(|s| (first.at_ns..=last.at_ns).contains(&s.at_ns));
    let counters = bench.counted.since(counters.as_ref());
    let usage = Usage::between(&first, &last);
    let mut marks = marks::of_slice(&[&tally], &usage, planned.clients);
    marks.extend(handicap.iter().filter_map(Handicap::mark));
    let slice = slice_of(&tally, (order.seed, idx, start_unix_ms), (usage, samples), marks);
    Ok(Slice { counters, ..slice })
}

/// Runs a slice that is not measured here; its live figures are shown.
pub(crate) fn run_slice(
    crew: &mut Crew,
    order: &Order,
    (bench, slice): (&Bench<'_>, Option<u32>),
    edge: &mut dyn FnMut(Edge),
    listen: &mut Listener<'_>,
) -> Result<Tally, CrewError> {
    let mut before: Option<Live> = None;
    crew.run(order, edge, &mut |live| {
        let (from_s, from_n) = before.map_or((0.0, 0), |b| (b.elapsed.as_secs_f64(), b.n_queries));
        let passed_s = live.elapsed.as_secs_f64() - from_s;
        if passed_s > 0.0 {
            let qps = live.n_queries.saturating_sub(from_n) as f64 / passed_s;
            listen(Event::Measuring { system: None, slice, elapsed: live.elapsed, qps });
        }
        before = Some(live);
        if bench.interrupt.load(Ordering::Relaxed) { Control::Stop } else { Control::Go }
    })
}

/// A stored slice from what was counted and sampled.
pub(crate) fn slice_of(
    tally: &Tally,
    (seed, idx, start_unix_ms): (u64, u32, i64),
    (usage, samples): (Usage, Vec<Sample>),
    marks: Vec<Mark>,
) -> Slice {
    Slice {
        idx,
        start: 0,
        n_rounds: None,
        start_unix_ms,
        duration_ns: tally.duration_ns(),
        seed,
        n_events: tally.n_events,
        n_queries: tally.n_queries,
        n_operations: tally.n_operations,
        n_rows: tally.n_rows,
        errors: tally.errors.clone(),
        lateness: tally.lateness,
        windows: tally.windows.clone(),
        series: tally.series.clone(),
        response_times: tally.response_time_bytes(),
        usage,
        samples,
        marks,
        streams: Vec::new(),
        whole_operations: None,
        counters: std::collections::BTreeMap::new(),
        stated: None,
    }
}
