//! How late a paced slice was: into columns, and out of them again.

use rqps_model::Lateness;
use rusqlite::Row;

pub(crate) fn late_values(lateness: &Lateness) -> [Option<u64>; 5] {
    let Lateness { n_due, n_late, n_missed, max_ns, sum_ns } = *lateness;
    // The largest that SQLite has: at rates of hundreds of millions the sum gets there.
    [n_due, n_late, n_missed, max_ns, sum_ns].map(|n| Some(n.min(i64::MAX as u64)))
}

/// From five columns that begin at `first`.
pub(crate) fn lateness_of(row: &Row<'_>, first: usize) -> rusqlite::Result<Lateness> {
    Ok(Lateness {
        n_due: row.get(first)?,
        n_late: row.get(first + 1)?,
        n_missed: row.get(first + 2)?,
        max_ns: row.get(first + 3)?,
        sum_ns: row.get(first + 4)?,
    })
}
