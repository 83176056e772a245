//! What the kernel tells of processes: their state, start and CPU time, and who descends from whom.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;

/// What `/proc/PID/stat` tells of a process that is needed here.
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) parent: i32,
    pub(crate) n_threads: u32,
    /// Ticks since boot; tells a process from a later one with the same id.
    pub(crate) started: u64,
    /// CPU time that it has used, user and system, ticks.
    pub(crate) cpu_ticks: u64,
}

/// A process, identified by id and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedProcess {
    /// Its id.
    pub pid: i32,
    /// When it was started, ticks since boot.
    pub started: u64,
}

/// When a process was started, ticks since boot; `None` when there is none of this id.
pub(crate) fn started(pid: i32) -> Option<u64> {
    stat(pid).map(|stat| stat.started)
}

pub(crate) fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&read_proc(&format!("/proc/{pid}/stat"))?)
}

/// The text of a small file of /proc; `None` when it is gone. Such a file tells no size, so that
/// `fs::read_to_string` asks for 32 bytes first, and for a few more each time.
pub(crate) fn read_proc(path: &str) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(text),
            n => text.push_str(&String::from_utf8_lossy(&buffer[..n])),
        }
    }
}

/// Fields 3 (state), 4 (ppid), 14 and 15 (utime, stime), 20 (num_threads) and 22 (starttime) of
/// proc_pid_stat(5); field 2 is in brackets and may hold anything.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let user: u64 = fields.nth(9)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let n_threads = fields.nth(4)?.parse().ok()?;
    let started = fields.nth(1)?.parse().ok()?;
    let cpu_ticks = user.saturating_add(system);
    Some(Stat { state, parent, n_threads, started, cpu_ticks })
}

/// All descendants of a process.
pub(crate) fn descendants(root: i32) -> Vec<StartedProcess> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let all: BTreeMap<i32, Stat> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect();
    let mut found = Vec::new();
    let mut todo = vec![root];
    while let Some(parent) = todo.pop() {
        for (pid, stat) in all.iter().filter(|(_, stat)| stat.parent == parent) {
            found.push(StartedProcess { pid: *pid, started: stat.started });
            todo.push(*pid);
        }
    }
    found
}

/// A process and all its descendants now.
#[must_use]
pub fn tree(pid: i32) -> Vec<i32> {
    std::iter::once(pid).chain(descendants(pid).into_iter().map(|process| process.pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stat_of_a_process_with_an_odd_name() {
        let text = "7 (a) b (c) S 3 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 4 0 12345 0 0";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.state, stat.parent, stat.n_threads, stat.started), ('S', 3, 4, 12345));
        assert_eq!(stat.cpu_ticks, 3);
        assert!(parse_stat("nonsense").is_none());
    }
}
