//! What the runner knows of a system between its steps.

use crate::insert::Tables;

/// What is known of a system between its steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct SystemState {
    /// What keeps its figures from being what they would be.
    pub(crate) caution: Caution,
    /// Its tables of the Insert Benchmark.
    pub(crate) tables: Tables,
    /// How often its server has failed.
    pub(crate) n_faults: u32,
    /// The step that it is in.
    pub(crate) under_way: Option<usize>,
}

impl SystemState {
    /// What was known of the server and its tables is of the start before.
    pub(crate) fn begin_start(&mut self) {
        self.caution = Caution::default();
        self.tables = Tables::default();
    }
}

/// What marks every slice of a system for a while.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caution {
    /// What the last settling left undone.
    pub(crate) unsettled: Option<String>,
    /// Its tables were filled anew after an interruption, and no later load has made that even.
    pub(crate) resumed: bool,
    /// The Insert Benchmark has changed its tables since the server was last left to settle.
    pub(crate) stirred: bool,
    /// Its server was started on data that an earlier attempt had left, and no later load has made that even.
    pub(crate) left: bool,
    /// The step in which that attempt was broken off.
    pub(crate) again: Option<usize>,
    /// The step of which this attempt at the run has measured nothing, as an earlier one had measured all:
    /// its tables are not those that the step left.
    pub(crate) unmeasured: Option<usize>,
    /// The step that it has measured to its end, whatever comes after that.
    pub(crate) measured: Option<usize>,
}
