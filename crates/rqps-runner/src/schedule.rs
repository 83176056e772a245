//! The schedules: which step comes when on which system, and what belongs to a step beside its blocks.

mod failed_step;
pub(crate) mod index;
pub(crate) mod insert;
pub(crate) mod interleaved;
pub(crate) mod load;
pub(crate) mod outcome;
mod plans;
pub(crate) mod profiles;
pub(crate) mod recording;
pub(crate) mod sequential;
pub(crate) mod settle;
mod spare;
pub(crate) mod step;
mod table_state;
mod vector;
pub(crate) mod warm;
pub(crate) mod warnings;
mod work_blocks;
