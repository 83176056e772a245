//! Copies of runs that are to be kept by the dozen: which rows and columns stay behind, and what stands in their
//! place. docs/how-to/export.md says it for readers.
//!
//! Only what no report makes a rate, a ratio, a metric or a verdict of.

use std::collections::BTreeMap;

use rusqlite::{Transaction, params};

use crate::values::Json;

/// Several histograms merged into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathered {
    /// The values of all.
    pub all: Vec<u8>,
    /// A histogram without a value.
    pub empty: Vec<u8>,
}

/// Merges encoded histograms; `None` leaves them unchanged.
pub type Gather<'a> = &'a dyn Fn(&[&[u8]]) -> Option<Gathered>;

/// Columns with histograms, one for each slice: table and column.
const HISTOGRAMS: [(&str, &str); 4] = [
    ("slice", "response_times"),
    ("stream", "response_times"),
    ("stream", "delays"),
    ("stream", "own_delays"),
];

/// The column with the server's own counters.
const COUNTERS: (&str, &str) = ("slice", "dbms_counters");

/// Columns of `slice` that no report reads. They become 0; what is null stays so, as that says of the whole process
/// or device that it is not known.
const UNREAD: [&str; 18] = [
    "host_procs_running",
    "host_procs_blocked",
    "host_memory_available_bytes",
    "host_swap_in_pages",
    "host_swap_out_pages",
    "server_n_processes",
    "server_n_threads",
    "client_cpu_system_ns",
    "client_rss_bytes",
    "client_minor_faults",
    "client_major_faults",
    "client_voluntary_switches",
    "client_involuntary_switches",
    "client_read_bytes",
    "client_write_bytes",
    "client_n_processes",
    "client_n_threads",
    "storage_busy_ns",
];

/// A gauge of `slice` that reports read at the end of a step alone.
const AT_END: &str = "server_rss_bytes";

/// Whether a slice is the last one of its step and system.
const IS_LAST: &str = "slice_idx = (SELECT max(l.slice_idx) FROM other.slice l
   WHERE l.run_id = slice.run_id AND l.step_idx = slice.step_idx AND l.system_idx = slice.system_idx)";

/// Blocks of steps that are none of the Insert Benchmark's: charts draw their seconds, and nothing else reads them.
const BLOCKS: &str =
    "SELECT slice.slice_id FROM other.slice JOIN other.step USING (run_id, step_idx)
   WHERE slice.run_id = ?1 AND slice.n_rounds IS NOT NULL AND step.kind IN ('read', 'write')
     AND NOT EXISTS (SELECT 1 FROM other.stream JOIN other.slice s USING (slice_id)
                     WHERE s.run_id = slice.run_id AND s.step_idx = slice.step_idx)";

/// Steps with the first one that they are joined with in reports: that of the same name and number of clients on
/// another start of the servers, the second of a start with the second of the others.
const OF_STARTS: &str =
    "SELECT step_idx, min(step_idx) OVER (PARTITION BY name, n_clients, nth) AS joined_idx
   FROM (SELECT step_idx, name, n_clients,
           row_number() OVER (PARTITION BY start_idx, name, n_clients ORDER BY step_idx) AS nth
         FROM other.step WHERE run_id = ?1)";

/// Fills `temp.gathered` with what slices get in place of their own: histograms of all slices that reports join, and
/// the counters of these names.
pub(crate) fn prepare(
    transaction: &Transaction<'_>,
    run_id: &str,
    gather: Gather<'_>,
    counters: &[&str],
) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TEMP TABLE gathered (of TEXT, slice_id INTEGER, role TEXT, content BLOB,
                                     PRIMARY KEY (of, slice_id, role)) WITHOUT ROWID",
    )?;
    for (table, column) in HISTOGRAMS {
        gather_histograms(transaction, run_id, table, column, gather)?;
    }
    keep_counters(transaction, run_id, counters)
}

/// Drops what [`prepare`] made.
pub(crate) fn clean_up(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch("DROP TABLE temp.gathered")
}

/// Whether all rows of a table stay behind.
pub(crate) fn is_excluded(table: &str) -> bool {
    table == "sample"
}

/// What the rows that are copied fulfil besides being of the run, in SQL; its parameter is the run's id.
pub(crate) fn condition(table: &str) -> String {
    if table == "second" { format!(" AND slice_id NOT IN ({BLOCKS})") } else { String::new() }
}

/// What stands in a column of the copy, in SQL over the table of the other store.
pub(crate) fn value(table: &str, column: &str) -> String {
    let is_made = HISTOGRAMS.contains(&(table, column)) || (table, column) == COUNTERS;
    match table {
        _ if is_made => format!(
            "coalesce((SELECT content FROM temp.gathered g WHERE g.of = '{table}.{column}'
                       AND g.slice_id = {table}.slice_id AND g.role = {}), {column})",
            role_of(table)
        ),
        "slice" if UNREAD.contains(&column) => format!("0 * {column}"),
        "slice" if column == AT_END => {
            format!("CASE WHEN {IS_LAST} THEN {column} ELSE 0 * {column} END")
        }
        _ => column.to_owned(),
    }
}

/// The first slice of a step on a system gets the histograms of all, and the others one without a value.
fn gather_histograms(
    transaction: &Transaction<'_>,
    run_id: &str,
    table: &str,
    column: &str,
    gather: Gather<'_>,
) -> rusqlite::Result<()> {
    let role = role_of(table);
    let sql = format!(
        "WITH of_starts AS ({OF_STARTS})
         SELECT of_starts.joined_idx, slice.system_idx, {role}, slice.slice_id, {table}.{column}
         FROM other.slice {} JOIN of_starts ON of_starts.step_idx = slice.step_idx
         WHERE slice.run_id = ?1 AND {table}.{column} IS NOT NULL
         ORDER BY 1, 2, 3, slice.step_idx, slice.slice_idx",
        if table == "slice" { "" } else { "JOIN other.stream USING (slice_id)" }
    );
    let mut statement = transaction.prepare(&sql)?;
    let read = statement.query_map([run_id], |row| {
        let step: (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((step, row.get::<_, i64>(3)?, row.get::<_, Vec<u8>>(4)?))
    })?;
    let rows = read.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut insert = transaction.prepare("INSERT INTO temp.gathered VALUES (?, ?, ?, ?)")?;
    for of_step in rows.chunk_by(|a, b| a.0 == b.0) {
        let histograms: Vec<&[u8]> = of_step.iter().map(|(.., bytes)| &bytes[..]).collect();
        let Some(Gathered { all, empty }) = gather(&histograms) else { continue };
        for (at, ((.., role), slice_id, _)) in of_step.iter().enumerate() {
            let bytes = if at == 0 { &all } else { &empty };
            insert.execute(params![format!("{table}.{column}"), slice_id, role, bytes])?;
        }
    }
    Ok(())
}

/// Of the server's counters those of these names.
fn keep_counters(
    transaction: &Transaction<'_>,
    run_id: &str,
    names: &[&str],
) -> rusqlite::Result<()> {
    let (table, column) = COUNTERS;
    let sql = format!(
        "SELECT slice_id, {column} FROM other.{table} WHERE run_id = ? AND {column} IS NOT NULL"
    );
    let mut statement = transaction.prepare(&sql)?;
    let read = statement.query_map([run_id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Json<BTreeMap<String, u64>>>(1)?))
    })?;
    let rows = read.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut insert = transaction.prepare("INSERT INTO temp.gathered VALUES (?, ?, '', ?)")?;
    for (slice_id, Json(mut counters)) in rows {
        counters.retain(|name, _| names.contains(&name.as_str()));
        insert.execute(params![format!("{table}.{column}"), slice_id, Json(counters)])?;
    }
    Ok(())
}

/// What tells the rows of a slice in a table from one another, in SQL.
fn role_of(table: &str) -> &'static str {
    if table == "stream" { "stream.role" } else { "''" }
}
