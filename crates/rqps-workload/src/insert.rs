//! The Insert Benchmark: its tables, rows, steps, and what its clients run.
//!
//! Each table has an [`Inserter`] and, from l.i1 on, a [`Deleter`] that keeps its number of rows level;
//! in the steps that query, a [`Querier`] besides. They share the [`TableIds`] of the table, and inserter
//! and deleter a [`Pair`] that says how far they are apart.

mod args;
mod client;
mod deleter;
mod holder;
mod inserter;
mod probe;
mod querier;
mod real;
mod row;
mod schema;
mod state;
mod step;
mod worker;

pub use args::{InsertArgs, InsertProtocol, InsertSize};
pub use client::InsertClient;
pub use deleter::{DeletedTable, Deleter};
pub use holder::Holder;
pub use inserter::{Inserter, Rows};
pub use querier::{Querier, Queries};
pub use schema::Schema;
pub use state::{MAX_GAP, Pair, TableIds};
pub use step::{InsertStep, Work, select, steps};
pub use worker::InsertWorker;
