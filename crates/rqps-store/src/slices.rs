//! Slices with all that belongs to them: into the tables, and out of them again.

use rqps_model::{ErrorCount, Sample, SeriesPoint, Slice, Stated, Windows};
use rusqlite::{Connection, Row, ToSql, params};

use crate::counters::{COLUMNS, Counters};
use crate::late::{late_values, lateness_of};
use crate::store::warnings;
use crate::streams;
use crate::values::{Json, Text, unstorable};

/// The slice's own columns, before [`COLUMNS`].
const OWN: [&str; 21] = [
    "slice_idx",
    "start_unix_ms",
    "duration_ns",
    "seed",
    "n_events",
    "n_queries",
    "n_operations",
    "n_rows",
    "lateness_n_due",
    "lateness_n_late",
    "lateness_n_missed",
    "lateness_max_ns",
    "lateness_sum_ns",
    "window_length_ns",
    "window_counts",
    "response_times",
    "usage_wall_ns",
    "n_rounds",
    "whole_operations",
    "dbms_counters",
    "stated",
];

/// Where a slice belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) run_id: &'a str,
    pub(crate) step_idx: usize,
    pub(crate) system_idx: usize,
}

/// Refuses stated numbers that JSON cannot hold: no run could be read again with them.
fn check_finite(stated: &Stated) -> rusqlite::Result<()> {
    let Stated {
        figure, metrics, response, stream_responses, columns, target_inserts_per_s, ..
    } = stated;
    let means = response.iter().chain(stream_responses.values()).filter_map(|r| r.mean_ns);
    let numbers = figure
        .iter()
        .chain(target_inserts_per_s)
        .copied()
        .chain(metrics.iter().map(|(_, value)| *value))
        .chain(columns.iter().map(|(_, value)| *value))
        .chain(means);
    match numbers.into_iter().find(|number| !number.is_finite()) {
        None => Ok(()),
        Some(number) => {
            Err(unstorable(format!("a slice states {number}, which is not a finite number")))
        }
    }
}

/// Inserts a slice and all that belongs to it, in the caller's transaction.
pub(crate) fn insert(
    connection: &Connection,
    place: Place<'_>,
    slice: &Slice,
) -> rusqlite::Result<()> {
    let Slice {
        idx,
        // Those of the step.
        start: _,
        load: _,
        n_rounds,
        start_unix_ms,
        duration_ns,
        seed,
        n_events,
        n_queries,
        n_operations,
        n_rows,
        errors,
        lateness,
        windows: Windows { length_ns, counts },
        series,
        response_times,
        usage,
        samples,
        warnings: _,
        streams,
        whole_operations,
        counters: dbms_counters,
        stated,
    } = slice;
    let late = lateness.as_ref();
    let seed = Text(seed);
    let (counts, late_columns) = (Json(counts), late.map_or([None; 5], late_values));
    let mut values: Vec<&dyn ToSql> =
        vec![&place.run_id, &place.step_idx, &place.system_idx, idx, start_unix_ms, duration_ns];
    values.extend([&seed as &dyn ToSql, n_events, n_queries, n_operations, n_rows]);
    values.extend(late_columns.iter().map(|v| v as &dyn ToSql));
    values.extend([length_ns as &dyn ToSql, &counts, response_times, &usage.wall_ns, n_rounds]);
    let dbms_counters = (!dbms_counters.is_empty()).then_some(Json(dbms_counters));
    stated.as_ref().map(check_finite).transpose()?;
    let stated = stated.as_ref().map(Json);
    values.extend([whole_operations as &dyn ToSql, &dbms_counters, &stated]);
    let counters: Vec<_> = Counters::of_usage(usage).values().collect();
    values.extend(counters.iter().map(|v| v as &dyn ToSql));
    let sql = format!(
        "INSERT INTO slice (run_id, step_idx, system_idx, {}, {}) VALUES ({})",
        OWN.join(", "),
        COLUMNS.join(", "),
        question_marks(values.len())
    );
    connection.prepare_cached(&sql)?.execute(values.as_slice())?;
    let slice_id = connection.last_insert_rowid();
    insert_series(connection, slice_id, series)?;
    insert_samples(connection, slice_id, samples)?;
    insert_errors(connection, slice_id, errors)?;
    warnings::insert_of_slice(connection, slice_id, slice)?;
    streams.iter().try_for_each(|stream| streams::insert(connection, slice_id, stream))
}

/// The slices of a step on a system, in order of their idx.
pub(crate) fn select(connection: &Connection, place: Place<'_>) -> rusqlite::Result<Vec<Slice>> {
    let sql = format!(
        "SELECT slice_id, {}, {} FROM slice
         WHERE run_id = ? AND step_idx = ? AND system_idx = ? ORDER BY slice_idx",
        OWN.join(", "),
        COLUMNS.join(", ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let of = params![place.run_id, place.step_idx, place.system_idx];
    let rows = statement.query_map(of, |row| Ok((row.get::<_, i64>(0)?, slice_of(row)?)))?;
    let mut slices = Vec::new();
    for row in rows {
        let (slice_id, mut slice) = row?;
        slice.series = select_series(connection, slice_id)?;
        slice.samples = select_samples(connection, slice_id)?;
        slice.errors = select_errors(connection, slice_id)?;
        slice.warnings = warnings::select_of_slice(connection, slice_id)?;
        slice.streams = streams::select(connection, slice_id)?;
        slices.push(slice);
    }
    Ok(slices)
}

/// The slice of a row of `slice_id`, [`OWN`] and [`COLUMNS`], without what other tables hold.
fn slice_of(row: &Row<'_>) -> rusqlite::Result<Slice> {
    let has_rate = row.get::<_, Option<u64>>(9)?.is_some();
    Ok(Slice {
        idx: row.get(1)?,
        start: 0,
        load: 0,
        n_rounds: row.get(18)?,
        start_unix_ms: row.get(2)?,
        duration_ns: row.get(3)?,
        seed: row.get::<_, Text<u64>>(4)?.0,
        n_events: row.get(5)?,
        n_queries: row.get(6)?,
        n_operations: row.get(7)?,
        n_rows: row.get(8)?,
        lateness: has_rate.then(|| lateness_of(row, 9)).transpose()?,
        windows: Windows { length_ns: row.get(14)?, counts: row.get::<_, Json<_>>(15)?.0 },
        response_times: row.get(16)?,
        usage: Counters::of_row(row, 1 + OWN.len())?.into_usage(row.get(17)?),
        errors: Vec::new(),
        series: Vec::new(),
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: row.get(19)?,
        // Absent where none were read, and in runs of earlier versions.
        counters: row.get::<_, Option<Json<_>>>(20)?.map_or_else(Default::default, |json| json.0),
        stated: row.get::<_, Option<Json<_>>>(21)?.map(|json| json.0),
    })
}

fn insert_series(
    connection: &Connection,
    slice_id: i64,
    series: &[SeriesPoint],
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (i, point) in series.iter().enumerate() {
        let SeriesPoint { queries, events, errors, sum_ns, max_ns } = *point;
        statement.execute(params![slice_id, i, queries, events, errors, sum_ns, max_ns])?;
    }
    Ok(())
}

fn select_series(connection: &Connection, slice_id: i64) -> rusqlite::Result<Vec<SeriesPoint>> {
    let mut statement = connection.prepare_cached(
        "SELECT n_queries, n_events, n_errors, sum_ns, max_ns FROM second
         WHERE slice_id = ? ORDER BY second_idx",
    )?;
    let point = |row: &Row<'_>| {
        Ok(SeriesPoint {
            queries: row.get(0)?,
            events: row.get(1)?,
            errors: row.get(2)?,
            sum_ns: row.get(3)?,
            max_ns: row.get(4)?,
        })
    };
    statement.query_map([slice_id], point)?.collect()
}

fn insert_samples(
    connection: &Connection,
    slice_id: i64,
    samples: &[Sample],
) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO sample (slice_id, sample_idx, at_ns, {}) VALUES ({})",
        COLUMNS.join(", "),
        question_marks(3 + COLUMNS.len())
    );
    let mut statement = connection.prepare_cached(&sql)?;
    for (i, sample) in samples.iter().enumerate() {
        let counters: Vec<_> = Counters::of_sample(sample).values().collect();
        let mut values: Vec<&dyn ToSql> = vec![&slice_id, &i, &sample.at_ns];
        values.extend(counters.iter().map(|v| v as &dyn ToSql));
        statement.execute(values.as_slice())?;
    }
    Ok(())
}

fn select_samples(connection: &Connection, slice_id: i64) -> rusqlite::Result<Vec<Sample>> {
    let sql = format!(
        "SELECT at_ns, {} FROM sample WHERE slice_id = ? ORDER BY sample_idx",
        COLUMNS.join(", ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let sample = |row: &Row<'_>| Ok(Counters::of_row(row, 1)?.into_sample(row.get(0)?));
    statement.query_map([slice_id], sample)?.collect()
}

fn insert_errors(
    connection: &Connection,
    slice_id: i64,
    errors: &[ErrorCount],
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO error_count (slice_id, error_idx, code, n) VALUES (?, ?, ?, ?)",
    )?;
    for (i, ErrorCount { code, n }) in errors.iter().enumerate() {
        statement.execute(params![slice_id, i, code, n])?;
    }
    Ok(())
}

fn select_errors(connection: &Connection, slice_id: i64) -> rusqlite::Result<Vec<ErrorCount>> {
    let mut statement = connection
        .prepare_cached("SELECT code, n FROM error_count WHERE slice_id = ? ORDER BY error_idx")?;
    let error = |row: &Row<'_>| Ok(ErrorCount { code: row.get(0)?, n: row.get(1)? });
    statement.query_map([slice_id], error)?.collect()
}

/// `?, ?, ?` for `n` values.
fn question_marks(n: usize) -> String {
    vec!["?"; n].join(", ")
}
