//! The gate: whether any step of a run is slower than allowed, for CI.
//!
//! It uses the verdicts of the analysis, whose bound is the allowed slowdown, so a report of the
//! run agrees. `unclear` never fails the gate; a step without a result is an error.

mod judge;
mod reason;

use rqps_model::{RunStatus, RunSystem, StepInfo};

pub use reason::{Fault, NoRatio, NotJudged, Unfit, Unsettled, Why};

use crate::analysis::{Analysis, Cell, StepAnalysis};
use rqps_text::words::list_in_short;

/// The outcome of one step of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Slower than allowed.
    Slower,
    /// An insert rate was not held that the base held.
    RateNotHeld,
    /// No valid result on the candidate or the base, or no ratio.
    Error(Fault),
    /// The interval is too wide for a verdict; why.
    Unclear(Unsettled),
    /// The measurement has no verdict; why.
    NotJudged(NotJudged),
    /// Not reached by a run that may be unfinished.
    NotReached {
        /// On which system.
        system_idx: usize,
    },
    /// Faster by the bound or more.
    Faster,
    /// The same within the bound.
    Same,
}

/// Comparisons by their outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Slower than allowed.
    pub slower: usize,
    /// An insert rate was not held that the base held.
    pub sla_failed: usize,
    /// Without a valid result.
    pub errors: usize,
    /// With an interval that is too wide for a verdict.
    pub unclear: usize,
    /// With a measurement that has no verdict.
    pub not_judged: usize,
    /// Not reached.
    pub not_reached: usize,
    /// Faster by the bound or more.
    pub faster: usize,
    /// The same within the bound.
    pub same: usize,
}

impl Outcome {
    /// For programs: `not-reached`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::RateNotHeld => "sla-failed",
            Self::Error(_) => "error",
            Self::Unclear(_) => "unclear",
            Self::NotJudged(_) => "not-judged",
            Self::NotReached { .. } => "not-reached",
            Self::Faster => "faster",
            Self::Same => "same",
        }
    }

    /// Place in tables: what needs somebody first.
    fn rank(&self) -> u8 {
        match self {
            Self::Slower => 0,
            Self::RateNotHeld => 1,
            Self::Error(_) => 2,
            Self::Unclear(_) => 3,
            Self::NotJudged(_) => 4,
            Self::NotReached { .. } => 5,
            Self::Faster => 6,
            Self::Same => 7,
        }
    }
}

/// One step of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Index of the step in the analysis.
    pub step_idx: usize,
    /// Index of the candidate.
    pub system_idx: usize,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The answer of the gate; the worst is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passage {
    /// No step is slower than allowed.
    Passed,
    /// One is, or did not hold an insert rate that the base held.
    Slower,
    /// There is no judgement: a step has no valid result, none could be judged, or the run is not
    /// finished. Takes precedence.
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
        "run {run} has no candidate to compare with a base; measure both in one run with `rqps run --base SYSTEM --vs SYSTEM`"
    )]
    NoCandidate {
        /// The run.
        run: String,
    },
    /// No step to judge.
    #[error("no compared step of run {run} is selected; --steps takes names or globs of {known}")]
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
    /// The judged steps: those that need attention first, the slowest before all, else in the run's
    /// order.
    pub judged: Vec<Judged>,
    /// Whether the run may be unfinished.
    pub allow_unfinished: bool,
}

impl<'a> Gate<'a> {
    /// Judges the steps and candidates that are chosen. Warm-ups and `create-index` never are.
    ///
    /// # Errors
    /// A run without a candidate, or without a chosen step.
    pub fn of(
        analysis: &'a Analysis<'a>,
        allow_unfinished: bool,
        is_chosen: impl Fn(&StepInfo, &RunSystem) -> bool,
    ) -> Result<Self, GateError> {
        let run = analysis.run.id.clone();
        // What the base differs by from itself is no candidate's fault.
        let is_arm = |idx: &usize| analysis.run.systems[*idx].spec.is_null_arm;
        let candidates: Vec<usize> = analysis.candidates().filter(|idx| !is_arm(idx)).collect();
        if candidates.is_empty() {
            return Err(GateError::NoCandidate { run });
        }
        let compared = || analysis.steps.iter().enumerate().filter(|(_, s)| s.is_compared());
        let mut judged = Vec::new();
        for (step_idx, step) in compared() {
            let is_chosen = |idx: &&usize| is_chosen(&step.step.info, &analysis.run.systems[**idx]);
            for &system_idx in candidates.iter().filter(is_chosen) {
                let outcome = judge::judge(analysis, step, system_idx, allow_unfinished);
                judged.push(Judged { step_idx, system_idx, outcome });
            }
        }
        if judged.is_empty() {
            let names: Vec<String> = compared().map(|(_, s)| s.step.info.name.clone()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { list_in_short(&names) };
            return Err(GateError::NoStep { run, known });
        }
        let point = |j: &Judged| match &j.outcome {
            Outcome::Slower => {
                analysis.steps[j.step_idx].cells[j.system_idx].rqps().map(|r| r.point)
            }
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

    /// The answer of the gate. An error takes precedence: a step without a result may be slower,
    /// too.
    #[must_use]
    pub fn passage(&self) -> Passage {
        if self.is_unfinished() || self.is_empty() || self.counts().errors > 0 {
            Passage::Error
        } else if self.counts().slower + self.counts().sla_failed > 0 {
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

    /// Whether no step was reached, or none has a verdict.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts().not_reached + self.counts().not_judged == self.judged.len()
    }

    /// Comparisons by their outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for judged in &self.judged {
            *match judged.outcome {
                Outcome::Slower => &mut counts.slower,
                Outcome::RateNotHeld => &mut counts.sla_failed,
                Outcome::Error(_) => &mut counts.errors,
                Outcome::Unclear(_) => &mut counts.unclear,
                Outcome::NotJudged(_) => &mut counts.not_judged,
                Outcome::NotReached { .. } => &mut counts.not_reached,
                Outcome::Faster => &mut counts.faster,
                Outcome::Same => &mut counts.same,
            } += 1;
        }
        counts
    }

    /// Results that are missing because the host was busy with something else.
    #[must_use]
    pub fn n_host_busy(&self) -> usize {
        let is_busy = |judged: &&Judged| judged.outcome == Outcome::Error(Fault::HostBusy);
        self.judged.iter().filter(is_busy).count()
    }

    /// What was judged, with its step and the candidate's cell.
    pub fn rows(&self) -> impl Iterator<Item = (&Judged, &StepAnalysis<'a>, &Cell)> {
        self.judged.iter().map(|j| {
            let step = &self.analysis.steps[j.step_idx];
            (j, step, &step.cells[j.system_idx])
        })
    }
}
