//! The threads of a server: which of them serves a connection, and on which CPUs they run.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rqps_client::{Connection, Session};
use rqps_model::Dbms;

use crate::Error;

/// The thread ids of a process, from `/proc/PID/task`.
///
/// # Errors
/// When the process is gone or hidden.
pub fn tasks(pid: i32) -> Result<BTreeSet<i32>, Error> {
    let path = format!("/proc/{pid}/task");
    let io = |source| Error::Io { doing: format!("list {path}"), source };
    let mut tasks = BTreeSet::new();
    for entry in fs::read_dir(&path).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        if let Some(tid) = name.to_str().and_then(|n| n.parse().ok()) {
            tasks.insert(tid);
        }
    }
    Ok(tasks)
}

/// The kernel's id of the server thread (PostgreSQL: process) that serves a session, as the server
/// itself tells it; `None` where it does not, and [`new_task`] is the way.
///
/// MariaDB: `information_schema.processlist.TID`, since 10.0. MySQL from 5.7 on:
/// `performance_schema.threads.THREAD_OS_ID`, which is empty with performance_schema off.
/// PostgreSQL: the backend's process id is part of the handshake.
///
/// # Errors
/// None for a server that does not tell: old versions refuse the question, which counts as `None`.
/// A lost connection is an error.
pub fn thread_of(
    dbms: Dbms,
    admin: &mut dyn Connection,
    session: &Session,
) -> Result<Option<i32>, Error> {
    let id = session.connection_id;
    let sql = match dbms {
        Dbms::Postgres => return Ok(i32::try_from(id).ok()),
        Dbms::Null => return Ok(None),
        Dbms::Mariadb => format!("SELECT TID FROM information_schema.processlist WHERE ID = {id}"),
        Dbms::Mysql => format!(
            "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {id}"
        ),
    };
    match admin.query(&sql) {
        Ok(result) => Ok(result.scalar().and_then(|text| text.parse().ok())),
        Err(rqps_client::Error::Server(_)) => Ok(None),
        Err(source) => {
            Err(Error::Client { doing: "ask for a connection's server thread".into(), source })
        }
    }
}

/// The one task that `after` has and `before` lacks: the thread that a server started for a
/// connection opened in between, with its thread cache off and nobody else connecting. `None` when
/// there is no new task, or more than one.
#[must_use]
pub fn new_task(before: &BTreeSet<i32>, after: &BTreeSet<i32>) -> Option<i32> {
    let mut new = after.difference(before);
    match (new.next(), new.next()) {
        (Some(tid), None) => Some(*tid),
        _ => None,
    }
}

/// Lets one thread run on these CPUs only.
///
/// # Errors
/// When the thread is gone, the CPUs do not exist, or the thread belongs to another user.
pub fn pin_thread(tid: i32, cpus: &[usize]) -> Result<(), Error> {
    pin(tid, &cpu_set(cpus)?).map_err(|errno| Error::Io {
        doing: format!("let thread {tid} run on CPUs {cpus:?}"),
        source: io::Error::from(errno),
    })
}

/// Lets every thread of a process run on these CPUs only. New threads inherit it from the one that
/// starts them; a thread that ends meanwhile is no error.
///
/// # Errors
/// As [`pin_thread`].
pub fn pin_all(pid: i32, cpus: &[usize]) -> Result<(), Error> {
    let set = cpu_set(cpus)?;
    let mut done = BTreeSet::new();
    // A thread may start another between the listing and its own turn: list until nothing is new.
    loop {
        let fresh: Vec<i32> = tasks(pid)?.difference(&done).copied().collect();
        if fresh.is_empty() {
            return Ok(());
        }
        for tid in fresh {
            match pin(tid, &set) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(errno) => {
                    return Err(Error::Io {
                        doing: format!("let thread {tid} of process {pid} run on CPUs {cpus:?}"),
                        source: io::Error::from(errno),
                    });
                }
            }
            done.insert(tid);
        }
    }
}

fn pin(tid: i32, set: &CpuSet) -> Result<(), Errno> {
    sched_setaffinity(Pid::from_raw(tid), set)
}

fn cpu_set(cpus: &[usize]) -> Result<CpuSet, Error> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu).map_err(|errno| Error::Io {
            doing: format!("name CPU {cpu}"),
            source: io::Error::from(errno),
        })?;
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_task_is_told_only_when_it_is_certain() {
        let set = |tids: &[i32]| tids.iter().copied().collect::<BTreeSet<i32>>();
        assert_eq!(new_task(&set(&[1, 2]), &set(&[1, 2, 3])), Some(3));
        assert_eq!(new_task(&set(&[1, 2]), &set(&[1, 3])), Some(3), "another may have ended");
        assert_eq!(new_task(&set(&[1]), &set(&[1, 2, 3])), None);
        assert_eq!(new_task(&set(&[1]), &set(&[1])), None);
    }

    #[test]
    fn a_thread_of_our_own_can_be_found_and_pinned() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let before = tasks(pid).unwrap();
        assert!(before.contains(&pid));
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(nix::unistd::gettid().as_raw()).unwrap();
            ended.recv().unwrap();
        });
        let tid = told.recv().unwrap();
        assert!(tasks(pid).unwrap().contains(&tid));
        let mine = nix::sched::sched_getaffinity(Pid::from_raw(0)).unwrap();
        let cpu = (0..CpuSet::count()).find(|&c| mine.is_set(c).unwrap()).unwrap();
        pin_thread(tid, &[cpu]).unwrap();
        let set = nix::sched::sched_getaffinity(Pid::from_raw(tid)).unwrap();
        assert_eq!((0..CpuSet::count()).filter(|&c| set.is_set(c).unwrap()).count(), 1);
        end.send(()).unwrap();
        thread.join().unwrap();
        assert!(pin_thread(tid, &[cpu]).unwrap_err().to_string().contains("thread"));
    }
}
