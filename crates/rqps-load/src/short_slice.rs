//! Prompt waking for threads that act on a clock.
//!
//! On a host whose CPUs are busy with other clients' statements, a thread that wakes waits until a running
//! one has used up its time slice, milliseconds. Linux 6.12 and later take a request for a shorter
//! slice from any thread: such a thread gets no more CPU than its fair share, but gets it sooner:
//! `sched_setattr(2)`, `sched_runtime` of `SCHED_OTHER`. Older kernels ignore it.

use nix::libc::{SYS_sched_getattr, SYS_sched_setattr, sched_attr, syscall};

/// The slice asked for: the shortest that the kernel grants, 0.1 ms.
const SLICE_NS: u64 = 100_000;

/// Asks for short slices for the calling thread. A kernel that refuses leaves it as it is: the
/// lateness of starts, which is recorded, tells.
#[expect(unsafe_code, reason = "no library has a safe form of these system calls")]
pub fn ask() {
    let Ok(size) = u32::try_from(size_of::<sched_attr>()) else { return };
    let mut attr = sched_attr {
        size,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel writes at most `size` bytes to `attr`, which is that large and is not read
    // elsewhere meanwhile; 0 is the calling thread.
    let read = unsafe { syscall(SYS_sched_getattr, 0, &raw mut attr, size, 0) };
    if read != 0 {
        return;
    }
    attr.sched_runtime = SLICE_NS;
    // SAFETY: the kernel only reads `attr`, whose `size` is its own.
    unsafe { syscall(SYS_sched_setattr, 0, &raw const attr, 0) };
}
