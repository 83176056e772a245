//! Whether a step of the Insert Benchmark did what it says: rows fetched, rows there, the gap between
//! inserters and deleters.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use rqps_model::{Check, Dbms, Figure};
use rqps_workload::insert::{MAX_GAP, Pair, Schema, Work};

use crate::run::Lab;
use crate::system::Up;

/// Rows that a query fetches.
const ROWS_PER_QUERY: f64 = 10.0;

/// The least mean of them that a sound run has: ids that are drawn for one query may meet, by chance
/// one in ten thousand even of small tables.
const LEAST_ROWS_PER_QUERY: f64 = 9.98;

impl Lab<'_> {
    /// Checks a step on one system after its clients have ended.
    pub(super) fn check_insert(
        &mut self,
        step_idx: usize,
        idx: usize,
        up: &mut Up,
        pairs: &[Arc<Pair>],
    ) -> Result<Vec<Check>> {
        let Some((step, args)) = self.insert_job(step_idx) else { return Ok(Vec::new()) };
        let mut checks = Vec::new();
        let slices = &self.run.steps[step_idx].systems[idx].slices;
        if self.steps[step_idx].info.figure == Figure::Queries {
            let (n_rows, n_queries) = slices
                .iter()
                .fold((0, 0), |(rows, queries), s| (rows + s.n_rows, queries + s.n_queries));
            if n_queries > 0 {
                let mean = n_rows as f64 / n_queries as f64;
                checks.push(Check {
                    name: "rows per query".to_owned(),
                    passed: (LEAST_ROWS_PER_QUERY..=ROWS_PER_QUERY).contains(&mean),
                    found: format!("{mean:.4} of {ROWS_PER_QUERY}"),
                });
            }
        }
        if !pairs.is_empty() {
            checks.push(gap(pairs));
            checks.push(deleted(pairs));
        }
        if up.dbms() == Dbms::Null {
            return Ok(checks);
        }
        let tables = &mut self.tables[idx].rows;
        if step.work == Work::Load {
            let clients = 0..args.clients;
            let statements: Vec<u64> =
                clients.filter_map(|client| step.statements(&args, client)).collect();
            for (client, n) in (0..).zip(statements) {
                tables[args.table_of(client) as usize - 1] += n * u64::from(step.rows_per_commit);
            }
        }
        for (client, pair) in (0..).zip(pairs) {
            let (inserted, deleted) = pair.rows();
            let rows = &mut tables[args.table_of(client) as usize - 1];
            *rows = (*rows + inserted).saturating_sub(deleted);
        }
        // Counting reads a table through: after the steps that only move rows, not between those that
        // query.
        if matches!(step.work, Work::Load | Work::Churn { .. }) {
            for (number, expected) in (1..).zip(&*tables) {
                let sql = Schema::count_sql(number);
                let result = up.admin.query(&sql).with_context(|| sql.clone())?;
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
}

fn gap(pairs: &[Arc<Pair>]) -> Check {
    let widest = pairs.iter().map(|pair| pair.widest_gap()).max().unwrap_or(0);
    Check {
        name: "gap between inserter and deleter".to_owned(),
        passed: widest <= MAX_GAP,
        found: format!("at most {widest} statements of {MAX_GAP}"),
    }
}

/// Deletes that find nothing leave a table to grow.
fn deleted(pairs: &[Arc<Pair>]) -> Check {
    let (inserted, deleted) = pairs
        .iter()
        .map(|pair| pair.rows())
        .fold((0, 0), |(i, d), (inserted, deleted)| (i + inserted, d + deleted));
    Check {
        name: "rows deleted".to_owned(),
        // Inserter and deleter may end some statements apart.
        passed: deleted > 0 || inserted == 0,
        found: format!("{deleted} beside {inserted} inserted"),
    }
}
