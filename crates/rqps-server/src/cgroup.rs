//! Control groups of our own: made below the one that rqps is in, with limits, and removed.
//!
//! Version 2 (one hierarchy, cgroup v2 of the kernel's documentation, "cgroup-v2.rst") and version 1
//! (one per controller, "cgroup-v1/memory.rst" and "cpusets.rst") are both used as the host has them;
//! on hybrid hosts memory is in the one that has the memory controller. Nothing that limits rqps
//! itself is left: the search for a place ends at the first group above it that has a limit.

mod place;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rqps_model::variant::CpuSet;
use rqps_sample::cgroup_text;

use crate::watch::pause;
use crate::{pidfd, process};
use place::Leaf;

/// Longest time that killed processes may take to leave a group.
const EMPTY_WITHIN: Duration = Duration::from_secs(10);

/// What a group limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    /// Memory with the page cache.
    Memory,
    /// The CPUs that processes run on.
    Cpuset,
}

impl Controller {
    /// The kernel's name for it.
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpuset => "cpuset",
        }
    }
}

/// The two interfaces to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interface {
    /// One hierarchy per controller.
    V1,
    /// One hierarchy.
    V2,
}

/// A group that this process made. Removed, and whatever still runs in it killed, when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    dir: PathBuf,
    interface: Interface,
    /// What had to be done to rqps's own group, undone after the removal.
    _made_room: Option<Leaf>,
}

impl Group {
    /// Makes a group with a controller; `tag` tells it from others of this process.
    ///
    /// The error says for each place that was tried why it could not be.
    pub(crate) fn create(controller: Controller, tag: &str) -> Result<Self, String> {
        let place = place::find(controller)?;
        sweep(&place.dir);
        let pid = std::process::id().cast_signed();
        let started = process::started(pid).unwrap_or(0);
        let dir = place.dir.join(format!("{PREFIX}{pid}.{started}.{tag}"));
        match fs::create_dir(&dir) {
            // One of ours that could not be removed is as good as new once it is empty.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            other => other.map_err(|e| format!("{}: {e}", dir.display()))?,
        }
        let group = Self { dir, interface: place.interface, _made_room: place.made_room };
        let kind = fs::read_to_string(group.dir.join("cgroup.type")).unwrap_or_default();
        if !["", "domain"].contains(&kind.trim()) {
            return Err(format!("{} accepts no processes ({})", group.dir.display(), kind.trim()));
        }
        if group.interface == Interface::V1 && group.dir.join("cpuset.cpus").exists() {
            // Empty in a new group, and nothing may enter before they are set.
            for file in ["cpuset.cpus", "cpuset.mems"] {
                let above = place.dir.join(file);
                let text =
                    fs::read_to_string(&above).map_err(|e| format!("{}: {e}", above.display()))?;
                group.write(file, text.trim())?;
            }
        }
        Ok(group)
    }

    /// A second controller of the same group, where a process cannot be in a second one: version 2.
    pub(crate) fn add(&self, controller: Controller) -> Result<(), String> {
        self.dir.parent().map_or(Ok(()), |above| place::hand_on(above, controller))
    }

    /// Whether a group for the controller would be in the very hierarchy that this one is in.
    pub(crate) fn shares(&self, controller: Controller) -> bool {
        match self.interface {
            Interface::V2 => true,
            Interface::V1 => self.dir.join(format!("{}.cpus", controller.name())).exists(),
        }
    }

    /// Bounds its memory, page cache included; swap is none.
    pub(crate) fn limit_memory(&self, bytes: u64) -> Result<(), String> {
        let text = bytes.to_string();
        match self.interface {
            Interface::V2 => {
                self.write("memory.max", &text)?;
                // Absent without swap in the kernel.
                self.write_if_there("memory.swap.max", "0")?;
                // A server that lost one process must not go on as if nothing had been.
                self.write_if_there("memory.oom.group", "1")?;
            }
            Interface::V1 => {
                self.write("memory.limit_in_bytes", &text)?;
                // Memory and swap together; absent without swap accounting.
                self.write_if_there("memory.memsw.limit_in_bytes", &text)?;
            }
        }
        match self.memory_limit() {
            // The kernel rounds down to whole pages.
            Some(there) if there <= bytes && bytes - there < 1 << 16 => Ok(()),
            there => Err(format!("{}: asked for {bytes} bytes, got {there:?}", self.dir.display())),
        }
    }

    /// The limit in force.
    pub(crate) fn memory_limit(&self) -> Option<u64> {
        let file = match self.interface {
            Interface::V2 => "memory.max",
            Interface::V1 => "memory.limit_in_bytes",
        };
        fs::read_to_string(self.dir.join(file)).ok()?.trim().parse().ok()
    }

    /// The CPUs that its processes run on.
    pub(crate) fn limit_cpus(&self, cpus: &CpuSet) -> Result<(), String> {
        self.write("cpuset.cpus", &cpus.to_string())
    }

    /// How many of its processes the kernel killed because the memory did not suffice.
    pub(crate) fn oom_kills(&self) -> u64 {
        let file = match self.interface {
            Interface::V2 => "memory.events",
            Interface::V1 => "memory.oom_control",
        };
        let text = fs::read_to_string(self.dir.join(file)).unwrap_or_default();
        cgroup_text::value_of(&text, "oom_kill").unwrap_or(0)
    }

    /// The file through which a process enters, open for writing.
    pub(crate) fn door(&self) -> Result<File, String> {
        let path = self.dir.join("cgroup.procs");
        let file = OpenOptions::new().write(true).open(&path);
        file.map_err(|e| format!("{}: {e}", path.display()))
    }

    /// The processes in it.
    pub(crate) fn members(&self) -> Vec<i32> {
        let text = fs::read_to_string(self.dir.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// The name of the interface and its file for messages: `cgroup v2 memory.max`.
    pub(crate) fn describe(&self, controller: Controller) -> &'static str {
        match (self.interface, controller) {
            (Interface::V2, Controller::Memory) => "cgroup v2, memory.max",
            (Interface::V2, Controller::Cpuset) => "cgroup v2, cpuset.cpus",
            (Interface::V1, Controller::Memory) => "cgroup v1, memory.limit_in_bytes",
            (Interface::V1, Controller::Cpuset) => "cgroup v1, cpuset.cpus",
        }
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.dir.join(file);
        fs::write(&path, text).map_err(|e| format!("write {text} to {}: {e}", path.display()))
    }

    fn write_if_there(&self, file: &str, text: &str) -> Result<(), String> {
        if self.dir.join(file).exists() { self.write(file, text) } else { Ok(()) }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let start = Instant::now();
        // A killed process is in its group until the kernel has taken it apart.
        while fs::remove_dir(&self.dir).is_err()
            && self.dir.exists()
            && start.elapsed() < EMPTY_WITHIN
        {
            // Only what came from the server's process can be in it.
            for pid in self.members() {
                // Looked for again once its start is known: an id that is somebody else's by then is not in it.
                if let Some(started) = process::started(pid)
                    && self.members().contains(&pid)
                {
                    pidfd::send(process::StartedProcess { pid, started }, Signal::SIGKILL);
                }
            }
            pause(Duration::from_millis(5));
        }
    }
}

/// Beginning of our groups' names: `rqps.PID.START.TAG`, by the process that made them.
const PREFIX: &str = "rqps.";

/// Removes groups of rqps processes that are gone. A group that holds processes stays: the kernel
/// refuses.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_orphan) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Whether it is the name of a group whose maker has ended.
fn is_orphan(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let mut parts = rest.splitn(3, '.');
    let mut number = || parts.next()?.parse::<u64>().ok();
    match (number(), number()) {
        (Some(pid), Some(start)) => {
            let pid = i32::try_from(pid).unwrap_or(0);
            process::started(pid) != Some(start)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_those_that_are_gone_are_known() {
        let me = std::process::id();
        let start = process::started(me.cast_signed()).unwrap();
        assert!(!is_orphan(&format!("rqps.{me}.{start}.x")));
        // The same id, but another process.
        assert!(is_orphan(&format!("rqps.{me}.{}.x", start - 1)));
        // Beyond any process id: proc(5), pid_max.
        assert!(is_orphan("rqps.5000000.1.x"));
        for other in ["rqps", "rqps.", "rqps.x.1.a", "rqps.5000000", "user.slice", "rqps.1.x.a"] {
            assert!(!is_orphan(other), "{other}");
        }
    }
}
