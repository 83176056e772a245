//! A server: what its connections share, and how each of them gets its answers.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Family;
use crate::answer::{Answer, Failure};
use crate::config::CommandLine;
use crate::faults::{Fate, Faults};
use crate::log::Log;
use crate::settings::{Settings, settings};
use crate::statement::{Statement, Value};
use crate::store::{Store, Transaction};

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) family: Family,
    pub(crate) version: String,
    pub(crate) log: Log,
    pub(crate) store: Store,
    pub(crate) faults: std::sync::Arc<Faults>,
    settings: Mutex<Settings>,
    /// Statements that were answered.
    pub(crate) n_answered: AtomicU64,
    n_connections: AtomicU32,
    next_id: AtomicU32,
}

/// What a connection has of its own.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: u32,
    /// Its thread.
    pub(crate) tid: i32,
    transaction: Transaction,
    generation: u64,
    /// What `PREPARE` has prepared, by name.
    pub(crate) prepared: BTreeMap<String, String>,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// An error for the client.
    Failure(Failure),
    /// The connection is to be closed.
    Ended,
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// What a family's server says of itself.
pub(crate) type Questions = fn(&Server, &mut Session, &str) -> Result<Answer, Failure>;

impl Server {
    /// A server on its data.
    pub(crate) fn open(
        version: String,
        line: &CommandLine,
        log: Log,
        faults: std::sync::Arc<Faults>,
    ) -> io::Result<Self> {
        let family = log.family;
        Ok(Self {
            family,
            version,
            log,
            store: Store::open(&tables_dir(family, &line.data_dir))?,
            faults,
            settings: Mutex::new(settings(family, line)),
            n_answered: AtomicU64::new(0),
            n_connections: AtomicU32::new(0),
            next_id: AtomicU32::new(1),
        })
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a connection, on the thread that serves it.
    pub(crate) fn enter(&self) -> Session {
        self.n_connections.fetch_add(1, Ordering::Relaxed);
        Session {
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
            tid: nix::unistd::gettid().as_raw(),
            transaction: Transaction::default(),
            generation: self.faults.generation(),
            prepared: BTreeMap::new(),
        }
    }

    pub(crate) fn leave(&self) {
        self.n_connections.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn n_connections(&self) -> u32 {
        self.n_connections.load(Ordering::Relaxed)
    }

    /// Answers a statement that came as text; `questions` answers what is no statement on the tables.
    pub(crate) fn ask(
        &self,
        session: &mut Session,
        sql: &str,
        questions: Questions,
    ) -> Result<Answer, Trouble> {
        match Statement::parse(sql) {
            Some(statement) => self.execute(session, sql, &statement, &[]),
            None => {
                let fate = self.meet(session, sql)?;
                if fate == Fate::DiskFull && is_write(sql) {
                    return Err(self.full(sql).into());
                }
                let answer = questions(self, session, sql);
                Ok(answer.inspect_err(|failure| self.log.error(&failure.text))?)
            }
        }
    }

    /// Reads a statement that is to be executed with values later.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement, Failure> {
        Statement::parse(sql).ok_or_else(|| Failure::unknown(sql))
    }

    /// Executes a statement on the tables.
    pub(crate) fn execute(
        &self,
        session: &mut Session,
        sql: &str,
        statement: &Statement,
        params: &[Value],
    ) -> Result<Answer, Trouble> {
        if self.meet(session, sql)? == Fate::DiskFull && is_write(sql) {
            return Err(self.full(sql).into());
        }
        let answer = self.store.run(statement, params, &mut session.transaction);
        let answer = answer.inspect_err(|failure| self.log.error(&failure.text))?;
        Ok(match self.faults.wrong_rows() {
            0 => answer,
            by => falsified(answer, by),
        })
    }

    /// Whether prepared statements are lost.
    pub(crate) fn loses_statements(&self) -> bool {
        self.faults.loses_statements()
    }

    /// Whether a transaction is open.
    pub(crate) fn in_transaction(session: &Session) -> bool {
        session.transaction.is_open
    }

    fn meet(&self, session: &mut Session, sql: &str) -> Result<Fate, Trouble> {
        let fate = self.faults.at_statement(sql);
        if fate == Fate::EndConnection || session.generation != self.faults.generation() {
            return Err(Trouble::Ended);
        }
        self.n_answered.fetch_add(1, Ordering::Relaxed);
        Ok(fate)
    }

    fn full(&self, sql: &str) -> Failure {
        let mut words = sql.split_whitespace();
        let is_update = words.next().is_some_and(|word| word.eq_ignore_ascii_case("update"));
        let name = words.nth(usize::from(!is_update)).unwrap_or_default();
        let failure = Failure::disk_full(name);
        self.log.error(&failure.text);
        failure
    }
}

/// Where a server keeps its tables: MySQL's family in the directory of the database.
pub(crate) fn tables_dir(family: Family, data_dir: &std::path::Path) -> std::path::PathBuf {
    data_dir.join(if family == Family::Postgres { "base" } else { "rqps" })
}

fn is_write(sql: &str) -> bool {
    let word = sql.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    matches!(word.as_str(), "insert" | "update" | "delete" | "create" | "alter" | "vacuum")
}

/// An answer with so many rows more or less.
fn falsified(answer: Answer, by: i64) -> Answer {
    match answer {
        Answer::Done(name @ ("INSERT" | "UPDATE" | "DELETE"), n) => {
            Answer::Done(name, n.saturating_add_signed(by))
        }
        Answer::Done(name, n) => Answer::Done(name, n),
        Answer::Rows(mut rows) if rows.columns == ["count"] => {
            for cell in rows.rows.iter_mut().flatten().flatten() {
                let n: i64 = cell.parse().unwrap_or(0);
                *cell = (n + by).max(0).to_string();
            }
            Answer::Rows(rows)
        }
        Answer::Rows(mut rows) => {
            let n = rows.rows.len().saturating_add_signed(isize::try_from(by).unwrap_or(0));
            let row = vec![Some("0".to_owned()); rows.columns.len()];
            rows.rows.resize(n, row);
            Answer::Rows(rows)
        }
    }
}
