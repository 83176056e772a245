//! The lab: from a plan to a finished run in the store. The one place that knows the order of things.
//!
//! It prints nothing and computes no statistics: progress goes to a listener as events, slices go to
//! the store as they end.

mod announce;
mod audit;
mod begin;
mod bench;
pub mod calibrate;
mod changes;
mod clocks;
mod context;
mod counted;
mod demands;
mod descriptors;
mod engine_state;
mod event;
mod failed_step;
mod failure;
mod faults;
mod guard;
mod guests;
mod handicap;
mod heartbeat;
mod incidents;
mod insert;
mod installation;
mod interleaved;
mod left;
mod leftover;
mod lifecycle;
mod limits;
pub mod marks;
mod measure;
mod memory;
mod on_host;
pub mod placement;
pub mod plan;
mod plans;
mod populate;
mod precision;
mod rounds;
mod run;
mod run_id;
mod sandbox;
mod seed;
mod sequential;
mod shown;
pub mod stacks;
pub mod steps;
mod suspension;
mod system;
mod turn;
mod waiting;

pub use audit::audit;
pub use begin::keep_imported;
pub use changes::ChangesLeft;
pub use context::Context;
pub use event::{Event, Listener, Rate};
pub use guests::identify_systems;
pub use installation::{fetch_only as fetch, places};
pub use leftover::{Leftover, remove_data};
pub use on_host::on_this_host;
pub use plan::{Plan, PlanError, PlanFile};
pub use run::{Carried, run};
pub use sandbox::Sandbox;
pub use suspension::Suspension;
