//! The Insert Benchmark: what a step's clients of each kind did, whether the insert rate was held, and
//! the field's metrics and colours.
//!
//! A step belongs to it by what it holds: it creates indexes, or it has clients that insert or delete
//! beside others. Only l.i0 needs its name ([`rqps_model::StepInfo::has_blocks_of_work`]).

pub(super) mod compare;
pub mod field;
pub mod flow;
pub mod level;
pub(super) mod measured;
pub mod sla;
pub mod trend;

use rqps_model::{Figure, Group, Role, RunStep, StepKind};

use super::StepAnalysis;

pub use field::{FieldMetric, FieldMetrics};
pub use flow::Flow;
pub use level::Level;
pub use sla::Sla;

/// A step of the Insert Benchmark on one system.
#[derive(Debug, Clone)]
pub struct InsertCell {
    /// What queried, inserted and deleted, in this order.
    pub flows: Vec<Flow>,
    /// How the rate of the inserts was held; absent where none was set.
    pub sla: Option<Sla>,
    /// The field's metrics.
    pub field: FieldMetrics,
    /// Whether an imported file states its rates, so that they have its digits.
    pub is_stated: bool,
}

impl InsertCell {
    /// What the clients of one kind did.
    #[must_use]
    pub fn flow(&self, role: Role) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.role == role)
    }
}

/// Which steps the summary of the Insert Benchmark has; indices of the steps that are reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertTables {
    /// All its steps.
    pub steps: Vec<usize>,
    /// Those with inserts at a rate.
    pub rated: Vec<usize>,
}

/// Whether a step is one of the Insert Benchmark.
pub(super) fn is_step(step: &RunStep) -> bool {
    let has_streams = || step.systems.iter().flat_map(|s| &s.slices).any(|s| !s.streams.is_empty());
    match step.info.kind {
        StepKind::Mixed => true,
        StepKind::Index => step.info.group == Group::Write,
        StepKind::Load | StepKind::WarmUp => false,
        // The microbenchmark `insert` counts its rows as well.
        StepKind::Insert if step.info.figure == Figure::RowsInserted => {
            step.info.has_blocks_of_work() || has_streams()
        }
        StepKind::Insert | StepKind::Read | StepKind::Write => has_streams(),
    }
}

/// The steps of the summary; `None` for a run without any.
pub(super) fn tables(steps: &[StepAnalysis<'_>]) -> Option<InsertTables> {
    let having = |wanted: fn(&StepAnalysis<'_>) -> bool| -> Vec<usize> {
        let hits = steps.iter().enumerate().filter(|(_, step)| wanted(step));
        hits.map(|(idx, _)| idx).collect()
    };
    let all = having(|step| is_step(&step.step));
    let is_rated = |step: &StepAnalysis<'_>| step.cells.iter().any(|c| c.sla().is_some());
    (!all.is_empty()).then(|| InsertTables { steps: all, rated: having(is_rated) })
}
