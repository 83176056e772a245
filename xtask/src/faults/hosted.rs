//! A trial's directory, the rqps that runs in it, and the processes that belong to it.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_model::Run;
use rqps_store::{RunRef, Store};

/// Longest time for a run of a trial: far beyond that of an undisturbed one, and beyond the wait for a
/// server that hangs.
const DEADLINE: Duration = Duration::from_secs(900);

/// The variable by which processes that change their directory are known.
const VARIABLE: &str = "RQPS_FAULTS_TRIAL";

/// A trial's directory.
#[derive(Debug, Clone)]
pub(super) struct Hosted {
    dir: PathBuf,
}

/// A command of rqps in it.
#[derive(Debug)]
pub(super) struct Rqps {
    child: Child,
    said: PathBuf,
    status: Option<ExitStatus>,
}

impl Hosted {
    /// A new, empty directory.
    pub(super) fn new(dir: &Path) -> Result<Self> {
        if dir.exists() {
            fs::remove_dir_all(dir).with_context(|| format!("remove {}", dir.display()))?;
        }
        fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
        Ok(Self { dir: dir.canonicalize().context("find the directory")? })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + DEADLINE
    }

    /// The program of the servers, where the trial has its own.
    pub(super) fn program(&self) -> Result<PathBuf> {
        for name in ["mysqld", "mariadbd", "postgres"] {
            let path = self.dir.join("server/bin").join(name);
            if path.is_file() && !path.is_symlink() {
                return Ok(path);
            }
        }
        bail!("no server program in {}", self.dir.join("server/bin").display())
    }

    /// Starts a command; what it says goes to a file.
    pub(super) fn spawn(&self, rqps: &Path, args: &[&str], said: &str) -> Result<Rqps> {
        let said = self.path(said);
        let file = fs::File::create(&said).context("make a file for what rqps says")?;
        let child = Command::new(rqps)
            .args(args)
            .current_dir(&self.dir)
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env(VARIABLE, &self.dir)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .context("run rqps")?;
        Ok(Rqps { child, said, status: None })
    }

    /// What the store holds of the latest run; nothing when there is none yet.
    pub(super) fn stored(&self) -> Result<Option<Run>> {
        match Store::open_existing(&self.path("rqps-results")) {
            Err(rqps_store::Error::NoResults { .. }) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(store) => {
                if store.list_runs()?.is_empty() {
                    return Ok(None);
                }
                Ok(Some(store.select_run(&RunRef::Latest)?))
            }
        }
    }

    /// All processes that belong to the trial: by command line, directory or environment.
    pub(super) fn processes(&self) -> Vec<i32> {
        let dir = self.dir.to_string_lossy().into_owned();
        let is_ours = |pid: &i32| {
            let base = PathBuf::from(format!("/proc/{pid}"));
            // One that has ended and waits to be reaped has no command line.
            let cmdline = fs::read(base.join("cmdline")).unwrap_or_default();
            let environ = fs::read(base.join("environ")).unwrap_or_default();
            let cwd = fs::read_link(base.join("cwd")).unwrap_or_default();
            cwd.starts_with(&self.dir)
                || [cmdline, environ].iter().any(|b| String::from_utf8_lossy(b).contains(&dir))
        };
        let me = std::process::id().cast_signed();
        all_pids().into_iter().filter(|pid| *pid != me && is_ours(pid)).collect()
    }

    /// The first processes of the servers that an rqps has started.
    pub(super) fn servers(&self, rqps: i32) -> Vec<i32> {
        let data = self.path("rqps-results/data").to_string_lossy().into_owned();
        let is_server = |pid: &i32| {
            let text = cmdline(*pid);
            parent(*pid) == Some(rqps) && text.contains(&data)
        };
        all_pids().into_iter().filter(is_server).collect()
    }

    /// The ports that servers of the trial were told.
    pub(super) fn ports(&self) -> Vec<u16> {
        let data = self.path("rqps-results/data").to_string_lossy().into_owned();
        let mut ports = Vec::new();
        for text in all_pids().into_iter().map(cmdline).filter(|text| text.contains(&data)) {
            let words: Vec<&str> = text.split('\0').collect();
            for (idx, word) in words.iter().enumerate() {
                let value = match word.strip_prefix("--port=") {
                    Some(value) => Some(value),
                    None if *word == "-p" => words.get(idx + 1).copied(),
                    None => None,
                };
                ports.extend(value.and_then(|value| value.parse::<u16>().ok()));
            }
        }
        ports
    }
}

impl Rqps {
    pub(super) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        kill(Pid::from_raw(self.pid()), signal).context("signal rqps")
    }

    /// How it ended, when it has.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.child.try_wait().context("wait for rqps")?;
        }
        Ok(self.status)
    }

    /// Waits for its end; kills it at the deadline, and gives nothing then.
    pub(super) fn wait(&mut self, deadline: Instant) -> Result<Option<i32>> {
        loop {
            if let Some(status) = self.ended()? {
                let signal = || 128 + status.signal().unwrap_or(0);
                return Ok(Some(status.code().unwrap_or_else(signal)));
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                self.status = Some(self.child.wait().context("wait for rqps")?);
                return Ok(None);
            }
            pause();
        }
    }

    /// What it said so far.
    pub(super) fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.said).unwrap_or_default()).into_owned()
    }
}

impl Drop for Rqps {
    fn drop(&mut self) {
        // Fails where it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn pause() {
    std::thread::park_timeout(Duration::from_millis(5));
}

fn all_pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn cmdline(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parent(pid: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// A process and all that descend from it.
pub(super) fn family(pid: i32) -> Vec<i32> {
    let mut all = vec![pid];
    let mut done = 0;
    while let Some(&one) = all.get(done) {
        all.extend(all_pids().into_iter().filter(|pid| parent(*pid) == Some(one)));
        done += 1;
    }
    all
}

/// The socket with a name on which a process listens.
pub(super) fn socket_of(pid: i32) -> Option<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let inodes: Vec<String> = entries
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    // Num RefCount Protocol Flags Type St Inode Path; clients' ends at the server have its name as well.
    let sockets = fs::read_to_string("/proc/net/unix").ok()?;
    sockets.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, "00010000", _, _, inode, path] = words[..] else { return None };
        let is_of = path.starts_with('/') && inodes.iter().any(|one| one == inode);
        is_of.then(|| PathBuf::from(path))
    })
}
