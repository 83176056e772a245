//! Client pools of the connections of each protocol. The loop that is measured is compiled here, once for each.

use rqps_client::{AnyConnection, MysqlConnection, NullConnection, PostgresConnection};
use rqps_workload::vector::{Searcher, VectorLoader};
use rqps_workload::{InsertWorker, Loader, SysbenchWorker, Worker};

use super::{ClientPool, ClientPoolError, Member};

impl ClientPool {
    /// [`ClientPool::start`] for a step of a suite file.
    ///
    /// # Errors
    /// As [`ClientPool::start`].
    pub fn of_steps(
        members: Vec<Member<AnyConnection, SysbenchWorker>>,
    ) -> Result<Self, ClientPoolError> {
        Self::of_any(members)
    }

    /// The same for a step of the Insert Benchmark.
    ///
    /// # Errors
    /// As [`ClientPool::start`].
    pub fn of_inserts(
        members: Vec<Member<AnyConnection, InsertWorker>>,
    ) -> Result<Self, ClientPoolError> {
        Self::of_any(members)
    }

    /// The same for clients that fill the tables of a suite file.
    ///
    /// # Errors
    /// As [`ClientPool::start`].
    pub fn of_loaders(
        members: Vec<Member<AnyConnection, Loader>>,
    ) -> Result<Self, ClientPoolError> {
        Self::of_any(members)
    }

    /// The same for clients that fill the table of the vector suite.
    ///
    /// # Errors
    /// As [`ClientPool::start`].
    pub fn of_vector_loaders(
        members: Vec<Member<AnyConnection, VectorLoader>>,
    ) -> Result<Self, ClientPoolError> {
        Self::of_any(members)
    }

    /// The same for clients that search for vectors.
    ///
    /// # Errors
    /// As [`ClientPool::start`].
    pub fn of_searchers(
        members: Vec<Member<AnyConnection, Searcher>>,
    ) -> Result<Self, ClientPoolError> {
        Self::of_any(members)
    }

    fn of_any<W>(members: Vec<Member<AnyConnection, W>>) -> Result<Self, ClientPoolError>
    where
        W: Worker<MysqlConnection> + Worker<PostgresConnection> + Worker<NullConnection> + 'static,
    {
        let (mut mysql, mut postgres, mut null) = (Vec::new(), Vec::new(), Vec::new());
        for Member { connection, worker, cpus, role } in members {
            match connection {
                AnyConnection::Mysql(connection) => {
                    mysql.push(Member { connection, worker, cpus, role });
                }
                AnyConnection::Postgres(connection) => {
                    postgres.push(Member { connection, worker, cpus, role });
                }
                AnyConnection::Null(connection) => {
                    null.push(Member { connection, worker, cpus, role });
                }
            }
        }
        // All clients of a step speak to one server.
        match (mysql.is_empty(), postgres.is_empty()) {
            (false, _) => Self::start(mysql),
            (true, false) => Self::start(postgres),
            (true, true) => Self::start(null),
        }
    }
}
