//! The thread of one client: waits for tasks, runs them, answers.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rqps_client::Connection;
use rqps_workload::{EventError, Worker};

use crate::clock::Clock;
use crate::event_loop::{self, OnClock, Published, Share, Watch};
use crate::short_slice;
use crate::{Order, Pace, Tally};

/// A client thread's connection, worker and CPUs, ready to go.
#[derive(Debug)]
pub struct Member<C, W> {
    /// Its open connection, with the worker's statements prepared on it.
    pub connection: C,
    /// Its worker.
    pub worker: W,
    /// The CPUs it may run on; empty for all.
    pub cpus: Vec<usize>,
    /// What it does beside the others, from 0: clients of one role share an order and a tally.
    pub role: usize,
}

/// What a client thread is to do: make everything ready for an order, then go; or put a question to its server.
pub(super) enum Task {
    Prepare(Prepare),
    Go(Instant),
    /// Between slices.
    Ask(Question),
}

/// What is asked on a client's connection.
pub(super) type Question = Box<dyn FnOnce(&mut dyn Connection) + Send>;

/// The order of a client's next slice.
pub(super) struct Prepare {
    pub(super) order: Order,
    /// Time on the client's clock before the slice.
    pub(super) past: Duration,
    /// Whether it draws from the order's seed, and does not go on with what it drew from last.
    pub(super) reseeds: bool,
}

pub(super) struct Answer {
    pub(super) client_idx: usize,
    pub(super) said: Said,
}

pub(super) enum Said {
    Ready,
    Ended(Box<Result<Tally, EventError>>),
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("client_idx", &self.client_idx).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) stop: AtomicBool,
    pub(super) published: Vec<Published>,
    /// As [`Watch::n_behind`].
    pub(super) n_behind: AtomicUsize,
    /// The kernel's id of each client's thread; 0 before it runs.
    pub(super) thread_ids: Vec<AtomicI32>,
}

/// Pins the calling thread to `cpus`; an empty list leaves it as it is.
pub(super) fn place_self(cpus: &[usize]) -> std::io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)?;
    Ok(())
}

/// The life of a client thread: waits for tasks, runs them, answers.
pub(super) fn serve<C: Connection, W: Worker<C>>(
    mut member: Member<C, W>,
    share: Share,
    tasks: &Receiver<Task>,
    answers: &Sender<Answer>,
    shared: &Shared,
) {
    // Timers are rounded up by 50 us otherwise, which a set rate would show as lateness.
    let _ = nix::sys::prctl::set_timerslack(1);
    let client_idx = share.client_idx;
    let published = &shared.published[client_idx];
    let mut on_clock = OnClock::default();
    let mut prepared: Option<(Order, Tally)> = None;
    while let Ok(task) = tasks.recv() {
        let said = match task {
            Task::Prepare(Prepare { order, past, reseeds }) => {
                let n = if order.pace.goes_on() { on_clock.n } else { 0 };
                let past_ns = u64::try_from(past.as_nanos()).unwrap_or(u64::MAX);
                on_clock = OnClock { n, past_ns };
                if reseeds {
                    member.worker.reseed(order.client_seed(client_idx));
                }
                if order.pace.rate().is_some() {
                    short_slice::ask();
                }
                prepared = Some((order, Tally::for_order(&order)));
                Said::Ready
            }
            Task::Ask(question) => {
                question(&mut member.connection);
                continue;
            }
            Task::Go(start) => {
                let Some((order, mut tally)) = prepared.take() else { continue };
                let mut clock = Clock::starting_at(start);
                let watch = Watch { published, stop: &shared.stop, n_behind: &shared.n_behind };
                clock.wait_until(0);
                if order.pace == Pace::Closed {
                    // A thread's time begins when it runs: how late it woke says nothing of the
                    // server.
                    clock = Clock::starting_at(Instant::now());
                }
                let Member { connection, worker, .. } = &mut member;
                let pair = (connection, worker);
                let of = (&order, share, &mut on_clock);
                let result = event_loop::run(pair, of, clock, &watch, &mut tally);
                Said::Ended(Box::new(result.map(|()| tally)))
            }
        };
        if answers.send(Answer { client_idx, said }).is_err() {
            return;
        }
    }
}
