//! A server of somebody else's, where rqps is a guest: its tables lie in a schema of its own.
//!
//! The schema is a database of MySQL and MariaDB, and a schema of PostgreSQL in the address's database. A marker
//! table in it says that rqps made it. A lock that the server holds for a session says that somebody uses it. A
//! schema with the marker and without a holder was left by an rqps that was killed, and the next one drops it.

mod lock;
mod login;
mod marker;
mod names;
pub(crate) mod settings;
mod sweep;

use std::time::{Duration, Instant};

use rqps_client::{Connection, Endpoint};
use rqps_model::Dbms;

use crate::answer::query;
pub use crate::dbms::Told;
use crate::dbms::driver;
use crate::dbms::guest_driver::GuestDriver;
use crate::destructive::Scope;
use crate::places::short_hash;
use crate::watch::pause;
use crate::{Error, Patience, Refusal, connect, connect_to_keep};
use lock::{has_lock, release, try_lock};
pub use login::told_dbms;
pub use marker::Maker;
pub(crate) use marker::has_marker;
use marker::{MakerState, Marker};
pub(crate) use names::MARKER;
pub(crate) use names::PREFIX;
pub use names::is_schema_name;
use sweep::{Broom, drop_left, is_begun, is_made_here, sweep};

/// How many names are tried: one that is in use may be of a session that has not ended yet.
const MOST_NAMES: u32 = 16;

/// How often a lock that a dying session holds is asked for again.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Terms for a connection to an external server.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Who makes the schema.
    pub maker: &'a Maker,
    /// Whether settings of the server may be changed, and restored.
    pub allow_settings: bool,
    /// How long rqps waits for the server.
    pub patience: Patience,
}

/// rqps's schema on an external server.
#[derive(Debug, Clone)]
pub struct Guest {
    dbms: Dbms,
    schema: String,
    /// What its marker has, and no other one.
    nonce: String,
    maker: Maker,
    /// The address as the user gave it.
    home: Endpoint,
    allow_settings: bool,
    patience: Patience,
}

impl Guest {
    /// Creates a schema, and drops those of killed runs. Returns a connection with the schema's lock, whose
    /// default schema it is; `told` gets notes about dropped and kept schemas.
    ///
    /// # Errors
    /// [`Refusal::SchemaRefused`], [`Refusal::SharedSessions`], [`Refusal::NoWrites`], [`Refusal::UnknownDbms`],
    /// [`Refusal::OtherSchema`], [`Error::Client`].
    pub fn enter(
        dbms: Dbms,
        home: &Endpoint,
        terms: Terms<'_>,
        told: &mut dyn FnMut(&str),
    ) -> Result<(Self, Box<dyn Connection>), Error> {
        let mut connection = connect_to_keep(dbms, home)?;
        let admin = connection.as_mut();
        let Terms { maker, allow_settings, patience } = terms;
        set_timeout(patience, admin)?;
        let driver = guest_driver(dbms);
        login::require_own_session(dbms, driver, home, admin)?;
        (driver.require_writes)(home, admin)?;
        let broom = Broom { terms, session_wait: Duration::ZERO };
        sweep(dbms, broom, admin, told)?;
        let Made { schema, nonce } = make(dbms, terms, home, admin)?;
        let (maker, home) = (maker.clone(), home.clone());
        let guest = Self { dbms, schema, nonce, maker, home, allow_settings, patience };
        let ready = use_schema(dbms, &guest.schema, admin)
            .and_then(|()| require_current(dbms, &guest.schema, admin))
            // What the session is asked for later is the server's own setting.
            .and_then(|()| limit_waits(dbms, None, admin));
        if let Err(error) = ready {
            if let Err(stays) = guest.leave(admin, told) {
                told(&format!("schema {} was not dropped: {}", guest.schema, stays.chain()));
            }
            return Err(error);
        }
        Ok((guest, connection))
    }

    /// Its name.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The server's address, with the schema as default of every session.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        (guest_driver(self.dbms).endpoint)(self.home.clone(), &self.schema)
    }

    /// What destructive statements may reach.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        scope(self.dbms, &self.schema, self.allow_settings)
    }

    /// Locks the schema on a new connection, after the old one was lost.
    ///
    /// # Errors
    /// [`Refusal::SchemaLost`] where another session has it, or the schema is another one by now; [`Error::Client`].
    pub fn hold(&self, connection: &mut dyn Connection) -> Result<(), Error> {
        let since = Instant::now();
        while !try_lock(guest_driver(self.dbms), &self.schema, connection)? {
            if since.elapsed() >= self.patience.hold() {
                return Err(self.lost());
            }
            pause(LOOK_EVERY);
        }
        self.require_own(connection)
    }

    /// Refuses to go on where the marker is not this one's.
    fn require_own(&self, connection: &mut dyn Connection) -> Result<(), Error> {
        let is_own =
            marker::has_nonce(guest_driver(self.dbms), &self.schema, &self.nonce, connection)?;
        if is_own { Ok(()) } else { Err(self.lost()) }
    }

    fn lost(&self) -> Error {
        Refusal::SchemaLost { schema: self.schema.clone() }.into()
    }

    /// As [`Guest::leave`], on a new connection.
    ///
    /// # Errors
    /// What keeps the schema there.
    pub fn leave_anew(&self, told: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let mut connection = connect(self.dbms, &self.home)?;
        let admin = connection.as_mut();
        set_timeout(self.patience, admin)?;
        self.leave(admin, told)
    }

    /// Drops the schema, and those that killed processes of this host left.
    ///
    /// # Errors
    /// What keeps the schema there.
    pub fn leave(
        &self,
        connection: &mut dyn Connection,
        told: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        clear_session(self.dbms, connection)?;
        if has_lock(guest_driver(self.dbms), &self.schema, connection)? {
            self.require_own(connection)?;
        } else {
            self.hold(connection)?;
        }
        limit_waits(self.dbms, Some(self.patience.leave()), connection)?;
        drop_left(self.dbms, &self.schema, self.allow_settings, connection)?;
        release(guest_driver(self.dbms), &self.schema, connection)?;
        // A session that was at work when its rqps was killed has had this run's time to end.
        let terms = Terms {
            maker: &self.maker,
            allow_settings: self.allow_settings,
            patience: self.patience,
        };
        let broom = Broom { terms, session_wait: self.patience.sweep() };
        sweep(self.dbms, broom, connection, told)
    }
}

/// The names that one results directory gives to its schemas on a server, in the order in which they are tried. A later
/// call finds what an earlier one left; replicas of a server get names of their own.
fn names(dbms: Dbms, maker: &Maker, connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let server = marker::server_id(guest_driver(dbms), connection)?;
    Ok(names_on(&server, maker))
}

fn names_on(server: &str, maker: &Maker) -> Vec<String> {
    let host = marker::host_name();
    let text = |nth: u32| format!("{host}\n{}\n{server}\n{nth}", maker.results);
    (0..MOST_NAMES).map(|nth| format!("{PREFIX}{}", short_hash(&text(nth)))).collect()
}

/// A schema that was made.
struct Made {
    schema: String,
    nonce: String,
}

/// Makes a schema with its marker, and holds its lock.
fn make(
    dbms: Dbms,
    Terms { maker, patience, .. }: Terms<'_>,
    home: &Endpoint,
    connection: &mut dyn Connection,
) -> Result<Made, Error> {
    let names = names(dbms, maker, connection)?;
    for schema in names.iter().cloned() {
        if !try_lock(guest_driver(dbms), &schema, connection)? {
            continue;
        }
        if schemas(guest_driver(dbms), connection)?.contains(&schema) {
            let is_gone = is_made_here(dbms, &schema, connection)?
                && is_left(dbms, marker::maker_state(guest_driver(dbms), &schema, connection)?)
                && limit_waits(dbms, Some(patience.sweep()), connection).is_ok()
                && drop_left(dbms, &schema, false, connection).is_ok();
            if !is_gone && !is_begun(dbms, &schema, &names, connection)? {
                release(guest_driver(dbms), &schema, connection)?;
                continue;
            }
        }
        let marker = Marker::new(maker)?;
        return match marker.create(guest_driver(dbms), &schema, connection) {
            Ok(()) => Ok(Made { schema, nonce: marker.nonce().to_owned() }),
            Err(error) => Err(login::refusal(guest_driver(dbms), home, error, connection)),
        };
    }
    Err(Refusal::PlaceUntold {
        statement: "CREATE SCHEMA".to_owned(),
        why: format!("{MOST_NAMES} names such as {} are in use", names[0]),
    }
    .into())
}

/// Whether nobody uses a schema whose lock is free. Without locks that is known on the maker's host alone.
fn is_left(dbms: Dbms, maker: MakerState) -> bool {
    match maker {
        MakerState::Alive => false,
        MakerState::Ended => true,
        MakerState::Elsewhere => guest_driver(dbms).lock.is_some(),
    }
}

/// What destructive statements may reach in a schema of an external server.
#[must_use]
pub fn scope(dbms: Dbms, schema: &str, allow_settings: bool) -> Scope<'_> {
    Scope::Guest { schema, allow_settings, driver: guest_driver(dbms) }
}

/// Whether settling changes settings of a DBMS (and restores them).
#[must_use]
pub fn changes_settings(dbms: Dbms) -> bool {
    guest_driver(dbms).changes_settings
}

fn guest_driver(dbms: Dbms) -> &'static GuestDriver {
    &driver(dbms).guest
}

/// The schemas of the server, or of the database, that have a name as rqps gives them.
fn schemas(driver: &GuestDriver, connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let all = all_schemas(driver, connection)?;
    Ok(all.into_iter().filter(|name| is_schema_name(name)).collect())
}

fn all_schemas(
    driver: &GuestDriver,
    connection: &mut dyn Connection,
) -> Result<Vec<String>, Error> {
    let sql = driver.schemas_sql;
    let result = connection.query(sql).map_err(|e| Error::client("list the schemas", e))?;
    Ok(result.rows.into_iter().flatten().flatten().collect())
}

/// The names of all schemas except rqps's own.
///
/// # Errors
/// [`Error::Client`].
pub fn other_schemas(
    dbms: Dbms,
    ours: &str,
    connection: &mut dyn Connection,
) -> Result<Vec<String>, Error> {
    Ok(all_schemas(guest_driver(dbms), connection)?
        .into_iter()
        .filter(|name| name != ours)
        .collect())
}

/// Ends what statements of a plan may have left open in a session, so that it can drop the schema.
fn clear_session(dbms: Dbms, connection: &mut dyn Connection) -> Result<(), Error> {
    let writes = guest_driver(dbms).read_write_sql;
    for sql in ["ROLLBACK", writes] {
        match connection.query(sql) {
            // MySQL before 5.6.5 has no transactions that only read.
            Ok(_) | Err(rqps_client::Error::Server(_)) => {}
            Err(e) => return Err(Error::client(sql, e)),
        }
    }
    Ok(())
}

/// Makes a schema the default of a session.
fn use_schema(dbms: Dbms, schema: &str, connection: &mut dyn Connection) -> Result<(), Error> {
    let sql = (guest_driver(dbms).use_schema_sql)(schema);
    connection.query(&sql).map(|_| ()).map_err(|e| Error::client(sql, e))
}

/// Refuses a server that makes tables elsewhere than in the session's schema.
fn require_current(dbms: Dbms, schema: &str, connection: &mut dyn Connection) -> Result<(), Error> {
    let sql = guest_driver(dbms).current_schema_sql;
    let result = query(connection, sql, sql)?;
    let found = result.scalar().unwrap_or_default();
    if found == schema {
        return Ok(());
    }
    Err(Refusal::OtherSchema { schema: schema.to_owned(), found: found.to_owned() }.into())
}

/// Bounds how long one of these statements may take.
fn set_timeout(patience: Patience, connection: &mut dyn Connection) -> Result<(), Error> {
    let set = connection.set_timeout(Some(patience.question()));
    set.map_err(|e| Error::client("set a timeout", e))
}

/// Bounds how long the session's statements wait for locks of tables; `None` is the server's own bound. A version
/// without such a setting waits as long as the connection's timeout.
fn limit_waits(
    dbms: Dbms,
    within: Option<Duration>,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    // 0 would be no bound.
    let seconds = within.map(|within| within.as_secs().max(1));
    let sql = (guest_driver(dbms).limit_waits_sql)(seconds);
    match connection.query(&sql) {
        Ok(_) | Err(rqps_client::Error::Server(_)) => Ok(()),
        Err(e) => Err(Error::client("limit the wait for locks", e)),
    }
}

#[cfg(test)]
mod tests;
