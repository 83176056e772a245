//! Processes of an attempt whose rqps was killed: compilers below `make` hear nothing of that, and go on.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable by which the processes of a build are known. It also makes ccache find files of other builds.
pub(crate) const MARK: &str = "CCACHE_BASEDIR";

/// How long they may take to end once they are killed.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ends the processes that have a build's directory in [`MARK`]; gives how many there were. Only the holder of the
/// build's lock may call it: nobody else builds there then.
#[expect(
    clippy::disallowed_methods,
    reason = "no event tells the end of a process that is no child"
)]
pub(crate) fn end_all(root: &Path) -> usize {
    let mark = [MARK.as_bytes(), b"=", root.as_os_str().as_bytes()].concat();
    let until = Instant::now() + END_WITHIN;
    let mut n_ended = 0;
    loop {
        let found = marked(&mark);
        // One that is killed may have begun another.
        if found.is_empty() || Instant::now() >= until {
            return n_ended;
        }
        n_ended += found.len();
        for pid in found {
            // It may have ended by itself.
            let _ = kill(pid, Signal::SIGKILL);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// The other processes that have an entry in their environment.
fn marked(entry: &[u8]) -> Vec<Pid> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|process| {
        let pid = Pid::from_raw(process.file_name().to_str()?.parse::<i32>().ok()?);
        // Of another user, or gone.
        let environment = fs::read(process.path().join("environ")).ok()?;
        let is_marked = environment.split(|byte| *byte == 0).any(|own| own == entry);
        (is_marked && pid != Pid::this()).then_some(pid)
    });
    pids.collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn who_builds_there_is_ended_and_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        // Below a shell, as compilers are below make. It says when it runs.
        let sleep = |root: &Path| {
            let mut command = Command::new("sh");
            command.args(["-c", "echo; sleep 600; true"]).env(MARK, root);
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
            child
        };
        let (build, other) = (dir.path().join("build"), dir.path().join("build-2"));
        let (mut of_build, mut of_other) = (sleep(&build), sleep(&other));
        assert!(end_all(&build) >= 1);
        assert_eq!(of_build.wait().unwrap().signal(), Some(9));
        assert_eq!(end_all(&build), 0);
        assert_eq!(of_other.try_wait().unwrap(), None);
        assert!(end_all(&other) >= 1);
        of_other.wait().unwrap();
    }
}
