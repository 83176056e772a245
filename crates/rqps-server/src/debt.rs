//! What a server has left to do: versions to purge, pages to write, trees to compact, rows to vacuum.

use std::collections::BTreeMap;

use rqps_client::Connection;
use rqps_model::Dbms;

use crate::{Error, lsm};

/// Reads what there is to tell, by name. What this user may not read is left out.
///
/// # Errors
/// When the connection fails.
pub fn read(dbms: Dbms, connection: &mut dyn Connection) -> Result<BTreeMap<String, u64>, Error> {
    let mut debt = BTreeMap::new();
    match dbms {
        Dbms::Null => {}
        Dbms::Postgres => {
            let sql = "select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_user_tables";
            put(&mut debt, "dead tuples", scalar(connection, sql)?);
        }
        Dbms::Mysql | Dbms::Mariadb => {
            let sql = "show global status like 'Innodb_buffer_pool_pages_dirty'";
            put(&mut debt, "dirty pages", second_column(connection, sql)?);
            if let Some(text) = innodb_status(connection)? {
                put(&mut debt, "history list length", crate::settle::history_of(&text));
            }
            if lsm::has_tables(connection)?
                && let Ok(state) = lsm::State::read(connection)
            {
                debt.insert("compaction bytes".to_owned(), state.compaction_debt_bytes);
            }
        }
    }
    Ok(debt)
}

fn put(debt: &mut BTreeMap<String, u64>, name: &str, value: Option<u64>) {
    if let Some(value) = value {
        debt.insert(name.to_owned(), value);
    }
}

/// A statement's result; nothing where the server refuses it.
fn ask(
    connection: &mut dyn Connection,
    sql: &str,
) -> Result<Option<rqps_client::ResultSet>, Error> {
    match connection.query(sql) {
        Ok(result) => Ok(Some(result)),
        Err(rqps_client::Error::Server(_)) => Ok(None),
        Err(e) => Err(Error::client(sql, e)),
    }
}

fn scalar(connection: &mut dyn Connection, sql: &str) -> Result<Option<u64>, Error> {
    Ok(ask(connection, sql)?.and_then(|result| result.scalar()?.parse().ok()))
}

fn second_column(connection: &mut dyn Connection, sql: &str) -> Result<Option<u64>, Error> {
    let result = ask(connection, sql)?;
    Ok(result.and_then(|result| result.rows.first()?.get(1)?.as_deref()?.parse().ok()))
}

fn innodb_status(connection: &mut dyn Connection) -> Result<Option<String>, Error> {
    let result = ask(connection, "show engine innodb status")?;
    Ok(result.and_then(|result| result.rows.first()?.get(2)?.clone()))
}
