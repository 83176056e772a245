//! What a server really runs with, as it says itself: settings, session, sizes.

use std::collections::BTreeMap;
use std::path::Path;

use rqps_client::Connection;
use rqps_model::{Dbms, Version};

use crate::Error;
use crate::answer::query;
use crate::dbms::driver;

/// The effective settings by the server's own names, with units as SHOW writes them.
///
/// # Errors
/// [`Error::Client`].
pub fn effective_settings(
    dbms: Dbms,
    connection: &mut dyn Connection,
) -> Result<BTreeMap<String, String>, Error> {
    (driver(dbms).settings)(connection)
}

/// The server's own version text: `select version()`.
///
/// # Errors
/// [`Error::Client`], or [`Error::Answer`] when there is none.
pub fn version_text(connection: &mut dyn Connection) -> Result<String, Error> {
    let doing = "ask for the server's version";
    let result = query(connection, doing, "select version()")?;
    let text = result.scalar().map(ToOwned::to_owned);
    text.ok_or_else(|| Error::Answer { doing: doing.to_owned(), answer: format!("{result:?}") })
}

/// Facts of this connection: transport, TLS, authentication, character set, isolation and other things that
/// make sessions differ.
///
/// # Errors
/// [`Error::Client`].
pub fn session_facts(
    dbms: Dbms,
    connection: &mut dyn Connection,
) -> Result<BTreeMap<String, String>, Error> {
    let session = connection.session();
    let mut facts = BTreeMap::from([
        ("transport".to_owned(), session.transport.clone()),
        ("tls".to_owned(), session.tls.clone()),
        ("auth".to_owned(), session.auth.clone()),
    ]);
    facts.extend((driver(dbms).session)(connection)?);
    Ok(facts)
}

/// Bytes of all tables with their indexes in the current database.
///
/// They are what files take: InnoDB's and PostgreSQL's with the free space in them and, of pages that
/// are compressed, without the holes; MyRocks's without what is in memory alone. Nothing is flushed or
/// analysed for it, as that would disturb what is measured next. InnoDB's files are looked at where
/// `data_dir` is known; else the server is asked, and `None` says that it does not tell, or not this user.
///
/// # Errors
/// [`Error::Client`], or [`Error::Answer`] when it is no number.
pub fn database_bytes(
    dbms: Dbms,
    version: &Version,
    data_dir: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<Option<u64>, Error> {
    (driver(dbms).table_bytes)(version, data_dir, connection)
}
