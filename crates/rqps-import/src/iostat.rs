//! What `iostat -kx N` printed of one block device, averaged over its reports.
//!
//! The columns are found by their headings, which differ between versions of sysstat, BusyBox, FreeBSD and
//! illumos, or by the names in JSON (`iostat -o JSON`). The first report of a recording is the average since the
//! host was started and is excluded: where `-y` has omitted it already, one report of many is lost.

mod boot_again;
mod json;
mod printed;
mod request_size;

use std::collections::BTreeMap;
use std::fmt;

use crate::error::TextProblem;
use boot_again::BootAgain;
use request_size::Contradiction;

/// Averages over a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Iostat {
    /// Reads per second, where they are told.
    pub(crate) reads_per_s: Option<f64>,
    /// KB read per second.
    pub(crate) read_kb_per_s: Option<f64>,
    /// KB written per second.
    pub(crate) written_kb_per_s: Option<f64>,
    /// Reports that it rests on.
    pub(crate) n_reports: u32,
    /// Why what was read was excluded from its reports.
    pub(crate) reads_contradiction: Option<Contradiction>,
    /// Why what was written was excluded.
    pub(crate) writes_contradiction: Option<Contradiction>,
    /// Lines of means since the boot amid the reports, which were excluded.
    pub(crate) boot_again: Option<BootAgain>,
}

/// What was read: averages of the device, or why there are none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// The device's averages.
    Device(Iostat),
    /// Several devices are listed and none was named.
    Several(Vec<String>),
    /// There is nothing of a device to average.
    Nothing(Missing),
}

/// Why there are no averages of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It ends before the first report.
    NoReport,
    /// There is one report.
    OnlyBoot,
    /// There are two reports, and the second was cut off.
    OnlyCut,
    /// Reports after the first list no device.
    NoDevice,
    /// The device that was named is in no report after the first.
    Device {
        /// The name.
        named: String,
        /// Those that are there.
        listed: Vec<String>,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReport => f.write_str("it ends before its first report of devices"),
            Self::OnlyBoot => f.write_str("its only report is the mean since the boot"),
            Self::OnlyCut => {
                f.write_str("its only report after the mean since the boot was cut off")
            }
            Self::NoDevice => f.write_str("its reports after the first list no device"),
            Self::Device { named, listed } if listed.is_empty() => {
                write!(f, "it has no report of {named} after the first")
            }
            Self::Device { named, listed } => {
                write!(
                    f,
                    "it has no report of {named} after the first, only of {}",
                    listed.join(", ")
                )
            }
        }
    }
}

/// All reports of a text.
#[derive(Debug, Default)]
struct Reports {
    /// Those of the step.
    measured: Vec<Report>,
    /// Whether there is one that is the mean since the boot.
    has_boot: bool,
    /// Whether the last was cut off.
    is_cut: bool,
    /// The first mean since the boot, where no line tells that a recording begins.
    boot: Option<Report>,
}

/// What one report has of each device. A device that did nothing may lack.
type Report = BTreeMap<String, Iostat>;

/// A quantity and how many KB one of it is.
type Unit = (&'static str, f64);

/// Headings of what was read per second. Sectors and blocks have 512 bytes.
const READ: [Unit; 7] = [
    ("rkB/s", 1.0),
    ("rMB/s", 1024.0),
    ("rsec/s", 0.5),
    ("kr/s", 1.0),
    ("kB_read/s", 1.0),
    ("MB_read/s", 1024.0),
    ("Blk_read/s", 0.5),
];

/// Headings of what was written per second.
const WRITTEN: [Unit; 7] = [
    ("wkB/s", 1.0),
    ("wMB/s", 1024.0),
    ("wsec/s", 0.5),
    ("kw/s", 1.0),
    ("kB_wrtn/s", 1.0),
    ("MB_wrtn/s", 1024.0),
    ("Blk_wrtn/s", 0.5),
];

/// Columns that could not be found.
const NO_COLUMNS: &str =
    "it has no columns of reads and writes: record it with iostat -kx and an interval";

/// Reads the text. Without `device` the only device that is listed, loop devices and parts of disks apart,
/// or the only one that moved anything.
///
/// # Errors
/// Reports without the columns that are needed, and lines that cannot be read.
pub(crate) fn parse(text: &str, device: Option<&str>) -> Result<Found, TextProblem> {
    let is_json = text.trim_start().starts_with('{');
    let Reports { mut measured, has_boot, is_cut, boot } =
        if is_json { json::reports(text)? } else { printed::reports(text)? };
    let boot_again = boot.and_then(|boot| boot_again::exclude(&boot, &mut measured));
    if measured.is_empty() {
        return Ok(Found::Nothing(match (has_boot, is_cut) {
            (false, _) => Missing::NoReport,
            (true, true) => Missing::OnlyCut,
            (true, false) => Missing::OnlyBoot,
        }));
    }
    let mut devices: BTreeMap<String, Iostat> = BTreeMap::new();
    for (name, found) in measured.iter().flatten() {
        let sum = devices.entry(name.clone());
        sum.and_modify(|sum| *sum = sum.plus(*found)).or_insert(*found);
    }
    let n = measured.len() as f64;
    for sum in devices.values_mut() {
        sum.boot_again = boot_again;
        for value in [&mut sum.reads_per_s, &mut sum.read_kb_per_s, &mut sum.written_kb_per_s] {
            *value = value.map(|value| value / n);
        }
        sum.n_reports = u32::try_from(measured.len()).unwrap_or(u32::MAX);
    }
    Ok(choose(devices, device))
}

impl Iostat {
    /// What was excluded, for notes.
    pub(crate) fn problems(&self) -> impl Iterator<Item = TextProblem> {
        let contradictions = [self.reads_contradiction, self.writes_contradiction];
        let contradictions = contradictions.into_iter().flatten().map(Contradiction::problem);
        contradictions.chain(self.boot_again.map(BootAgain::problem))
    }

    /// The sums; what one of the two does not tell is not known.
    fn plus(self, other: Self) -> Self {
        let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
        Self {
            reads_per_s: sum(self.reads_per_s, other.reads_per_s),
            read_kb_per_s: sum(self.read_kb_per_s, other.read_kb_per_s),
            written_kb_per_s: sum(self.written_kb_per_s, other.written_kb_per_s),
            n_reports: self.n_reports,
            reads_contradiction: self.reads_contradiction.or(other.reads_contradiction),
            writes_contradiction: self.writes_contradiction.or(other.writes_contradiction),
            boot_again: self.boot_again,
        }
    }
}

/// Adds a device to a report.
fn add(report: &mut Report, device: &str, found: Iostat) -> Result<(), String> {
    match report.insert(device.to_owned(), found) {
        None => Ok(()),
        Some(_) => Err(format!("{device} occurs twice in one report: record it again")),
    }
}

fn choose(mut devices: BTreeMap<String, Iostat>, device: Option<&str>) -> Found {
    if let Some(device) = device {
        return match devices.get(device) {
            Some(found) => Found::Device(*found),
            None => Found::Nothing(Missing::Device {
                named: device.to_owned(),
                listed: devices.into_keys().collect(),
            }),
        };
    }
    devices.retain(|name, _| !name.starts_with("loop"));
    let moved = |d: &Iostat| {
        let all = [d.reads_per_s, d.read_kb_per_s, d.written_kb_per_s];
        // What contradicts itself moved something, whatever that was.
        let contradicts = d.reads_contradiction.is_some() || d.writes_contradiction.is_some();
        contradicts || all.into_iter().flatten().sum::<f64>() > 0.0
    };
    if devices.len() > 1 && devices.values().filter(|d| moved(d)).count() == 1 {
        devices.retain(|_, d| moved(d));
    }
    let names: Vec<String> = devices.keys().cloned().collect();
    match (devices.pop_first(), names.len()) {
        (None, _) => Found::Nothing(Missing::NoDevice),
        (Some((_, found)), 1) => Found::Device(found),
        _ => Found::Several(names),
    }
}

#[cfg(test)]
mod tests;
