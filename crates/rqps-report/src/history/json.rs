//! A history for programs; docs/how-to/history.md has its fields.

use serde::Serialize;

use super::names;
use super::words::{because, certainty, sentence, sentences, unlike_in_words, verdicts};
use crate::conditions::machine;
use crate::json::{EstimateJson, estimate};
use rqps_analysis::history::{History, Method, SIGNIFICANCE, Scale, Series};
use rqps_model::Verdict;
use rqps_text::number;

/// Version of the format. From the first release on, a field that goes or changes its meaning makes a new number.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct HistoryJson<'a> {
    schema: u32,
    rqps_version: &'a str,
    order: &'static str,
    significance: f64,
    host: Option<String>,
    verdicts: Vec<String>,
    changes: Vec<String>,
    series: Vec<SeriesJson<'a>>,
    left_out: Vec<LeftOutJson<'a>>,
    certainty: Vec<String>,
}

#[derive(Serialize)]
struct SeriesJson<'a> {
    step: &'a str,
    clients: u32,
    series: String,
    unit: &'a str,
    base: Option<String>,
    method: &'static str,
    points: Vec<PointJson<'a>>,
    changes: Vec<ChangeJson>,
}

#[derive(Serialize)]
struct PointJson<'a> {
    run: &'a str,
    started: String,
    started_unix_ms: i64,
    system: &'a str,
    server: &'a str,
    version: Option<String>,
    commit: Option<CommitJson<'a>>,
    is_base: bool,
    value: EstimateJson,
    verdict: Option<&'static str>,
    starts: u32,
    schedule: String,
    kernel: &'a str,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct CommitJson<'a> {
    hash: &'a str,
    files_differ: bool,
    subject: &'a str,
    time: &'a str,
    after_base: Option<i64>,
}

#[derive(Serialize)]
struct ChangeJson {
    at: usize,
    ratio: Option<EstimateJson>,
    p: Option<f64>,
    unlike: Option<String>,
    sentence: String,
}

#[derive(Serialize)]
struct LeftOutJson<'a> {
    run: &'a str,
    what: String,
    because: String,
}

/// The history as indented JSON with a line break at its end.
#[must_use]
pub fn render(history: &History) -> String {
    let answer = HistoryJson {
        schema: SCHEMA,
        rqps_version: &history.rqps_version,
        order: history.order.word(),
        significance: SIGNIFICANCE,
        host: history.host.as_ref().map(machine),
        verdicts: verdicts(history),
        changes: sentences(history),
        series: history.series.iter().map(|one| series(history, one)).collect(),
        left_out: history
            .left_out
            .iter()
            .map(|l| LeftOutJson {
                run: &l.run_id,
                what: names::what(l),
                because: because(&l.because),
            })
            .collect(),
        certainty: certainty(history),
    };
    // The shape has text keys only and no type whose serialisation can fail.
    let mut out = serde_json::to_string_pretty(&answer).unwrap_or_default();
    out.push('\n');
    out
}

fn series<'a>(history: &'a History, series: &'a Series) -> SeriesJson<'a> {
    let (unit, base) = match &series.scale {
        Scale::Relative { base } => ("rQPS", Some(names::base(base))),
        Scale::Absolute { unit } => (*unit, None),
    };
    SeriesJson {
        step: &series.step,
        clients: series.clients,
        series: names::line(series),
        unit,
        base,
        method: Method::key(series.method),
        points: series
            .points
            .iter()
            .map(|p| PointJson {
                run: &p.run_id,
                started: number::utc(p.started_unix_ms),
                started_unix_ms: p.started_unix_ms,
                system: &p.label,
                server: &p.server,
                version: p.version.as_ref().map(ToString::to_string),
                commit: p.commit.as_ref().map(|commit| CommitJson {
                    hash: &commit.hash,
                    files_differ: commit.is_changed,
                    subject: &commit.subject,
                    time: &commit.time,
                    after_base: commit.after_base,
                }),
                is_base: p.is_base,
                value: estimate(&p.value),
                verdict: p.verdict.map(Verdict::word),
                starts: p.starts,
                schedule: names::schedule(&p.surroundings),
                kernel: &p.surroundings.host.kernel,
                warnings: p.warning_names(),
            })
            .collect(),
        changes: series
            .changes
            .iter()
            .map(|c| ChangeJson {
                at: c.at,
                ratio: c.size.point.is_finite().then(|| estimate(&c.size)),
                p: c.p,
                unlike: unlike_in_words(series, c),
                sentence: sentence(history, series, c),
            })
            .collect(),
    }
}
