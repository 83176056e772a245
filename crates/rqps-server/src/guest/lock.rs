//! The lock on a schema: held by a session, gone with it. A DBMS without such locks has all of them free: there a
//! schema is in use while the process that made it runs.

use rqps_client::Connection;

use crate::Error;
use crate::answer::query;
use crate::dbms::guest_driver::{GuestDriver, LockQuestion};

/// Takes a schema's lock for the session; whether it has it now. MySQL before 5.7.5 and MariaDB before 10.0.2 give
/// up the lock that a session had before.
pub(super) fn try_lock(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let Some(lock) = &driver.lock else { return Ok(true) };
    is_yes("lock rqps's schema", &(lock.try_lock)(schema), connection)
}

/// Whether the session has a schema's lock.
pub(super) fn has_lock(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let Some(lock) = &driver.lock else { return Ok(true) };
    is_yes("ask for rqps's lock", &(lock.has_lock)(schema), connection)
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
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let Some(lock) = &driver.lock else { return Ok(()) };
    let sql = (lock.unlock_sql)(schema);
    query(connection, "unlock rqps's schema", &sql).map(|_| ())
}
