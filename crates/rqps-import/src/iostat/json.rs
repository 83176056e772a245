//! Reports of `iostat -o JSON`.

use serde_json::Value;

use super::{Iostat, NO_COLUMNS, READ, Report, Reports, Unit, WRITTEN};

/// Names that sysstat 11 has in place of the headings.
const READ_OF_11: [Unit; 2] = [("rkB", 1.0), ("kB_read_per_sec", 1.0)];

/// The same of what was written.
const WRITTEN_OF_11: [Unit; 2] = [("wkB", 1.0), ("kB_wrtn_per_sec", 1.0)];

/// The reports of all hosts in the text.
pub(super) fn reports(text: &str) -> Result<Reports, String> {
    let all: Value = serde_json::from_str(text)
        .map_err(|error| format!("its JSON cannot be read ({error}): end iostat with SIGINT"))?;
    let hosts = all["sysstat"]["hosts"].as_array().ok_or("its JSON is none of iostat")?;
    let statistics = hosts.iter().filter_map(|host| host["statistics"].as_array()).flatten();
    let whole = statistics.map(|one| report(&one["disk"])).collect::<Result<_, _>>()?;
    Ok(Reports { whole, is_cut: false })
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
    let number = |name: &str| disk.get(name).and_then(Value::as_f64);
    let find = |units: &[Unit], of_11: &[Unit]| {
        units.iter().chain(of_11).find_map(|(name, kb)| Some(number(name)? * kb))
    };
    Some(Iostat {
        reads_per_s: number("r/s").or_else(|| number("r")),
        read_kb_per_s: Some(find(&READ, &READ_OF_11)?),
        written_kb_per_s: Some(find(&WRITTEN, &WRITTEN_OF_11)?),
    })
}
