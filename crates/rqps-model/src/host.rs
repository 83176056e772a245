//! The machine that a run was made on.

use serde::{Deserialize, Serialize};

/// The host that a run was made on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub hostname: String,
    /// Kernel release, `uname -r`.
    pub kernel: String,
    /// Distribution, `PRETTY_NAME` of os-release.
    pub os: String,
    /// CPU model.
    pub cpu_model: String,
    /// CPUs that rqps may use.
    pub n_cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Whether the CPU says that it is virtual.
    pub virtual_machine: bool,
    /// File system and device of the data directories: `ext4 on /dev/vda`.
    pub storage: String,
    /// Read-ahead of that device, KB of 1024 bytes; `None` where it is not known, and in runs of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_kb: Option<u32>,
}

impl Host {
    /// File system and kind of device, `ext4 on /dev/nvme*`, without the part that a boot may
    /// rename; the whole text for other devices.
    #[must_use]
    pub fn storage_kind(&self) -> String {
        const RENAMED: [&str; 9] = ["nvme", "sd", "vd", "xvd", "hd", "mmcblk", "md", "dm-", "loop"];
        let Some((system, device)) = self.storage.split_once(" on /dev/") else {
            return self.storage.clone();
        };
        let is_of = |kind: &&&str| {
            let rest = device.strip_prefix(**kind);
            rest.is_some_and(|rest| !rest.is_empty() && !rest.contains('/'))
        };
        RENAMED
            .iter()
            .find(is_of)
            .map_or_else(|| self.storage.clone(), |kind| format!("{system} on /dev/{kind}*"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_may_rename_a_disk_and_not_make_another_of_it() {
        let kind =
            |storage: &str| Host { storage: storage.to_owned(), ..Host::default() }.storage_kind();
        assert_eq!(kind("ext4 on /dev/nvme1n1p1"), kind("ext4 on /dev/nvme0n1p1"));
        assert_eq!(kind("ext4 on /dev/sda1"), kind("ext4 on /dev/sdb1"));
        assert_eq!(kind("xfs on /dev/md0"), kind("xfs on /dev/md127"));
        assert_ne!(kind("ext4 on /dev/sda1"), kind("ext4 on /dev/nvme0n1p1"));
        assert_ne!(kind("ext4 on /dev/sda1"), kind("xfs on /dev/sda1"));
        for whole in ["ext4 on /dev/mapper/data", "nfs4 on one:/data", "tmpfs", ""] {
            assert_eq!(kind(whole), whole);
        }
    }
}
