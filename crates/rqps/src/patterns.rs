//! Steps and systems chosen by name or glob.

use anyhow::{Result, bail};
use rqps_model::{Run, RunSystem, StepInfo, StepKind};
use rqps_workload::Pattern;

/// Names that an error lists.
const N_LISTED: usize = 8;

/// Names or globs; none takes everything.
#[derive(Debug, Clone)]
pub(crate) struct Patterns(Vec<Pattern>);

impl Patterns {
    pub(crate) fn new(patterns: &[String]) -> Self {
        Self(patterns.iter().map(|text| Pattern::new(text)).collect())
    }

    /// Whether a step is chosen, by its name or family.
    pub(crate) fn takes_step(&self, step: &StepInfo) -> bool {
        self.takes(&names_of_step(step))
    }

    /// Whether a system is chosen, by its label or as `DBMS@VERSION`.
    pub(crate) fn takes_system(&self, system: &RunSystem) -> bool {
        self.takes(&names_of_system(system))
    }

    /// Refuses a pattern that no step of any run has.
    pub(crate) fn check_steps<'r>(
        &self,
        option: &str,
        runs: impl IntoIterator<Item = &'r Run>,
    ) -> Result<()> {
        let steps: Vec<&StepInfo> =
            runs.into_iter().flat_map(|run| run.steps.iter().map(|step| &step.info)).collect();
        let compared = steps.iter().filter(|step| step.kind != StepKind::WarmUp);
        let names = compared.map(|step| step.name.clone()).collect();
        self.check(option, "step", names, |one| {
            steps.iter().any(|step| takes(one, &names_of_step(step)))
        })
    }

    /// Refuses a pattern that no system of any run has.
    pub(crate) fn check_systems<'r>(
        &self,
        option: &str,
        runs: impl IntoIterator<Item = &'r Run>,
    ) -> Result<()> {
        let systems: Vec<&RunSystem> = runs.into_iter().flat_map(|run| &run.systems).collect();
        let names = systems.iter().map(|system| system.spec.label.0.clone()).collect();
        self.check(option, "system", names, |one| {
            systems.iter().any(|system| takes(one, &names_of_system(system)))
        })
    }

    fn takes(&self, names: &[String]) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| takes(pattern, names))
    }

    fn check(
        &self,
        option: &str,
        what: &str,
        mut names: Vec<String>,
        has: impl Fn(&Pattern) -> bool,
    ) -> Result<()> {
        let Some(pattern) = self.0.iter().find(|pattern| !has(pattern)) else { return Ok(()) };
        let pattern = pattern.text();
        names.sort_unstable();
        names.dedup();
        let more = if names.len() > N_LISTED { ", ..." } else { "" };
        names.truncate(N_LISTED);
        bail!(
            "{option} {pattern:?}: no {what} of this name was measured; write one of {}{more}",
            names.join(", ")
        )
    }
}

fn takes(pattern: &Pattern, names: &[String]) -> bool {
    names.iter().any(|name| pattern.matches(name))
}

fn names_of_step(step: &StepInfo) -> [String; 2] {
    [step.name.clone(), step.family.clone()]
}

fn names_of_system(system: &RunSystem) -> [String; 3] {
    let dbms = system.spec.dbms;
    let [long, short] = [dbms.to_string().as_str(), dbms.letters()].map(|dbms| typed(dbms, system));
    [system.spec.label.0.clone(), long, short]
}

/// `mariadb@10.11.5` or `ma@10.11.5`, as systems are typed.
fn typed(dbms: &str, system: &RunSystem) -> String {
    let version = system.known_version().map(ToString::to_string).unwrap_or_default();
    format!("{dbms}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pattern_takes_everything() {
        let patterns = ["range-*".to_owned(), "scan".to_owned()];
        let takes =
            |patterns: &[String], name: &str| Patterns::new(patterns).takes(&[name.to_owned()]);
        assert!(takes(&[], "point-query"));
        assert!(takes(&patterns, "range-covered-pk") && takes(&patterns, "scan"));
        assert!(!takes(&patterns, "point-query"));
    }
}
