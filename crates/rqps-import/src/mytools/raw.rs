//! Raw files: per system a directory with the client's output of each step, `sb.o.STEP.range100.pk1.dop1`, and
//! beside it either metrics (`sb.met.`) or what they are made from (`sb.vm.` and `sb.io.`).

use std::collections::BTreeMap;
use std::path::Path;

use rqps_model::{Dbms, Slice, Stated};

use super::beside::Beside;
use super::{is_table, run_name};
use crate::copies::{self, FileText};
use crate::folder::{ExcludedFile, Folder, is_packed, read_text};
use crate::recording::{self, Recording};
use crate::sheet::{Sheet, SheetStep};
use crate::steps::{FileName, Names};
use crate::sysbench::{Log, NO_LOG, NamedLog, OtherEvents, compare, dbms, driver_doubt};
use crate::system_dirs::{SystemDir, SystemDirs};
use crate::{Error, Options, clients};

/// How the client's output begins.
const OUTPUT: &str = "sb.o.";

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
    text: Option<FileText>,
    /// Seconds before the measured time in which sysbench warmed up.
    warm_up_s: f64,
}

/// What is to be known of the steps, and the recordings beside them.
#[derive(Default)]
struct Told {
    notes: Vec<String>,
    recordings: Vec<Recording>,
    texts: Vec<FileText>,
    /// Whether a note names a log with other threads than `--clients`.
    has_other_clients: bool,
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
    let mut by_system: Vec<Vec<LogEntry>> =
        systems.iter().map(|system| logs(system, &mut skipped)).collect();
    sheet.drivers = drivers(&systems, &by_system);
    let names = step_names(&by_system);
    let of_dir = clients::of_dir(dir);
    for name in &names {
        let row = |entry: &LogEntry| {
            (entry.name == *name).then(|| entry.clients(name, options).or(of_dir))
        };
        let notes = take_out_other_events(&mut by_system, &systems, &mut skipped, row);
        sheet.notes.extend(notes);
    }
    let known = Names::new()?;
    let (mut own_names, mut unknown) = (Vec::new(), Vec::new());
    let mut told = Told::default();
    for name in names {
        let own = |entry: &LogEntry| entry.clients(&name, options).or(of_dir);
        // Systems that ran a step with other numbers of clients are in rows of their own.
        let mut rows: Vec<u32> = Vec::new();
        for entry in by_system.iter().flatten().filter(|entry| entry.name == name) {
            let clients = own(entry);
            if clients.is_none() && entry.log.is_ok() && !unknown.contains(&name) {
                unknown.push(name.clone());
            }
            rows.extend(clients.filter(|clients| !rows.contains(clients)));
        }
        for clients in rows {
            let mut cells = Vec::new();
            for (system, entries) in systems.iter().zip(&by_system) {
                let is_of_row =
                    |entry: &&LogEntry| entry.name == name && own(entry) == Some(clients);
                let entry = entries.iter().find(is_of_row);
                let log = entry.and_then(|entry| Some((entry, entry.log.as_ref().ok()?)));
                let slice = log.map(|(entry, log)| {
                    entry.note_other_clients(system, options, &mut told);
                    slice(system, entry, log, options, &mut told)
                });
                cells.push(slice.map(Into::into));
            }
            sheet.steps.push(SheetStep { info: known.info(&name.step), clients, cells });
            own_names.push(name.own_name());
        }
    }
    sheet.notes.append(&mut told.notes);
    sheet.notes.extend(recording::short_notes(&told.recordings));
    sheet.notes.extend(copies::notes(&told.texts));
    for (system, entries) in systems.iter().zip(&by_system) {
        sheet.notes.extend(unknown_clients(system, entries, &unknown));
    }
    crate::sheet::tell_apart(&mut sheet.steps, &own_names);
    sheet.notes.extend(skipped.iter().map(|(file, labels)| skipped_note(file, labels)));
    if sheet.steps.iter().all(|step| step.cells.iter().all(Option::is_none)) {
        let problem = format!("none of its logs can be imported. {}", sheet.notes.join(" "));
        return Err(Error::file(dir, problem));
    }
    Ok(sheet)
}

/// By label the DBMS that the commands of its logs name.
fn drivers(systems: &[SystemDir], by_system: &[Vec<LogEntry>]) -> BTreeMap<String, Dbms> {
    let mut drivers = BTreeMap::new();
    for (system, entries) in systems.iter().zip(by_system) {
        let driver = entries.iter().find_map(|entry| dbms(entry.log.as_ref().ok()?));
        drivers.extend(driver.map(|driver| (system.label.clone(), driver)));
    }
    drivers
}

/// The steps, in the order in which their files were written: that is the order in which they ran. Names without a
/// known time come in the same order on every host.
fn step_names(by_system: &[Vec<LogEntry>]) -> Vec<FileName> {
    let mut names: Vec<FileName> = Vec::new();
    for entry in by_system.iter().flatten() {
        if !names.contains(&entry.name) {
            names.push(entry.name.clone());
        }
    }
    names
}

/// Takes out logs of a step whose events are not those of the first system that ran it with as many clients.
/// The result is how other logs differ from that one.
fn take_out_other_events(
    by_system: &mut [Vec<LogEntry>],
    systems: &[SystemDir],
    skipped: &mut Skipped,
    clients: impl Fn(&LogEntry) -> Option<Option<u32>>,
) -> Vec<String> {
    let mut rows: BTreeMap<Option<u32>, Vec<(usize, usize)>> = BTreeMap::new();
    for (system_idx, entries) in by_system.iter().enumerate() {
        for (idx, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.log.is_ok()) {
            if let Some(clients) = clients(entry) {
                rows.entry(clients).or_default().push((system_idx, idx));
            }
        }
    }
    let mut notes = Vec::new();
    for row in rows.values() {
        let named = row.iter().filter_map(|&(system_idx, idx)| {
            let entry = &by_system[system_idx][idx];
            let name = format!("{}/{}", systems[system_idx].label, entry.file);
            Some(NamedLog { name, log: entry.log.as_ref().ok()? })
        });
        let compared = compare(&named.collect::<Vec<_>>(), 0);
        notes.extend(compared.notes);
        for OtherEvents { idx, why } in compared.refused {
            let (system_idx, idx) = row[idx];
            let entry = &mut by_system[system_idx][idx];
            let why = format!("{why}; import one of them alone");
            let file = SkippedFile { name: entry.file.clone(), why: why.clone() };
            skipped.entry(file).or_default().push(systems[system_idx].label.clone());
            entry.log = Err(why);
        }
    }
    notes
}

impl LogEntry {
    /// The clients of its step: what the user says, else its log, else its name.
    fn clients(&self, name: &FileName, options: &Options) -> Option<u32> {
        options.clients.or_else(|| self.threads()).or(name.clients)
    }

    /// The threads that the log names.
    fn threads(&self) -> Option<u32> {
        self.log.as_ref().ok()?.threads.filter(|n| *n > 0)
    }

    /// Tells of a name and a log with different numbers of clients.
    fn note_other_clients(&self, system: &SystemDir, options: &Options, told: &mut Told) {
        if let (Some(said), Some(own)) = (options.clients, self.threads())
            && said != own
            && !told.has_other_clients
        {
            let log = format!("{}/{}", system.label, self.file);
            told.notes.push(clients::said_note(said, own, &log));
            told.has_other_clients = true;
        }
        if let (None, Some(by_name), Some(by_log)) =
            (options.clients, self.name.clients, self.threads())
            && by_name != by_log
        {
            told.notes.push(format!(
                "{}/{}: its name says {by_name} clients, but its log {by_log}, which is used.",
                system.label, self.file
            ));
        }
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

fn system_dirs(folder: &Folder) -> SystemDirs {
    let is_system =
        |own: &Folder| own.names().any(is_output) || !own.excluded(is_output).is_empty();
    if is_system(folder) {
        let label = run_name(&folder.dir, None, &Options::default());
        return SystemDirs::of_one(folder, label);
    }
    SystemDirs::within(folder, is_system)
}

/// The logs of a system's steps. A file that is no log of sysbench, as that of a vacuum between steps, is no
/// step.
fn logs(system: &SystemDir, skipped: &mut Skipped) -> Vec<LogEntry> {
    for ExcludedFile { name, why } in system.folder.excluded(|name| name.starts_with("sb.")) {
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
        let (mut warm_up_s, mut own_text) = (0.0, None);
        let log = match read_text(&path) {
            Ok(text) => {
                warm_up_s = warm_up_seconds(&text);
                own_text = Some(FileText::new(Path::new(&system.label).join(file), &text));
                Log::parse(&text)
            }
            Err(Error::File { problem, .. }) => Err(problem),
            Err(problem) => Err(problem.sentence()),
        };
        match &log {
            // A folder has other files, too.
            Err(why) if why == NO_LOG => skip("this is no log of sysbench".to_owned()),
            Err(why) => skip(why.clone()),
            Ok(_) => {}
        }
        let is_twice = entries.iter().any(|entry| entry.name == name);
        match log {
            Err(why) if why == NO_LOG => {}
            Ok(_) if is_twice => {
                skip("another log is of the same step: remove one of them".to_owned());
            }
            log => entries.push(LogEntry {
                name,
                file: file.to_owned(),
                log,
                text: own_text,
                warm_up_s,
            }),
        }
    }
    entries
}

/// Notes on a system's logs of steps whose numbers of clients nothing tells.
fn unknown_clients<'e>(
    system: &SystemDir,
    entries: &'e [LogEntry],
    unknown: &'e [FileName],
) -> impl Iterator<Item = String> + use<'e> {
    let label = system.label.clone();
    let own = entries.iter().filter(|entry| entry.log.is_ok() && unknown.contains(&entry.name));
    own.map(move |entry| {
        let path = Path::new(&label).join(&entry.file);
        crate::sheet::note(&Error::UnknownClients { path })
    })
}

/// The seconds of `Warming up for 5 seconds...`.
fn warm_up_seconds(text: &str) -> f64 {
    let of_line = |line: &str| {
        line.strip_prefix("Warming up for ")?.split_whitespace().next()?.parse::<u32>().ok()
    };
    text.lines().find_map(of_line).map_or(0.0, f64::from)
}

/// `Not imported: x.my8043_a/sb.o.pgvac: this is no log of sysbench.`
fn skipped_note(file: &SkippedFile, labels: &[String]) -> String {
    let SkippedFile { name, why } = file;
    match labels {
        [label] => format!("Not imported: {label}/{name}: {why}."),
        labels => format!("Not imported: {name} of {}: {why}.", labels.join(", ")),
    }
}

/// One step on one system by its log and what was recorded beside it.
fn slice(
    system: &SystemDir,
    entry: &LogEntry,
    log: &Log,
    options: &Options,
    told: &mut Told,
) -> Slice {
    let file = &entry.file;
    let flaws = log.flaws.iter().map(ToString::to_string);
    let said = flaws.chain(driver_doubt(&system.label, log));
    told.notes.extend(said.map(|said| format!("{}/{file}: {said}.", system.label)));
    let mut slice = log.to_slice();
    let measured_s = slice.duration_ns as f64 / 1e9;
    let recorded = Beside {
        folder: &system.folder,
        label: &system.label,
        suffix: file.strip_prefix(OUTPUT).unwrap_or_default(),
        is_scan: entry.name.step.is_scan(),
        rate: slice.figure(),
        step_s: if measured_s > 0.0 { measured_s + entry.warm_up_s } else { 0.0 },
        options,
    }
    .read(&mut told.notes);
    told.recordings.extend(recorded.recordings);
    told.texts.extend(entry.text.clone());
    told.texts.extend(recorded.texts);
    if let Some(stated) = &mut slice.stated {
        *stated = Stated { metrics: recorded.metrics, ..std::mem::take(stated) };
    }
    slice
}
