//! How far the kernel reads ahead on the device that holds a directory, where it says so.

use std::os::linux::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

use crate::existing_part::existing_part;

/// The kernel's file with the read-ahead of the device that holds `dir`, which need not exist yet: a
/// number of KB, which is set by writing to it. `None` for file systems without a device that has one
/// (tmpfs, overlay, btrfs), and where /sys is hidden.
#[must_use]
pub fn read_ahead_file(dir: &Path) -> Option<PathBuf> {
    let metadata = existing_part(dir).ok()?.metadata().ok()?;
    file_of(Path::new("/"), (major(metadata.st_dev()), minor(metadata.st_dev())))
}

/// What is in such a file, KB of 1024 bytes.
pub(crate) fn read_ahead_kb(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The file of a device, major and minor number, on the host whose `/sys` is below `root`.
fn file_of(root: &Path, device: (u64, u64)) -> Option<PathBuf> {
    let name = format!("{}:{}", device.0, device.1);
    // Documentation/ABI of the kernel, sysfs-class-bdi: whole disks, device mapper, NFS and FUSE; sysfs-block:
    // the same for disks. A partition has that of its disk, whose directory is above its own.
    let places = [
        format!("sys/class/bdi/{name}/read_ahead_kb"),
        format!("sys/dev/block/{name}/queue/read_ahead_kb"),
        format!("sys/dev/block/{name}/../queue/read_ahead_kb"),
    ];
    places.into_iter().map(|place| root.join(place)).find(|file| file.exists())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn disks_and_their_partitions() {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path().join("sys");
        let write = |path: &str, text: &str| {
            let path = sys.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("class/bdi/254:0/read_ahead_kb", "8192\n");
        write("class/bdi/7:0/read_ahead_kb", "much\n");
        write("devices/sda/queue/read_ahead_kb", "128\n");
        fs::create_dir_all(sys.join("devices/sda/sda1")).unwrap();
        fs::create_dir_all(sys.join("dev/block")).unwrap();
        symlink("../../devices/sda", sys.join("dev/block/8:0")).unwrap();
        symlink("../../devices/sda/sda1", sys.join("dev/block/8:1")).unwrap();
        let of = |device| file_of(root.path(), device).and_then(|file| read_ahead_kb(&file));
        let found = [(254, 0), (8, 0), (8, 1), (7, 0), (0, 21)].map(of);
        assert_eq!(found, [Some(8192), Some(128), Some(128), None, None]);
    }

    #[test]
    fn what_has_no_device_has_none() {
        assert_eq!(read_ahead_file(Path::new("/proc/no/such/directory")), None);
    }
}
