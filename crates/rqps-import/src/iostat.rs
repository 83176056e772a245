//! What `iostat -kx N` printed of one block device, averaged over its reports.
//!
//! The columns are found by their headings, which differ between versions of sysstat, BusyBox and FreeBSD, or
//! by the names in JSON (`iostat -o JSON`). The first report is the average since the host was started and is
//! left out: where `-y` has left it out already, one report of many is lost.

mod json;

use std::collections::BTreeMap;

/// Averages over a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Iostat {
    /// Reads per second, where they are told.
    pub(crate) reads_per_s: Option<f64>,
    /// KB read per second.
    pub(crate) read_kb_per_s: Option<f64>,
    /// KB written per second.
    pub(crate) written_kb_per_s: Option<f64>,
}

/// What was read: averages of the device, or why there are none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// The device's averages.
    Device(Iostat),
    /// Several devices are listed and none was named.
    Several(Vec<String>),
    /// There is no report of the device, or of any, after the first.
    Nothing,
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
    "it has no columns of what was read and written: record it with iostat -kx and an interval";

/// Reads the text. Without `device` the only device that is listed, loop devices and parts of disks apart,
/// or the only one that moved anything.
///
/// # Errors
/// Reports without the columns that are needed, in words.
pub(crate) fn parse(text: &str, device: Option<&str>) -> Result<Found, String> {
    let is_json = text.trim_start().starts_with('{');
    let reports = if is_json { json::reports(text)? } else { reports(text)? };
    let measured = reports.get(1..).unwrap_or_default();
    let mut devices: BTreeMap<String, Iostat> = BTreeMap::new();
    for (name, found) in measured.iter().flatten() {
        let sum = devices.entry(name.clone()).or_default();
        let add = |sum: &mut Option<f64>, value: Option<f64>| {
            *sum = value.map(|value| sum.unwrap_or_default() + value);
        };
        add(&mut sum.reads_per_s, found.reads_per_s);
        add(&mut sum.read_kb_per_s, found.read_kb_per_s);
        add(&mut sum.written_kb_per_s, found.written_kb_per_s);
    }
    let n = measured.len() as f64;
    for sum in devices.values_mut() {
        for value in [&mut sum.reads_per_s, &mut sum.read_kb_per_s, &mut sum.written_kb_per_s] {
            *value = value.map(|value| value / n);
        }
    }
    Ok(choose(devices, device))
}

/// Where a quantity stands in a line, and how many KB one of it is.
#[derive(Debug, Clone, Copy)]
struct Column {
    at: usize,
    kb: f64,
}

/// The columns of a table of devices.
#[derive(Debug, Clone, Copy)]
struct Columns {
    reads: Option<usize>,
    read: Column,
    written: Column,
}

impl Columns {
    fn of_heads(heads: &[&str]) -> Option<Self> {
        let at = |head: &str| heads.iter().position(|word| *word == head);
        let find = |units: &[Unit]| {
            units.iter().find_map(|(head, kb)| Some(Column { at: at(head)?, kb: *kb }))
        };
        Some(Self { reads: at("r/s"), read: find(&READ)?, written: find(&WRITTEN)? })
    }

    /// One line; `None` where it was cut off.
    fn values(self, words: &[&str]) -> Option<Iostat> {
        let kb = |column: Column| Some(scaled(words.get(column.at)?)? * column.kb);
        Some(Iostat {
            reads_per_s: match self.reads {
                Some(at) => Some(plain(words.get(at)?)?),
                None => None,
            },
            read_kb_per_s: Some(kb(self.read)?),
            written_kb_per_s: Some(kb(self.written)?),
        })
    }
}

/// The reports of the printed form. One that was cut off at the end is left out.
fn reports(text: &str) -> Result<Vec<Report>, String> {
    let mut reports: Vec<Report> = Vec::new();
    let mut columns: Option<Columns> = None;
    let mut cut_at: Option<usize> = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else {
            columns = None;
            continue;
        };
        if first.to_ascii_lowercase().starts_with("device") {
            columns = Some(Columns::of_heads(&words).ok_or(NO_COLUMNS)?);
            reports.push(Report::new());
        } else if let (Some(columns), n_reports, Some(report)) =
            (columns, reports.len(), reports.last_mut())
        {
            match columns.values(&words) {
                Some(found) => {
                    report.insert((*first).to_owned(), found);
                }
                None => cut_at = Some(n_reports),
            }
        }
    }
    if cut_at == Some(reports.len()) {
        reports.pop();
    }
    Ok(reports)
}

/// A number. A decimal comma is that of the host's language.
fn plain(word: &str) -> Option<f64> {
    word.replace(',', ".").parse().ok()
}

/// A number, with the unit that `--human` puts behind it: 1.5 MB of `1.5M` is 1536.
fn scaled(word: &str) -> Option<f64> {
    let units = [('B', 1.0 / 1024.0), ('k', 1.0), ('M', 1024.0), ('G', 1024.0 * 1024.0)];
    let unit = units.iter().find_map(|(letter, kb)| Some((word.strip_suffix(*letter)?, kb)));
    match unit {
        Some((number, kb)) => Some(plain(number)? * kb),
        None => plain(word),
    }
}

fn choose(mut devices: BTreeMap<String, Iostat>, device: Option<&str>) -> Found {
    if let Some(device) = device {
        return devices.get(device).map_or(Found::Nothing, |found| Found::Device(*found));
    }
    devices.retain(|name, _| !name.starts_with("loop"));
    let moved = |d: &Iostat| {
        let all = [d.reads_per_s, d.read_kb_per_s, d.written_kb_per_s];
        all.into_iter().flatten().sum::<f64>() > 0.0
    };
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
mod tests;
