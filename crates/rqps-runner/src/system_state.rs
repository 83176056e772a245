//! What the runner knows of a system between its steps.

use rqps_model::{StepIdx, SystemIdx};

use crate::insert_tables::Tables;
use crate::system::RunningSystem;

/// What is known of a system between its steps.
#[derive(Debug, Clone)]
pub(crate) struct SystemState {
    /// Its place in the run.
    pub(crate) idx: SystemIdx,
    /// How often its server has failed.
    pub(crate) n_faults: u32,
    /// The step that it is in.
    pub(crate) current_step: Option<StepIdx>,
    /// Its tables of the Insert Benchmark.
    pub(crate) tables: Tables,
    /// What the last settling left undone.
    pub(crate) unsettled: Option<String>,
    /// Its tables were filled again after an interruption, and no later load has made that even.
    pub(crate) is_refilled: bool,
    /// The Insert Benchmark has changed its tables since the server was last left to settle.
    pub(crate) is_stirred: bool,
    /// Its server was started on data that an earlier attempt had kept, and no later load has made that even.
    pub(crate) is_on_kept_data: bool,
    /// That attempt was broken off in the middle of the steps of a launch.
    pub(crate) is_broken_off: bool,
    /// The step in which it was.
    pub(crate) resumed_step: Option<StepIdx>,
    /// The step of which this attempt at the run has measured nothing, as an earlier one had measured all:
    /// its tables are not those that the step left.
    pub(crate) unmeasured_step: Option<StepIdx>,
    /// Events of the step that it is in, where that step changes rows: all attempts together.
    pub(crate) n_writes: u64,
    /// The step that it has measured to its end, whatever comes after that.
    pub(crate) measured_step: Option<StepIdx>,
}

impl SystemState {
    pub(crate) fn new(idx: SystemIdx) -> Self {
        Self {
            idx,
            n_faults: 0,
            current_step: None,
            tables: Tables::default(),
            unsettled: None,
            is_refilled: false,
            is_stirred: false,
            is_on_kept_data: false,
            is_broken_off: false,
            resumed_step: None,
            unmeasured_step: None,
            n_writes: 0,
            measured_step: None,
        }
    }

    /// Its server is not on data that were kept.
    pub(crate) fn forget_kept_data(&mut self) {
        (self.is_on_kept_data, self.is_broken_off, self.resumed_step) = (false, false, None);
    }

    /// Forgets what was of the server of the launch before.
    pub(crate) fn begin_launch(&mut self) {
        let Self { idx, n_faults, current_step, is_refilled, .. } = *self;
        *self = Self { n_faults, current_step, is_refilled, ..Self::new(idx) };
    }
}

/// A system whose server is up.
pub(crate) struct Member<'s> {
    pub(crate) state: &'s mut SystemState,
    pub(crate) up: RunningSystem,
}

impl Member<'_> {
    /// Its place in the run.
    pub(crate) fn idx(&self) -> SystemIdx {
        self.state.idx
    }
}
