//! A server for tests that answers questions by how they begin, and writes down what it was asked.

use std::time::Duration;

use rqps_client::{
    Breaker, Connection, Error, Outcome, Params, ResultSet, Session, StatementId, StatementSpec,
};

/// A connection that answers as it was told.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fake {
    answers: Vec<(String, Vec<Vec<String>>)>,
    /// What it was asked, in order.
    pub(crate) asked: Vec<String>,
    session: Session,
}

impl Fake {
    /// The same with rows for questions that begin so, in place of earlier ones.
    pub(crate) fn answering(mut self, question: &str, rows: Vec<Vec<String>>) -> Self {
        self.answers.push((question.to_owned(), rows));
        self
    }
}

impl Connection for Fake {
    fn prepare(&mut self, _: &StatementSpec<'_>) -> Result<StatementId, Error> {
        Ok(StatementId(0))
    }
    fn execute(&mut self, _: StatementId, _: &Params) -> Result<Outcome, Error> {
        Ok(Outcome::default())
    }
    fn execute_text(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        self.asked.push(String::from_utf8_lossy(sql).into_owned());
        Ok(Outcome::default())
    }
    fn query(&mut self, sql: &str) -> Result<ResultSet, Error> {
        let answer = self.answers.iter().rfind(|(question, _)| sql.starts_with(question));
        let rows = answer.map(|(_, rows)| rows.clone()).unwrap_or_default();
        if answer.is_none() || sql.starts_with("SHOW") {
            self.asked.push(sql.to_owned());
        }
        let rows = rows.into_iter().map(|row| row.into_iter().map(Some).collect()).collect();
        Ok(ResultSet { rows, ..ResultSet::default() })
    }
    fn session(&self) -> &Session {
        &self.session
    }
    fn set_timeout(&mut self, _: Option<Duration>) -> Result<(), Error> {
        Ok(())
    }
    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(Breaker::Null)
    }
}
