//! Which thread of a server serves a connection, and where it may run.
//!
//! MariaDB and PostgreSQL say it; MySQL says it with performance_schema on, which costs CPU per query
//! and is off by default here. So there is a way that works everywhere: let the connection work and
//! rest in rounds, and see whose CPU time does the same. A thread is never taken because it is new: a
//! server starts background threads too, and with a thread cache a connection gets an old one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rqps_client::Connection;
use rqps_model::Dbms;

use crate::Error;
use crate::answer::ask;
use crate::dbms::driver;
use crate::dbms::driver::Driver;

/// Rounds of work and rest in one look. A thread that has nothing to do with the connection keeps
/// step with all of them by an accident of one in 256 at most.
const ROUNDS: usize = 4;

/// Statements that a connection executes in the work of one round: some 0.2 ms of the server's CPU.
const PROBES: usize = 16;

/// Time for the server's thread to go back to sleep after its last answer: its CPU time is accounted
/// for when it does.
const GRACE: Duration = Duration::from_micros(200);

/// The thread's CPU time at work over that at rest, at least. What it does right after its last
/// answer counts as rest: one part in [`PROBES`] and a little.
const WORK_OVER_REST: u64 = 4;

/// How often the look is repeated when no thread, or more than one, kept step.
const ATTEMPTS: usize = 5;

/// The threads of a process; empty if it has ended.
#[must_use]
pub fn tasks(pid: i32) -> BTreeSet<i32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return BTreeSet::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The thread (for PostgreSQL the process) that serves `connection` on the server with process
/// id `server`.
///
/// # Errors
/// As [`by_work`].
pub fn thread_of(dbms: Dbms, server: i32, connection: &mut dyn Connection) -> Result<i32, Error> {
    let driver = driver(dbms);
    match told(driver, connection)? {
        Some(tid) if driver.has_process_per_connection || tasks(server).contains(&tid) => Ok(tid),
        _ => by_work(server, connection),
    }
}

/// What the server says itself; `None` when it does not know.
fn told(driver: &Driver, connection: &mut dyn Connection) -> Result<Option<i32>, Error> {
    let id = connection.session().connection_id;
    let Some(sql) = (driver.thread_sql)(id) else { return Ok(None) };
    // A version may lack that column or table.
    let result = ask(connection, "ask for the connection's thread", &sql)?;
    Ok(result.and_then(|result| result.scalar()?.parse().ok()).filter(|tid| *tid > 0))
}

/// The only thread that works while the connection works, and rests while it rests.
///
/// # Errors
/// [`Error::Client`] when the connection fails, [`Error::Answer`] when no thread stands out: a
/// server that hands a connection from thread to thread, or a kernel without /proc/PID/schedstat.
pub fn by_work(server: i32, connection: &mut dyn Connection) -> Result<i32, Error> {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(server, connection)?);
        }
        seen = in_step(&rounds);
        if let [tid] = seen[..] {
            return Ok(tid);
        }
    }
    let doing = format!("find the thread of process {server} that serves a connection");
    let answer = match seen.as_slice() {
        [] => "none works when the connection does".to_owned(),
        several => format!("these do: {several:?}"),
    };
    Err(Error::Answer { doing, answer })
}

/// What each thread used of the CPU while the connection worked and then rested as long, ns.
type Round = BTreeMap<i32, [u64; 2]>;

fn round(server: i32, connection: &mut dyn Connection) -> Result<Round, Error> {
    let before = all_cpu_ns(server);
    let start = Instant::now();
    for _ in 0..PROBES {
        connection
            .query("select 1")
            .map_err(|e| Error::client("make the connection's thread work", e))?;
    }
    pause(GRACE);
    let between = all_cpu_ns(server);
    pause(start.elapsed());
    let after = all_cpu_ns(server);
    let grown = |tid: &i32| {
        let [a, b, c] = [before.get(tid)?, between.get(tid)?, after.get(tid)?];
        Some((*tid, [b.saturating_sub(*a), c.saturating_sub(*b)]))
    };
    Ok(before.keys().filter_map(grown).collect())
}

#[expect(clippy::disallowed_methods, reason = "to let the connection rest is the point")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// The threads that used CPU in the work of every round, and little in the rest.
fn in_step(rounds: &[Round]) -> Vec<i32> {
    let Some(first) = rounds.first() else { return Vec::new() };
    let keeps_step = |tid: &i32| {
        let (mut work_ns, mut rest_ns) = (0, 0);
        for round in rounds {
            match round.get(tid) {
                Some([work, rest]) if *work > 0 => {
                    work_ns += work;
                    rest_ns += rest;
                }
                _ => return false,
            }
        }
        work_ns > WORK_OVER_REST * rest_ns
    };
    first.keys().copied().filter(keeps_step).collect()
}

fn all_cpu_ns(server: i32) -> BTreeMap<i32, u64> {
    tasks(server).into_iter().filter_map(|tid| Some((tid, cpu_ns(server, tid)?))).collect()
}

/// CPU time of a thread: the first field of /proc/PID/task/TID/schedstat, ns
/// (kernel documentation, scheduler/sched-stats).
fn cpu_ns(pid: i32, tid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Lets a thread run on these CPUs only.
///
/// # Errors
/// When it is gone, or none of the CPUs may be used.
pub fn pin_thread(tid: i32, cpus: &[usize]) -> Result<(), Error> {
    let doing = || format!("let thread {tid} run on CPUs {cpus:?} only");
    sched_setaffinity(Pid::from_raw(tid), &set_of(cpus)?).map_err(|e| Error::io(doing(), e.into()))
}

/// CPUs as the kernel takes them.
pub(crate) fn set_of(cpus: &[usize]) -> Result<CpuSet, Error> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu)
            .map_err(|e| Error::io(format!("let threads run on CPUs {cpus:?}"), e.into()))?;
    }
    Ok(set)
}

/// Lets all threads of these processes run on these CPUs only.
///
/// # Errors
/// When none of the CPUs may be used.
pub fn pin_all(pids: &[i32], cpus: &[usize]) -> Result<(), Error> {
    pin_all_but(&[], pids, cpus)
}

/// As [`pin_all`], except for the threads `placed`.
///
/// # Errors
/// As [`pin_all`].
pub fn pin_all_but(placed: &[i32], pids: &[i32], cpus: &[usize]) -> Result<(), Error> {
    let all = pids.iter().flat_map(|pid| tasks(*pid));
    for tid in all.filter(|tid| !placed.contains(tid)) {
        match pin_thread(tid, cpus) {
            Err(Error::Io { source, .. }) if gone(&source) => {}
            other => other?,
        }
    }
    Ok(())
}

fn gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(nix::errno::Errno::ESRCH as i32)
}

#[cfg(test)]
mod tests {
    use nix::sched::sched_getaffinity;
    use nix::unistd::gettid;

    use super::*;

    /// Rounds from each thread's CPU time at work and at rest, us.
    fn rounds(threads: &[(i32, [[u64; 2]; 4])]) -> Vec<Round> {
        let round = |n: usize| threads.iter().map(|(tid, t)| (*tid, t[n])).collect();
        (0..4).map(round).collect()
    }

    #[test]
    fn only_the_thread_that_keeps_step_is_taken() {
        // Serves the connection; its last answer's end falls into the rest now and then.
        let serves = (7, [[240, 0], [250, 15], [230, 0], [900, 12]]);
        // Started at that moment: it always runs, runs once, starts and ends meanwhile.
        let busy = (8, [[900, 900], [950, 910], [880, 900], [900, 890]]);
        let burst = (9, [[2000, 0], [0, 0], [0, 0], [0, 0]]);
        let late = (10, [[0, 500], [300, 0], [300, 0], [300, 0]]);
        let idle = (11, [[0, 0]; 4]);
        assert_eq!(in_step(&rounds(&[serves, busy, burst, late, idle])), [7]);
        // Without the one that serves, none of them is taken for it.
        assert_eq!(in_step(&rounds(&[busy, burst, late, idle])), Vec::<i32>::new());
        // Two that keep step are told as two.
        assert_eq!(in_step(&rounds(&[serves, (12, serves.1)])), [7, 12]);
        // A thread that ended before the last round.
        let mut gone = rounds(&[serves, idle]);
        gone[3].remove(&7);
        assert_eq!(in_step(&gone), Vec::<i32>::new());
    }

    #[test]
    fn threads_that_a_placed_one_has_made_are_placed_again() {
        let me = gettid();
        let own = sched_getaffinity(me).unwrap();
        let cpus: Vec<usize> =
            (0..CpuSet::count()).filter(|cpu| own.is_set(*cpu).unwrap()).collect();
        if cpus.len() < 2 {
            eprintln!("one CPU: skipped");
            return;
        }
        // A process whose only thread is placed, as the one that serves a client; what it starts inherits
        // its CPU.
        let mut shell = std::process::Command::new("sh");
        let mut shell = shell.args(["-c", "read -r x; sleep 600 & wait"]);
        shell = shell.stdin(std::process::Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let pid = shell.id().cast_signed();
        pin_thread(pid, &cpus[..1]).unwrap();
        drop(shell.stdin.take());
        let since = Instant::now();
        while crate::process::tree(pid).len() < 2 {
            assert!(since.elapsed() < Duration::from_secs(60), "no child");
            pause(Duration::from_millis(2));
        }
        let tree = crate::process::tree(pid);
        let n_cpus = |pid: i32| {
            let set = sched_getaffinity(Pid::from_raw(pid)).unwrap();
            (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap()).count()
        };
        assert_eq!((n_cpus(tree[0]), n_cpus(tree[1])), (1, 1));
        pin_all_but(&[pid], &tree, &cpus).unwrap();
        assert_eq!((n_cpus(tree[0]), n_cpus(tree[1])), (1, cpus.len()));
        for pid in tree.into_iter().rev() {
            nix::sys::signal::kill(Pid::from_raw(pid), nix::sys::signal::SIGKILL).unwrap();
        }
        shell.wait().unwrap();
    }

    #[test]
    fn pins_the_thread_it_is_told_to() {
        let me = gettid();
        let own = sched_getaffinity(me).unwrap();
        let cpu = (0..CpuSet::count()).find(|cpu| own.is_set(*cpu).unwrap()).unwrap();
        assert!(tasks(std::process::id().try_into().unwrap()).contains(&me.as_raw()));
        pin_thread(me.as_raw(), &[cpu]).unwrap();
        let now = sched_getaffinity(me).unwrap();
        assert_eq!((0..CpuSet::count()).filter(|c| now.is_set(*c).unwrap()).count(), 1);
        sched_setaffinity(me, &own).unwrap();
        assert!(pin_thread(me.as_raw(), &[]).is_err());
        assert!(pin_thread(me.as_raw(), &[1 << 20]).is_err());
    }
}
