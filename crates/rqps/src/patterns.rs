//! Steps and systems chosen by name or glob.

use anyhow::{Result, bail};
use rqps_model::{Run, RunSystem, StepInfo, SystemSource};
use rqps_workload::glob;

/// Names that an error lists.
const N_LISTED: usize = 8;

/// Patterns with `*` and `?`; none takes everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patterns<'p>(&'p [String]);

impl<'p> Patterns<'p> {
    pub(crate) fn new(patterns: &'p [String]) -> Self {
        Self(patterns)
    }

    /// Whether a step is chosen, by its name or family.
    pub(crate) fn takes_step(self, step: &StepInfo) -> bool {
        self.takes(&[&step.name, &step.family])
    }

    /// Whether a system is chosen, by its label or as `DBMS@VERSION`.
    pub(crate) fn takes_system(self, system: &RunSystem) -> bool {
        let dbms = system.spec.dbms;
        let [long, short] =
            [dbms.to_string().as_str(), dbms.letters()].map(|dbms| typed(dbms, system));
        self.takes(&[system.spec.label.as_str(), &long, &short])
    }

    /// Refuses a pattern that no step of any run has.
    pub(crate) fn check_steps<'r>(
        self,
        option: &str,
        runs: impl IntoIterator<Item = &'r Run>,
    ) -> Result<()> {
        let steps: Vec<&StepInfo> =
            runs.into_iter().flat_map(|run| run.steps.iter().map(|step| &step.info)).collect();
        let names = steps.iter().map(|step| step.name.clone()).collect();
        self.check((option, "step"), names, |one| steps.iter().any(|s| one.takes_step(s)))
    }

    /// Refuses a pattern that no system of any run has.
    pub(crate) fn check_systems<'r>(
        self,
        option: &str,
        runs: impl IntoIterator<Item = &'r Run>,
    ) -> Result<()> {
        let systems: Vec<&RunSystem> = runs.into_iter().flat_map(|run| &run.systems).collect();
        let names = systems.iter().map(|system| system.spec.label.0.clone()).collect();
        self.check((option, "system"), names, |one| systems.iter().any(|s| one.takes_system(s)))
    }

    fn takes(self, names: &[&str]) -> bool {
        let is_named =
            |pattern: &String| names.iter().any(|name| glob(pattern.as_bytes(), name.as_bytes()));
        self.0.is_empty() || self.0.iter().any(is_named)
    }

    fn check(
        self,
        (option, what): (&str, &str),
        mut names: Vec<String>,
        has: impl Fn(Patterns<'_>) -> bool,
    ) -> Result<()> {
        let Some(pattern) = self.0.iter().find(|p| !has(Patterns(std::slice::from_ref(p)))) else {
            return Ok(());
        };
        names.sort_unstable();
        names.dedup();
        let more = if names.len() > N_LISTED { ", ..." } else { "" };
        names.truncate(N_LISTED);
        bail!(
            "{option} {pattern:?} is no {what} that was measured; there are {}{more}",
            names.join(", ")
        )
    }
}

/// `mariadb@10.11.5` or `ma@10.11.5`, as systems are typed.
fn typed(dbms: &str, system: &RunSystem) -> String {
    let version = match (&system.version, &system.spec.source) {
        (Some(version), _) | (None, SystemSource::Catalogue { version, .. }) => version.to_string(),
        (None, _) => String::new(),
    };
    format!("{dbms}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pattern_takes_everything() {
        let patterns = ["range-*".to_owned(), "scan".to_owned()];
        assert!(Patterns::new(&[]).takes(&["point-query"]));
        assert!(Patterns::new(&patterns).takes(&["range-covered-pk.pre", "range-covered-pk"]));
        assert!(!Patterns::new(&patterns).takes(&["point-query"]));
    }
}
