//! HOT PATH: context switches and waiting of a process's threads, and its children. Budget: three files
//! a thread.
//!
//! The kernel keeps no sum of these that others could read, so that those of a thread
//! that ended are known up to the sample before its end.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::Error;
use crate::proc_file::{ProcFile, is_gone};
use crate::process_text::{parse_children, parse_task_status};
use crate::scratch::Scratch;
use crate::wait_text::parse_schedstat;

/// Context switches, and what comes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Switches {
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
    /// Time in which threads could run and did not, nanoseconds; 0 where the kernel does not tell.
    pub(crate) run_wait_ns: u64,
}

impl Switches {
    pub(crate) fn add(&mut self, other: Self) {
        self.voluntary = self.voluntary.saturating_add(other.voluntary);
        self.involuntary = self.involuntary.saturating_add(other.involuntary);
        self.run_wait_ns = self.run_wait_ns.saturating_add(other.run_wait_ns);
    }
}

/// One thread.
#[derive(Debug)]
struct Task {
    status: ProcFile,
    /// Absent where the kernel has no such file (`CONFIG_PROC_CHILDREN`, Linux 4.2).
    children: Option<ProcFile>,
    /// Absent where the kernel does not tell how long threads wait to run.
    schedstat: Option<ProcFile>,
    latest: Switches,
    /// The sample in which it was last seen.
    seen: u64,
}

/// The threads of one process.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    by_id: HashMap<i32, Task>,
    /// Of threads that ended.
    ended: Switches,
    n_reads: u64,
}

impl Tasks {
    /// Context switches of all threads up to now, ended ones included.
    pub(crate) fn switches(&self) -> Switches {
        let mut sum = self.ended;
        for task in self.by_id.values() {
            sum.add(task.latest);
        }
        sum
    }

    /// File descriptors that are held.
    pub(crate) fn n_kept(&self) -> usize {
        let of = |task: &Task| {
            usize::from(task.status.is_kept())
                + usize::from(task.children.as_ref().is_some_and(ProcFile::is_kept))
                + usize::from(task.schedstat.as_ref().is_some_and(ProcFile::is_kept))
        };
        self.by_id.values().map(of).sum()
    }

    /// Reads all threads of `pid` and appends the ids of its children to `scratch.found`.
    ///
    /// `only_one` says that the process has a single thread, whose id is the process's.
    pub(crate) fn read(
        &mut self,
        pid: i32,
        only_one: bool,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.n_reads += 1;
        if only_one {
            self.read_task(pid, pid, scratch)?;
        } else {
            let mut ids = std::mem::take(&mut scratch.task_ids);
            list_tasks(pid, &mut ids)?;
            for &tid in &ids {
                self.read_task(pid, tid, scratch)?;
            }
            scratch.task_ids = ids;
        }
        let (ended, now) = (&mut self.ended, self.n_reads);
        self.by_id.retain(|_, task| {
            let lives = task.seen == now;
            if !lives {
                ended.add(task.latest);
            }
            lives
        });
        Ok(())
    }

    /// Appends the ids of the children of `pid`'s first thread to `scratch.found`, where that thread
    /// is known and the kernel lists them.
    pub(crate) fn find_children(&self, pid: i32, scratch: &mut Scratch) -> Result<(), Error> {
        let Some(children) = self.by_id.get(&pid).and_then(|task| task.children.as_ref()) else {
            return Ok(());
        };
        let found = &mut scratch.found;
        children.parse_living(&mut scratch.buffer, |text| {
            parse_children(text, |child| found.push(child))
        })?;
        Ok(())
    }

    fn read_task(&mut self, pid: i32, tid: i32, scratch: &mut Scratch) -> Result<(), Error> {
        let task = match self.by_id.entry(tid) {
            Entry::Occupied(task) => task.into_mut(),
            Entry::Vacant(place) => match Task::open(pid, tid, scratch)? {
                Some(task) => place.insert(task),
                None => return Ok(()),
            },
        };
        let status = task.status.parse_living(&mut scratch.buffer, parse_task_status)?;
        // A thread that ended is found out by its stale file; a new one with its id, next time.
        let Some(status) = status else { return Ok(()) };
        let times = match &task.schedstat {
            Some(file) => file.parse_living(&mut scratch.buffer, parse_schedstat)?.flatten(),
            None => None,
        };
        let now = Switches {
            voluntary: status.voluntary_switches,
            involuntary: status.involuntary_switches,
            run_wait_ns: times.map_or(task.latest.run_wait_ns, |times| times.run_wait_ns),
        };
        if now.voluntary < task.latest.voluntary || now.involuntary < task.latest.involuntary {
            // Another thread has the id by now.
            self.ended.add(task.latest);
        }
        task.latest = now;
        task.seen = self.n_reads;
        if let Some(children) = &task.children {
            let found = &mut scratch.found;
            children.parse_living(&mut scratch.buffer, |text| {
                parse_children(text, |child| found.push(child))
            })?;
        }
        Ok(())
    }
}

impl Task {
    /// `None` when the thread has ended.
    fn open(pid: i32, tid: i32, scratch: &mut Scratch) -> Result<Option<Self>, Error> {
        let Some(status) = scratch.open_living(format!("/proc/{pid}/task/{tid}/status"))? else {
            return Ok(None);
        };
        let children = match scratch.has_children_files {
            true => scratch.open_living(format!("/proc/{pid}/task/{tid}/children"))?,
            false => None,
        };
        let schedstat = match scratch.has_schedstat {
            true => scratch.open_living(format!("/proc/{pid}/task/{tid}/schedstat"))?,
            false => None,
        };
        Ok(Some(Self { status, children, schedstat, latest: Switches::default(), seen: 0 }))
    }
}

/// The ids of the threads of `pid`; none when it has ended.
fn list_tasks(pid: i32, ids: &mut Vec<i32>) -> Result<(), Error> {
    ids.clear();
    let path = format!("/proc/{pid}/task");
    let unreadable = |source| Error::Read { path: path.clone().into(), source };
    let entries = match std::fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(e) if is_gone(&e) => return Ok(()),
        Err(e) => return Err(unreadable(e)),
    };
    for entry in entries {
        match entry {
            Ok(entry) => {
                ids.extend(entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()));
            }
            Err(e) if is_gone(&e) => break,
            Err(e) => return Err(unreadable(e)),
        }
    }
    Ok(())
}
