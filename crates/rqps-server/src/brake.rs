//! Stops the threads that serve connections for a moment, so that a server loses a known share of time.
//!
//! Single threads are stopped by ptrace(2): the threads beside them are not woken, as those of a
//! process are by SIGSTOP and SIGCONT (some tens of microseconds for a server of 40 threads), and when
//! rqps dies the kernel lets them go on. A thread is traced only while it is stopped, so that no
//! signal of the server's own waits for rqps. Where rqps may not trace, processes are stopped by
//! signals: PostgreSQL's backends, of other servers the whole.

use std::time::Instant;

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// What can be stopped for a moment, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brake {
    /// These threads, by tracing them.
    Threads(Vec<i32>),
    /// These processes, by signals. They are to be known to a [`crate::Watchdog`].
    Processes(Vec<i32>),
}

/// Stopped until it is dropped.
#[derive(Debug)]
pub struct Held<'a> {
    brake: &'a Brake,
    /// Threads that are traced, each with the signal that is to be handed on to it.
    traced: Vec<(Pid, Option<Signal>)>,
    since: Instant,
}

/// Whether the kernel lets rqps trace a thread: tried on it.
///
/// # Errors
/// When the kernel refuses for another reason than a lack of privilege. A thread that has ended is
/// no error.
pub fn may_trace(thread: i32) -> Result<bool, Errno> {
    let pid = Pid::from_raw(thread);
    match seize(pid) {
        Ok(()) => {
            let signal = await_stop(pid);
            let _ = ptrace::detach(pid, signal);
            Ok(true)
        }
        Err(Errno::ESRCH) => Ok(true),
        Err(Errno::EPERM | Errno::ENOSYS) => Ok(false),
        Err(errno) => Err(errno),
    }
}

impl Brake {
    /// Stops everything; what has ended is none of its business.
    ///
    /// # Errors
    /// When the kernel refuses, with what was stopped until then continued.
    pub fn hold(&self) -> Result<Held<'_>, Errno> {
        let mut held = Held { brake: self, traced: Vec::new(), since: Instant::now() };
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
                held.traced = seized.into_iter().map(|pid| (pid, await_stop(pid))).collect();
                result?;
            }
            Self::Processes(processes) => {
                for process in processes {
                    match kill(Pid::from_raw(*process), Signal::SIGSTOP) {
                        Ok(()) | Err(Errno::ESRCH) => {}
                        Err(errno) => return Err(errno),
                    }
                }
            }
        }
        Ok(held)
    }
}

impl Held<'_> {
    /// When the first was told to stop.
    #[must_use]
    pub fn since(&self) -> Instant {
        self.since
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        for (pid, signal) in self.traced.drain(..) {
            let _ = ptrace::detach(pid, signal);
        }
        if let Brake::Processes(processes) = self.brake {
            for process in processes {
                let _ = kill(Pid::from_raw(*process), Signal::SIGCONT);
            }
        }
    }
}

/// Begins to trace a thread and tells it to stop.
fn seize(pid: Pid) -> Result<(), Errno> {
    ptrace::seize(pid, ptrace::Options::empty())?;
    // Fails for a thread that has ended meanwhile, which the wait for its stop sees.
    let _ = ptrace::interrupt(pid);
    Ok(())
}

/// Waits until a traced thread has stopped; gives the signal at whose delivery it has. One in an
/// uninterruptible wait for storage stops when that is over.
fn await_stop(pid: Pid) -> Option<Signal> {
    loop {
        match waitpid(pid, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Stopped(_, signal)) => return Some(signal),
            Err(Errno::EINTR) => {}
            _ => return None,
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
        drop(process);
        for brake in all {
            drop(brake.hold().unwrap());
        }
    }
}
