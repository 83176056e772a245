//! Sets of vectors for searches: read from files or generated, with the exact nearest neighbours and recall.
//!
//! A [`DataSet`] has vectors that are loaded and queries. [`Truth`] has the exact nearest neighbours of each query;
//! [`Truth::recall`] says which part of them an answer has. No server, no clock; the same input gives the same output.

mod data_set;
mod distance;
mod error;
mod file;
mod generated;
mod hdf5;
mod idx;
mod nearest;
mod truth;
mod vecs;
mod vectors;

pub use data_set::{DataSet, Given};
pub use distance::Distance;
pub use error::DataError;
pub use file::{Files, read};
pub use generated::Generated;
pub use truth::{Truth, TruthFile};
pub use vectors::Vectors;
