//! Whether a summary is that of the logs beside it.

use super::log::Log;
use super::summary::Summary;

/// How much longer than its longest client a step may be: clients start one after the other.
const LONGER_SHARE: f64 = 1.05;
const LONGER_S: f64 = 10.0;

/// What a summary is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logged<'l> {
    pub(super) logs: &'l [Log],
    /// Rows that the clients inserted, or that were indexed; absent where these are not known.
    pub(super) rows: Option<u64>,
}

/// Whether a summary is that of these logs, and of one run.
pub(super) fn check_summary(summary: &Summary, logged: Logged<'_>) -> Result<(), String> {
    let Logged { logs, rows } = logged;
    let n_queries: u64 = logs.iter().map(|log| log.end().queries).sum();
    let longest_s = logs.iter().map(|log| log.total_s).fold(0.0, f64::max);
    let Summary { n_processes, seconds, rows_per_s, queries_per_s, .. } = *summary;
    // Some awks print large sums with six digits; the scripts count whole seconds, and rows by process.
    let is_close = |stated: f64, n: f64, slack: f64| (stated - n).abs() <= 1e-5 * n + slack;
    let stated_rows = summary.rows.unwrap_or(rows_per_s * seconds);
    let rate_slack = 0.06 * seconds;
    let row_slack = rate_slack.max(n_processes as f64);
    let is_same = is_close(summary.n_queries, n_queries as f64, 0.0)
        && rows.is_none_or(|rows| is_close(stated_rows, rows as f64, row_slack))
        && n_processes == logs.len() as u64
        && seconds + 1.0 >= longest_s
        && seconds <= longest_s * LONGER_SHARE + LONGER_S;
    if !is_same {
        let rows = rows.map_or("?".to_owned(), |rows| rows.to_string());
        return Err(format!(
            "it is from another run than its logs: {n_processes} processes, {seconds} seconds, {} \
             queries, {stated_rows} rows, but the logs have {}, {longest_s}, {n_queries}, {rows}; \
             rates are computed from the logs",
            summary.n_queries,
            logs.len()
        ));
    }
    let is_one_run = is_close(rows_per_s * seconds, stated_rows, rate_slack + n_processes as f64)
        && is_close(queries_per_s * seconds, summary.n_queries, rate_slack);
    if !is_one_run {
        return Err(format!(
            "its rates contradict its counts: {stated_rows} rows and {} queries in {seconds} \
             seconds are not {rows_per_s} and {queries_per_s} per second; rates are computed from \
             the logs",
            summary.n_queries
        ));
    }
    Ok(())
}
