//! Limits of a server's process: carried out before it starts, checked once it runs.
//!
//! Memory is bounded by a control group or not at all: no other limit of Linux counts what a server
//! with many threads or processes really uses, page cache included. CPUs are bounded by affinity and,
//! where there is one, by a control group as well, which the server itself cannot leave.

use std::fs;
use std::time::Duration;

use rqps_model::Limits;
use rqps_model::variant::{CpuSet, written_bytes};

use crate::cgroup::{Controller, Group};
use crate::process::{self, Cage};
use crate::watch::pause;
use crate::{Error, threads};

/// The limit that is tried where none is asked for, bytes; nothing is put under it.
const PROBED_BYTES: u64 = 1 << 30;

/// What holds a server within its limits, until it is dropped.
#[derive(Debug)]
pub(crate) struct Confinement {
    limits: Limits,
    memory: Option<Group>,
    /// Of its own where the memory's group cannot do both.
    cpuset: Option<Group>,
    /// Whether CPUs are bounded by a group, too.
    cpus_by: Option<&'static str>,
}

impl Confinement {
    /// Makes what the limits need; `tag` tells it from others of this process.
    pub(crate) fn new(limits: &Limits, tag: &str) -> Result<Self, Error> {
        let mut this = Self { limits: limits.clone(), memory: None, cpuset: None, cpus_by: None };
        if let Some(bytes) = limits.memory_bytes {
            let group = Group::create(Controller::Memory, tag)
                .and_then(|group| group.limit_memory(bytes).map(|()| group));
            this.memory = Some(group.map_err(|detail| no_memory_limit(bytes, detail))?);
        }
        if let Some(cpus) = &limits.cpus {
            this.limit_cpus(cpus, tag);
        }
        Ok(this)
    }

    /// By a group as well, where one can be had.
    fn limit_cpus(&mut self, cpus: &CpuSet, tag: &str) {
        let controller = Controller::Cpuset;
        if let Some(group) = self.memory.as_ref().filter(|group| group.shares(controller)) {
            let done = group.add(controller).and_then(|()| group.limit_cpus(cpus));
            self.cpus_by = done.ok().map(|()| group.describe(controller));
        } else if let Ok(group) = Group::create(controller, tag)
            && group.limit_cpus(cpus).is_ok()
        {
            self.cpus_by = Some(group.describe(controller));
            self.cpuset = Some(group);
        }
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        self.memory.iter().chain(&self.cpuset)
    }

    /// What the process enters before its program starts.
    pub(crate) fn cage(&self) -> Result<Cage, Error> {
        let mut cage = Cage::default();
        for group in self.groups() {
            let door = group.door().map_err(|detail| Error::Limit {
                what: "a control group".to_owned(),
                detail,
                remedy: "run the command again".to_owned(),
            })?;
            cage.procs.push(door);
        }
        if let Some(cpus) = &self.limits.cpus {
            cage.cpus = Some(threads::set_of(cpus.numbers())?);
        }
        Ok(cage)
    }

    /// Checks that all of these processes are within the limits.
    pub(crate) fn check(&self, server: &str, pids: &[i32]) -> Result<(), Error> {
        let outside = |what: String, detail: String| Error::Limit {
            what,
            detail: format!("it does not hold for {server}: {detail}"),
            remedy: "this is a fault of rqps or of the kernel: report it".to_owned(),
        };
        for group in self.groups() {
            if let Some(pid) = stranger(pids, || group.members()) {
                let detail = format!("process {pid} is not in the control group");
                return Err(outside("the limit".to_owned(), detail));
            }
        }
        if let (Some(group), Some(bytes)) = (&self.memory, self.limits.memory_bytes)
            && group.memory_limit().is_none_or(|there| there > bytes)
        {
            let detail = format!("the kernel says {:?}", group.memory_limit());
            return Err(outside(format!("memory = {}", written_bytes(bytes)), detail));
        }
        if let Some(bytes) = self.limits.memory_bytes
            && let Some((pid, kb)) = huge_pages(pids)
        {
            return Err(Error::Limit {
                what: format!("memory = {}", written_bytes(bytes)),
                detail: format!(
                    "{kb} KB of process {pid} of {server} are huge pages, which do not count against \
                     the limit"
                ),
                remedy:
                    "turn them off in `options` (large_pages = 0, huge_pages = \"off\"), or leave \
                         `memory` out"
                        .to_owned(),
            });
        }
        let Some(cpus) = &self.limits.cpus else { return Ok(()) };
        for pid in pids {
            for tid in threads::tasks(*pid) {
                let Some(allowed) = allowed_cpus(*pid, tid) else { continue };
                if !allowed.numbers().iter().all(|cpu| cpus.numbers().contains(cpu)) {
                    let detail = format!("thread {tid} may run on CPUs {allowed}");
                    return Err(outside(format!("cpus = \"{cpus}\""), detail));
                }
            }
        }
        Ok(())
    }

    /// What became of the limits, for the record: name and value.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        if let Some(group) = &self.memory {
            let bytes = group.memory_limit().unwrap_or(0);
            let by = group.describe(Controller::Memory);
            facts.push(("memory_limit", format!("{} ({by})", written_bytes(bytes))));
        }
        if let Some(cpus) = &self.limits.cpus {
            let by = self.cpus_by.map_or(String::new(), |by| format!(" and {by}"));
            facts.push(("cpus", format!("{cpus} (affinity{by})")));
        }
        facts
    }

    /// Why the server may have died, when it was the limit: a sentence with the remedy.
    pub(crate) fn told_by_oom(&self) -> Option<String> {
        let n_kills = self.memory.as_ref()?.oom_kills();
        let bytes = self.limits.memory_bytes?;
        (n_kills > 0).then(|| {
            let what = match n_kills {
                1 => "a process".to_owned(),
                n => format!("{n} processes"),
            };
            format!(
                "the kernel killed {what} of the server for lack of memory (memory = \"{}\"); write \
                 more memory, or a smaller cache in options",
                written_bytes(bytes)
            )
        })
    }
}

/// Checks that memory can be limited on this host, before anything is started.
///
/// # Errors
/// [`Error::Limit`] with the reasons and the remedy.
pub fn probe(limits: &Limits) -> Result<(), Error> {
    Confinement::new(limits, "probe").map(drop)
}

/// How memory is limited on this host, by a trial: `cgroup v2, memory.max`.
///
/// # Errors
/// [`Error::Limit`] with the reasons and the remedy.
pub fn probe_memory() -> Result<&'static str, Error> {
    let limits = Limits { memory_bytes: Some(PROBED_BYTES), cpus: None };
    let confinement = Confinement::new(&limits, "probe")?;
    let group = confinement.memory.as_ref();
    Ok(group.map_or("", |group| group.describe(Controller::Memory)))
}

fn no_memory_limit(bytes: u64, detail: String) -> Error {
    Error::Limit {
        what: format!("memory = \"{}\"", written_bytes(bytes)),
        detail: format!("no control group is available to rqps ({detail})"),
        remedy: "run rqps as root, or with systemd as `systemd-run --user --scope -p Delegate=yes \
                 rqps ...`; in a container, mount /sys/fs/cgroup writable; or leave out memory"
            .to_owned(),
    }
}

/// One of the processes that is not among the group's members, and stays so: of those that begin or
/// end at this moment the kernel's lists tell different things (a dead one leaves its group before
/// its parent has reaped it, a new one is seen in /proc before it is in its group's list).
fn stranger(pids: &[i32], members: impl Fn() -> Vec<i32>) -> Option<i32> {
    let mut strangers = pids.to_vec();
    for _ in 0..5 {
        let members = members();
        strangers.retain(|pid| {
            let state = process::stat(*pid).map(|stat| stat.state);
            !members.contains(pid) && state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
        });
        if strangers.is_empty() {
            return None;
        }
        pause(Duration::from_millis(5));
    }
    strangers.first().copied()
}

/// A process that has huge pages, and how many KB of them (`HugetlbPages` of proc_pid_status(5)); `None` where the
/// kernel counts them as other memory, as it can be told to since 6.7 (`memory_hugetlb_accounting` of cgroup2).
fn huge_pages(pids: &[i32]) -> Option<(i32, u64)> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if mounts.contains("memory_hugetlb_accounting") {
        return None;
    }
    pids.iter().find_map(|&pid| {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let kb = text.lines().find_map(|line| line.strip_prefix("HugetlbPages:"))?;
        let kb: u64 = kb.trim().trim_end_matches("kB").trim().parse().ok()?;
        (kb > 0).then_some((pid, kb))
    })
}

/// `Cpus_allowed_list` of proc_pid_status(5); `None` when the thread has ended.
fn allowed_cpus(pid: i32, tid: i32) -> Option<CpuSet> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use nix::sys::signal::Signal;

    use super::*;
    use crate::Identity;

    fn limits(memory_bytes: Option<u64>, cpus: Option<&str>) -> Limits {
        Limits { memory_bytes, cpus: cpus.map(|text| text.parse().unwrap()) }
    }

    fn shell(confinement: &Confinement, script: &str) -> process::Process {
        let identity = Identity::for_servers().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir("/");
        let cage = confinement.cage().unwrap();
        process::spawn_in(cage, command, &identity, Signal::SIGKILL).unwrap()
    }

    fn usable_cpu() -> String {
        let me = std::process::id().cast_signed();
        allowed_cpus(me, me).unwrap().numbers()[0].to_string()
    }

    #[test]
    fn cpus_hold_the_process_and_its_children() {
        let cpu = usable_cpu();
        let confinement = Confinement::new(&limits(None, Some(&cpu)), "test-cpus").unwrap();
        let process = shell(&confinement, "sleep 600 & sleep 600 & wait");
        let start = std::time::Instant::now();
        while process::tree(process.pid()).len() < 3 {
            assert!(start.elapsed() < Duration::from_secs(60));
        }
        let pids = process::tree(process.pid());
        confinement.check("x", &pids).unwrap();
        assert!(confinement.facts()[0].1.starts_with(&format!("{cpu} (affinity")));
        // A process that was not put there is noticed, by its group or by its CPUs.
        let me = std::process::id().cast_signed();
        let alone = allowed_cpus(me, me).unwrap().numbers().len() == 1;
        if !alone || confinement.cpus_by.is_some() {
            let error = confinement.check("x", &[me]).unwrap_err().to_string();
            assert!(error.contains("it does not hold for x"), "{error}");
        }
    }

    #[test]
    fn a_dead_process_is_no_stranger_to_its_group() {
        let confinement = Confinement::new(&limits(None, None), "test-dead").unwrap();
        // The shell's child ends and stays a zombie, since sleep, which the shell becomes, never
        // waits for it.
        let process = shell(&confinement, "true & exec sleep 600");
        let zombie = |pid: &i32| process::stat(*pid).is_some_and(|stat| stat.state == 'Z');
        let start = std::time::Instant::now();
        let dead = loop {
            if let Some(pid) = process::tree(process.pid()).into_iter().find(zombie) {
                break pid;
            }
            assert!(start.elapsed() < Duration::from_secs(60));
        };
        assert_eq!(stranger(&[dead], Vec::new), None);
        assert_eq!(stranger(&[dead, process.pid()], Vec::new), Some(process.pid()));
        assert_eq!(stranger(&[dead, process.pid()], || vec![process.pid()]), None);
    }

    #[test]
    fn memory_holds_the_process_and_its_end_is_explained() {
        // Where no group can be had, that must be said; where one can, it must hold.
        let confinement = match Confinement::new(&limits(Some(64 << 20), None), "test-memory") {
            Ok(confinement) => confinement,
            Err(error) => {
                let text = error.to_string();
                eprintln!("memory cannot be limited here: {text}");
                assert!(text.contains("64M") && text.contains("or leave out memory"), "{text}");
                return;
            }
        };
        // tail keeps what it reads until a line ends, which never comes.
        let process =
            shell(&confinement, "head -c 300000000 /dev/zero | tail -n 1 >/dev/null 2>&1");
        let pids = process::tree(process.pid());
        confinement.check("x", &pids[..1]).unwrap();
        process.wait(Duration::from_secs(60)).unwrap().unwrap();
        let told = confinement.told_by_oom().unwrap();
        assert!(told.contains("(memory = \"64M\"); write more memory"), "{told}");
        assert!(confinement.facts()[0].1.starts_with("64M (cgroup v"), "{told}");
        drop(process);
        // Nothing is left of it, and it can be made again.
        drop(confinement);
        probe(&limits(Some(64 << 20), Some(&usable_cpu()))).unwrap();
        assert!(probe_memory().unwrap().starts_with("cgroup v"));
    }
}
