//! A step on one system before the verdicts of the run are known.

use rqps_model::{Estimate, PerOperation, Run, RunStep};

use super::against::Against;
use super::bar::Bar;
use super::cell::{Cell, CellState};
use super::comparison::{Comparison, Judgement, Ratios};
use super::estimate::Pair;
use super::explain::Explanation;
use super::footnote::CellWarning;
use super::imported;
use super::insert::FieldMetrics;
use super::measurement::Measurement;
use super::plan_ratio::PlanRatio;
use super::system_pair::SystemPair;

/// A step on one system with all that is known before the run's ratios are judged together.
#[derive(Debug)]
pub(super) struct OpenCell<'s> {
    pub(super) state: CellState,
    pub(super) warnings: Vec<CellWarning>,
    /// How it compares with the base; absent for the base, and where one of both was not measured.
    pub(super) against: Option<OpenAgainst<'s>>,
}

/// A step on a system against the base, without what follows from the verdict.
#[derive(Debug)]
pub(super) struct OpenAgainst<'s> {
    pub(super) pair: Pair<'s>,
    pub(super) ratio: Ratio,
    pub(super) bar: Option<Bar>,
    /// The ratio per plan, where starts ran different plans.
    pub(super) plan_ratios: Vec<PlanRatio>,
    /// Whether one of both was imported: then there is no verdict.
    pub(super) is_imported: bool,
    pub(super) relative: PerOperation,
    pub(super) field_relative: Option<FieldMetrics>,
    pub(super) server_rss_ratio: Option<f64>,
}

/// What there is of a ratio.
#[derive(Debug)]
pub(super) enum Ratio {
    /// Nothing.
    None,
    /// An imported figure of 0 over another, which has no test.
    Zero(Estimate),
    /// The rQPS and the other ratios with their tests.
    Tested(Box<Ratios>),
}

/// What the run says of a cell.
#[derive(Debug)]
pub(super) struct Closing<'c> {
    pub(super) judgement: &'c Judgement,
    pub(super) explanation: Explanation,
    pub(super) ageing: Option<rqps_explain::Ageing>,
}

impl OpenCell<'_> {
    /// What its slices give, where it has any.
    pub(super) fn measurement(&self) -> Option<&Measurement> {
        match &self.state {
            CellState::Measured(measurement) => Some(measurement),
            CellState::Pending | CellState::TablesReused | CellState::Failed { .. } => None,
        }
    }

    /// The cell of a system that is compared with a base.
    pub(super) fn close(
        self,
        run: &Run,
        step: &RunStep,
        pair: SystemPair,
        closing: Closing<'_>,
    ) -> Cell {
        let Closing { judgement, explanation, ageing } = closing;
        let system = step.systems.get(pair.candidate);
        Cell {
            state: self.state,
            against: self.against.map(|open| Box::new(open.close(judgement, explanation))),
            ageing,
            warnings: self.warnings,
            sizes: system.map(|system| system.sizes).unwrap_or_default(),
            debt: system.map(|system| system.debt.clone()).unwrap_or_default(),
            checks: system.map(|system| system.checks.clone()).unwrap_or_default(),
            is_stated: imported::is(run, pair.candidate),
            is_imported: imported::is(run, pair.candidate) || imported::is(run, pair.base),
        }
    }
}

impl OpenAgainst<'_> {
    /// The rQPS, where there is one.
    pub(super) fn rqps(&self) -> Option<Estimate> {
        match &self.ratio {
            Ratio::None => None,
            Ratio::Zero(ratio) => Some(*ratio),
            Ratio::Tested(ratios) => Some(ratios.rqps.tested.estimate),
        }
    }

    /// The ratios that were tested.
    pub(super) fn ratios(&self) -> Option<&Ratios> {
        match &self.ratio {
            Ratio::Tested(ratios) => Some(ratios),
            Ratio::None | Ratio::Zero(_) => None,
        }
    }

    fn close(self, judgement: &Judgement, explanation: Explanation) -> Against {
        let rqps = self.rqps();
        let comparison = match self.ratio {
            Ratio::Tested(ratios) => Some(Comparison::of(*ratios, judgement)),
            Ratio::None | Ratio::Zero(_) => None,
        };
        Against {
            rqps,
            comparison,
            bar: self.bar,
            plan_ratios: self.plan_ratios,
            relative: self.relative,
            field_relative: self.field_relative,
            server_rss_ratio: self.server_rss_ratio,
            split: explanation.split,
            cause: explanation.cause,
            evidence: explanation.evidence,
        }
    }
}
