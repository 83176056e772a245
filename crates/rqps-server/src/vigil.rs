//! Notices a server that somebody else has stopped, which would otherwise hang the run until its clients
//! give up, and ends it.
//!
//! What rqps stops itself goes on after some seconds at most ([`crate::Freezer`]), and is not looked at
//! meanwhile. A process that a debugger holds is in another state, and left alone.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::process::{StartedProcess, Stat, descendants, stat};
use crate::watchdog::end_tree;

/// In how many looks in a row a process must stand still: longer than rqps stops any itself.
const LOOKS: u32 = 6;

/// Looks after one server until it is dropped.
#[derive(Debug)]
pub(crate) struct Vigil {
    found: Arc<OnceLock<String>>,
    // Its end is what the thread waits for.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Vigil {
    /// Over the tree of `root`, which ends by `death`; `held` says that rqps has stopped it itself. It looks
    /// after each time of `every`.
    pub(crate) fn start(
        root: i32,
        death: Signal,
        held: Arc<AtomicBool>,
        every: Duration,
    ) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let found = Arc::new(OnceLock::new());
        let told = Arc::clone(&found);
        let started = stat(root).map(|now| now.started);
        let thread = std::thread::Builder::new().name("vigil".to_owned()).spawn(move || {
            let mut seen = Seen::default();
            while matches!(stopped.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
                let Some(started) = started.filter(|s| stat(root).is_some_and(|n| n.started == *s))
                else {
                    return;
                };
                if held.load(Ordering::Relaxed) {
                    seen.forget();
                    continue;
                }
                let mut members = vec![StartedProcess { pid: root, started }];
                members.extend(descendants(root));
                let states =
                    members.iter().filter_map(|process| Some((process.pid, stat(process.pid)?)));
                if let Some(pid) = seen.look(states) {
                    let seconds = (every * LOOKS).as_secs_f64();
                    let _ = told.set(format!(
                        "its process {pid} was stopped for {seconds} s by a signal that rqps did not send"
                    ));
                    end_tree(root, death, &members);
                    return;
                }
            }
        })?;
        Ok(Self { found, stop: Some(stop), thread: Some(thread) })
    }

    /// Why it has ended the server, when it has.
    pub(crate) fn found(&self) -> Option<&str> {
        self.found.get().map(String::as_str)
    }
}

impl Drop for Vigil {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The processes that stood still at the last look.
#[derive(Debug, Default)]
struct Seen {
    /// By id: start, CPU time and how often it was seen like that in a row.
    still: BTreeMap<i32, (u64, u64, u32)>,
}

impl Seen {
    fn forget(&mut self) {
        self.still.clear();
    }

    /// Takes a look; gives a process that has stood still for long enough. A stopped process whose CPU time
    /// has grown has run in between: an injected slowdown stops servers for moments.
    fn look(&mut self, states: impl Iterator<Item = (i32, Stat)>) -> Option<i32> {
        let before = std::mem::take(&mut self.still);
        let mut longest = None;
        for (pid, now) in states.filter(|(_, now)| now.state == 'T') {
            let n = match before.get(&pid) {
                Some(&(started, cpu, n)) if (started, cpu) == (now.started, now.cpu_ticks) => n + 1,
                _ => 1,
            };
            self.still.insert(pid, (now.started, now.cpu_ticks, n));
            if n >= LOOKS {
                longest = longest.or(Some(pid));
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    use super::*;
    use crate::identity::Identity;
    use crate::process::{Process, spawn};
    use crate::watch::pause;

    fn at(state: char, cpu_ticks: u64) -> Stat {
        Stat { state, parent: 1, n_threads: 1, started: 100, cpu_ticks }
    }

    #[test]
    fn only_what_stands_still_throughout_is_found() {
        let mut seen = Seen::default();
        for _ in 1..LOOKS {
            assert_eq!(seen.look([(7, at('T', 5)), (8, at('S', 5))].into_iter()), None);
        }
        assert_eq!(seen.look([(7, at('T', 5)), (8, at('S', 5))].into_iter()), Some(7));
        // It ran in between.
        let mut seen = Seen::default();
        for look in 0..3 * LOOKS {
            assert_eq!(seen.look([(7, at('T', look.into()))].into_iter()), None);
        }
        // It was seen running once; rqps stopped it itself meanwhile; a debugger holds it.
        for states in [['T', 'T', 'S'], ['T', 'T', 'X'], ['t', 't', 't']] {
            let mut seen = Seen::default();
            for look in 0..3 * LOOKS as usize {
                match states[look % 3] {
                    'X' => seen.forget(),
                    state => assert_eq!(seen.look([(7, at(state, 5))].into_iter()), None),
                }
            }
        }
    }

    fn sleeper() -> Process {
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & wait"]);
        spawn(command, &me, Signal::SIGKILL).unwrap()
    }

    #[test]
    fn a_stopped_server_is_ended_and_one_that_rqps_stopped_is_not() {
        let (ours, theirs) = (sleeper(), sleeper());
        let every = Duration::from_millis(20);
        let watch = |process: &Process, is_held: bool| {
            let held = Arc::new(AtomicBool::new(is_held));
            Vigil::start(process.pid(), Signal::SIGKILL, held, every).unwrap()
        };
        let (of_ours, of_theirs) = (watch(&ours, true), watch(&theirs, false));
        for process in [&ours, &theirs] {
            kill(Pid::from_raw(process.pid()), Signal::SIGSTOP).unwrap();
        }
        let since = Instant::now();
        while theirs.ended().unwrap().is_none() {
            assert!(since.elapsed() < Duration::from_secs(60), "it was not ended");
            pause(Duration::from_millis(5));
        }
        assert!(of_theirs.found().unwrap().contains("by a signal that rqps did not send"));
        assert!(ours.ended().unwrap().is_none() && of_ours.found().is_none());
    }
}
