//! Reports of `iostat -o JSON`.

use serde_json::Value;

use super::{Iostat, NO_COLUMNS, READ, Report, Unit, WRITTEN};

/// The reports of all hosts in the text.
pub(super) fn reports(text: &str) -> Result<Vec<Report>, String> {
    let all: Value = serde_json::from_str(text)
        .map_err(|error| format!("its JSON cannot be read ({error}): end iostat with SIGINT"))?;
    let hosts = all["sysstat"]["hosts"].as_array().ok_or("its JSON is none of iostat")?;
    let statistics = hosts.iter().filter_map(|host| host["statistics"].as_array()).flatten();
    statistics.map(|one| report(&one["disk"])).collect()
}

fn report(disks: &Value) -> Result<Report, String> {
    let disks = disks.as_array().map(Vec::as_slice).unwrap_or_default();
    disks.iter().map(|disk| Ok((name(disk)?, device(disk).ok_or(NO_COLUMNS)?))).collect()
}

fn name(disk: &Value) -> Result<String, String> {
    let name = disk["disk_device"].as_str().ok_or("a disk of its JSON has no name")?;
    Ok(name.to_owned())
}

fn device(disk: &Value) -> Option<Iostat> {
    let find =
        |units: &[Unit]| units.iter().find_map(|(head, kb)| Some(disk.get(*head)?.as_f64()? * kb));
    Some(Iostat {
        reads_per_s: disk.get("r/s").and_then(Value::as_f64),
        read_kb_per_s: Some(find(&READ)?),
        written_kb_per_s: Some(find(&WRITTEN)?),
    })
}
