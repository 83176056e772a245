//! Raw files: per system a directory with the client's output of each step, `sb.o.STEP.range100.pk1.dop1`, and
//! beside it either metrics (`sb.met.`) or what they are made from (`sb.vm.` and `sb.io.`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rqps_model::{Metric, Slice, Stated};

use super::{is_table, run_name};
use crate::folder::{Folder, LeftOut, is_packed, read_text};
use crate::iostat::{self, Found};
use crate::sheet::{Sheet, SheetStep};
use crate::steps::{FileName, Names};
use crate::sysbench::Log;
use crate::vmstat::{self, Vmstat};
use crate::{Error, Options, clients};

/// How the client's output begins.
const OUTPUT: &str = "sb.o.";

/// What a log says that is none.
const NO_LOG: &str = "this is no log of sysbench";

/// A system's directory and its label.
struct SystemDir {
    label: String,
    folder: Folder,
}

/// A file that was not taken over.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SkippedFile {
    name: String,
    why: String,
}

/// What was not taken over, with the systems that have such a file.
type Skipped = BTreeMap<SkippedFile, Vec<String>>;

/// A step's log on a system, or why there is none.
struct LogEntry {
    name: FileName,
    file: String,
    log: Result<Log, String>,
}

/// The systems of a folder: itself, or each of its directories with such files.
pub(super) fn read(folder: &Folder, options: &Options) -> Result<Sheet, Error> {
    let dir = &folder.dir;
    let SystemDirs { systems, mut problems } = system_dirs(folder);
    if systems.is_empty() {
        return Err(match problems.pop() {
            None => nothing(folder),
            Some(only) if problems.is_empty() => only,
            Some(last) => {
                problems.push(last);
                Error::NothingTaken { dir: dir.clone(), problems }
            }
        });
    }
    let mut sheet = Sheet {
        name: run_name(dir, None, options),
        labels: systems.iter().map(|system| system.label.clone()).collect(),
        notes: problems.iter().map(crate::sheet::note).collect(),
        ..Sheet::default()
    };
    let mut skipped = Skipped::new();
    let mut by_system: Vec<Vec<LogEntry>> = Vec::new();
    for system in &systems {
        by_system.push(logs(system, &mut skipped));
    }
    // The order in which steps ran is that in which their files were written, as far as that was kept; the
    // order of names is the same on every host.
    let mut names: Vec<FileName> = Vec::new();
    for entry in by_system.iter().flatten() {
        if !names.contains(&entry.name) {
            names.push(entry.name.clone());
        }
    }
    let known = Names::new()?;
    let mut own_names = Vec::new();
    for name in names {
        let of_logs = || by_system.iter().flatten().find_map(|entry| entry.threads_of(&name));
        let clients = options.clients.or(name.clients).or_else(of_logs);
        let clients = clients.or_else(|| clients::of_dir(dir));
        let Some(clients) = clients else {
            let unknown = systems.iter().zip(&by_system).flat_map(|(system, entries)| {
                let own = entries.iter().filter(|entry| entry.name == name && entry.log.is_ok());
                own.map(|entry| Path::new(&system.label).join(&entry.file))
            });
            let problems = unknown.map(|path| Error::UnknownClients { path });
            sheet.notes.extend(problems.map(|problem| crate::sheet::note(&problem)));
            continue;
        };
        let mut cells = Vec::new();
        for (system, entries) in systems.iter().zip(&by_system) {
            let entry = entries.iter().find(|entry| entry.name == name);
            let log = entry.and_then(|entry| Some((entry, entry.log.as_ref().ok()?)));
            let slice =
                log.map(|(entry, log)| slice(system, &entry.file, log, options, &mut sheet.notes));
            cells.push(slice.map(Into::into));
        }
        sheet.steps.push(SheetStep { info: known.info(&name.step), clients, cells });
        own_names.push(name.own_name());
    }
    crate::sheet::tell_apart(&mut sheet.steps, &own_names);
    sheet.notes.extend(skipped.iter().map(|(file, labels)| skipped_note(file, labels)));
    if sheet.steps.iter().all(|step| step.cells.iter().all(Option::is_none)) {
        let problem = format!("none of its logs can be imported. {}", sheet.notes.join(" "));
        return Err(Error::file(dir, problem));
    }
    Ok(sheet)
}

impl LogEntry {
    /// The threads that the log of a step names.
    fn threads_of(&self, name: &FileName) -> Option<u32> {
        let log = self.log.as_ref().ok().filter(|_| self.name == *name)?;
        log.threads.filter(|n| *n > 0)
    }
}

/// Why there is nothing, and which directories have what could be imported.
fn nothing(folder: &Folder) -> Error {
    let has_some = |name: &&str| {
        let Ok(within) = Folder::read(&folder.dir.join(name)) else { return false };
        let is_system = |name: &str| {
            Folder::read(&within.dir.join(name)).is_ok_and(|own| own.names().any(is_output))
        };
        within.names().any(is_table) || within.dirs().any(is_system)
    };
    let within = folder.dirs().filter(has_some).map(str::to_owned).collect();
    let wanted = "no qps.abs.*.tsv, no o.met.* and no sb.o.*";
    Error::Nothing { dir: folder.dir.clone(), wanted, within }
}

fn is_output(name: &str) -> bool {
    name.starts_with(OUTPUT)
}

/// The directories of systems.
#[derive(Default)]
struct SystemDirs {
    systems: Vec<SystemDir>,
    /// Directories that cannot be read.
    problems: Vec<Error>,
}

fn system_dirs(folder: &Folder) -> SystemDirs {
    let is_system =
        |own: &Folder| own.names().any(is_output) || !own.left_out(is_output).is_empty();
    if is_system(folder) {
        let label = run_name(&folder.dir, None, &Options::default());
        let systems = vec![SystemDir { label, folder: folder.clone() }];
        return SystemDirs { systems, problems: Vec::new() };
    }
    let mut found = SystemDirs::default();
    for name in folder.dirs() {
        match Folder::read(&folder.dir.join(name)) {
            Ok(own) if is_system(&own) => {
                found.problems.extend(own.odd_names());
                found.systems.push(SystemDir { label: name.to_owned(), folder: own });
            }
            Ok(_) => {}
            Err(problem) => found.problems.push(problem),
        }
    }
    found
}

/// The logs of a system's steps. A file that is no log of sysbench, as that of a vacuum between steps, is no
/// step.
fn logs(system: &SystemDir, skipped: &mut Skipped) -> Vec<LogEntry> {
    for LeftOut { name, why } in system.folder.left_out(|name| name.starts_with("sb.")) {
        skipped.entry(SkippedFile { name, why }).or_default().push(system.label.clone());
    }
    let mut entries: Vec<LogEntry> = Vec::new();
    for file in system.folder.names() {
        let Some(name) = file.strip_prefix(OUTPUT).and_then(FileName::parse) else { continue };
        // `sb.o.pw.*` has what was done between steps.
        if name.step.family.starts_with("pw.") {
            continue;
        }
        let mut skip = |why: String| {
            let file = SkippedFile { name: file.to_owned(), why };
            skipped.entry(file).or_default().push(system.label.clone());
        };
        if is_packed(file) {
            skip("unpack it first".to_owned());
            continue;
        }
        let Some(path) = system.folder.path(file) else { continue };
        let log = match read_text(&path) {
            Ok(text) => Log::parse(&text),
            Err(Error::File { problem, .. }) => Err(problem),
            Err(problem) => Err(problem.sentence()),
        };
        if let Err(why) = &log {
            skip(why.clone());
        }
        let is_twice = entries.iter().any(|entry| entry.name == name);
        match log {
            Err(why) if why == NO_LOG => {}
            Ok(_) if is_twice => skip("another log is of the same step: move one away".to_owned()),
            log => entries.push(LogEntry { name, file: file.to_owned(), log }),
        }
    }
    entries
}

/// `Not taken over: x.my8043_a/sb.o.pgvac: this is no log of sysbench.`
fn skipped_note(file: &SkippedFile, labels: &[String]) -> String {
    let SkippedFile { name, why } = file;
    match labels {
        [label] => format!("Not taken over: {label}/{name}: {why}."),
        labels => format!("Not taken over: {name} of {}: {why}.", labels.join(", ")),
    }
}

/// One step on one system by its log and what was recorded beside it.
fn slice(
    system: &SystemDir,
    file: &str,
    log: &Log,
    options: &Options,
    notes: &mut Vec<String>,
) -> Slice {
    for flaw in &log.flaws {
        notes.push(format!("{}/{file}: {flaw}.", system.label));
    }
    let mut slice = log.to_slice();
    let metrics = Beside {
        system,
        suffix: file.strip_prefix(OUTPUT).unwrap_or_default(),
        rate: slice.figure(),
        options,
    }
    .metrics(notes);
    if let Some(stated) = &mut slice.stated {
        *stated = Stated { metrics, ..std::mem::take(stated) };
    }
    slice
}

/// A file beside a log.
struct FileText {
    /// Its name with the system's.
    shown: PathBuf,
    text: Result<String, Error>,
}

/// The files beside a log whose names end as its own.
struct Beside<'b> {
    system: &'b SystemDir,
    suffix: &'b str,
    rate: f64,
    options: &'b Options,
}

impl Beside<'_> {
    /// The text of a file of a kind, where it is there, with its name for messages.
    fn text(&self, kind: &str) -> Option<FileText> {
        let name = format!("sb.{kind}.{}", self.suffix);
        let path = self.system.folder.path(&name)?;
        Some(FileText { shown: Path::new(&self.system.label).join(name), text: read_text(&path) })
    }

    /// The metrics, in the field's order. A file that cannot be read is named in a note.
    fn metrics(&self, notes: &mut Vec<String>) -> Vec<(Metric, f64)> {
        let mut note = |problem: Error| notes.push(crate::sheet::note(&problem));
        if let Some(FileText { shown, text }) = self.text("met") {
            match text.and_then(|text| of_met(&text, &shown)) {
                Ok(metrics) => return metrics,
                Err(problem) => note(problem),
            }
        }
        if self.rate <= 0.0 {
            return Vec::new();
        }
        let mut out = Vec::new();
        if let Some(FileText { shown, text }) = self.text("vm") {
            match text.and_then(|text| Vmstat::parse(&text).map_err(|why| why.in_file(&shown))) {
                Ok(Some(found)) => {
                    out.push((Metric::HostCpuShare, found.cpu_pct / self.rate));
                    out.push((Metric::ContextSwitches, found.switches_per_s / self.rate));
                }
                Ok(None) => note(Error::file(&shown, vmstat::ONLY_BOOT)),
                Err(problem) => note(problem),
            }
        }
        out.extend(self.storage(notes));
        if !out.is_empty() {
            out.push((Metric::Rate, self.rate));
        }
        out
    }

    /// What iostat printed.
    fn storage(&self, notes: &mut Vec<String>) -> Vec<(Metric, f64)> {
        let Some(FileText { shown, text }) = self.text("io") else { return Vec::new() };
        let device = self.options.device.as_deref();
        let found =
            text.and_then(|text| iostat::parse(&text, device).map_err(|why| why.in_file(&shown)));
        match found {
            Ok(Found::Device(found)) => [
                (Metric::Reads, found.reads_per_s),
                (Metric::ReadKb, found.read_kb_per_s),
                (Metric::WrittenKb, found.written_kb_per_s),
            ]
            .into_iter()
            .filter_map(|(metric, value)| Some((metric, value? / self.rate)))
            .collect(),
            Ok(Found::Several(names)) => {
                let note = format!(
                    "Storage of {} was left out: its files have several devices ({}); name one with --device.",
                    self.system.label,
                    names.join(", ")
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
                Vec::new()
            }
            Ok(Found::Nothing(missing)) => {
                let problem = Error::file(&shown, missing.to_string());
                notes.push(crate::sheet::note(&problem));
                Vec::new()
            }
            Err(problem) => {
                notes.push(crate::sheet::note(&problem));
                Vec::new()
            }
        }
    }
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
            if found.iter().any(|(known, _)| *known == metric) {
                let problem = format!("heading {head} comes twice: take one of the columns out");
                return Err(Error::line(path, idx, problem));
            }
            found.extend(value.map(|value| (metric, value)));
        }
    }
    found.sort_by_key(|(metric, _)| Metric::STATED.iter().position(|m| m == metric));
    Ok(found)
}
