//! Who is at work in a data directory: processes of servers, and nobody who only looks at its files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Uid;

use crate::identity::Identity;
use crate::process::{StartedProcess, started};
use crate::watch::pause;
use crate::{Error, Patience, pidfd};

/// What programs of servers are called.
const PROGRAMS: [&str; 3] = ["mysqld", "mariadbd", "postgres"];

/// How long servers that are being killed may take to end.
const DIE_WITHIN: Duration = Duration::from_secs(60);

/// How long a server may end by itself before it is killed: one that rqps took with it gives shared memory
/// back.
const END_WITHIN: Duration = Duration::from_secs(2);

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the kernel adds to the path of a program whose file has been replaced: proc_pid_exe(5).
const DELETED: &[u8] = b" (deleted)";

/// A process of a server.
#[derive(Debug)]
struct Worker {
    pid: i32,
    /// Ticks after boot; tells it from a later one with the same id.
    started: u64,
    user: Uid,
}

/// Waits until no server is at work in an instance's directory: one that dies with rqps takes a moment to
/// give a large cache back. `program` is the server's own, whatever it is called.
///
/// # Errors
/// [`Error::InUse`] with a process that stays.
pub(crate) fn await_nobody(dir: &Path, program: &Path, patience: Patience) -> Result<(), Error> {
    let identity = Identity::for_servers()?;
    let since = Instant::now();
    loop {
        let Some(first) = workers(dir, Some(program), &identity).into_iter().next() else {
            return Ok(());
        };
        if since.elapsed() > patience.end() {
            return Err(Error::InUse { path: dir.to_owned(), pid: first.pid });
        }
        pause(LOOK_EVERY);
    }
}

/// Ends what is still at work in an instance's directory that is to be removed: processes of PostgreSQL can
/// outlive the one that has started them, and are nobody's children then. To be called by whoever has
/// locked the instance.
///
/// # Errors
/// [`Error::InUse`] with a process that is another user's, or stays.
pub(crate) fn end_all(dir: &Path) -> Result<(), Error> {
    let identity = Identity::for_servers()?;
    let since = Instant::now();
    loop {
        let left = workers(dir, None, &identity);
        let others = left.iter().find(|worker| worker.user != identity.uid);
        let Some(first) = others.or(left.first()) else { return Ok(()) };
        if others.is_some() || since.elapsed() > DIE_WITHIN {
            return Err(Error::InUse { path: dir.to_owned(), pid: first.pid });
        }
        if since.elapsed() > END_WITHIN {
            for worker in &left {
                let process = StartedProcess { pid: worker.pid, started: worker.started };
                pidfd::send(process, Signal::SIGKILL);
            }
        }
        pause(LOOK_EVERY);
    }
}

/// The processes that have a directory, or one below it, as their working directory or in their command
/// line, and that run a server's program or are of the user that only servers run as.
fn workers(dir: &Path, program: Option<&Path>, identity: &Identity) -> Vec<Worker> {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // The kernel tells paths without links, command lines as they were written.
    let dirs = [dir.to_owned(), real(dir)];
    let program = program.map(real);
    let is_server = |path: &Path| {
        let name = path.file_name().and_then(OsStr::to_str);
        program.as_deref() == Some(path) || name.is_some_and(|name| PROGRAMS.contains(&name))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        // First: whatever is read after it is of this process or of none.
        let started = started(pid)?;
        let of_process = PathBuf::from(format!("/proc/{pid}"));
        let cmdline = fs::read(of_process.join("cmdline")).unwrap_or_default();
        let cwd = fs::read_link(of_process.join("cwd")).unwrap_or_default();
        let is_there = |dir: &PathBuf| cwd.starts_with(dir) || names(&cmdline, dir);
        if !dirs.iter().any(is_there) {
            return None;
        }
        let user = parse_user(&fs::read_to_string(of_process.join("status")).ok()?)?;
        // An ordinary user is the servers' one, and looks at files as well.
        let is_of_servers = identity.switch && user == identity.uid;
        let is_at_work = is_of_servers || is_server(&program_of(&of_process, &cmdline));
        is_at_work.then_some(Worker { pid, started, user })
    })
    .collect()
}

/// Whether an argument of a command line is a directory or a path below it, or the value of an option is.
fn names(cmdline: &[u8], dir: &Path) -> bool {
    let named = dir.as_os_str().as_bytes();
    let is_whole = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| cmdline.get(before));
        // RUN-1 is not RUN-12.
        let after = cmdline.get(at + named.len());
        matches!(before, None | Some(0 | b'=')) && matches!(after, None | Some(0 | b'/'))
    };
    let mut found = cmdline.windows(named.len().max(1)).enumerate();
    found.any(|(at, text)| text == named && is_whole(at))
}

/// The program that a process runs; what its command line calls it where the kernel does not tell.
fn program_of(of_process: &Path, cmdline: &[u8]) -> PathBuf {
    let first = cmdline.split(|&byte| byte == 0).next().unwrap_or_default();
    let Ok(path) = fs::read_link(of_process.join("exe")) else {
        return PathBuf::from(OsStr::from_bytes(first));
    };
    let bytes = path.as_os_str().as_bytes();
    PathBuf::from(OsStr::from_bytes(bytes.strip_suffix(DELETED).unwrap_or(bytes)))
}

/// The real user of a process, of `Uid:` in proc_pid_status(5).
fn parse_user(status: &str) -> Option<Uid> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    Some(Uid::from_raw(line.split_whitespace().next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::process::{Process, spawn};

    /// A directory that the servers' user can enter.
    fn open_dir() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        fs::set_permissions(top.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(top.path().join("run-1/data")).unwrap();
        top
    }

    /// A shell that waits, in a directory and with a text in its command line.
    fn waiting(program: &Path, cwd: &Path, named: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(["-c", "read line"]).arg(named).current_dir(cwd).stdin(Stdio::piped());
        command
    }

    /// One that is called as a server's program is, run as servers are.
    fn server(top: &Path, cwd: &Path, named: &Path) -> Process {
        let program = top.join("postgres");
        // By another process: this one forks beside, and what it has open to write cannot be run.
        let mut install = Command::new("install");
        let done = install.args(["-m", "755", "/bin/sh"]).arg(&program).status();
        assert!(done.unwrap().success());
        let identity = Identity::for_servers().unwrap();
        spawn(waiting(&program, cwd, named), &identity, Signal::SIGKILL).unwrap()
    }

    fn ended(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn pids(dir: &Path) -> Vec<i32> {
        let identity = Identity::for_servers().unwrap();
        workers(dir, None, &identity).iter().map(|worker| worker.pid).collect()
    }

    #[test]
    fn who_looks_at_a_log_is_not_at_work() {
        let top = open_dir();
        let dir = top.path().join("run-1");
        let shell = Path::new("/bin/sh");
        // Of this user's, as an editor or `tail -f` is.
        let looking = waiting(shell, &dir, &dir.join("server.log")).spawn().unwrap();
        let pid = looking.id().cast_signed();
        assert_eq!(pids(&dir), Vec::<i32>::new());
        await_nobody(&dir, Path::new("/no/such/program"), Patience::default()).unwrap();
        end_all(&dir).unwrap();
        assert!(started(pid).is_some(), "it was ended");
        // The program that the data are of is a server, whatever it is called.
        let identity = Identity::for_servers().unwrap();
        let found = workers(&dir, Some(shell), &identity);
        assert_eq!(found.iter().map(|worker| worker.pid).collect::<Vec<_>>(), [pid]);
        ended(looking);
    }

    #[test]
    fn what_a_server_left_at_work_is_ended_before_its_data_go() {
        let top = open_dir();
        let dir = top.path().join("run-1");
        let left = server(top.path(), Path::new("/"), &dir.join("data"));
        assert_eq!(pids(&dir), [left.pid()]);
        // Another run's, though its name begins alike.
        assert_eq!(pids(&top.path().join("run")), Vec::<i32>::new());
        end_all(&dir).unwrap();
        assert_eq!(pids(&dir), Vec::<i32>::new());
        let status = left.wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(crate::process::describe_end(status), "it was killed by signal 9 (SIGKILL)");
    }

    #[test]
    fn a_directory_is_named_by_whole_words() {
        let dir = Path::new("/data/run-1");
        for line in ["postgres\0-D\0/data/run-1/data\0", "mysqld\0--datadir=/data/run-1\0"] {
            assert!(names(line.as_bytes(), dir), "{line:?}");
        }
        for line in ["mysqld\0--datadir=/data/run-12\0", "mysqld\0--datadir=/mnt/data/run-1\0", ""]
        {
            assert!(!names(line.as_bytes(), dir), "{line:?}");
        }
    }

    #[test]
    fn reads_whose_a_process_is() {
        let text = "Name:\tpostgres\nUid:\t33\t0\t0\t0\nGid:\t0\t0\t0\t0\n";
        assert_eq!(parse_user(text), Some(Uid::from_raw(33)));
        assert_eq!(parse_user("Name:\tx\n"), None);
    }
}
