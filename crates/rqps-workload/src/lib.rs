//! Workloads: suites as data, the sysbench suite, the Insert Benchmark, and the events that client
//! threads run.
//!
//! A [`Suite`] is read from TOML into [`Step`]s. [`Program::compile`] turns a step, its
//! [`SuiteArgs`] and a DBMS into what all clients share; each client has a [`SysbenchWorker`] on its
//! connection. [`populate`] fills the tables before.

pub mod args;
mod dialect;
pub mod digits;
pub mod distribution;
pub mod error;
#[cfg(test)]
mod fake;
pub mod insert;
pub mod kind;
pub mod manual;
mod pattern;
pub mod populate;
pub mod probe;
pub mod program;
pub mod random;
mod read_through;
pub mod statement;
pub mod step;
pub mod suite;
pub mod sysbench;
pub mod vector;
pub mod worker;

pub use args::{MAX_CLIENTS, Size, SliceTimes, SuiteArgs};
pub use distribution::{Distribution, Sampler};
pub use error::SuiteError;
pub use insert::{InsertArgs, InsertStep, InsertWorker};
pub use pattern::Pattern;
pub use populate::{LoadCut, LoadSpec, Loader, TablePart};
pub use probe::Probe;
pub use program::Program;
pub use random::Rng;
pub use read_through::IndexRead;
pub use step::{Short, Step};
pub use suite::{Form, Suite};
pub use sysbench::SysbenchWorker;
pub use vector::{VectorArgs, VectorStep};
pub use worker::{Ahead, EventError, Worker};
