//! Reports of `iostat -o JSON`.

use serde_json::{Deserializer, Value};

use super::request_size::{self, Moved};
use super::{Iostat, NO_COLUMNS, READ, Report, Reports, Unit, WRITTEN, add};
use crate::derived::Printed;
use crate::number::parse_number;

/// Names that sysstat 11 has in place of the headings.
const READ_OF_11: [Unit; 2] = [("rkB", 1.0), ("kB_read_per_sec", 1.0)];

/// The same of what was written.
const WRITTEN_OF_11: [Unit; 2] = [("wkB", 1.0), ("kB_wrtn_per_sec", 1.0)];

/// The reports of all hosts in the text, which may have several documents one after the other.
pub(super) fn reports(text: &str) -> Result<Reports, String> {
    let mut reports = Reports::default();
    for document in Deserializer::from_str(text).into_iter::<Value>() {
        let all = document.map_err(|error| {
            format!("its JSON cannot be read ({error}): end iostat with SIGINT")
        })?;
        let hosts = all["sysstat"]["hosts"].as_array().ok_or("its JSON is not from iostat")?;
        for statistics in hosts.iter().filter_map(|host| host["statistics"].as_array()) {
            // Each recording begins with the mean since the boot.
            let Some((boot, measured)) = statistics.split_first() else { continue };
            report(boot)?;
            reports.has_boot = true;
            for one in measured {
                reports.measured.push(report(one)?);
            }
        }
    }
    Ok(reports)
}

fn report(statistics: &Value) -> Result<Report, String> {
    let mut report = Report::new();
    for disk in statistics["disk"].as_array().ok_or(NO_COLUMNS)? {
        let name = disk["disk_device"].as_str().ok_or("a disk of its JSON has no name")?;
        add(&mut report, name, device(disk, name)?)?;
    }
    Ok(report)
}

fn device(disk: &Value, name: &str) -> Result<Iostat, String> {
    let number = |key: &str| {
        let value = disk.get(key)?;
        let number = parse_number(&value.to_string());
        Some(number.map_err(|problem| format!("{key} of {name}: {problem}: record it again")))
    };
    let find = |units: &[Unit], of_11: &[Unit]| {
        let mut all = units.iter().chain(of_11);
        let found = all.find_map(|(key, kb)| Some(number(key)?.map(|value| value * kb)));
        found.unwrap_or_else(|| Err(NO_COLUMNS.to_owned()))
    };
    let mut found = Iostat {
        reads_per_s: number("r/s").or_else(|| number("r")).transpose()?,
        read_kb_per_s: Some(find(&READ, &READ_OF_11)?),
        written_kb_per_s: Some(find(&WRITTEN, &WRITTEN_OF_11)?),
        ..Iostat::default()
    };
    let printed = |key: &str| Printed::parse(&disk.get(key)?.to_string());
    let moved = |units: &[Unit]| {
        let found = units.iter().find_map(|(key, kb)| Some((printed(key)?, *kb)));
        Moved { printed: found.map(|(printed, _)| printed), kb: found.map_or(1.0, |(_, kb)| kb) }
    };
    request_size::check(&mut found, moved(&READ), moved(&WRITTEN), printed);
    Ok(found)
}
