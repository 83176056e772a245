//! A connection for tests that records what it is told and answers as it is told.

use std::collections::VecDeque;
use std::time::Duration;

use rqps_client::{
    Breaker, Connection, Error, Outcome, Params, Pipeline, Protocol, ResultSet, ServerError,
    Session, StatementId, StatementSpec, Value,
};

/// Records statements as text, parameters in brackets.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) prepared: Vec<(String, Protocol, u64)>,
    pub(crate) log: Vec<String>,
    /// Rows changed that every execution reports; rows received are those of the statement.
    pub(crate) affected: u64,
    /// Taken from the rows received.
    pub(crate) missing_rows: u64,
    /// Errors to answer with before anything else.
    pub(crate) failures: Vec<ServerError>,
    /// Answers to statements that were sent ahead.
    pub(crate) due: VecDeque<Result<Outcome, Error>>,
    /// What every query answers.
    pub(crate) scalar: Option<String>,
    pub(crate) session: Session,
}

impl Recorder {
    /// One that looks like a server's connection and changes one row with every statement.
    pub(crate) fn server() -> Self {
        let session = Session { transport: "socket".to_owned(), ..Session::default() };
        Self { affected: 1, session, ..Self::default() }
    }

    fn answer(&mut self, line: String, rows: u64) -> Result<Outcome, Error> {
        self.log.push(line);
        match self.failures.pop() {
            Some(error) => Err(error.into()),
            None => Ok(Outcome { rows, affected: self.affected }),
        }
    }
}

impl Connection for Recorder {
    fn prepare(&mut self, spec: &StatementSpec<'_>) -> Result<StatementId, Error> {
        assert_eq!(spec.sql.matches('?').count(), spec.params.len(), "{}", spec.sql);
        self.prepared.push((spec.sql.to_owned(), spec.protocol, spec.null_rows));
        Ok(StatementId(u32::try_from(self.prepared.len() - 1).unwrap()))
    }

    fn execute(&mut self, statement: StatementId, params: &Params) -> Result<Outcome, Error> {
        let (sql, _, rows) = self.prepared[statement.0 as usize].clone();
        let mut line = sql;
        for value in params.values() {
            let text = match *value {
                Value::Int(number) => number.to_string(),
                Value::Null => "NULL".to_owned(),
                Value::Text { start, end } => {
                    String::from_utf8(params.text(start, end).to_vec()).unwrap()
                }
            };
            line.push_str(&format!(" [{text}]"));
        }
        self.answer(line, rows.saturating_sub(self.missing_rows))
    }

    fn execute_text(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        self.answer(String::from_utf8(sql.to_vec()).unwrap(), 0)
    }

    fn query(&mut self, sql: &str) -> Result<ResultSet, Error> {
        self.log.push(sql.to_owned());
        let rows = self.scalar.iter().map(|text| vec![Some(text.clone())]).collect();
        Ok(ResultSet { rows, ..ResultSet::default() })
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_timeout(&mut self, _timeout: Option<Duration>) -> Result<(), Error> {
        Ok(())
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(Breaker::Null)
    }
}

impl Pipeline for Recorder {
    fn send(&mut self, statement: StatementId, params: &Params) -> Result<(), Error> {
        let answer = self.execute(statement, params);
        self.due.push_back(answer);
        Ok(())
    }

    fn send_text(&mut self, sql: &[u8]) -> Result<(), Error> {
        let answer = self.execute_text(sql);
        self.due.push_back(answer);
        Ok(())
    }

    fn await_answer(&mut self, _at_most: Duration) -> Result<bool, Error> {
        Ok(!self.due.is_empty())
    }

    fn answer(&mut self) -> Result<Outcome, Error> {
        self.due.pop_front().expect("an answer is due")
    }
}
