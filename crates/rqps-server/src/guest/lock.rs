//! The lock on a schema: held by a session, gone with it.

use rqps_client::Connection;
use rqps_model::Dbms;

use super::PREFIX;
use crate::Error;

/// The first of the two numbers of PostgreSQL's advisory lock: the letters `rqps`.
const CLASS: i32 = i32::from_be_bytes(*b"rqps");

/// Takes a schema's lock for the session; whether it has it now. MySQL before 5.7.5 and MariaDB before 10.0.2 give
/// up the lock that a session had before.
pub(super) fn try_lock(
    dbms: Dbms,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let (sql, yes) = match dbms {
        Dbms::Postgres => (format!("select pg_try_advisory_lock({CLASS}, {})", key(schema)), "t"),
        _ => (format!("select get_lock('{schema}', 0)"), "1"),
    };
    let result = connection.query(&sql).map_err(|e| Error::client("lock rqps's schema", e))?;
    Ok(result.scalar() == Some(yes))
}

/// Whether the session has a schema's lock.
pub(super) fn has_lock(
    dbms: Dbms,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let (class, object) = (CLASS.cast_unsigned(), key(schema).cast_unsigned());
    let (sql, yes) = match dbms {
        Dbms::Postgres => (
            format!(
                "select count(*) > 0 from pg_catalog.pg_locks where locktype = 'advisory' and \
                 pid = pg_backend_pid() and classid = '{class}'::oid and objid = '{object}'::oid \
                 and objsubid = 2 and granted"
            ),
            "t",
        ),
        _ => (format!("select is_used_lock('{schema}') = connection_id()"), "1"),
    };
    let result = connection.query(&sql).map_err(|e| Error::client("ask for rqps's lock", e))?;
    Ok(result.scalar() == Some(yes))
}

/// Gives the lock back.
pub(super) fn release(
    dbms: Dbms,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let sql = match dbms {
        Dbms::Postgres => format!("select pg_advisory_unlock({CLASS}, {})", key(schema)),
        _ => format!("select release_lock('{schema}')"),
    };
    connection.query(&sql).map(|_| ()).map_err(|e| Error::client("unlock rqps's schema", e))
}

/// The digits of a schema's name as PostgreSQL's number.
fn key(schema: &str) -> i32 {
    let digits = schema.strip_prefix(PREFIX).unwrap_or(schema);
    u32::from_str_radix(digits, 16).unwrap_or(0).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_names_digits() {
        assert_eq!(key("rqps_0000000a"), 10);
        assert_eq!(key("rqps_ffffffff"), -1);
    }
}
