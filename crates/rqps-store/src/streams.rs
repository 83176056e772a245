//! What other clients did in a slice: into the tables, and out of them again.

use rqps_model::{ErrorCount, Role, SeriesPoint, Stream};
use rusqlite::{Connection, Row, params};

use crate::late::{late_values, lateness_of};
use crate::values::unknown_word;

/// Inserts a stream of a slice, in the caller's transaction.
pub(crate) fn insert(
    connection: &Connection,
    slice_id: i64,
    stream: &Stream,
) -> rusqlite::Result<()> {
    let Stream {
        role,
        clients,
        target_per_s,
        duration_ns,
        n_events,
        n_queries,
        n_operations,
        lateness,
        errors,
        delays,
        own_delays,
        series,
        response_times,
    } = stream;
    let errors = serde_json::to_string(errors)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let [n_due, n_late, n_missed, max_ns, sum_ns] =
        lateness.as_ref().map_or([None; 5], late_values);
    connection
        .prepare_cached(
            "INSERT INTO stream (slice_id, role, n_clients, target_per_s, duration_ns, n_events,
               n_queries, n_operations, lateness_n_due, lateness_n_late, lateness_n_missed,
               lateness_max_ns, lateness_sum_ns, errors, delays, own_delays, response_times)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            slice_id,
            role.name(),
            clients,
            target_per_s,
            duration_ns,
            n_events,
            n_queries,
            n_operations,
            n_due,
            n_late,
            n_missed,
            max_ns,
            sum_ns,
            errors,
            delays,
            own_delays,
            response_times,
        ])?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO stream_second (slice_id, role, second_idx, n_queries, n_events, n_errors,
           sum_ns, max_ns)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (i, point) in series.iter().enumerate() {
        let SeriesPoint { queries, events, errors, sum_ns, max_ns } = *point;
        let of = params![slice_id, role.name(), i, queries, events, errors, sum_ns, max_ns];
        statement.execute(of)?;
    }
    Ok(())
}

/// The streams of a slice, in the order of their roles.
pub(crate) fn select(connection: &Connection, slice_id: i64) -> rusqlite::Result<Vec<Stream>> {
    let mut statement = connection.prepare_cached(
        "SELECT role, n_clients, target_per_s, duration_ns, n_events, n_queries, n_operations,
           lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns,
           errors, delays, own_delays, response_times
         FROM stream WHERE slice_id = ?",
    )?;
    let streams = statement.query_map([slice_id], stream_of)?;
    let mut streams = streams.collect::<rusqlite::Result<Vec<_>>>()?;
    for stream in &mut streams {
        stream.series = select_series(connection, slice_id, stream.role)?;
    }
    streams.sort_by_key(|stream| stream.role);
    Ok(streams)
}

fn stream_of(row: &Row<'_>) -> rusqlite::Result<Stream> {
    let word: String = row.get(0)?;
    let role = Role::ALL.into_iter().find(|role| role.name() == word);
    let has_rate = row.get::<_, Option<u64>>(7)?.is_some();
    Ok(Stream {
        role: role.ok_or_else(|| unknown_word("role", &word))?,
        clients: row.get(1)?,
        target_per_s: row.get(2)?,
        duration_ns: row.get(3)?,
        n_events: row.get(4)?,
        n_queries: row.get(5)?,
        n_operations: row.get(6)?,
        lateness: has_rate.then(|| lateness_of(row, 7)).transpose()?,
        errors: errors_of(&row.get::<_, String>(12)?)?,
        delays: row.get(13)?,
        own_delays: row.get::<_, Option<_>>(14)?.unwrap_or_default(),
        series: Vec::new(),
        response_times: row.get(15)?,
    })
}

fn errors_of(text: &str) -> rusqlite::Result<Vec<ErrorCount>> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(12, rusqlite::types::Type::Text, error.into())
    })
}

fn select_series(
    connection: &Connection,
    slice_id: i64,
    role: Role,
) -> rusqlite::Result<Vec<SeriesPoint>> {
    let mut statement = connection.prepare_cached(
        "SELECT n_queries, n_events, n_errors, sum_ns, max_ns FROM stream_second
         WHERE slice_id = ? AND role = ? ORDER BY second_idx",
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
    statement.query_map(params![slice_id, role.name()], point)?.collect()
}
