//! The DBMS: everything that differs between them, one folder each.
//!
//! Each folder ends in a [`Driver`], a table of statements and functions. A DBMS that is like another takes that one's
//! table and replaces what differs. To add one: its row in `rqps-model/src/dbms.rs`, its file or folder here, and its
//! line in [`driver`].

pub(crate) mod driver;
mod mariadb;
pub(crate) mod mysql;
mod null;
pub(crate) mod postgres;

use rqps_model::Dbms;

use crate::Error;
use driver::{Driver, OwnServer};

/// The driver of a DBMS.
pub(crate) fn driver(dbms: Dbms) -> &'static Driver {
    match dbms {
        Dbms::Mysql => &mysql::DRIVER,
        Dbms::Mariadb => &mariadb::DRIVER,
        Dbms::Postgres => &postgres::DRIVER,
        Dbms::Null => &null::DRIVER,
    }
}

/// How rqps makes and starts a server of its own.
///
/// # Errors
/// [`Error::Unsupported`] for a DBMS that is reached by address alone.
pub(crate) fn own_server(dbms: Dbms) -> Result<&'static OwnServer, Error> {
    driver(dbms).own.as_ref().ok_or_else(|| Error::Unsupported {
        server: dbms.name().to_owned(),
        what: "a start by rqps".to_owned(),
        detail: "it is measured by its address alone: write dsn".to_owned(),
    })
}

/// What a client's connection takes of a server by its defaults, bytes.
#[must_use]
pub fn connection_bytes(dbms: Dbms) -> u64 {
    driver(dbms).connection_bytes
}

/// Whether each connection has a process of its own.
#[must_use]
pub fn has_process_per_connection(dbms: Dbms) -> bool {
    driver(dbms).has_process_per_connection
}
