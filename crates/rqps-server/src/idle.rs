//! Connections on which nothing is asked for hours: a server ends those that are idle for too long, by default
//! after eight hours (MySQL, MariaDB), or as soon as its options say.

use rqps_client::{Connection, Endpoint};
use rqps_model::Dbms;

use crate::{Error, connect};

/// The setting of PostgreSQL, from 14 on (documentation of 19, "Statement Behavior").
pub(crate) const POSTGRES_SETTING: &str = "idle_session_timeout";

/// The largest value that MySQL and MariaDB take for it on Linux, s: a year (MySQL 9.7 Reference Manual,
/// "wait_timeout").
const LONGEST_S: u32 = 31_536_000;

/// Opens a connection that may be idle for as long as a run takes.
///
/// # Errors
/// As [`connect()`]; [`Error::Client`] when the connection fails right away.
pub fn connect_to_keep(dbms: Dbms, endpoint: &Endpoint) -> Result<Box<dyn Connection>, Error> {
    let mut connection = connect(dbms, endpoint)?;
    keep(dbms, connection.as_mut())?;
    Ok(connection)
}

/// Has the server leave a connection alone however long it is idle. One that refuses goes by its own limit.
///
/// # Errors
/// [`Error::Client`] when the connection fails.
pub fn keep(dbms: Dbms, connection: &mut dyn Connection) -> Result<(), Error> {
    let sql = match dbms {
        Dbms::Mysql | Dbms::Mariadb => format!("SET SESSION wait_timeout = {LONGEST_S}"),
        // Nothing is set where there is no such setting, or no limit: it would be told as one of somebody's.
        Dbms::Postgres => format!(
            "select set_config(name, '0', false) from pg_settings where name = '{POSTGRES_SETTING}' \
             and setting <> '0'"
        ),
        Dbms::Null => return Ok(()),
    };
    match connection.query(&sql) {
        Ok(_) | Err(rqps_client::Error::Server(_)) => Ok(()),
        Err(e) => Err(Error::client("lift the limit of a connection's idle time", e)),
    }
}
