//! Clients for MySQL's and PostgreSQL's protocols, and a null client, behind one [`Connection`].
//!
//! `wire` turns bytes into meaning and back and opens no socket; `mysql` and `postgres` own sockets;
//! `null` answers at once, for measuring rqps itself. Executing a statement is the hot path: it
//! allocates nothing after warm-up and looks at result rows only to count them.

mod any;
mod buffer;
pub mod conninfo;
pub mod endpoint;
pub mod error;
#[cfg(test)]
mod hostile;
pub mod mysql;
pub mod null;
pub mod params;
mod patience;
pub mod pipeline;
pub mod postgres;
pub mod privacy;
pub mod probe;
pub mod script;
pub mod session;
mod transport;
pub mod wire;

pub use any::AnyConnection;
pub use endpoint::{Address, Endpoint, Parameter, Password, SessionCharset, Startup, Tls};
pub use error::{Error, ErrorClass, ErrorNotes, ServerError};
pub use mysql::MysqlConnection;
pub use null::NullConnection;
pub use params::{ParamType, Params, Value};
pub use pipeline::Pipeline;
pub use postgres::PostgresConnection;
pub use privacy::Privacy;
pub use probe::probe_dbms;
pub use script::{Row, ScriptConnection};
pub use session::Session;
pub use wire::postgres::execute::numbered_places;

/// How a statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Prepared on the server once, then executed with parameters in binary form.
    Prepared,
    /// Sent as text each time, parameters written into it as literals.
    Text,
}

/// A statement as the workload defines it.
#[derive(Debug, Clone)]
pub struct StatementSpec<'a> {
    /// SQL with `?` for each parameter, for every DBMS; a `?` elsewhere is not allowed.
    pub sql: &'a str,
    /// The parameters' types in order.
    pub params: &'a [ParamType],
    /// How it is sent.
    pub protocol: Protocol,
    /// Rows that the null client answers with; real servers ignore it.
    pub null_rows: u64,
}

/// A statement of one connection; invalid on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StatementId(pub u32);

/// The result of a statement in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Rows received.
    pub rows: u64,
    /// Rows changed, as the server counts them.
    pub affected: u64,
}

/// A result read in full as text, for everything that is not measured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows of columns; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Rows changed, for statements that return none.
    pub affected: u64,
}

/// The largest result that is ever read in full, in bytes of memory. What is asked of servers that is not
/// measured is a thousandth of that; without an end, a server could take all memory.
pub(crate) const MAX_RESULT_BYTES: usize = 256 * 1024 * 1024;

impl ResultSet {
    /// What a row takes in memory beside its values.
    pub(crate) const ROW_BYTES: usize = size_of::<Vec<Option<String>>>();
    /// What a value takes beside its bytes.
    pub(crate) const VALUE_BYTES: usize = size_of::<Option<String>>();

    /// The first column of the first row, when there is one and it is not NULL.
    #[must_use]
    pub fn scalar(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// How a connection of one protocol is opened.
pub trait Connect: Connection + Sized {
    /// Opens a connection and authenticates.
    ///
    /// # Errors
    /// When the address cannot be reached in time, TLS fails, or the server refuses the user.
    fn connect(endpoint: &Endpoint) -> Result<Self, Error>;
}

/// One connection to one server. Errors that leave it unusable say so by their class.
pub trait Connection: Send {
    /// Makes a statement known to this connection (prepares it on the server when prepared).
    ///
    /// # Errors
    /// When the server refuses the statement, or its parameters do not match `spec.params`.
    fn prepare(&mut self, spec: &StatementSpec<'_>) -> Result<StatementId, Error>;

    /// Executes a statement and skips its rows, counting them. Hot path.
    ///
    /// # Errors
    /// The server's error with its class, or a lost connection.
    fn execute(&mut self, statement: StatementId, params: &Params) -> Result<Outcome, Error>;

    /// Sends one statement as text and skips its rows, counting them. Hot path of bulk inserts.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    fn execute_text(&mut self, sql: &[u8]) -> Result<Outcome, Error>;

    /// Sends one statement as text and reads the whole result.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    fn query(&mut self, sql: &str) -> Result<ResultSet, Error>;

    /// What this connection really is: transport, TLS, authentication, the server's version.
    fn session(&self) -> &Session;

    /// The longest time to wait for an answer; `None` waits for ever.
    ///
    /// # Errors
    /// When the socket refuses the setting.
    fn set_timeout(&mut self, timeout: Option<std::time::Duration>) -> Result<(), Error>;

    /// This connection for statements that are sent ahead; `None` where that cannot be done.
    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        None
    }

    /// A handle that other threads can use to break the connection while it waits.
    ///
    /// # Errors
    /// When the socket cannot be duplicated.
    fn breaker(&self) -> Result<Breaker, Error>;
}

/// Breaks a connection from another thread: its pending call fails with a lost connection.
#[derive(Debug)]
pub enum Breaker {
    /// A unix socket.
    Unix(std::os::unix::net::UnixStream),
    /// A TCP socket, with or without TLS on top.
    Tcp(std::net::TcpStream),
    /// Nothing to break: the null client never waits.
    Null,
}

impl Breaker {
    /// Shuts the socket down in both directions. A socket that is closed already is fine.
    pub fn break_off(&self) {
        use std::net::Shutdown::Both;
        let _ = match self {
            Self::Unix(socket) => socket.shutdown(Both),
            Self::Tcp(socket) => socket.shutdown(Both),
            Self::Null => Ok(()),
        };
    }
}
