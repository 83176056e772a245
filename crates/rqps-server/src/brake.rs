//! Stops the threads that serve connections for a moment, so that a server loses a known share of time.
//!
//! Single threads are stopped by ptrace(2): the threads beside them are not woken, as those of a
//! process are by SIGSTOP and SIGCONT (some tens of microseconds for a server of 40 threads), and when
//! rqps dies the kernel lets them go on. A thread is traced only while it is stopped, so that no
//! signal of the server's own waits for rqps. Where rqps may not trace, processes are stopped by
//! signals: PostgreSQL's backends, of other servers the whole.

mod trace;

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use rqps_model::warning::StopWay;
use trace::{await_stop, detach, seize};

/// How long a thread may take to stop when it is tried: one that waits for storage stops after that.
const TRY_WITHIN: Duration = Duration::from_secs(20);

/// Threads or processes that can be stopped for a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brake {
    /// These threads, by tracing them.
    Threads(Vec<i32>),
    /// These processes, by signals. A [`crate::Watchdog`] must know them.
    Processes(Vec<i32>),
}

/// Stopped threads or processes; they continue when it is dropped.
#[derive(Debug)]
pub struct Held<'a> {
    brake: &'a Brake,
    /// Threads that are traced, each with the number of the signal that is to be handed on to it.
    traced: Vec<(Pid, i32)>,
    /// Threads or processes that are stopped.
    n: usize,
    since: Instant,
}

/// Whether the kernel lets rqps trace a thread, by a trial on it.
///
/// # Errors
/// When the kernel refuses for another reason than a lack of privilege, or the thread does not stop
/// within 20 s. One that has ended is no error.
pub fn may_trace(thread: i32) -> Result<bool, Errno> {
    let (answer, answers) = channel();
    // By a thread of its own, which answers for the traced one until that has stopped.
    let tried = std::thread::Builder::new().spawn(move || answer.send(try_on(thread)));
    tried.map_err(|_| Errno::EAGAIN)?;
    answers.recv_timeout(TRY_WITHIN).unwrap_or(Err(Errno::ETIMEDOUT))
}

fn try_on(thread: i32) -> Result<bool, Errno> {
    let pid = Pid::from_raw(thread);
    match seize(pid) {
        Ok(()) => {
            if let Some(signal) = await_stop(pid) {
                let _ = detach(pid, signal);
            }
            Ok(true)
        }
        Err(Errno::ESRCH) => Ok(true),
        Err(Errno::EPERM | Errno::ENOSYS) => Ok(false),
        Err(errno) => Err(errno),
    }
}

impl Brake {
    /// Stops everything that has not ended; what has ended does not count.
    ///
    /// # Errors
    /// When the kernel refuses, with what was stopped until then continued.
    pub fn hold(&self) -> Result<Held<'_>, Errno> {
        let mut held = Held { brake: self, traced: Vec::new(), n: 0, since: Instant::now() };
        match self {
            Self::Threads(threads) => {
                let mut seized = Vec::new();
                let mut result = Ok(());
                for thread in threads {
                    let pid = Pid::from_raw(*thread);
                    match seize(pid) {
                        Ok(()) => seized.push(pid),
                        // That it may be traced was seen before: one that is ending.
                        Err(Errno::ESRCH | Errno::EPERM) => {}
                        Err(errno) => {
                            result = Err(errno);
                            break;
                        }
                    }
                }
                // All are told before any is waited for.
                let stopped = |pid: Pid| Some((pid, await_stop(pid)?));
                held.traced = seized.into_iter().filter_map(stopped).collect();
                held.n = held.traced.len();
                result?;
            }
            Self::Processes(processes) => {
                for process in processes {
                    match kill(Pid::from_raw(*process), Signal::SIGSTOP) {
                        Ok(()) => held.n += 1,
                        Err(Errno::ESRCH) => {}
                        Err(errno) => return Err(errno),
                    }
                }
            }
        }
        Ok(held)
    }

    /// How it stops them.
    #[must_use]
    pub fn way(&self) -> StopWay {
        match self {
            Self::Threads(_) => StopWay::Tracing,
            Self::Processes(_) => StopWay::Signals,
        }
    }
}

impl Held<'_> {
    /// Number of stopped threads or processes; 0 if all have ended.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// When the first was stopped.
    #[must_use]
    pub fn since(&self) -> Instant {
        self.since
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        for (pid, signal) in self.traced.drain(..) {
            let _ = detach(pid, signal);
        }
        if let Brake::Processes(processes) = self.brake {
            for process in processes {
                let _ = kill(Pid::from_raw(*process), Signal::SIGCONT);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::*;
    use crate::identity::Identity;
    use crate::process::{Process, spawn, stat};
    use crate::watch::pause;

    fn until(what: &str, done: impl Fn() -> bool) {
        let since = Instant::now();
        while !done() {
            assert!(since.elapsed() < Duration::from_secs(60), "{what}");
            pause(Duration::from_millis(1));
        }
    }

    fn shell(script: &str) -> Process {
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        spawn(command, &me, Signal::SIGKILL).unwrap()
    }

    fn is_stopped(pid: i32) -> bool {
        stat(pid).is_some_and(|s| matches!(s.state, 'T' | 't'))
    }

    fn brakes(pid: i32) -> Vec<Brake> {
        let mut all = vec![Brake::Processes(vec![pid])];
        if may_trace(pid).unwrap() {
            all.push(Brake::Threads(vec![pid]));
        } else {
            #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
            let in_ci = std::env::var_os("CI").is_some();
            assert!(!in_ci, "a child of one's own may not be traced: give the job SYS_PTRACE");
            eprintln!("may not trace: that way is skipped");
        }
        all
    }

    #[test]
    fn stops_and_goes_on_by_either_way() {
        let process = shell("while :; do :; done");
        for brake in brakes(process.pid()) {
            for _ in 0..3 {
                let held = brake.hold().unwrap();
                until("not stopped", || is_stopped(process.pid()));
                drop(held);
                until("still stopped", || !is_stopped(process.pid()));
            }
        }
    }

    #[test]
    fn a_panic_lets_go_on() {
        let process = shell("while :; do :; done");
        let pid = process.pid();
        for brake in brakes(pid) {
            let thread = std::thread::spawn(move || {
                let _held = brake.hold().unwrap();
                until("not stopped", || is_stopped(pid));
                panic!("a bug of the test's own");
            });
            assert!(thread.join().is_err());
            until("still stopped", || !is_stopped(pid));
        }
    }

    #[test]
    fn a_signal_that_comes_while_it_is_stopped_is_not_lost() {
        let process = shell("trap 'exit 7' USR1; while :; do :; done");
        until("no trap", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid()));
            status.unwrap_or_default().lines().any(|line| {
                // Bit 9 of the caught signals is SIGUSR1.
                line.strip_prefix("SigCgt:").is_some_and(|mask| {
                    u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & (1 << 9) != 0)
                })
            })
        });
        let brake = brakes(process.pid()).pop().unwrap();
        let held = brake.hold().unwrap();
        process.signal(Signal::SIGUSR1).unwrap();
        drop(held);
        let status = process.wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(status.code(), Some(7));
    }

    #[test]
    fn what_has_ended_is_no_error() {
        let process = shell("sleep 600");
        let all = brakes(process.pid());
        for brake in &all {
            assert_eq!(brake.hold().unwrap().n(), 1);
        }
        drop(process);
        for brake in all {
            assert_eq!(brake.hold().unwrap().n(), 0);
        }
    }
}
