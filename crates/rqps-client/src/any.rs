//! A connection of whichever DBMS: what prepares a step needs no type of its own per DBMS.

use std::time::Duration;

use rqps_model::{Dbms, Family};

use crate::{
    Breaker, Connect as _, Connection, Endpoint, Error, MysqlConnection, NullConnection, Outcome,
    Params, Pipeline, PostgresConnection, ResultSet, Session, StatementId, StatementSpec,
};

/// A connection of one of the protocols. Loops that are measured take the connection out.
#[derive(Debug)]
pub enum AnyConnection {
    /// MySQL and MariaDB.
    Mysql(MysqlConnection),
    /// PostgreSQL.
    Postgres(PostgresConnection),
    /// Answers at once.
    Null(NullConnection),
}

impl AnyConnection {
    /// Opens a connection and authenticates.
    ///
    /// # Errors
    /// As [`crate::Connect::connect`].
    pub fn open(dbms: Dbms, endpoint: &Endpoint) -> Result<Self, Error> {
        match dbms.family() {
            Family::Mysql => MysqlConnection::connect(endpoint).map(Self::Mysql),
            Family::Postgres => PostgresConnection::connect(endpoint).map(Self::Postgres),
            Family::Null => NullConnection::connect(endpoint).map(Self::Null),
        }
    }

    fn inner(&self) -> &dyn Connection {
        match self {
            Self::Mysql(connection) => connection,
            Self::Postgres(connection) => connection,
            Self::Null(connection) => connection,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Connection {
        match self {
            Self::Mysql(connection) => connection,
            Self::Postgres(connection) => connection,
            Self::Null(connection) => connection,
        }
    }
}

impl Connection for AnyConnection {
    fn prepare(&mut self, spec: &StatementSpec<'_>) -> Result<StatementId, Error> {
        self.inner_mut().prepare(spec)
    }

    fn execute(&mut self, statement: StatementId, params: &Params) -> Result<Outcome, Error> {
        self.inner_mut().execute(statement, params)
    }

    fn execute_text(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        self.inner_mut().execute_text(sql)
    }

    fn query(&mut self, sql: &str) -> Result<ResultSet, Error> {
        self.inner_mut().query(sql)
    }

    fn session(&self) -> &Session {
        self.inner().session()
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        self.inner_mut().set_timeout(timeout)
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        self.inner_mut().pipeline()
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        self.inner().breaker()
    }
}
