//! Raw files: per system a directory with the client's output of each step, `sb.o.STEP.range100.pk1.dop1`, and
//! beside it either metrics (`sb.met.`) or what they are made from (`sb.vm.` and `sb.io.`).

use std::path::{Path, PathBuf};

use rqps_model::{Metric, Slice, Stated};

use super::run_name;
use crate::error::{read_names, read_text};
use crate::iostat::{self, Found};
use crate::sheet::{Sheet, SheetStep};
use crate::steps::{FileName, Names};
use crate::sysbench::Log;
use crate::vmstat::Vmstat;
use crate::{Error, Options};

/// How the client's output begins.
const OUTPUT: &str = "sb.o.";

/// A system's directory: its label, path, and the names of its files.
struct Place {
    label: String,
    dir: PathBuf,
    names: Vec<String>,
}

/// The systems of `dir`, which has `names`: itself, or each of its directories with such files.
pub(super) fn read(dir: &Path, names: &[String], options: &Options) -> Result<Sheet, Error> {
    let places = places(dir, names)?;
    if places.is_empty() {
        let wanted = "no qps.abs.*.tsv, no o.met.* and no sb.o.*";
        return Err(Error::Nothing { dir: dir.to_path_buf(), wanted });
    }
    let known = Names::new()?;
    let mut sheet = Sheet {
        name: run_name(dir, None, options),
        labels: places.iter().map(|place| place.label.clone()).collect(),
        ..Sheet::default()
    };
    // The order in which steps ran is that in which their files were written, as far as that was kept; the
    // order of names is the same on every host.
    let mut found: Vec<FileName> = Vec::new();
    for place in &places {
        for name in &place.names {
            let step = name.strip_prefix(OUTPUT).and_then(FileName::parse);
            // `sb.o.pw.*` has what was done between steps.
            found.extend(step.filter(|step| !is_between(step) && !found.contains(step)));
        }
    }
    for name in found {
        let clients = options.clients.or(name.clients);
        let mut cells = Vec::new();
        for place in &places {
            cells.push(cell(place, &name, (options, &mut sheet.notes))?.map(Into::into));
        }
        let clients = clients.ok_or_else(|| Error::UnknownClients { path: dir.to_path_buf() })?;
        sheet.steps.push(SheetStep { info: known.info(&name.step), clients, cells });
    }
    Ok(sheet)
}

fn is_between(name: &FileName) -> bool {
    name.step.family.starts_with("pw.")
}

fn places(dir: &Path, names: &[String]) -> Result<Vec<Place>, Error> {
    let is_output = |name: &String| name.starts_with(OUTPUT);
    if names.iter().any(is_output) {
        let label = run_name(dir, None, &Options::default());
        return Ok(vec![Place { label, dir: dir.to_path_buf(), names: names.to_vec() }]);
    }
    let mut places = Vec::new();
    for name in names {
        let own = dir.join(name);
        if !own.is_dir() {
            continue;
        }
        let names = read_names(&own)?;
        if names.iter().any(is_output) {
            places.push(Place { label: name.clone(), dir: own, names });
        }
    }
    Ok(places)
}

/// One step on one system; `None` where it has no such file, or one of a run that did not end.
fn cell(
    place: &Place,
    name: &FileName,
    (options, notes): (&Options, &mut Vec<String>),
) -> Result<Option<Slice>, Error> {
    let is_same =
        |file: &&String| file.strip_prefix(OUTPUT).and_then(FileName::parse).as_ref() == Some(name);
    let Some(file) = place.names.iter().find(is_same) else { return Ok(None) };
    let log = match Log::parse(&read_text(&place.dir.join(file))?) {
        Ok(log) => log,
        Err(problem) => {
            notes.push(format!("Not taken over: {}/{file}: {problem}.", place.label));
            return Ok(None);
        }
    };
    let mut slice = log.to_slice();
    let rate = slice.figure();
    let rest = file.strip_prefix(OUTPUT).unwrap_or_default();
    let metrics = metrics(place, rest, rate, (options, notes))?;
    if let Some(stated) = &mut slice.stated {
        *stated = Stated { metrics, ..std::mem::take(stated) };
    }
    Ok(Some(slice))
}

/// The metrics of the step whose files end in `rest`, in the field's order.
fn metrics(
    place: &Place,
    rest: &str,
    rate: f64,
    (options, notes): (&Options, &mut Vec<String>),
) -> Result<Vec<(Metric, f64)>, Error> {
    let path = |kind: &str| {
        let name = format!("sb.{kind}.{rest}");
        place.names.contains(&name).then(|| place.dir.join(name))
    };
    if let Some(path) = path("met") {
        return of_met(&read_text(&path)?, &path);
    }
    let mut out = Vec::new();
    if let Some(path) = path("vm")
        && let Some(found) = Vmstat::parse(&read_text(&path)?).map_err(|p| Error::file(&path, p))?
        && rate > 0.0
    {
        out.push((Metric::HostCpuShare, found.cpu_pct / rate));
        out.push((Metric::ContextSwitches, found.switches_per_s / rate));
    }
    if let Some(path) = path("io") {
        let device = options.device.as_deref();
        let found = iostat::parse(&read_text(&path)?, device).map_err(|p| Error::file(&path, p))?;
        match found {
            Found::Device(found) if rate > 0.0 => {
                out.push((Metric::Reads, found.reads_per_s / rate));
                out.push((Metric::ReadKb, found.read_kb_per_s / rate));
                out.push((Metric::WrittenKb, found.written_kb_per_s / rate));
            }
            Found::Several(names) => {
                let note = format!(
                    "Storage of {} was left out: its files have several devices ({}); name one with --device.",
                    place.label,
                    names.join(", ")
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
            Found::Device(_) | Found::Nothing => {}
        }
    }
    if !out.is_empty() {
        out.push((Metric::Rate, rate));
    }
    Ok(out)
}

/// Reads `sb.met.*`: two tables of one line, of iostat and of vmstat, each below its headings.
///
/// ```text
/// samp    r/s     rMB/s   w/s     wMB/s   r/o     rKB/o   wKB/o   o/s
/// 600     0.1     0.0     12.3    0.1     0.000   0.001   0.004   24575
/// samp    cs/s    cpu/s   cs/o    cpu/o
/// 600     94023   12.6    3.826   0.000514
/// ```
fn of_met(text: &str, path: &Path) -> Result<Vec<(Metric, f64)>, Error> {
    let mut found: Vec<(Metric, f64)> = Vec::new();
    let mut heads: Vec<&str> = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"samp") {
            heads = words;
            continue;
        }
        for (head, word) in std::mem::take(&mut heads).iter().zip(words) {
            let Some(metric) = Metric::STATED.into_iter().find(|m| m.heading() == *head) else {
                continue;
            };
            let value = crate::number::parse_quantity(word);
            let value = value.map_err(|problem| Error::line(path, idx, problem))?;
            found.extend(value.map(|value| (metric, value)));
        }
    }
    found.sort_by_key(|(metric, _)| Metric::STATED.iter().position(|m| m == metric));
    Ok(found)
}
