//! Raw folders of the Insert Benchmark: per system a folder, in it one per step with the logs of its clients.
//!
//! ```text
//!   DIR/LABEL/l.i0/o.ib.dop1.1      the log of client 1 of 1
//!   DIR/LABEL/qr100.L1/o.res.dop1   the scripts' summary
//! ```

use std::path::{Path, PathBuf};

use rqps_model::Tool;

use super::figures::{self, Loaded};
use super::step::StepName;
use super::step_dir::{Place, StepDir, StepOptions, has_logs};
use crate::copies::{self, FileText};
use crate::folder::{Folder, is_packed};
use crate::mytools::run_name;
use crate::recording::{self, Recording};
use crate::sheet::{self, Cell, Sheet, SheetStep};
use crate::system_dirs::{SystemDir, SystemDirs};
use crate::{Error, Imports, Options};

/// A step on a system.
struct Measured {
    system_idx: usize,
    step: StepName,
    clients: u32,
    cell: Cell,
}

/// What is told of all steps together.
#[derive(Default)]
struct Told {
    recordings: Vec<Recording>,
    of_clients: Vec<FileText>,
}

/// Whether a folder is one system's: it has a folder of a step in it, which has logs or cannot be read.
fn is_system(folder: &Folder) -> bool {
    let is_step = |name: &str| {
        let has_logs = || Folder::read(&folder.dir.join(name)).map_or(true, |own| has_logs(&own));
        StepName::parse(name).is_some() && has_logs()
    };
    folder.dirs().any(is_step)
}

/// Whether a folder, or one in it, is a system's.
pub(super) fn is_raw(folder: &Folder) -> bool {
    is_system(folder) || !SystemDirs::within(folder, is_system).systems.is_empty()
}

/// The run of a folder: of one system, or of all that it has.
///
/// # Errors
/// Folders without a step that can be taken over.
pub(super) fn import(folder: &Folder, options: &Options) -> Result<Imports, Error> {
    let SystemDirs { mut systems, problems } = if is_system(folder) {
        let label = run_name(&folder.dir, None, &Options::default());
        SystemDirs::of_one(folder, label)
    } else {
        SystemDirs::within(folder, is_system)
    };
    shorten(&mut systems);
    let labels = systems.iter().map(|system| system.label.clone()).collect();
    let notes = folder.odd_names().chain(problems).map(|problem| sheet::note(&problem)).collect();
    let name = run_name(&folder.dir, None, options);
    let mut sheet = Sheet { name, labels, notes, ..Sheet::default() };
    let mut all: Vec<Measured> = Vec::new();
    let mut told = Told::default();
    for (idx, system) in systems.iter().enumerate() {
        all.extend(measured(idx, system, options, &mut sheet, &mut told));
    }
    sheet.notes.extend(recording::short_notes(&told.recordings));
    sheet.notes.extend(copies::notes(&told.of_clients));
    all.sort_by(|a, b| (a.step.order(), a.clients).cmp(&(b.step.order(), b.clients)));
    let n = systems.len();
    for Measured { system_idx, step, clients, cell } in all {
        let info = step.info();
        let same = |row: &&mut SheetStep| row.info.name == info.name && row.clients == clients;
        if let Some(row) = sheet.steps.last_mut().filter(same) {
            row.cells[system_idx] = Some(cell);
            continue;
        }
        let mut cells: Vec<Option<Cell>> = std::iter::repeat_with(|| None).take(n).collect();
        cells[system_idx] = Some(cell);
        sheet.steps.push(SheetStep { info, clients, cells });
    }
    if sheet.steps.is_empty() {
        let problem = format!("none of its steps can be imported. {}", sheet.notes.join(" "));
        return Err(Error::file(&folder.dir, problem));
    }
    Ok(Imports { runs: vec![sheet.into_run(Tool::Iibench, options)?], skipped: Vec::new() })
}

/// The scripts put the rows in millions before each label, `500m.my8406_rel.cz12a`: what all have says nothing
/// of a system.
fn shorten(systems: &mut [SystemDir]) {
    let split = |label: &str| {
        let (rows, rest) = label.split_once('.')?;
        let digits = rows.strip_suffix('m')?;
        let is_rows = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        (is_rows && !rest.is_empty()).then(|| (rows.to_owned(), rest.to_owned()))
    };
    let Some((rows, _)) = systems.first().and_then(|system| split(&system.label)) else { return };
    let short: Option<Vec<String>> = systems
        .iter()
        .map(|system| split(&system.label).filter(|(own, _)| *own == rows).map(|(_, rest)| rest))
        .collect();
    for (system, label) in systems.iter_mut().zip(short.unwrap_or_default()) {
        system.label = label;
    }
}

/// The steps of a system in their order. What cannot be taken over is noted in the sheet.
fn measured(
    idx: usize,
    system: &SystemDir,
    options: &Options,
    sheet: &mut Sheet,
    told: &mut Told,
) -> Vec<Measured> {
    let mut out = Vec::new();
    let mut steps: Vec<StepName> = Vec::new();
    for name in system.folder.names() {
        let shown = Path::new(&system.label).join(name);
        match unusable(&system.folder, name, &shown) {
            Some(problem) => sheet.notes.push(sheet::note(&problem)),
            None => steps.extend(StepName::parse(name).filter(|_| !is_packed(name))),
        }
    }
    steps.sort_by(|a, b| a.order().cmp(&b.order()));
    let mut loaded = Loaded::default();
    for step in steps {
        let shown: PathBuf = Path::new(&system.label).join(step.as_str());
        let read = Folder::read(&system.folder.dir.join(step.as_str())).and_then(|folder| {
            let place = Place { folder: &folder, shown: &shown };
            let device = options.device.as_deref();
            StepDir::read(&place, &step, StepOptions { device, loaded: loaded.rows })
        });
        let mut dir = match read {
            Ok(dir) => dir,
            Err(problem) => {
                sheet.notes.push(sheet::note(&problem));
                continue;
            }
        };
        sheet.notes.extend(dir.notes.iter().cloned());
        told.recordings.extend(dir.recordings.iter().cloned());
        told.of_clients.extend(dir.of_clients.iter().map(|log| log.file.clone()));
        if let Some(dbms) = dir.logs.iter().find_map(|log| log.flags.dbms) {
            sheet.drivers.entry(system.label.clone()).or_insert(dbms);
        }
        let res = shown.join(format!("o.res.dop{}", dir.clients));
        if let Some(problem) = figures::leave_out_reached(&step, &mut dir) {
            sheet.notes.push(sheet::note(&Error::file(&res, problem)));
        }
        let slow_start = figures::failed_by_the_start(&step, &dir);
        sheet.notes.extend(slow_start.map(|text| format!("{}: {text}.", shown.display())));
        let clients = dir.clients;
        loaded.take(&step, &dir);
        told.of_clients.extend(dir.of_recorders.iter().cloned());
        match figures::cell(&step, &dir, loaded) {
            Ok(cell) => out.push(Measured { system_idx: idx, step, clients, cell }),
            Err(problem) => sheet.notes.push(sheet::note(&Error::file(&shown, problem))),
        }
    }
    out
}

/// What looks like a step and cannot be read as one; `None` for a step, and for anything else.
fn unusable(folder: &Folder, name: &str, shown: &Path) -> Option<Error> {
    let path = folder.path(name)?;
    let begins = ["l.", "qr", "qp", "q.", "q1", "q5"].iter().any(|begin| name.starts_with(begin));
    if is_packed(name) {
        return begins.then(|| Error::file(shown, "unpack it first"));
    }
    if !path.is_dir() {
        return None;
    }
    let has_logs = Folder::read(&path).is_ok_and(|own| has_logs(&own));
    (has_logs && StepName::parse(name).is_none()).then(|| {
        let problem = "its name is not that of a step: rename it to l.i0, l.x, l.i1, qr100.L1 or \
                       qp100.L2; import a repetition from its own folder";
        Error::file(shown, problem)
    })
}
