//! Runs for other hosts and other programs: archives that another store takes in, and tables as CSV, JSON
//! and, by the feature `parquet`, as Parquet.
//!
//! Tables are those of the store, as `docs/reference/store.md` explains them; nothing is computed here.

pub mod archive;
pub mod csv;
pub mod error;
pub mod json;
#[cfg(feature = "parquet")]
pub mod parquet;

pub use error::Error;
