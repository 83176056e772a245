//! Schemas that an rqps left when it was killed: which are rqps's, and how they go.

use std::time::{Duration, Instant};

use rqps_client::Connection;
use rqps_model::Dbms;

use super::lock::{release, try_lock};
use super::marker::{self, MakerState, Marker, has_marker};
use super::{
    LOOK_EVERY, Maker, Terms, guest_driver, is_left, limit_waits, names, schemas, scope, settings,
};
use crate::Error;
use crate::destructive::drop_schema;
use crate::watch::pause;

/// How schemas of earlier runs are dropped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broom<'a> {
    /// Those of the run that drops them: its maker gives the names of those that were begun, and settings that
    /// an earlier run changed are restored where it may change them.
    pub(super) terms: Terms<'a>,
    /// How long the session of one that was killed on this host is waited for.
    pub(super) session_wait: Duration,
}

/// Drops every schema that has rqps's marker, that no session holds and whose maker does not run on this host. One whose
/// maker was killed on this host is waited for. Nothing that stays is an error but a lost connection.
pub(super) fn sweep(
    dbms: Dbms,
    broom: Broom<'_>,
    connection: &mut dyn Connection,
    told: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let Terms { maker, patience, .. } = broom.terms;
    limit_waits(dbms, Some(patience.sweep()), connection)?;
    let names = names(dbms, maker, connection)?;
    for schema in schemas(guest_driver(dbms), connection)? {
        let swept = if is_begun(dbms, &schema, &names, connection)? {
            finish_begun(dbms, maker, &schema, connection)
        } else {
            sweep_one(dbms, &schema, broom, connection)
        };
        match swept {
            Ok(Some(restored)) => {
                told(&format!("dropped schema {schema}, left by an earlier rqps"));
                if !restored.is_empty() {
                    told(&format!(
                        "restored settings that the earlier rqps had changed: {}",
                        restored.join(", ")
                    ));
                }
            }
            Ok(None) => {}
            Err(Error::Client { source: rqps_client::Error::Server(said), .. }) => {
                told(&format!("schema {schema}, left by an earlier rqps, was not dropped: {said}"));
            }
            Err(error @ Error::Client { .. }) => return Err(error),
            Err(error) => told(&error.to_string()),
        }
    }
    Ok(())
}

/// The names of the settings that were restored, where the schema was dropped.
fn sweep_one(
    dbms: Dbms,
    schema: &str,
    broom: Broom<'_>,
    connection: &mut dyn Connection,
) -> Result<Option<Vec<String>>, Error> {
    if !is_made_here(dbms, schema, connection)? {
        return Ok(None);
    }
    let maker = marker::maker_state(guest_driver(dbms), schema, connection)?;
    // The server may have ended the session that held the lock.
    if !is_left(dbms, maker) {
        return Ok(None);
    }
    let nonce = marker::nonce(guest_driver(dbms), schema, connection)?;
    let since = Instant::now();
    while !try_lock(guest_driver(dbms), schema, connection)? {
        let is_dying = since.elapsed() < broom.session_wait && maker == MakerState::Ended;
        if !is_dying {
            return Ok(None);
        }
        pause(LOOK_EVERY);
    }
    // Another rqps may have dropped it and made its own meanwhile.
    if marker::nonce(guest_driver(dbms), schema, connection)? != nonce {
        release(guest_driver(dbms), schema, connection)?;
        return Ok(None);
    }
    let dropped = drop_left(dbms, schema, broom.terms.allow_settings, connection);
    release(guest_driver(dbms), schema, connection)?;
    dropped.map(Some)
}

/// Whether a schema is rqps's and made on this server, not on one that it is a replica of.
pub(super) fn is_made_here(
    dbms: Dbms,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    Ok(has_marker(guest_driver(dbms), schema, connection)?
        && marker::is_made_here(guest_driver(dbms), schema, connection)?)
}

/// Whether a schema was begun by an rqps of this results directory and is empty: some DBMS make a schema
/// and the marker in it by two statements.
pub(super) fn is_begun(
    dbms: Dbms,
    schema: &str,
    names: &[String],
    connection: &mut dyn Connection,
) -> Result<bool, Error> {
    let driver = guest_driver(dbms);
    let is_own = !driver.makes_schema_whole && names.iter().any(|name| name == schema);
    Ok(is_own
        && !has_marker(driver, schema, connection)?
        && marker::is_empty(driver, schema, connection)?)
}

/// Gives a schema that was begun its marker, then drops it.
fn finish_begun(
    dbms: Dbms,
    maker: &Maker,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<Option<Vec<String>>, Error> {
    if !try_lock(guest_driver(dbms), schema, connection)? {
        return Ok(None);
    }
    // Its maker may have made the marker before it gave the lock back.
    let dropped = Marker::new(maker)?
        .create(guest_driver(dbms), schema, connection)
        .and_then(|()| drop_left(dbms, schema, false, connection));
    release(guest_driver(dbms), schema, connection)?;
    dropped.map(Some)
}

/// Drops a schema; before that the settings that are written down in it are restored. Gives their names.
pub(super) fn drop_left(
    dbms: Dbms,
    schema: &str,
    allow_settings: bool,
    connection: &mut dyn Connection,
) -> Result<Vec<String>, Error> {
    let restored = settings::restore(scope(dbms, schema, allow_settings), connection)?;
    drop_schema(scope(dbms, schema, false), connection)?;
    Ok(restored)
}
