//! What became of the core of a server that crashed. Limits stay as they are: whoever wants one raises them
//! before rqps is started.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::Signal;

/// Whether a process that worked in `dir` and has ended by a signal has left a core, and where, in words;
/// `None` for an end that leaves none by itself.
pub(crate) fn told(status: ExitStatus, dir: &Path) -> Option<String> {
    let signal = Signal::try_from(status.signal()?).ok()?;
    if !leaves_core(signal) {
        return None;
    }
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let limit = getrlimit(Resource::RLIMIT_CORE).map_or(0, |(soft, _)| soft);
    Some(words(status.core_dumped(), pattern.trim(), limit, dir))
}

/// The signals whose default is to end with a core: signal(7).
fn leaves_core(signal: Signal) -> bool {
    use Signal::{
        SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ,
    };
    matches!(
        signal,
        SIGABRT
            | SIGBUS
            | SIGFPE
            | SIGILL
            | SIGQUIT
            | SIGSEGV
            | SIGSYS
            | SIGTRAP
            | SIGXCPU
            | SIGXFSZ
    )
}

/// By core(5): a pattern is a name in the working directory, a path, or a program behind `|`. `limit` is
/// what a core may have, bytes.
fn words(is_dumped: bool, pattern: &str, limit: u64, dir: &Path) -> String {
    let setting = format!("kernel.core_pattern is {pattern:?}");
    if !is_dumped {
        return match limit {
            0 => format!("no core was dumped, as ulimit -c is 0; {setting}"),
            _ => format!("no core was dumped; {setting}"),
        };
    }
    if let Some(program) = pattern.strip_prefix('|') {
        let program = program.split_whitespace().next().unwrap_or_default();
        return format!("its core went to {program}; {setting}");
    }
    if pattern.starts_with('/') {
        return format!("its core was dumped; {setting}");
    }
    format!(
        "its core was dumped in {} and is removed with its data; {setting}, a path there would keep it",
        dir.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_core_is_follows_from_the_pattern() {
        let of = |is_dumped, pattern, limit| words(is_dumped, pattern, limit, Path::new("/d"));
        assert_eq!(
            of(false, "core", 0),
            "no core was dumped, as ulimit -c is 0; kernel.core_pattern is \"core\""
        );
        let not_dumped = "no core was dumped; kernel.core_pattern is \"/c/%p\"";
        assert_eq!(of(false, "/c/%p", 1), not_dumped);
        assert_eq!(
            of(true, "|/usr/lib/handler %P %u", 0),
            "its core went to /usr/lib/handler; kernel.core_pattern is \"|/usr/lib/handler %P %u\""
        );
        assert_eq!(of(true, "/c/%p", 1), "its core was dumped; kernel.core_pattern is \"/c/%p\"");
        assert_eq!(
            of(true, "core.%p", 1),
            "its core was dumped in /d and is removed with its data; kernel.core_pattern is \"core.%p\", \
             a path there would keep it"
        );
    }

    #[test]
    fn only_crashes_have_a_word_on_cores() {
        let dir = Path::new("/d");
        // The status of waitpid(2): the signal, and 0x80 for a core; an exit code above them.
        let told = |raw| told(ExitStatus::from_raw(raw), dir);
        // Killed, ended by a request, ended by itself.
        assert!([9, 15, 0, 0x100].into_iter().all(|raw| told(raw).is_none()));
        assert!(told(11).unwrap().starts_with("no core was dumped"));
        assert!(told(0x86).unwrap().starts_with("its core was "));
    }
}
