//! What was recorded beside a log of a step: metrics (`sb.met.`), or what they are made from (`sb.vm.` and
//! `sb.io.`).

use std::path::{Path, PathBuf};

use rqps_model::Metric;

use super::step_met::StepMet;
use crate::copies::FileText;
use crate::folder::{Folder, read_text};
use crate::iostat::{self, Found};
use crate::number::six_digits;
use crate::recording::{Recorder, Recording};
use crate::vmstat::{self, Vmstat};
use crate::{Error, Options};

/// How far the rate of metrics may be from that of the log.
const RATE_SHARE: f64 = 0.05;

/// From how many rows, or thousands of them, for a query on a scan's metrics count rows. The author's count 250
/// thousand rows or 10 million.
const MIN_ROWS: f64 = 10.0;

/// Metrics that vmstat tells.
const OF_VMSTAT: [Metric; 2] = [Metric::HostCpuShare, Metric::ContextSwitches];

/// Metrics that iostat tells.
const OF_IOSTAT: [Metric; 3] = [Metric::Reads, Metric::ReadKb, Metric::WrittenKb];

/// What was recorded beside a log.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// Metrics, in the field's order.
    pub(super) metrics: Vec<(Metric, f64)>,
    /// The recordings that they are from.
    pub(super) recordings: Vec<Recording>,
    /// The texts that were taken.
    pub(super) texts: Vec<FileText>,
}

impl Recorded {
    fn has_any(&self, metrics: &[Metric]) -> bool {
        self.metrics.iter().any(|(metric, _)| metrics.contains(metric))
    }

    /// Takes a recording that can be of the step.
    fn take(&mut self, recording: Recording, notes: &mut Vec<String>) -> Result<(), Error> {
        recording.check()?;
        notes.extend(recording.longer_note());
        self.recordings.push(recording);
        Ok(())
    }
}

/// A file beside a log.
struct TextBeside {
    /// Its name with the system's.
    shown: PathBuf,
    text: Result<String, Error>,
}

/// The files beside a log whose names end as its own.
pub(super) struct Beside<'b> {
    pub(super) folder: &'b Folder,
    pub(super) label: &'b str,
    pub(super) suffix: &'b str,
    /// Whether the step scans a table: metrics may count its rows.
    pub(super) is_scan: bool,
    /// QPS of the log.
    pub(super) rate: f64,
    /// Seconds of the step with its warm-up; 0 where the log does not tell them.
    pub(super) step_s: f64,
    pub(super) options: &'b Options,
}

impl Beside<'_> {
    /// The text of a file of a kind, where it is there, with its name for messages.
    fn text(&self, kind: &str) -> Option<TextBeside> {
        let name = format!("sb.{kind}.{}", self.suffix);
        let path = self.folder.path(&name)?;
        Some(TextBeside { shown: Path::new(self.label).join(name), text: read_text(&path) })
    }

    /// What the files tell. A file that cannot be read, or is not of the step, is named in a note.
    pub(super) fn read(&self, notes: &mut Vec<String>) -> Recorded {
        let mut recorded = Recorded::default();
        match self.of_scripts(&mut recorded, notes) {
            Some(Ok(metrics)) => recorded.metrics = metrics,
            Some(Err(problem)) => notes.push(crate::sheet::note(&problem)),
            None => {}
        }
        if self.rate <= 0.0 {
            return recorded;
        }
        if !recorded.has_any(&OF_VMSTAT) {
            let found = self.vmstat(&mut recorded, notes);
            recorded.metrics.extend(found);
        }
        if !recorded.has_any(&OF_IOSTAT) {
            let found = self.storage(&mut recorded, notes);
            recorded.metrics.extend(found);
        }
        if !recorded.metrics.is_empty() && !recorded.has_any(&[Metric::Rate]) {
            recorded.metrics.push((Metric::Rate, self.rate));
        }
        let place = |metric: &Metric| Metric::STATED.iter().position(|known| known == metric);
        recorded.metrics.sort_by_key(|(metric, _)| place(metric));
        recorded
    }

    /// The metrics that the scripts made, where their file is there.
    fn of_scripts(
        &self,
        recorded: &mut Recorded,
        notes: &mut Vec<String>,
    ) -> Option<Result<Vec<(Metric, f64)>, Error>> {
        let TextBeside { shown, text } = self.text("met")?;
        recorded.texts.extend(text.iter().map(|text| FileText::new(shown.clone(), text)));
        let read = text.and_then(|text| StepMet::parse(&text, &shown)).and_then(|met| {
            let other = self.other_rate(&met.metrics);
            let metrics = match other.filter(|rate| self.counts_rows(*rate)) {
                Some(_) if !met.per_s.is_empty() => {
                    let per_query = |(metric, per_s)| (metric, six_digits(per_s / self.rate));
                    met.per_s.into_iter().map(per_query).collect()
                }
                _ => self.of_same_run(met.metrics, &shown)?,
            };
            recorded.take(self.recording(&shown, Recorder::Scripts, met.n_samples), notes)?;
            notes.extend(other.map(|rate| {
                format!(
                    "{}: its o/s {rate} counts rows, but the log has {} queries per second: its \
                     values per second are divided by the queries.",
                    shown.display(),
                    self.rate
                )
            }));
            notes.extend(met.problems.iter().map(crate::sheet::note));
            Ok(metrics)
        });
        Some(read)
    }

    fn recording(&self, shown: &Path, recorder: Recorder, n_samples: u32) -> Recording {
        Recording { shown: shown.to_path_buf(), recorder, n_samples, step_s: self.step_s }
    }

    /// What vmstat printed.
    fn vmstat(&self, recorded: &mut Recorded, notes: &mut Vec<String>) -> Vec<(Metric, f64)> {
        let Some(TextBeside { shown, text }) = self.text("vm") else { return Vec::new() };
        recorded.texts.extend(text.iter().map(|text| FileText::new(shown.clone(), text)));
        let read = text.and_then(|text| {
            let found = Vmstat::parse(&text).map_err(|why| why.in_file(&shown))?;
            let found = found.ok_or_else(|| Error::file(&shown, vmstat::ONLY_BOOT))?;
            recorded.take(self.recording(&shown, Recorder::Vmstat, found.n), notes)?;
            Ok(found)
        });
        match read {
            Ok(found) => {
                let unfit = found.unfit.map(|unfit| unfit.problem().in_file(&shown));
                notes.extend(unfit.as_ref().map(crate::sheet::note));
                vec![
                    (Metric::HostCpuShare, six_digits(found.cpu_pct / self.rate)),
                    (Metric::ContextSwitches, six_digits(found.switches_per_s / self.rate)),
                ]
            }
            Err(problem) => {
                notes.push(crate::sheet::note(&problem));
                Vec::new()
            }
        }
    }

    /// The rate of metrics, where it is not that of the log.
    fn other_rate(&self, metrics: &[(Metric, f64)]) -> Option<f64> {
        let (_, rate) = metrics.iter().find(|(metric, _)| *metric == Metric::Rate)?;
        ((rate - self.rate).abs() > RATE_SHARE * self.rate + 1.0).then_some(*rate)
    }

    /// Whether a rate is that of the rows of a scan, or of thousands of them, and not that of its queries.
    fn counts_rows(&self, rate: f64) -> bool {
        self.is_scan && self.rate > 0.0 && rate >= MIN_ROWS * self.rate
    }

    /// The metrics, if they are of the run that the log is of.
    fn of_same_run(
        &self,
        metrics: Vec<(Metric, f64)>,
        shown: &Path,
    ) -> Result<Vec<(Metric, f64)>, Error> {
        let Some(rate) = self.other_rate(&metrics) else { return Ok(metrics) };
        let problem = format!(
            "it is from another run than its log: {rate} operations per second (o/s), but the log \
             has {}: make it again",
            self.rate
        );
        Err(Error::file(shown, problem))
    }

    /// What iostat printed.
    fn storage(&self, recorded: &mut Recorded, notes: &mut Vec<String>) -> Vec<(Metric, f64)> {
        let Some(TextBeside { shown, text }) = self.text("io") else { return Vec::new() };
        recorded.texts.extend(text.iter().map(|text| FileText::new(shown.clone(), text)));
        let device = self.options.device.as_deref();
        let found = text.and_then(|text| {
            let found = iostat::parse(&text, device).map_err(|why| why.in_file(&shown))?;
            if let Found::Device(of_device) = &found {
                let recording = self.recording(&shown, Recorder::Iostat, of_device.n_reports);
                recorded.take(recording, notes)?;
                let problems = of_device.problems().map(|problem| problem.in_file(&shown));
                notes.extend(problems.map(|problem| crate::sheet::note(&problem)));
            }
            Ok(found)
        });
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
                    "Storage of {} is excluded: its files have several devices ({}); name one with \
                     --device.",
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
