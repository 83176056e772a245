//! HOT PATH: the server's process tree as one sum. Budget: about 10 us a process, 5 us a thread.
//!
//! A process found once stays in the tree until it ends, also when its parent ends before it. The
//! tree is read from the root down: a child that ends meanwhile is then missed for one sample
//! (and made up for by what was last seen of it) instead of being counted both by itself and in its
//! parent's sum of ended children.

use std::collections::{HashMap, HashSet};

use rqps_model::ProcessCounters;

use crate::error::Error;
use crate::proc_file::ProcFile;
use crate::process::{Process, Reading};
use crate::process_text::parse_process_stat;
use crate::scratch::Scratch;
use crate::tally::{Charge, Tally};
use crate::tasks::Switches;

/// The process `root` and all that descend from it.
#[derive(Debug)]
pub(crate) struct Tree {
    root: i32,
    /// Parents before their children.
    processes: Vec<Process>,
    known: HashSet<i32>,
    tally: Tally,
    /// Context switches of processes that ended.
    ended_switches: Switches,
    latest: ProcessCounters,
    /// Time in which its threads could run and did not, nanoseconds.
    run_wait_ns: u64,
}

impl Tree {
    /// The tree below `root`.
    pub(crate) fn open(root: i32, scratch: &mut Scratch) -> Result<Self, Error> {
        let process = Process::open(root, scratch)?.ok_or(Error::NoProcess { pid: root })?;
        Ok(Self {
            root,
            processes: vec![process],
            known: HashSet::from([root]),
            tally: Tally::default(),
            ended_switches: Switches::default(),
            latest: ProcessCounters::default(),
            run_wait_ns: 0,
        })
    }

    /// Reads all processes. When all have ended, the counters stay as they are, and
    /// `n_processes` is 0.
    pub(crate) fn read(&mut self, scratch: &mut Scratch) -> Result<ProcessCounters, Error> {
        scratch.found.clear();
        if !scratch.has_children_files {
            find_by_parent(self.root, &self.known, scratch)?;
        }
        let (sum, charge) = self.pass(scratch, Process::read)?;
        self.latest = sum.counters(&charge, &self.latest);
        self.run_wait_ns = self.run_wait_ns.max(sum.switches.run_wait_ns);
        Ok(self.latest)
    }

    /// How long its threads could run and did not up to the last full reading, nanoseconds; `None` where
    /// all of them have ended.
    pub(crate) fn run_wait_ns(&self) -> Option<u64> {
        (self.latest.n_processes > 0).then_some(self.run_wait_ns)
    }

    /// Reads CPU time and faults alone; the other counters and the gauges stay as they were last
    /// read. Budget: 5 us a process.
    pub(crate) fn read_brief(&mut self, scratch: &mut Scratch) -> Result<ProcessCounters, Error> {
        scratch.found.clear();
        let (_, charge) = self.pass(scratch, Process::read_brief)?;
        self.latest = ProcessCounters {
            cpu_user_ns: charge.user_ns,
            cpu_system_ns: charge.system_ns,
            cpu_total_ns: charge.total_ns,
            minor_faults: charge.minor_faults,
            major_faults: charge.major_faults,
            ..self.latest
        };
        Ok(self.latest)
    }

    /// Reads every process with `read`, and what they used together.
    fn pass(
        &mut self,
        scratch: &mut Scratch,
        read: impl Fn(&mut Process, &mut Scratch) -> Result<Option<Reading>, Error>,
    ) -> Result<(Sum, Charge), Error> {
        scratch.n_kept = self.processes.iter().map(Process::n_kept).sum();
        let mut sum = Sum::default();
        let mut idx = 0;
        // Children that are found on the way are appended, and so read in the same pass.
        while let Some(process) = self.processes.get_mut(idx) {
            if let Some(reading) = read(process, scratch)? {
                sum.add(&reading);
                sum.switches.add(process.switches());
                idx += 1;
            } else {
                let process = self.processes.remove(idx);
                self.tally.ended(process.own());
                self.ended_switches.add(process.switches());
                self.known.remove(&process.pid());
            }
            self.adopt(scratch)?;
        }
        sum.switches.add(self.ended_switches);
        let charge = self.tally.total(sum.own, sum.reaped);
        Ok((sum, charge))
    }

    fn adopt(&mut self, scratch: &mut Scratch) -> Result<(), Error> {
        while let Some(pid) = scratch.found.pop() {
            if self.known.contains(&pid) {
                continue;
            }
            if let Some(process) = Process::open(pid, scratch)? {
                self.processes.push(process);
                self.known.insert(pid);
            }
        }
        Ok(())
    }
}

/// Sums over the living processes of one sample.
#[derive(Debug, Default)]
struct Sum {
    own: Charge,
    reaped: Charge,
    switches: Switches,
    read_bytes: u64,
    write_bytes: u64,
    anonymous_bytes: u64,
    /// The largest share of any process: the buffers that all share, once.
    shared_bytes: u64,
    n_processes: u32,
    n_threads: u32,
}

impl Sum {
    fn add(&mut self, reading: &Reading) {
        self.own = self.own.plus(reading.own);
        self.reaped = self.reaped.plus(reading.reaped);
        self.read_bytes = self.read_bytes.saturating_add(reading.io.read_bytes);
        self.write_bytes = self.write_bytes.saturating_add(reading.io.write_bytes);
        self.anonymous_bytes = self.anonymous_bytes.saturating_add(reading.rss_anonymous_bytes);
        self.shared_bytes = self.shared_bytes.max(reading.rss_shared_bytes);
        self.n_processes += u32::from(reading.n_threads > 0);
        self.n_threads = self.n_threads.saturating_add(reading.n_threads);
    }

    /// The tree's counters, none of them below those of the sample before. Storage traffic needs
    /// no tally: the kernel's time of a parent has that of children it waited for.
    fn counters(&self, charge: &Charge, before: &ProcessCounters) -> ProcessCounters {
        ProcessCounters {
            cpu_user_ns: charge.user_ns,
            cpu_system_ns: charge.system_ns,
            cpu_total_ns: charge.total_ns,
            rss_bytes: self.anonymous_bytes.saturating_add(self.shared_bytes),
            minor_faults: charge.minor_faults,
            major_faults: charge.major_faults,
            voluntary_switches: self.switches.voluntary.max(before.voluntary_switches),
            involuntary_switches: self.switches.involuntary.max(before.involuntary_switches),
            read_bytes: self.read_bytes.max(before.read_bytes),
            write_bytes: self.write_bytes.max(before.write_bytes),
            n_processes: self.n_processes,
            n_threads: self.n_threads,
        }
    }
}

/// Finds descendants by the parents of all processes of the host, for kernels without the files
/// that list children. Parents come before their children.
fn find_by_parent(root: i32, known: &HashSet<i32>, scratch: &mut Scratch) -> Result<(), Error> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let unreadable = |source| Error::Read { path: "/proc".into(), source };
    for entry in std::fs::read_dir("/proc").map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.parse::<i32>().ok()) else { continue };
        let Ok(file) = ProcFile::open(format!("/proc/{pid}/stat"), true) else { continue };
        if let Some(stat) = file.parse_living(&mut scratch.buffer, parse_process_stat)? {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut queue: Vec<i32> = known.iter().copied().chain([root]).collect();
    while let Some(pid) = queue.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            scratch.found.push(child);
            queue.push(child);
        }
    }
    // They are taken from the end.
    scratch.found.reverse();
    Ok(())
}

#[cfg(test)]
mod tests;
