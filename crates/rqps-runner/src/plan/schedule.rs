//! The schedule of a plan: in which order systems are measured, how long a slice is, which placement.

use std::time::Duration;

use rqps_model::{Placement, Schedule, SystemSource, SystemSpec};

use super::{Plan, Refusal, ScheduleFile, no_such_word, unknown_word};

/// Slices per step when the plan does not say. For the same time in all, six give an interval about
/// half as wide as three do: t falls from 2.8 (4 degrees of freedom) to 2.2 (10).
pub(super) const DEFAULT_SLICES: u32 = 6;

/// Length of a slice when the plan does not say, milliseconds: short against the changes of a host,
/// which are correlated over some 80 ms, long against the cost of a switch (docs/explanation/method.md).
pub(crate) const DEFAULT_SLICE_MS: u32 = 20;

/// Lengths of slices that can be asked for, milliseconds. A window is 20 ms; servers that wait are
/// stopped, and not for long.
pub(crate) const SLICE_MS: std::ops::RangeInclusive<u32> = 20..=5000;

/// Longest time of a step and system that can be asked for.
const BUDGET: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(86_400);

/// Slices of a step that can be asked for.
pub const SLICES: std::ops::RangeInclusive<u32> = 1..=1000;

/// Half-widths that can be asked for, basis points: 0.1% to 50%.
const HALF_WIDTH_BP: std::ops::RangeInclusive<u32> = 10..=5000;

/// Starts of the servers that can be asked for, and sets of data.
pub const STARTS: std::ops::RangeInclusive<u32> = 1..=100;

/// Starts of the servers when the plan does not say: t with three degrees of freedom is 3.2, with two 4.3
/// (docs/explanation/statistics.md, Starts).
pub(crate) const DEFAULT_STARTS: u32 = 4;

/// What the schedule of a plan says.
pub(super) struct Times {
    pub(super) schedule: Schedule,
    pub(super) placement: Placement,
    pub(super) starts: u32,
    pub(super) loads: u32,
}

impl ScheduleFile {
    pub(super) fn resolve(&self, systems: &[SystemSpec]) -> Result<Times, Refusal> {
        let external = |s: &SystemSpec| matches!(s.source, SystemSource::External { .. });
        let interleaved = match self.mode.as_deref() {
            // Servers elsewhere may have other work, and cannot be stopped while they wait.
            None => systems.len() > 1 && !systems.iter().any(external),
            Some("sequential") => false,
            Some("interleaved") => true,
            Some(other) => {
                return Err(no_such_word("schedule mode", other, "interleaved, sequential"));
            }
        };
        let placement = match &self.placement {
            Some(word) => word.parse().map_err(|e| unknown_word(&e))?,
            None => Placement::Auto,
        };
        let starts = self.starts.unwrap_or_else(|| default_starts(systems));
        let loads = self.loads.unwrap_or(1);
        for (key, n) in [("starts", starts), ("loads", loads)] {
            if !STARTS.contains(&n) {
                let remedy = format!("write {} to {}", STARTS.start(), STARTS.end());
                return Err((format!("{key} = {n} is out of range"), remedy));
            }
            if n > 1
                && let Some(running) = systems.iter().find(|system| external(system))
            {
                let what = format!(
                    "{key} = {n}: rqps cannot restart {}, which is given by dsn",
                    running.label
                );
                let remedy = format!("leave {key} out, or name version or basedir in place of dsn");
                return Err((what, remedy));
            }
        }
        let slices = self.slices.unwrap_or(DEFAULT_SLICES);
        if !SLICES.contains(&slices) {
            let remedy = format!("write {} to {}", SLICES.start(), SLICES.end());
            return Err((format!("slices = {slices} is out of range"), remedy));
        }
        let lengths = [
            ("time", self.time.is_some()),
            ("budget", self.budget.is_some()),
            ("slices", self.slices.is_some()),
        ];
        let given: Vec<&str> =
            lengths.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key).collect();
        if let [first, second, ..] = given[..] {
            let what = format!("{first} and {second} both say how long a step is measured");
            return Err((what, "leave one of them out".to_owned()));
        }
        if !interleaved {
            for (key, is_given) in [
                ("slice", self.slice.is_some()),
                ("budget", self.budget.is_some()),
                ("time", self.time.is_some()),
                ("precision", self.precision.is_some()),
            ] {
                if is_given {
                    let what = format!("{key} belongs to an interleaved schedule");
                    let remedy = format!("write mode = \"interleaved\", or leave {key} out");
                    return Err((what, remedy));
                }
            }
            let schedule = Schedule::Sequential { slices };
            return Ok(Times { schedule, placement, starts, loads });
        }
        let slice = self.slice.as_deref().filter(|text| *text != "auto");
        let slice_ms = slice.map(parse_slice).transpose()?;
        let schedule = Schedule::Interleaved {
            slice_ms: slice_ms.unwrap_or(DEFAULT_SLICE_MS),
            slices,
            budget_ms: self.budget.as_deref().map(parse_budget).transpose()?,
            half_width_bp: self.precision.as_deref().map(parse_precision).transpose()?,
        };
        Ok(Times { schedule, placement, starts, loads })
    }

    pub(super) fn of(plan: &Plan) -> Self {
        let mut file = Self {
            placement: Some(plan.placement.to_string()),
            starts: Some(plan.starts),
            loads: (plan.loads > 1).then_some(plan.loads),
            seed: plan.seed,
            ..Self::default()
        };
        match plan.schedule {
            Schedule::Sequential { slices } => {
                (file.mode, file.slices) = (Some("sequential".to_owned()), Some(slices));
            }
            Schedule::Interleaved { slice_ms, slices, budget_ms, half_width_bp } => {
                file.mode = Some("interleaved".to_owned());
                let written = format!("{slice_ms}ms");
                file.slice = Some(if plan.slice_is_auto { "auto".to_owned() } else { written });
                file.slices = budget_ms.is_none().then_some(slices);
                let budget = budget_ms.map(|ms| format!("{ms}ms"));
                (file.time, file.budget) = match &plan.time {
                    Some(time) => (Some(time.clone()), None),
                    None => (None, budget),
                };
                file.precision = half_width_bp.map(|bp| format!("{}%", f64::from(bp) / 100.0));
            }
        }
        file
    }
}

/// Several where rqps starts servers, and can start all of them again.
fn default_starts(systems: &[SystemSpec]) -> u32 {
    let is_elsewhere = |s: &SystemSpec| matches!(s.source, SystemSource::External { .. });
    let is_server = |s: &SystemSpec| !matches!(s.source, SystemSource::Builtin);
    let can_start = systems.iter().any(is_server) && !systems.iter().any(is_elsewhere);
    if can_start { DEFAULT_STARTS } else { 1 }
}

/// `100ms`, `0.1s`: milliseconds.
fn parse_slice(text: &str) -> Result<u32, Refusal> {
    let time = parse_time(text, &[("ms", 0.001), ("s", 1.0)]);
    let ms = time.and_then(|t| u32::try_from(t.as_millis()).ok());
    ms.filter(|ms| SLICE_MS.contains(ms)).ok_or_else(|| {
        let (least, most) = (SLICE_MS.start(), SLICE_MS.end());
        let remedy = format!("write \"{least}ms\" to \"{most}ms\", or \"auto\"");
        (format!("slice = {text:?} is not a valid length"), remedy)
    })
}

/// `60s`, `2m`: milliseconds.
fn parse_budget(text: &str) -> Result<u32, Refusal> {
    let time = parse_time(text, &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)]);
    let ms = time.filter(|t| BUDGET.contains(t)).and_then(|t| u32::try_from(t.as_millis()).ok());
    ms.ok_or_else(|| {
        let remedy = "write \"1s\" to \"24h\"".to_owned();
        (format!("budget = {text:?} is not a valid time"), remedy)
    })
}

/// How long a run is to take once its servers are there: `20m`.
pub(super) fn parse_whole_time(text: &str) -> Result<Duration, Refusal> {
    let time = parse_time(text, &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)]);
    let range = Duration::from_secs(1)..=Duration::from_secs(365 * 24 * 3600);
    time.filter(|time| range.contains(time)).ok_or_else(|| {
        let remedy = "write \"90s\", \"30m\" or \"36h\"".to_owned();
        (format!("time = {text:?} is not a valid time"), remedy)
    })
}

/// Reads a duration: `90s`, `30m`, `36h`.
///
/// # Errors
/// When it is no duration between a second and a year.
pub fn parse_duration(text: &str) -> Result<Duration, Refusal> {
    let time = parse_time(text, &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)]);
    let range = Duration::from_secs(1)..=Duration::from_secs(365 * 24 * 3600);
    time.filter(|time| range.contains(time)).ok_or_else(|| {
        let remedy = "write \"90s\", \"30m\" or \"36h\"".to_owned();
        (format!("{text:?} is not a valid time"), remedy)
    })
}

/// A number with one of `units`, each with its seconds.
fn parse_time(text: &str, units: &[(&str, f64)]) -> Option<Duration> {
    let (number, unit_s) =
        units.iter().find_map(|(unit, s)| Some((text.strip_suffix(unit)?, *s)))?;
    Duration::try_from_secs_f64(number.trim().parse::<f64>().ok()? * unit_s).ok()
}

/// `1%`: basis points.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked against the range"
)]
fn parse_precision(text: &str) -> Result<u32, Refusal> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let bp = percent.map(|percent| (percent * 100.0).round());
    let (least, most) = (f64::from(*HALF_WIDTH_BP.start()), f64::from(*HALF_WIDTH_BP.end()));
    bp.filter(|bp| (least..=most).contains(bp)).map(|bp| bp as u32).ok_or_else(|| {
        let remedy = format!("write \"{}%\" to \"{}%\"", least / 100.0, most / 100.0);
        (format!("precision = {text:?} is not a valid half-width"), remedy)
    })
}

impl Plan {
    /// Number of rqps's own servers that run at the same time.
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
    fn several_systems_are_interleaved_unless_the_plan_says_otherwise() {
        let interleaved = Schedule::interleaved(DEFAULT_SLICE_MS, DEFAULT_SLICES);
        let one_by_one = Schedule::Sequential { slices: DEFAULT_SLICES };
        assert_eq!(plan(2, "").unwrap().schedule, interleaved);
        assert_eq!(plan(1, "").unwrap().schedule, one_by_one);
        assert_eq!(plan(2, "mode = \"sequential\"").unwrap().schedule, one_by_one);
        assert_eq!((plan(3, "").unwrap().systems_up(), plan(1, "").unwrap().systems_up()), (3, 1));
        let text = "[[system]]\ndbms = \"postgres\"\nversion = \"17.4\"\n\
                    [[system]]\ndsn = \"postgres://u@h/d\"\n";
        let mixed = PlanFile::parse(text, "test").unwrap().resolve("test", &catalogue()).unwrap();
        assert_eq!(mixed.schedule, one_by_one);
        // It would be measured on one start, and the report would speak of several.
        let text = format!("{text}[schedule]\nstarts = 3\n");
        let refused = PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue());
        expect_test::expect!["test: starts = 3: rqps cannot restart pg-external, which is given by dsn; leave starts out, or name version or basedir in place of dsn"].assert_eq(&refused.unwrap_err().to_string());
    }

    #[test]
    fn a_plan_written_out_means_the_same() {
        for schedule in [
            "",
            "mode = \"sequential\"\nstarts = 3",
            "slice = \"0.25s\"\nslices = 3",
            "budget = \"2m\"\nprecision = \"0.5%\"\nstarts = 5",
            "slice = \"auto\"\nplacement = \"auto\"",
        ] {
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
            (
                "mode = \"random\"",
                "unknown schedule mode \"random\" (known: interleaved, sequential)",
            ),
            ("slice = \"100\"", "slice = \"100\" is not a valid length; write \"20ms\" to"),
            ("slice = \"5ms\"", "not a valid length"),
            ("slice = \"-1s\"", "not a valid length"),
            ("mode = \"sequential\"\nslice = \"100ms\"", "or leave slice out"),
            ("mode = \"sequential\"\nprecision = \"1%\"", "or leave precision out"),
            ("budget = \"1m\"\nslices = 4", "both say how long a step is measured"),
            ("budget = \"60\"", "budget = \"60\" is not a valid time; write \"1s\""),
            ("budget = \"100h\"", "not a valid time"),
            ("precision = \"1\"", "precision = \"1\" is not a valid half-width; write \"0.1%\""),
            ("precision = \"0%\"", "not a valid half-width"),
            ("starts = 0", "starts = 0 is out of range; write 1 to 100"),
        ] {
            let error = plan(2, schedule).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
