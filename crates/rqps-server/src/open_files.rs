//! The limit of open files: raised for rqps where clients need it, and as it was for what it starts.
//!
//! A server sizes its caches of tables and files by the limit that it finds. It finds the user's own.

use std::sync::OnceLock;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The limits before they were raised, the one in force and the highest that could be had.
static FOUND: OnceLock<(u64, u64)> = OnceLock::new();

/// Number of files that this process may have open.
#[must_use]
pub fn limit() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft)
}

/// Raises the limit to `wanted`, or as far as the kernel allows, and returns it. The limit is never lowered.
pub fn raise(wanted: u64) -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return limit() };
    let target = wanted.min(hard);
    if target > soft {
        // Before it changes: a process that is started right now is to find the limit that was.
        let _ = FOUND.set((soft, hard));
        // What comes of it is asked below.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, target, hard);
    }
    limit()
}

/// The limits for what this process starts, where its own were raised.
pub(crate) fn found() -> Option<(u64, u64)> {
    FOUND.get().copied()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use nix::sys::signal::Signal;

    use super::*;
    use crate::identity::Identity;
    use crate::process;

    #[test]
    fn what_is_started_finds_the_limit_that_was() {
        let before = limit();
        let raised = raise(before + 7);
        assert!(raised == before + 7 || raised == before, "{before} {raised}");
        assert_eq!(raise(1), raised);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("limit");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -Sn > {}", out.display())]);
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let child = process::spawn(command, &me, Signal::SIGKILL).unwrap();
        assert!(child.wait(std::time::Duration::from_secs(60)).unwrap().is_some());
        let found = std::fs::read_to_string(out).unwrap();
        assert_eq!(found.trim().parse::<u64>().ok(), Some(before), "{found}");
    }
}
