//! The table that says of a schema that rqps made it, by whom and when.

use rqps_client::Connection;

use super::names::MARKER;
use crate::answer::{ask, query};
use crate::dbms::guest_driver::GuestDriver;
use crate::random::random_hex;
use crate::{Error, process};

/// Longest text of a column.
const MOST_CHARS: usize = 200;

/// Facts for a schema's marker and name.
#[derive(Debug, Clone)]
pub struct Maker {
    /// The run (or other purpose), with the system's number.
    pub name: String,
    /// Version of rqps.
    pub version: String,
    /// Distinguishes results directories.
    pub results: String,
}

/// The one row of the table.
#[derive(Debug)]
pub(super) struct Marker {
    run: String,
    version: String,
    host: String,
    pid: u32,
    /// When the process was started, ticks since boot.
    started: u64,
    /// What nobody else has: tells a schema from a later one of the same name.
    nonce: String,
}

/// What is known of the process that made a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MakerState {
    /// It runs on this host.
    Alive,
    /// It ran on this host and has ended.
    Ended,
    /// It is another host's.
    Elsewhere,
}

impl Marker {
    pub(super) fn new(maker: &Maker) -> Result<Self, Error> {
        let pid = std::process::id();
        Ok(Self {
            run: maker.name.clone(),
            version: maker.version.clone(),
            host: place(),
            pid,
            started: process::started(pid.cast_signed()).unwrap_or_default(),
            nonce: random_hex()?,
        })
    }

    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Makes a schema with the marker in it.
    pub(super) fn create(
        &self,
        driver: &GuestDriver,
        schema: &str,
        connection: &mut dyn Connection,
    ) -> Result<(), Error> {
        let name = (driver.quote)(schema);
        let server = server_id(driver, connection)?;
        let table = table_of(driver, schema, MARKER);
        let unless = if driver.makes_schema_whole { "" } else { "IF NOT EXISTS " };
        let statements = [
            format!("CREATE SCHEMA {unless}{name}"),
            format!(
                "CREATE TABLE {table} (run varchar({MOST_CHARS}) NOT NULL PRIMARY KEY, \
                 version varchar({MOST_CHARS}) NOT NULL, host varchar({MOST_CHARS}) NOT NULL, \
                 pid integer NOT NULL, started bigint NOT NULL, nonce varchar({MOST_CHARS}) NOT NULL, \
                 server varchar({MOST_CHARS}) NOT NULL, made timestamp NOT NULL)"
            ),
            format!(
                "INSERT INTO {table} (run, version, host, pid, started, nonce, server, made) VALUES \
                 ({}, {}, {}, {}, {}, {}, {}, CURRENT_TIMESTAMP)",
                literal(&self.run),
                literal(&self.version),
                literal(&self.host),
                self.pid,
                self.started,
                literal(&self.nonce),
                literal(&server)
            ),
        ];
        let mut send = |sql: &str| connection.query(sql).map(|_| ());
        if driver.makes_schema_whole {
            let sql = statements.join("; ");
            return send(&sql).map_err(|e| Error::client(statements[0].clone(), e));
        }
        for sql in &statements {
            send(sql).map_err(|e| Error::client(sql.clone(), e))?;
        }
        Ok(())
    }
}

/// Whether a schema has the marker.
pub(crate) fn has_marker(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    has_table(driver, schema, MARKER, connection)
}

/// Whether a schema has a table of this name that is this user's, and no view.
pub(super) fn has_table(
    driver: &GuestDriver,
    schema: &str,
    table: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let sql = (driver.count_tables_sql)(&literal(schema), table);
    let result = query(connection, "look for a table of rqps's", &sql)?;
    Ok(result.scalar().is_some_and(|n| n != "0"))
}

/// Whether the marker of a schema was made on this server: it reaches replicas and other nodes of a cluster as well,
/// and a lock does not.
pub(super) fn is_made_here(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let here = server_id(driver, connection)?;
    let row = read(driver, schema, "server", connection)?;
    Ok(row.is_some_and(|row| row == [plain(&here)]))
}

/// What tells a server from its replicas.
pub(super) fn server_id(
    driver: &GuestDriver,
    connection: &mut dyn Connection,
) -> Result<String, Error> {
    for sql in driver.server_id_sql {
        if let Some(result) = ask(connection, "ask which server it is", sql)? {
            return Ok(result.scalar().unwrap_or_default().to_owned());
        }
    }
    Ok(String::new())
}

/// Whether a schema has nothing in it.
pub(super) fn is_empty(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let sql = (driver.count_objects_sql)(&literal(schema));
    Ok(query(connection, "look into rqps's schema", &sql)?.scalar() == Some("0"))
}

/// What became of the process that made a schema. One that cannot be told may be at work.
pub(super) fn maker_state(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<MakerState, Error> {
    let Some(row) = read(driver, schema, "host, pid, started", connection)? else {
        return Ok(MakerState::Alive);
    };
    let [host, pid, started] = row.as_slice() else { return Ok(MakerState::Elsewhere) };
    if *host != place() {
        return Ok(MakerState::Elsewhere);
    }
    let stat = pid.parse().ok().and_then(process::stat);
    let is_alive = stat.is_some_and(|stat| {
        !matches!(stat.state, 'Z' | 'X') && stat.started.to_string() == *started
    });
    Ok(if is_alive { MakerState::Alive } else { MakerState::Ended })
}

/// Whether a schema is the one that was marked with this nonce.
pub(super) fn has_nonce(
    driver: &GuestDriver,
    schema: &str,
    wanted: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    Ok(nonce(driver, schema, connection)?.is_some_and(|found| found == wanted))
}

/// The nonce of a schema's marker; `None` without one.
pub(super) fn nonce(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<Option<String>, Error> {
    Ok(read(driver, schema, "nonce", connection)?.and_then(|row| row.into_iter().next()))
}

/// Columns of a marker; nothing of one that is being dropped, or is not this user's.
fn read(
    driver: &GuestDriver,
    schema: &str,
    columns: &str,
    connection: &mut dyn Connection,
) -> Result<Option<Vec<String>>, Error> {
    let table = table_of(driver, schema, MARKER);
    match connection.query(&format!("select {columns} from {table}")) {
        Ok(result) => {
            let row = result.rows.into_iter().next().unwrap_or_default();
            Ok(Some(row.into_iter().map(Option::unwrap_or_default).collect()))
        }
        Err(rqps_client::Error::Server(_)) => Ok(None),
        Err(e) => Err(Error::client("read rqps's marker", e)),
    }
}

/// A table of a schema, as SQL takes its name.
pub(super) fn table_of(driver: &GuestDriver, schema: &str, table: &str) -> String {
    format!("{}.{}", (driver.quote)(schema), (driver.quote)(table))
}

/// Where a process id means something: the host, and the namespace of process ids in which rqps runs, as containers
/// may have one name.
pub(super) fn place() -> String {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let namespace = namespace.to_string_lossy();
    let digits: String = namespace.chars().filter(char::is_ascii_digit).collect();
    plain(&format!("{}/{digits}", host_name()))
}

/// The host's name as the kernel has it.
pub(super) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim_end().to_owned()
}

/// A text as a literal of every dialect.
fn literal(text: &str) -> String {
    format!("'{}'", plain(text))
}

/// A text without what would need an escape.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.:/+ @".contains(*c);
    text.chars().filter(is_plain).take(MOST_CHARS).collect()
}
