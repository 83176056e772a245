//! Connections on which nothing is asked for hours: a server ends those that are idle for too long, by default
//! after eight hours (MySQL, MariaDB), or as soon as its options say.

use rqps_client::{Connection, Endpoint};
use rqps_model::Dbms;

use crate::dbms::driver;
use crate::{Error, connect};

/// Opens a connection that may stay idle during a run.
///
/// # Errors
/// As [`connect()`]; [`Error::Client`] when the connection fails right away.
pub fn connect_to_keep(dbms: Dbms, endpoint: &Endpoint) -> Result<Box<dyn Connection>, Error> {
    let mut connection = connect(dbms, endpoint)?;
    keep(dbms, connection.as_mut())?;
    Ok(connection)
}

/// Switches off the server's limit on idle time for a connection, if the server allows it.
///
/// # Errors
/// [`Error::Client`] when the connection fails.
pub fn keep(dbms: Dbms, connection: &mut dyn Connection) -> Result<(), Error> {
    let Some(sql) = (driver(dbms).keep_session_sql)() else { return Ok(()) };
    match connection.query(&sql) {
        Ok(_) | Err(rqps_client::Error::Server(_)) => Ok(()),
        Err(e) => Err(Error::client("lift the limit of a connection's idle time", e)),
    }
}
