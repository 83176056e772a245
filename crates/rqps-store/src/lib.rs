//! The results store: one SQLite file and a directory of artifacts. All SQL over results is here.
//!
//! ```text
//!   results/rqps.db               every run, in the tables that docs/reference/store.md explains
//!   results/artifacts/RUN/        files of one run: server logs, folded stacks, its lock, its verdicts, and while it
//!                                 is under way what it tells of itself
//! ```
//!
//! What was measured is written once and never changed (the database itself refuses to). A slice is
//! stored in one transaction that is on disk when the call returns, so that whatever ends rqps
//! loses at most the slice under way.

pub mod error;
pub mod scratch;
pub mod store;

mod clock;
mod counters;
mod late;
mod patience;
mod schema;
mod slices;
mod small;
mod streams;
mod values;

pub use clock::unix_ms;
pub use error::Error;
pub use scratch::Scratch;
pub use small::{Gather, Gathered};
pub use store::Store;
pub use store::artifact::Artifact;
pub use store::live::{Live, LiveFile};
pub use store::lock::RunLock;
pub use store::outline::{Brief, Outline};
pub use store::run_ref::RunRef;
pub use store::summary::RunSummary;
pub use store::tables::Table;
pub use store::tags::Tag;
pub use store::unfinished::Unfinished;
pub use store::verdicts::{CandidateVerdicts, StepRatio, Verdicts};
pub use store::verify::Verified;
pub use store::{
    artifact, live, lock, outline, query_plans, run_ref, stack_profile, summary, tables, tags,
    unfinished, verify,
};
