//! Vector search: its tables, indexes, steps, and what its clients run.
//!
//! [`VectorLoader`]s fill a table for each index. [`Searcher`]s search each index with each of its efforts: the larger
//! the effort, the larger the recall and the lower the QPS.

mod args;
mod encode;
mod loader;
mod schema;
mod searcher;
mod step;

pub use args::{Index, Source, VectorArgs, VectorSize};
pub use encode::Encoded;
pub use loader::VectorLoader;
pub use schema::VectorSchema;
pub use searcher::{SearchPlace, Searcher};
pub use step::{VectorStep, VectorWork, select, steps};
