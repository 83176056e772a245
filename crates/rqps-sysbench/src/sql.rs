//! Databases: where they are, connections of both families, and what their errors mean.

pub(crate) mod connection;
pub(crate) mod failure;
mod libmysql;
mod libpq;
pub(crate) mod place;

use crate::options::Options;
use crate::{Environment, Error};
use place::{Driver, Place};

/// The servers of a driver, which connections use round-robin; at least one.
///
/// # Errors
/// An option that asks for what this client does not do, or whose value is not of its kind.
pub(crate) fn places(
    driver: Driver,
    options: &Options,
    environment: &Environment,
) -> Result<Vec<Place>, Error> {
    match driver {
        Driver::Mysql => libmysql::places(options, environment),
        Driver::Pgsql => libpq::places(options, environment),
    }
}

#[cfg(test)]
mod tests;
