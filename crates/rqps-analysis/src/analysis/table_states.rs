//! Where the tables of two systems are not in the same state, by so much that it can move a rate.
//!
//! The bounds follow from docs/explanation/method.md, "The state of the tables".

use rqps_model::{Run, RunStep, RunSystem, TableDifference, TableFact, TableState, WarningKind};

/// Writes that a system may lack of the other's.
const WRITES: f64 = 0.01;

/// Dead rows by which systems may differ, of all rows.
const DEAD_ROWS: f64 = 0.1;

/// By how much bytes may differ, of the smaller.
const BYTES: f64 = 0.1;

/// Below these values a difference is none; above, one side has at least twice the other's.
const SNAPSHOT_AGE: u64 = 1000;
const HISTORY_LIST: u64 = 10_000;
const CHANGE_BUFFER_PAGES: u64 = 1000;
const COMPACTION_BYTES: u64 = 64 << 20;

/// The warning of a system whose tables differ from the base's in a step, on any start of the servers.
pub(super) fn differ(run: &Run, step: &RunStep, base: usize, own: usize) -> Option<WarningKind> {
    let systems = [run.systems.get(base)?, run.systems.get(own)?];
    let is_same =
        |other: &&RunStep| other.info.name == step.info.name && other.clients == step.clients;
    let mut differences: Vec<TableDifference> = Vec::new();
    for step in run.steps.iter().filter(is_same) {
        let (Some(base), Some(own)) = (step.systems.get(base), step.systems.get(own)) else {
            continue;
        };
        for found in differences_of(systems, &base.table_state, &own.table_state) {
            match differences.iter_mut().find(|known| known.fact == found.fact) {
                Some(known) => {
                    let n_starts = known.n_starts + 1;
                    if times(&found) > times(known) {
                        *known = found;
                    }
                    known.n_starts = n_starts;
                }
                None => differences.push(found),
            }
        }
    }
    (!differences.is_empty()).then_some(WarningKind::TablesDiffer { differences })
}

/// What matters of the differences on one start.
fn differences_of(
    systems: [&RunSystem; 2],
    base_state: &TableState,
    own_state: &TableState,
) -> Vec<TableDifference> {
    let [base, own] = systems;
    let is_same_dbms = base.spec.dbms == own.spec.dbms && base.spec.engine == own.spec.engine;
    let n_rows = base_state.get(&TableFact::Rows).copied().unwrap_or(0);
    let found = base_state.iter().filter_map(|(&fact, &base)| {
        let own = *own_state.get(&fact)?;
        Some(TableDifference { fact, base, own, n_starts: 1 })
    });
    let counts = |found: &TableDifference| {
        let is_comparable = match found.fact {
            TableFact::Writes => true,
            // Versions and compression lay tables out in their own ways.
            TableFact::IndexLevels | TableFact::TableBytes | TableFact::IndexBytes => {
                is_same_dbms && is_laid_out_alike(systems)
            }
            _ => is_same_dbms,
        };
        is_comparable && matters(found, n_rows)
    };
    found.filter(counts).collect()
}

fn is_laid_out_alike([base, own]: [&RunSystem; 2]) -> bool {
    let major = |system: &RunSystem| system.version.as_ref().map(rqps_model::Version::major);
    major(base) == major(own)
        && base.spec.variant.compression == own.spec.variant.compression
        && base.spec.variant.sql_after_load == own.spec.variant.sql_after_load
}

fn matters(found: &TableDifference, n_rows: u64) -> bool {
    let TableDifference { fact, base, own, .. } = *found;
    let (least, most) = (base.min(own), base.max(own));
    let share_of = |all: u64| (most - least) as f64 / all.max(1) as f64;
    let is_twice = |bound: u64| most >= bound && most / 2 >= least;
    match fact {
        TableFact::Writes => share_of(most) > WRITES,
        TableFact::IndexLevels => least != most,
        TableFact::DeadRows => share_of(n_rows) > DEAD_ROWS,
        TableFact::TableBytes | TableFact::IndexBytes => share_of(least) > BYTES,
        TableFact::SnapshotAge => is_twice(SNAPSHOT_AGE),
        TableFact::HistoryList => is_twice(HISTORY_LIST),
        TableFact::ChangeBufferPages => is_twice(CHANGE_BUFFER_PAGES),
        TableFact::CompactionBytes => is_twice(COMPACTION_BYTES),
        // They tell why others differ.
        TableFact::Rows | TableFact::Updates | TableFact::HotUpdates | TableFact::Autovacuums => {
            false
        }
    }
}

/// How many times the smaller value is in the larger.
fn times(found: &TableDifference) -> f64 {
    let (least, most) = (found.base.min(found.own), found.base.max(found.own));
    most as f64 / least.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_moves_a_rate_matters() {
        use TableFact::{
            Autovacuums, CompactionBytes, DeadRows, HistoryList, IndexLevels, TableBytes, Writes,
        };
        let matters = |fact, base, own| {
            super::matters(&TableDifference { fact, base, own, n_starts: 1 }, 100_000)
        };
        for (fact, base, small, large) in [
            (Writes, 1000, 991, 980),
            (DeadRows, 0, 9000, 11_000),
            (IndexLevels, 2, 2, 3),
            (TableBytes, 1000, 1090, 1110),
            (HistoryList, 100, 9000, 10_000),
            (HistoryList, 9000, 17_000, 18_000),
            (CompactionBytes, 0, 1 << 20, 64 << 20),
        ] {
            assert!(!matters(fact, base, small), "{fact:?} {base} {small}");
            assert!(matters(fact, base, large) && matters(fact, large, base), "{fact:?} {large}");
        }
        assert!(!matters(Autovacuums, 0, 5));
    }
}
