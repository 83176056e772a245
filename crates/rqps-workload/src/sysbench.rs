//! HOT PATH: the events of a compiled step on one connection. Budget: 20 ns for a point query beside
//! the client's own work, no allocation after the first event.

mod probe;

use std::sync::Arc;

use rqps_client::{Connection, Outcome, ParamType, Params, Protocol, StatementId, StatementSpec};

use crate::digits::{push_c, push_pad};
use crate::program::{Bracket, Check, CompiledStatement, Program, TableRule};
use crate::random::Rng;
use crate::statement::Source;
use crate::worker::{EventError, Worker};

/// One client thread's state in a step.
#[derive(Debug)]
pub struct SysbenchWorker {
    program: Arc<Program>,
    /// Statement s on table t (from 0) is at `s * tables + t`.
    ids: Vec<StatementId>,
    begin_commit: Option<(StatementId, StatementId)>,
    client_idx: u32,
    state: Draws,
    params: Params,
    /// Whether answers are a server's. The null client says how many rows it was told to say, and
    /// never that it changed one.
    is_real: bool,
}

/// What was drawn last.
#[derive(Debug)]
struct Draws {
    rng: Rng,
    /// Table, from 0.
    table_idx: u32,
    id: u64,
    k: u64,
}

impl SysbenchWorker {
    /// Prepares every statement on every table. Client i (from 0) draws from stream i of `seed` and
    /// the step's name.
    ///
    /// The same seed gives the same events and the same strings. A step that writes must therefore
    /// never run twice with one seed on the same data, warm-up and slice, or slice and repeated
    /// slice: its updates would change nothing, MySQL would not write them, and the check of changed
    /// rows ends the second run.
    ///
    /// # Errors
    /// When the server refuses a statement, or the connection is lost.
    pub fn new<C: Connection>(
        program: Arc<Program>,
        connection: &mut C,
        client_idx: u32,
        seed: u64,
    ) -> Result<Self, EventError> {
        let mut ids = Vec::with_capacity(program.statements.len() * program.tables as usize);
        for statement in &program.statements {
            for sql in &statement.sql {
                ids.push(connection.prepare(&StatementSpec {
                    sql,
                    params: &statement.types,
                    protocol: statement.protocol,
                    null_rows: statement.null_rows,
                })?);
            }
        }
        let mut bare = |sql: &str| {
            connection.prepare(&StatementSpec {
                sql,
                params: &[] as &[ParamType],
                protocol: Protocol::Prepared,
                null_rows: 0,
            })
        };
        let begin_commit = match program.bracket {
            Bracket::Prepared => Some((bare("BEGIN")?, bare("COMMIT")?)),
            Bracket::None | Bracket::Text => None,
        };
        let is_real = !matches!(connection.session().transport.as_str(), "" | "null");
        let state = Draws::new(&program, seed, client_idx);
        Ok(Self { program, ids, begin_commit, client_idx, state, params: Params::new(), is_real })
    }
}

impl<C: Connection> Worker<C> for SysbenchWorker {
    #[inline]
    fn event(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        let Self { program, ids, params, state, .. } = self;
        let program: &Program = program;
        match (program.bracket, self.begin_commit) {
            (Bracket::None, _) => {}
            (_, Some((begin, _))) => {
                params.clear();
                answered(connection.execute(begin, params)?);
            }
            (_, None) => answered(connection.execute_text(b"BEGIN")?),
        }
        for &(idx, times) in &program.event {
            let statement = &program.statements[idx];
            for _ in 0..times {
                match statement.table {
                    TableRule::Random if program.tables == 1 => {}
                    TableRule::Random => state.table_idx = state.draw_table(program.tables),
                    TableRule::Client => state.table_idx = self.client_idx % program.tables,
                    TableRule::Same => {}
                }
                params.clear();
                for source in &statement.sources {
                    state.push(*source, program, params);
                }
                let at = idx * program.tables as usize + state.table_idx as usize;
                let outcome = connection.execute(ids[at], params)?;
                if !holds(statement, outcome, state.id, program.rows)
                    && (self.is_real || !statement.writes)
                {
                    return Err(wrong_rows(statement, outcome, state, program.rows));
                }
                answered(outcome);
            }
        }
        match (program.bracket, self.begin_commit) {
            (Bracket::None, _) => {}
            (_, Some((_, commit))) => {
                params.clear();
                answered(connection.execute(commit, params)?);
            }
            (_, None) => answered(connection.execute_text(b"COMMIT")?),
        }
        Ok(())
    }

    /// Outside transactions the server has rolled the failed statement back already.
    fn roll_back(&mut self, connection: &mut C) -> Result<(), EventError> {
        if self.program.bracket != Bracket::None {
            connection.execute_text(b"ROLLBACK")?;
        }
        Ok(())
    }

    fn reseed(&mut self, seed: u64) {
        self.state = Draws::new(&self.program, seed, self.client_idx);
    }

    fn operations_per_statement(&self) -> u64 {
        self.program.operations_per_statement()
    }
}

impl Draws {
    fn new(program: &Program, seed: u64, client_idx: u32) -> Self {
        let rng = Rng::stream(seed.wrapping_add(program.salt), client_idx.into());
        Self { rng, table_idx: 0, id: 1, k: 1 }
    }

    #[inline]
    fn draw_table(&mut self, tables: u32) -> u32 {
        // A number below a u32 is one.
        u32::try_from(self.rng.below(tables.into())).unwrap_or(0)
    }

    #[inline]
    fn push(&mut self, source: Source, program: &Program, params: &mut Params) {
        let Self { rng, id, k, .. } = self;
        match source {
            Source::Id => {
                *id = program.sampler.draw(rng);
                params.push_int(id.cast_signed());
            }
            Source::SameId => params.push_int(id.cast_signed()),
            Source::IdPlusNLess1 => params.push_int((*id + program.n - 1).cast_signed()),
            Source::IdPlusN => params.push_int((*id + program.n).cast_signed()),
            Source::K => {
                *k = program.sampler.draw(rng);
                params.push_int(k.cast_signed());
            }
            Source::KPlusN => params.push_int((*k + program.n).cast_signed()),
            Source::Ids | Source::Ks => {
                for _ in 0..program.n {
                    params.push_int(program.sampler.draw(rng).cast_signed());
                }
            }
            Source::HotIds => {
                let first = program.rows / 2 + 1;
                for id in first..first + program.n {
                    params.push_int(id.cast_signed());
                }
            }
            Source::C => params.push_text(|out| push_c(rng, out)),
            Source::Pad => params.push_text(|out| push_pad(rng, out)),
        }
    }
}

/// The fewest and most rows that a statement may give.
#[inline]
fn bounds(statement: &CompiledStatement, id: u64, rows: u64) -> (u64, u64) {
    match statement.check {
        Check::None => (0, u64::MAX),
        Check::Between(least, most) => (least, most),
        Check::Range(n) => (n.min((rows + 1).saturating_sub(id)), n),
    }
}

#[inline]
fn given(statement: &CompiledStatement, outcome: Outcome) -> u64 {
    if statement.writes { outcome.affected } else { outcome.rows }
}

#[inline]
fn holds(statement: &CompiledStatement, outcome: Outcome, id: u64, rows: u64) -> bool {
    let (least, most) = bounds(statement, id, rows);
    (least..=most).contains(&given(statement, outcome))
}

#[cold]
fn wrong_rows(
    statement: &CompiledStatement,
    outcome: Outcome,
    state: &Draws,
    rows: u64,
) -> EventError {
    let (least, most) = bounds(statement, state.id, rows);
    EventError::WrongRows {
        statement: statement.sql[state.table_idx as usize].clone(),
        expected: if least == most { least.to_string() } else { format!("{least} to {most}") },
        got: given(statement, outcome),
    }
}

#[cfg(test)]
mod tests;
