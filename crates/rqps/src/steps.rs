//! `--steps` over the suites of a plan: steps alone, or with their suite's name as reports have them.

use anyhow::{Result, bail};
use rqps_runner::plan::SuiteFile;
use rqps_workload::Pattern;

/// Narrows the suites of a plan to the steps that are named, by name or glob. `STEP` is one of every
/// suite, `SUITE/STEP` of the suites of that name; a suite that none is about is excluded. Whether suites
/// have such steps is for the runner to say.
///
/// # Errors
/// When a suite is named that is not there; lists those that are.
pub(crate) fn choose(patterns: &[String], suites: &mut Vec<SuiteFile>) -> Result<()> {
    if patterns.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = suites.iter().filter_map(|suite| suite.name.as_deref()).collect();
    let is_about_one =
        |pattern: &String| names.iter().any(|name| of_suite(pattern, name).is_some());
    let are_all_named = names.len() == suites.len();
    if let Some(pattern) = patterns.iter().find(|p| are_all_named && !is_about_one(p)) {
        bail!(
            "--steps {pattern:?}: the plan has no suite of that name; write one of {}/STEP",
            names.join("/STEP, ")
        );
    }
    // What is about no suite with a name is the runner's to refuse.
    let of_unnamed: Vec<String> =
        patterns.iter().filter(|p| !p.contains('/') || !is_about_one(p)).cloned().collect();
    for suite in suites.iter_mut() {
        let own = match &suite.name {
            None => of_unnamed.clone(),
            Some(name) => {
                let of = patterns.iter().filter_map(|pattern| of_suite(pattern, name));
                of.map(ToOwned::to_owned).collect()
            }
        };
        suite.steps = Some(own);
    }
    suites.retain(|suite| suite.steps.as_ref().is_some_and(|steps| !steps.is_empty()));
    Ok(())
}

/// What a pattern says of the steps of a suite; `None` where it is about another one. Names of suites may
/// have slashes themselves, those of steps have none.
fn of_suite<'p>(pattern: &'p str, suite: &str) -> Option<&'p str> {
    let Some((of, step)) = pattern.rsplit_once('/') else { return Some(pattern) };
    Pattern::new(of).matches(suite).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A suite that is left: its name and steps.
    type Left = (Option<String>, Vec<String>);

    /// What is left of suites with these names.
    fn chosen(names: &[Option<&str>], patterns: &[&str]) -> Result<Vec<Left>, String> {
        let named = |name: Option<&str>| SuiteFile {
            name: name.map(ToOwned::to_owned),
            steps: Some(vec!["of-the-plan".to_owned()]),
            ..SuiteFile::default()
        };
        let mut suites: Vec<SuiteFile> = names.iter().copied().map(named).collect();
        let patterns: Vec<String> = patterns.iter().map(|&p| p.to_owned()).collect();
        choose(&patterns, &mut suites).map_err(|error| error.to_string())?;
        Ok(suites.into_iter().map(|suite| (suite.name, suite.steps.unwrap())).collect())
    }

    #[test]
    fn a_step_with_its_suite_is_of_that_suite_alone() {
        let of = |name: &str, steps: &[&str]| {
            (Some(name.to_owned()), steps.iter().map(|&s| s.to_owned()).collect::<Vec<_>>())
        };
        let two = [Some("small"), Some("with/slash")];
        assert_eq!(chosen(&two, &["small/scan"]), Ok(vec![of("small", &["scan"])]));
        let both = [of("small", &["scan", "point-*"]), of("with/slash", &["scan"])];
        assert_eq!(chosen(&two, &["scan", "small/point-*"]), Ok(both.to_vec()));
        let slashed = chosen(&two, &["with/slash/l.i0"]);
        assert_eq!(slashed, Ok(vec![of("with/slash", &["l.i0"])]));
        assert_eq!(chosen(&two, &["*/scan"]).unwrap().len(), 2);
        // One name begins another.
        let inner = chosen(&[Some("a"), Some("a/b")], &["a/b/scan"]);
        assert_eq!(inner, Ok(vec![of("a/b", &["scan"])]));
        assert_eq!(chosen(&two, &[]).unwrap()[1], of("with/slash", &["of-the-plan"]));
    }

    #[test]
    fn suites_that_are_not_there_are_refused_and_those_that_are_listed() {
        let error = chosen(&[Some("small"), Some("big")], &["scan", "bog/scan"]).unwrap_err();
        assert_eq!(
            error,
            "--steps \"bog/scan\": the plan has no suite of that name; write one of small/STEP, big/STEP"
        );
        // Beside a suite without a name the runner refuses it.
        let steps = |patterns: &[&str]| chosen(&[None, Some("big")], patterns).unwrap();
        assert_eq!(steps(&["bog/scan"]), [(None::<String>, vec!["bog/scan".to_owned()])]);
        assert_eq!(steps(&["big/scan"]), [(Some("big".to_owned()), vec!["scan".to_owned()])]);
    }
}
