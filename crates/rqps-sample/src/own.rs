//! HOT PATH: reads rqps's own counters. Budget: two system calls and two files a sample.
//!
//! Children of rqps are not in them, with one exception: the kernel adds the storage traffic of a
//! child to `/proc/self/io` when rqps waits for its end. Servers end outside slices.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rqps_model::ProcessCounters;

use crate::clock::{SECOND_NS, own_cpu_ns};
use crate::error::{Error, Missing, note_missing};
use crate::proc_file::ProcFile;
use crate::process_text::{ProcessIo, parse_process_io, parse_task_status};

/// rqps's own files, kept open.
#[derive(Debug)]
pub(crate) struct OwnReader {
    status: ProcFile,
    io: Option<ProcFile>,
}

impl OwnReader {
    pub(crate) fn open(missing: &mut Vec<Missing>) -> Result<Self, Error> {
        let io = ProcFile::open("/proc/self/io", true)
            .map_err(|e| note_missing(missing, "storage traffic of the client", || e.to_string()));
        Ok(Self { status: ProcFile::open_always("/proc/self/status")?, io: io.ok() })
    }

    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Result<ProcessCounters, Error> {
        let status = self.status.parse(buffer, parse_task_status)?;
        let io = match &self.io {
            Some(file) => file.parse(buffer, parse_process_io)?,
            None => ProcessIo::default(),
        };
        Ok(ProcessCounters {
            rss_bytes: status.rss_bytes.unwrap_or(0),
            read_bytes: io.read_bytes,
            write_bytes: io.write_bytes,
            n_threads: status.n_threads,
            ..Self::read_brief()?
        })
    }

    /// What the kernel tells without a file; memory, traffic and threads are 0.
    pub(crate) fn read_brief() -> Result<ProcessCounters, Error> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)
            .map_err(|source| Error::System { call: "getrusage", source })?;
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        Ok(ProcessCounters {
            cpu_user_ns: time_ns(usage.user_time()),
            cpu_system_ns: time_ns(usage.system_time()),
            cpu_total_ns: own_cpu_ns()?,
            minor_faults: count(usage.minor_page_faults()),
            major_faults: count(usage.major_page_faults()),
            voluntary_switches: count(usage.voluntary_context_switches()),
            involuntary_switches: count(usage.involuntary_context_switches()),
            n_processes: 1,
            ..ProcessCounters::default()
        })
    }
}

fn time_ns(time: TimeVal) -> u64 {
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    seconds * SECOND_NS + u64::try_from(time.tv_usec()).unwrap_or(0) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_this_process() {
        let mut missing = Vec::new();
        let reader = OwnReader::open(&mut missing).unwrap();
        let counters = reader.read(&mut Vec::new()).unwrap();
        assert!(counters.cpu_total_ns > 0 && counters.rss_bytes > 0 && counters.minor_faults > 0);
        assert!(counters.n_processes == 1 && counters.n_threads >= 1);
        let later = reader.read(&mut Vec::new()).unwrap();
        assert!(later.cpu_total_ns >= counters.cpu_total_ns);
    }
}
