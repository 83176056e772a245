//! The analysis of runs as typed facts: estimates, verdicts, causes, joined runs, histories, and
//! the gate's decision.
//!
//! No IO and no clock: the same run gives the same facts. `rqps-report` puts them into words.

pub mod gate;
pub mod history;
pub mod join;
pub mod parallel;
pub mod response;
pub mod under_way;

mod analysis;

pub use analysis::*;
pub use join::Joined;
