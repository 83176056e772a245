//! Which steps of a plan get a stack profile, and how long the extra slices take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Refusal;

/// Time of the extra slices of a step on a system when the plan does not say: some thousand samples, of
/// which a function with 1% of the CPU time has dozens.
const DEFAULT_SECONDS: f64 = 5.0;

/// Times that can be asked for. Copies of stacks are up to 60 MB for each second and system.
pub const SECONDS: std::ops::RangeInclusive<f64> = 0.5..=20.0;

/// Stack profiles as written: `profile = true`, or which steps and how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "profile takes true, false or a table { steps = [...], seconds = 5 }"
)]
pub enum ProfilingFile {
    /// `true`: all steps that are compared.
    Switch(bool),
    /// `{ steps = ["point-query"], seconds = 5 }`
    Chosen(ChosenFile),
}

/// Chosen steps as written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChosenFile {
    /// Steps that get a stack profile, by name or glob. Default: all steps that are compared.
    pub steps: Option<Vec<String>>,
    /// Extra time of each of these steps on each system, after its measurement: 0.5 to 20 s. Default: 5.
    pub seconds: Option<f64>,
}

/// Which steps get a stack profile, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiling {
    /// Globs of step names; empty for all that are compared.
    pub steps: Vec<String>,
    /// Time of the extra slices of a step on each system.
    pub time: Duration,
}

impl ProfilingFile {
    /// What is meant; `None` for no profiles.
    pub(super) fn resolve(&self) -> Result<Option<Profiling>, Refusal> {
        let chosen = match self {
            Self::Switch(false) => return Ok(None),
            Self::Switch(true) => &ChosenFile::default(),
            Self::Chosen(chosen) => chosen,
        };
        let seconds = chosen.seconds.unwrap_or(DEFAULT_SECONDS);
        let time = Some(seconds).filter(|s| SECONDS.contains(s));
        let time = time.and_then(|s| Duration::try_from_secs_f64(s).ok()).ok_or_else(|| {
            let remedy = format!("write {} to {} seconds", SECONDS.start(), SECONDS.end());
            (format!("profile.seconds = {seconds:?} is out of range"), remedy)
        })?;
        Ok(Some(Profiling { steps: chosen.steps.clone().unwrap_or_default(), time }))
    }

    /// With every default written out.
    pub(super) fn of(profiling: &Profiling) -> Self {
        Self::Chosen(ChosenFile {
            steps: Some(profiling.steps.clone()),
            seconds: Some(profiling.time.as_secs_f64()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;

    fn plan(profile: &str) -> Result<crate::Plan, String> {
        let text = format!("{profile}\n[[system]]\ndbms = \"postgres\"\nversion = \"17.4\"\n");
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let file = PlanFile::parse(&text, "test").map_err(|e| e.to_string())?;
        file.resolve("test", &catalogue).map_err(|e| e.to_string())
    }

    #[test]
    fn profiles_as_written_and_as_meant() {
        let all = Profiling { steps: Vec::new(), time: Duration::from_secs(5) };
        assert_eq!(plan("").unwrap().profiling, None);
        assert_eq!(plan("profile = false").unwrap().profiling, None);
        assert_eq!(plan("profile = true").unwrap().profiling, Some(all));
        let chosen = plan("profile = { steps = [\"point-*\"], seconds = 2.5 }").unwrap();
        let some =
            Profiling { steps: vec!["point-*".to_owned()], time: Duration::from_millis(2500) };
        assert_eq!(chosen.profiling, Some(some));
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        for plan in [chosen, plan("profile = true").unwrap(), plan("").unwrap()] {
            let again =
                PlanFile::parse(&plan.to_toml(), "test").unwrap().resolve("test", &catalogue);
            assert_eq!(again.unwrap(), plan);
        }
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        for (profile, words) in [
            ("profile = { seconds = 60 }", "profile.seconds = 60.0 is out of range"),
            ("profile = { seconds = nan }", "write 0.5 to 20 seconds"),
            ("profile = { step = [] }", "profile"),
            ("profile = \"yes\"", "profile"),
        ] {
            let error = plan(profile).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
