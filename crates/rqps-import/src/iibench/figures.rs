//! The figures of a step on one system by its logs and what was recorded beside them.

use std::collections::BTreeMap;

use rqps_model::{ErrorCount, Role, SeriesPoint, Slice, StatedResponse, Stream, WarningKind};

use super::cell as stated_cell;
use super::digits::rounded;
use super::log::{Log, Second};
use super::step::StepName;
use super::step_dir::StepDir;
use super::table::Row;
use crate::number::whole;
use crate::sheet::Cell;

/// Seconds that a log must have for its rates by share of the seconds: the scripts' rule.
const MIN_SECONDS: usize = 10;

/// The share of the target from which an insert rate is held: the field's rule.
const HELD: f64 = 0.95;

/// Longest interval that is laid out second by second: longer ones tell nothing of seconds.
const MAX_INTERVAL_S: u64 = 3600;

/// Longest log that has seconds: those of a month are of no use in a report.
const MAX_SERIES_S: f64 = 31.0 * 86_400.0;

/// The rows that were loaded before indexes were made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loaded {
    pub(super) rows: Option<u64>,
}

impl Loaded {
    /// Takes the rows of a step that loads.
    pub(super) fn take(&mut self, step: &StepName, dir: &StepDir) {
        if step.as_str() == "l.i0" {
            self.rows = Some(sum(&dir.logs, |end| end.inserted));
        }
    }
}

/// What clients of one kind did, of all logs.
struct Work {
    role: Role,
    n_operations: u64,
    n_statements: u64,
    series: Vec<SeriesPoint>,
    response: Option<StatedResponse>,
}

/// The cell of a step: figures as the summary states them, or computed from the logs where there is none.
///
/// # Errors
/// Indexes of an unknown number of rows, in words.
pub(super) fn cell(step: &StepName, dir: &StepDir, loaded: Loaded) -> Result<Cell, String> {
    let is_query = step.inserts_per_s().is_some();
    let is_index = step.as_str() == "l.x";
    let logs = &dir.logs;
    let longest_s = logs.iter().map(|log| log.total_s).fold(0.0, f64::max);
    let seconds = dir.summary.as_ref().map_or(longest_s, |summary| summary.seconds);
    let inserted = sum(logs, |end| end.inserted);
    let n_rows = match (is_index, &dir.summary, loaded.rows) {
        (false, ..) => inserted,
        (true, Some(summary), _) => whole(summary.rows_per_s * summary.seconds),
        (true, None, Some(rows)) => rows.saturating_add(inserted),
        (true, None, None) => {
            return Err(
                "the number of rows is not known without its o.res.dopN or the logs of l.i0: \
                        copy one of them"
                    .to_owned(),
            );
        }
    };
    let mut values: Vec<(String, f64)> = Vec::new();
    if let Some(summary) = &dir.summary {
        let columns = summary.columns(is_query, dir.n_cpus);
        values.extend(columns.into_iter().map(|(head, value)| (head.to_owned(), value)));
    }
    let own = if is_query { Role::Query } else { Role::Insert };
    let [inserts, deletes, queries] =
        [Role::Insert, Role::Delete, Role::Query].map(|role| work(role, logs));
    let (own_work, others) =
        if is_query { (queries, vec![inserts, deletes]) } else { (inserts, vec![deletes]) };
    let rates =
        Rates { ips: n_rows as f64 / longest_s, qps: own_work.n_operations as f64 / longest_s };
    for (head, value) in computed(dir, is_query, rates) {
        if !values.iter().any(|(known, _)| known == head) {
            values.push((head.to_owned(), value));
        }
    }
    let row = Row { tag: String::new(), values };
    let mut cell = stated_cell(step, &row, dir.clients).ok_or("it has no rate")?;
    let duration_ns = whole(seconds * 1e9);
    let others = others.into_iter().filter(|work| work.n_operations > 0);
    let target = cell.slice.stated.as_ref().and_then(|stated| stated.target_inserts_per_s);
    let mut stream_responses = BTreeMap::new();
    let mut streams = Vec::new();
    for work in others {
        stream_responses.extend(work.response.clone().map(|response| (work.role, response)));
        let target_per_s = target.filter(|_| work.role == Role::Insert);
        streams.push(stream(work, dir.clients, target_per_s, duration_ns));
    }
    let stated = cell.slice.stated.take().map(|stated| rqps_model::Stated {
        // What is inserted before indexes are made is none of the figure.
        response: own_work.response.clone().filter(|_| !is_index),
        stream_responses,
        ..stated
    });
    let n_retries = logs.iter().fold(0_u64, |sum, log| sum.saturating_add(log.n_retries));
    let error = (n_retries > 0).then(|| ErrorCount { code: "retry".to_owned(), n: n_retries });
    let reported = logs.iter().find_map(|log| log.error.as_ref());
    let mark = reported.map(|(_, error)| WarningKind::ImportedFault {
        text: format!("iibench.py reported an error: {error}"),
    });
    let is_counted = own == own_work.role && !is_index;
    cell.slice = Slice {
        duration_ns,
        n_events: if is_counted { own_work.n_statements } else { 0 },
        n_queries: if is_counted { own_work.n_statements } else { 0 },
        n_operations: if is_query { own_work.n_operations } else { n_rows },
        errors: error.into_iter().collect(),
        series: if is_counted { own_work.series } else { Vec::new() },
        warnings: mark.into_iter().collect(),
        streams,
        stated,
        ..cell.slice
    };
    Ok(cell)
}

/// What is to be known of a summary's insert rate that fails the SLA where that of the logs holds it.
pub(super) fn failed_by_the_start(step: &StepName, dir: &StepDir) -> Option<String> {
    let target = f64::from(step.inserts_per_s()?) * f64::from(dir.clients);
    let stated = dir.summary.as_ref()?.rows_per_s;
    let longest_s = dir.logs.iter().map(|log| log.total_s).fold(0.0, f64::max);
    let logged = sum(&dir.logs, |end| end.inserted) as f64 / longest_s;
    let is_held = |rate: f64| rate >= HELD * target;
    (!is_held(stated) && is_held(logged)).then(|| {
        format!(
            "the insert rate of its summary, {stated}/s, includes the start and end of the clients \
             and so fails the SLA; the rate of the logs, {:.1}/s, does not: run longer steps",
            logged
        )
    })
}

/// How far a stated rate that a share of the seconds reached may be from the logs: they give seconds in tenths.
const REACHED_SHARE: f64 = 0.1;

/// How far its share of the seconds may be: scripts count some lines that are no seconds.
const REACHED_RANK: f64 = 0.05;

/// Leaves out what a summary states of the first client's seconds, where its log has other rates.
pub(super) fn leave_out_reached(step: &StepName, dir: &mut StepDir) -> Option<String> {
    let is_query = step.inserts_per_s().is_some();
    let (summary, log) = (dir.summary.as_mut()?, dir.logs.first()?);
    let other = [("p50", 0.5), ("p99", 0.99)].into_iter().find_map(|(name, share)| {
        let stated = summary.reached(name, is_query)?;
        let least = reached(log, is_query, (share + REACHED_RANK).min(1.0))?;
        let most = reached(log, is_query, share - REACHED_RANK)?;
        let is_of_log = stated + 1.0 >= least * (1.0 - REACHED_SHARE)
            && stated - 1.0 <= most * (1.0 + REACHED_SHARE);
        let own = reached(log, is_query, share)?;
        (!is_of_log).then(|| format!("its {name} is {stated}, but {own:.1} in the first log"))
    })?;
    summary.leave_out_reached();
    Some(format!("{other}: p50 and p99 are computed from the log"))
}

/// Operations per second.
#[derive(Debug, Clone, Copy)]
struct Rates {
    ips: f64,
    qps: f64,
}

/// The columns of merged tables as far as the logs, vmstat and iostat tell them.
fn computed(dir: &StepDir, is_query: bool, rates: Rates) -> Vec<(&'static str, f64)> {
    let Rates { ips, qps } = rates;
    let rate = if is_query { qps } else { ips };
    let per = |value: Option<f64>, rate: f64| value.filter(|_| rate > 0.0).map(|v| v / rate);
    let (vm, io) = (dir.vmstat, dir.iostat.unwrap_or_default());
    let mb = |kb: Option<f64>| kb.map(|kb| kb / 1024.0);
    let cpu_us = vm.zip(dir.n_cpus).map(|(vm, n)| vm.cpu_pct / 100.0 * f64::from(n) * 1e6);
    let role = if is_query { Role::Query } else { Role::Insert };
    let longest =
        dir.logs.iter().filter_map(|log| log.responses.get(&role)).map(|r| r.max_ns).max();
    let all = [
        ("ips", Some(ips)),
        ("qps", Some(if is_query { qps } else { 0.0 })),
        ("rps", io.reads_per_s),
        ("rmbps", mb(io.read_kb_per_s)),
        ("wmbps", mb(io.written_kb_per_s)),
        ("rpq", per(io.reads_per_s, rate)),
        ("rkbpq", per(io.read_kb_per_s, rate)),
        ("wkbpi", per(io.written_kb_per_s, ips)),
        ("csps", vm.map(|vm| vm.switches_per_s)),
        ("cpups", vm.map(|vm| vm.cpu_pct)),
        ("cspq", per(vm.map(|vm| vm.switches_per_s), rate)),
        ("cpupq", per(cpu_us, rate)),
        ("maxop", longest.map(|ns| ns as f64 / 1e9)),
        ("p50", dir.logs.first().and_then(|log| reached(log, is_query, 0.5))),
        ("p99", dir.logs.first().and_then(|log| reached(log, is_query, 0.99))),
    ];
    all.into_iter().filter_map(|(head, value)| Some((head, rounded(head, value?)))).collect()
}

/// The rate that a share of a log's seconds reached.
fn reached(log: &Log, is_query: bool, share: f64) -> Option<f64> {
    let count = |second: Second| if is_query { second.queries } else { second.inserted };
    let mut rates: Vec<f64> = differences(log, count)
        .filter(|(length_s, _)| *length_s > 0.0)
        .map(|(length_s, n)| n as f64 / length_s)
        .collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    let at = usize::try_from(whole(share * rates.len() as f64)).ok()?.checked_sub(1)?;
    rates.get(at).copied().filter(|_| rates.len() >= MIN_SECONDS)
}

/// The length of each interval and what was done in it.
fn differences(log: &Log, count: impl Fn(Second) -> u64) -> impl Iterator<Item = (f64, u64)> {
    let mut before = 0;
    log.seconds.iter().map(move |second| {
        let n = count(*second);
        let own = n.saturating_sub(before);
        before = n;
        (second.length_s, own)
    })
}

fn sum(logs: &[Log], count: impl Fn(Second) -> u64) -> u64 {
    logs.iter().fold(0, |sum, log| sum.saturating_add(count(log.end())))
}

/// What the clients of a kind did. Seconds of several clients are those since each one's own start.
fn work(role: Role, logs: &[Log]) -> Work {
    let count = |second: Second| match role {
        Role::Delete => second.deleted,
        Role::Query => second.queries,
        Role::Insert | Role::Hold => second.inserted,
    };
    let mut n_statements = 0;
    let mut series: Vec<SeriesPoint> = Vec::new();
    for log in logs {
        let per_statement = match role {
            Role::Query => 1,
            _ => log.flags.rows_per_commit.unwrap_or(1),
        };
        n_statements = u64::saturating_add(n_statements, count(log.end()) / per_statement);
        let points = points(log, count, per_statement);
        series.resize(series.len().max(points.len()), SeriesPoint::default());
        for (sum, n) in series.iter_mut().zip(points) {
            sum.queries = sum.queries.saturating_add(n);
            sum.events = sum.queries;
        }
    }
    let n_operations = sum(logs, count);
    Work { role, n_operations, n_statements, series, response: response(role, logs) }
}

/// The statements of each second. An interval of several seconds has its mean in each of them.
fn points(log: &Log, count: impl Fn(Second) -> u64, per_statement: u64) -> Vec<u32> {
    let mut points = Vec::new();
    let all_s: f64 = log.seconds.iter().map(|second| second.length_s).sum();
    if all_s > MAX_SERIES_S {
        return points;
    }
    for (length_s, rows) in differences(log, count) {
        let seconds = whole(length_s).clamp(1, MAX_INTERVAL_S);
        let n = rows / per_statement;
        // The first seconds have what does not divide.
        let point = |at: u64| n / seconds + u64::from(at < n % seconds);
        points.extend((0..seconds).map(|at| u32::try_from(point(at)).unwrap_or(u32::MAX)));
    }
    points
}

/// The response times of all clients.
fn response(role: Role, logs: &[Log]) -> Option<StatedResponse> {
    let own = logs.iter().filter_map(|log| log.responses.get(&role).cloned());
    own.reduce(|mut all, one| {
        all.n = all.n.saturating_add(one.n);
        all.max_ns = all.max_ns.max(one.max_ns);
        if let (Some(sums), Some(counts)) = (&mut all.buckets, one.buckets) {
            sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum = sum.saturating_add(n));
        }
        all
    })
}

fn stream(work: Work, clients: u32, target_per_s: Option<f64>, duration_ns: u64) -> Stream {
    Stream {
        role: work.role,
        clients,
        target_per_s,
        duration_ns,
        n_events: work.n_statements,
        n_queries: work.n_statements,
        n_operations: work.n_operations,
        lateness: None,
        delays: Vec::new(),
        own_delays: Vec::new(),
        errors: Vec::new(),
        series: work.series,
        response_times: Vec::new(),
    }
}
