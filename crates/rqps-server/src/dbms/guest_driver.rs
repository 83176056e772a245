//! What a guest says to somebody else's server: a table of statements and functions for each DBMS.

use rqps_client::{Connection, Endpoint, ServerError};

use crate::Error;

/// What a guest says to a DBMS.
#[derive(Debug)]
pub struct GuestDriver {
    /// The endpoint of sessions whose default is a schema.
    pub(crate) endpoint: fn(Endpoint, &str) -> Endpoint,
    /// A name as SQL takes it whatever is in it.
    pub(crate) quote: fn(&str) -> String,
    /// Lists the schemas.
    pub(crate) schemas_sql: &'static str,
    /// Makes a schema the session's default.
    pub(crate) use_schema_sql: fn(&str) -> String,
    /// The schema in which a table is made that is named without one.
    pub(crate) current_schema_sql: &'static str,
    /// Counts the tables of a schema with a name that are this user's, and no views: reading one could run what
    /// somebody else wrote. The schema is given as a literal.
    pub(crate) count_tables_sql: fn(&str, &str) -> String,
    /// What tells sessions apart; `None` where no pooler is known to lend one session to several clients.
    pub(crate) session_id_sql: Option<&'static str>,
    /// Whether a schema and a table in it are made by one statement, both or none.
    pub(crate) makes_schema_whole: bool,
    /// Counts what is in a schema, given as a literal; asked where schemas are not made whole.
    pub(crate) count_objects_sql: fn(&str) -> String,
    /// Questions for what tells a server from its replicas, the best first; none where no replica can be written to.
    pub(crate) server_id_sql: &'static [&'static str],
    /// Whether settling changes settings of the server, which are restored afterwards.
    pub(crate) changes_settings: bool,
    /// How tables and the schema are dropped.
    pub(crate) drops: Drops,
    /// What no statement of a user may hold, as this DBMS reads it otherwise than the others of its family.
    pub(crate) refused_texts: &'static [&'static str],
    /// Lets the session's transactions write.
    pub(crate) read_write_sql: &'static str,
    /// Bounds the session's waits for locks of tables, s; `None` is the server's own bound.
    pub(crate) limit_waits_sql: fn(Option<u64>) -> String,
    /// The lock of a schema that a session holds; `None` where the DBMS has none.
    pub(crate) lock: Option<LockDriver>,
    /// Refuses a server that takes no writes, or does not end them.
    pub(crate) require_writes: fn(&Endpoint, &mut dyn Connection) -> Result<(), Error>,
    /// The refusal behind the server's word to a statement that writes.
    pub(crate) refused_write: fn(&Endpoint, &ServerError) -> Option<Error>,
    /// Whether the server says that the user lacks a right.
    pub(crate) lacks_right: fn(&ServerError) -> bool,
    /// The statement by which the user gets the right to make a schema.
    pub(crate) grant: fn(&mut dyn Connection) -> Option<String>,
}

/// How rqps's tables and schema are dropped, so that nothing of anybody else's goes with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drops {
    /// Foreign keys of other schemas are looked for first; tables go before the schema.
    Mysql,
    /// In one transaction, with locks, after a look for partitions and for what depends on the tables.
    Postgres,
    /// One table after the other, the marker last, and the schema when it is empty, all with RESTRICT: the server refuses
    /// where something needs them. A schema that holds more than tables stays as it is.
    OneByOne,
}

/// The lock of a schema: held by a session, gone with it.
#[derive(Debug)]
pub(crate) struct LockDriver {
    /// Takes it for the session, where it is free.
    pub(crate) try_lock: fn(&str) -> LockQuestion,
    /// Asks whether the session has it.
    pub(crate) has_lock: fn(&str) -> LockQuestion,
    /// Gives it back.
    pub(crate) unlock_sql: fn(&str) -> String,
}

/// A question about a lock, and the answer that means yes.
#[derive(Debug)]
pub(crate) struct LockQuestion {
    pub(crate) sql: String,
    pub(crate) yes: &'static str,
}
