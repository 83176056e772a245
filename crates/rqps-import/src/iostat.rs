//! What `iostat -kx N` printed of one block device, averaged over its reports.
//!
//! The columns are found by their headings, which differ between versions: `r/s`, `rkB/s`, `wkB/s`.

use std::collections::BTreeMap;

/// Averages over a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Iostat {
    /// Reads per second.
    pub(crate) reads_per_s: f64,
    /// KB read per second.
    pub(crate) read_kb_per_s: f64,
    /// KB written per second.
    pub(crate) written_kb_per_s: f64,
    /// Reports that it rests on.
    pub(crate) n: u32,
}

/// What was read: averages of the device, or why there are none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// The device's averages.
    Device(Iostat),
    /// Several devices are listed and none was named.
    Several(Vec<String>),
    /// There is no line of the device, or of any.
    Nothing,
}

/// Reads the text. Without `device` the only device that is listed, loop devices and parts of disks apart,
/// or the only one that moved anything.
///
/// # Errors
/// Lines of devices without headings or without the columns that are needed, in words.
pub(crate) fn parse(text: &str, device: Option<&str>) -> Result<Found, String> {
    let mut columns: Option<[usize; 3]> = None;
    let mut devices: BTreeMap<String, Iostat> = BTreeMap::new();
    let mut is_table = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else {
            is_table = false;
            continue;
        };
        if first.starts_with("Device") {
            let at = |head: &str| words.iter().position(|word| *word == head);
            let found = at("r/s").zip(at("rkB/s")).zip(at("wkB/s"));
            let ((reads, read), written) = found.ok_or("no columns r/s, rkB/s and wkB/s")?;
            columns = Some([reads, read, written]);
            is_table = true;
            continue;
        }
        let Some(columns) = columns.filter(|_| is_table) else { continue };
        // A decimal comma is that of the host's language.
        let values = columns.map(|at| words.get(at)?.replace(',', ".").parse::<f64>().ok());
        // The last line may be cut off where iostat was ended.
        let [Some(reads), Some(read), Some(written)] = values else { continue };
        let sum = devices.entry((*first).to_owned()).or_default();
        sum.reads_per_s += reads;
        sum.read_kb_per_s += read;
        sum.written_kb_per_s += written;
        sum.n += 1;
    }
    for sum in devices.values_mut() {
        let n = f64::from(sum.n);
        sum.reads_per_s /= n;
        sum.read_kb_per_s /= n;
        sum.written_kb_per_s /= n;
    }
    Ok(choose(devices, device))
}

fn choose(mut devices: BTreeMap<String, Iostat>, device: Option<&str>) -> Found {
    if let Some(device) = device {
        return devices.get(device).map_or(Found::Nothing, |found| Found::Device(*found));
    }
    devices.retain(|name, _| !name.starts_with("loop"));
    let moved = |d: &Iostat| d.reads_per_s + d.read_kb_per_s + d.written_kb_per_s > 0.0;
    if devices.len() > 1 && devices.values().filter(|d| moved(d)).count() == 1 {
        devices.retain(|_, d| moved(d));
    }
    let names: Vec<String> = devices.keys().cloned().collect();
    match (devices.pop_first(), names.len()) {
        (None, _) => Found::Nothing,
        (Some((_, found)), 1) => Found::Device(found),
        _ => Found::Several(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Linux 6.8.0 (bench) \t08/01/25 \t_x86_64_\t(8 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          10.00    0.00    2.00    0.00    0.00   88.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s
loop0            0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00
nvme0n1         10.00    400.00     0.00   0.00    0.10    40.00  100.00   1000.00
sda              0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s
nvme0n1         30.00    800.00     0.00   0.00    0.10    40.00  100.00   3000.00
sda              0.00      0.00
";

    #[test]
    fn the_device_that_moved_something() {
        let Found::Device(found) = parse(TEXT, None).unwrap() else { panic!("several") };
        assert_eq!(found.n, 2);
        assert!((found.reads_per_s - 20.0).abs() < 1e-9);
        assert!((found.read_kb_per_s - 600.0).abs() < 1e-9);
        assert!((found.written_kb_per_s - 2000.0).abs() < 1e-9);
        assert!(matches!(parse(TEXT, Some("sda")).unwrap(), Found::Device(d) if d.n == 1));
        assert_eq!(parse(TEXT, Some("md0")).unwrap(), Found::Nothing);
    }

    #[test]
    fn lines_of_the_cpus_are_no_devices() {
        // As sysstat 11.6 has it, where the columns stand so far left that those lines have them, too.
        let report = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          \
                      10.00    1.00    2.00    3.00    4.00   80.00\n\n\
                      Device            r/s     w/s     rkB/s     wkB/s\n\
                      sda             10.00   20.00    400.00    500.00\n\n";
        let Found::Device(found) = parse(&report.repeat(2), None).unwrap() else {
            panic!("several")
        };
        assert_eq!(found.n, 2);
        assert!((found.written_kb_per_s - 500.0).abs() < 1e-9);
    }

    #[test]
    fn several_devices_are_the_users_to_choose_from() {
        let both = TEXT.replace("sda              0.00", "sda              1.00");
        let names = vec!["nvme0n1".to_owned(), "sda".to_owned()];
        assert_eq!(parse(&both, None).unwrap(), Found::Several(names));
        assert!(parse("Device tps\n", None).is_err());
        assert_eq!(parse("", None), Ok(Found::Nothing));
    }
}
