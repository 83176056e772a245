//! Why a step has no clear verdict.

use rqps_model::run::Check;
use rqps_model::{Verdict, WarningKind};

use crate::analysis::{Bar, Cell, CellWarning};

/// Why a step has no valid result, or no ratio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It failed.
    Failed {
        /// On which system.
        system_idx: usize,
        /// The first line of what happened.
        reason: String,
    },
    /// It was not reached.
    NotReached {
        /// On which system.
        system_idx: usize,
    },
    /// Checks of its work failed.
    ChecksFailed {
        /// On which system.
        system_idx: usize,
        /// Those that failed.
        checks: Vec<Check>,
    },
    /// The base did not hold its insert rate.
    BaseRateNotHeld,
    /// There is no ratio.
    NoRatio(NoRatio),
    /// The host was busy with other work.
    HostBusy,
    /// There is a ratio and no verdict.
    NoVerdict,
}

/// Why two cells with results have no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRatio {
    /// A slice finished no operation.
    NothingDone,
    /// The system was not measured beside the base.
    NotBeside,
}

impl NoRatio {
    /// That of two cells.
    pub(crate) fn of(base: &Cell, cell: &Cell) -> Self {
        if base.did_nothing() || cell.did_nothing() { Self::NothingDone } else { Self::NotBeside }
    }
}

/// Why a measurement has no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotJudged {
    /// Its results were imported.
    Imported,
    /// A rate was set, and held.
    SetRate,
}

/// Why a verdict is unclear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unsettled {
    /// Why.
    pub why: Why,
    /// Whether only more loads measure more of it, because its work is fixed.
    pub needs_starts: bool,
}

/// What keeps an interval from a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// One slice or block has none.
    NoInterval,
    /// It is slower or faster alone, but not after adjustment.
    Fallen {
        /// The verdict alone.
        alone: Verdict,
        /// Its p-value.
        p: Option<f64>,
    },
    /// It is too wide.
    TooWide,
    /// Starts of a server ran different plans, so the rate mixes them.
    PlansVary,
}

/// Why a result cannot be compared with any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The step did other work than intended: the checks that failed.
    Checks(Vec<Check>),
    /// Its clients worked at a set rate, which is then the result.
    SetRate,
    /// Starts of its server ran different plans, so that it is of a mixture.
    PlansVary,
    /// The host was busy with other work.
    HostBusy,
}

impl Unfit {
    /// What keeps a cell from a comparison.
    pub(crate) fn of(cell: &Cell) -> Option<Self> {
        let failed: Vec<Check> = cell.failed_checks().cloned().collect();
        if !failed.is_empty() {
            return Some(Self::Checks(failed));
        }
        if cell.lateness().is_some() {
            return Some(Self::SetRate);
        }
        let varies = |own: &CellWarning| matches!(own.kind, WarningKind::PlanVaries { .. });
        if cell.warnings.iter().any(varies) {
            return Some(Self::PlansVary);
        }
        (cell.bar() == Some(Bar::HostBusy)).then_some(Self::HostBusy)
    }
}
