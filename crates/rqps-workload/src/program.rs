//! A step compiled for one DBMS and one set of arguments: what all of its clients share.

use std::sync::Arc;

use rqps_client::{ParamType, Protocol};
use rqps_model::{Dbms, Figure};

use crate::dialect::dialect;
use crate::distribution::Sampler;
use crate::statement::{Expect, Source, Statement, TableChoice, Verb, table_name};
use crate::step::Step;
use crate::{SuiteArgs, SuiteError};

/// How events begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    /// Not at all: each statement is a transaction of its own.
    None,
    /// BEGIN and COMMIT as text.
    Text,
    /// BEGIN and COMMIT as prepared statements.
    Prepared,
}

/// What is checked about the rows of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing.
    None,
    /// From the first to the second number.
    Between(u64, u64),
    /// A range of so many ids from the id drawn last: all of them, or, where it reaches beyond the
    /// last row, at least those up to it (rows inserted later may follow).
    Range(u64),
}

/// One statement, for every table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompiledStatement {
    /// SQL per table, table 1 first.
    pub sql: Vec<String>,
    pub types: Vec<ParamType>,
    pub protocol: Protocol,
    pub sources: Vec<Source>,
    /// Whether it goes to the table of the statement before, to a random one, or to the client's.
    pub table: TableRule,
    pub check: Check,
    /// Whether the check is on rows changed instead of rows received.
    pub writes: bool,
    /// What the null client answers.
    pub null_rows: u64,
}

/// Which table a compiled statement goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableRule {
    Random,
    Same,
    Client,
}

/// A step compiled for one DBMS.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub(crate) bracket: Bracket,
    pub(crate) statements: Vec<CompiledStatement>,
    /// Index of a statement, and how often it runs in a row.
    pub(crate) event: Vec<(usize, u32)>,
    pub(crate) sampler: Sampler,
    pub(crate) tables: u32,
    /// Rows of a table, whatever ids are drawn from.
    pub(crate) rows: u64,
    pub(crate) n: u64,
    /// Sets the random streams of steps apart.
    pub(crate) salt: u64,
    operations_per_statement: u64,
}

impl Program {
    /// The same without checks of row counts: for tables from which later steps have deleted rows.
    #[must_use]
    pub fn without_checks(&self) -> Arc<Self> {
        let mut program = self.clone();
        for statement in &mut program.statements {
            statement.check = Check::None;
        }
        Arc::new(program)
    }

    /// Compiles a step. Each statement is compiled once, however often the event has it.
    ///
    /// # Errors
    /// For the load, which has no events, and when an id plus n leaves the range of the column.
    pub fn compile(step: &Step, args: &SuiteArgs, dbms: Dbms) -> Result<Arc<Self>, SuiteError> {
        args.check()?;
        if step.event.is_empty() {
            return Err(SuiteError::NoEvents { step: step.name.clone() });
        }
        let n = step.n.unwrap_or(1);
        if args.rows + u64::from(n) > i32::MAX as u64 {
            return Err(SuiteError::Argument {
                key: "rows",
                value: args.rows.to_string(),
                remedy: format!(
                    "{} allows at most {} rows",
                    step.name,
                    i32::MAX as u64 - u64::from(n)
                ),
            });
        }
        let mut names: Vec<&str> = Vec::new();
        let mut statements = Vec::new();
        let mut event = Vec::new();
        for part in &step.event {
            let statement = part.statement.as_ref();
            let known = names.iter().position(|name| *name == statement.name);
            let idx = known.unwrap_or_else(|| {
                names.push(&statement.name);
                statements.push(compile_statement(statement, step, args, dbms));
                statements.len() - 1
            });
            event.push((idx, part.times));
        }
        let bracket = match (step.is_transaction(args), args.protocol) {
            (false, _) => Bracket::None,
            (true, Protocol::Prepared) if dialect(dbms).prepares_brackets => Bracket::Prepared,
            (true, _) => Bracket::Text,
        };
        Ok(Arc::new(Self {
            bracket,
            statements,
            event,
            sampler: Sampler::new(step.distribution(args), step.rows(args)),
            tables: args.tables,
            rows: args.rows,
            n: u64::from(n),
            salt: salt(&step.name),
            operations_per_statement: if step.figure == Figure::RowsRead { args.rows } else { 1 },
        }))
    }

    /// Operations in one answered statement: 1, or the rows of a table where rows read are counted.
    #[must_use]
    pub fn operations_per_statement(&self) -> u64 {
        self.operations_per_statement
    }

    /// Statements in one event, BEGIN and COMMIT included.
    #[must_use]
    pub fn statements_per_event(&self) -> u32 {
        let bracket = if self.bracket == Bracket::None { 0 } else { 2 };
        bracket + self.event.iter().map(|(_, times)| times).sum::<u32>()
    }

    /// The SQL of an event on table 1, in order, BEGIN and COMMIT included, for people to read.
    #[must_use]
    pub fn event_sql(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let bracket = |word: &str| match self.bracket {
            Bracket::None => None,
            Bracket::Text => Some(format!("text     {word}")),
            Bracket::Prepared => Some(format!("prepared {word}")),
        };
        lines.extend(bracket("BEGIN"));
        for &(idx, times) in &self.event {
            let statement = &self.statements[idx];
            let how = match statement.protocol {
                Protocol::Prepared => "prepared",
                Protocol::Text => "text    ",
            };
            let times = if times > 1 { format!("{times} x ") } else { String::new() };
            lines.push(format!("{how} {times}{}", statement.sql[0]));
        }
        lines.extend(bracket("COMMIT"));
        lines
    }
}

/// FNV-1a of a step's name.
///
/// Without it, steps that run with one seed would draw the same strings for the same ids, and MySQL
/// does not write an update that changes nothing.
fn salt(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn compile_statement(
    statement: &Statement,
    step: &Step,
    args: &SuiteArgs,
    dbms: Dbms,
) -> CompiledStatement {
    let n = step.n.unwrap_or(1);
    let list = vec!["?"; n as usize].join(", ");
    let template = statement.sql_for(dbms).replace("{list}", &list);
    let sql = (1..=args.tables).map(|t| template.replace("{table}", &table_name(t))).collect();
    let types = statement.params.iter().flat_map(|source| {
        let of_one = match source {
            Source::C | Source::Pad => ParamType::Text,
            _ => ParamType::Int,
        };
        std::iter::repeat_n(of_one, if source.is_list() { n as usize } else { 1 })
    });
    let writes = statement.verb != Verb::Select;
    let n_ids = statement.n_ids(n).unwrap_or(u64::from(n));
    // Rows that another client is about to delete and put back are not there to be changed.
    let is_known = step.is_whole(args) && !(writes && step.deletes());
    CompiledStatement {
        sql,
        types: types.collect(),
        protocol: if statement.always_text { Protocol::Text } else { args.protocol },
        sources: statement.params.clone(),
        table: if statement.params.contains(&Source::SameId) {
            TableRule::Same
        } else if statement.table == TableChoice::Client {
            TableRule::Client
        } else {
            TableRule::Random
        },
        check: if is_known { check(statement, n_ids, args) } else { Check::None },
        writes,
        null_rows: match statement.expect {
            _ if writes => 0,
            Expect::None => 0,
            Expect::One => 1,
            Expect::Range | Expect::OneToN | Expect::Any => n_ids,
        },
    }
}

fn check(statement: &Statement, n_ids: u64, args: &SuiteArgs) -> Check {
    match statement.expect {
        Expect::Any => Check::None,
        Expect::None => Check::Between(0, 0),
        Expect::One => Check::Between(1, 1),
        Expect::OneToN => Check::Between(1, n_ids),
        // The hot ids are always the same, so their number is known beforehand.
        Expect::Range if statement.params.contains(&Source::HotIds) => {
            Check::Between(n_ids.min(args.rows - args.rows / 2), n_ids)
        }
        // An in-list of fresh ids has no range; ids may repeat in it.
        Expect::Range if statement.params.contains(&Source::Ids) => Check::Between(1, n_ids),
        Expect::Range => Check::Range(n_ids),
    }
}
