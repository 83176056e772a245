//! Reads the text of /proc/diskstats: counters of one block device.

use rqps_model::StorageCounters;

use crate::TextError;

/// A sector of diskstats, bytes, whatever the device's own sectors are
/// (Documentation/admin-guide/iostats.rst).
const SECTOR_BYTES: u64 = 512;

/// Milliseconds to nanoseconds.
const MS_NS: u64 = 1_000_000;

/// A block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceId {
    /// The number of its driver.
    pub major: u64,
    /// Its number among those of the driver.
    pub minor: u64,
}

/// The counters of a device; `None` where the text has no line for it.
///
/// # Errors
/// Names the line of that device when it is malformed.
pub fn parse_diskstats(text: &str, device: DeviceId) -> Result<Option<StorageCounters>, TextError> {
    for (i, line) in text.lines().enumerate() {
        let mut fields = line.split_ascii_whitespace();
        let id = fields.next().and_then(|f| f.parse().ok());
        if id != Some(device.major)
            || fields.next().and_then(|f| f.parse().ok()) != Some(device.minor)
        {
            continue;
        }
        let _name = fields.next();
        return parse_counters(fields)
            .map(Some)
            .map_err(|problem| TextError::at(i, line.trim_start(), problem));
    }
    Ok(None)
}

fn parse_counters<'a>(fields: impl Iterator<Item = &'a str>) -> Result<StorageCounters, String> {
    // reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, busy ms; Linux 2.6.25
    // gave partitions these, too. More fields follow on later kernels.
    let mut values = [0_u64; 10];
    let mut n_fields = 0;
    for (slot, field) in values.iter_mut().zip(fields) {
        *slot = field.parse().map_err(|_| format!("{field:?} is not a number"))?;
        n_fields += 1;
    }
    if n_fields < values.len() {
        return Err(format!("{n_fields} counters where at least 10 were expected"));
    }
    let [reads, _, read_sectors, _, writes, _, write_sectors, _, _, busy_ms] = values;
    Ok(StorageCounters {
        reads,
        read_bytes: read_sectors.saturating_mul(SECTOR_BYTES),
        writes,
        write_bytes: write_sectors.saturating_mul(SECTOR_BYTES),
        busy_ns: busy_ms.saturating_mul(MS_NS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18 (17 counters) with a partition, and a line of Linux 3.10 (11 counters).
    const TEXT: &str = " 254       0 vda 67385 24411 4058234 27684 7559 11816 5860672 12338 0 8332 \
        40418 3536 41 150960 387 394 8\n 254       1 vda1 10 0 80 1 20 0 160 2 0 3 4 0 0 0 0 0 0\n   \
        8      16 sdb 1 2 3 4 5 6 7 8 9 10 11\n   8      17 sdb1 1 2 3\n";

    fn device(major: u64, minor: u64) -> DeviceId {
        DeviceId { major, minor }
    }

    #[test]
    fn device_partition_and_older_kernel() {
        let vda = parse_diskstats(TEXT, device(254, 0)).unwrap().unwrap();
        let expected = StorageCounters {
            reads: 67385,
            read_bytes: 4_058_234 * 512,
            writes: 7559,
            write_bytes: 5_860_672 * 512,
            busy_ns: 8_332_000_000,
        };
        assert_eq!(vda, expected);
        assert_eq!(parse_diskstats(TEXT, device(254, 1)).unwrap().unwrap().read_bytes, 80 * 512);
        let sdb = parse_diskstats(TEXT, device(8, 16)).unwrap().unwrap();
        assert_eq!((sdb.reads, sdb.writes, sdb.busy_ns), (1, 5, 10_000_000));
        assert_eq!(parse_diskstats(TEXT, device(0, 27)), Ok(None));
    }

    #[test]
    fn names_the_line() {
        let error = parse_diskstats(TEXT, device(8, 17)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 4 \"8      17 sdb1 1 2 3\": 3 counters where at least 10 were expected"
        );
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(?s).{0,200}", near in " 8 0 sda [-0-9 ]{0,300}") {
            let _ = parse_diskstats(&text, device(8, 0));
            let _ = parse_diskstats(&near, device(8, 0));
        }
    }
}
