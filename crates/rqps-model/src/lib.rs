//! The terms of the project as types: systems, steps, slices, samples, estimates. No IO, no clock.
//!
//! All other crates use these types; docs/reference/glossary.md explains the terms to users.

pub mod block;
mod built_commit;
pub mod calibration;
mod contention;
mod dbms;
mod engine;
mod error_count;
pub mod estimate;
pub mod histogram;
mod host;
mod idx;
pub mod imported;
mod memory_size;
pub mod metric;
pub mod query_plan;
mod recall;
mod role;
pub mod run;
mod run_status;
pub mod sample;
mod schedule;
pub mod slice;
mod source_build;
pub mod starts;
pub mod step;
pub mod system;
mod table_state;
pub mod variant;
pub mod version;
mod wall;
pub mod warning;
mod word;

pub use block::{Block, Inserts};
pub use built_commit::{
    BuiltCommit, COMMIT, COMMIT_SUBJECT, COMMIT_TIME, COMMITS_AFTER_BASE, FILES_DIFFER,
};
pub use calibration::{Calibrated, Calibration};
pub use dbms::{Dbms, Family};
pub use engine::Engine;
pub use error_count::ErrorCount;
pub use estimate::{Better, Estimate, Verdict};
pub use host::Host;
pub use idx::{StepIdx, SystemIdx};
pub use imported::{Imported, Stated, StatedResponse, Tool};
pub use memory_size::MemorySize;
pub use metric::{Metric, PerOperation};
pub use query_plan::difference::{PlanDifference, plan_difference};
pub use query_plan::{PlanShape, QueryPlan};
pub use recall::Recall;
pub use role::Role;
pub use run::{
    Check, DIRECT_IO, DIRECT_IO_REFUSED, Run, RunStep, RunSystem, SettingOrigin, SettingSource,
    Sizes, StepOutcome, SystemStep,
};
pub use run_status::RunStatus;
pub use sample::{HostCounters, ProcessCounters, Sample, StorageCounters, Usage, Waits};
pub use schedule::{Placement, Schedule};
pub use slice::{Lateness, SeriesPoint, Slice, Stream, Windows};
pub use source_build::{BuildType, SourceBuild, SourceOrigin};
pub use step::{Figure, Group, StepInfo, StepKind};
pub use system::{Label, SystemSource, SystemSpec, Transport};
pub use table_state::{TableDifference, TableFact, TableState};
pub use variant::{Codec, Compression, CpuSet, Durability, Limits, Malloc, Variant};
pub use version::Version;
pub use wall::{WALL, Wall, WallError};
pub use warning::{Scope, Warning, WarningKind};
pub use word::{UnknownWord, nearest, serde_in_words};
