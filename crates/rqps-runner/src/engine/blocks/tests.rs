//! How steps are cut, and rounds on clients that take their time.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use rqps_client::{Connect as _, NullConnection, Outcome};
use rqps_load::{ClientPool, Member};
use rqps_model::{Dbms, Label, SystemIdx};
use rqps_sample::{Background, Sampler, Target};
use rqps_server::Patience;
use rqps_workload::{EventError, Worker};

use super::*;
use crate::PlanFile;
use crate::engine::bench;
use crate::engine::clients::{Placed, RoleSpec, StepClients};
use crate::engine::counted::Counted;
use crate::engine::cut::TimedCut;
use crate::environment::Environment;
use crate::system::null_endpoint;

/// A client whose events take their time, and which fails at one of them.
#[derive(Clone)]
struct Slow {
    takes: Duration,
    n_events: Arc<Mutex<u64>>,
    fails_at: u64,
    seeds: Arc<Mutex<Vec<u64>>>,
}

impl Slow {
    fn of(takes_ms: u64) -> Self {
        let takes = Duration::from_millis(takes_ms);
        Self { takes, n_events: Arc::default(), fails_at: u64::MAX, seeds: Arc::default() }
    }

    fn n_events(&self) -> u64 {
        *self.n_events.lock().unwrap()
    }

    fn seeds(&self) -> Vec<u64> {
        self.seeds.lock().unwrap().clone()
    }
}

impl Worker<NullConnection> for Slow {
    fn event(
        &mut self,
        _connection: &mut NullConnection,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        let mut n = self.n_events.lock().unwrap();
        *n += 1;
        if *n == self.fails_at {
            let message = "made up".to_owned();
            let error = rqps_client::ServerError {
                errno: 1064,
                sqlstate: "HY000".into(),
                message,
                notes: None,
            };
            return Err(EventError::Client(rqps_client::Error::Server(error)));
        }
        drop(n);
        #[expect(clippy::disallowed_methods, reason = "the test's server takes its time")]
        std::thread::sleep(self.takes);
        answered(Outcome { rows: 1, affected: 0 });
        Ok(())
    }

    fn roll_back(&mut self, _connection: &mut NullConnection) -> Result<(), EventError> {
        Ok(())
    }

    fn reseed(&mut self, seed: u64) {
        self.seeds.lock().unwrap().push(seed);
    }

    fn operations_per_statement(&self) -> u64 {
        1
    }
}

fn clients(worker: &Slow, planned: &PlannedStep) -> StepClients {
    let connection = NullConnection::connect(&null_endpoint()).unwrap();
    let member = Member { connection, worker: worker.clone(), cpus: Vec::new(), role: 0 };
    let pool = ClientPool::start(vec![member]).unwrap();
    let pool = if planned.changes_rows() { pool.with_one_stream() } else { pool };
    let (_, _, events_per_s) = planned.of_file().unwrap();
    let role = RoleSpec { role: None, clients: 1, events_per_s, rows_per_s: None };
    StepClients {
        pool,
        roles: vec![role],
        injected_slowdown: None,
        placed: Placed::default(),
        serving: Vec::new(),
        pairs: Vec::new(),
    }
}

/// The step update-index with a warm-up of so many seconds.
fn planned_writes(warm_up_s: f64) -> PlannedStep {
    let mut step = planned(warm_up_s, "");
    step.info.kind = rqps_model::StepKind::Write;
    step
}

/// The step point-query with a warm-up of so many seconds, and more of the suite's keys.
fn planned(warm_up_s: f64, suite: &str) -> PlannedStep {
    let text = format!(
        "[[system]]\ndbms = \"null\"\n[[suite]]\nrows = 1000\nsteps = [\"point-query\"]\n{suite}\n\
         seconds = {{ read = 1.0, warm_up = {warm_up_s:?} }}\n"
    );
    let catalogue = rqps_server::Catalogue::builtin().unwrap();
    let plan = PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap();
    let steps = crate::plan::launches::of_plan(&plan, &[0], true).unwrap();
    steps.into_iter().find(|step| step.info.name == "point-query").unwrap()
}

/// Collects blocks.
struct Collector(Vec<Block>);

impl Observer for Collector {
    fn tell(&mut self, _event: Event<'_>) {}

    fn keep(&mut self, block: Block) -> Result<Next> {
        self.0.push(block);
        Ok(Next::Block)
    }
}

/// A step of two systems, of which those in `warm` have been warmed up.
struct Bench {
    planned: PlannedStep,
    cut: Cut,
    seed: u64,
    warm: Vec<usize>,
}

impl Bench {
    fn of(planned: PlannedStep, cut: Cut) -> Self {
        Self { planned, cut, seed: 7, warm: Vec::new() }
    }

    /// The blocks, each with a slice of both; what was warmed up; and how it ended.
    fn run<const N: usize>(
        &self,
        workers: [&Slow; N],
    ) -> (Vec<Block>, Vec<usize>, Result<(), Broken>) {
        let background = || {
            let sampler = Sampler::new(Instant::now(), Target::default()).unwrap();
            Background::start(sampler, Duration::from_secs(1)).unwrap()
        };
        let samples = workers.map(|_| background());
        let endpoint = null_endpoint();
        let counted = Counted::open(Dbms::Null, &endpoint, Patience::default());
        let environment = Environment::of_test(&[]);
        let interrupt = &environment.interrupt;
        let Self { ref planned, cut, seed, .. } = *self;
        let label = Label("a".to_owned());
        let lane = |idx: usize| {
            let bench = bench::Bench {
                label: &label,
                dbms: Dbms::Null,
                endpoint: &endpoint,
                server_pid: None,
                samples: &samples[idx],
                counted: &counted,
                cpus: &[],
                interrupt,
                patience: Patience::default(),
                injected_slowdown: 0.0,
            };
            let mut lane = Lane::new(SystemIdx(idx), clients(workers[idx], planned), bench);
            lane.usual_event = self.warm.contains(&idx).then_some(Duration::ZERO);
            lane
        };
        let lanes = (0..N).map(lane).collect();
        let mut waiting = Waiting::new(workers.map(|_| None).into(), false, &environment).unwrap();
        let mut collector = Collector(Vec::new());
        let mut blocks = Blocks { lanes, waiting: &mut waiting, planned, cut, seed, interrupt };
        let result = blocks.run(Done::default(), &mut collector);
        let is_warm = |lane: &Lane<'_>| lane.usual_event.map(|_| lane.system.0);
        let warm = blocks.lanes.iter().filter_map(is_warm).collect();
        (collector.0, warm, result)
    }
}

fn timed(total: Duration, slice: Duration, may_end: bool) -> Cut {
    Cut::Timed(TimedCut::of(total, slice, may_end, 1))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_step_that_is_shorter_than_half_a_slice_is_measured() {
    for (total, slice) in [(ms(40), ms(100)), (ms(50), ms(5000))] {
        let workers = [Slow::of(1), Slow::of(1)];
        let bench = Bench::of(planned(0.0, ""), timed(total, slice, false));
        let (blocks, _, result) = bench.run([&workers[0], &workers[1]]);
        result.unwrap();
        assert_eq!(blocks.len(), 1);
        for (_, slice) in &blocks[0] {
            assert!(slice.duration_ns >= u64::try_from(total.as_nanos()).unwrap());
            assert_eq!(slice.n_rounds, Some(1));
        }
    }
}

#[test]
fn long_events_are_counted_and_not_run_in() {
    // Twenty blocks of 60 ms are asked for, and an event takes 100.
    let cut = timed(ms(1200), ms(20), true);
    assert!(matches!(cut, Cut::Timed(cut) if cut.n_blocks == 20));
    let slow = Slow::of(100);
    let fast = Slow::of(1);
    let (blocks, warm, result) = Bench::of(planned(0.01, ""), cut).run([&slow, &fast]);
    result.unwrap();
    assert_eq!(warm, [0, 1]);
    // Twelve of them fill the time; fewer and longer ones where a host held up the event by which they
    // were cut.
    assert!((4..=12).contains(&blocks.len()), "{}", blocks.len());
    let ns: u64 = blocks.iter().map(|block| block[0].1.duration_ns).sum();
    assert!(ns >= 1_000_000_000, "{} blocks do not fill the time: {ns} ns", blocks.len());
    let n_counted: u64 = blocks.iter().map(|block| block[0].1.n_events).sum();
    assert_eq!(slow.n_events(), n_counted + 1, "one to warm up");
    // The other has slices of about the same length.
    for block in &blocks {
        assert!(block[1].1.duration_ns >= 80_000_000, "{}", block[1].1.duration_ns);
    }
}

#[test]
fn what_is_left_of_a_step_is_done_by_a_seed_of_its_own_and_warm() {
    let cut = timed(ms(160), ms(20), false);
    let (other, mut failing) = (Slow::of(1), Slow::of(1));
    failing.fails_at = 40;
    let mut bench = Bench::of(planned(0.005, ""), cut);
    let (_, warm, result) = bench.run([&other, &failing]);
    assert!(matches!(result, Err(Broken::System(SystemIdx(1), _))), "{result:?}");
    assert_eq!(warm, [0, 1]);
    let before = other.seeds();
    let n_before = before.len();
    (bench.seed, bench.warm) = (mix(7, 1 << 42), warm);
    let (blocks, _, result) = bench.run([&other, &Slow::of(1)]);
    result.unwrap();
    let after = &other.seeds()[n_before..];
    assert!(after.iter().all(|seed| !before.contains(seed)));
    // A run-in and a slice for each round, and no warm-up.
    let n_rounds: u32 = blocks.iter().map(|block| block[0].1.n_rounds.unwrap()).sum();
    assert_eq!(after.len(), 2 * n_rounds as usize);
}

#[test]
fn a_slower_system_does_the_rest_of_the_writes() {
    let (slow, fast) = (Slow::of(3), Slow::of(1));
    let bench = Bench::of(planned_writes(0.01), timed(ms(200), ms(20), false));
    let (blocks, _, result) = bench.run([&slow, &fast]);
    result.unwrap();
    let counted = |at: usize| blocks.iter().map(|block| block[at].1.n_events).sum::<u64>();
    assert!(counted(0) < counted(1), "{} {}", counted(0), counted(1));
    assert_eq!(slow.n_events(), fast.n_events());
    assert_eq!([slow.seeds().len(), fast.seeds().len()], [1, 1], "one stream each");
    assert_eq!(slow.seeds(), fast.seeds());
}

#[test]
fn a_system_that_is_far_behind_is_not_waited_for() {
    let (slow, fast) = (Slow::of(40), Slow::of(1));
    let bench = Bench::of(planned_writes(0.0), timed(ms(80), ms(20), false));
    let (_, _, result) = bench.run([&slow, &fast]);
    result.unwrap();
    assert!(slow.n_events() < fast.n_events());
}

#[test]
fn systems_are_even_after_one_has_failed() {
    let (slow, fast) = (Slow::of(2), Slow::of(1));
    let mut failing = Slow::of(1);
    failing.fails_at = 60;
    let bench = Bench::of(planned_writes(0.005), timed(ms(400), ms(20), false));
    let (_, _, result) = bench.run([&slow, &fast, &failing]);
    assert!(matches!(result, Err(Broken::System(SystemIdx(2), _))), "{result:?}");
    assert_eq!(slow.n_events(), fast.n_events());
}

#[test]
fn a_block_is_kept_where_a_system_fails_in_what_it_was_behind() {
    let (mut slow, fast) = (Slow::of(20), Slow::of(1));
    slow.fails_at = 40;
    // One block of 200 ms, in which the slow one does some twenty events, and the fast one far more than forty.
    let cut = timed(ms(200), ms(200), false);
    let (blocks, _, result) = Bench::of(planned_writes(0.0), cut).run([&slow, &fast]);
    assert!(matches!(result, Err(Broken::System(SystemIdx(0), _))), "{result:?}");
    assert_eq!(blocks.len(), 1, "what was measured is lost");
}

#[test]
fn a_low_rate_is_held_over_the_slices() {
    let workers = [Slow::of(0), Slow::of(0)];
    let bench = Bench::of(planned(0.0, "rate = 5.0"), timed(ms(2000), ms(20), false));
    let (blocks, _, result) = bench.run([&workers[0], &workers[1]]);
    result.unwrap();
    assert_eq!(blocks.len(), 8);
    for (system, worker) in workers.iter().enumerate() {
        let slices = || blocks.iter().map(|block| &block[system].1);
        let due: u64 = slices().map(|slice| slice.lateness.unwrap().n_due).sum();
        let ns: u64 = slices().map(|slice| slice.duration_ns).sum();
        let wanted = 5.0 * ns as f64 / 1e9;
        assert!((due as f64 - wanted).abs() <= 2.0, "{due} starts in {ns} ns");
        // Nothing is done that is not counted.
        let n_counted: u64 = slices().map(|slice| slice.n_events).sum();
        assert_eq!(worker.n_events(), n_counted);
        // Each slice lasts to its end, also where nothing is due.
        let wall_ns: u64 = slices().map(|slice| slice.usage.wall_ns).sum();
        assert!(wall_ns >= ns, "{ns} in {wall_ns} ns");
    }
}

#[test]
fn all_systems_of_a_block_have_its_start() {
    let lane = [Slow::of(1), Slow::of(1)];
    // Some of so many would differ if each system read the clock by itself.
    let bench = Bench::of(planned(0.0, ""), timed(ms(800), ms(20), true));
    let (blocks, _, result) = bench.run([&lane[0], &lane[1]]);
    result.unwrap();
    assert!(blocks.len() >= 12, "{}", blocks.len());
    for block in &blocks {
        assert_eq!(block[0].1.start_unix_ms, block[1].1.start_unix_ms);
    }
}

#[test]
fn every_order_is_drawn_about_as_often() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..6000 {
        *seen.entry(shuffled(3, mix(seed, 1))).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
}
