//! Whether a step of the Insert Benchmark did what it says: rows fetched, rows there, the gap between
//! inserters and deleters.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use rqps_model::{Check, Figure, StepIdx};
use rqps_workload::insert::{MAX_GAP, Pair, Schema, Work};

use crate::journal::Journal;
use crate::plan::steps::PlannedStep;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// Rows that a query fetches.
const ROWS_PER_QUERY: f64 = 10.0;

/// The least mean of them that a sound run has: ids that are drawn for one query may meet, by chance
/// one in ten thousand even of small tables; one range query in 3000 begins above the last register.
const LEAST_ROWS_PER_QUERY: f64 = 9.98;

/// Rows that may be missing of few queries as well: three of them that find none.
const ROWS_BY_CHANCE: f64 = 30.0;

/// Whether queries fetched the rows that they should.
fn is_sound(n_rows: u64, n_queries: u64) -> bool {
    let (rows, queries) = (n_rows as f64, n_queries as f64);
    rows <= ROWS_PER_QUERY * queries && rows >= LEAST_ROWS_PER_QUERY * queries - ROWS_BY_CHANCE
}

/// Checks a step on one system after its clients have ended.
pub(super) fn check_step(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
    pairs: &[Arc<Pair>],
) -> Result<Vec<Check>> {
    let planned = run.step(step);
    let Some((work, args)) = planned.of_insert() else { return Ok(Vec::new()) };
    let mut checks = Vec::new();
    let slices = &journal.cell(step, member.idx()).slices;
    if planned.info.figure == Figure::Queries {
        let (n_rows, n_queries) = slices
            .iter()
            .fold((0, 0), |(rows, queries), s| (rows + s.n_rows, queries + s.n_queries));
        if n_queries > 0 {
            let mean = n_rows as f64 / n_queries as f64;
            checks.push(Check {
                name: "rows per query".to_owned(),
                passed: is_sound(n_rows, n_queries),
                found: format!("{mean:.4} of {ROWS_PER_QUERY}"),
            });
        }
    }
    if !pairs.is_empty() {
        checks.push(gap(pairs));
        checks.push(deleted(pairs, u64::from(work.rows_per_commit)));
    }
    if !member.up.dbms().is_server() {
        return Ok(checks);
    }
    let tables = &mut member.state.tables;
    if work.work == Work::Load {
        let clients = 0..args.clients;
        let statements: Vec<u64> =
            clients.filter_map(|client| work.statements(args, client)).collect();
        for (client, n) in (0..).zip(statements) {
            tables.rows[args.table_of(client) as usize - 1] += n * u64::from(work.rows_per_commit);
        }
    }
    tables.exchange(args, pairs.iter().map(|pair| pair.rows()));
    // Counting reads a table through, which the next step would find in its cache: only where the
    // server settles next. What l.i0 and l.i1 did is in the count after l.i2.
    let moves_rows = matches!(work.work, Work::Load | Work::Churn { .. });
    if moves_rows && is_before_rest(run, step) {
        for (number, expected) in (1..).zip(&tables.rows) {
            let sql = Schema::count_sql(number);
            let interrupt = &run.environment.interrupt;
            let result = member.up.breakable(interrupt, |admin| Ok(admin.query(&sql)?));
            let result = result.with_context(|| sql.clone())?;
            let found = result.scalar().unwrap_or("nothing");
            checks.push(Check {
                name: format!("rows of {}", Schema::table(number)),
                passed: found == expected.to_string(),
                found: format!("{found} of {expected}"),
            });
        }
    }
    Ok(checks)
}

/// Whether nothing is measured between a step of the Insert Benchmark and the next settling, so that
/// tables may be read through.
fn is_before_rest(run: &RunContext<'_>, step: StepIdx) -> bool {
    let next = run.steps.get(step.next().0).and_then(PlannedStep::of_insert);
    !matches!(next.map(|(next, _)| next.work), Some(Work::Index | Work::Churn { .. }))
}

/// What is said of a step whose server failed after its last block: nobody can count its rows any more.
pub(crate) fn server_failed() -> Check {
    let found = "the server failed after the step's last block".to_owned();
    Check { name: "not checked, the server failed".to_owned(), passed: true, found }
}

/// What is said of a step that was interrupted after its last block: what its clients had counted is gone.
pub(crate) fn interrupted() -> Check {
    let found = "the run was interrupted after the step's last block".to_owned();
    Check { name: "not checked, interrupted".to_owned(), passed: true, found }
}

fn gap(pairs: &[Arc<Pair>]) -> Check {
    let widest = pairs.iter().map(|pair| pair.widest_gap()).max().unwrap_or(0);
    Check {
        name: "gap between inserter and deleter".to_owned(),
        passed: widest <= MAX_GAP,
        found: format!("at most {widest} statements of {MAX_GAP}"),
    }
}

/// Deletes that find nothing leave a table to grow. Each pair ends within its gap; where clients share a
/// table, one may now and then take another's rows.
fn deleted(pairs: &[Arc<Pair>], rows_per_statement: u64) -> Check {
    let rows = || pairs.iter().map(|pair| pair.rows());
    let is_level = |(inserted, deleted): (u64, u64)| {
        inserted.abs_diff(deleted) <= (MAX_GAP + 1) * rows_per_statement + inserted / 50
    };
    let (inserted, deleted) = rows().fold((0, 0), |(i, d), (more, less)| (i + more, d + less));
    Check {
        name: "rows deleted".to_owned(),
        passed: rows().all(is_level),
        found: format!("{deleted}, with {inserted} inserted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_queries_may_find_fewer_rows_by_chance() {
        for (n_rows, n_queries, sound) in [
            (4000, 400, true),
            (3970, 400, true),
            (3940, 400, false),
            (99_960, 10_000, true),
            (99_800, 10_000, true),
            (99_700, 10_000, false),
            (4001, 400, false),
        ] {
            assert_eq!(is_sound(n_rows, n_queries), sound, "{n_rows} of {n_queries}");
        }
    }
}
