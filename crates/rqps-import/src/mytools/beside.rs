//! What was recorded beside a log of a step: metrics (`sb.met.`), or what they are made from (`sb.vm.` and
//! `sb.io.`).

use std::path::{Path, PathBuf};

use rqps_model::Metric;

use crate::folder::{Folder, read_text};
use crate::iostat::{self, Found};
use crate::number::six_digits;
use crate::vmstat::{self, Vmstat};
use crate::{Error, Options};

/// How far the rate of metrics may be from that of the log.
const RATE_SHARE: f64 = 0.05;

/// A file beside a log.
struct FileText {
    /// Its name with the system's.
    shown: PathBuf,
    text: Result<String, Error>,
}

/// The files beside a log whose names end as its own.
pub(super) struct Beside<'b> {
    pub(super) folder: &'b Folder,
    pub(super) label: &'b str,
    pub(super) suffix: &'b str,
    /// QPS of the log.
    pub(super) rate: f64,
    pub(super) options: &'b Options,
}

impl Beside<'_> {
    /// The text of a file of a kind, where it is there, with its name for messages.
    fn text(&self, kind: &str) -> Option<FileText> {
        let name = format!("sb.{kind}.{}", self.suffix);
        let path = self.folder.path(&name)?;
        Some(FileText { shown: Path::new(self.label).join(name), text: read_text(&path) })
    }

    /// The metrics, in the field's order. A file that cannot be read is named in a note.
    pub(super) fn metrics(&self, notes: &mut Vec<String>) -> Vec<(Metric, f64)> {
        let mut note = |problem: Error| notes.push(crate::sheet::note(&problem));
        if let Some(FileText { shown, text }) = self.text("met") {
            let read = text.and_then(|text| of_met(&text, &shown));
            match read.and_then(|metrics| self.of_same_run(metrics, &shown)) {
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
                    let unfit = found.unfit.map(|unfit| unfit.problem().in_file(&shown));
                    unfit.into_iter().for_each(&mut note);
                    out.push((Metric::HostCpuShare, six_digits(found.cpu_pct / self.rate)));
                    out.push((
                        Metric::ContextSwitches,
                        six_digits(found.switches_per_s / self.rate),
                    ));
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

    /// The metrics, if they are of the run that the log is of.
    fn of_same_run(
        &self,
        metrics: Vec<(Metric, f64)>,
        shown: &Path,
    ) -> Result<Vec<(Metric, f64)>, Error> {
        let stated = metrics.iter().find(|(metric, _)| *metric == Metric::Rate);
        let is_other = |rate: f64| (rate - self.rate).abs() > RATE_SHARE * self.rate + 1.0;
        match stated {
            Some((_, rate)) if is_other(*rate) => {
                let problem = format!(
                    "it is of another run than the log beside it: {rate} operations per second (o/s), and the log \
                     has {}: make it again",
                    self.rate
                );
                Err(Error::file(shown, problem))
            }
            _ => Ok(metrics),
        }
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
            .filter_map(|(metric, value)| Some((metric, six_digits(value? / self.rate))))
            .collect(),
            Ok(Found::Several(names)) => {
                let note = format!(
                    "Storage of {} was left out: its files have several devices ({}); name one with --device.",
                    self.label,
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
        let heads = std::mem::take(&mut heads);
        if !words.is_empty() && !heads.is_empty() && words.len() != heads.len() {
            let (n, wanted) = (words.len(), heads.len());
            let problem = format!("{n} fields below {wanted} headings: make it again");
            return Err(Error::line(path, idx, problem));
        }
        for (head, word) in heads.iter().zip(words) {
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
