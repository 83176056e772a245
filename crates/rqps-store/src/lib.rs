//! The results store: one SQLite file and a directory of artifacts. All SQL over results is here.
//!
//! ```text
//!   results/rqps.db               every run, in the tables that docs/schema.md explains
//!   results/artifacts/RUN/        files of one run: server logs, folded stacks, its lock, and while it
//!                                 is under way what it tells of itself
//! ```
//!
//! What was measured is written once and never changed (the database itself refuses to). A slice is
//! stored in one transaction that is on disk when the call returns, so that whatever ends rqps
//! loses at most the slice under way.

pub mod artifact;
pub mod error;
pub mod live;
pub mod lock;
pub mod outline;
pub mod query_plans;
pub mod remarks;
pub mod run_ref;
pub mod scratch;
pub mod stack_profile;
pub mod store;
pub mod summary;
pub mod tables;
pub mod unfinished;
pub mod verify;

mod calibration;
mod change;
mod clock;
mod counters;
mod foreign;
mod incidents;
mod insert;
mod mark_text;
mod migrate;
mod patience;
mod select;
mod slices;
mod small;
mod streams;
mod values;

pub use artifact::Artifact;
pub use clock::unix_ms;
pub use error::Error;
pub use live::{Live, LiveFile};
pub use lock::RunLock;
pub use outline::{Brief, Outline};
pub use remarks::Tag;
pub use run_ref::RunRef;
pub use scratch::Scratch;
pub use small::{Gather, Gathered};
pub use store::Store;
pub use summary::RunSummary;
pub use tables::Table;
pub use unfinished::Unfinished;
pub use verify::Verified;
