//! Servers that wait for their slice are stopped: SIGSTOP to a whole process tree, SIGCONT on every
//! way out.
//!
//! Who stops servers also runs a [`crate::Watchdog`]: when rqps itself is killed, nobody else would
//! let them go on, and a process that is stopped acts on no signal but SIGKILL and SIGCONT.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::{StartedProcess, descendants, read_proc, stat};
use crate::watch::pause;

/// How long a freeze waits until processes stand still. One that waits for storage takes longer: the
/// next freeze looks for its children.
const STILL_WITHIN: Duration = Duration::from_millis(100);

/// For how long it asks without a pause in between: longer than most processes take.
const ASK_FOR: Duration = Duration::from_millis(1);

/// Stops and continues a process with all its descendants; continues them when dropped.
///
/// The processes of a tree change while it runs (PostgreSQL has one per connection and starts others
/// at will), so they are looked for at every stop, root first, as a parent that stands still has no
/// more children. Those of a process with many threads are looked for by [`Freezer::refresh`] only: it
/// costs a file per thread, and servers with threads start no processes while they are measured.
#[derive(Debug)]
pub struct Freezer {
    root: i32,
    /// Whether the kernel lists the children of the root in one file.
    is_listed: bool,
    /// Descendants, as of the last refresh or stop.
    below: Vec<StartedProcess>,
    stopped: Vec<i32>,
    /// Whether all that is stopped stood still when its children were looked for.
    is_complete: bool,
    /// When the first was stopped.
    since: Option<Instant>,
    /// Whether the tree is stopped on purpose, for who looks after it.
    held: Arc<AtomicBool>,
}

impl Freezer {
    /// For the process tree of `root`, a child of rqps.
    #[must_use]
    pub fn new(root: i32) -> Self {
        Self::telling(root, Arc::default())
    }

    /// The same, and `held` is set while it is stopped.
    pub(crate) fn telling(root: i32, held: Arc<AtomicBool>) -> Self {
        let mut freezer = Self {
            root,
            is_listed: false,
            below: Vec::new(),
            stopped: Vec::new(),
            is_complete: false,
            since: None,
            held,
        };
        freezer.refresh();
        freezer
    }

    /// Looks for all processes of the tree again.
    pub fn refresh(&mut self) {
        let single = stat(self.root).is_some_and(|s| s.n_threads <= 1);
        self.is_listed = single && children(self.root).is_some();
        self.below = descendants(self.root);
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> i32 {
        self.root
    }

    /// The root and all descendants known.
    #[must_use]
    pub fn members(&self) -> Vec<StartedProcess> {
        let root = stat(self.root).map(|s| StartedProcess { pid: self.root, started: s.started });
        root.into_iter().chain(self.below.iter().copied()).collect()
    }

    /// Whether the tree is stopped.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        !self.stopped.is_empty()
    }

    /// Stops all processes that have not ended.
    ///
    /// # Errors
    /// When the kernel refuses, with what was stopped until then continued.
    pub fn freeze(&mut self) -> Result<(), Errno> {
        if self.is_frozen() && self.is_complete {
            return Ok(());
        }
        self.since.get_or_insert_with(Instant::now);
        self.held.store(true, Ordering::Relaxed);
        if !self.stopped.contains(&self.root) {
            self.stop_one(self.root)?;
        }
        if self.is_listed {
            return self.stop_listed();
        }
        for StartedProcess { pid, started } in self.below.clone() {
            if stat(pid).is_some_and(|now| now.started == started) {
                self.stop_one(pid)?;
            }
        }
        self.is_complete = true;
        Ok(())
    }

    /// Stops the descendants of those that are stopped. kill(2) returns before a process has stopped,
    /// which may have a fork under way: its children are looked for when it stands still.
    fn stop_listed(&mut self) -> Result<(), Errno> {
        let until = Instant::now() + STILL_WITHIN;
        self.is_complete = true;
        let mut idx = 0;
        while let Some(&parent) = self.stopped.get(idx) {
            self.is_complete &= stands_still(parent, until);
            for child in children(parent).unwrap_or_default() {
                if !self.stopped.contains(&child) {
                    self.stop_one(child)?;
                    self.learn(child);
                }
            }
            idx += 1;
        }
        Ok(())
    }

    /// How long any of its processes has been stopped.
    #[must_use]
    pub fn frozen_for(&self) -> Duration {
        self.since.filter(|_| self.is_frozen()).map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Lets all processes run again.
    pub fn thaw(&mut self) {
        (self.is_complete, self.since) = (false, None);
        // Children first: a root that runs may act on their state.
        for pid in self.stopped.drain(..).rev() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGCONT);
        }
        self.held.store(false, Ordering::Relaxed);
    }

    fn learn(&mut self, pid: i32) {
        if !self.below.iter().any(|known| known.pid == pid)
            && let Some(now) = stat(pid)
        {
            self.below.push(StartedProcess { pid, started: now.started });
        }
    }

    fn stop_one(&mut self, pid: i32) -> Result<(), Errno> {
        match kill(Pid::from_raw(pid), Signal::SIGSTOP) {
            Ok(()) => {
                self.stopped.push(pid);
                Ok(())
            }
            Err(Errno::ESRCH) => Ok(()),
            Err(errno) => {
                self.thaw();
                Err(errno)
            }
        }
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.thaw();
    }
}

/// Waits until a process has stopped or ended; false when it has not until `until`.
fn stands_still(pid: i32, until: Instant) -> bool {
    let since = Instant::now();
    loop {
        if stat(pid).is_none_or(|now| matches!(now.state, 'T' | 't' | 'Z' | 'X')) {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        if since.elapsed() < ASK_FOR {
            std::thread::yield_now();
        } else {
            pause(Duration::from_micros(100));
        }
    }
}

/// The children of a process's first thread; `None` where the kernel does not list them
/// (`proc_tid_children(5)`) or the process is gone.
fn children(pid: i32) -> Option<Vec<i32>> {
    let text = read_proc(&format!("/proc/{pid}/task/{pid}/children"))?;
    Some(text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::identity::Identity;
    use crate::process::{Process, spawn, tree};

    fn until(what: &str, done: impl Fn() -> bool) {
        let since = Instant::now();
        while !done() {
            assert!(since.elapsed() < Duration::from_secs(60), "{what}");
            pause(Duration::from_millis(2));
        }
    }

    /// A stand-in for a server: a shell with a child in a session of its own and one in its own.
    fn stand_in() -> Process {
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let mut command = Command::new("sh");
        command.args(["-c", "setsid sleep 600 & sleep 601 & wait"]);
        let process = spawn(command, &me, Signal::SIGKILL).unwrap();
        until("no children", || tree(process.pid()).len() == 3);
        process
    }

    fn is_stopped(pid: i32) -> bool {
        stat(pid).is_some_and(|s| s.state == 'T')
    }

    #[test]
    fn stops_and_continues_a_whole_tree_by_either_way_of_finding_it() {
        for listed in [true, false] {
            let process = stand_in();
            let all = tree(process.pid());
            let mut freezer = Freezer::new(process.pid());
            freezer.is_listed &= listed;
            for _ in 0..3 {
                freezer.freeze().unwrap();
                until("not all stopped", || all.iter().all(|&pid| is_stopped(pid)));
                assert!(freezer.is_frozen());
                freezer.thaw();
                until("not all continued", || !all.iter().any(|&pid| is_stopped(pid)));
            }
            let mut members: Vec<i32> = freezer.members().iter().map(|m| m.pid).collect();
            members.sort_unstable();
            let mut sorted = all.clone();
            sorted.sort_unstable();
            assert_eq!(members, sorted);
        }
    }

    #[test]
    fn finds_processes_that_came_later() {
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let mut command = Command::new("sh");
        // Who has a child has the trap: the signal would else end a shell that is not there yet.
        command.args(["-c", "trap 'sleep 601 &' USR1; sleep 600 & while :; do wait; done"]);
        let process = spawn(command, &me, Signal::SIGKILL).unwrap();
        until("no child", || tree(process.pid()).len() == 2);
        let mut freezer = Freezer::new(process.pid());
        if !freezer.is_listed {
            eprintln!("the kernel lists no children: skipped");
            return;
        }
        process.signal(Signal::SIGUSR1).unwrap();
        until("no second child", || tree(process.pid()).len() == 3);
        freezer.freeze().unwrap();
        let all = tree(process.pid());
        until("not all stopped", || all.iter().all(|&pid| is_stopped(pid)));
        assert_eq!(freezer.members().len(), 3);
    }

    #[test]
    fn a_fork_under_way_does_not_get_away() {
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let mut command = Command::new("sh");
        let script = "n=0; while [ $n -lt 300 ]; do sleep 600 & n=$((n+1)); done; wait";
        command.args(["-c", script]);
        let process = spawn(command, &me, Signal::SIGKILL).unwrap();
        until("no child", || tree(process.pid()).len() > 1);
        let mut freezer = Freezer::new(process.pid());
        if !freezer.is_listed {
            eprintln!("the kernel lists no children: skipped");
            return;
        }
        for _ in 0..60 {
            freezer.freeze().unwrap();
            while !freezer.is_complete {
                // The host holds it up for longer than a freeze waits.
                freezer.freeze().unwrap();
            }
            // A child that got away never stops.
            until("not all stopped", || tree(process.pid()).into_iter().all(is_stopped));
            assert!(freezer.frozen_for() > Duration::ZERO);
            freezer.thaw();
            assert_eq!(freezer.frozen_for(), Duration::ZERO);
        }
    }

    #[test]
    fn a_panic_continues_what_is_stopped() {
        let process = stand_in();
        let pid = process.pid();
        let result = std::thread::spawn(move || {
            let mut freezer = Freezer::new(pid);
            freezer.freeze().unwrap();
            until("not stopped", || is_stopped(pid));
            panic!("a bug of the test's own");
        })
        .join();
        assert!(result.is_err());
        until("still stopped", || !tree(pid).into_iter().any(is_stopped));
    }

    #[test]
    fn a_tree_that_ended_is_no_error() {
        let process = stand_in();
        let mut freezer = Freezer::new(process.pid());
        drop(process);
        freezer.freeze().unwrap();
        freezer.thaw();
    }
}
