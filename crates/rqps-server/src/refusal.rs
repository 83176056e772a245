//! Why a statement is not sent, or a server is left alone: it could do harm.

use std::path::PathBuf;

/// What rqps refuses to do, with the value and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A statement would reach beyond what the run has made.
    #[error(
        "{statement} is not sent: {variable} of the server is {value:?}, outside of the run's directory {}; \
         remove {variable} from the server's configuration",
        dir.display()
    )]
    OutsideOfRun {
        /// The statement.
        statement: String,
        /// The variable that tells where the server works.
        variable: String,
        /// Its value.
        value: String,
        /// The run's directory.
        dir: PathBuf,
    },
    /// The server does not report what a statement would reach.
    #[error("{statement} is not sent: {why}")]
    PlaceUntold {
        /// The statement.
        statement: String,
        /// What is not known.
        why: String,
    },
    /// A setting of an external server.
    #[error("{statement} is not sent to a server given by its address; --allow-settings allows it")]
    SettingsNotAllowed {
        /// The statement.
        statement: String,
    },
    /// A schema that rqps did not make.
    #[error(
        "{statement} is not sent: schema {schema} has no table {}, so rqps did not make it",
        crate::guest::MARKER
    )]
    SchemaNotOurs {
        /// The statement.
        statement: String,
        /// The schema.
        schema: String,
    },
    /// Something of somebody else's depends on a schema of rqps's.
    #[error(
        "schema {schema} is not dropped, as {by} depends on it; drop the dependent object, and the next run with \
         this address drops the schema"
    )]
    SchemaInUse {
        /// The schema.
        schema: String,
        /// What depends on it.
        by: String,
    },
    /// A schema of rqps's that this process no longer holds.
    #[error(
        "this run no longer holds schema {schema}: the server ended the session that held it, and another \
         session took it; rqps sends nothing more there; run again"
    )]
    SchemaLost {
        /// The schema.
        schema: String,
    },
    /// The user of an address may not make a schema.
    #[error(
        "{server} refused {statement} ({said}); rqps keeps its tables in a schema of its own; run there as administrator: {grant}"
    )]
    SchemaRefused {
        /// The server.
        server: String,
        /// What was refused.
        statement: String,
        /// The server's words.
        said: String,
        /// The statement that helps.
        grant: String,
    },
    /// Sessions of a server share its processes: a pooler is in between.
    #[error(
        "{address} is a pooler that shares sessions among clients; name the server itself, or set \
         pool_mode = session"
    )]
    SharedSessions {
        /// The address.
        address: String,
    },
    /// The server takes no writes, or they would wait forever.
    #[error("the server at {address} takes no writes: {why}; {remedy}")]
    NoWrites {
        /// The address.
        address: String,
        /// Why not.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// The server speaks another protocol than its address says.
    #[error("the server at {address} speaks the protocol of {spoken}; write {scheme}://")]
    OtherProtocol {
        /// The address.
        address: String,
        /// Whose protocol it speaks.
        spoken: &'static str,
        /// The scheme of that.
        scheme: String,
    },
    /// The server speaks PostgreSQL's protocol and is another DBMS.
    #[error(
        "the server at {address} says that it is {said:?}, and refuses {statement}; rqps does not support this \
         DBMS (docs/reference/servers.md lists the supported ones)"
    )]
    UnknownDbms {
        /// The address.
        address: String,
        /// What it says it is.
        said: String,
        /// What it refuses.
        statement: String,
    },
    /// Tables that are named without a schema would not be made in rqps's.
    #[error(
        "the server creates tables in {found:?}, but the session's schema is {schema}; nothing is measured there, \
         as rqps's tables would be among others"
    )]
    OtherSchema {
        /// The schema of rqps's.
        schema: String,
        /// Where tables would be made.
        found: String,
    },
    /// An rqps that was killed had changed settings of somebody else's server.
    #[error(
        "schema {schema} is not dropped: an rqps that was killed left {setting} changed; --allow-settings restores \
         {setting}"
    )]
    SettingsLeft {
        /// The schema that has the owner's values.
        schema: String,
        /// The first of the settings.
        setting: String,
    },
    /// A statement of a plan or suite that rqps does not send to an external server.
    #[error("{sql:?} is not sent to a server given by its address: {why}")]
    NotForGuests {
        /// The statement.
        sql: String,
        /// Why not, and what to do.
        why: String,
    },
}
