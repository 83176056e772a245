//! The threads of a command, each with a Lua state and connections of its own.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::control::Control;
use crate::Error;
use crate::console::Level;
use crate::lua::{Script, State, install, retire};
use crate::settings::Settings;
use crate::worker::Worker;

/// What all threads do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    /// Events until the run ends.
    Events,
    /// One command, as far as it is this thread's part.
    Command(String),
}

/// What every thread needs.
#[derive(Debug, Clone)]
pub(super) struct ClientPool {
    pub(super) settings: Arc<Settings>,
    pub(super) control: Arc<Control>,
    pub(super) script: Arc<Script>,
    pub(super) task: Task,
    pub(super) stage: Arc<Stage>,
}

/// How far the threads are.
#[derive(Debug, Default)]
pub(super) struct Stage {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    /// Threads that are ready for events.
    n_ready: usize,
    /// Threads that have ended, well or not.
    n_ended: usize,
    /// Threads that could not begin.
    n_not_begun: usize,
    /// Whether those that are ready may go on.
    go: bool,
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, act: impl FnOnce(&mut Counts)) {
        act(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until something holds, at most so long; whether it holds.
    fn wait(&self, limit: Option<Duration>, holds: impl Fn(&Counts) -> bool) -> bool {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut counts = self.lock();
        while !holds(&counts) {
            let Some(end) = end else {
                counts = self.changed.wait(counts).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(counts, left);
            counts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Waits until all threads are ready or have failed to be; whether they are in time.
    pub(super) fn wait_ready(&self, n_threads: usize, limit: Duration) -> bool {
        self.wait(Some(limit), |counts| counts.n_ready + counts.n_not_begun >= n_threads)
    }

    /// Threads that could not begin.
    pub(super) fn n_not_begun(&self) -> usize {
        self.lock().n_not_begun
    }

    /// Lets all threads go on.
    pub(super) fn go(&self) {
        self.change(|counts| counts.go = true);
    }

    /// Waits until all threads have ended, at most so long; whether they have.
    pub(super) fn wait_ended(&self, n_threads: usize, limit: Option<Duration>) -> bool {
        self.wait(limit, |counts| counts.n_ended >= n_threads)
    }

    /// Threads that have not ended.
    pub(super) fn n_running(&self, n_threads: usize) -> usize {
        n_threads.saturating_sub(self.lock().n_ended)
    }
}

/// Starts a client pool's threads.
///
/// # Errors
/// When the system has no thread left.
pub(super) fn start(pool: &ClientPool) -> Result<Vec<JoinHandle<()>>, Error> {
    let mut threads = Vec::new();
    for tid in 0..pool.settings.n_threads {
        let own = pool.clone();
        let thread = Builder::new().name(format!("client-{tid}")).spawn(move || own.run(tid));
        match thread {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                pool.control.fail();
                pool.stage.go();
                return Err(Error::Fatal(format!("thread {tid} could not be started: {error}")));
            }
        }
    }
    Ok(threads)
}

impl ClientPool {
    /// A worker for thread `tid`, with a stream of random numbers of its own.
    fn worker(&self, tid: usize) -> Option<Worker> {
        let tally = Arc::clone(self.control.tallies.get(tid)?);
        let stream = u64::try_from(tid).unwrap_or(0) + 1;
        Some(Worker::new(Arc::clone(&self.settings), Arc::clone(&self.control), tally, stream))
    }

    fn run(&self, tid: usize) {
        if let Some(worker) = self.worker(tid) {
            install(worker);
        }
        let console = &self.settings.console;
        console.log(Level::Debug, &format!("Worker thread (#{tid}) started"));
        let state = self.begin(tid);
        if state.is_err() {
            self.control.fail();
        }
        self.stage.change(|counts| match state {
            Ok(_) => counts.n_ready += 1,
            Err(_) => counts.n_not_begun += 1,
        });
        if let Ok(state) = &state {
            console.log(Level::Debug, &format!("Worker thread (#{tid}) initialized"));
            self.stage.wait(None, |counts| counts.go);
            if !self.control.has_failed() && self.work(state, tid).is_err() {
                self.control.fail();
            }
        }
        drop(state);
        retire();
        self.stage.change(|counts| counts.n_ended += 1);
    }

    /// Makes the thread's state and calls the script's `thread_init`.
    fn begin(&self, tid: usize) -> Result<State, Error> {
        let command = match &self.task {
            Task::Events => "run",
            Task::Command(command) => command,
        };
        let state = State::new(&self.settings, &self.script, Some(command), tid)?;
        if let Err(why) = state.load(&self.script, &self.settings)? {
            self.tell(&why);
            return Err(Error::Told);
        }
        if self.task == Task::Events {
            self.call(&state, "thread_init", tid)?;
        }
        Ok(state)
    }

    fn work(&self, state: &State, tid: usize) -> Result<(), Error> {
        match &self.task {
            Task::Events => {
                self.call(state, "thread_run", tid)?;
                // All events are over: one that fails is told and takes no rate away, as in sysbench.
                match self.call(state, "thread_done", tid) {
                    Err(Error::Told) => Ok(()),
                    done => done,
                }
            }
            Task::Command(command) => match state.command(command)? {
                Ok(()) => Ok(()),
                Err(why) => {
                    self.tell(&format!("`sysbench.cmdline.call_command' function failed: {why}"));
                    Err(Error::Told)
                }
            },
        }
    }

    fn call(&self, state: &State, name: &str, tid: usize) -> Result<(), Error> {
        match state.call(name, Some(tid))? {
            Ok(()) => Ok(()),
            Err(why) => {
                self.tell(&format!("`{name}' function failed: {why}"));
                Err(Error::Told)
            }
        }
    }

    /// Tells why a thread cannot go on, unless a lost statement has been told as the cause for all.
    fn tell(&self, why: &str) {
        if !self.control.has_lost_statements() {
            self.settings.console.log(Level::Fatal, why);
        }
    }
}
