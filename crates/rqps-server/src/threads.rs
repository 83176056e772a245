//! Which thread of a server serves a connection, and where it may run.
//!
//! MariaDB and PostgreSQL say it; MySQL says it with performance_schema on, which costs CPU per query
//! and is off by default here. So there is a way that works everywhere: ask the connection to do
//! something and see which thread's CPU time grows.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rqps_client::Connection;
use rqps_model::Dbms;

use crate::Error;

/// Statements that a connection executes to show its thread: about 2 ms of CPU.
const PROBES: usize = 64;

/// How often the search by CPU time is repeated when something else was busy meanwhile.
const ATTEMPTS: usize = 5;

/// The threads of a process; empty when it is gone.
#[must_use]
pub fn tasks(pid: i32) -> BTreeSet<i32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return BTreeSet::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The thread (for PostgreSQL the process) that serves `connection` on the server with process
/// id `server`. `before` are the server's threads before the connection was opened, if they are
/// known: they cannot be it, as rqps turns the servers' thread caches off.
///
/// # Errors
/// [`Error::Client`] when the connection fails, [`Error::Answer`] when no thread stands out.
pub fn thread_of(
    dbms: Dbms,
    server: i32,
    connection: &mut dyn Connection,
    before: Option<&BTreeSet<i32>>,
) -> Result<i32, Error> {
    if let Some(tid) = told(dbms, connection)?
        && (dbms == Dbms::Postgres || tasks(server).contains(&tid))
    {
        return Ok(tid);
    }
    let now = tasks(server);
    let new: BTreeSet<i32> = match before {
        Some(before) => now.difference(before).copied().collect(),
        None => now.clone(),
    };
    // The main thread never serves a connection.
    match new.iter().filter(|tid| **tid != server).copied().collect::<Vec<_>>().as_slice() {
        [tid] => Ok(*tid),
        [] => by_cpu_time(server, &now, connection),
        several => by_cpu_time(server, &several.iter().copied().collect(), connection),
    }
}

/// What the server says itself; `None` when it does not know.
fn told(dbms: Dbms, connection: &mut dyn Connection) -> Result<Option<i32>, Error> {
    let id = connection.session().connection_id;
    let sql = match dbms {
        Dbms::Postgres => "select pg_backend_pid()".to_owned(),
        Dbms::Mariadb => format!("select TID from information_schema.processlist where ID = {id}"),
        Dbms::Mysql => format!(
            "select THREAD_OS_ID from performance_schema.threads where PROCESSLIST_ID = {id}"
        ),
        Dbms::Null => return Ok(None),
    };
    match connection.query(&sql) {
        Ok(result) => Ok(result.scalar().and_then(|text| text.parse().ok()).filter(|tid| *tid > 0)),
        // A version without that column or table.
        Err(rqps_client::Error::Server(_)) => Ok(None),
        Err(e) => Err(Error::client("ask for the connection's thread", e)),
    }
}

/// The candidate whose CPU time grows while the connection works, and no other's does as much.
fn by_cpu_time(
    server: i32,
    candidates: &BTreeSet<i32>,
    connection: &mut dyn Connection,
) -> Result<i32, Error> {
    let mut seen = String::new();
    for _ in 0..ATTEMPTS {
        let before: Vec<(i32, u64)> =
            candidates.iter().filter_map(|tid| Some((*tid, cpu_ns(server, *tid)?))).collect();
        for _ in 0..PROBES {
            connection
                .query("select 1")
                .map_err(|e| Error::client("make the connection's thread work", e))?;
        }
        let mut grown: Vec<(u64, i32)> = before
            .into_iter()
            .filter_map(|(tid, ns)| Some((cpu_ns(server, tid)?.saturating_sub(ns), tid)))
            .filter(|(ns, _)| *ns > 0)
            .collect();
        grown.sort_unstable_by(|a, b| b.cmp(a));
        match grown.as_slice() {
            [(_, tid)] => return Ok(*tid),
            [(first, tid), (second, _), ..] if *first > 3 * second => return Ok(*tid),
            other => seen = format!("{other:?}"),
        }
    }
    let doing = format!("find the thread of process {server} that serves a connection");
    Err(Error::Answer { doing, answer: format!("(CPU ns, thread): {seen}") })
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

/// Lets all threads of these processes run on these CPUs only; threads that end meanwhile are fine.
///
/// # Errors
/// When none of the CPUs may be used.
pub fn pin_all(pids: &[i32], cpus: &[usize]) -> Result<(), Error> {
    for tid in pids.iter().flat_map(|pid| tasks(*pid)) {
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
