//! HOT PATH: where all threads of a server are, looked at about fifty times a second.
//!
//! Nothing stops the server for it: a look reads what the kernel tells of each thread in /proc. Budget:
//! 2 us for a thread that has not run since the last look, 30 us for one that waits elsewhere now. Its
//! own CPU time is measured and told.
//!
//! A thread that was not put on a CPU since it was found waiting still waits there, so that the idle
//! threads, which are most of a server's, cost one file each. One that ran within the last looks is
//! looked at again, because it may have been woken and wait for a CPU.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rqps_stacks::Stacks;
use rqps_stacks::name::readable;
use rqps_stacks::profile::{ALL, BACKGROUND, SERVING};

use crate::clock::thread_cpu_ns;
use crate::error::Error;
use crate::place_text::{
    call_name, parse_call, parse_kernel_stack, parse_place, parse_state, parse_times_run,
    state_words,
};
use crate::proc_file::ProcFile;

/// Time between looks: not a divisor of the timers of servers, which are multiples of milliseconds.
pub const EVERY: Duration = Duration::from_micros(19_100);

/// Looks between two searches for threads that came and went: about a second.
const SEARCH_EVERY: u64 = 52;

/// Looks within which a thread must have run to be looked at again although it has not run since.
const LIVELY_FOR: u64 = 20;

/// Threads whose files are kept open, two each; those of others are opened for each look.
const KEPT: usize = 128;

/// What was seen of a server's threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waits {
    /// How often each place was seen: kind of thread, state, system call, functions of the kernel.
    pub stacks: Stacks,
    /// How often all threads were looked at.
    pub n_looks: u64,
    /// Threads, at most.
    pub n_threads: u32,
    /// CPU time of the sampler, ns.
    pub cost_ns: u64,
    /// Whether the kernel reported where a thread waits.
    pub has_places: bool,
    /// Whether the kernel reported system calls.
    pub has_calls: bool,
    /// Whether connection threads are distinguished from the others.
    pub has_kinds: bool,
}

/// What the thread that looks is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Look,
    Wait,
    End,
}

/// Looks at a server's threads in a thread of its own, between [`WaitSampler::go_on`] and
/// [`WaitSampler::pause`] alone, until it is finished or dropped.
#[derive(Debug)]
pub struct WaitSampler {
    task: Arc<(Mutex<Task>, Condvar)>,
    thread: Option<JoinHandle<Waits>>,
}

impl WaitSampler {
    /// Prepares to sample the processes that `processes` gives, asked again about once a second.
    /// `serving` are the connection threads; empty where they are not known.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        processes: impl FnMut() -> Vec<i32> + Send + 'static,
        serving: BTreeSet<i32>,
    ) -> Result<Self, Error> {
        let task = Arc::new((Mutex::new(Task::Wait), Condvar::new()));
        let theirs = Arc::clone(&task);
        let thread = std::thread::Builder::new()
            .name("rqps-waits".to_owned())
            .spawn(move || look_until(&theirs, processes, serving))
            .map_err(|e| Error::Thread { what: format!("could not be started: {e}") })?;
        Ok(Self { task, thread: Some(thread) })
    }

    /// Samples from now on, at the times of a grid that continues during pauses.
    pub fn go_on(&self) {
        self.set(Task::Look);
    }

    /// Pauses the sampling: a sample under way has ended when this returns.
    pub fn pause(&self) {
        self.set(Task::Wait);
    }

    fn set(&self, task: Task) {
        *self.task.0.lock().unwrap_or_else(PoisonError::into_inner) = task;
    }

    /// Ends the thread and returns its samples.
    ///
    /// # Errors
    /// When the thread has panicked.
    pub fn finish(mut self) -> Result<Waits, Error> {
        self.end();
        let joined = self.thread.take().map(JoinHandle::join);
        joined.and_then(Result::ok).ok_or_else(|| Error::Thread { what: "panicked".to_owned() })
    }

    fn end(&self) {
        self.set(Task::End);
        self.task.1.notify_all();
    }
}

impl Drop for WaitSampler {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn look_until(
    task: &(Mutex<Task>, Condvar),
    mut processes: impl FnMut() -> Vec<i32>,
    serving: BTreeSet<i32>,
) -> Waits {
    let begin_ns = thread_cpu_ns();
    let mut looker = Looker::new(serving);
    let start = Instant::now();
    let mut n_looks = 0_u32;
    let mut now = task.0.lock().unwrap_or_else(PoisonError::into_inner);
    while *now != Task::End {
        let left = (start + EVERY * n_looks).saturating_duration_since(Instant::now());
        if !left.is_zero() {
            let waited = task.1.wait_timeout(now, left);
            now = waited.unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        if *now == Task::Look {
            if looker.waits.n_looks.is_multiple_of(SEARCH_EVERY) {
                looker.search(&processes());
            }
            looker.look();
        }
        // A look that comes too late is skipped, and the grid stays.
        let passed = start.elapsed().as_nanos() / EVERY.as_nanos();
        n_looks = u32::try_from(passed).unwrap_or(u32::MAX).saturating_add(1);
    }
    let mut waits = looker.finished();
    waits.cost_ns = thread_cpu_ns().saturating_sub(begin_ns);
    waits
}

/// A thread of the server.
struct Watched {
    dir: String,
    stat: ProcFile,
    /// Absent where the kernel has none.
    schedstat: Option<ProcFile>,
    times_run: Option<u64>,
    /// The look at which it was last found to have run.
    ran_at: u64,
    /// Where it was found last.
    place: Vec<String>,
    kind: &'static str,
}

struct Looker {
    serving: BTreeSet<i32>,
    threads: BTreeMap<i32, Watched>,
    counts: BTreeMap<Vec<String>, u64>,
    buffer: Vec<u8>,
    waits: Waits,
}

impl Looker {
    fn new(serving: BTreeSet<i32>) -> Self {
        let has_kinds = !serving.is_empty();
        Self {
            serving,
            threads: BTreeMap::new(),
            counts: BTreeMap::new(),
            buffer: Vec::new(),
            waits: Waits { has_kinds, ..Waits::default() },
        }
    }

    /// Finds threads that are new and forgets those that ended.
    fn search(&mut self, processes: &[i32]) {
        let mut found = BTreeSet::new();
        for pid in processes {
            let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for task in tasks.flatten() {
                let Some(tid) = task.file_name().to_str().and_then(|n| n.parse().ok()) else {
                    continue;
                };
                found.insert(tid);
                if self.threads.contains_key(&tid) {
                    continue;
                }
                let dir = format!("/proc/{pid}/task/{tid}");
                let keep = self.threads.len() < KEPT;
                let Ok(stat) = ProcFile::open(format!("{dir}/stat"), keep) else { continue };
                let schedstat = ProcFile::open(format!("{dir}/schedstat"), keep).ok();
                let kind = match self.waits.has_kinds {
                    false => ALL,
                    true if self.serving.contains(&tid) => SERVING,
                    true => BACKGROUND,
                };
                let (times_run, ran_at, place) = (None, 0, Vec::new());
                let watched = Watched { dir, stat, schedstat, times_run, ran_at, place, kind };
                self.threads.insert(tid, watched);
            }
        }
        self.threads.retain(|tid, _| found.contains(tid));
        let n = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        self.waits.n_threads = self.waits.n_threads.max(n);
    }

    /// Looks at every thread once.
    fn look(&mut self) {
        self.waits.n_looks += 1;
        let Self { threads, counts, buffer, waits, .. } = self;
        threads.retain(|_, thread| {
            let is_alive = thread.look(buffer, waits).is_some();
            if is_alive {
                match counts.get_mut(&thread.place) {
                    Some(count) => *count += 1,
                    None => {
                        counts.insert(thread.place.clone(), 1);
                    }
                }
            }
            is_alive
        });
    }

    fn finished(self) -> Waits {
        let mut waits = self.waits;
        for (place, n) in &self.counts {
            waits.stacks.add(place.iter().map(String::as_str), *n);
        }
        waits
    }
}

impl Watched {
    /// Finds where it is; `None` when it has ended.
    fn look(&mut self, buffer: &mut Vec<u8>, waits: &mut Waits) -> Option<()> {
        let times_run = self
            .schedstat
            .as_ref()
            .and_then(|file| file.parse_living(buffer, parse_times_run).ok().flatten());
        let has_run = times_run.is_none() || times_run != self.times_run;
        self.times_run = times_run;
        if has_run {
            self.ran_at = waits.n_looks;
        } else if waits.n_looks - self.ran_at > LIVELY_FOR && !self.place.is_empty() {
            return Some(());
        }
        let state = self.stat.parse_living(buffer, parse_state).ok().flatten()?;
        let words = state_words(state);
        let is_as_before = !has_run && self.place.get(1).is_some_and(|before| before == words);
        if is_as_before {
            return Some(());
        }
        self.place.clear();
        self.place.extend([self.kind.to_owned(), words.to_owned()]);
        if state != 'R' {
            self.read_place(waits);
        }
        Some(())
    }

    /// The system call and the functions of the kernel in which it waits, as far as they are told.
    fn read_place(&mut self, waits: &mut Waits) {
        let read = |name: &str| fs::read_to_string(format!("{}/{name}", self.dir)).ok();
        if let Some(number) = read("syscall").and_then(|text| parse_call(&text).ok().flatten()) {
            waits.has_calls = true;
            let name = call_name(number).map_or_else(|| format!("call {number}"), str::to_owned);
            self.place.push(name);
        }
        // Only root may read stacks: proc_pid_stack(5).
        let stack = read("stack").unwrap_or_default();
        let functions = parse_kernel_stack(&stack);
        self.place.extend(functions.iter().map(|name| readable(name)));
        let mut is_told = !functions.is_empty();
        if !is_told {
            let text = read("wchan").unwrap_or_default();
            is_told = parse_place(&text).is_some();
            self.place.extend(parse_place(&text).map(readable));
        }
        waits.has_places |= is_told;
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn start(program: &str, argument: &str) -> (Running, i32) {
        let mut command = Command::new(program);
        let child = command.arg(argument).stdout(Stdio::null()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        (Running(child), pid)
    }

    #[test]
    fn one_that_sleeps_and_one_that_works_are_told_apart() {
        let (_sleeper, asleep) = start("sleep", "100");
        let (_worker, at_work) = start("yes", "x");
        let sampler =
            WaitSampler::start(move || vec![asleep, at_work], BTreeSet::from([at_work])).unwrap();
        sampler.go_on();
        #[expect(clippy::disallowed_methods, reason = "the sampler needs time to look")]
        std::thread::sleep(EVERY * 25);
        sampler.pause();
        let waits = sampler.finish().unwrap();
        assert!(waits.n_looks >= 3 && waits.n_threads == 2 && waits.cost_ns > 0, "{waits:?}");
        let text = waits.stacks.to_string();
        let share = |start: &str| -> u64 {
            let lines = text.lines().filter(|line| line.starts_with(start));
            lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
        };
        assert_eq!(share(SERVING) + share(BACKGROUND), waits.n_looks * 2, "{text}");
        // It starts before it sleeps.
        assert!(share(&format!("{BACKGROUND};asleep")) * 2 > waits.n_looks, "{text}");
        assert!(share(&format!("{SERVING};running")) * 2 > waits.n_looks, "{text}");
        // What a user may read of his own processes.
        if waits.has_calls {
            assert!(
                text.contains("asleep;clock_nanosleep") || text.contains("asleep;nanosleep"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_pause_has_no_looks() {
        let (_sleeper, asleep) = start("sleep", "100");
        let sampler = WaitSampler::start(move || vec![asleep], BTreeSet::new()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "it would look by now")]
        let sleep = |looks: u32| std::thread::sleep(EVERY * looks);
        sleep(10);
        let since = Instant::now();
        sampler.go_on();
        sleep(50);
        sampler.pause();
        let most = since.elapsed().as_nanos() / EVERY.as_nanos() + 1;
        sleep(10);
        let waits = sampler.finish().unwrap();
        assert!(waits.n_looks >= 1 && u128::from(waits.n_looks) <= most, "{waits:?}, {most}");
        assert_eq!(waits.stacks.n_samples(), waits.n_looks);
    }

    #[test]
    fn processes_that_end_are_forgotten() {
        let (sleeper, pid) = start("sleep", "100");
        let mut looker = Looker::new(BTreeSet::new());
        looker.search(&[pid]);
        looker.look();
        drop(sleeper);
        looker.look();
        assert!(looker.threads.is_empty());
        let waits = looker.finished();
        assert_eq!((waits.n_looks, waits.stacks.n_samples(), waits.has_kinds), (2, 1, false));
    }
}
