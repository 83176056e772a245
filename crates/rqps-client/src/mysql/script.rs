//! What scripts need beyond a workload. See [`ScriptConnection`].

use super::{EXECUTING, MysqlConnection, Travel, unknown, usage};
use crate::script::{Row, ScriptConnection, not_kept};
use crate::wire::mysql::execute::Execute;
use crate::wire::mysql::literal::TextStatement;
use crate::{Error, ParamType, StatementId};

/// `ER_UNSUPPORTED_PS`: the statement cannot be prepared, such as BEGIN in MySQL.
const NOT_PREPARABLE: u16 = 1295;

impl MysqlConnection {
    fn travel(&mut self, statement: StatementId) -> Result<(&str, &mut Travel), Error> {
        match self.statements.get_mut(statement.0 as usize) {
            Some(found) => Ok((&found.sql, &mut found.travel)),
            None => Err(unknown(statement)),
        }
    }
}

impl ScriptConnection for MysqlConnection {
    fn open_statement(&mut self, sql: &str) -> Result<StatementId, Error> {
        let travel = match self.ask_to_prepare(sql) {
            Ok(prepared) if prepared.n_params == 0 => {
                Travel::Prepared(Execute::new(prepared.statement, &[]))
            }
            Ok(prepared) => Travel::Open(prepared),
            Err(Error::Server(error)) if error.errno == NOT_PREPARABLE => {
                TextStatement::new(sql, &[]).map_or(Travel::OpenText, Travel::Text)
            }
            Err(error) => return Err(error),
        };
        self.add(sql, travel)
    }

    fn declare(&mut self, statement: StatementId, params: &[ParamType]) -> Result<(), Error> {
        let (sql, travel) = self.travel(statement)?;
        let n_params = params.len();
        let mismatch =
            |has: usize| usage(sql, format!("it has {has} parameters but {n_params} are bound"));
        let declared = match travel {
            Travel::Open(prepared) if usize::from(prepared.n_params) == n_params => {
                Travel::Prepared(Execute::new(prepared.statement, params))
            }
            Travel::Open(prepared) => return Err(mismatch(prepared.n_params.into())),
            Travel::Prepared(execute) if execute.n_params() == n_params => {
                Travel::Prepared(Execute::new(execute.statement(), params))
            }
            Travel::Prepared(execute) => return Err(mismatch(execute.n_params())),
            Travel::Text(_) | Travel::OpenText => {
                Travel::Text(TextStatement::new(sql, params).map_err(|detail| usage(sql, detail))?)
            }
            Travel::Nothing => return Err(usage(sql, "it was closed".to_owned())),
        };
        *travel = declared;
        Ok(())
    }

    fn forget(&mut self, statement: StatementId) -> Result<(), Error> {
        let (_, travel) = self.travel(statement)?;
        let on_server = match travel {
            Travel::Open(prepared) => Some(prepared.statement),
            Travel::Prepared(execute) => Some(execute.statement()),
            Travel::Text(_) | Travel::OpenText | Travel::Nothing => None,
        };
        *travel = Travel::Nothing;
        on_server.map_or(Ok(()), |number| self.close_on_server(number))
    }

    fn keep_answers(&mut self, keep: bool) {
        self.link.set_keep(keep);
    }

    #[inline]
    fn had_result(&self) -> bool {
        self.link.had_result()
    }

    fn n_columns(&mut self) -> Result<usize, Error> {
        let answer = self.link.kept().ok_or_else(not_kept)?;
        let parsed = self.cursor.n_columns(answer);
        self.link.judge(parsed, EXECUTING)
    }

    fn fetch_row(&mut self, row: &mut Row) -> Result<bool, Error> {
        let answer = self.link.kept().ok_or_else(not_kept)?;
        let parsed = self.cursor.next_row(answer, row);
        self.link.judge(parsed, EXECUTING)
    }
}
