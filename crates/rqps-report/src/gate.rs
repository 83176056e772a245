//! The gate: whether any step of a run is slower than allowed, for CI.
//!
//! It judges by the analysis' own verdicts, whose bound is the slowdown allowed, so that a report of
//! the run says the same. `unclear` never fails it; a step without a figure is an error and no pass.

pub mod json;
pub mod junit;
pub mod markdown;
mod table;
pub mod text;

use rqps_model::{RunStatus, StepInfo, Verdict};

use crate::analysis::{Analysis, Cell, CellState, StepAnalysis};
use crate::number::{count, percent};
use crate::words::{list, list_in_short, one_line};

/// How one step of one candidate came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Slower than allowed, or short of an insert rate that the base held.
    Slower,
    /// No figure, on the candidate or the base, or nothing to divide by.
    Error(String),
    /// The interval does not settle it; why.
    Unclear(String),
    /// Not reached by a run that may be unfinished.
    NotReached(String),
    /// Faster by the bound or more.
    Faster,
    /// The same within the bound.
    Same,
}

impl Outcome {
    /// The outcome as one word or two, for tables.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Error(_) => "error",
            Self::Unclear(_) => "unclear",
            Self::NotReached(_) => "not reached",
            Self::Faster => "faster",
            Self::Same => "same",
        }
    }

    /// The same for programs.
    #[must_use]
    pub fn key(&self) -> &'static str {
        if matches!(self, Self::NotReached(_)) { "not-reached" } else { self.word() }
    }

    /// Why it is so, where the verdict's word does not say it.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Error(text) | Self::Unclear(text) | Self::NotReached(text) => Some(text),
            Self::Slower | Self::Faster | Self::Same => None,
        }
    }

    /// Place in tables: what needs somebody first.
    fn rank(&self) -> u8 {
        match self {
            Self::Slower => 0,
            Self::Error(_) => 1,
            Self::Unclear(_) => 2,
            Self::NotReached(_) => 3,
            Self::Faster => 4,
            Self::Same => 5,
        }
    }
}

/// One step of one candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Index of the step in the analysis.
    pub step_idx: usize,
    /// Index of the candidate.
    pub system_idx: usize,
    /// How it came out.
    pub outcome: Outcome,
}

/// What the gate says as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// No step is slower than allowed.
    Passed,
    /// One is.
    Slower,
    /// It cannot be said: a step has no figure, or the run is not finished. Takes precedence.
    Error,
}

impl Passage {
    /// One word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Slower => "slower",
            Self::Error => "error",
        }
    }
}

/// Why a run cannot be judged at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// One system, or none.
    #[error(
        "run {run} has no candidate: one system alone is neither slower nor faster; measure a base and a candidate in one run with `rqps run --base SYSTEM --vs SYSTEM`"
    )]
    NoCandidate {
        /// The run.
        run: String,
    },
    /// No step to judge.
    #[error("no step of run {run} is to be judged; --steps takes names or globs of {known}")]
    NoStep {
        /// The run.
        run: String,
        /// The steps that there are.
        known: String,
    },
}

/// A run that was judged.
#[derive(Debug)]
pub struct Gate<'a> {
    /// The run.
    pub analysis: &'a Analysis<'a>,
    /// What was judged: what needs somebody first, the slowest before all, else in the run's order.
    pub judged: Vec<Judged>,
    /// Whether the run may be unfinished.
    pub allow_unfinished: bool,
}

impl<'a> Gate<'a> {
    /// Judges the steps that are chosen. Loads and warm-ups never are.
    ///
    /// # Errors
    /// A run without a candidate, or of which no step is chosen.
    pub fn of(
        analysis: &'a Analysis<'a>,
        allow_unfinished: bool,
        is_chosen: impl Fn(&StepInfo) -> bool,
    ) -> Result<Self, GateError> {
        let run = analysis.run.id.clone();
        let candidates: Vec<usize> = analysis.candidates().collect();
        if candidates.is_empty() {
            return Err(GateError::NoCandidate { run });
        }
        let compared = || analysis.steps.iter().enumerate().filter(|(_, s)| s.is_compared());
        let mut judged = Vec::new();
        for (step_idx, step) in compared().filter(|(_, s)| is_chosen(&s.step.info)) {
            for &system_idx in &candidates {
                let outcome = judge(analysis, step, system_idx, allow_unfinished);
                judged.push(Judged { step_idx, system_idx, outcome });
            }
        }
        if judged.is_empty() {
            let names: Vec<String> = compared().map(|(_, s)| s.step.info.name.clone()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { list_in_short(&names) };
            return Err(GateError::NoStep { run, known });
        }
        let point = |j: &Judged| match &j.outcome {
            Outcome::Slower => analysis.steps[j.step_idx].cells[j.system_idx].rqps.map(|r| r.point),
            _ => None,
        };
        // Stable: all but the slower ones stay in the run's order.
        judged.sort_by(|a, b| {
            let of = |j: &Judged| (j.outcome.rank(), point(j).unwrap_or(0.0));
            let ((a_rank, a_point), (b_rank, b_point)) = (of(a), of(b));
            a_rank.cmp(&b_rank).then(a_point.total_cmp(&b_point))
        });
        Ok(Self { analysis, judged, allow_unfinished })
    }

    /// What the gate says as a whole. An error takes precedence: what has no figure may be slower, too.
    #[must_use]
    pub fn passage(&self) -> Passage {
        if self.is_unfinished() || self.n("error") > 0 || self.n("not-reached") == self.judged.len()
        {
            Passage::Error
        } else if self.n("slower") > 0 {
            Passage::Slower
        } else {
            Passage::Passed
        }
    }

    /// Whether the run has not ended and had to.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.analysis.run.status != RunStatus::Finished && !self.allow_unfinished
    }

    /// How many came out as the key says.
    #[must_use]
    pub fn n(&self, key: &str) -> usize {
        self.judged.iter().filter(|j| j.outcome.key() == key).count()
    }

    /// What is counted: of several candidates each has every step.
    pub(crate) fn noun(&self) -> &'static str {
        if self.analysis.candidates().nth(1).is_some() { "comparison" } else { "step" }
    }

    /// What keeps the gate from a judgement, a sentence each: for standard error.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        let run = self.analysis.run;
        let mut out = Vec::new();
        if self.is_unfinished() {
            out.push(format!(
                "run {} is not finished ({}): type its command again to go on with it ({}), or judge \
                 what there is with --allow-unfinished",
                run.id,
                run.status,
                one_line(&run.command_line)
            ));
        }
        for one in &self.judged {
            if let Outcome::Error(reason) = &one.outcome {
                out.push(format!("{}: {reason}", self.analysis.steps[one.step_idx].title));
            }
        }
        if self.n("not-reached") == self.judged.len() {
            out.push(format!("no step of run {} was reached", run.id));
        }
        out
    }

    /// The gate's answer in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let analysis = self.analysis;
        let all = self.judged.len();
        let steps = |n: usize| count(n, self.noun());
        let bound = percent(analysis.bound);
        let who = match analysis.candidates().next() {
            Some(idx) if self.noun() == "step" => one_line(analysis.label(idx)),
            _ => "a candidate".to_owned(),
        };
        let base = one_line(analysis.base_label());
        let found = format!("{who} was found slower than {base} by {bound} or more");
        let main = match (self.passage(), self.n("slower")) {
            (Passage::Error, n) => {
                let missing = self.n("error") + self.n("not-reached");
                let said = [
                    (missing > 0, format!("{missing} of {} without a figure", steps(all))),
                    (self.is_unfinished(), "the run is unfinished".to_owned()),
                    (n > 0, format!("{} slower", steps(n))),
                ];
                let said: Vec<String> = said.into_iter().filter(|s| s.0).map(|s| s.1).collect();
                format!("no judgement: {}", said.join("; "))
            }
            (_, 0) => format!("{found} on none of {}", steps(all)),
            (_, n) => format!("{found} on {n} of {}", steps(all)),
        };
        let others: Vec<String> = [
            ("unclear", "unclear"),
            ("faster", "faster"),
            ("same", "the same"),
            ("not-reached", "not reached"),
        ]
        .iter()
        .filter_map(|(key, words)| Some((self.n(key), words)).filter(|(n, _)| *n > 0))
        .map(|(n, words)| format!("{n} {words}"))
        .collect();
        let others =
            if others.is_empty() { String::new() } else { format!(" ({})", list(&others)) };
        format!("{main}{others}.")
    }

    /// What was judged, with its step and the candidate's cell.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Judged, &StepAnalysis<'a>, &Cell)> {
        self.judged.iter().map(|j| {
            let step = &self.analysis.steps[j.step_idx];
            (j, step, &step.cells[j.system_idx])
        })
    }
}

fn judge(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    system_idx: usize,
    allow_unfinished: bool,
) -> Outcome {
    for idx in [analysis.base, system_idx] {
        let label = one_line(analysis.label(idx));
        let who = if idx == analysis.base { format!("the base {label}") } else { label };
        match step.cells.get(idx).map(|cell| &cell.state) {
            Some(CellState::Measured) => {}
            Some(CellState::Failed { reason }) => {
                let first = one_line(reason.lines().next().unwrap_or_default());
                return Outcome::Error(format!("failed on {who}: {first}"));
            }
            _ if allow_unfinished => return Outcome::NotReached(format!("not reached on {who}")),
            _ => return Outcome::Error(format!("not reached on {who}")),
        }
    }
    let (base, cell) = (&step.cells[analysis.base], &step.cells[system_idx]);
    if base.failed_sla() {
        let label = one_line(analysis.base_label());
        return Outcome::Error(format!("the base {label} did not hold its insert rate"));
    }
    if cell.failed_sla() {
        return Outcome::Slower;
    }
    match (cell.verdict, cell.rqps) {
        (Some(Verdict::Slower), _) => Outcome::Slower,
        (Some(Verdict::Faster), _) => Outcome::Faster,
        (Some(Verdict::Same), _) => Outcome::Same,
        (_, Some(ratio)) if ratio.interval.is_none() => {
            Outcome::Unclear("one slice or block has no interval".to_owned())
        }
        (_, Some(_)) => Outcome::Unclear(format!(
            "the interval is too wide to tell a slowdown of {}; measure longer",
            percent(analysis.bound)
        )),
        (_, None) => {
            Outcome::Error("a slice finished no operation, so there is no ratio".to_owned())
        }
    }
}
