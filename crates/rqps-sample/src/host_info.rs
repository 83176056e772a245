//! Reads what the host is: name, kernel, distribution, CPU, memory, storage and its read-ahead.

use std::path::Path;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::sys::utsname::uname;
use nix::unistd::Pid;
use rqps_model::Host;

use crate::Error;
use crate::existing_part::existing_part;
use crate::host_text::{parse_cpuinfo, parse_os_release};
use crate::memory_bound::memory_bound;
use crate::memory_text::parse_meminfo;
use crate::mount_text::parse_mount_of;
use crate::proc_file::ProcFile;
use crate::read_ahead::{read_ahead_file, read_ahead_kb};

/// The host that rqps runs on; storage is that of `data_dir`, which need not exist yet. Memory is what
/// rqps and its servers may use: that of the host, or the limit of the control group that they are in.
///
/// # Errors
/// When /proc is not what it is on Linux.
pub fn host_info(data_dir: &Path) -> Result<Host, Error> {
    let mut buffer = Vec::new();
    let names = uname().map_err(|source| Error::System { call: "uname", source })?;
    let cpu = ProcFile::open_always("/proc/cpuinfo")?
        .parse(&mut buffer, |text| Ok(parse_cpuinfo(text)))?;
    let memory = ProcFile::open_always("/proc/meminfo")?.parse(&mut buffer, parse_meminfo)?;
    let dir = existing_part(data_dir)?;
    Ok(Host {
        hostname: names.nodename().to_string_lossy().into_owned(),
        kernel: names.release().to_string_lossy().into_owned(),
        os: read_os_name(),
        cpu_model: cpu.model,
        n_cpus: read_cpus()?,
        memory_bytes: memory.total_bytes.min(memory_bound().unwrap_or(u64::MAX)),
        virtual_machine: cpu.is_virtual,
        storage: read_storage(&dir, &mut buffer)?,
        read_ahead_kb: read_ahead_file(&dir).as_deref().and_then(read_ahead_kb),
    })
}

/// CPUs in the affinity mask of rqps.
fn read_cpus() -> Result<u32, Error> {
    let cpus = sched_getaffinity(Pid::from_raw(0))
        .map_err(|source| Error::System { call: "sched_getaffinity", source })?;
    let n_cpus = (0..CpuSet::count()).filter(|&i| cpus.is_set(i).unwrap_or(false)).count();
    Ok(u32::try_from(n_cpus).unwrap_or(u32::MAX))
}

/// The distribution's name; empty where no file gives it.
fn read_os_name() -> String {
    // In this order by os-release(5).
    let text = ["/etc/os-release", "/usr/lib/os-release"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok());
    text.map(|text| parse_os_release(&text)).unwrap_or_default()
}

/// File system and device of a directory, absolute and without symbolic links.
fn read_storage(dir: &Path, buffer: &mut Vec<u8>) -> Result<String, Error> {
    let mounts = ProcFile::open_always("/proc/self/mountinfo")?;
    let mount = mounts.parse(buffer, |text| parse_mount_of(text, dir))?;
    Ok(format!("{} on {}", mount.kind, mount.source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host() {
        let host = host_info(Path::new("/proc/no/such/directory")).unwrap();
        assert_eq!((host.storage.as_str(), host.read_ahead_kb), ("proc on proc", None));
        assert!(host.n_cpus >= 1 && host.memory_bytes > 0 && !host.kernel.is_empty());
    }
}
