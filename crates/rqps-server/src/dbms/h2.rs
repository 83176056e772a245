//! H2 by the protocol of PostgreSQL (`org.h2.tools.Server -pg`), reached by its address: what differs from PostgreSQL.
//!
//! It has PostgreSQL's SQL in part, and few of its catalogues. H2's documentation, "PostgreSQL Compatibility Mode",
//! "System Tables".

use std::collections::BTreeMap;
use std::path::Path;

use rqps_client::{Connection, Endpoint};
use rqps_model::Version;

use super::driver::Driver;
use super::guest_driver::{Drops, GuestDriver};
use super::numbers_of;
use super::own_guard;
use super::postgres::{self, guest::quoted};
use crate::Error;
use crate::answer::{pairs, query};
use crate::guest::MARKER;

pub(super) const DRIVER: Driver = Driver {
    recognise: |words| {
        words.version.split_once(" using H2 ").map(|(_, version)| numbers_of(version))
    },
    tells_version_at_login: false,
    keep_session_sql: || None,
    settings,
    session: |_| Ok(BTreeMap::new()),
    origins: |_, _| BTreeMap::new(),
    build: |_, _, _| BTreeMap::new(),
    tables,
    table_bytes,
    thread_sql: |_| None,
    has_process_per_connection: false,
    counters: &[],
    explain: Err("rqps does not read the plans of H2"),
    settle: |_, _, _, _, _| Ok(Vec::new()),
    debt: |_| Ok(BTreeMap::new()),
    table_state: |_, _| Ok(BTreeMap::new()),
    durability: |_, _| Vec::new(),
    guest: GUEST,
    own_guard: own_guard::NOT_STARTED,
    own: None,
    ..postgres::DRIVER
};

const GUEST: GuestDriver = GuestDriver {
    endpoint: |home, schema| Endpoint { on_login: Some(use_schema_sql(schema)), ..home },
    schemas_sql: "select schema_name from information_schema.schemata order by 1",
    use_schema_sql,
    count_tables_sql: |schema, table| {
        format!(
            "select count(*) from information_schema.tables where table_schema = {schema} and \
             table_name = '{table}' and table_type = 'BASE TABLE'"
        )
    },
    session_id_sql: Some("select session_id()"),
    // Each definition is a transaction of its own.
    makes_schema_whole: false,
    count_objects_sql: |schema| {
        format!(
            "select (select count(*) from information_schema.tables where table_schema = {schema}) + \
             (select count(*) from information_schema.routines where routine_schema = {schema}) + \
             (select count(*) from information_schema.sequences where sequence_schema = {schema}) + \
             (select count(*) from information_schema.domains where domain_schema = {schema})"
        )
    },
    drops: Drops::OneByOne,
    // It has comments behind //, and others read comments within comments in another way.
    refused_texts: &["//", "/*"],
    // Its transactions always write.
    read_write_sql: "ROLLBACK",
    limit_waits_sql: |seconds| match seconds {
        Some(seconds) => format!("SET LOCK_TIMEOUT {}", seconds.saturating_mul(1000)),
        // The default of new sessions.
        None => "SET LOCK_TIMEOUT 2000".to_owned(),
    },
    // Only tables and rows can be locked, until the end of a transaction.
    lock: None,
    require_writes: |_, _| Ok(()),
    // ADMIN_RIGHTS_REQUIRED, NOT_ENOUGH_RIGHTS_FOR_1.
    lacks_right: |said| ["90040", "90096"].contains(&said.sqlstate.as_str()),
    grant: |connection| {
        let user = query(connection, "ask for the current user", "select current_user").ok()?;
        Some(format!("ALTER USER {} ADMIN TRUE", quoted(user.scalar()?)))
    },
    ..postgres::guest::GUEST
};

/// The schema decides where tables are made and looked for first, the path where they are looked for then: it begins
/// with `public` at each login.
fn use_schema_sql(schema: &str) -> String {
    let name = quoted(schema);
    format!("SET SCHEMA {name}; SET SCHEMA_SEARCH_PATH {name}")
}

fn settings(connection: &mut dyn Connection) -> Result<BTreeMap<String, String>, Error> {
    let sql = "select setting_name, setting_value from information_schema.settings";
    query(connection, "read the server's settings", sql).map(pairs)
}

fn tables(connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let result = query(connection, "list the tables", &of_schema("table_name"))?;
    let names = result.rows.into_iter().filter_map(|row| row.into_iter().next()?);
    Ok(names.map(|name| quoted(&name)).collect())
}

/// What H2's file has for the tables and their indexes.
fn table_bytes(
    _: &Version,
    _: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<Option<u64>, Error> {
    let sql = of_schema("sum(disk_space_used(concat(table_schema, '.', table_name)))");
    let result = query(connection, "ask for the size of the tables", &sql)?;
    Ok(result.scalar().and_then(|text| text.parse().ok()))
}

/// A question about the tables of the session's schema.
fn of_schema(what: &str) -> String {
    format!(
        "select {what} from information_schema.tables where table_schema = current_schema() \
         and table_type = 'BASE TABLE' and table_name <> '{MARKER}'"
    )
}
