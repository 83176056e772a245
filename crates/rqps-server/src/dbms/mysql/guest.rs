//! What a guest says to MySQL or MariaDB: its schema, its lock, and whether it may write.

use rqps_client::{Connection, Endpoint, ServerError};

use crate::answer::rows;
use crate::dbms::guest_driver::{Drops, GuestDriver, LockDriver, LockQuestion};
use crate::{Error, Refusal};

pub(super) const GUEST: GuestDriver = GuestDriver {
    endpoint: |home, schema| Endpoint { database: schema.to_owned(), ..home },
    quote: quoted,
    schemas_sql: "select schema_name from information_schema.schemata order by 1",
    use_schema_sql: |schema| format!("USE {}", quoted(schema)),
    current_schema_sql: "select database()",
    count_tables_sql: |schema, table| {
        format!(
            "select count(*) from information_schema.tables where table_schema = {schema} and \
             table_name = '{table}' and table_type = 'BASE TABLE'"
        )
    },
    session_id_sql: None,
    makes_schema_whole: false,
    count_objects_sql: |schema| {
        format!(
            "select (select count(*) from information_schema.tables where table_schema = {schema}) + \
             (select count(*) from information_schema.routines where routine_schema = {schema}) + \
             (select count(*) from information_schema.events where event_schema = {schema})"
        )
    },
    // MySQL since 5.6 has an identifier; MariaDB and older ones have a host, a port and a data directory.
    server_id_sql: &[
        "select @@server_uuid",
        "select concat_ws(':', @@hostname, @@port, @@datadir)",
    ],
    changes_settings: true,
    drops: Drops::Mysql,
    refused_texts: &[],
    read_write_sql: "SET SESSION TRANSACTION READ WRITE",
    limit_waits_sql,
    lock: Some(LockDriver {
        try_lock: |schema| LockQuestion {
            sql: format!("select get_lock('{schema}', 0)"),
            yes: "1",
        },
        has_lock: |schema| LockQuestion {
            sql: format!("select is_used_lock('{schema}') = connection_id()"),
            yes: "1",
        },
        unlock_sql: |schema| format!("select release_lock('{schema}')"),
    }),
    // A user may have the right to write all the same; the first statement shows it.
    require_writes: |_, _| Ok(()),
    refused_write,
    // ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR.
    lacks_right: |said| matches!(said.errno, 1044 | 1142 | 1227),
    grant,
};

/// A name in backquotes.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn limit_waits_sql(seconds: Option<u64>) -> String {
    match seconds {
        Some(seconds) => format!("SET SESSION lock_wait_timeout = {seconds}"),
        None => "SET SESSION lock_wait_timeout = DEFAULT".to_owned(),
    }
}

/// Why the server takes no writes, by its words to the first statement that writes.
fn refused_write(home: &Endpoint, said: &ServerError) -> Option<Error> {
    // ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE.
    if !matches!(said.errno, 1290 | 1792 | 1836) {
        return None;
    }
    let (address, why) = (home.address.to_string(), said.to_string());
    let remedy = if said.errno == 1792 {
        "set transaction_read_only (tx_read_only) = OFF there, globally or for this user"
    } else {
        "name the server that takes writes, or set read_only = OFF there"
    };
    let remedy = remedy.to_owned();
    Some(Refusal::NoWrites { address, why, remedy }.into())
}

/// The statement by which a user gets the right to make a schema.
fn grant(connection: &mut dyn Connection) -> Option<String> {
    let account = rows(connection, "select current_user()").into_iter().flatten().next()?;
    let (user, host) = account.rsplit_once('@').unwrap_or((&account, "%"));
    Some(format!("GRANT ALL ON `rqps\\_%`.* TO '{user}'@'{host}'"))
}
