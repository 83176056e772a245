//! Statements that destroy or change more than a benchmark's rows: the only place that sends them.
//!
//! Each function asks the running server first where it works. On a server that this run started, every
//! variable that the statement depends on must lie in the run's directory. On a server of somebody else's,
//! rqps's own schema is all that a statement may touch.

mod guard;

use rqps_client::Connection;
use rqps_model::Version;

use crate::answer::query;
use crate::dbms::guest_driver::{Drops, GuestDriver};
use crate::guest::MARKER;
use crate::{Error, Refusal};
pub use guard::Scope;
use guard::{OF_BINARY_LOGS, OF_SETTINGS, OF_TABLES};

/// Deletes all binary logs.
///
/// # Errors
/// [`Refusal::OutsideOfRun`] and [`Refusal::PlaceUntold`] from the guard; [`Error::Client`].
pub fn reset_binary_logs(
    scope: Scope<'_>,
    version: &Version,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let refused = |why: &str| {
        let statement = "RESET BINARY LOGS".to_owned();
        Err(Refusal::PlaceUntold { statement, why: why.to_owned() }.into())
    };
    let Scope::Own { driver, .. } = scope else {
        return refused("rqps did not start the server");
    };
    if !driver.has_binary_logs {
        return refused("the server has no binary logs");
    }
    let names_logs = driver.reset_names_logs_since.is_some_and(|since| version.at_least(since));
    let sql = if names_logs { "RESET BINARY LOGS AND GTIDS" } else { "RESET MASTER" };
    guard::require(scope, sql, OF_BINARY_LOGS, connection)?;
    send(sql, connection)
}

/// Sets a variable of the whole server; `value` is a literal of SQL.
///
/// # Errors
/// [`Refusal::SettingsNotAllowed`] on a guest's server without the user's consent; the guard's errors;
/// [`Error::Client`].
pub fn set_global(
    scope: Scope<'_>,
    (name, value): (&str, &str),
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let sql = format!("SET GLOBAL {name} = {value}");
    if !scope.allows_settings() {
        return Err(Refusal::SettingsNotAllowed { statement: sql }.into());
    }
    guard::require(scope, &sql, OF_SETTINGS, connection)?;
    send(&sql, connection)
}

/// Sends a statement of the plan; checks limit what such statements may set or drop.
///
/// # Errors
/// The guard's errors; [`Error::Client`].
pub fn run_of_plan(
    scope: Scope<'_>,
    sql: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    guard::require(scope, sql, OF_TABLES, connection)?;
    send(sql, connection)
}

/// Drops a table of the benchmark, if it exists.
///
/// # Errors
/// The guard's errors; [`Error::Client`].
pub fn drop_table(
    scope: Scope<'_>,
    table: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let name = match scope {
        Scope::Own { .. } => table.to_owned(),
        Scope::Guest { schema, driver, .. } => {
            format!("{}.{}", (driver.quote)(schema), (driver.quote)(table))
        }
    };
    let sql = format!("DROP TABLE IF EXISTS {name}");
    guard::require(scope, &sql, OF_TABLES, connection)?;
    let Scope::Guest { schema, driver, .. } = scope else { return send(&sql, connection) };
    match driver.drops {
        Drops::Postgres => in_transaction(connection, |connection| {
            require_no_children(schema, Some(table), connection)?;
            send(&sql, connection)
        }),
        Drops::Mysql => {
            send(CHECK_KEYS, connection)?;
            send(&sql, connection)
        }
        Drops::OneByOne => send(&format!("{sql} RESTRICT"), connection),
    }
}

/// Without it MySQL drops what a foreign key of another schema needs, and the server's own setting may be off.
const CHECK_KEYS: &str = "SET SESSION foreign_key_checks = 1";

/// Drops rqps's own schema on an external server, with everything in it.
///
/// # Errors
/// [`Refusal::SchemaInUse`] where something outside of it depends on it; the guard's errors; [`Error::Client`].
pub fn drop_schema(scope: Scope<'_>, connection: &mut dyn Connection) -> Result<(), Error> {
    let Scope::Guest { schema, driver, .. } = scope else {
        return Err(Refusal::PlaceUntold {
            statement: "DROP SCHEMA".to_owned(),
            why: "rqps drops no schemas of a server that it started".to_owned(),
        }
        .into());
    };
    let sql = format!("DROP SCHEMA {}", (driver.quote)(schema));
    guard::require(scope, &sql, OF_TABLES, connection)?;
    match driver.drops {
        Drops::Mysql => return drop_all_of_mysql(schema, driver, &sql, connection),
        Drops::OneByOne => return drop_one_by_one(schema, driver, &sql, connection),
        Drops::Postgres => {}
    }
    match drop_all(schema, &sql, connection) {
        // What depends on a table is somebody else's.
        Err(Error::Client { source: rqps_client::Error::Server(said), .. })
            if said.code() == DEPENDENT_OBJECTS =>
        {
            let by = dependents(schema, connection)?;
            Err(Refusal::SchemaInUse { schema: schema.to_owned(), by }.into())
        }
        done => done,
    }
}

/// Drops a schema of MySQL or MariaDB, its marker last: MariaDB drops table by table, and a schema without its marker
/// would be nobody's.
fn drop_all_of_mysql(
    schema: &str,
    driver: &GuestDriver,
    sql: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let sql_of_keys = format!(
        "select distinct concat('table ', table_schema, '.', table_name) from \
         information_schema.key_column_usage where referenced_table_schema = '{schema}' and \
         table_schema <> '{schema}'"
    );
    let by = names(schema, &sql_of_keys, connection)?;
    let in_use = |by: &[String]| {
        let by = if by.is_empty() { "a foreign key".to_owned() } else { by.join(", ") };
        Err(Refusal::SchemaInUse { schema: schema.to_owned(), by }.into())
    };
    if !by.is_empty() {
        return in_use(&by);
    }
    let tables = tables(schema, connection)?;
    send(CHECK_KEYS, connection)?;
    let drop_tables = |connection: &mut dyn Connection| {
        let of_schema =
            |table: &String| format!("{}.{}", (driver.quote)(schema), (driver.quote)(table));
        let names: Vec<String> = tables.iter().map(of_schema).collect();
        if names.is_empty() {
            return Ok(());
        }
        send(&format!("DROP TABLE {}", names.join(", ")), connection)
    };
    match drop_tables(connection).and_then(|()| send(sql, connection)) {
        Err(Error::Client { source: rqps_client::Error::Server(said), .. })
            if IS_REFERENCED.contains(&said.errno) =>
        {
            in_use(&[])
        }
        done => done,
    }
}

/// The tables of a schema but its marker, by the information schema.
fn tables(schema: &str, connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let sql = format!(
        "select table_name from information_schema.tables where table_schema = '{schema}' and \
         table_type = 'BASE TABLE' and table_name <> '{MARKER}'"
    );
    names(schema, &sql, connection)
}

/// The names that a question about a schema gives.
fn names(schema: &str, sql: &str, connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let result = query(connection, &format!("list what is in schema {schema}"), sql)?;
    Ok(result.rows.into_iter().filter_map(|row| row.into_iter().next()?).collect())
}

/// Drops a schema one table after the other, its marker last. The server refuses where something else needs them.
fn drop_one_by_one(
    schema: &str,
    driver: &GuestDriver,
    sql: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let mut names = tables(schema, connection)?;
    names.push(MARKER.to_owned());
    let count = (driver.count_objects_sql)(&format!("'{schema}'"));
    let count = query(connection, &format!("count what is in schema {schema}"), &count)?;
    if count.scalar().and_then(|n| n.parse().ok()) != Some(names.len()) {
        let by = "an object in it that is not a table of rqps".to_owned();
        return Err(Refusal::SchemaInUse { schema: schema.to_owned(), by }.into());
    }
    for table in names {
        let name = format!("{}.{}", (driver.quote)(schema), (driver.quote)(&table));
        send(&format!("DROP TABLE {name} RESTRICT"), connection)?;
    }
    send(&format!("{sql} RESTRICT"), connection)
}

/// A foreign key of another table needs the table: `ER_ROW_IS_REFERENCED`, its second form, and that of MySQL 8.
const IS_REFERENCED: [u16; 3] = [1217, 1451, 3730];

/// What lies outside of a schema of PostgreSQL and depends on its tables or their row types: `table column
/// public.audit.r`.
fn dependents(schema: &str, connection: &mut dyn Connection) -> Result<String, Error> {
    let name = schema.replace('\'', "''");
    let sql = format!(
        "select string_agg(distinct i.type || ' ' || i.identity, ', ') from pg_catalog.pg_depend d, \
         lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) i \
         where d.deptype = 'n' and (i.schema <> '{name}' or (i.schema is null and \
         i.identity not like '%{name}.%')) and (d.refobjid in \
         (select c.oid from pg_catalog.pg_class c where c.relnamespace = '{name}'::regnamespace) \
         or d.refobjid in (select t.oid from pg_catalog.pg_type t \
         where t.typnamespace = '{name}'::regnamespace))"
    );
    let doing = format!("look for what depends on schema {schema}");
    let result = connection.query(&sql).map_err(|e| Error::client(doing, e))?;
    Ok(result.scalar().unwrap_or("an object outside of it").to_owned())
}

/// `dependent_objects_still_exist`.
const DEPENDENT_OBJECTS: &str = "2BP01";

/// Drops a schema of PostgreSQL with the objects that statements of a plan can make, all or nothing. CASCADE would take
/// along what somebody else has built on them.
fn drop_all(schema: &str, sql: &str, connection: &mut dyn Connection) -> Result<(), Error> {
    let kinds = [
        ("DROP VIEW", "'v'"),
        ("DROP MATERIALIZED VIEW", "'m'"),
        ("DROP TABLE", "'r', 'p'"),
        // Sequences of columns have gone with their tables.
        ("DROP SEQUENCE", "'S'"),
    ];
    in_transaction(connection, |connection| {
        require_no_children(schema, None, connection)?;
        for (statement, kind) in kinds {
            let names = format!(
                "select string_agg(format('%I.%I', n.nspname, c.relname), ', ') from \
                 pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
                 where n.nspname = '{}' and c.relkind in ({kind}) and not exists (select from \
                 pg_catalog.pg_inherits i where i.inhrelid = c.oid and c.relispartition)",
                schema.replace('\'', "''")
            );
            let result = connection
                .query(&names)
                .map_err(|e| Error::client(format!("list what is in schema {schema}"), e))?;
            if let Some(names) = result.scalar() {
                send(&format!("{statement} {names}"), connection)?;
            }
        }
        send(sql, connection)
    })
}

/// Refuses to drop tables of PostgreSQL that have partitions in another schema: these would go with them. The tables
/// are locked before, so that none is attached meanwhile.
fn require_no_children(
    schema: &str,
    table: Option<&str>,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let is_it = table.map_or(String::new(), |table| format!(" and p.relname = {}", literal(table)));
    let of_schema = format!(
        "join pg_catalog.pg_namespace n on n.oid = p.relnamespace where n.nspname = {} and \
         p.relkind in ('r', 'p'){is_it}",
        literal(schema)
    );
    let ask = |sql: &str, connection: &mut dyn Connection| {
        let doing = format!("list what is in schema {schema}");
        let result = connection.query(sql).map_err(|e| Error::client(doing, e))?;
        Ok::<_, Error>(result.scalar().map(str::to_owned))
    };
    let tables = format!(
        "select string_agg(format('ONLY %I.%I', n.nspname, p.relname), ', ') \
         from pg_catalog.pg_class p {of_schema}"
    );
    if let Some(tables) = ask(&tables, connection)? {
        send(&format!("LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE"), connection)?;
    }
    let children = format!(
        "select 'table ' || string_agg(format('%I.%I', o.nspname, c.relname), ', ') \
         from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid \
         join pg_catalog.pg_namespace o on o.oid = c.relnamespace \
         join pg_catalog.pg_class p on p.oid = i.inhparent {of_schema} and o.oid <> n.oid"
    );
    match ask(&children, connection)? {
        None => Ok(()),
        Some(by) => Err(Refusal::SchemaInUse { schema: schema.to_owned(), by }.into()),
    }
}

/// Does all of it or nothing.
fn in_transaction(
    connection: &mut dyn Connection,
    work: impl FnOnce(&mut dyn Connection) -> Result<(), Error>,
) -> Result<(), Error> {
    send("BEGIN", connection)?;
    let done = work(connection).and_then(|()| send("COMMIT", connection));
    if done.is_err() {
        let _ = send("ROLLBACK", connection);
    }
    done
}

fn send(sql: &str, connection: &mut dyn Connection) -> Result<(), Error> {
    connection.query(sql).map(|_| ()).map_err(|e| Error::client(sql, e))
}

#[cfg(test)]
mod tests;
