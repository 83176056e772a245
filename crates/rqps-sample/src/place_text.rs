//! Reads the texts that tell where a thread is: /proc/PID/task/TID/stat, schedstat, syscall, wchan, stack.

use rqps_stacks::profile::RUNNING;

use crate::TextError;

/// Functions between a system call's entry and its own code: on every stack, and of no interest.
const ENTRIES: [&str; 9] = [
    "entry_SYSCALL_64_after_hwframe",
    "do_syscall_64",
    "x64_sys_call",
    "el0t_64_sync",
    "el0t_64_sync_handler",
    "el0_svc",
    "do_el0_svc",
    "el0_svc_common",
    "invoke_syscall",
];

/// The state letter of /proc/PID/task/TID/stat: the field behind the name, which may hold anything.
///
/// # Errors
/// When there is none.
pub fn parse_state(text: &str) -> Result<char, TextError> {
    let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.ok_or_else(|| TextError::at(0, text.trim_end(), "no state behind a name in parentheses"))
}

/// How often a thread was put on a CPU: the third number of schedstat
/// (Documentation/scheduler/sched-stats.rst).
///
/// # Errors
/// When there is no such number.
pub fn parse_times_run(text: &str) -> Result<u64, TextError> {
    let number = text.split_ascii_whitespace().nth(2).and_then(|n| n.parse().ok());
    number.ok_or_else(|| TextError::at(0, text.trim_end(), "the third number is absent"))
}

/// The number of the system call that a thread is in (`proc_pid_syscall(5)`); `None` for one that runs
/// or is stopped elsewhere.
///
/// # Errors
/// When the first word is neither a number nor `running`.
pub fn parse_call(text: &str) -> Result<Option<u32>, TextError> {
    let word = text.split_ascii_whitespace().next().unwrap_or_default();
    match word.parse::<i64>() {
        _ if word == "running" => Ok(None),
        Ok(number) => Ok(u32::try_from(number).ok()),
        Err(_) => Err(TextError::at(0, text.trim_end(), format!("{word:?} is no system call"))),
    }
}

/// The function of the kernel in which a thread waits (`proc_pid_wchan(5)`); `None` where it waits
/// nowhere, or this user may not know.
#[must_use]
pub fn parse_place(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|place| !place.is_empty() && *place != "0")
}

/// The functions of a thread's kernel stack, the outermost first (`proc_pid_stack(5)`).
///
/// ```text
/// [<0>] futex_wait_queue+0x60/0x90
/// ```
#[must_use]
pub fn parse_kernel_stack(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = text.lines().filter_map(kernel_function).collect();
    names.reverse();
    names
}

fn kernel_function(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("] ")?;
    let name = rest.split(['+', ' ']).next()?;
    let is_entry = ENTRIES.contains(&name) || name.starts_with("__x64_sys_");
    (!name.is_empty() && !is_entry && !name.starts_with("0x")).then_some(name)
}

/// What a state letter means for who waits for the thread.
#[must_use]
pub fn state_words(state: char) -> &'static str {
    match state {
        'R' => RUNNING,
        'S' => "asleep",
        'D' => "disk sleep",
        'T' | 't' => "stopped",
        _ => "ending or idle",
    }
}

/// The name of a system call that servers wait in; `None` for others.
#[must_use]
pub fn call_name(number: u32) -> Option<&'static str> {
    CALLS.iter().find(|(of, _)| *of == number).map(|(_, name)| *name)
}

/// Numbers of arch/x86/entry/syscalls/syscall_64.tbl.
#[cfg(target_arch = "x86_64")]
const CALLS: &[(u32, &str)] = &[
    (0, "read"),
    (1, "write"),
    (7, "poll"),
    (8, "lseek"),
    (17, "pread64"),
    (18, "pwrite64"),
    (20, "writev"),
    (23, "select"),
    (24, "sched_yield"),
    (26, "msync"),
    (34, "pause"),
    (35, "nanosleep"),
    (43, "accept"),
    (44, "sendto"),
    (45, "recvfrom"),
    (46, "sendmsg"),
    (47, "recvmsg"),
    (61, "wait4"),
    (65, "semop"),
    (74, "fsync"),
    (75, "fdatasync"),
    (128, "rt_sigtimedwait"),
    (202, "futex"),
    (208, "io_getevents"),
    (209, "io_submit"),
    (219, "restart_syscall"),
    (220, "semtimedop"),
    (230, "clock_nanosleep"),
    (232, "epoll_wait"),
    (270, "pselect6"),
    (271, "ppoll"),
    (277, "sync_file_range"),
    (281, "epoll_pwait"),
    (285, "fallocate"),
    (288, "accept4"),
    (295, "preadv"),
    (296, "pwritev"),
    (426, "io_uring_enter"),
    (449, "futex_waitv"),
];

/// Numbers of include/uapi/asm-generic/unistd.h, which arm64 has.
#[cfg(not(target_arch = "x86_64"))]
const CALLS: &[(u32, &str)] = &[
    (4, "io_getevents"),
    (22, "epoll_pwait"),
    (63, "read"),
    (64, "write"),
    (67, "pread64"),
    (68, "pwrite64"),
    (72, "pselect6"),
    (73, "ppoll"),
    (82, "fsync"),
    (83, "fdatasync"),
    (98, "futex"),
    (101, "nanosleep"),
    (115, "clock_nanosleep"),
    (128, "restart_syscall"),
    (192, "semtimedop"),
    (193, "semop"),
    (202, "accept"),
    (206, "sendto"),
    (207, "recvfrom"),
    (211, "sendmsg"),
    (212, "recvmsg"),
    (426, "io_uring_enter"),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_of_a_thread_that_waits() {
        assert_eq!(parse_state("7 (a) R (b) S 1 2 3"), Ok('S'));
        assert_eq!(parse_times_run("123 456 789\n"), Ok(789));
        assert_eq!(parse_call("202 0x7f 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7f1c\n"), Ok(Some(202)));
        assert_eq!(parse_call("running\n"), Ok(None));
        assert_eq!(parse_call("-1 0x7ffd 0x7f1c\n"), Ok(None));
        assert_eq!(parse_place("futex_wait_queue"), Some("futex_wait_queue"));
        assert_eq!((parse_place("0"), parse_place("")), (None, None));
        let stack = "[<0>] futex_wait_queue+0x60/0x90\n[<0>] futex_wait+0x189/0x270\n\
                     [<0>] __x64_sys_futex+0x12d/0x200\n[<0>] do_syscall_64+0x55/0xb0\n\
                     [<0>] entry_SYSCALL_64_after_hwframe+0x6e/0xd8\n";
        assert_eq!(parse_kernel_stack(stack), ["futex_wait", "futex_wait_queue"]);
        assert_eq!(parse_kernel_stack("[<0>] 0xffffffff81\n"), Vec::<&str>::new());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_have_names() {
        assert_eq!((call_name(202), call_name(75)), (Some("futex"), Some("fdatasync")));
        assert_eq!(call_name(9999), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}(\n.{0,40}){0,3}") {
            let _ = (parse_state(&text), parse_times_run(&text), parse_call(&text));
            let _ = (parse_place(&text), parse_kernel_stack(&text));
        }
    }
}
