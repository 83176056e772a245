//! Recovery: carries systems through the schedules whatever fails, and through interruptions of the run.

mod catch_up;
mod failures;
mod interleaved;
mod kept_data;
pub(crate) mod reuse;
mod sequential;
mod start;

pub(crate) use interleaved::measure_interleaved;
pub(crate) use kept_data::clear_done;
pub(crate) use sequential::measure_alone;
