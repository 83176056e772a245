//! What was put there against what reports call it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use rqps_analysis::{Analysis, Differing};
use rqps_explain::Kind;
use rqps_model::WarningKind;
use rqps_report::causes::sentence;

use super::trial::{TRIALS, Trial};

/// What a report says of a trial's second system.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// The cause; absent where the verdict is neither slower nor faster.
    kind: Option<Kind>,
    /// Whether the difference that must be named is.
    is_named: bool,
    /// The sentence, or the verdict where there is none.
    pub(super) sentence: String,
}

impl Judged {
    /// What an analysis of a trial's run says.
    pub(super) fn of(analysis: &Analysis<'_>, trial: &Trial) -> Result<Self> {
        let mut steps = analysis.steps.iter();
        let step = steps.find(|step| step.step.info.name == trial.step);
        let step = step.with_context(|| format!("the run has no step {}", trial.step))?;
        let cell = step.cells.get(1).context("the run has one system")?;
        let verdict = cell.verdict().map_or("no verdict", |verdict| verdict.word());
        let sentence = sentence::of_cell(cell).unwrap_or_else(|| {
            format!("{verdict}, rQPS {:.2}", cell.rqps().map_or(f64::NAN, |r| r.point))
        });
        let is_named = |name: &str| {
            let mut hints = cell.against.iter().flat_map(|against| &against.evidence.hints);
            let is_warning = |kind: &WarningKind| matches!(kind, WarningKind::Difference { name: own, .. } if own == name);
            hints.any(|hint| hint.what == Differing::Setting(name.to_owned()))
                || analysis.warnings.iter().any(is_warning)
        };
        Ok(Self {
            kind: cell.cause().map(|cause| cause.kind),
            is_named: trial.must_name.is_none_or(is_named),
            sentence,
        })
    }
}

/// Counts by what was put there and what was said.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    counts: BTreeMap<(&'static str, Option<Kind>), usize>,
    n_right: usize,
    n_wrong: usize,
}

impl Matrix {
    /// Counts a trial.
    pub(super) fn add(&mut self, trial: &Trial, judged: &Judged) {
        *self.counts.entry((trial.name, judged.kind)).or_default() += 1;
        let is_right = judged.kind == trial.expected;
        self.n_right += usize::from(is_right && judged.is_named);
        // Several parts are told where no cause is.
        let is_open = |kind| matches!(kind, Kind::Several | Kind::NotExplained);
        let is_claimed = judged.kind.is_some_and(|kind| !is_open(kind));
        self.n_wrong += usize::from(is_claimed && !is_right);
    }

    /// Trials in all.
    pub(super) fn n_trials(&self) -> usize {
        self.counts.values().sum()
    }

    /// Trials whose cause was found, and what else must be named.
    pub(super) fn n_right(&self) -> usize {
        self.n_right
    }

    /// Trials that another cause was given for.
    pub(super) fn n_wrong(&self) -> usize {
        self.n_wrong
    }

    /// The table, in markdown.
    pub(super) fn table(&self) -> String {
        let said: Vec<Option<Kind>> = Kind::ALL.into_iter().map(Some).chain([None]).collect();
        let is_used = |kind: &&Option<Kind>| {
            self.counts.keys().any(|(_, k)| k == *kind)
                || TRIALS.iter().any(|trial| trial.expected == **kind)
        };
        let said: Vec<&Option<Kind>> = said.iter().filter(is_used).collect();
        let name = |kind: &Option<Kind>| kind.map_or("no verdict", Kind::key);
        let heads: Vec<&str> = said.iter().map(|kind| name(kind)).collect();
        let mut out =
            format!("| put there | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
        for trial in &TRIALS {
            let count = |kind: &&Option<Kind>| {
                let n = self.counts.get(&(trial.name, **kind)).copied().unwrap_or(0);
                match (n, trial.expected == **kind) {
                    (0, true) => "**0**".to_owned(),
                    (0, false) => String::new(),
                    (n, true) => format!("**{n}**"),
                    (n, false) => n.to_string(),
                }
            };
            let row: Vec<String> = said.iter().map(count).collect();
            out.push_str(&format!("\n| {} | {} |", trial.name, row.join(" | ")));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_right_wrong_and_open() {
        let judged = |kind, is_named| Judged { kind, is_named, sentence: String::new() };
        let (waiting, tls) = (&TRIALS[0], TRIALS.iter().find(|t| t.name == "tls").unwrap());
        let mut matrix = Matrix::default();
        matrix.add(waiting, &judged(waiting.expected, true));
        matrix.add(waiting, &judged(Some(Kind::NotExplained), true));
        matrix.add(waiting, &judged(None, true));
        matrix.add(tls, &judged(tls.expected, false));
        matrix.add(tls, &judged(Some(Kind::Waiting), true));
        assert_eq!((matrix.n_trials(), matrix.n_right(), matrix.n_wrong()), (5, 1, 1));
        let nothing = TRIALS.iter().find(|t| t.name == "nothing").unwrap();
        matrix.add(nothing, &judged(None, true));
        matrix.add(nothing, &judged(Some(Kind::Waiting), true));
        assert_eq!((matrix.n_trials(), matrix.n_right(), matrix.n_wrong()), (7, 2, 2));
        let table = matrix.table();
        let row = table.lines().find(|line| line.starts_with("| injected-slowdown")).unwrap();
        assert!(row.contains("**1**"), "{table}");
    }
}
