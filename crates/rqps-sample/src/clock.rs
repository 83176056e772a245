//! CPU clocks of threads and processes, and the length of the kernel's tick.

use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::Error;

/// Nanoseconds in a second.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// CPU time of the calling thread so far, nanoseconds; 0 where the kernel has no such clock.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// CPU time of rqps so far, all threads, nanoseconds.
///
/// # Errors
/// When the kernel has no such clock.
pub fn own_cpu_ns() -> Result<u64, Error> {
    clock_ns(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_err(|source| Error::System { call: "clock_gettime", source })
}

/// CPU time of process `pid`, all its threads that live or ended, nanoseconds, in 1 ns steps.
///
/// `None` when there is no such process. No permission is needed (`clock_getcpuclockid(3)`).
#[must_use]
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
    ClockId::pid_cpu_clock_id(Pid::from_raw(pid)).and_then(clock_ns).ok()
}

/// Length of the tick in which /proc counts CPU time, nanoseconds (`USER_HZ`, `proc(5)`).
pub(crate) fn tick_ns() -> u64 {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    let per_second = per_second.and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    SECOND_NS / per_second.unwrap_or(100)
}

fn clock_ns(clock: ClockId) -> Result<u64, nix::errno::Errno> {
    let time = clock_gettime(clock)?;
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    Ok(seconds * SECOND_NS + u64::try_from(time.tv_nsec()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_clocks_agree() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let before = own_cpu_ns().unwrap();
        let by_id = process_cpu_ns(pid).unwrap();
        assert!(before <= by_id && by_id <= own_cpu_ns().unwrap());
        assert!(thread_cpu_ns() <= own_cpu_ns().unwrap());
        assert!(tick_ns() > 0);
    }

    #[test]
    fn no_process_no_clock() {
        // Process ids end at 2^22 (PID_MAX_LIMIT).
        assert_eq!(process_cpu_ns((1 << 22) + 1), None);
    }
}
