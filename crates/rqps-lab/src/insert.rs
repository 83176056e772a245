//! The Insert Benchmark on systems that are up.
//!
//! Each step but l.x is cut into blocks, as steps of other suites are. Steps that insert do a fixed
//! amount of work: a block is a fixed part of it, so that block i of one system meets tables as large as
//! block i of another, however long each takes. Several systems take turns; those that wait are stopped.

mod check;
mod clients;
mod cut;
mod index;
mod rounds;
mod tables;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rqps_client::Connection;
use rqps_model::{Dbms, StepOutcome};
use rqps_workload::InsertArgs;
use rqps_workload::insert::{InsertStep, Schema, Work};

use crate::failure::Broken;
use crate::run::Lab;
use crate::seed::{self, shuffled};
use crate::steps::Job;
use crate::system::Up;
use crate::waiting::{Brake, Waiting};

pub(crate) use check::{interrupted, server_failed};
pub(crate) use tables::Tables;

impl Lab<'_> {
    /// The step and arguments of a step of the Insert Benchmark.
    pub(crate) fn insert_job(&self, step_idx: usize) -> Option<(InsertStep, InsertArgs)> {
        match &self.steps[step_idx].job {
            Job::Insert { step, args } => Some((step.clone(), args.clone())),
            Job::File { .. } => None,
        }
    }

    /// Makes the tables of a system anew, empty.
    pub(crate) fn create_insert_tables(
        &mut self,
        step_idx: usize,
        idx: usize,
        up: &mut Up,
    ) -> Result<()> {
        let Some((_, args)) = self.insert_job(step_idx) else { return Ok(()) };
        let schema = self.schema(idx, &args);
        up.make_room((1..=args.tables()).map(Schema::table).collect())?;
        for table in 1..=args.tables() {
            for sql in schema.create_table_sql(table) {
                up.admin.query(&sql).with_context(|| format!("create a table ({sql})"))?;
            }
        }
        self.states[idx].tables =
            Tables { rows: vec![0; args.tables() as usize], are_indexed: false };
        Ok(())
    }

    pub(crate) fn schema(&self, idx: usize, args: &InsertArgs) -> Schema {
        let spec = &self.plan.systems[idx];
        Schema::new(args, spec.dbms, spec.engine, spec.variant.compression)
    }

    /// Carries out a step of the Insert Benchmark on one system or several that take turns. `store`
    /// says whether what is measured is kept: not where tables are only brought back. The servers of `others`
    /// wait throughout.
    pub(crate) fn insert_step(
        &mut self,
        step_idx: usize,
        members: &mut [(usize, &mut Up)],
        (store, others): (bool, Vec<Brake>),
    ) -> Result<(), Broken> {
        let Some((step, _)) = self.insert_job(step_idx) else {
            return Err(Broken::Run(anyhow::anyhow!("not a step of the Insert Benchmark")));
        };
        if let Work::Query { .. } = step.work {
            self.come_to_rest(step_idx, members)?;
        } else {
            members.iter().for_each(|(idx, _)| self.states[*idx].caution.stirred = true);
        }
        if store {
            for (idx, up) in &*members {
                let kept = self.keep_plans(*idx, step_idx, up);
                kept.map_err(|error| self.broken(*idx, error))?;
            }
        }
        if step.work == Work::Load {
            for (idx, up) in &mut *members {
                self.create_insert_tables(step_idx, *idx, up)
                    .map_err(|error| Broken::System(*idx, error))?;
            }
        }
        if step.work != Work::Index {
            self.insert_rounds(step_idx, members, (store, others))?;
            return if step.work == Work::Load { verify_compression(members) } else { Ok(()) };
        }
        let freezers = members.iter().map(|(_, up)| up.freezer()).chain(others).collect();
        let mut waiting = Waiting::new(freezers, false, self.context).map_err(Broken::Run)?;
        let seed = seed::of_step(self.run.seed, step_idx);
        for at in shuffled(members.len(), seed) {
            // A partner failed after this one was done, and the step goes on with both.
            if self.states[members[at].0].tables.are_indexed {
                continue;
            }
            waiting.refresh().and_then(|()| waiting.only(at)).map_err(Broken::Run)?;
            let (idx, up) = &mut members[at];
            // Half of the indexes are of no use to a later attempt.
            up.set_note(None).map_err(Broken::Run)?;
            self.create_indexes(step_idx, (*idx, up), &mut waiting, store)
                .map_err(|error| Broken::System(*idx, error))?;
        }
        drop(waiting);
        // Again: indexes may have been made by writing the table anew.
        verify_compression(members)
    }

    /// Lets servers settle before they are queried, whatever changed their tables, and leaves them alone
    /// for as long as the size of the tables demands: all together, so that none has longer.
    fn come_to_rest(
        &mut self,
        step_idx: usize,
        members: &mut [(usize, &mut Up)],
    ) -> Result<(), Broken> {
        let mut wait = Duration::ZERO;
        for (idx, up) in members {
            if !std::mem::take(&mut self.states[*idx].caution.stirred) {
                continue;
            }
            self.settle(*idx, step_idx, up).map_err(|error| Broken::System(*idx, error))?;
            if let Some((_, args)) = self.insert_job(step_idx) {
                wait = args.wait();
            }
        }
        let until = Instant::now() + wait;
        while Instant::now() < until {
            self.check_interrupt().map_err(Broken::Run)?;
            let left = until.saturating_duration_since(Instant::now());
            #[expect(clippy::disallowed_methods, reason = "a wait is what the benchmark asks for")]
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
        Ok(())
    }

    /// Whether nothing is measured between a step of the Insert Benchmark and the next settling, so that
    /// tables may be read through.
    fn is_before_rest(&self, step_idx: usize) -> bool {
        let next = self.steps.get(step_idx + 1).and_then(|next| match &next.job {
            Job::Insert { step, .. } => Some(step.work),
            Job::File { .. } => None,
        });
        !matches!(next, Some(Work::Index | Work::Churn { .. }))
    }

    /// What came of the checks: a step that failed one has no figure.
    pub(crate) fn judged(&self, step_idx: usize, idx: usize, outcome: StepOutcome) -> StepOutcome {
        let checks = &self.run.steps[step_idx].systems[idx].checks;
        let failed: Vec<String> = checks
            .iter()
            .filter(|check| !check.passed)
            .map(|check| format!("{}: {}", check.name, check.found))
            .collect();
        if outcome == StepOutcome::Done && !failed.is_empty() {
            let reason = format!("the run is not sound: {}", failed.join("; "));
            return StepOutcome::Failed { reason };
        }
        outcome
    }
}

/// Checks that the tables of every system are compressed as its plan asks.
fn verify_compression(members: &mut [(usize, &mut Up)]) -> Result<(), Broken> {
    for (idx, up) in members {
        up.verify_compression().map_err(|error| Broken::System(*idx, error))?;
    }
    Ok(())
}

/// Sets the sequence of a table's ids back to the last one. A session of PostgreSQL draws ids by the
/// thousand and loses those that it has not used: without this every step would leave a hole.
fn reset_sequence(connection: &mut dyn Connection, table: u32, dbms: Dbms) -> Result<()> {
    if dbms != Dbms::Postgres {
        return Ok(());
    }
    let name = Schema::table(table);
    let sql = format!(
        "SELECT setval('{name}_transactionid_seq', (SELECT COALESCE(MAX(transactionid), 1) FROM \
         {name}), (SELECT COUNT(*) > 0 FROM (SELECT 1 FROM {name} LIMIT 1) AS t))"
    );
    connection.query(&sql).with_context(|| sql.clone())?;
    Ok(())
}

/// Smallest and largest id of a table; 1 and 0 for an empty one.
fn ids_of(connection: &mut dyn Connection, table: u32, dbms: Dbms) -> Result<(u64, u64)> {
    if dbms == Dbms::Null {
        return Ok((1, 1_000_000));
    }
    let sql = Schema::ids_sql(table);
    let result = connection.query(&sql).with_context(|| sql.clone())?;
    let row = result.rows.first();
    let text = |column: usize| row.and_then(|row| row.get(column)?.as_deref());
    match (text(0), text(1)) {
        (None, None) => Ok((1, 0)),
        (Some(min), Some(max)) => match (min.parse(), max.parse()) {
            (Ok(min), Ok(max)) => Ok((min, max)),
            _ => bail!("{sql}: {min}, {max} are no ids"),
        },
        _ => bail!("{sql}: half an answer"),
    }
}
