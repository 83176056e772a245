//! Whether what vmstat and iostat recorded is of the step beside which it stands.

use std::fmt;
use std::path::{Component, PathBuf};

use crate::Error;

/// How much longer than its step a recording may be: it begins before the clients connect and ends after them.
const LONGER_S: f64 = 10.0;
const LONGER_SHARE: f64 = 1.05;

/// The same of samples that scripts counted: they count some of the headings, too.
const LONGER_SHARE_COUNTED: f64 = 1.1;

/// From how much longer than its step a recording is told of.
const TOLD_S: f64 = 2.0;
const TOLD_SHARE: f64 = 1.1;

/// Longest usual interval between samples.
const MAX_INTERVAL_S: f64 = 10.0;

/// Shortest step that tells an interval: recordings of shorter ones are longer than they by a good part.
const MIN_STEP_S: f64 = 60.0;

/// Who recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorder {
    Vmstat,
    Iostat,
    /// Means that scripts made of both, with the number of samples.
    Scripts,
}

/// A recording beside a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recording {
    /// The file, below the system's label.
    pub(crate) shown: PathBuf,
    pub(crate) recorder: Recorder,
    /// Samples; an interval is a second at least.
    pub(crate) n_samples: u32,
    /// Seconds of the step with its warm-up; 0 where these are not known.
    pub(crate) step_s: f64,
}

impl Recording {
    /// Whether it can be of the step.
    ///
    /// # Errors
    /// More samples than the step has seconds.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let share = match self.recorder {
            Recorder::Scripts => LONGER_SHARE_COUNTED,
            Recorder::Vmstat | Recorder::Iostat => LONGER_SHARE,
        };
        let n = f64::from(self.n_samples);
        if self.step_s <= 0.0 || n <= self.step_s * share + LONGER_S {
            return Ok(());
        }
        let problem = format!(
            "its {n} samples cover at least {n} seconds, but the step took {}: its means include \
             other work; record only the step",
            Seconds(self.step_s)
        );
        Err(Error::file(&self.shown, problem))
    }

    /// What is to be known of one that is taken and somewhat longer than its step.
    pub(crate) fn longer_note(&self) -> Option<String> {
        let n = f64::from(self.n_samples);
        let is_longer = self.step_s > 0.0 && n > self.step_s * TOLD_SHARE + TOLD_S;
        is_longer.then(|| {
            format!(
                "{}: its {n} samples cover at least {n} seconds, but the step took {}: its means \
                 include some time around the step.",
                self.shown.display(),
                Seconds(self.step_s)
            )
        })
    }

    fn system(&self) -> Option<Component<'_>> {
        self.shown.components().next()
    }

    fn interval_s(&self) -> f64 {
        self.step_s / f64::from(self.n_samples.max(1))
    }

    /// Whether it is of less than half of its step, at an interval. The first sample is the mean since the boot.
    fn is_short(&self, interval_s: f64) -> bool {
        (f64::from(self.n_samples) + 1.0) * interval_s < self.step_s / 2.0
    }
}

/// Notes on recordings of a small part of their steps. The interval is no longer than that of the same recorder
/// beside other steps of the system.
pub(crate) fn short_notes(recordings: &[Recording]) -> Vec<String> {
    let short = recordings.iter().filter_map(|own| {
        let others = recordings
            .iter()
            .filter(|other| (other.recorder, other.system()) == (own.recorder, own.system()))
            .filter(|other| other.step_s >= MIN_STEP_S);
        let densest_s = others.map(Recording::interval_s).fold(MAX_INTERVAL_S, f64::min);
        let interval_s = densest_s.max(1.0);
        own.is_short(interval_s).then(|| {
            format!(
                "{}: its {} samples, at most {} apart, cover less than half of the step's {}: its \
                 means are those of a part of the step.",
                own.shown.display(),
                own.n_samples,
                Seconds(interval_s),
                Seconds(own.step_s)
            )
        })
    });
    short.collect()
}

/// Seconds in a message.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ((self.0 * 10.0).round() / 10.0).to_string().as_str() {
            "1" => f.write_str("1 second"),
            tenths => write!(f, "{tenths} seconds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(name: &str, n_samples: u32, step_s: f64) -> Recording {
        Recording { shown: name.into(), recorder: Recorder::Vmstat, n_samples, step_s }
    }

    #[test]
    fn a_recording_that_ran_on() {
        let is_taken = |n, step_s| recording("a/vm", n, step_s).check().is_ok();
        // Of the field: clients connect and warm up for some seconds.
        assert!(is_taken(634, 630.0) && is_taken(67, 62.0) && is_taken(20, 10.0));
        assert!(!is_taken(670, 600.0) && !is_taken(61, 10.0));
        assert!(is_taken(500, 0.0), "the step's time is not known");
        let of_scripts = |n| {
            let own = recording("a/met", n, 930.0);
            Recording { recorder: Recorder::Scripts, ..own }.check().is_ok()
        };
        assert!(of_scripts(979) && !of_scripts(1100));
        assert_eq!(recording("a/vm", 12, 10.0).longer_note(), None);
        assert_eq!(
            recording("a/vm", 20, 10.0).longer_note().as_deref(),
            Some(
                "a/vm: its 20 samples cover at least 20 seconds, but the step took 10 seconds: its means include some time around the step."
            )
        );
    }

    #[test]
    fn a_recording_of_a_part() {
        let told = |all: &[Recording]| short_notes(all).len();
        assert_eq!(told(&[recording("a/vm", 119, 600.0)]), 0, "an interval of 5 seconds");
        assert_eq!(told(&[recording("a/vm", 20, 600.0)]), 1);
        // The same recorder had an interval of a second beside another step.
        let other = recording("a/other", 599, 600.0);
        assert_eq!(told(&[recording("a/vm", 119, 600.0), other.clone()]), 1);
        assert_eq!(told(&[recording("b/vm", 119, 600.0), other.clone()]), 0);
        assert_eq!(told(&[recording("a/vm", 300, 600.0), other]), 0);
        assert_eq!(told(&[recording("a/vm", 1, 2.0), recording("a/vm2", 9, 10.0)]), 0);
    }
}
