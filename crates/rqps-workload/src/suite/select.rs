//! Selection of a suite's steps by form and patterns, with the steps that they need.

use std::collections::BTreeSet;

use rqps_model::{Group, StepKind};

use crate::step::{Short, Step};
use crate::{Pattern, Suite, SuiteError};

/// How much of a suite is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// Every step.
    #[default]
    Full,
    /// The steps with `short` in the suite.
    Short,
}

impl Suite {
    /// The steps of a form that match one of the patterns (all, when there are none), in order, with
    /// the load and the steps that they need.
    ///
    /// A pattern is a step's name or family, or a glob of these. When a step that settles the
    /// server is excluded, the last selected step before it that writes settles the server.
    ///
    /// # Errors
    /// A pattern that matches no step of the form, with the nearest names; a short form in which no
    /// step has a rate that is reported.
    pub fn select<S: AsRef<str>>(&self, patterns: &[S], form: Form) -> Result<Self, SuiteError> {
        let in_form = |step: &Step| form == Form::Full || step.short != Short::No;
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        for pattern in patterns {
            let compiled = Pattern::new(pattern.as_ref());
            let pattern = compiled.text();
            let hits = (0..self.steps.len()).filter(|&idx| matches(&compiled, &self.steps[idx]));
            let (inside, outside): (Vec<usize>, Vec<usize>) =
                hits.partition(|&idx| in_form(&self.steps[idx]));
            if inside.is_empty() {
                return Err(match outside.first() {
                    Some(&idx) => SuiteError::NoSuchStep {
                        suite: self.name.clone(),
                        pattern: pattern.to_owned(),
                        hint: format!(
                            "{} is in the full form alone: write form = \"full\" or --form full",
                            self.steps[idx].name
                        ),
                    },
                    None => no_such_step(self, pattern),
                });
            }
            kept.extend(inside);
        }
        if patterns.is_empty() {
            let has_figure = || self.steps.iter().any(|step| step.short == Short::Figure);
            // Such a run would fill tables and measure nothing.
            if form == Form::Short && !has_figure() {
                return Err(SuiteError::NoShortForm { suite: self.name.clone() });
            }
            kept.extend((0..self.steps.len()).filter(|&idx| in_form(&self.steps[idx])));
        }
        self.add_needed(&mut kept);
        Ok(self.keep(&kept, form))
    }

    /// Adds the steps that every selection includes and those that selected steps need.
    fn add_needed(&self, kept: &mut BTreeSet<usize>) {
        kept.extend((0..self.steps.len()).filter(|&idx| self.steps[idx].always));
        let makes_tables = |step: &Step| matches!(step.kind, StepKind::Load | StepKind::Index);
        kept.extend((0..self.steps.len()).filter(|&idx| makes_tables(&self.steps[idx])));
        // Needs name earlier steps, so one pass from the end finds needs of needs as well.
        for idx in (0..self.steps.len()).rev() {
            if kept.contains(&idx) {
                let needs = &self.steps[idx].needs;
                kept.extend((0..idx).filter(|&other| needs.contains(&self.steps[other].name)));
            }
        }
    }

    fn keep(&self, kept: &BTreeSet<usize>, form: Form) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        // Position of the last kept step that wrote and after which nothing settled yet.
        let mut unsettled: Option<usize> = None;
        for (idx, step) in self.steps.iter().enumerate() {
            if kept.contains(&idx) {
                let mut step = step.clone();
                if form == Form::Short && step.short == Short::Run {
                    step.group = Group::Other;
                }
                if !matches!(step.kind, StepKind::Read | StepKind::WarmUp) {
                    unsettled = Some(steps.len());
                }
                if step.settle {
                    unsettled = None;
                }
                steps.push(step);
            } else if step.settle
                && let Some(last) = unsettled.take()
            {
                steps[last].settle = true;
            }
        }
        Self { name: self.name.clone(), steps }
    }
}

fn matches(pattern: &Pattern, step: &Step) -> bool {
    pattern.matches(&step.name) || pattern.matches(&step.family)
}

/// The error for an unknown step, with the nearest names.
pub(super) fn no_such_step(suite: &Suite, pattern: &str) -> SuiteError {
    let names = suite.steps.iter().flat_map(|step| [step.family.as_str(), step.name.as_str()]);
    none_matches(&suite.name, names, pattern)
}

/// The same for any suite with steps of these names.
pub(crate) fn none_matches<'a>(
    suite: &str,
    names: impl Iterator<Item = &'a str>,
    pattern: &str,
) -> SuiteError {
    let plain = pattern.replace(['*', '?'], "");
    let mut near: Vec<(usize, &str)> = Vec::new();
    for name in names {
        if !near.iter().any(|(_, other)| *other == name) {
            near.push((strsim::osa_distance(&plain, name), name));
        }
    }
    near.sort();
    near.retain(|(slips, _)| slips * 2 <= plain.chars().count());
    let names: Vec<&str> = near.iter().take(3).map(|(_, name)| *name).collect();
    let hint = match names.as_slice() {
        [] => "`rqps suites show SUITE --steps` lists the steps".to_owned(),
        [name] => format!("did you mean {name}?"),
        [names @ .., last] => format!("did you mean {} or {last}?", names.join(", ")),
    };
    SuiteError::NoSuchStep { suite: suite.to_owned(), pattern: pattern.to_owned(), hint }
}
