//! The lab: from a plan to a finished run in the store. The one place that knows the order of things.
//!
//! It prints nothing and computes no statistics: progress goes to a listener as events, slices go to
//! the store as they end.

mod audit;
mod begin;
mod event;
mod installation;
pub mod marks;
mod measure;
pub mod placement;
pub mod plan;
mod populate;
mod run;
mod run_id;
mod sandbox;
pub mod steps;
mod system;

pub use audit::audit;
pub use event::{Event, Listener};
pub use installation::{fetch_only as fetch, places};
pub use plan::{Plan, PlanError, PlanFile};
pub use run::{Context, run};
pub use sandbox::Sandbox;
