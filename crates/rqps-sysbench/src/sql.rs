//! Databases: where they are, connections of both families, and what their errors mean.

pub(crate) mod connection;
pub(crate) mod failure;
mod libpq;
pub(crate) mod place;
