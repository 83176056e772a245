//! The faults, and how each is made to happen.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};

use super::hosted::{Hosted, Rqps, pause};
use super::table::MISSED;

/// What happens to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The user interrupts it.
    Interrupt,
    /// rqps is killed.
    Kill,
    /// A server is killed.
    ServerKill,
    /// A server is stopped and never goes on.
    ServerStop,
    /// A server's memory limit is hit.
    MemoryLimit,
    /// The disk of results and data is full.
    DiskFull,
    /// It is interrupted, and the store cannot be written when it is to go on.
    StoreReadOnly,
    /// Somebody takes the port of every server in the moment in which it starts.
    PortTaken,
    /// The servers' program is replaced by one that ends at once.
    BadProgram,
}

/// What was done to a run; undone when it is dropped.
pub(super) enum Done {
    /// Nothing: what was to be hit was not there.
    Missed,
    /// Something that needs no undoing.
    Hit(String),
    /// A process that takes all memory of a server's control group.
    Hog(Child),
    /// A file that fills the disk.
    Filler(PathBuf),
    /// A file on which a read-only view of itself is mounted.
    ReadOnly(PathBuf),
    /// Whoever takes ports.
    Ports(Thief),
    /// A program, and where the right one is put aside.
    Program([PathBuf; 2]),
}

impl Fault {
    pub(super) const ALL: [Self; 9] = [
        Self::Interrupt,
        Self::Kill,
        Self::ServerKill,
        Self::ServerStop,
        Self::MemoryLimit,
        Self::DiskFull,
        Self::StoreReadOnly,
        Self::PortTaken,
        Self::BadProgram,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "sigint",
            Self::Kill => "kill",
            Self::ServerKill => "server-kill",
            Self::ServerStop => "server-stop",
            Self::MemoryLimit => "memory-limit",
            Self::DiskFull => "disk-full",
            Self::StoreReadOnly => "store-read-only",
            Self::PortTaken => "port-taken",
            Self::BadProgram => "bad-program",
        }
    }

    /// What the table calls it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT to rqps",
            Self::Kill => "SIGKILL to rqps",
            Self::ServerKill => "SIGKILL to a server",
            Self::ServerStop => "SIGSTOP to a server",
            Self::MemoryLimit => "memory limit hit",
            Self::DiskFull => "disk full",
            Self::StoreReadOnly => "store read-only",
            Self::PortTaken => "port taken",
            Self::BadProgram => "program replaced",
        }
    }

    /// Whether it is a server's, after which the run goes on by itself.
    pub(super) fn is_of_server(self) -> bool {
        matches!(self, Self::ServerKill | Self::ServerStop | Self::MemoryLimit | Self::PortTaken)
    }

    /// Whether the servers are to have a memory limit.
    pub(super) fn needs_memory_limit(self) -> bool {
        self == Self::MemoryLimit
    }

    /// The words by which a report tells it.
    pub(super) fn told_by(self) -> Option<&'static str> {
        match self {
            Self::ServerKill => Some("SIGKILL"),
            // Whatever signal it is ended by then.
            Self::ServerStop => Some("rqps did not send"),
            Self::MemoryLimit => Some("for lack of memory"),
            _ => None,
        }
    }

    /// Whether the trial's directory is to be a small disk.
    pub(super) fn needs_small_disk(self) -> bool {
        self == Self::DiskFull
    }

    /// Whether the servers are to be started from a directory of their own.
    pub(super) fn needs_own_program(self) -> bool {
        self == Self::BadProgram
    }

    /// The share of a run's length in which it has something to meet: servers are started early.
    pub(super) fn span(self) -> f64 {
        if matches!(self, Self::PortTaken | Self::BadProgram) { 0.3 } else { 1.0 }
    }

    /// Why it cannot be made to happen here.
    pub(super) fn cannot(self) -> Option<&'static str> {
        let needs_root = matches!(self, Self::DiskFull | Self::StoreReadOnly | Self::MemoryLimit);
        (needs_root && !geteuid().is_root())
            .then_some("it takes the right to mount, or to make control groups, which root has")
    }

    /// The exit codes that rqps may end with when this happens; a signal counts as 128 and its number. One
    /// that strikes when everything is done changes nothing.
    pub(super) fn codes(self) -> &'static [i32] {
        match self {
            Self::Interrupt | Self::StoreReadOnly => &[130, 0],
            Self::Kill => &[128 + 9],
            Self::ServerKill | Self::ServerStop | Self::MemoryLimit | Self::DiskFull => &[2, 0],
            Self::PortTaken => &[0, 2],
            Self::BadProgram => &[2, 0],
        }
    }

    /// Does it. `drawn` picks one of several servers.
    pub(super) fn strike(self, hosted: &Hosted, rqps: &mut Rqps, drawn: u64) -> Result<Done> {
        match self {
            Self::Interrupt | Self::Kill => {
                let signal = if self == Self::Kill { Signal::SIGKILL } else { Signal::SIGINT };
                rqps.signal(signal)?;
                Ok(Done::Hit(signal.as_str().to_owned()))
            }
            Self::ServerKill | Self::ServerStop => {
                let signal =
                    if self == Self::ServerKill { Signal::SIGKILL } else { Signal::SIGSTOP };
                let Some(pid) = a_server(hosted, rqps, drawn)? else { return Ok(Done::Missed) };
                kill(Pid::from_raw(pid), signal).context("signal the server")?;
                Ok(Done::Hit(format!("{signal} to {pid}")))
            }
            Self::MemoryLimit => {
                let Some(pid) = a_server(hosted, rqps, drawn)? else { return Ok(Done::Missed) };
                let Some(group) = memory_group(pid) else { return Ok(Done::Missed) };
                let n_before = n_killed(&group);
                let done = Done::Hog(hog(&group)?);
                let since = Instant::now();
                // The group goes with its server.
                while group.exists() && n_killed(&group) <= n_before {
                    if since.elapsed() > HOG_WITHIN {
                        return Ok(Done::Missed);
                    }
                    pause();
                }
                Ok(done)
            }
            Self::DiskFull => {
                let path = hosted.path("filler");
                let mut file = fs::File::create(&path).context("fill the disk")?;
                while file.write_all(&[1; 1 << 16]).is_ok() {}
                while file.write_all(&[1; 512]).is_ok() {}
                Ok(Done::Filler(path))
            }
            Self::StoreReadOnly => {
                rqps.signal(Signal::SIGINT)?;
                rqps.wait(hosted.deadline())?;
                let store = hosted.path("rqps-results/rqps.db");
                if !store.exists() {
                    return Ok(Done::Missed);
                }
                mount(&["--bind"], &[&store, &store])?;
                mount(&["-o", "remount,bind,ro"], &[&store])?;
                Ok(Done::ReadOnly(store))
            }
            Self::PortTaken => Ok(Done::Ports(Thief::start(hosted)?)),
            Self::BadProgram => {
                let program = hosted.program()?;
                let aside = program.with_extension("aside");
                fs::rename(&program, &aside).context("put the program aside")?;
                fs::write(&program, "#!/bin/sh\nexit 3\n").context("replace the program")?;
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
                Ok(Done::Program([program, aside]))
            }
        }
    }
}

impl Done {
    /// Whether nothing was hit, as far as can be said when rqps has ended with `code`.
    pub(super) fn is_missed(&self, code: Option<i32>) -> bool {
        match self {
            Self::Missed => true,
            Self::Ports(thief) => thief.n_taken() == 0,
            // No server was started any more.
            Self::Program(_) => code == Some(0),
            Self::Hit(_) | Self::Hog(_) | Self::Filler(_) | Self::ReadOnly(_) => false,
        }
    }

    /// What was done, in a few words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Missed => MISSED.to_owned(),
            Self::Hit(words) => words.clone(),
            Self::Hog(_) => "all memory taken".to_owned(),
            Self::Filler(_) => "no byte free".to_owned(),
            Self::ReadOnly(_) => "read-only".to_owned(),
            Self::Ports(thief) => format!("{} ports taken", thief.n_taken()),
            Self::Program(_) => "exits with 3".to_owned(),
        }
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        match self {
            Self::Missed | Self::Hit(_) | Self::Ports(_) => {}
            Self::Hog(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Self::Filler(path) => {
                let _ = fs::remove_file(path);
            }
            Self::ReadOnly(path) => {
                let _ = Command::new("umount").arg(path).status();
            }
            Self::Program([program, aside]) => {
                let _ = fs::rename(aside, program);
            }
        }
    }
}

/// Mounts something.
pub(super) fn mount(options: &[&str], what: &[&Path]) -> Result<()> {
    let status = Command::new("mount").args(options).args(what).status().context("run mount")?;
    ensure!(status.success(), "mount {options:?} {what:?} failed");
    Ok(())
}

/// The memory control group of a process; none once it is gone, or where it has none of its own.
fn memory_group(pid: i32) -> Option<PathBuf> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let of = |line: &str| -> Option<PathBuf> {
        let mut words = line.splitn(3, ':');
        let (number, controllers, path) = (words.next()?, words.next()?, words.next()?);
        let path = path.trim_start_matches('/');
        let mounts = match (number, controllers) {
            ("0", "") => ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
            (_, "memory") => ["/sys/fs/cgroup/memory"; 2],
            _ => return None,
        };
        let is_limited = |dir: &PathBuf| {
            ["memory.max", "memory.limit_in_bytes"].iter().any(|file| dir.join(file).exists())
        };
        mounts.iter().map(|mount| Path::new(mount).join(path)).find(is_limited)
    };
    text.lines().find_map(of).filter(|dir| dir.to_string_lossy().contains("rqps"))
}

/// How many processes of a group the kernel has killed for lack of memory.
fn n_killed(group: &Path) -> u64 {
    let files = ["memory.events", "memory.oom_control"];
    let texts = files.iter().filter_map(|file| fs::read_to_string(group.join(file)).ok());
    let lines: Vec<String> =
        texts.flat_map(|t| t.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let n = lines.iter().find_map(|line| line.strip_prefix("oom_kill "));
    n.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

/// How long it may take to fill a server's memory.
const HOG_WITHIN: Duration = Duration::from_secs(60);

/// Starts a process that takes all memory of a group and is the last in it to be killed for that.
fn hog(group: &Path) -> Result<Child> {
    let procs = group.join("cgroup.procs");
    for pid in fs::read_to_string(&procs).unwrap_or_default().lines() {
        // Sparing the other takes a right that containers do not give. One that has ended is no matter.
        let _ = fs::write(format!("/proc/{pid}/oom_score_adj"), "1000");
    }
    let mut command = Command::new("sh");
    command.args(["-c", "echo $$ > \"$0\" && exec tail /dev/zero"]).arg(procs);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.spawn().context("start what takes memory")
}

/// A server of the run, as soon as there is one; none when rqps ends before.
fn a_server(hosted: &Hosted, rqps: &mut Rqps, drawn: u64) -> Result<Option<i32>> {
    loop {
        let servers = hosted.servers(rqps.pid());
        if let Some(n) = (servers.len() as u64).checked_sub(1) {
            let at = usize::try_from(drawn % (n + 1)).unwrap_or(0);
            return Ok(servers.get(at).copied());
        }
        if rqps.ended()?.is_some() {
            return Ok(None);
        }
        pause();
    }
}

/// Takes the port of the next servers that start, faster than they can.
pub(super) struct Thief {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<usize>>,
    taken: Arc<AtomicUsize>,
}

impl Thief {
    /// How many ports it takes: fewer than rqps draws for one server.
    const AT_MOST: usize = 3;

    fn start(hosted: &Hosted) -> Result<Self> {
        let (stop, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (asked, n_taken) = (Arc::clone(&stop), Arc::clone(&taken));
        let hosted = hosted.clone();
        let mut seen: BTreeSet<u16> = hosted.ports().into_iter().collect();
        let thread = std::thread::Builder::new().name("thief".to_owned()).spawn(move || {
            let mut held = Vec::new();
            let since = Instant::now();
            while !asked.load(Ordering::Relaxed) && since.elapsed() < Duration::from_secs(600) {
                for port in hosted.ports() {
                    if seen.insert(port)
                        && held.len() < Self::AT_MOST
                        && let Ok(listener) = TcpListener::bind(("127.0.0.1", port))
                    {
                        held.push(listener);
                        n_taken.store(held.len(), Ordering::Relaxed);
                    }
                }
                std::thread::park_timeout(Duration::from_millis(1));
            }
            held.len()
        })?;
        Ok(Self { stop, thread: Some(thread), taken })
    }

    fn n_taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Drop for Thief {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
