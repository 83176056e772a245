//! What scripts need beyond a workload. See [`ScriptConnection`].

use super::{Place, PostgresConnection, id_of, name_of, unknown, usage};
use crate::script::{Row, ScriptConnection, not_kept};
use crate::wire::postgres::encode;
use crate::wire::postgres::rows::RowCursor;
use crate::{Error, ParamType, Protocol, StatementId, StatementSpec};

const FETCHING: &str = "fetching a row";

impl PostgresConnection {
    fn place(&mut self, statement: StatementId) -> Result<&mut Place, Error> {
        self.statements.get_mut(statement.0 as usize).ok_or_else(|| unknown(statement))
    }

    fn close_on_server(&mut self, statement: StatementId) -> Result<(), Error> {
        self.scratch.clear();
        encode::close(&mut self.scratch, &name_of(statement.0 as usize))
            .map_err(|violation| usage(b"", &violation))?;
        encode::sync(&mut self.scratch);
        self.channel.exchange(&self.scratch, "closing a statement").map(drop)
    }

    /// Prepares the statement of a place, whose name the server does not know.
    fn declare_free(
        &mut self,
        statement: StatementId,
        sql: &str,
        params: &[ParamType],
    ) -> Result<(), Error> {
        let spec = StatementSpec { sql, params, protocol: Protocol::Prepared, null_rows: 0 };
        let ready = self.prepare_as(statement.0 as usize, &spec)?;
        *self.place(statement)? = Place::Ready(ready);
        Ok(())
    }
}

impl ScriptConnection for PostgresConnection {
    fn open_statement(&mut self, sql: &str) -> Result<StatementId, Error> {
        let free = self.statements.iter().position(|place| matches!(place, Place::Free));
        let idx = free.unwrap_or_else(|| {
            self.statements.push(Place::Free);
            self.statements.len() - 1
        });
        let statement = id_of(idx);
        if sql.contains('?') {
            *self.place(statement)? = Place::Open(sql.into());
        } else {
            self.declare_free(statement, sql, &[])?;
        }
        Ok(statement)
    }

    fn declare(&mut self, statement: StatementId, params: &[ParamType]) -> Result<(), Error> {
        let sql = match self.place(statement)? {
            Place::Open(sql) => sql.to_string(),
            Place::Ready(ready) if ready.types() == params => return Ok(()),
            Place::Ready(ready) => {
                let sql = ready.sql().to_owned();
                self.close_on_server(statement)?;
                sql
            }
            Place::Free => return Err(unknown(statement)),
        };
        self.declare_free(statement, &sql, params)
    }

    fn forget(&mut self, statement: StatementId) -> Result<(), Error> {
        match std::mem::replace(self.place(statement)?, Place::Free) {
            Place::Ready(_) => self.close_on_server(statement),
            Place::Open(_) | Place::Free => Ok(()),
        }
    }

    fn keep_answers(&mut self, keep: bool) {
        self.channel.set_keep(keep);
    }

    #[inline]
    fn had_result(&self) -> bool {
        self.channel.had_result()
    }

    fn n_columns(&mut self) -> Result<usize, Error> {
        let answer = self.channel.kept().ok_or_else(not_kept)?;
        RowCursor::n_columns(answer).map_err(|violation| protocol(&violation.0))
    }

    fn fetch_row(&mut self, row: &mut Row) -> Result<bool, Error> {
        let answer = self.channel.kept().ok_or_else(not_kept)?;
        self.cursor.next_row(answer, row).map_err(|violation| protocol(&violation.0))
    }
}

#[cold]
fn protocol(detail: &str) -> Error {
    Error::Protocol { doing: FETCHING, detail: detail.to_owned() }
}
