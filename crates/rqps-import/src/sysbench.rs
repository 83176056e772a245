//! Logs of sysbench 0.4 to 1.1: what one run of it printed, and several of them as a run.

mod flaw;
mod histogram;
mod line;
mod log;
mod slice;

use std::path::{Path, PathBuf};

use rqps_model::{Dbms, Tool};

pub use flaw::Flaw;
pub use line::Interval;
pub use log::{Latency, Log};

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

/// The run of some logs: systems and steps in the order in which they come.
///
/// # Errors
/// Two logs of one step on one system, what only the user can say, and logs that all cannot be read or have
/// not ended.
pub fn import(files: &[LogFile], options: &Options) -> Result<Imports, Error> {
    let names = Names::new()?;
    let name = options.name.clone().unwrap_or_else(|| "sysbench".to_owned());
    let mut sheet = Sheet { name, ..Sheet::default() };
    let mut imports = Imports::default();
    for file in files {
        let log = read_text(&file.path)
            .and_then(|text| Log::parse(&text).map_err(|problem| Error::file(&file.path, problem)));
        let log = match log {
            Ok(log) => log,
            Err(problem) => {
                imports.skipped.push(problem);
                continue;
            }
        };
        let path = file.path.display();
        sheet.notes.extend(log.flaws.iter().map(|flaw| format!("{path}: {flaw}.")));
        let label = file.label.clone().unwrap_or_else(|| stem(&file.path));
        let at = position(&mut sheet, label.clone());
        let step = file.step.clone().or_else(|| log.script.clone());
        let step = step.unwrap_or_else(|| "sysbench".to_owned());
        let clients = options.clients.or(log.threads).filter(|n| *n > 0);
        let clients = clients.ok_or_else(|| Error::UnknownClients { path: file.path.clone() })?;
        let n = sheet.labels.len();
        let info = names.of_script(&step);
        let same =
            |known: &&mut SheetStep| known.info.name == info.name && known.clients == clients;
        let row = match sheet.steps.iter_mut().find(same) {
            Some(row) => row,
            None => {
                sheet.steps.push(SheetStep { info, clients, cells: Vec::new() });
                let last = sheet.steps.len() - 1;
                &mut sheet.steps[last]
            }
        };
        row.cells.resize_with(n.max(row.cells.len()), || None);
        if row.cells[at].is_some() {
            return Err(Error::Twice { path: file.path.clone(), label, step });
        }
        row.cells[at] = Some(log.to_slice().into());
        if let Some(dbms) = dbms(&log) {
            sheet.drivers.entry(label).or_insert(dbms);
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
