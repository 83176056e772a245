//! Client pools on the null client: counts, ends, rates, errors and stops.

use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::time::Duration;

use rqps_client::{Connect as _, Endpoint, Error, NullConnection, Outcome, ServerError};

use super::*;
use crate::{Pace, PlaceInBlock};

/// Events of two statements; every `fail_every`-th event meets a deadlock first.
struct Pairs {
    n: u64,
    fail_every: u64,
    fatal_at: u64,
    panics_at: u64,
    rolled_back: u64,
    wait: Duration,
    /// How long it asks before each event.
    asks: Duration,
    log: Log,
}

/// What happened, in order.
type Log = Arc<Mutex<Vec<&'static str>>>;

fn note(log: &Log, what: &'static str) {
    log.lock().unwrap().push(what);
}

impl Pairs {
    fn new() -> Self {
        let never = u64::MAX;
        Self {
            n: 0,
            fail_every: never,
            fatal_at: never,
            panics_at: never,
            rolled_back: 0,
            wait: Duration::ZERO,
            asks: Duration::ZERO,
            log: Log::default(),
        }
    }
}

fn server_error(errno: u16) -> EventError {
    let message = "made up".to_owned();
    EventError::Client(Error::Server(ServerError {
        errno,
        sqlstate: "HY000".into(),
        message,
        notes: None,
    }))
}

impl Worker<NullConnection> for Pairs {
    fn event(
        &mut self,
        _connection: &mut NullConnection,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        self.n += 1;
        if self.n <= 2 {
            note(&self.log, "event");
        }
        assert!(self.n != self.panics_at, "the test's worker has a bug");
        if self.n == self.fatal_at {
            return Err(server_error(1064));
        }
        if self.n.is_multiple_of(self.fail_every) {
            return Err(server_error(1213));
        }
        if !self.wait.is_zero() {
            #[expect(clippy::disallowed_methods, reason = "the test's server takes its time")]
            std::thread::sleep(self.wait);
        }
        answered(Outcome { rows: 1, affected: 0 });
        answered(Outcome { rows: 2, affected: 0 });
        Ok(())
    }

    fn ask(&mut self, _connection: &mut NullConnection) -> Result<bool, EventError> {
        if self.asks.is_zero() {
            return Ok(false);
        }
        #[expect(clippy::disallowed_methods, reason = "the test's server takes its time")]
        std::thread::sleep(self.asks);
        Ok(true)
    }

    fn roll_back(&mut self, _connection: &mut NullConnection) -> Result<(), EventError> {
        self.rolled_back += 1;
        Ok(())
    }

    fn reseed(&mut self, _seed: u64) {
        note(&self.log, "made ready");
    }

    fn operations_per_statement(&self) -> u64 {
        1
    }
}

fn pool(workers: Vec<Pairs>) -> ClientPool {
    pool_of(workers.into_iter().map(|worker| (worker, 0)).collect())
}

/// Workers with their roles.
fn pool_of(workers: Vec<(Pairs, usize)>) -> ClientPool {
    let endpoint = Endpoint {
        address: rqps_client::Address::Unix("/nowhere".into()),
        tls: rqps_client::Tls::Off,
        user: String::new(),
        password: rqps_client::Password::default(),
        server_public_key: None,
        database: String::new(),
        on_login: None,
        startup: rqps_client::Startup::default(),
        connect_timeout: Duration::from_secs(1),
    };
    let member = |(worker, role)| Member {
        connection: NullConnection::connect(&endpoint).unwrap(),
        worker,
        cpus: Vec::new(),
        role,
    };
    ClientPool::start(workers.into_iter().map(member).collect()).unwrap()
}

fn order(pace: Pace, stop: Stop) -> Order {
    Order { pace, stop, seed: 42 }
}

#[test]
fn a_client_is_asked_between_slices_on_its_own_thread() {
    let mut pool = pool(vec![Pairs::new(), Pairs::new()]);
    let ask = |pool: &ClientPool, idx: usize| {
        pool.ask(idx, |connection| {
            let thread = std::thread::current().name().map(str::to_owned);
            connection.query("SELECT 1").map(|_| thread).unwrap()
        })
    };
    for _ in 0..2 {
        for idx in 0..2 {
            assert_eq!(ask(&pool, idx).unwrap(), Some(format!("client-{idx}")));
        }
        let events = order(Pace::Closed, Stop::Events(4));
        let tally = pool.run(&events, &mut |_| {}, &mut |_| Control::Go).unwrap();
        assert_eq!(tally.n_events, 4);
    }
    assert!(matches!(ask(&pool, 2), Err(ClientPoolError::Vanished { client_idx: 2 })));
    let failed = pool.ask(1, |_| -> u32 { panic!("the test's question has a bug") });
    assert!(matches!(failed, Err(ClientPoolError::Vanished { client_idx: 1 })));
}

#[test]
fn stops_after_a_number_of_events() {
    let mut pool = pool(vec![Pairs::new(), Pairs::new(), Pairs::new()]);
    let order = order(Pace::Closed, Stop::Events(1000));
    for _ in 0..3 {
        let tally = pool.run(&order, &mut |_| {}, &mut |_| Control::Go).unwrap();
        assert_eq!((tally.n_events, tally.n_queries, tally.n_rows), (1000, 2000, 3000));
        assert_eq!(tally.response_times.len(), 1000);
        assert!(tally.errors.is_empty() && tally.lateness.is_none());
    }
}

#[test]
fn stops_after_a_time_with_whole_windows() {
    let mut pool = pool(vec![Pairs::new()]);
    let time = Duration::from_millis(210);
    let tally = pool
        .run(&order(Pace::Closed, Stop::Time(time)), &mut |_| {}, &mut |_| Control::Go)
        .unwrap();
    assert_eq!(tally.windows.counts.len(), 10);
    assert!(tally.series.is_empty(), "no second was whole");
    assert!(tally.last_ns >= 210_000_000);
    let in_windows: u64 = tally.windows.counts.iter().map(|&c| u64::from(c)).sum();
    assert!(in_windows <= tally.n_queries && in_windows > 0);
}

#[test]
fn clients_of_one_stream_go_on_up_to_the_same_event() {
    let (mut slow, quick) = (Pairs::new(), Pairs::new());
    slow.wait = Duration::from_millis(2);
    let log = Arc::clone(&slow.log);
    let mut pool = pool(vec![slow, quick]).with_one_stream();
    let time = Stop::Time(Duration::from_millis(20));
    for _ in 0..2 {
        pool.run(&order(Pace::Closed, time), &mut |_| {}, &mut |_| Control::Go).unwrap();
    }
    let &[behind, ahead] = pool.events_of_stream() else { panic!("two clients") };
    assert!(0 < behind && behind < ahead, "{behind} {ahead}");
    pool.run_up_to(behind + 5, 1, &mut |_| Control::Go).unwrap();
    assert_eq!(pool.events_of_stream(), [behind + 5, ahead], "who is ahead waits");
    let n_seeded = log.lock().unwrap().iter().filter(|what| **what == "made ready").count();
    assert_eq!(n_seeded, 1, "later slices draw from the first one's stream");
}

#[test]
fn counts_deadlocks_and_goes_on() {
    let mut worker = Pairs::new();
    worker.fail_every = 10;
    let mut pool = pool(vec![worker]);
    let tally = pool
        .run(&order(Pace::Closed, Stop::Events(90)), &mut |_| {}, &mut |_| Control::Go)
        .unwrap();
    assert_eq!(tally.n_events, 90);
    assert_eq!(tally.errors.len(), 1);
    assert_eq!((tally.errors[0].code.as_str(), tally.errors[0].n), ("1213", 9));
}

#[test]
fn a_fatal_error_stops_all_clients() {
    let mut bad = Pairs::new();
    bad.fatal_at = 5;
    let mut pool = pool(vec![Pairs::new(), bad]);
    let hour = Stop::Time(Duration::from_secs(3600));
    let error =
        pool.run(&order(Pace::Closed, hour), &mut |_| {}, &mut |_| Control::Go).unwrap_err();
    assert!(matches!(error, ClientPoolError::Client { client_idx: 1, .. }), "{error:?}");
}

#[test]
fn the_caller_can_stop() {
    let mut pool = pool(vec![Pairs::new()]);
    let hour = Stop::Time(Duration::from_secs(3600));
    let error =
        pool.run(&order(Pace::Closed, hour), &mut |_| {}, &mut |_| Control::Stop).unwrap_err();
    assert!(matches!(error, ClientPoolError::Stopped));
}

#[test]
fn response_time_counts_from_the_intended_start() {
    // 200 starts a second and 20 ms each: after 400 ms some 20 were done and 80 were due.
    let mut worker = Pairs::new();
    worker.wait = Duration::from_millis(20);
    let mut pool = pool(vec![worker]);
    let pace = Pace::Rate { events_per_s: 200.0 };
    let stop = Stop::Time(Duration::from_millis(400));
    let tally = pool.run(&order(pace, stop), &mut |_| {}, &mut |_| Control::Go).unwrap();
    let lateness = tally.lateness.unwrap();
    assert_eq!(lateness.n_due, 80, "every start that was due is counted");
    assert!(lateness.n_missed >= 55, "{lateness:?}");
    assert_eq!(lateness.n_due - lateness.n_missed, tally.n_events);
    assert!(lateness.n_late >= 10, "{lateness:?}");
    // The last event was due long before it started: its response time says so.
    assert!(tally.response_times.max() > 200_000_000, "{}", tally.response_times.max());
}

/// Whether something comes out in one of three tries: a host that is held up delays what is due last.
fn once_in_three(mut comes_out: impl FnMut() -> bool) -> bool {
    (0..3).any(|_| comes_out())
}

#[test]
fn a_rate_that_can_be_held_misses_nothing() {
    let mut pool = pool(vec![Pairs::new(), Pairs::new()]);
    let pace = Pace::Rate { events_per_s: 100.0 };
    let stop = Stop::Time(Duration::from_millis(500));
    let mut seen = Vec::new();
    assert!(
        once_in_three(|| {
            let tally = pool.run(&order(pace, stop), &mut |_| {}, &mut |_| Control::Go).unwrap();
            let lateness = tally.lateness.unwrap();
            assert_eq!(lateness.n_due, 50);
            seen.push(lateness.n_missed);
            // A loaded host may delay the last start past the end; more than that would be ours.
            lateness.n_missed <= 2
        }),
        "{seen:?} were missed"
    );
}

/// The tallies of `n` slices of 100 ms at 100 starts a second, on one clock.
fn ongoing(worker: Pairs, n: usize) -> Vec<Tally> {
    let mut pool = pool(vec![worker]);
    let slice = |idx| {
        let place = PlaceInBlock { is_first: idx == 0, is_last: idx + 1 == n };
        let pace = Pace::Ongoing { events_per_s: 100.0, place };
        let order = order(pace, Stop::Time(Duration::from_millis(100)));
        pool.run(&order, &mut |_| {}, &mut |_| Control::Go).unwrap()
    };
    (0..n).map(slice).collect()
}

#[test]
fn what_a_slice_does_not_get_to_is_due_in_the_next() {
    // A third of the rate: what is due piles up, and nothing of it is dropped before the end.
    let slow = Pairs { wait: Duration::from_millis(30), ..Pairs::new() };
    let tallies = ongoing(slow, 4);
    let missed: Vec<u64> = tallies.iter().map(|t| t.lateness.unwrap().n_missed).collect();
    assert_eq!(missed[..3], [0, 0, 0]);
    assert!(missed[3] >= 20, "{missed:?}");
    let due: u64 = tallies.iter().map(|t| t.lateness.unwrap().n_due).sum();
    // The clock also counts what a slice took beyond its end.
    assert!((40..100).contains(&due), "{due} starts were due");
    // The last start that came was due long before its slice began.
    assert!(tallies[3].delays.as_ref().unwrap().max() >= 200_000_000);
    assert!(tallies[3].response_times.len() > tallies[3].n_events, "missed starts waited as well");
}

#[test]
fn a_clock_that_goes_on_holds_its_rate_over_many_slices() {
    let mut seen = Vec::new();
    assert!(
        once_in_three(|| {
            let tallies = ongoing(Pairs::new(), 5);
            let n: u64 = tallies.iter().map(|t| t.n_events).sum();
            let missed: Vec<u64> = tallies.iter().map(|t| t.lateness.unwrap().n_missed).collect();
            assert_eq!(missed[..4], [0; 4], "nothing is dropped between slices");
            seen.push((n, missed[4]));
            // 500 ms at 100/s, and what the slices took beyond their ends.
            missed[4] == 0 && (50..60).contains(&n)
        }),
        "{seen:?} came and were missed"
    );
}

#[test]
fn a_rate_below_one_start_a_slice_is_held_over_many_slices() {
    for events_per_s in [4.0, 15.0, 104.0] {
        let mut pool = pool(vec![Pairs::new(), Pairs::new()]);
        let mut n = 0;
        for nth in 0..80 {
            let place = PlaceInBlock { is_first: nth == 0, is_last: false };
            let pace = Pace::Ongoing { events_per_s, place };
            let order = order(pace, Stop::Time(Duration::from_millis(20)));
            let tally = pool.run(&order, &mut |_| {}, &mut |_| Control::Go).unwrap();
            n += tally.lateness.unwrap().n_due;
        }
        // On the clock; a host that holds a thread up makes it longer than 1.6 s.
        assert!(pool.past >= Duration::from_millis(1600));
        let due = pool.past.as_secs_f64() * events_per_s;
        assert!((n as f64 - due).abs() <= 3.0, "{n} of {due} at {events_per_s}/s");
    }
}

#[test]
fn what_a_worker_asks_between_events_is_in_no_response_time() {
    let asks = Duration::from_millis(20);
    let mut pool = pool(vec![Pairs { asks, ..Pairs::new() }]);
    let order = order(Pace::Closed, Stop::Events(20));
    let tally = pool.run(&order, &mut |_| {}, &mut |_| Control::Go).unwrap();
    assert!(tally.duration_ns() >= 20 * 20_000_000, "{} ns", tally.duration_ns());
    // Of all events half at least, however busy the host is.
    let median = tally.response_times.value_at_quantile(0.5);
    assert!(median < 10_000_000, "{median} ns");
}

#[test]
fn a_slice_with_nothing_due_lasts_until_its_end() {
    let mut pool = pool(vec![Pairs::new()]);
    let pace = Pace::Rate { events_per_s: 1.0 };
    let mut ends = Vec::new();
    let mut edge = |_| ends.push(Instant::now());
    let order = order(pace, Stop::Time(Duration::from_millis(60)));
    let tally = pool.run(&order, &mut edge, &mut |_| Control::Go).unwrap();
    assert_eq!(tally.n_events, 0, "the first is due after half a second");
    assert!(ends[1] - ends[0] >= Duration::from_millis(60), "{:?}", ends[1] - ends[0]);
}

#[test]
fn a_wait_for_a_start_that_is_far_away_can_be_stopped() {
    let mut pool = pool(vec![Pairs::new()]);
    let hour = Stop::Time(Duration::from_secs(3600));
    let pace = Pace::Rate { events_per_s: 0.001 };
    let since = Instant::now();
    let result = pool.run(&order(pace, hour), &mut |_| {}, &mut |_| Control::Stop);
    assert!(matches!(result, Err(ClientPoolError::Stopped)), "{result:?}");
    // The second start is due after 1000 s.
    assert!(since.elapsed() < Duration::from_secs(500));
}

#[test]
fn each_role_has_its_order_and_its_tally() {
    let workers = [0, 1, 1, 2].map(|role| (Pairs::new(), role));
    let mut pool = pool_of(workers.into());
    let stop = Stop::Time(Duration::from_millis(500));
    let paces =
        [Pace::Closed, Pace::Rate { events_per_s: 100.0 }, Pace::Rate { events_per_s: 20.0 }];
    let orders = paces.map(|pace| order(pace, stop));
    let mut shown = 0;
    let mut show = |live: Live| {
        shown = live.n_queries;
        Control::Go
    };
    let tallies = pool.run_roles(&orders, &mut |_| {}, &mut show).unwrap();
    assert!(tallies[0].lateness.is_none() && tallies[0].n_events > 1000, "{:?}", tallies[0]);
    let due = |tally: &Tally| tally.lateness.unwrap().n_due;
    assert_eq!((due(&tallies[1]), due(&tallies[2])), (50, 10), "clients of a role share its rate");
    assert!(shown > 0 && shown <= tallies[0].n_queries, "{shown} statements of the first role");
    let error = pool.run_roles(&orders[..2], &mut |_| {}, &mut |_| Control::Go).unwrap_err();
    assert!(matches!(error, ClientPoolError::NoOrder { role: 2 }), "{error:?}");
}

#[test]
fn a_rate_is_held_by_the_clock_by_which_it_is_due() {
    // The other role's answers come 300 ms after they were asked for, long after the slice's end.
    let slow = Pairs { wait: Duration::from_millis(300), ..Pairs::new() };
    let mut pool = pool_of(vec![(slow, 0), (Pairs::new(), 1)]);
    let stop = Stop::Time(Duration::from_millis(100));
    let mut slice = |is_first: bool, is_last: bool| {
        let pace = Pace::Ongoing { events_per_s: 100.0, place: PlaceInBlock { is_first, is_last } };
        let orders = [order(Pace::Closed, stop), order(pace, stop)];
        pool.run_roles(&orders, &mut |_| {}, &mut |_| Control::Go).unwrap().remove(1)
    };
    let mut seen = Vec::new();
    assert!(
        once_in_three(|| {
            let mut block = slice(true, false);
            assert!(block.duration_ns() >= 300_000_000, "{}", block.duration_ns());
            block.append(&slice(false, false));
            assert_eq!(block.lateness.unwrap().n_missed, 0, "nothing is dropped between slices");
            block.append(&slice(false, true));
            let (n_events, n_missed) = (block.n_events, block.lateness.unwrap().n_missed);
            let per_s = n_events as f64 * 1e9 / block.duration_ns() as f64;
            seen.push((n_events, n_missed, per_s));
            // In slices of 0.3 s, 0.3 s and 0.1 s 70 were due and came.
            n_missed == 0 && (60..=90).contains(&n_events) && (85.0..=105.0).contains(&per_s)
        }),
        "{seen:?}"
    );
}

#[test]
fn a_client_thread_that_panics_ends_the_slice_of_all() {
    let mut pool = pool(vec![Pairs::new(), Pairs { panics_at: 10, ..Pairs::new() }]);
    // Far longer than the test: the other client is stopped, and nobody waits for the dead one.
    let stop = Stop::Time(Duration::from_secs(3600));
    let order = Order { pace: Pace::Closed, stop, seed: 1 };
    let error = pool.run(&order, &mut |_| {}, &mut |_| Control::Go).unwrap_err();
    assert!(matches!(error, ClientPoolError::Vanished { client_idx: 1 }), "{error:?}");
}

#[test]
fn only_what_is_counted_lies_between_the_edges() {
    let log = Log::default();
    let worker = || Pairs { log: Arc::clone(&log), ..Pairs::new() };
    let mut pool = pool(vec![worker(), worker(), worker()]);
    let order = order(Pace::Closed, Stop::Events(6));
    for _ in 0..2 {
        let mut edge = |edge| note(&log, if edge == Edge::Start { "start" } else { "end" });
        pool.run(&order, &mut edge, &mut |_| Control::Go).unwrap();
    }
    let ready = ["made ready"; 3];
    let events = ["event"; 6];
    let first = [&ready[..], &["start"], &events[..], &["end"]].concat();
    let second = [&ready[..], &["start"], &["end"]].concat();
    assert_eq!(*log.lock().unwrap(), [first, second].concat());
}

/// Waits for a server that never answers.
struct Stuck {
    socket: UnixStream,
}

impl Worker<NullConnection> for Stuck {
    fn event(
        &mut self,
        _connection: &mut NullConnection,
        _answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        use std::io::Read as _;
        let n = self.socket.read(&mut [0; 1]).unwrap();
        assert_eq!(n, 0, "nobody writes");
        Err(server_error(2013))
    }

    fn roll_back(&mut self, _connection: &mut NullConnection) -> Result<(), EventError> {
        Ok(())
    }

    fn reseed(&mut self, _seed: u64) {}

    fn operations_per_statement(&self) -> u64 {
        1
    }
}

#[test]
fn a_query_that_never_ends_is_broken_off_when_a_slice_is_stopped() {
    let (done, waits) = channel();
    let test = std::thread::spawn(move || {
        let (socket, server) = UnixStream::pair().unwrap();
        let breaker = Breaker::Unix(socket.try_clone().unwrap());
        let connection = NullConnection::default();
        let member = Member { connection, worker: Stuck { socket }, cpus: Vec::new(), role: 0 };
        let mut pool = ClientPool::start(vec![member]).unwrap();
        // The null client has nothing to break off; this one has.
        pool.breakers = vec![breaker];
        let hour = order(Pace::Closed, Stop::Time(Duration::from_secs(3600)));
        let result = pool.run(&hour, &mut |_| {}, &mut |_| Control::Stop);
        drop(pool);
        drop(server);
        done.send(result.map(|tally| tally.n_events)).unwrap();
    });
    // Far more than the two seconds of grace: only what hangs takes as long.
    let result = waits.recv_timeout(Duration::from_secs(120)).expect("it hangs");
    assert!(matches!(result, Err(ClientPoolError::Stopped)), "{result:?}");
    test.join().unwrap();
}

#[test]
fn a_crew_that_is_dropped_breaks_off_what_never_ends() {
    let (done, waits) = channel();
    std::thread::spawn(move || {
        let (socket, _server) = UnixStream::pair().unwrap();
        let breaker = Breaker::Unix(socket.try_clone().unwrap());
        let connection = NullConnection::default();
        let member = Member { connection, worker: Stuck { socket }, cpus: Vec::new(), role: 0 };
        let mut pool = ClientPool::start(vec![member]).unwrap();
        pool.breakers = vec![breaker];
        pool.make_ready(&[order(Pace::Closed, Stop::Events(1))], None).unwrap();
        pool.tell_all(|_| Task::Go(Instant::now())).unwrap();
        drop(pool);
        done.send(()).unwrap();
    });
    waits.recv_timeout(Duration::from_secs(120)).expect("it hangs");
}
