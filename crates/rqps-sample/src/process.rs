//! HOT PATH: one process of the server's tree. Budget: four files and its threads' files a sample.

use std::io;

use crate::clock::process_cpu_ns;
use crate::error::{Error, note_missing};
use crate::proc_file::{ProcFile, is_gone};
use crate::process_text::{
    ProcessIo, ProcessStat, TaskStatus, parse_process_io, parse_process_stat, parse_task_status,
};
use crate::scratch::Scratch;
use crate::tally::Charge;
use crate::tasks::{Switches, Tasks};

/// A process, with its files and what was last seen of it.
#[derive(Debug)]
pub(crate) struct Process {
    pid: i32,
    start_ticks: u64,
    stat: ProcFile,
    status: ProcFile,
    /// Absent when this user may not read it.
    io: Option<ProcFile>,
    tasks: Tasks,
    own: Charge,
}

/// What one sample reads of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) own: Charge,
    pub(crate) reaped: Charge,
    pub(crate) io: ProcessIo,
    pub(crate) rss_anonymous_bytes: u64,
    pub(crate) rss_shared_bytes: u64,
    /// 0 for a process that ended and was not waited for yet.
    pub(crate) n_threads: u32,
}

impl Process {
    /// Opens the process's files; `None` when it has ended.
    pub(crate) fn open(pid: i32, scratch: &mut Scratch) -> Result<Option<Self>, Error> {
        let Some(stat) = scratch.open_living(format!("/proc/{pid}/stat"))? else { return Ok(None) };
        let Some(first) = stat.parse_living(&mut scratch.buffer, parse_process_stat)? else {
            return Ok(None);
        };
        let Some(status) = scratch.open_living(format!("/proc/{pid}/status"))? else {
            return Ok(None);
        };
        let io = open_io(pid, scratch);
        Ok(Some(Self {
            pid,
            start_ticks: first.start_ticks,
            stat,
            status,
            io,
            tasks: Tasks::default(),
            own: Charge::default(),
        }))
    }

    /// Its id.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// What was last seen of its own use.
    pub(crate) fn own(&self) -> Charge {
        self.own
    }

    /// Context switches of all its threads.
    pub(crate) fn switches(&self) -> Switches {
        self.tasks.switches()
    }

    /// File descriptors that are held.
    pub(crate) fn n_kept(&self) -> usize {
        let io = self.io.as_ref().is_some_and(ProcFile::is_kept);
        let own = [self.stat.is_kept(), self.status.is_kept(), io];
        own.into_iter().filter(|&kept| kept).count() + self.tasks.n_kept()
    }

    /// Reads the process and appends its children's ids to `scratch.found`; `None` when it ended.
    pub(crate) fn read(&mut self, scratch: &mut Scratch) -> Result<Option<Reading>, Error> {
        // The clock goes by the id alone. The stat file, read after it, proves that the process
        // still had the id when the clock was read.
        let clock_ns = process_cpu_ns(self.pid);
        let Some(stat) = self.stat.parse_living(&mut scratch.buffer, parse_process_stat)? else {
            return Ok(None);
        };
        if stat.start_ticks != self.start_ticks {
            return Ok(None);
        }
        let Some(status) = self.status.parse_living(&mut scratch.buffer, parse_task_status)? else {
            return Ok(None);
        };
        self.tasks.read(self.pid, stat.n_threads <= 1, scratch)?;
        self.own = self.own.max(own_charge(&stat, clock_ns, scratch.tick_ns));
        let (rss_anonymous_bytes, rss_shared_bytes) = resident(&status, scratch);
        let ended = matches!(stat.state, 'Z' | 'X');
        Ok(Some(Reading {
            own: self.own,
            reaped: reaped_charge(&stat, scratch.tick_ns),
            io: self.read_io(scratch)?,
            rss_anonymous_bytes,
            rss_shared_bytes,
            n_threads: if ended { 0 } else { stat.n_threads },
        }))
    }

    /// Reads CPU time and faults alone: the clock and one file. Children of a process with a single
    /// thread are looked for; what else [`Process::read`] gives stays 0.
    pub(crate) fn read_brief(&mut self, scratch: &mut Scratch) -> Result<Option<Reading>, Error> {
        let clock_ns = process_cpu_ns(self.pid);
        let Some(stat) = self.stat.parse_living(&mut scratch.buffer, parse_process_stat)? else {
            return Ok(None);
        };
        if stat.start_ticks != self.start_ticks {
            return Ok(None);
        }
        if stat.n_threads <= 1 {
            self.tasks.find_children(self.pid, scratch)?;
        }
        self.own = self.own.max(own_charge(&stat, clock_ns, scratch.tick_ns));
        Ok(Some(Reading {
            own: self.own,
            reaped: reaped_charge(&stat, scratch.tick_ns),
            io: ProcessIo::default(),
            rss_anonymous_bytes: 0,
            rss_shared_bytes: 0,
            n_threads: 0,
        }))
    }

    fn read_io(&mut self, scratch: &mut Scratch) -> Result<ProcessIo, Error> {
        let Some(file) = &self.io else { return Ok(ProcessIo::default()) };
        match file.parse_living(&mut scratch.buffer, parse_process_io) {
            Ok(io) => Ok(io.unwrap_or_default()),
            Err(Error::Read { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
                note_no_io(scratch, &source);
                self.io = None;
                Ok(ProcessIo::default())
            }
            Err(e) => Err(e),
        }
    }
}

fn open_io(pid: i32, scratch: &mut Scratch) -> Option<ProcFile> {
    match ProcFile::open(format!("/proc/{pid}/io"), scratch.may_keep()) {
        Ok(file) => Some(file),
        Err(e) if is_gone(&e) => None,
        Err(e) => {
            note_no_io(scratch, &e);
            None
        }
    }
}

fn note_no_io(scratch: &mut Scratch, error: &io::Error) {
    note_missing(&mut scratch.missing, "storage traffic of the server's processes", || {
        format!("/proc/PID/io: {error}; run rqps as the user that runs the server")
    });
}

fn own_charge(stat: &ProcessStat, clock_ns: Option<u64>, tick_ns: u64) -> Charge {
    let user_ns = stat.user_ticks.saturating_mul(tick_ns);
    let system_ns = stat.system_ticks.saturating_mul(tick_ns);
    Charge {
        user_ns,
        system_ns,
        total_ns: clock_ns.unwrap_or_else(|| user_ns.saturating_add(system_ns)),
        minor_faults: stat.minor_faults,
        major_faults: stat.major_faults,
    }
}

fn reaped_charge(stat: &ProcessStat, tick_ns: u64) -> Charge {
    let user_ns = stat.reaped_user_ticks.saturating_mul(tick_ns);
    let system_ns = stat.reaped_system_ticks.saturating_mul(tick_ns);
    Charge {
        user_ns,
        system_ns,
        total_ns: user_ns.saturating_add(system_ns),
        minor_faults: stat.reaped_minor_faults,
        major_faults: stat.reaped_major_faults,
    }
}

/// Memory of the process alone, and memory that it may share with others of its tree.
fn resident(status: &TaskStatus, scratch: &mut Scratch) -> (u64, u64) {
    match (status.rss_anonymous_bytes, status.rss_bytes) {
        (Some(anonymous), _) => (anonymous, status.rss_shared_bytes),
        (None, Some(all)) => {
            note_missing(&mut scratch.missing, "shared memory of the server", || {
                "the kernel (before Linux 4.5) does not separate shared from private memory, so \
                 shared memory is counted once per process"
                    .to_owned()
            });
            (all, 0)
        }
        (None, None) => (0, 0),
    }
}
