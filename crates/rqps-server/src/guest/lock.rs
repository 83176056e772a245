//! The lock on a schema: held by a session, gone with it.

use rqps_client::Connection;
use rqps_model::Dbms;

use crate::Error;
use crate::answer::query;
use crate::dbms::driver;
use crate::dbms::driver::LockQuestion;

/// Takes a schema's lock for the session; whether it has it now. MySQL before 5.7.5 and MariaDB before 10.0.2 give
/// up the lock that a session had before.
pub(super) fn try_lock(
    dbms: Dbms,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    is_yes("lock rqps's schema", &(driver(dbms).guest.try_lock)(schema), connection)
}

/// Whether the session has a schema's lock.
pub(super) fn has_lock(
    dbms: Dbms,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    is_yes("ask for rqps's lock", &(driver(dbms).guest.has_lock)(schema), connection)
}

fn is_yes(
    doing: &str,
    question: &LockQuestion,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    Ok(query(connection, doing, &question.sql)?.scalar() == Some(question.yes))
}

/// Gives the lock back.
pub(super) fn release(
    dbms: Dbms,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let sql = (driver(dbms).guest.unlock_sql)(schema);
    query(connection, "unlock rqps's schema", &sql).map(|_| ())
}
