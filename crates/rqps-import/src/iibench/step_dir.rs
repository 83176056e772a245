//! The folder of one step on one system: the logs of its clients, the scripts' summary, and what vmstat and
//! iostat recorded beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::log::Log;
use super::same_client::{ClientLog, check_clients};
use super::step::StepName;
use super::summary::Summary;
use super::summary_check::{Logged, check_summary};
use crate::Error;
use crate::copies::FileText;
use crate::folder::{ExcludedFile, Folder, is_packed, read_text};
use crate::iostat::{self, Found, Iostat};
use crate::recording::{Recorder, Recording};
use crate::vmstat::{self, Vmstat};

/// How the logs of clients begin: `o.ib.dop2.1` is that of the first of two.
const LOG: &str = "o.ib.dop";

/// What could be read of a step.
#[derive(Debug)]
pub(super) struct StepDir {
    /// How many clients there were.
    pub(super) clients: u32,
    /// Their logs in order. Where one client creates the indexes of the only table, there is one.
    pub(super) logs: Vec<Log>,
    /// The summary, where it is that of these logs.
    pub(super) summary: Option<Summary>,
    pub(super) vmstat: Option<Vmstat>,
    pub(super) iostat: Option<Iostat>,
    pub(super) n_cpus: Option<u32>,
    /// What was not taken over, and what is to be known of what was.
    pub(super) notes: Vec<String>,
    /// The recordings that were taken.
    pub(super) recordings: Vec<Recording>,
    /// The logs as they are told apart.
    pub(super) of_clients: Vec<ClientLog>,
    /// The texts of vmstat and iostat that were taken.
    pub(super) of_recorders: Vec<FileText>,
}

/// What a step is read with.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOptions<'o> {
    pub(super) device: Option<&'o str>,
    /// The rows of `l.i0`, where they are known.
    pub(super) loaded: Option<u64>,
}

/// The folder and how messages name it.
pub(super) struct Place<'p> {
    pub(super) folder: &'p Folder,
    pub(super) shown: &'p Path,
}

/// All logs of a step.
struct StepLogs {
    clients: u32,
    logs: Vec<Log>,
    of_clients: Vec<ClientLog>,
}

/// The logs of a number of clients: names by client.
type LogNames = BTreeMap<u32, String>;

/// Whether a folder has logs of clients.
pub(super) fn has_logs(folder: &Folder) -> bool {
    let is_log = |name: &str| name.starts_with(LOG);
    folder.names().any(is_log) || !folder.excluded(is_log).is_empty()
}

impl Place<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.shown.join(name)
    }

    /// The text of a file, where it is there.
    fn text(&self, name: &str) -> Option<Result<String, Error>> {
        let text = read_text(&self.folder.path(name)?);
        Some(text.map_err(|problem| match problem {
            Error::Read { source, .. } => Error::Read { path: self.file(name), source },
            Error::File { problem, .. } => Error::File { path: self.file(name), problem },
            other => other,
        }))
    }

    /// The names of the logs and how many clients they are of.
    fn log_names(&self) -> Result<(u32, LogNames), Error> {
        let mut by_clients: BTreeMap<u32, LogNames> = BTreeMap::new();
        for name in self.folder.names() {
            let Some(rest) = name.strip_prefix(LOG) else { continue };
            if is_packed(name) {
                return Err(Error::file(&self.file(name), "unpack it first"));
            }
            let numbers = rest.split_once('.');
            let numbers = numbers.and_then(|(n, k)| Some((n.parse().ok()?, k.parse().ok()?)));
            let Some((n, k)) = numbers.filter(|(n, k)| *n > 0 && *k > 0) else {
                let problem =
                    "its name is not o.ib.dopN.K of client K of N: rename it or move it away";
                return Err(Error::file(&self.file(name), problem));
            };
            by_clients.entry(n).or_default().insert(k, name.to_owned());
        }
        let several: Vec<String> = by_clients.keys().map(|n| format!("dop{n}")).collect();
        match (by_clients.pop_first(), several.len()) {
            (Some(only), 1) => Ok(only),
            (None, _) => {
                let problem = "it has no log o.ib.dopN.K of iibench.py: run the step again";
                Err(Error::file(self.shown, problem))
            }
            _ => {
                let problem =
                    format!("it has the logs of several runs ({}): keep one", several.join(", "));
                Err(Error::file(self.shown, problem))
            }
        }
    }

    /// All logs of the step.
    fn logs(&self, step: &StepName) -> Result<StepLogs, Error> {
        let (clients, names) = self.log_names()?;
        let mut logs = Vec::new();
        let mut of_clients = Vec::new();
        for name in names.values() {
            let path = self.file(name);
            let Some(text) = self.text(name) else { continue };
            let text = text?;
            let log = Log::parse(&text).map_err(|flaw| flaw.in_file(&path))?;
            check_flags(&log, step).map_err(|problem| Error::file(&path, problem))?;
            of_clients.push(ClientLog::new(path, &text));
            logs.push(log);
        }
        check_clients(&of_clients)?;
        let known: BTreeSet<u32> = names.keys().copied().collect();
        let of_one_table =
            known == BTreeSet::from([1]) && logs.iter().all(|l| l.flags.creates_indexes);
        let missing = (1..=clients).find(|k| !known.contains(k));
        if let Some(k) = missing.filter(|_| !of_one_table) {
            let problem = format!("it is missing, so the rate of {clients} clients is not known");
            let path = self.file(&format!("{LOG}{clients}.{k}"));
            return Err(Error::file(&path, format!("{problem}: copy it, or run the step again")));
        }
        Ok(StepLogs { clients, logs, of_clients })
    }
}

/// What was recorded beside the logs, as far as it was read.
struct Recorded<'p> {
    place: &'p Place<'p>,
    /// Seconds of the step.
    step_s: f64,
    notes: Vec<String>,
    recordings: Vec<Recording>,
    texts: Vec<FileText>,
}

impl Recorded<'_> {
    fn note(&mut self, problem: &Error) {
        self.notes.push(crate::sheet::note(problem));
    }

    /// Whether a recording can be of the step. One that cannot is named.
    fn take(&mut self, name: &str, recorder: Recorder, n_samples: u32) -> bool {
        let (shown, step_s) = (self.place.file(name), self.step_s);
        let recording = Recording { shown, recorder, n_samples, step_s };
        match recording.check() {
            Ok(()) => {
                self.notes.extend(recording.longer_note());
                self.recordings.push(recording);
                true
            }
            Err(problem) => {
                self.note(&problem);
                false
            }
        }
    }

    /// The summary, where it is that of the logs, without what contradicts itself.
    fn summary(&mut self, name: &str, logged: Logged<'_>) -> Option<Summary> {
        let fit = |text: String| {
            let summary = Summary::parse(&text)?;
            check_summary(&summary, logged)?;
            Ok(summary)
        };
        let path = self.place.file(name);
        let read = self
            .place
            .text(name)?
            .and_then(|text| fit(text).map_err(|problem: String| Error::file(&path, problem)));
        let mut summary = read.map_err(|problem| self.note(&problem)).ok()?;
        self.step_s = summary.seconds;
        for problem in summary.leave_out_contradictions() {
            self.note(&Error::file(&path, problem));
        }
        if summary.has_means() && !self.take(name, Recorder::Scripts, summary.n_samples) {
            summary.leave_out_means();
        }
        Some(summary)
    }

    /// What vmstat printed. Where a summary has its means, they are not needed.
    fn vmstat(&mut self, name: &str, is_needed: bool) -> Option<Vmstat> {
        let path = self.place.file(name);
        let text = self.place.text(name)?;
        let of_text = |text: &String| FileText::new(path.clone(), text);
        let own = text.as_ref().ok().map(of_text);
        let read = text.and_then(|text| Vmstat::parse(&text).map_err(|why| why.in_file(&path)));
        let found = read.map_err(|problem| self.note(&problem)).ok()?;
        if !is_needed {
            return found;
        }
        let Some(found) = found else {
            self.note(&Error::file(&path, vmstat::ONLY_BOOT));
            return None;
        };
        if let Some(unfit) = found.unfit {
            self.note(&unfit.problem().in_file(&path));
        }
        self.texts.extend(own);
        self.take(name, Recorder::Vmstat, found.n).then_some(found)
    }

    /// What iostat printed, and how many CPUs it names. A summary has the means of the device that the scripts
    /// were told.
    fn iostat(
        &mut self,
        name: &str,
        device: Option<&str>,
        is_needed: bool,
    ) -> (Option<Iostat>, Option<u32>) {
        let Some(text) = self.place.text(name) else { return (None, None) };
        let Ok(text) = text.map_err(|problem| self.note(&problem)) else { return (None, None) };
        let n_cpus = n_cpus(&text);
        let path = self.place.file(name);
        let problem = match iostat::parse(&text, device).map_err(|why| why.in_file(&path)) {
            Ok(Found::Device(found)) => {
                let is_taken = !is_needed || self.take(name, Recorder::Iostat, found.n_reports);
                if is_needed {
                    self.texts.push(FileText::new(path.clone(), &text));
                    found.problems().for_each(|problem| self.note(&problem.in_file(&path)));
                }
                return (is_taken.then_some(found), n_cpus);
            }
            // A file that cannot be read is named in any case.
            Err(problem) => {
                self.note(&problem);
                return (None, n_cpus);
            }
            Ok(Found::Nothing(missing)) => missing.to_string(),
            Ok(Found::Several(names)) => {
                format!("it has several devices ({}): name one with --device", names.join(", "))
            }
        };
        if is_needed {
            self.note(&Error::file(&path, problem));
        }
        (None, n_cpus)
    }
}

impl StepDir {
    /// Reads the folder of a step.
    ///
    /// # Errors
    /// A log that is missing or has no end, and logs of another step: the step then has no figure.
    pub(super) fn read(
        place: &Place<'_>,
        step: &StepName,
        options: StepOptions<'_>,
    ) -> Result<Self, Error> {
        let StepOptions { device, loaded } = options;
        let StepLogs { clients, logs, of_clients } = place.logs(step)?;
        let inserted = logs.iter().fold(0, |sum: u64, log| sum.saturating_add(log.end().inserted));
        let rows = match step.as_str() {
            "l.x" => loaded.map(|rows| rows.saturating_add(inserted)),
            _ => Some(inserted),
        };
        // Clients start one second after the other.
        let longest_s = logs.iter().map(|log| log.total_s).fold(0.0, f64::max);
        let step_s = longest_s + f64::from(clients);
        let (notes, recordings, texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut recorded = Recorded { place, step_s, notes, recordings, texts };
        for ExcludedFile { name, why } in place.folder.excluded(|name| name.starts_with("o.")) {
            recorded.note(&Error::file(&place.file(&name), why));
        }
        let name = |kind: &str| format!("o.{kind}.dop{clients}");
        let summary = recorded.summary(&name("res"), Logged { logs: &logs, rows });
        let is_needed = summary.as_ref().is_none_or(|summary| !summary.has_means());
        let vmstat = recorded.vmstat(&name("vm"), is_needed);
        let (iostat, n_cpus) = recorded.iostat(&name("io"), device, is_needed);
        let Recorded { mut notes, recordings, texts: of_recorders, .. } = recorded;
        for (log, k) in logs.iter().zip(1..) {
            if let Some((idx, error)) = &log.error {
                let path = place.file(&format!("{LOG}{clients}.{k}"));
                notes.push(format!("{}.", Error::line(&path, *idx, error.clone()).sentence()));
            }
        }
        Ok(Self {
            clients,
            logs,
            summary,
            vmstat,
            iostat,
            n_cpus,
            notes,
            recordings,
            of_clients,
            of_recorders,
        })
    }
}

/// Whether a log is that of the step whose name its folder has.
fn check_flags(log: &Log, step: &StepName) -> Result<(), String> {
    let rate = |rate: Option<u32>| rate.map_or("unlimited".to_owned(), |n| n.to_string());
    let flags = &log.flags;
    // Without its command line a log does not say it.
    let is_said = flags.rows_per_commit.is_some();
    if is_said && flags.inserts_per_s != step.inserts_per_s() {
        return Err(format!(
            "inserts per second are {} by its folder and {} by its first line; rename the folder",
            rate(step.inserts_per_s()),
            rate(flags.inserts_per_s)
        ));
    }
    if is_said && step.is_point_query().is_some_and(|is_point| is_point != flags.is_point) {
        let (said, is) = if flags.is_point { ("range", "point") } else { ("point", "range") };
        return Err(format!(
            "its folder names {said} queries, its first line {is} queries; rename the folder"
        ));
    }
    let is_query = step.inserts_per_s().is_some();
    if is_query && !log.counts_queries {
        return Err(
            "no heading t_query, whose column has the queries: run the step again".to_owned()
        );
    }
    if is_query && !log.responses.contains_key(&rqps_model::Role::Query) {
        return Err(
            "it has no response times of queries (Query rt:), so it ran no queries: run the step \
             again with --query_threads"
                .to_owned(),
        );
    }
    Ok(())
}

/// The CPUs of the host by iostat's first line: `Linux 6.1.0 (host) 11/27/25 _x86_64_ (8 CPU)`.
fn n_cpus(text: &str) -> Option<u32> {
    let line = text.lines().find(|line| line.trim_end().ends_with(" CPU)"))?;
    let (_, behind) = line.rsplit_once('(')?;
    behind.split_whitespace().next()?.parse().ok().filter(|n| *n > 0)
}
