//! Logs of sysbench 0.4 to 1.1: what one run of it printed, and several of them as a run.

mod agree;
mod checks;
mod command;
mod command_check;
mod comparable;
mod flaw;
mod histogram;
mod intervals;
mod line;
mod lines;
mod log;
mod part;
mod slice;
mod times;

use std::path::{Path, PathBuf};

use rqps_model::{Dbms, StepInfo, Tool};

pub(crate) use comparable::{NamedLog, OtherEvents, compare};

pub use agree::Latency;
pub use flaw::Flaw;
pub use line::Interval;
pub use log::Log;
pub(crate) use log::NO_LOG;

use crate::copies::{Duplicate, duplicates};
use crate::folder::read_text;
use crate::label::LabelParts;
use crate::sheet::{Sheet, SheetStep};
use crate::steps::Names;
use crate::{Error, Imports, Options, clients};

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

    fn is_of_one_row(&self, other: &Self) -> bool {
        self.info.name == other.info.name && self.clients == other.clients
    }

    fn named_log(&self) -> NamedLog<'_> {
        NamedLog { name: self.path.display().to_string(), log: &self.log }
    }

    /// What the log says otherwise than its label or the command line.
    fn doubts(&self, options: &Options) -> Vec<String> {
        let path = self.path.display();
        let mut notes = Vec::new();
        notes.extend(driver_doubt(&self.label, &self.log).map(|doubt| format!("{path}: {doubt}")));
        if let (Some(said), Some(threads)) = (options.clients, self.log.threads)
            && said != threads
        {
            notes.push(clients::said_note(said, threads, &path.to_string()));
        }
        notes
    }

    fn is_same_cell(&self, other: &Self) -> bool {
        self.label == other.label && self.is_of_one_row(other)
    }
}

/// The run of some logs: systems and steps in the order in which they come. Several logs of one step on one
/// system are not taken.
///
/// # Errors
/// When no log can be imported, or facts that only the user knows are missing.
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
    imports.skipped.extend(take_out_twins(&mut entries));
    sheet.notes.extend(copies(&entries));
    sheet.notes.extend(entries.iter().flat_map(|entry| entry.doubts(options)));
    let others = take_out_other_events(&mut entries, options, &mut sheet.notes);
    imports.skipped.extend(others);
    for entry in &entries {
        add(entry, &mut sheet);
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

/// A note for each log that is the same as one before it, of another system or step.
fn copies(entries: &[Entry<'_>]) -> Vec<String> {
    let note = |Duplicate { own, first }: Duplicate<'_, Entry<'_>>| {
        format!(
            "{} is the same log as {}: of {} {} and of {} {}; check whose log it is",
            own.path.display(),
            first.path.display(),
            own.label,
            own.step,
            first.label,
            first.step
        )
    };
    duplicates(entries, |own, first| own.log == first.log).map(note).collect()
}

/// Takes out logs of one step on one system, all of them: nobody knows which is meant.
fn take_out_twins(entries: &mut Vec<Entry<'_>>) -> Vec<Error> {
    let mut problems = Vec::new();
    let mut twins: Vec<usize> = Vec::new();
    for (idx, entry) in entries.iter().enumerate() {
        let is_same = |other: &usize| entries[*other].is_same_cell(entry);
        let same: Vec<usize> = (0..entries.len()).filter(is_same).collect();
        if same.len() > 1 && same.first() == Some(&idx) {
            problems.push(Error::Twice {
                paths: same.iter().map(|idx| entries[*idx].path.to_path_buf()).collect(),
                label: entry.label.clone(),
                step: entry.step.clone(),
            });
            twins.extend(same);
        }
    }
    take_out(entries, &twins);
    problems
}

fn take_out(entries: &mut Vec<Entry<'_>>, out: &[usize]) {
    let mut idx = 0..;
    entries.retain(|_| idx.next().is_some_and(|idx: usize| !out.contains(&idx)));
}

/// Takes out logs whose events are not those of another log of their step: that of the base, else the first one.
fn take_out_other_events(
    entries: &mut Vec<Entry<'_>>,
    options: &Options,
    notes: &mut Vec<String>,
) -> Vec<Error> {
    let mut problems = Vec::new();
    let mut refused: Vec<usize> = Vec::new();
    for (first, entry) in entries.iter().enumerate() {
        if entries[..first].iter().any(|before| before.is_of_one_row(entry)) {
            continue;
        }
        let is_of_row = |idx: &usize| entries[*idx].is_of_one_row(entry);
        let row: Vec<usize> = (first..entries.len()).filter(is_of_row).collect();
        let named = row.iter().map(|idx| entries[*idx].named_log());
        let is_base = |idx: &usize| options.base.as_ref() == Some(&entries[*idx].label);
        let reference = row.iter().position(is_base).unwrap_or(0);
        let compared = compare(&named.collect::<Vec<_>>(), reference);
        let step = &entry.step;
        notes.extend(compared.notes);
        for OtherEvents { idx, why } in compared.refused {
            let problem =
                format!("{why}; give each script its own step in place of {step}: LABEL:STEP=FILE");
            problems.push(Error::file(entries[row[idx]].path, problem));
            refused.push(row[idx]);
        }
    }
    take_out(entries, &refused);
    problems
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

/// Ends of files' names that are no part of a label.
const ENDS: [&str; 6] = [".gz", ".zst", ".log", ".txt", ".out", ".res"];

/// The label that a file's name is: `my8.0.43` of `my8.0.43.log.gz`.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut name = name.unwrap_or_default();
    while let Some(end) = ENDS.iter().find(|end| name.len() > end.len() && name.ends_with(**end)) {
        name.truncate(name.len() - end.len());
    }
    if name.is_empty() { "sysbench".to_owned() } else { name }
}

/// What a log's driver says otherwise than its label.
pub(crate) fn driver_doubt(label: &str, log: &Log) -> Option<String> {
    let of_label = LabelParts::of(label, None)?.dbms;
    let is_other = of_label.is_mysql_family() != dbms(log)?.is_mysql_family();
    let driver = log.driver.as_deref().unwrap_or_default();
    is_other.then(|| {
        format!(
            "its command has --db-driver={driver}, but label {label} names another DBMS: check \
             whose log it is"
        )
    })
}

/// The family that the driver says; which of its two servers speaks MySQL's protocol, it does not.
pub(crate) fn dbms(log: &Log) -> Option<Dbms> {
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
