//! How each fault is made to happen.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::fault::Fault;
use super::hosted::{self, Hosted, Rqps, pause};
use super::table::MISSED;
use super::thief::Thief;

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
    /// A frozen control group.
    Frozen(PathBuf),
}

impl Fault {
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
                while n_killed(&group) <= n_before {
                    // The group goes with its server, which may have come to its end before memory was full.
                    if since.elapsed() > HOG_WITHIN || !group.exists() {
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
            Self::SocketGone => {
                let Some(pid) = a_server(hosted, rqps, drawn)? else { return Ok(Done::Missed) };
                let Some(socket) = hosted::socket_of(pid) else { return Ok(Done::Missed) };
                fs::remove_file(&socket).context("remove the server's socket")?;
                Ok(Done::Hit(format!("removed the socket of {pid}")))
            }
            Self::ServerHang => {
                let Some(pid) = a_server(hosted, rqps, drawn)? else { return Ok(Done::Missed) };
                freeze(pid)
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
            Self::Frozen(_) | Self::Hit(_) | Self::Hog(_) | Self::Filler(_) | Self::ReadOnly(_) => {
                false
            }
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
            Self::Frozen(_) => "frozen".to_owned(),
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
            Self::Frozen(group) => {
                let _ = fs::write(group.join("cgroup.freeze"), "0");
                let _ = fs::remove_dir(group);
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

/// Where groups of the second version of control groups are made.
pub(super) fn hierarchy() -> Option<&'static Path> {
    let places = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
    places.into_iter().find(|place| place.join("cgroup.controllers").exists())
}

/// Lets a server hang with all its processes: they can be killed, and do nothing else.
fn freeze(pid: i32) -> Result<Done> {
    let place = hierarchy().context("no control groups of the second version")?;
    let group = place.join(format!("rqps-faults-{pid}"));
    fs::create_dir(&group).with_context(|| format!("make {}", group.display()))?;
    let done = Done::Frozen(group.clone());
    for pid in hosted::family(pid) {
        // One that has ended in the meantime is no matter.
        let _ = fs::write(group.join("cgroup.procs"), pid.to_string());
    }
    fs::write(group.join("cgroup.freeze"), "1").context("freeze the server")?;
    Ok(done)
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
