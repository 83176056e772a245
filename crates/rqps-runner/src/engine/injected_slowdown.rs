//! An injected slowdown: the threads of a server that serve the clients are stopped for a known share of the
//! time in which it is measured.
//!
//! ```text
//! slice      ├──────────────── counted ────────────────┤
//! cycle    phase │    10 ms    │    10 ms    │
//! stopped        ▇             ▇             ▇            5%: 0.5 ms each
//! ```
//!
//! What is owed to the share is carried from pause to pause and from slice to slice, so that it is the
//! measured sum that is right and not each pause. Background threads of the server are not stopped.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rqps_load::{Edge, short_slice};
use rqps_model::WarningKind;
use rqps_model::warning::StopWay;
use rqps_server::brake::{Brake, may_trace};
use rqps_server::dbms::has_process_per_connection;

use crate::engine::bench::Bench;
use crate::plan::seed::mix;

/// Time from one pause to the next, where a pause is then long enough: two of them in each window, so
/// that all windows lose the same; long against what it costs beside its share to stop a thread and
/// to wake the one that does (some 10 us).
const CYCLE: Duration = Duration::from_millis(10);

/// The same where a whole server of many threads is stopped by signals: waking all of them twice costs
/// some 0.4 ms of CPU (measured: 41 threads).
const CYCLE_OF_WHOLE: Duration = Duration::from_millis(50);

/// Shortest pause that is aimed at; a small share gets a longer cycle.
const SHORTEST: Duration = Duration::from_micros(100);

/// How long what is stopped may take to go on at the end of a slice. A thread that waits for storage stops,
/// and goes on, when that is over.
const GO_ON_WITHIN: Duration = Duration::from_secs(10);

/// A server's thread that serves a client, where it is known, and the CPUs of both.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    /// Empty for all CPUs.
    pub(crate) cpus: Vec<usize>,
    /// The thread; PostgreSQL's process.
    pub(crate) thread: Option<i32>,
}

/// Stops a system's threads again and again while it is measured. Nothing is stopped once it is dropped.
#[derive(Debug)]
pub(crate) struct InjectedSlowdown {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    cycle: Duration,
    seed: u64,
    /// How its helpers stop what they are for.
    way: StopWay,
    /// [`GO_ON_WITHIN`], but for tests.
    patience: Duration,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Set when a slice is over, for who waits without sleep.
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The first pause of the slice under way.
    first: Option<Instant>,
    /// Slices so far.
    n_slices: u64,
    /// Helpers that have something stopped.
    n_holding: usize,
    /// Pauses of the slice, and those of them in which something was stopped.
    n_pauses: (u64, u64),
    /// Since the share was last asked for: what all helpers had stopped, and all slices, each as often as
    /// there are helpers.
    paused: Duration,
    counted: Duration,
    /// When the slice under way began.
    since: Option<Instant>,
    failure: Option<String>,
    quit: bool,
}

impl InjectedSlowdown {
    /// For the clients of a step that are connected; `None` for a system without an injected slowdown.
    pub(crate) fn of(bench: &Bench<'_>, served: &[Served], seed: u64) -> Result<Option<Self>> {
        let (share, Some(server)) = (bench.injected_slowdown, bench.server_pid) else {
            return Ok(None);
        };
        if share <= 0.0 {
            return Ok(None);
        }
        let threads: Vec<i32> = served.iter().filter_map(|one| one.thread).collect();
        let Some(first) = threads.first() else { bail!("an injected slowdown needs a client") };
        let by_trace = may_trace(*first).context("try to stop a thread of the server")?;
        let (groups, cycle) = if by_trace {
            (by_cpus(served), CYCLE)
        } else if has_process_per_connection(bench.dbms) {
            (vec![(Vec::new(), Brake::Processes(threads))], CYCLE)
        } else {
            (vec![(Vec::new(), Brake::Processes(vec![server]))], CYCLE_OF_WHOLE)
        };
        Self::start(groups, Duty::of(share, cycle), seed).map(Some)
    }

    fn start(groups: Vec<(Vec<usize>, Brake)>, duty: Duty, seed: u64) -> Result<Self> {
        let shared = Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            is_over: AtomicBool::new(true),
        };
        let shared = Arc::new(shared);
        let way = groups.first().map_or(StopWay::Signals, |(_, brake)| brake.way());
        let (threads, cycle, patience) = (Vec::new(), duty.cycle, GO_ON_WITHIN);
        let mut injected_slowdown = Self { shared, threads, cycle, seed, way, patience };
        for (cpus, brake) in groups {
            let shared = Arc::clone(&injected_slowdown.shared);
            let helper = std::thread::Builder::new()
                .name("rqps-slowdown".to_owned())
                .spawn(move || {
                    let _at_work = AtWork(&shared);
                    if let Err(problem) = be_on(&cpus) {
                        shared.fail(&problem);
                    }
                    short_slice::ask();
                    let _ = nix::sys::prctl::set_timerslack(1);
                    shared.help(&brake, duty);
                })
                .context("start the thread of an injected slowdown")?;
            injected_slowdown.threads.push(helper);
        }
        Ok(injected_slowdown)
    }

    /// Told the ends of what is counted.
    pub(crate) fn edge(&self, edge: Edge) {
        match edge {
            Edge::Start => self.begin(),
            Edge::End => self.pause_no_more(),
        }
    }

    /// From now on pauses come.
    fn begin(&self) {
        let mut state = self.shared.lock();
        state.n_slices += 1;
        // Drawn for each slice, so that slices are not in step with the cycle.
        let drawn = mix(self.seed, state.n_slices) >> 32;
        let phase = self.cycle.mul_f64(drawn as f64 / f64::from(u32::MAX));
        let now = Instant::now();
        (state.first, state.since, state.n_pauses) = (Some(now + phase), Some(now), (0, 0));
        self.shared.is_over.store(false, Ordering::Relaxed);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Returns when nothing is stopped any more, and nothing will be; or, with a failure, when that takes
    /// too long.
    fn pause_no_more(&self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let mut state = self.shared.lock();
        state.first = None;
        if let Some(since) = state.since.take() {
            let n_helpers = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
            state.counted += since.elapsed() * n_helpers;
        }
        let is_held = |state: &mut State| state.n_holding > 0;
        let waited = self.shared.changed.wait_timeout_while(state, self.patience, is_held);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.n_holding > 0 {
            let problem = format!(
                "a server thread did not stop and continue within {} s; it may be waiting for storage",
                self.patience.as_secs_f64()
            );
            state.failure.get_or_insert(problem);
        }
    }

    /// Ends a slice, however it went.
    pub(crate) fn end(&self) -> Result<()> {
        self.pause_no_more();
        let mut state = self.shared.lock();
        if let (1.., 0) = std::mem::take(&mut state.n_pauses) {
            let problem = "there was nothing to stop: the connection threads, or their processes, have \
                           ended or can no longer be stopped";
            state.failure.get_or_insert(problem.to_owned());
        }
        match state.failure.take() {
            Some(problem) => bail!("stop the server for its injected slowdown: {problem}"),
            None => Ok(()),
        }
    }

    /// What was stopped, and how, since this was last asked.
    pub(crate) fn warning(&self) -> Option<WarningKind> {
        let mut state = self.shared.lock();
        let paused = std::mem::take(&mut state.paused);
        let counted = std::mem::take(&mut state.counted);
        let share_bp = (paused.as_nanos() * 10_000).checked_div(counted.as_nanos())?;
        let share_bp = u32::try_from(share_bp).unwrap_or(u32::MAX);
        Some(WarningKind::InjectedSlowdown { share_bp, way: self.way })
    }
}

impl Drop for InjectedSlowdown {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.lock().quit = true;
        self.shared.changed.notify_all();
        let since = Instant::now();
        for thread in self.threads.drain(..) {
            while !thread.is_finished() && since.elapsed() < self.patience {
                #[expect(clippy::disallowed_methods, reason = "a thread has no timed join")]
                std::thread::sleep(Duration::from_millis(1));
            }
            if thread.is_finished() {
                // A panic in it was reported by the panic hook; what it had stopped goes on.
                let _ = thread.join();
            }
            // One that waits for a thread of the server lets it go on when that has stopped.
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, problem: &dyn Display) {
        self.lock().failure.get_or_insert(problem.to_string());
    }

    /// The life of a helper: waits for slices and stops what it is for at each point of the cycle.
    fn help(&self, brake: &Brake, mut duty: Duty) {
        let mut state = self.lock();
        let (mut slice, mut n_points) = (0, 0_u32);
        while !state.quit {
            let Some(first) = state.first else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if state.n_slices != slice {
                (slice, n_points) = (state.n_slices, 0);
            }
            let now = Instant::now();
            let left = (first + duty.cycle * n_points).saturating_duration_since(now);
            if !left.is_zero() {
                let waited = self.changed.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            // One that wakes late has several points behind it.
            let passed = (now - first).as_nanos() / duty.cycle.as_nanos();
            let passed = u32::try_from(passed).unwrap_or(u32::MAX).saturating_add(1);
            let pause = duty.next(passed - n_points);
            n_points = passed;
            if pause.is_zero() {
                continue;
            }
            let holding = Holding::of(self, state);
            let mut paused = None;
            match brake.hold() {
                Ok(held) if held.n() > 0 => {
                    self.await_end(held.since() + pause);
                    let since = held.since();
                    drop(held);
                    duty.paused(since.elapsed());
                    paused = Some(since.elapsed());
                }
                Ok(_) => {}
                Err(errno) => self.fail(&errno),
            }
            state = self.lock();
            state.n_pauses.0 += 1;
            if let Some(paused) = paused {
                state.n_pauses.1 += 1;
                state.paused += paused;
            }
            drop(state);
            drop(holding);
            state = self.lock();
        }
    }

    /// Waits for the end of a pause, or of the slice where that is before. Without sleep: on a virtual machine
    /// a sleeping CPU wakes tenths of a millisecond late, as long as the pause itself.
    fn await_end(&self, end: Instant) {
        while Instant::now() < end && !self.is_over.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }
}

/// Counted among those who have something stopped, until it is dropped: also by a panic.
struct Holding<'a>(&'a Shared);

impl<'a> Holding<'a> {
    fn of(shared: &'a Shared, mut state: MutexGuard<'_, State>) -> Self {
        state.n_holding += 1;
        Self(shared)
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.0.lock().n_holding -= 1;
        self.0.changed.notify_all();
    }
}

/// The life of a helper. Its end before it was told to is a failure: also by a panic.
struct AtWork<'a>(&'a Shared);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if !self.0.lock().quit {
            self.0.fail(&"the thread that stops the server has ended");
        }
    }
}

/// The lengths of pauses: a share of all cycles, on the measured sum.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Duty {
    share: f64,
    cycle: Duration,
    /// Time that is still to be stopped; below 0 after a pause that was too long.
    owed_ns: f64,
}

impl Duty {
    fn of(share: f64, cycle: Duration) -> Self {
        Self { share, cycle: cycle.max(SHORTEST.div_f64(share)), owed_ns: 0.0 }
    }

    /// The pause at a point of the cycle, `n` of which have come since the last one.
    fn next(&mut self, n: u32) -> Duration {
        let cycle_ns = self.cycle.as_nanos() as f64;
        self.owed_ns += self.share * cycle_ns * f64::from(n);
        // What was long missed is made good little by little: no pause takes most of a cycle.
        let most_ns = cycle_ns * (self.share * 2.0).min(0.9);
        Duration::from_secs_f64(self.owed_ns.clamp(0.0, most_ns) / 1e9)
    }

    fn paused(&mut self, time: Duration) {
        self.owed_ns -= time.as_nanos() as f64;
    }
}

/// The threads that share CPUs are stopped by a helper on these: it takes no time of others, and its
/// CPU does not fall asleep while they are stopped.
fn by_cpus(served: &[Served]) -> Vec<(Vec<usize>, Brake)> {
    let mut groups: Vec<(Vec<usize>, Vec<i32>)> = Vec::new();
    for one in served {
        let Some(thread) = one.thread else { continue };
        match groups.iter_mut().find(|(cpus, _)| *cpus == one.cpus) {
            Some((_, threads)) => threads.push(thread),
            None => groups.push((one.cpus.clone(), vec![thread])),
        }
    }
    groups.into_iter().map(|(cpus, threads)| (cpus, Brake::Threads(threads))).collect()
}

fn be_on(cpus: &[usize]) -> Result<(), nix::errno::Errno> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
}

#[cfg(test)]
mod tests;
