//! The runner: from a plan to a finished run in the store. The one place that knows the order of things.
//!
//! It prints nothing and computes no statistics: progress goes to a listener as events, slices go to
//! the store as they end.

mod audit;
pub mod calibrate;
mod changes;
mod engine;
mod environment;
mod event;
mod failure;
mod filled_by;
mod insert_tables;
mod journal;
mod on_host;
pub mod plan;
mod quiet;
mod recovery;
mod run;
mod run_context;
mod sandbox;
mod schedule;
mod side_by_side;
mod suspension;
mod system;
mod system_state;
mod vector_sets;

pub use audit::audit;
pub use changes::ChangesLeft;
pub use environment::Environment;
pub use event::{Event, Listener, Nth, Rate, RunShape};
pub use journal::begin::keep_imported;
pub use on_host::on_this_host;
pub use plan::placement;
pub use plan::{Plan, PlanError, PlanFile};
pub use run::{Carried, run};
pub use sandbox::Sandbox;
pub use suspension::Suspension;
pub use system::guests::identify_systems;
pub use system::installation::{fetch_only as fetch, places};
pub use system::leftover::{Leftover, remove_data};

/// The store of filled tables.
pub mod stored_tables {
    pub use crate::system::stored_tables::{StoredDir, StoredTables, TablesKey, list, remove};
}

/// What perf can record on this host.
pub mod stacks {
    pub use crate::engine::stacks::ability::{Ability, look as ability};
}
