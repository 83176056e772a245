//! Traced threads: to wait until one has stopped, and to let it go with a signal by its number.
//!
//! Real-time signals have numbers and no names, so the wrappers that go by names would lose them.

use std::ptr;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::unistd::Pid;

/// Begins to trace a thread and tells it to stop.
pub(super) fn seize(pid: Pid) -> Result<(), Errno> {
    ptrace::seize(pid, ptrace::Options::empty())?;
    // Fails for a thread that has ended meanwhile, which the wait for its stop sees.
    let _ = ptrace::interrupt(pid);
    Ok(())
}

/// Waits until a traced thread has stopped; gives the number of the signal at whose delivery it has, 0
/// for none. `None` for a thread that has ended. One in an uninterruptible wait for storage stops when
/// that is over.
#[expect(unsafe_code, reason = "the wrapper refuses the status of a real-time signal")]
pub(super) fn await_stop(pid: Pid) -> Option<i32> {
    loop {
        let mut status = 0;
        // SAFETY: waitpid(2) writes one int to the place that the second argument points to, which
        // is a local of that type.
        let waited = unsafe { libc::waitpid(pid.as_raw(), &raw mut status, libc::__WALL) };
        if waited == -1 && Errno::last() == Errno::EINTR {
            continue;
        }
        if waited == -1 || !libc::WIFSTOPPED(status) {
            return None;
        }
        // A stop for the tracer's sake and not for a signal's has its event in the third byte:
        // ptrace(2), PTRACE_EVENT_STOP.
        let is_event = status >> 16 != 0;
        return Some(if is_event { 0 } else { libc::WSTOPSIG(status) });
    }
}

/// Lets a stopped thread go on untraced, and hands a signal on to it; 0 for none.
#[expect(unsafe_code, reason = "the wrapper takes signals that have a name, and no others")]
pub(super) fn detach(pid: Pid, signal: i32) -> Result<(), Errno> {
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: PTRACE_DETACH reads no memory of ours: its third argument is ignored, its fourth is a
    // number (ptrace(2)).
    let result = unsafe {
        libc::ptrace(libc::PTRACE_DETACH, pid.as_raw(), none, libc::c_long::from(signal))
    };
    Errno::result(result).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use nix::sys::signal::Signal;

    use super::*;
    use crate::identity::Identity;
    use crate::process::spawn;
    use crate::watch::pause;

    #[test]
    fn a_real_time_signal_that_stops_a_traced_thread_is_handed_on() {
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let mut command = Command::new("sh");
        // 36 is SIGRTMIN+2.
        command.args(["-c", "trap 'exit 7' 36; while :; do :; done"]);
        let process = spawn(command, &me, Signal::SIGKILL).unwrap();
        let since = Instant::now();
        let is_trapped = || {
            let path = format!("/proc/{}/status", process.pid());
            std::fs::read_to_string(path).unwrap_or_default().lines().any(|line| {
                line.strip_prefix("SigCgt:").is_some_and(|mask| {
                    u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & (1 << 35) != 0)
                })
            })
        };
        while !is_trapped() {
            assert!(since.elapsed() < Duration::from_secs(60), "no trap");
            pause(Duration::from_millis(1));
        }
        let pid = Pid::from_raw(process.pid());
        match ptrace::seize(pid, ptrace::Options::empty()) {
            Ok(()) => {}
            Err(Errno::EPERM) => {
                eprintln!("may not trace: skipped");
                return;
            }
            Err(errno) => panic!("{errno}"),
        }
        let kill = format!("kill -36 {pid}");
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        // It stops because the signal is to be delivered.
        assert_eq!(await_stop(pid), Some(36));
        detach(pid, 36).unwrap();
        let status = process.wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(status.code(), Some(7));
    }
}
