//! What runs say, as typed facts: estimates, verdicts, causes, runs that are joined, histories, and what a gate decides.
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
