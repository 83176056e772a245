//! Client threads that keep their connections open from slice to slice.

mod client;
mod protocols;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rqps_client::{Breaker, Connection};
use rqps_workload::{EventError, Worker};

pub use client::Member;
use client::{Answer, Prepare, Question, Said, Shared, Task, place_self, serve};

use crate::event_loop::{Published, Share};
use crate::{Order, Pace, Stop, Tally};

/// Time between the word to go and the common start at a set rate: enough for every thread, which is ready by
/// then, to wake. What the host does in it counts as the slice's usage, so it is short.
const LEAD_AT_RATE: Duration = Duration::from_millis(1);

/// The same for each client, as threads are woken one after the other: some microseconds each. A closed
/// loop has no other lead: each client's time begins when its thread runs.
const LEAD_PER_CLIENT: Duration = Duration::from_micros(20);

/// How long threads may take to notice a stop before their connections are broken off.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// How often a running slice is shown.
const SHOW_EVERY: Duration = Duration::from_millis(200);

/// Progress of a running slice.
#[derive(Debug, Clone, Copy)]
pub struct Live {
    /// Time since the common start.
    pub elapsed: Duration,
    /// Statements answered so far, all clients of the first role.
    pub n_queries: u64,
}

/// Whether a running slice continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Go,
    /// Stop at once.
    Stop,
}

/// The start and the end of the counted part of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Every client is ready and waits; the common start follows within a millisecond or two.
    Start,
    /// The last client's last answer is there, and nothing has been added up yet.
    End,
}

/// Why a slice has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientPoolError {
    /// A client failed.
    #[error("client {client_idx}")]
    Client {
        /// Which one, from 0.
        client_idx: usize,
        /// Its error.
        #[source]
        source: EventError,
    },
    /// A client thread could not be started or pinned.
    #[error("start client thread {client_idx}")]
    Thread {
        /// Which one, from 0.
        client_idx: usize,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A client has a role for which nothing was ordered.
    #[error("no order for the clients of role {role}")]
    NoOrder {
        /// Which one, from 0.
        role: usize,
    },
    /// The caller stopped the slice.
    #[error("stopped before the end of the slice")]
    Stopped,
    /// A client thread ended without an answer.
    #[error("client thread {client_idx} ended unexpectedly")]
    Vanished {
        /// Which one, from 0.
        client_idx: usize,
    },
}

/// One thread per client, each with its open connection.
#[derive(Debug)]
pub struct ClientPool {
    tasks: Vec<Sender<Task>>,
    answers: Receiver<Answer>,
    threads: Vec<JoinHandle<()>>,
    breakers: Vec<Breaker>,
    /// The role of each client.
    roles: Vec<usize>,
    shared: Arc<Shared>,
    /// Time of the slices so far on the clock of rates that go on.
    past: Duration,
    /// Whether each client draws all slices from one stream.
    has_one_stream: bool,
    /// Events of each client since its stream began.
    n_of_stream: Vec<u64>,
}

impl ClientPool {
    /// Starts a thread for each member.
    ///
    /// # Errors
    /// When a thread cannot be started or pinned, or a socket cannot be duplicated.
    pub fn start<C, W>(members: Vec<Member<C, W>>) -> Result<Self, ClientPoolError>
    where
        C: Connection + 'static,
        W: Worker<C> + 'static,
    {
        let n_clients = members.len();
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            n_behind: AtomicUsize::new(0),
            published: (0..n_clients).map(|_| Published::default()).collect(),
            thread_ids: (0..n_clients).map(|_| AtomicI32::new(0)).collect(),
        });
        let (answer, answers) = channel();
        let roles: Vec<usize> = members.iter().map(|member| member.role).collect();
        let mut pool = Self {
            tasks: Vec::new(),
            answers,
            threads: Vec::new(),
            breakers: Vec::new(),
            roles,
            shared,
            past: Duration::ZERO,
            has_one_stream: false,
            n_of_stream: vec![0; n_clients],
        };
        for (client_idx, member) in members.into_iter().enumerate() {
            let share = pool.share_of(client_idx);
            let breaker = member
                .connection
                .breaker()
                .map_err(|source| ClientPoolError::Client { client_idx, source: source.into() })?;
            let (task, tasks) = channel();
            let shared = Arc::clone(&pool.shared);
            let answer = answer.clone();
            let (ready, pinned) = channel();
            let thread = std::thread::Builder::new()
                .name(format!("client-{client_idx}"))
                .spawn(move || {
                    let placed = place_self(&member.cpus);
                    let go = placed.is_ok();
                    let id = nix::unistd::gettid().as_raw();
                    shared.thread_ids[client_idx].store(id, Ordering::Relaxed);
                    let _ = ready.send(placed);
                    if go {
                        serve(member, share, &tasks, &answer, &shared);
                    }
                })
                .map_err(|source| ClientPoolError::Thread { client_idx, source })?;
            pool.tasks.push(task);
            pool.threads.push(thread);
            pool.breakers.push(breaker);
            pinned
                .recv()
                .map_err(|_| ClientPoolError::Vanished { client_idx })?
                .map_err(|source| ClientPoolError::Thread { client_idx, source })?;
        }
        Ok(pool)
    }

    /// Puts a question to the server on a client's connection, between slices. The client's thread asks, and this
    /// waits for the answer.
    ///
    /// # Errors
    /// When there is no such client, or its thread has ended.
    pub fn ask<T: Send + 'static>(
        &self,
        client_idx: usize,
        question: impl FnOnce(&mut dyn Connection) -> T + Send + 'static,
    ) -> Result<T, ClientPoolError> {
        let vanished = || ClientPoolError::Vanished { client_idx };
        let (answer, answers) = channel();
        let ask: Question = Box::new(move |connection| {
            // Nobody waits any more where the send fails.
            let _ = answer.send(question(connection));
        });
        let thread = self.tasks.get(client_idx).ok_or_else(vanished)?;
        thread.send(Task::Ask(ask)).map_err(|_| vanished())?;
        answers.recv().map_err(|_| vanished())
    }

    /// Has each client draw all slices from one stream, the one of the first slice's seed. Two pools of as many
    /// clients then have the same events in the same order, however many of them fit into each slice.
    #[must_use]
    pub fn with_one_stream(mut self) -> Self {
        self.has_one_stream = true;
        self
    }

    /// Events of each client since its stream began.
    #[must_use]
    pub fn events_of_stream(&self) -> &[u64] {
        &self.n_of_stream
    }

    /// The kernel's ids of the client threads.
    #[must_use]
    pub fn thread_ids(&self) -> Vec<i32> {
        self.shared.thread_ids.iter().map(|id| id.load(Ordering::Relaxed)).collect()
    }

    /// The part of its role's order that is a client's.
    fn share_of(&self, client_idx: usize) -> Share {
        let role = self.roles[client_idx];
        let is_same = |other: &&usize| **other == role;
        Share {
            client_idx,
            idx: self.roles[..client_idx].iter().filter(is_same).count(),
            n_clients: self.roles.iter().filter(is_same).count(),
        }
    }

    /// Runs one slice on all clients, which have one role: see [`ClientPool::run_roles`].
    ///
    /// # Errors
    /// As [`ClientPool::run_roles`].
    pub fn run(
        &mut self,
        order: &Order,
        edge: &mut dyn FnMut(Edge),
        show: &mut dyn FnMut(Live) -> Control,
    ) -> Result<Tally, ClientPoolError> {
        let tallies = self.run_roles(&[*order], edge, show)?;
        Ok(tallies.into_iter().next().unwrap_or_else(|| Tally::for_order(order)))
    }

    /// Runs one slice on all clients, with an order and a tally for each role. `edge` is called right
    /// before the common start and right after the last answer: the counted part lies between its
    /// calls. `show` is called a few times a second in between.
    ///
    /// # Errors
    /// The first client's error that is not retried, or a role without an order; the others are
    /// stopped.
    pub fn run_roles(
        &mut self,
        orders: &[Order],
        edge: &mut dyn FnMut(Edge),
        show: &mut dyn FnMut(Live) -> Control,
    ) -> Result<Vec<Tally>, ClientPoolError> {
        self.run_each(orders, None, edge, show)
    }

    /// Runs all clients, which have one role, until each has had `n` events since its stream began. One that
    /// has had more does nothing.
    ///
    /// # Errors
    /// As [`ClientPool::run_roles`].
    pub fn run_up_to(
        &mut self,
        n: u64,
        seed: u64,
        show: &mut dyn FnMut(Live) -> Control,
    ) -> Result<(), ClientPoolError> {
        let order = Order { pace: Pace::Closed, stop: Stop::Events(0), seed };
        self.run_each(&[order], Some(n), &mut |_| {}, show).map(|_| ())
    }

    /// Runs one slice. With `up_to`, clients end by their number of events and not by their orders.
    fn run_each(
        &mut self,
        orders: &[Order],
        up_to: Option<u64>,
        edge: &mut dyn FnMut(Edge),
        show: &mut dyn FnMut(Live) -> Control,
    ) -> Result<Vec<Tally>, ClientPoolError> {
        if let Some(&role) = self.roles.iter().find(|role| **role >= orders.len()) {
            return Err(ClientPoolError::NoOrder { role });
        }
        self.shared.stop.store(false, Ordering::Relaxed);
        if !orders.iter().any(|order| order.pace.goes_on()) {
            self.past = Duration::ZERO;
        }
        self.make_ready(orders, up_to)?;
        edge(Edge::Start);
        let start = Instant::now() + self.lead(orders);
        self.tell_all(|_| Task::Go(start))?;
        let mut tallies: Vec<Option<Tally>> = self.tasks.iter().map(|_| None).collect();
        let mut is_awaited = vec![true; self.tasks.len()];
        let mut failure = None;
        let mut stopping: Option<Instant> = None;
        while let Some(first) = is_awaited.iter().position(|&awaited| awaited) {
            match self.answers.recv_timeout(SHOW_EVERY) {
                Ok(Answer { said: Said::Ready, .. }) => {}
                Ok(Answer { client_idx, said: Said::Ended(result) }) => {
                    is_awaited[client_idx] = false;
                    match *result {
                        Ok(tally) => tallies[client_idx] = Some(tally),
                        Err(source) => {
                            // A connection that we broke off ourselves is not the reason.
                            failure.get_or_insert(ClientPoolError::Client { client_idx, source });
                            self.ask_to_stop(&mut stopping);
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if show(self.live(start)) == Control::Stop {
                        failure.get_or_insert(ClientPoolError::Stopped);
                        self.ask_to_stop(&mut stopping);
                    }
                    if stopping.is_some_and(|since| since.elapsed() > STOP_GRACE) {
                        self.breakers.iter().for_each(Breaker::break_off);
                    }
                    // A thread ends in the middle of a slice by a panic alone, without an answer.
                    for (client_idx, thread) in self.threads.iter().enumerate() {
                        if is_awaited[client_idx] && thread.is_finished() {
                            is_awaited[client_idx] = false;
                            failure.get_or_insert(ClientPoolError::Vanished { client_idx });
                            self.ask_to_stop(&mut stopping);
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failure.unwrap_or(ClientPoolError::Vanished { client_idx: first }));
                }
            }
        }
        edge(Edge::End);
        if let Some(failure) = failure {
            return Err(failure);
        }
        for (n, tally) in self.n_of_stream.iter_mut().zip(&tallies) {
            let before = if self.has_one_stream { *n } else { 0 };
            *n = before + tally.as_ref().map_or(0, |tally| tally.n_events);
        }
        let last_ns = tallies.iter().flatten().map(|tally| tally.last_ns).max().unwrap_or(0);
        let passed = length(orders, Duration::from_nanos(last_ns));
        self.past += passed;
        let of_role = |role: usize| {
            let pairs = tallies.iter().zip(&self.roles);
            pairs.filter(|(_, own)| **own == role).filter_map(|(tally, _)| tally.clone()).collect()
        };
        Ok(orders
            .iter()
            .enumerate()
            .map(|(role, order)| merged(of_role(role), order, passed))
            .collect())
    }

    /// Time between the word to go and the common start.
    fn lead(&self, orders: &[Order]) -> Duration {
        let is_closed = orders.iter().all(|order| order.pace == Pace::Closed);
        let n_others = u32::try_from(self.tasks.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let least = if is_closed { Duration::ZERO } else { LEAD_AT_RATE };
        least + LEAD_PER_CLIENT * n_others
    }

    /// Lets every thread make room for what it will count, and waits until all have.
    fn make_ready(&self, orders: &[Order], up_to: Option<u64>) -> Result<(), ClientPoolError> {
        self.tell_all(|client_idx| {
            let mut order = orders[self.roles[client_idx]];
            let n_before = self.n_of_stream[client_idx];
            if let Some(n) = up_to {
                // A number of events is that of all clients together.
                let n_clients = self.share_of(client_idx).n_clients as u64;
                order.stop = Stop::Events(n.saturating_sub(n_before) * n_clients);
            }
            let reseeds = !self.has_one_stream || n_before == 0;
            Task::Prepare(Prepare { order, past: self.past, reseeds })
        })?;
        let mut is_ready = vec![false; self.tasks.len()];
        while let Some(first) = is_ready.iter().position(|&ready| !ready) {
            match self.answers.recv_timeout(SHOW_EVERY) {
                Ok(Answer { client_idx, .. }) => is_ready[client_idx] = true,
                // A thread that ended by a panic says nothing.
                Err(RecvTimeoutError::Timeout) if !self.threads[first].is_finished() => {}
                Err(_) => return Err(ClientPoolError::Vanished { client_idx: first }),
            }
        }
        Ok(())
    }

    fn tell_all(&self, task: impl Fn(usize) -> Task) -> Result<(), ClientPoolError> {
        for (client_idx, thread) in self.tasks.iter().enumerate() {
            thread.send(task(client_idx)).map_err(|_| ClientPoolError::Vanished { client_idx })?;
        }
        Ok(())
    }

    fn ask_to_stop(&self, stopping: &mut Option<Instant>) {
        self.shared.stop.store(true, Ordering::Relaxed);
        stopping.get_or_insert_with(Instant::now);
    }

    fn live(&self, start: Instant) -> Live {
        Live {
            elapsed: Instant::now().saturating_duration_since(start),
            n_queries: self
                .shared
                .published
                .iter()
                .zip(&self.roles)
                .filter(|(_, role)| **role == 0)
                .map(|(published, _)| published.get())
                .sum(),
        }
    }
}

impl Drop for ClientPool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.tasks.clear();
        let since = Instant::now();
        for (thread, breaker) in self.threads.drain(..).zip(self.breakers.drain(..)) {
            while !thread.is_finished() && since.elapsed() < STOP_GRACE {
                #[expect(clippy::disallowed_methods, reason = "a thread has no timed join")]
                std::thread::sleep(Duration::from_millis(1));
            }
            if !thread.is_finished() {
                breaker.break_off();
            }
            let _ = thread.join();
        }
    }
}

/// How long a slice was on the clock of rates that go on: until its end or its last answer. The moment
/// until the last thread has woken is nobody's time.
fn length(orders: &[Order], last_answer: Duration) -> Duration {
    let ends = orders.iter().filter_map(|order| match order.stop {
        Stop::Time(time) => Some(time),
        Stop::Events(_) | Stop::Part { .. } => None,
    });
    ends.max().unwrap_or_default().max(last_answer)
}

/// Merges the clients' tallies and cuts windows and seconds that not every client was measured in.
fn merged(mut tallies: Vec<Tally>, order: &Order, passed: Duration) -> Tally {
    let all_busy_ns = tallies.iter().map(|t| t.last_ns).min().unwrap_or(0);
    let whole_ns = match order.stop {
        Stop::Time(time) => u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
        Stop::Events(_) | Stop::Part { .. } => all_busy_ns,
    };
    let passed_ns = match order.pace.leaves_to_next() {
        true => u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX),
        false => whole_ns,
    };
    for tally in &mut tallies {
        tally.finish_on_clock(whole_ns, passed_ns);
    }
    let mut tallies = tallies.into_iter();
    let mut sum = tallies.next().unwrap_or_else(|| Tally::for_order(order));
    for tally in tallies {
        sum.merge(&tally);
    }
    sum
}

#[cfg(test)]
mod tests;
