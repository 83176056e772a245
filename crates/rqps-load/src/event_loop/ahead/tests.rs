//! The loop against a server of this process that answers one statement after the other, each a while
//! after the one before.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::Instant;

use rqps_client::{
    Breaker, Connection, Error, Outcome, Params, ResultSet, ServerError, Session, StatementId,
    StatementSpec,
};
use rqps_workload::Worker;

use super::super::{OnClock, Published, Share};
use super::*;
use crate::{Order, PlaceInBlock, Stop};

const MS: u64 = 1_000_000;

/// Answers each statement `takes` after it came or after the answer before.
#[derive(Debug, Default)]
struct Server {
    takes: Duration,
    /// When answers will be there.
    answers: VecDeque<Instant>,
    last: Option<Instant>,
    /// Most statements under way at once.
    deepest: usize,
    n_answered: u64,
    /// Every so many answers are errors.
    fails_every: Option<u64>,
    /// Which; a deadlock where it is 0.
    errno: u16,
    session: Session,
}

impl Server {
    /// One that answers nothing for so many milliseconds from now on, and then all at once.
    fn stalled(ms: u64) -> Self {
        Self { last: Some(Instant::now() + Duration::from_millis(ms)), ..Self::default() }
    }
}

impl Connection for Server {
    fn prepare(&mut self, _spec: &StatementSpec<'_>) -> Result<StatementId, Error> {
        Ok(StatementId(0))
    }

    fn execute(&mut self, _statement: StatementId, _params: &Params) -> Result<Outcome, Error> {
        Ok(Outcome::default())
    }

    fn execute_text(&mut self, _sql: &[u8]) -> Result<Outcome, Error> {
        Ok(Outcome::default())
    }

    fn query(&mut self, _sql: &str) -> Result<ResultSet, Error> {
        Ok(ResultSet::default())
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_timeout(&mut self, _timeout: Option<Duration>) -> Result<(), Error> {
        Ok(())
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(Breaker::Null)
    }
}

impl Pipeline for Server {
    fn send(&mut self, _statement: StatementId, _params: &Params) -> Result<(), Error> {
        self.send_text(b"")
    }

    fn send_text(&mut self, _sql: &[u8]) -> Result<(), Error> {
        let now = Instant::now();
        let at = self.last.map_or(now, |last| last.max(now)) + self.takes;
        self.last = Some(at);
        self.answers.push_back(at);
        self.deepest = self.deepest.max(self.answers.len());
        Ok(())
    }

    fn await_answer(&mut self, at_most: Duration) -> Result<bool, Error> {
        let left = self.answers[0].saturating_duration_since(Instant::now());
        sleep(left.min(at_most));
        Ok(left <= at_most)
    }

    fn answer(&mut self) -> Result<Outcome, Error> {
        let at = self.answers.pop_front().expect("an answer is due");
        sleep(at.saturating_duration_since(Instant::now()));
        self.n_answered += 1;
        if self.fails_every.is_some_and(|every| self.n_answered.is_multiple_of(every)) {
            let message = "made up".to_owned();
            let errno = if self.errno == 0 { 1213 } else { self.errno };
            let error = ServerError { errno, sqlstate: "40001".to_owned(), message, notes: None };
            return Err(error.into());
        }
        Ok(Outcome { rows: 0, affected: 1 })
    }
}

fn sleep(time: Duration) {
    #[expect(clippy::disallowed_methods, reason = "the test's server takes its time")]
    std::thread::sleep(time);
}

/// Sends nothing but statements, where the others are near enough.
#[derive(Debug, Default)]
struct Sender {
    may_not: Cell<bool>,
}

impl Ahead for Sender {
    fn may_send(&self) -> bool {
        !self.may_not.get()
    }

    fn await_send(&self, at_most: Duration) {
        sleep(at_most);
        self.may_not.set(false);
    }

    fn send(&mut self, pipeline: &mut dyn Pipeline) -> Result<(), EventError> {
        Ok(pipeline.send_text(b"")?)
    }

    fn answer(&mut self, pipeline: &mut dyn Pipeline) -> Result<Outcome, EventError> {
        Ok(pipeline.answer()?)
    }
}

/// 200 ms at 100 starts a second.
fn slice_of(server: &mut Server, sender: &mut Sender, pace: Pace, n: &mut u64) -> Tally {
    let stop = Stop::Time(Duration::from_millis(200));
    let mut tally = Tally::for_order(&Order { pace, stop, seed: 1 });
    try_slice(server, sender, pace, n, &mut tally).unwrap();
    assert!(server.answers.is_empty(), "the connection is left without answers");
    tally
}

fn try_slice(
    server: &mut Server,
    sender: &mut Sender,
    pace: Pace,
    n: &mut u64,
    tally: &mut Tally,
) -> Result<(), EventError> {
    let (published, stop) = (Published(AtomicU64::new(0)), AtomicBool::new(false));
    let n_behind = AtomicUsize::new(0);
    let watch = Watch { published: &published, stop: &stop, n_behind: &n_behind };
    let share = Share { client_idx: 0, idx: 0, n_clients: 1 };
    let mut on_clock = OnClock { n: *n, past_ns: 0 };
    let schedule = Schedule::at(pace.rate().unwrap(), share, &mut on_clock);
    let clock = Clock::starting_at(Instant::now());
    let frame = Frame { operations: 10, deadline_ns: 200 * MS, pace, clock, watch: &watch };
    let result = run((server, sender), schedule, &frame, tally);
    assert_eq!(n_behind.into_inner(), 0);
    *n = on_clock.n;
    result
}

const RATE: Pace = Pace::Rate { events_per_s: 100.0 };

#[test]
fn a_late_answer_delays_no_start() {
    let mut server = Server { takes: Duration::from_millis(12), ..Server::default() };
    let tally = slice_of(&mut server, &mut Sender::default(), RATE, &mut 0);
    let lateness = tally.lateness.unwrap();
    assert_eq!(lateness.n_due, 20);
    assert_eq!(tally.n_events + lateness.n_missed, 20);
    assert_eq!((tally.n_queries, tally.n_operations), (tally.n_events, 10 * tally.n_events));
    // Answers come every 12 ms and statements leave every 10: the server is ever further behind.
    assert!(server.deepest >= 2, "{}", server.deepest);
    // All but a last few have been sent by the 190th millisecond, and the server needs longer.
    assert!(tally.max_ns >= 30 * MS, "{}", tally.max_ns);
}

#[test]
fn a_server_that_stalls_is_handed_no_more_than_a_few_and_catches_up() {
    let mut server = Server::stalled(150);
    let tally = slice_of(&mut server, &mut Sender::default(), RATE, &mut 0);
    let lateness = tally.lateness.unwrap();
    assert_eq!((lateness.n_due, tally.n_events + lateness.n_missed), (20, 20));
    assert_eq!(server.deepest, MOST_UNDER_WAY);
    // The first waited for all of the stall in the server, the ninth for its end to be sent at all.
    assert!(tally.max_ns >= 100 * MS, "{}", tally.max_ns);
    assert!(lateness.max_ns >= 50 * MS, "{lateness:?}");
    // Which was not the client's own doing.
    let own = tally.own_delays.unwrap().mean();
    assert!(own < lateness.mean_ns().unwrap(), "{own} of {lateness:?}");
}

#[test]
fn what_fails_is_sent_again_with_its_first_start() {
    let takes = Duration::from_millis(4);
    let mut server = Server { takes, fails_every: Some(5), ..Server::default() };
    let tally = slice_of(&mut server, &mut Sender::default(), RATE, &mut 0);
    let n_failed: u64 = tally.errors.iter().map(|error| error.n).sum();
    assert!(n_failed >= 1 && n_failed == server.n_answered / 5, "{n_failed}");
    assert_eq!(tally.n_events + n_failed, server.n_answered);
    assert!(tally.max_ns >= 8 * MS, "both tries count: {}", tally.max_ns);
    // What failed after the end, or did not get to start, is missed.
    assert_eq!(tally.n_events + tally.lateness.unwrap().n_missed, 20);
}

#[test]
fn an_error_that_is_not_retried_leaves_no_answer_behind() {
    let takes = Duration::from_millis(30);
    let mut server = Server { takes, errno: 1054, fails_every: Some(1), ..Server::default() };
    let mut tally = Tally::for_order(&Order { pace: RATE, stop: Stop::Events(1), seed: 1 });
    let error = try_slice(&mut server, &mut Sender::default(), RATE, &mut 0, &mut tally);
    assert!(matches!(error, Err(EventError::Client(_))), "{error:?}");
    assert!(server.answers.is_empty() && server.deepest > 1, "{server:?}");
}

#[test]
fn one_that_others_hold_up_waits_for_them() {
    let (mut server, mut sender) = (Server::default(), Sender::default());
    sender.may_not.set(true);
    let tally = slice_of(&mut server, &mut sender, RATE, &mut 0);
    let lateness = tally.lateness.unwrap();
    assert_eq!(tally.n_events + lateness.n_missed, 20);
    assert!(lateness.max_ns >= 9 * MS, "{lateness:?}");
}

#[test]
fn what_is_not_sent_by_the_end_is_due_in_the_next_slice() {
    let pace = |is_first, is_last| Pace::Ongoing {
        events_per_s: 100.0,
        place: PlaceInBlock { is_first, is_last },
    };
    let mut n = 0;
    // Stalls for the whole slice and more.
    let mut server = Server::stalled(400);
    let first = slice_of(&mut server, &mut Sender::default(), pace(true, false), &mut n);
    assert_eq!((first.n_events, n), (MOST_UNDER_WAY as u64, MOST_UNDER_WAY as u64));
    assert_eq!(first.lateness.unwrap().n_missed, 0);
    let mut server = Server::stalled(400);
    // On a clock of its own here, whose first starts are due 8 intervals on.
    let last = slice_of(&mut server, &mut Sender::default(), pace(false, true), &mut n);
    assert_eq!((last.n_events, n), (8, 20));
    assert_eq!(last.lateness.unwrap().n_missed, 4);
}

/// Queries as fast as they go.
struct Querier;

impl Worker<Server> for Querier {
    fn event(
        &mut self,
        _connection: &mut Server,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        sleep(Duration::from_millis(1));
        answered(Outcome::default());
        Ok(())
    }

    fn roll_back(&mut self, _connection: &mut Server) -> Result<(), EventError> {
        Ok(())
    }

    fn reseed(&mut self, _seed: u64) {}

    fn operations_per_statement(&self) -> u64 {
        1
    }
}

/// When the last query of a slice of so many milliseconds was answered, whose others have something under
/// way for `others_ms`, and when they had not any more.
fn ends_beside_others(ms: u64, others_ms: u64) -> (u64, u64) {
    let (published, stop) = (Published(AtomicU64::new(0)), AtomicBool::new(false));
    let n_behind = AtomicUsize::new(1);
    let stop_at = Stop::Time(Duration::from_millis(ms));
    let order = Order { pace: Pace::Closed, stop: stop_at, seed: 1 };
    let mut tally = Tally::for_order(&order);
    let clock = Clock::starting_at(Instant::now());
    let mut answered_ns = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let watch = Watch { published: &published, stop: &stop, n_behind: &n_behind };
            let share = Share { client_idx: 0, idx: 0, n_clients: 1 };
            let pair = (&mut Server::default(), &mut Querier);
            let of = (&order, share, &mut OnClock::default());
            super::super::run(pair, of, clock, &watch, &mut tally).unwrap();
        });
        sleep(Duration::from_millis(others_ms));
        answered_ns = clock.now_ns();
        n_behind.store(0, Ordering::Release);
    });
    (tally.last_ns, answered_ns)
}

#[test]
fn queries_go_on_until_what_others_have_under_way_is_answered() {
    // The last query may end a moment before the others' answer.
    let (last_ns, answered_ns) = ends_beside_others(80, 150);
    assert!(last_ns >= 100 * MS, "{last_ns} of {answered_ns}");
    // A server that stalls is not kept busy for longer than the slice was.
    let (last_ns, answered_ns) = ends_beside_others(20, 1000);
    assert!(last_ns < answered_ns, "{last_ns} of {answered_ns}");
}
