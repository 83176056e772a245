//! Why a step has no verdict, or none that is clear.

use rqps_model::run::Check;
use rqps_model::{Verdict, WarningKind};

use crate::analysis::{Bar, Cell, CellWarning};

/// Why a step has no figure that counts, or nothing to divide by.
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
    /// The host was busy with something else.
    HostBusy,
    /// There is a ratio and no verdict.
    NoVerdict,
}

/// Why two cells that both have figures have no ratio.
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

/// Why a measurement makes no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotJudged {
    /// Its figures were imported.
    Imported,
    /// A rate was set, and held.
    SetRate,
}

/// Why a verdict is unclear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unsettled {
    /// Why.
    pub why: Why,
    /// Whether only more loads measure more of it, as its work is fixed.
    pub needs_starts: bool,
}

/// What keeps an interval from a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// One slice or block has none.
    NoInterval,
    /// It says so alone, and not among all that were tried.
    Fallen {
        /// The verdict alone.
        alone: Verdict,
        /// Its p-value.
        p: Option<f64>,
    },
    /// It is too wide.
    TooWide,
    /// Starts of a server ran different plans, so that it is of a mixture.
    PlansVary,
}

/// Why a figure that was measured cannot be compared, whatever it would be compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The step did other work than it should have: the checks that failed.
    Checks(Vec<Check>),
    /// Its clients were held at a rate that was set, which is then the figure.
    SetRate,
    /// Starts of its server ran different plans, so that it is of a mixture.
    PlansVary,
    /// The host was busy with something else.
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
