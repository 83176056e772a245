//! Processes that do not outlive rqps: spawned to die with it, in groups of their own, reaped.
//!
//! The kernel ties the parent-death signal to the *thread* that spawned, not to its process
//! (prctl(2), PR_SET_PDEATHSIG). So all processes are spawned by one thread that never ends.

mod stat;

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid, getppid, setgid, setgroups, setuid};

use crate::identity::Identity;
use crate::wall::Door;
use crate::watch::pause;
use crate::{open_files, pidfd, secrets};
pub use stat::{StartedProcess, tree};
pub(crate) use stat::{Stat, descendants, read_proc, started, stat};

/// A child process of rqps; killed with its descendants when dropped.
#[derive(Debug)]
pub struct Process {
    pid: i32,
    child: Mutex<Child>,
    death: Signal,
}

struct Job {
    command: Command,
    reply: Sender<io::Result<Child>>,
}

/// Limits that a process enters before its program is executed, so that they hold for everything it does.
#[derive(Debug, Default)]
pub struct Cage {
    /// `cgroup.procs` of the control groups that it joins, open for writing.
    pub procs: Vec<File>,
    /// The CPUs that it may run on.
    pub cpus: Option<CpuSet>,
    /// The way into the wall that confines it to its own files.
    pub(crate) door: Option<Door>,
}

/// Spawns a command as `identity`, in its own process group; the kernel sends it `death` when rqps ends.
///
/// # Errors
/// When the program cannot be executed.
pub fn spawn(command: Command, identity: &Identity, death: Signal) -> io::Result<Process> {
    spawn_in(Cage::default(), command, identity, death)
}

/// As [`spawn`], in a cage.
///
/// # Errors
/// When the cage cannot be entered or the program cannot be executed.
pub fn spawn_in(
    cage: Cage,
    mut command: Command,
    identity: &Identity,
    death: Signal,
) -> io::Result<Process> {
    command.process_group(0);
    secrets::keep_from(&mut command);
    prepare_child(&mut command, cage, identity, death);
    let (reply, answer) = channel();
    let gone = || io::Error::other("the thread that spawns processes is gone");
    spawner()
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send(Job { command, reply })
        .map_err(|_| gone())?;
    let child = answer.recv().map_err(|_| gone())??;
    // Linux process ids fit 22 bits: proc(5), pid_max.
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    Ok(Process { pid, child: Mutex::new(child), death })
}

#[expect(unsafe_code, reason = "a hook between fork and exec is the only way to do this")]
fn prepare_child(command: &mut Command, cage: Cage, identity: &Identity, death: Signal) {
    let parent = getpid();
    let (uid, gid, switch) = (identity.uid, identity.gid, identity.switch);
    let files = open_files::found();
    let cwd =
        command.get_current_dir().and_then(|dir| CString::new(dir.as_os_str().as_bytes()).ok());
    let hook = move || {
        if let Some((soft, hard)) = files {
            setrlimit(Resource::RLIMIT_NOFILE, soft, hard)?;
        }
        for procs in &cage.procs {
            // "0" is the writing process itself: cgroups(7).
            nix::unistd::write(procs, b"0")?;
        }
        if let Some(cpus) = &cage.cpus {
            sched_setaffinity(Pid::from_raw(0), cpus)?;
        }
        if let Some(door) = &cage.door {
            door.enter_as_root()?;
        }
        // Here and not by `Command::uid`, which comes before the hook: only root may enter.
        if switch {
            setgroups(&[])?;
            setgid(gid)?;
            setuid(uid)?;
        }
        if let Some(door) = &cage.door {
            door.enter_as_user(cwd.as_deref())?;
        }
        // After the change of user and of the user namespace, which clear it: prctl(2).
        set_pdeathsig(death)?;
        // The parent may have ended between fork and prctl; then nobody would send the signal.
        if getppid() == parent { Ok(()) } else { Err(io::Error::other("rqps ended meanwhile")) }
    };
    // SAFETY: the hook runs in the child of a fork, where only async-signal-safe calls are allowed:
    // setrlimit, write, sched_setaffinity, setgroups, setgid, setuid, prctl, getppid and those of the door
    // (unshare, open, mount, mount_setattr, landlock_restrict_self, chdir) are system calls with arguments
    // made before the fork, and its only allocation is on the path that fails because the
    // parent is gone, where no other outcome than ending the child is left.
    unsafe {
        command.pre_exec(hook);
    }
}

fn spawner() -> &'static Mutex<Sender<Job>> {
    static SPAWNER: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
    SPAWNER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        std::thread::spawn(move || {
            for mut job in jobs {
                // A caller that no longer waits for its answer has let go of the child as well.
                let _ = job.reply.send(job.command.spawn());
            }
        });
        Mutex::new(sender)
    })
}

impl Process {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The signal that the kernel sends it when rqps ends.
    #[must_use]
    pub fn death(&self) -> Signal {
        self.death
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// When the kernel cannot say.
    pub fn ended(&self) -> io::Result<Option<ExitStatus>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait()
    }

    /// Sends a signal to the process itself, unless it has ended.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        // Held until the signal is sent: nobody waits for the child meanwhile, and its id stays its own.
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        kill(Pid::from_raw(self.pid), signal).map_err(Into::into)
    }

    /// Its descendants with their start times; none once it has ended, as its id may be somebody else's then.
    pub(crate) fn descendants(&self) -> Vec<StartedProcess> {
        // Held meanwhile, as above.
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(child.try_wait(), Ok(None)) { descendants(self.pid) } else { Vec::new() }
    }

    /// Waits for its end, at most `limit`.
    ///
    /// # Errors
    /// When the kernel cannot say.
    pub fn wait(&self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                return Ok(Some(status));
            }
            if start.elapsed() >= limit {
                return Ok(None);
            }
            pause(Duration::from_millis(10));
        }
    }

    /// Kills it and all its descendants, stopped ones too, and reaps it.
    ///
    /// A process whose death signal is not SIGKILL (PostgreSQL's postmaster) gets that one first
    /// and two seconds to release what outlives a process: shared memory segments.
    pub fn kill_tree(&self) {
        // Once reaped, its id may be somebody else's.
        if !matches!(self.ended(), Ok(None)) {
            return;
        }
        // Descendants first: they are found by their parent, and PostgreSQL's leave the group.
        let below = self.descendants();
        if self.death != Signal::SIGKILL {
            let _ = self.signal(self.death);
            let _ = self.signal(Signal::SIGCONT);
            let _ = self.wait(Duration::from_secs(2));
        }
        // Not waited for by anybody else until both are sent.
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(child.try_wait(), Ok(None)) {
            let _ = kill(Pid::from_raw(-self.pid), Signal::SIGKILL);
            let _ = kill(Pid::from_raw(self.pid), Signal::SIGKILL);
            let _ = child.wait();
        }
        drop(child);
        for process in below {
            pidfd::send(process, Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_tree();
    }
}

/// How a process ended, in words: `exit code 1`, `killed by signal 11 (SIGSEGV)`.
#[must_use]
pub fn describe_end(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(number)) => {
            let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
            format!("it was killed by signal {number} ({name})")
        }
        (None, None) => "it ended".to_owned(),
    }
}

/// What the kernel calls the time since the host was started; `None` where it does not say.
pub(crate) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> Identity {
        Identity { switch: false, ..Identity::for_servers().unwrap() }
    }

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        spawn(command, &me(), Signal::SIGKILL).unwrap()
    }

    #[test]
    fn tells_how_a_process_ended() {
        let status = shell("exit 3").wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(describe_end(status), "it ended with exit code 3");
        let status = shell("kill -SEGV $$").wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(describe_end(status), "it was killed by signal 11 (SIGSEGV)");
    }

    #[test]
    fn a_dropped_process_takes_its_descendants_with_it_even_in_other_sessions() {
        let process = shell("setsid sleep 600 & sleep 601 & wait");
        let deadline = Instant::now() + Duration::from_secs(60);
        while descendants(process.pid()).len() < 2 {
            assert!(Instant::now() < deadline, "the shell did not start its children");
            pause(Duration::from_millis(5));
        }
        let all = tree(process.pid());
        assert_eq!(all.len(), 3);
        drop(process);
        while all.iter().any(|pid| {
            fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
        }) {
            assert!(Instant::now() < deadline, "something of {all:?} is still there");
            pause(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = spawn(Command::new("/no/such/program"), &me(), Signal::SIGKILL).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
