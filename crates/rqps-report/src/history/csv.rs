//! A history as CSV: one row per point, full precision; docs/how-to/history.md has the columns.

use super::names;
use super::words::sentence;
use crate::csv::{field, number, words};
use rqps_analysis::history::{History, PointCommit, Scale, Series};
use rqps_model::Verdict;

/// The columns, in order.
pub const COLUMNS: [&str; 31] = [
    "step",
    "clients",
    "series",
    "unit",
    "base",
    "position",
    "run",
    "started_unix_ms",
    "system",
    "server",
    "version",
    "commit",
    "files_differ",
    "commit_time",
    "commit_subject",
    "commits_after_base",
    "is_base",
    "value",
    "value_low",
    "value_high",
    "n",
    "verdict",
    "starts",
    "schedule",
    "kernel",
    "warnings",
    "change",
    "change_low",
    "change_high",
    "change_p",
    "change_text",
];

/// The history as CSV.
#[must_use]
pub fn render(history: &History) -> String {
    let mut out = COLUMNS.join(",") + "\r\n";
    for series in &history.series {
        for at in 0..series.points.len() {
            let fields: Vec<String> =
                row(history, series, at).iter().map(|text| field(text)).collect();
            out.push_str(&fields.join(","));
            out.push_str("\r\n");
        }
    }
    out
}

fn row(history: &History, series: &Series, at: usize) -> [String; COLUMNS.len()] {
    let point = &series.points[at];
    let change = super::text::change_at(series, at);
    let (unit, base) = match &series.scale {
        Scale::Relative { base } => ("rQPS", names::base(base)),
        Scale::Absolute { unit } => (*unit, String::new()),
    };
    let ends = |interval: Option<(f64, f64)>| {
        (number(interval.map(|(low, _)| low)), number(interval.map(|(_, high)| high)))
    };
    let (low, high) = ends(point.value.interval);
    let of_commit =
        |text: fn(&PointCommit) -> String| point.commit.as_ref().map_or_else(String::new, text);
    let (change_low, change_high) = ends(change.and_then(|c| c.size.interval));
    [
        words(&series.step),
        series.clients.to_string(),
        words(&names::line(series)),
        unit.to_owned(),
        words(&base),
        at.to_string(),
        words(&point.run_id),
        point.started_unix_ms.to_string(),
        words(&point.label),
        words(&point.server),
        words(&point.version.as_ref().map_or_else(String::new, ToString::to_string)),
        of_commit(|commit| commit.hash.clone()),
        of_commit(|commit| commit.is_changed.to_string()),
        words(&of_commit(|commit| commit.time.clone())),
        words(&of_commit(|commit| commit.subject.clone())),
        of_commit(|commit| commit.after_base.map_or_else(String::new, |n| n.to_string())),
        point.is_base.to_string(),
        number(Some(point.value.point)),
        low,
        high,
        point.value.n.to_string(),
        point.verdict.map_or("", Verdict::word).to_owned(),
        point.starts.to_string(),
        words(&names::schedule(&point.surroundings)),
        words(&point.surroundings.host.kernel),
        words(&point.warning_names().join(" ")),
        number(change.map(|c| c.size.point).filter(|point| point.is_finite())),
        change_low,
        change_high,
        number(change.and_then(|c| c.p)),
        words(&change.map_or_else(String::new, |c| sentence(history, series, c))),
    ]
}
