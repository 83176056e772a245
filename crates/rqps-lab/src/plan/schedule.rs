//! The schedule of a plan: in which order systems are measured, how long a turn is, which placement.

use std::time::Duration;

use rqps_model::{Placement, Schedule, SystemSource, SystemSpec};

use super::{Plan, Refusal, ScheduleFile};

/// Slices per step when the plan does not say. For the same time in all, six give an interval about
/// half as wide as three do: t falls from 2.8 (4 degrees of freedom) to 2.2 (10).
pub(super) const DEFAULT_SLICES: u32 = 6;

/// Length of a turn when the plan does not say, milliseconds: short against the changes of a host,
/// long against the cost of a switch (docs/methodology.md).
const DEFAULT_SLICE_MS: u32 = 100;

/// Turns that can be asked for, milliseconds. A window is 20 ms; servers that wait are stopped, and
/// not for long.
const SLICE_MS: std::ops::RangeInclusive<u32> = 20..=5000;

impl ScheduleFile {
    pub(super) fn resolve(&self, systems: &[SystemSpec]) -> Result<(Schedule, Placement), Refusal> {
        let external = |s: &SystemSpec| matches!(s.source, SystemSource::External { .. });
        let interleaved = match self.mode.as_deref() {
            // Servers elsewhere may have other work, and cannot be stopped while they wait.
            None => systems.len() > 1 && !systems.iter().any(external),
            Some("sequential") => false,
            Some("interleaved") => true,
            Some(other) => {
                let remedy = "write mode = \"interleaved\" or \"sequential\", or leave it out";
                return Err((format!("schedule mode {other:?} is not known"), remedy.to_owned()));
            }
        };
        let slices = self.slices.unwrap_or(DEFAULT_SLICES);
        if !(1..=1000).contains(&slices) {
            return Err((format!("slices = {slices} is out of range"), "write 1 to 1000".into()));
        }
        let placement = match &self.placement {
            Some(word) => word.parse().map_err(|e| (format!("{e}"), "write one of them".into()))?,
            None => Placement::Auto,
        };
        let slice_ms = self.slice.as_deref().map(parse_slice).transpose()?;
        let schedule = match (interleaved, slice_ms) {
            (true, slice_ms) => {
                Schedule::Interleaved { slice_ms: slice_ms.unwrap_or(DEFAULT_SLICE_MS), slices }
            }
            (false, None) => Schedule::Sequential { slices },
            (false, Some(_)) => {
                let what = "slice is the length of a turn in an interleaved schedule".to_owned();
                let remedy = "write mode = \"interleaved\", or leave slice out".to_owned();
                return Err((what, remedy));
            }
        };
        Ok((schedule, placement))
    }

    pub(super) fn of(plan: &Plan) -> Self {
        let (mode, slice) = match plan.schedule {
            Schedule::Sequential { .. } => ("sequential", None),
            Schedule::Interleaved { slice_ms, .. } => {
                ("interleaved", Some(format!("{slice_ms}ms")))
            }
        };
        Self {
            mode: Some(mode.to_owned()),
            slice,
            slices: Some(plan.schedule.slices()),
            placement: Some(plan.placement.to_string()),
            seed: plan.seed,
        }
    }
}

/// `100ms`, `0.1s`: milliseconds.
fn parse_slice(text: &str) -> Result<u32, Refusal> {
    let (number, unit_ms) = match text.strip_suffix("ms") {
        Some(number) => (number, 1.0),
        None => (text.strip_suffix('s').unwrap_or_default(), 1000.0),
    };
    let time = number.trim().parse::<f64>().ok().map(|n| n * unit_ms / 1000.0);
    let time = time.and_then(|s| Duration::try_from_secs_f64(s).ok());
    let ms = time.and_then(|t| u32::try_from(t.as_millis()).ok());
    ms.filter(|ms| SLICE_MS.contains(ms)).ok_or_else(|| {
        let remedy = format!("write \"{}ms\" to \"{}ms\"", SLICE_MS.start(), SLICE_MS.end());
        (format!("slice = {text:?} is no length of a turn"), remedy)
    })
}

impl Plan {
    /// Servers of rqps's own that are up at the same time.
    #[must_use]
    pub fn systems_up(&self) -> u32 {
        if !self.schedule.is_interleaved() {
            return 1;
        }
        let ours = |s: &&SystemSpec| {
            !matches!(s.source, SystemSource::External { .. } | SystemSource::Builtin)
        };
        u32::try_from(self.systems.iter().filter(ours).count()).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use crate::PlanFile;

    use super::*;

    fn catalogue() -> rqps_server::Catalogue {
        rqps_server::Catalogue::builtin().unwrap()
    }

    fn plan(n_systems: u32, schedule: &str) -> Result<Plan, String> {
        let system = |n: u32| {
            format!("[[system]]\ndbms = \"postgres\"\nversion = \"17.4\"\nlabel = \"s{n}\"\n")
        };
        let systems: String = (0..n_systems).map(system).collect();
        let text = format!("{systems}[schedule]\n{schedule}");
        PlanFile::parse(&text, "test")
            .unwrap()
            .resolve("test", &catalogue())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn several_systems_take_turns_unless_the_plan_says_otherwise() {
        let turns = Schedule::Interleaved { slice_ms: 100, slices: DEFAULT_SLICES };
        let one_by_one = Schedule::Sequential { slices: DEFAULT_SLICES };
        assert_eq!(plan(2, "").unwrap().schedule, turns);
        assert_eq!(plan(1, "").unwrap().schedule, one_by_one);
        assert_eq!(plan(2, "mode = \"sequential\"").unwrap().schedule, one_by_one);
        assert_eq!((plan(3, "").unwrap().systems_up(), plan(1, "").unwrap().systems_up()), (3, 1));
        let text = "[[system]]\ndbms = \"postgres\"\nversion = \"17.4\"\n\
                    [[system]]\ndsn = \"postgres://u@h/d\"\n";
        let mixed = PlanFile::parse(text, "test").unwrap().resolve("test", &catalogue()).unwrap();
        assert_eq!(mixed.schedule, one_by_one);
    }

    #[test]
    fn a_plan_written_out_means_the_same() {
        for schedule in ["", "mode = \"sequential\"", "slice = \"0.25s\"\nslices = 3"] {
            let meant = plan(2, schedule).unwrap();
            let again = PlanFile::parse(&meant.to_toml(), "test")
                .unwrap()
                .resolve("test", &catalogue())
                .unwrap();
            assert_eq!(again, meant);
        }
    }

    #[test]
    fn what_no_schedule_has_is_refused() {
        for (schedule, words) in [
            ("mode = \"random\"", "\"random\" is not known; write mode = \"interleaved\" or"),
            ("slice = \"100\"", "slice = \"100\" is no length of a turn; write \"20ms\" to"),
            ("slice = \"5ms\"", "no length of a turn"),
            ("slice = \"-1s\"", "no length of a turn"),
            ("mode = \"sequential\"\nslice = \"100ms\"", "or leave slice out"),
        ] {
            let error = plan(2, schedule).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
