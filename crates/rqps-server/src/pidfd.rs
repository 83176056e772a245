//! Signals to processes that are no children of rqps: a process id may be somebody else's a moment after it
//! was looked at, a handle of the kernel (pidfd_open(2), Linux 5.3) never is.
//!
//! A child needs no handle: its id stays its own until it was waited for, which [`crate::process`] does
//! under the same lock as it sends signals.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::io::Errno;
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::process::{StartedProcess, started};

/// Sends a signal to this very process; to nobody where it has ended.
pub(crate) fn send(process: StartedProcess, signal: Signal) {
    let StartedProcess { pid, started: at } = process;
    let Some(id) = rustix::process::Pid::from_raw(pid) else { return };
    match pidfd_open(id, PidfdFlags::empty()) {
        Ok(handle) => {
            // Looked at after the handle was made: who has the id now had it then.
            if started(pid) == Some(at)
                && let Some(number) = rustix::process::Signal::from_named_raw(signal as i32)
            {
                // One that has ended meanwhile is none of its business.
                let _ = pidfd_send_signal(&handle, number);
            }
        }
        // A kernel or a sandbox without it: a moment lies between the look and the signal.
        Err(errno) if errno != Errno::SRCH && started(pid) == Some(at) => {
            let _ = kill(Pid::from_raw(pid), signal);
        }
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_the_process_of_that_start_is_signalled() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id().cast_signed();
        let at = started(pid).unwrap();
        let process = StartedProcess { pid, started: at };
        send(StartedProcess { started: at + 1, ..process }, Signal::SIGKILL);
        send(StartedProcess { pid: 0, ..process }, Signal::SIGKILL);
        assert_eq!(child.try_wait().unwrap(), None, "another one was meant");
        send(process, Signal::SIGKILL);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        // It has been waited for: nobody is there.
        send(process, Signal::SIGKILL);
    }
}
