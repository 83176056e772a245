//! A handicap: the threads of a server that serve the clients are stopped for a known share of the
//! time in which it is measured.
//!
//! ```text
//! turn       ├──────────────── counted ────────────────┤
//! cycle    phase │    10 ms    │    10 ms    │
//! stopped        ▇             ▇             ▇            5%: 0.5 ms each
//! ```
//!
//! What is owed to the share is carried from pause to pause and from turn to turn, so that it is the
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
use rqps_model::Dbms;
use rqps_server::brake::{Brake, may_trace};

use crate::measure::{Bench, mix};

/// Time from one pause to the next, where a pause is then long enough: two of them in each window, so
/// that all windows lose the same; long against what it costs beside its share to stop a thread and
/// to wake the one that does (some 10 us).
const CYCLE: Duration = Duration::from_millis(10);

/// The same where a whole server of many threads is stopped by signals: waking all of them twice costs
/// some 0.4 ms of CPU (measured: 41 threads).
const CYCLE_OF_WHOLE: Duration = Duration::from_millis(50);

/// Shortest pause that is aimed at; a small share gets a longer cycle.
const SHORTEST: Duration = Duration::from_micros(100);

/// A server's thread that serves a client, where it is known, and the CPUs of both.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    /// Empty for all CPUs.
    pub(crate) cpus: Vec<usize>,
    /// The thread; PostgreSQL's process.
    pub(crate) thread: Option<i32>,
}

/// Stops a system's threads by turns while it is measured. Nothing is stopped once it is dropped.
#[derive(Debug)]
pub(crate) struct Handicap {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    cycle: Duration,
    seed: u64,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Set when a turn is over, for who waits without sleep.
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The first pause of the turn under way.
    first: Option<Instant>,
    /// Turns so far.
    n_turns: u64,
    /// Helpers that have something stopped.
    n_holding: usize,
    failure: Option<String>,
    quit: bool,
}

impl Handicap {
    /// For the clients of a step that are connected; `None` for a system without a handicap.
    pub(crate) fn of(bench: &Bench<'_>, served: &[Served], seed: u64) -> Result<Option<Self>> {
        let (share, Some(server)) = (bench.handicap, bench.server_pid) else { return Ok(None) };
        if share <= 0.0 {
            return Ok(None);
        }
        let threads: Vec<i32> = served.iter().filter_map(|one| one.thread).collect();
        let Some(first) = threads.first() else { bail!("a handicap needs a client") };
        let by_trace = may_trace(*first).context("try to stop a thread of the server")?;
        let (groups, cycle) = match (by_trace, bench.dbms) {
            (true, _) => (by_cpus(served), CYCLE),
            (false, Dbms::Postgres) => (vec![(Vec::new(), Brake::Processes(threads))], CYCLE),
            (false, _) => (vec![(Vec::new(), Brake::Processes(vec![server]))], CYCLE_OF_WHOLE),
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
        let mut handicap = Self { shared, threads: Vec::new(), cycle: duty.cycle, seed };
        for (cpus, brake) in groups {
            let shared = Arc::clone(&handicap.shared);
            let helper = std::thread::Builder::new()
                .name("rqps-handicap".to_owned())
                .spawn(move || {
                    if let Err(problem) = be_on(&cpus) {
                        shared.fail(&problem);
                    }
                    short_slice::ask();
                    let _ = nix::sys::prctl::set_timerslack(1);
                    shared.help(&brake, duty);
                })
                .context("start the thread that stops a server by turns")?;
            handicap.threads.push(helper);
        }
        Ok(handicap)
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
        state.n_turns += 1;
        // Drawn anew for each turn, so that turns are not in step with the cycle.
        let drawn = mix(self.seed, state.n_turns) >> 32;
        let phase = self.cycle.mul_f64(drawn as f64 / f64::from(u32::MAX));
        state.first = Some(Instant::now() + phase);
        self.shared.is_over.store(false, Ordering::Relaxed);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Returns when nothing is stopped any more, and nothing will be.
    fn pause_no_more(&self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let mut state = self.shared.lock();
        state.first = None;
        while state.n_holding > 0 {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends a turn, however it went.
    pub(crate) fn end(&self) -> Result<()> {
        self.pause_no_more();
        match self.shared.lock().failure.take() {
            Some(problem) => bail!("stop the server by turns for its handicap: {problem}"),
            None => Ok(()),
        }
    }
}

impl Drop for Handicap {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.lock().quit = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A panic in it was reported by the panic hook; what it had stopped goes on.
            let _ = thread.join();
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

    /// The life of a helper: waits for turns and stops what it is for at each point of the cycle.
    fn help(&self, brake: &Brake, mut duty: Duty) {
        let mut state = self.lock();
        let (mut turn, mut n_points) = (0, 0_u32);
        while !state.quit {
            let Some(first) = state.first else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if state.n_turns != turn {
                (turn, n_points) = (state.n_turns, 0);
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
            match brake.hold() {
                Ok(held) => {
                    self.await_end(held.since() + pause);
                    let since = held.since();
                    drop(held);
                    duty.paused(since.elapsed());
                }
                Err(errno) => self.fail(&errno),
            }
            drop(holding);
            state = self.lock();
        }
    }

    /// Waits for the end of a pause, or of the turn where that is before. Without sleep: on a virtual machine
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
mod tests {
    use super::*;

    #[test]
    fn pauses_add_up_to_the_share_however_late_they_come_and_end() {
        let mut duty = Duty::of(0.05, CYCLE);
        assert_eq!(duty.cycle, CYCLE);
        let mut sum = Duration::ZERO;
        let mut n_points = 0;
        for n in 0..10_000_u32 {
            // Every seventh wakes two points late; each pause lasts a little too long, some far.
            let late = if n % 7 == 0 { 3 } else { 1 };
            n_points += late;
            let pause = duty.next(late);
            if !pause.is_zero() {
                let extra = if n % 50 == 0 { 2000 } else { 30 };
                let took = pause + Duration::from_micros(extra);
                duty.paused(took);
                sum += took;
            }
        }
        let share = sum.as_secs_f64() / (CYCLE * n_points).as_secs_f64();
        assert!((share - 0.05).abs() < 0.0001, "{share}");
    }

    #[test]
    fn small_shares_have_longer_cycles() {
        assert_eq!(Duty::of(0.001, CYCLE).cycle, Duration::from_millis(100));
        let mut duty = Duty::of(0.001, CYCLE);
        assert_eq!(duty.next(1), SHORTEST);
    }

    #[test]
    fn helpers_are_one_for_each_set_of_cpus() {
        let served = |cpu: usize, thread| Served { cpus: vec![cpu], thread: Some(thread) };
        let groups = by_cpus(&[served(0, 7), served(1, 8), served(0, 9)]);
        assert_eq!(
            groups,
            [(vec![0], Brake::Threads(vec![7, 9])), (vec![1], Brake::Threads(vec![8]))]
        );
    }

    #[test]
    fn nothing_is_stopped_outside_of_turns() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let is_stopped = || {
            let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let state = text.rsplit_once(") ").unwrap().1.chars().next();
            matches!(state, Some('T' | 't'))
        };
        let mut ways = vec![Brake::Processes(vec![pid])];
        if may_trace(pid).unwrap() {
            ways.push(Brake::Threads(vec![pid]));
        }
        for brake in ways {
            let handicap =
                Handicap::start(vec![(Vec::new(), brake)], Duty::of(0.5, CYCLE), 1).unwrap();
            for _ in 0..3 {
                handicap.edge(Edge::Start);
                let since = Instant::now();
                while !is_stopped() {
                    assert!(since.elapsed() < Duration::from_secs(60), "never stopped");
                }
                handicap.edge(Edge::End);
                // A process goes on a moment after it was told to.
                while is_stopped() {
                    assert!(since.elapsed() < Duration::from_secs(60), "still stopped");
                }
                handicap.end().unwrap();
            }
            handicap.edge(Edge::Start);
            drop(handicap);
            let since = Instant::now();
            while is_stopped() {
                assert!(since.elapsed() < Duration::from_secs(60), "still stopped");
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
