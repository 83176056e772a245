//! HOT PATH: reads the host's counters. Budget: four files a sample.

use rqps_model::HostCounters;

use crate::Error;
use crate::memory_text::{parse_meminfo, parse_vmstat};
use crate::proc_file::ProcFile;
use crate::stat_text::parse_host_stat;
use crate::wait_text::parse_pressure;

/// The host's files, kept open.
#[derive(Debug)]
pub(crate) struct HostReader {
    stat: ProcFile,
    meminfo: ProcFile,
    vmstat: ProcFile,
    /// Absent where the kernel keeps no pressure stall information.
    pressure: Option<ProcFile>,
    tick_ns: u64,
}

impl HostReader {
    pub(crate) fn open(tick_ns: u64) -> Result<Self, Error> {
        Ok(Self {
            stat: ProcFile::open_always("/proc/stat")?,
            meminfo: ProcFile::open_always("/proc/meminfo")?,
            vmstat: ProcFile::open_always("/proc/vmstat")?,
            pressure: open_pressure(),
            tick_ns,
        })
    }

    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Result<HostCounters, Error> {
        let stat = self.read_stat(buffer)?;
        let memory = self.meminfo.parse(buffer, parse_meminfo)?;
        let vm = self.vmstat.parse(buffer, parse_vmstat)?;
        Ok(HostCounters {
            memory_available_bytes: memory.available_bytes,
            swap_in_pages: vm.swap_in_pages,
            swap_out_pages: vm.swap_out_pages,
            ..stat
        })
    }

    /// Time in which a task waited for storage, nanoseconds; `None` where the kernel does not tell.
    pub(crate) fn read_stalled(&self, buffer: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        self.pressure.as_ref().map(|file| file.parse(buffer, parse_pressure)).transpose()
    }

    /// What /proc/stat has; memory and swap are 0.
    pub(crate) fn read_stat(&self, buffer: &mut Vec<u8>) -> Result<HostCounters, Error> {
        let stat = self.stat.parse(buffer, parse_host_stat)?;
        let ns = |ticks: u64| ticks.saturating_mul(self.tick_ns);
        Ok(HostCounters {
            cpu_user_ns: ns(stat.user_ticks),
            cpu_system_ns: ns(stat.system_ticks),
            cpu_idle_ns: ns(stat.idle_ticks),
            cpu_iowait_ns: ns(stat.iowait_ticks),
            cpu_steal_ns: ns(stat.steal_ticks),
            context_switches: stat.context_switches,
            procs_running: stat.procs_running,
            procs_blocked: stat.procs_blocked,
            n_cpus: stat.n_cpus,
            ..HostCounters::default()
        })
    }
}

/// The file can be there and refuse to be read: pressure stall information that is off at boot.
fn open_pressure() -> Option<ProcFile> {
    let file = ProcFile::open("/proc/pressure/io", true).ok()?;
    file.parse(&mut Vec::new(), parse_pressure).is_ok().then_some(file)
}
