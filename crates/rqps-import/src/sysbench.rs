//! Logs of sysbench 0.4 to 1.1: what one run of it printed, and several of them as a run.

mod agree;
mod checks;
mod flaw;
mod histogram;
mod line;
mod log;
mod part;
mod slice;

use std::path::{Path, PathBuf};

use rqps_model::{Dbms, StepInfo, Tool};

pub use agree::Latency;
pub use flaw::Flaw;
pub use line::Interval;
pub use log::Log;

use crate::folder::read_text;
use crate::sheet::{Sheet, SheetStep};
use crate::steps::Names;
use crate::{Error, Imports, Options};

/// A log, and what the user says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// The file.
    pub path: PathBuf,
    /// The system; the file's name without its ending where absent.
    pub label: Option<String>,
    /// The step; the script that the log names, else `sysbench`, where absent.
    pub step: Option<String>,
}

impl LogFile {
    /// Reads `FILE`, `LABEL=FILE` or `LABEL:STEP=FILE`. A file that is there is one, whatever its name.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let plain = |path: &str| Self { path: path.into(), label: None, step: None };
        let Some((said, path)) = text.split_once('=').filter(|_| !Path::new(text).exists()) else {
            return plain(text);
        };
        let (label, step) = match said.split_once(':') {
            Some((label, step)) => (label, Some(step.to_owned())),
            None => (said, None),
        };
        Self { label: Some(label.to_owned()), step, ..plain(path) }
    }
}

/// A log that can be imported, and what it is of.
struct Entry<'f> {
    path: &'f Path,
    label: String,
    step: String,
    clients: u32,
    info: StepInfo,
    log: Log,
}

impl<'f> Entry<'f> {
    fn read(file: &'f LogFile, names: &Names, options: &Options) -> Result<Self, Error> {
        let is_empty =
            |said: &Option<String>| said.as_ref().is_some_and(|said| said.trim().is_empty());
        if is_empty(&file.label) || is_empty(&file.step) {
            let problem = "its label or step is empty: write LABEL=FILE or LABEL:STEP=FILE";
            return Err(Error::file(&file.path, problem));
        }
        let text = read_text(&file.path)?;
        let log = Log::parse(&text).map_err(|problem| Error::file(&file.path, problem))?;
        let step = file.step.clone().or_else(|| log.script.clone());
        let step = step.unwrap_or_else(|| "sysbench".to_owned());
        let clients = options.clients.or(log.threads).filter(|n| *n > 0);
        Ok(Self {
            path: &file.path,
            label: file.label.clone().unwrap_or_else(|| stem(&file.path)),
            clients: clients.ok_or_else(|| Error::UnknownClients { path: file.path.clone() })?,
            info: names.of_script(&step),
            step,
            log,
        })
    }

    fn is_of_row(&self, row: &SheetStep) -> bool {
        row.info.name == self.info.name && row.clients == self.clients
    }

    fn is_same_cell(&self, other: &Self) -> bool {
        self.label == other.label
            && self.info.name == other.info.name
            && self.clients == other.clients
    }
}

/// The run of some logs: systems and steps in the order in which they come. Several logs of one step on one
/// system are not taken.
///
/// # Errors
/// Where no log can be taken over, and what only the user can say.
pub fn import(files: &[LogFile], options: &Options) -> Result<Imports, Error> {
    let names = Names::new()?;
    let name = options.name.clone().unwrap_or_else(|| "sysbench".to_owned());
    let mut sheet = Sheet { name, ..Sheet::default() };
    let mut imports = Imports::default();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for file in files {
        match Entry::read(file, &names, options) {
            Ok(entry) => entries.push(entry),
            Err(problem) => imports.skipped.push(problem),
        }
    }
    for (idx, entry) in entries.iter().enumerate() {
        let same: Vec<&Entry<'_>> = entries.iter().filter(|e| e.is_same_cell(entry)).collect();
        if same.len() == 1 {
            add(entry, &mut sheet);
        } else if entries[..idx].iter().all(|before| !before.is_same_cell(entry)) {
            imports.skipped.push(Error::Twice {
                paths: same.iter().map(|e| e.path.to_path_buf()).collect(),
                label: entry.label.clone(),
                step: entry.step.clone(),
            });
        }
    }
    let n = sheet.labels.len();
    for row in &mut sheet.steps {
        row.cells.resize_with(n, || None);
    }
    if !sheet.steps.is_empty() {
        imports.runs.push(sheet.into_run(Tool::Sysbench, options)?);
    }
    let first = files.first().map_or(Path::new(""), |file| &file.path);
    imports.or_error(first)
}

/// Adds the only log of a step on a system.
fn add(entry: &Entry<'_>, sheet: &mut Sheet) {
    let Entry { path, label, info, clients, log, .. } = entry;
    let path = path.display();
    sheet.notes.extend(log.flaws.iter().map(|flaw| format!("{path}: {flaw}.")));
    let at = position(sheet, label.clone());
    let row = match sheet.steps.iter().position(|row| entry.is_of_row(row)) {
        Some(row) => row,
        None => {
            let (info, clients) = (info.clone(), *clients);
            sheet.steps.push(SheetStep { info, clients, cells: Vec::new() });
            sheet.steps.len() - 1
        }
    };
    let cells = &mut sheet.steps[row].cells;
    cells.resize_with(sheet.labels.len().max(cells.len()), || None);
    cells[at] = Some(log.to_slice().into());
    if let Some(dbms) = dbms(log) {
        sheet.drivers.entry(label.clone()).or_insert(dbms);
    }
}

/// The column of a label, a new one where it is not there yet.
fn position(sheet: &mut Sheet, label: String) -> usize {
    match sheet.labels.iter().position(|known| *known == label) {
        Some(at) => at,
        None => {
            sheet.labels.push(label);
            sheet.labels.len() - 1
        }
    }
}

fn stem(path: &Path) -> String {
    let path = if path.extension().is_some_and(|end| end == "gz") {
        path.with_extension("")
    } else {
        path.to_path_buf()
    };
    path.file_stem().map_or_else(|| "sysbench".to_owned(), |s| s.to_string_lossy().into_owned())
}

/// The family that the driver says; which of its two servers speaks MySQL's protocol, it does not.
fn dbms(log: &Log) -> Option<Dbms> {
    match log.driver.as_deref() {
        Some("pgsql") => Some(Dbms::Postgres),
        Some("mysql") => Some(Dbms::Mysql),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_log() {
        let said = |text: &str| {
            let LogFile { path, label, step } = LogFile::parse(text);
            (path.display().to_string(), label.unwrap_or_default(), step.unwrap_or_default())
        };
        let words = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(said("my8043.log"), words("my8043.log", "", ""));
        assert_eq!(said("my8043=a/b.log"), words("a/b.log", "my8043", ""));
        assert_eq!(said("my8043:scan=a=b.log"), words("a=b.log", "my8043", "scan"));
    }
}
