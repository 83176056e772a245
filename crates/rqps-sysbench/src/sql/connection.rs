//! HOT PATH: one connection of a script: to either family of servers, or to none (dry run). Budget: a
//! branch over what the client takes.

use rqps_client::{
    Connect as _, Connection as _, Endpoint, Error, MysqlConnection, Outcome, ParamType, Params,
    PostgresConnection, Protocol, Row, ScriptConnection as _, StatementId, StatementSpec, Tls,
};

use super::place::{Driver, Place};

/// One connection of a script.
#[derive(Debug)]
pub(crate) enum Connection {
    /// To MySQL or MariaDB.
    Mysql(Box<MysqlConnection>),
    /// To PostgreSQL.
    Pgsql(Box<PostgresConnection>),
    /// To nobody: every statement succeeds without rows.
    Dry,
}

/// Calls the same on either connection; nothing happens on a dry one.
macro_rules! on {
    ($self:ident, $connection:ident => $call:expr, dry => $dry:expr) => {
        match $self {
            Connection::Mysql($connection) => $call,
            Connection::Pgsql($connection) => $call,
            Connection::Dry => $dry,
        }
    };
}

impl Connection {
    /// Connects and logs in; answers are kept for their rows.
    ///
    /// # Errors
    /// As [`rqps_client::Connection::connect`].
    pub(crate) fn open(driver: Driver, place: &Place) -> Result<Self, Error> {
        if place.prefers_tls {
            let tls = Tls::Required { ca: None };
            match Self::open_at(driver, &Endpoint { tls, ..place.endpoint.clone() }) {
                Err(Error::Tls { .. }) => {}
                // PostgreSQL's rules of access may let in those alone who come without TLS.
                Err(Error::Server(said)) if said.sqlstate == "28000" => {}
                opened => return opened,
            }
        }
        Self::open_at(driver, &place.endpoint)
    }

    fn open_at(driver: Driver, endpoint: &Endpoint) -> Result<Self, Error> {
        Ok(match driver {
            Driver::Mysql => {
                let mut connection = MysqlConnection::connect(endpoint)?;
                connection.keep_answers(true);
                Self::Mysql(Box::new(connection))
            }
            Driver::Pgsql => {
                let mut connection = PostgresConnection::connect(endpoint)?;
                connection.keep_answers(true);
                Self::Pgsql(Box::new(connection))
            }
        })
    }

    /// Sends a statement as text.
    ///
    /// # Errors
    /// The server's, or a lost connection.
    #[inline]
    pub(crate) fn query(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        on!(self, it => it.execute_text(sql), dry => Ok(Outcome::default()))
    }

    /// Executes a prepared statement.
    ///
    /// # Errors
    /// The server's, or a lost connection.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        statement: StatementId,
        params: &Params,
    ) -> Result<Outcome, Error> {
        on!(self, it => it.execute(statement, params), dry => Ok(Outcome::default()))
    }

    /// Makes a statement known whose parameters are declared later.
    ///
    /// # Errors
    /// The server's, or a lost connection.
    pub(crate) fn open_statement(&mut self, sql: &str) -> Result<StatementId, Error> {
        on!(self, it => it.open_statement(sql), dry => Ok(StatementId(0)))
    }

    /// Declares a statement's parameters.
    ///
    /// # Errors
    /// The server's, or a number that is not that of the statement.
    pub(crate) fn declare(
        &mut self,
        statement: StatementId,
        params: &[ParamType],
    ) -> Result<(), Error> {
        on!(self, it => it.declare(statement, params), dry => Ok(()))
    }

    /// Makes a statement known that travels as text, its parameters written into it.
    ///
    /// # Errors
    /// When there are more or fewer parameters than `?` in it.
    pub(crate) fn text_statement(
        &mut self,
        sql: &str,
        params: &[ParamType],
    ) -> Result<StatementId, Error> {
        let spec = StatementSpec { sql, params, protocol: Protocol::Text, null_rows: 0 };
        on!(self, it => it.prepare(&spec), dry => Ok(StatementId(0)))
    }

    /// Forgets a statement.
    ///
    /// # Errors
    /// A lost connection.
    pub(crate) fn forget(&mut self, statement: StatementId) -> Result<(), Error> {
        on!(self, it => it.forget(statement), dry => Ok(()))
    }

    /// Whether the last statement has a result.
    #[inline]
    pub(crate) fn had_result(&self) -> bool {
        on!(self, it => it.had_result(), dry => false)
    }

    /// The columns of the last answer.
    ///
    /// # Errors
    /// When it was not kept.
    pub(crate) fn n_columns(&mut self) -> Result<usize, Error> {
        on!(self, it => it.n_columns(), dry => Ok(0))
    }

    /// Reads the next row of the last answer; false after the last one.
    ///
    /// # Errors
    /// When it was not kept.
    pub(crate) fn fetch_row(&mut self, row: &mut Row) -> Result<bool, Error> {
        on!(self, it => it.fetch_row(row), dry => Ok(false))
    }
}
