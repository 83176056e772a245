//! HOT PATH: reads the counters of the device that holds a directory. Budget: one file a sample.

use std::fs::Metadata;
use std::os::linux::fs::MetadataExt as _;
use std::path::Path;

use nix::sys::stat::{major, minor};
use rqps_model::StorageCounters;

use crate::error::{Error, Missing, note_missing};
use crate::mount_text::parse_mount_of;
use crate::proc_file::ProcFile;
use crate::storage_text::{DeviceId, parse_diskstats};

/// /proc/diskstats, kept open, and the device to look for.
#[derive(Debug)]
pub(crate) struct StorageReader {
    device: DeviceId,
    file: ProcFile,
}

impl StorageReader {
    /// Finds the device of `dir`; `None`, and the reason noted, where diskstats knows none.
    pub(crate) fn open(dir: &Path, missing: &mut Vec<Missing>) -> Result<Option<Self>, Error> {
        let unreadable = |source| Error::Read { path: dir.to_path_buf(), source };
        let metadata = std::fs::metadata(dir).map_err(unreadable)?;
        let mut buffer = Vec::new();
        let reader = ProcFile::open("/proc/diskstats", true)
            .map(|file| Self { device: device_of(&metadata), file });
        let found = match &reader {
            Ok(reader) => reader.read(&mut buffer)?.is_some(),
            Err(_) => false,
        };
        if !found {
            note_missing(missing, "storage of the data directory", || no_device(dir));
        }
        Ok(reader.ok().filter(|_| found))
    }

    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Result<Option<StorageCounters>, Error> {
        self.file.parse(buffer, |text| parse_diskstats(text, self.device))
    }
}

fn device_of(metadata: &Metadata) -> DeviceId {
    DeviceId { major: major(metadata.st_dev()), minor: minor(metadata.st_dev()) }
}

fn no_device(dir: &Path) -> String {
    let mount = std::fs::canonicalize(dir)
        .and_then(|path| Ok((path, std::fs::read_to_string("/proc/self/mountinfo")?)))
        .ok()
        .and_then(|(path, text)| parse_mount_of(&text, &path).ok());
    let on = mount.map_or_else(String::new, |m| format!(" on {} ({})", m.kind, m.source));
    format!(
        "{}{on} has no device in /proc/diskstats; put the data directory on a file system of a \
         disk or partition",
        dir.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_device_has_a_reason() {
        let mut missing = Vec::new();
        assert!(StorageReader::open(Path::new("/proc"), &mut missing).unwrap().is_none());
        let text = missing[0].to_string();
        assert!(text.contains("/proc on proc (proc) has no device"), "{text}");
        assert!(StorageReader::open(Path::new("/no/such"), &mut missing).is_err());
    }
}
