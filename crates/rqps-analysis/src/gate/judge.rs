//! How one step of one candidate came out, and why.

use rqps_model::{StepKind, Verdict};

use super::Outcome;
use crate::analysis::{Analysis, Bar, Cell, CellState, StepAnalysis};
use rqps_text::number::{exact_percent, p_value};
use rqps_text::words::{list_in_short, one_line};

/// Why a figure that was measured cannot be compared, whatever it would be compared with.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// The step did other work than it should have: the checks that failed.
    Checks(String),
    /// Its clients were held at a rate that was set, which is then the figure.
    SetRate,
}

impl Unfit {
    /// What keeps a cell from a comparison.
    pub(crate) fn of(cell: &Cell) -> Option<Self> {
        let words = |check: &rqps_model::run::Check| format!("{}, {}", check.name, check.found);
        let failed: Vec<String> = cell.failed_checks().map(|c| one_line(&words(c))).collect();
        if !failed.is_empty() {
            return Some(Self::Checks(list_in_short(&failed)));
        }
        cell.lateness.map(|_| Self::SetRate)
    }

    /// The same in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Checks(failed) => format!("a check of its work failed ({failed})"),
            Self::SetRate => {
                "a rate was set, and QPS are that rate; compare response times and CPU \
                              per operation in the report"
                    .to_owned()
            }
        }
    }
}

/// Why two cells that both have figures have no ratio: nothing was done, or one was measured alone.
pub(crate) fn without_ratio(base: &Cell, cell: &Cell) -> &'static str {
    if base.did_nothing() || cell.did_nothing() {
        "a slice finished no operation"
    } else {
        "it was not measured beside the base"
    }
}

/// How a step of a candidate came out.
pub(super) fn judge(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    system_idx: usize,
    allow_unfinished: bool,
) -> Outcome {
    let both = [analysis.base, system_idx];
    let state = |idx: usize| step.cells.get(idx).map(|cell| &cell.state);
    // What failed on one is an error also where the other was not reached.
    for idx in both {
        if let Some(CellState::Failed { reason }) = state(idx) {
            let first = one_line(reason.lines().next().unwrap_or_default());
            return Outcome::Error(format!("failed on {}: {first}", who(analysis, idx)));
        }
    }
    for idx in both {
        if state(idx) != Some(&CellState::Measured) {
            let kind = if allow_unfinished { Outcome::NotReached } else { Outcome::Error };
            return kind(format!("not reached on {}", who(analysis, idx)));
        }
    }
    let unfit = both.map(|idx| Unfit::of(&step.cells[idx]));
    for (idx, unfit) in both.into_iter().zip(&unfit) {
        if let Some(checks @ Unfit::Checks(_)) = unfit {
            return Outcome::Error(format!("on {} {}", who(analysis, idx), checks.words()));
        }
    }
    let (base, cell) = (&step.cells[analysis.base], &step.cells[system_idx]);
    if cell.is_imported {
        let why = "its figures were imported, one of each (n=1), so that there is no verdict";
        return Outcome::NotJudged(why.to_owned());
    }
    if base.failed_sla() {
        let who = who(analysis, analysis.base);
        return Outcome::Error(format!("{who} did not hold its insert rate"));
    }
    if cell.failed_sla() {
        return Outcome::RateNotHeld;
    }
    // Of a rate that one of both did not hold, the figures tell as they do in the report.
    if cell.bar == Some(Bar::Rate) {
        return Outcome::NotJudged(Unfit::SetRate.words());
    }
    if cell.rqps.is_none() {
        return Outcome::Error(format!("{}, so there is no ratio", without_ratio(base, cell)));
    }
    match cell.verdict {
        Some(Verdict::Slower) => Outcome::Slower,
        Some(Verdict::Faster) => Outcome::Faster,
        Some(Verdict::Same) => Outcome::Same,
        Some(Verdict::Unclear) => Outcome::Unclear(unclear(analysis, step, cell)),
        None => Outcome::Error("it has no verdict; the report says why".to_owned()),
    }
}

/// A system by its label, the base as such.
fn who(analysis: &Analysis<'_>, idx: usize) -> String {
    let label = one_line(analysis.label(idx));
    if idx == analysis.base { format!("the base {label}") } else { label }
}

/// Why a verdict is unclear.
fn unclear(analysis: &Analysis<'_>, step: &StepAnalysis<'_>, cell: &Cell) -> String {
    let comparison = cell.comparison.as_deref();
    let has_interval = cell.rqps.is_some_and(|ratio| ratio.interval.is_some());
    let because = match comparison.and_then(|c| c.alone).filter(|_| cell.fell_short()) {
        _ if !has_interval => "one slice or block has no interval".to_owned(),
        Some(alone) => {
            let p =
                comparison.and_then(|c| c.rqps.found.tested.p).map_or_else(String::new, p_value);
            let (alone, n) = (alone.word(), analysis.n_tests());
            format!("{alone} on its own (p {p}), but not among the {n} ratios that were tried")
        }
        None => {
            let bound = exact_percent(analysis.bound);
            format!("the interval is too wide to tell a slowdown of {bound}")
        }
    };
    // A fixed amount of work takes the time that it takes.
    let is_fixed = step.step.info.kind == StepKind::Index || step.step.info.has_blocks_of_work();
    let is_of_one_start = comparison.is_none_or(|c| c.rqps.found.starts < 2);
    if is_fixed && is_of_one_start {
        format!("{because}; its work is fixed, so that only more starts measure more of it")
    } else if !has_interval {
        format!("{because}; more slices have one")
    } else {
        because
    }
}
