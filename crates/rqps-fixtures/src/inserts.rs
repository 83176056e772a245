//! A run of the Insert Benchmark made by hand: two systems that hold their rates, one of them with a
//! stall, and a third that does not.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use rqps_model::Role;
use rqps_model::run::{Check, SystemStep};
use rqps_model::slice::{Lateness, Stream};
use rqps_model::{
    Dbms, Figure, Group, Placement, Run, RunStep, SeriesPoint, Slice, StepInfo, StepKind,
    StorageCounters,
};

use crate::{Draw, Shape, whole};

/// Rows per statement of background inserts and deletes.
const ROWS: f64 = 10.0;

fn encoded(times_ns: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    times_ns.into_iter().for_each(|ns| histogram.record(whole(ns).max(1)).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    bytes
}

/// Clients of one kind beside others: rows in each second, and the delay of the starts in each.
#[must_use]
pub fn stream(role: Role, target: Option<f64>, rows: &[f64]) -> Stream {
    let point = |rows: &f64| SeriesPoint {
        queries: u32::try_from(whole(rows / ROWS)).unwrap(),
        events: u32::try_from(whole(rows / ROWS)).unwrap(),
        ..SeriesPoint::default()
    };
    let series: Vec<SeriesPoint> = rows.iter().map(point).collect();
    let n_queries: u64 = series.iter().map(|p| u64::from(p.queries)).sum();
    let n_due = target.map_or(n_queries, |target| whole(target / ROWS * rows.len() as f64));
    // Starts that were due while nothing was answered waited for up to a second.
    let mut delays = Vec::new();
    for point in &series {
        let is_stall = point.queries == 0;
        let n = if is_stall { 100 } else { point.queries };
        delays.extend((0..n).map(|i| {
            if is_stall { 1e9 - 1e7 * f64::from(i) } else { 20_000.0 + 100.0 * f64::from(i) }
        }));
    }
    let longest = delays.iter().copied().fold(0.0, f64::max);
    Stream {
        role,
        clients: 1,
        target_per_s: target,
        duration_ns: rows.len() as u64 * 1_000_000_000,
        n_events: n_queries,
        n_queries,
        n_operations: n_queries * whole(ROWS),
        lateness: target.map(|_| Lateness {
            n_due,
            n_late: delays.iter().filter(|ns| **ns > 1e6).count() as u64,
            n_missed: n_due.saturating_sub(n_queries),
            max_ns: whole(longest),
            sum_ns: whole(delays.iter().sum()),
        }),
        errors: Vec::new(),
        delays: if target.is_some() { encoded(delays.iter().copied()) } else { Vec::new() },
        own_delays: target
            .map_or_else(Vec::new, |_| encoded(delays.iter().map(|ns| ns.min(30_000.0)))),
        series,
        response_times: encoded(delays.iter().map(|ns| ns + 180_000.0)),
    }
}

fn info(name: &str, kind: StepKind, group: Group) -> StepInfo {
    StepInfo {
        family: name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
        figure: match kind {
            StepKind::Index => Figure::RowsIndexed,
            StepKind::Mixed => Figure::Queries,
            _ => Figure::RowsInserted,
        },
        n: None,
        ..crate::info(name, kind, group)
    }
}

/// A slice whose figure counts rows, of which a statement has `rows`.
fn of_rows(mut slice: Slice, rows: u32) -> Slice {
    slice.n_queries /= u64::from(rows);
    slice.n_events = slice.n_queries;
    slice.n_operations = slice.n_queries * u64::from(rows);
    slice.series.iter_mut().for_each(|point| point.queries /= rows);
    slice
}

fn slices(qps: f64, us: f64, n: u32, draw: &mut Draw) -> Vec<Slice> {
    let shape = Shape { qps, noise: 0.012, seconds: 10, server_us: us, written_kb: 0.8 };
    let one = |idx| {
        let mut slice = crate::slice(idx, shape, draw);
        let written = slice.usage.storage.unwrap().write_bytes;
        slice.usage.storage = Some(StorageCounters {
            reads: slice.n_operations / 50,
            read_bytes: slice.n_operations / 50 * 16_384,
            writes: written / 16_384,
            ..slice.usage.storage.unwrap()
        });
        slice
    };
    (0..n).map(one).collect()
}

fn check(name: &str, passed: bool, found: &str) -> Check {
    Check { name: name.to_owned(), passed, found: found.to_owned() }
}

fn state(slices: Vec<Slice>, dbms: Dbms, grown: u64) -> SystemStep {
    let mut state = crate::done(slices);
    state.sizes.database_bytes = state.sizes.database_bytes.map(|bytes| bytes + grown * (90 << 20));
    let left: [(&str, u64); 2] = match dbms {
        Dbms::Postgres => [("dead tuples", 4000 + grown), ("dirty pages", 12)],
        _ => [("history list length", 120 * grown), ("dirty pages", 900 + grown)],
    };
    state.debt = BTreeMap::from(left.map(|(name, n)| (name.to_owned(), n)));
    state
}

/// Rates of the inserts of one step: per system and slice the rows of each second.
type Rates<'a> = &'a dyn Fn(usize, u32) -> Vec<f64>;

fn query_step(name: &str, qps: f64, target: f64, rates: Rates<'_>) -> RunStep {
    let group = if name.starts_with("qr") { Group::Range } else { Group::Point };
    let mut draw = Draw(whole(qps));
    let systems = [(1.0, Dbms::Mysql), (0.68, Dbms::Mysql), (1.1, Dbms::Mariadb)]
        .into_iter()
        .enumerate()
        .map(|(idx, (ratio, dbms))| {
            let mut all = slices(qps * ratio, 60.0 / ratio, 3, &mut draw);
            for slice in &mut all {
                slice.n_rows = slice.n_queries * 10;
                let rows = rates(idx, slice.idx);
                slice.streams = vec![
                    stream(Role::Insert, Some(target), &rows),
                    stream(Role::Delete, Some(target), &rows),
                ];
            }
            let mut state = state(all, dbms, 3);
            state.checks = vec![
                check("rows per query", true, "10.00 of 10"),
                check("deletes found rows", true, "30000 of 30000"),
            ];
            state
        })
        .collect();
    RunStep {
        info: info(name, StepKind::Mixed, group),
        clients: 1,
        placement: Placement::Free,
        start: 0,
        systems,
    }
}

fn churn_step(name: &str, rows_per_s: f64, (per_statement, grown): (u32, u64)) -> RunStep {
    let mut draw = Draw(whole(rows_per_s));
    let kind = if name == "l.x" { StepKind::Index } else { StepKind::Insert };
    let n_slices = if kind == StepKind::Index { 1 } else { 3 };
    let systems = [(1.0, Dbms::Mysql), (0.6, Dbms::Mysql), (0.97, Dbms::Mariadb)]
        .into_iter()
        .map(|(ratio, dbms)| {
            let all = slices(rows_per_s * ratio, 8.0 / ratio, n_slices, &mut draw);
            let mut all: Vec<Slice> =
                all.into_iter().map(|slice| of_rows(slice, per_statement)).collect();
            if matches!(name, "l.i1" | "l.i2") {
                for slice in &mut all {
                    slice.streams = vec![stream(Role::Delete, None, &[rows_per_s * ratio; 10])];
                }
            }
            let mut state = state(all, dbms, grown);
            state.checks = vec![check("rows in the tables", true, "200000 of 200000")];
            state
        })
        .collect();
    RunStep {
        info: info(name, kind, Group::Write),
        clients: 1,
        placement: Placement::Free,
        start: 0,
        systems,
    }
}

/// Three systems and eight steps: the second system stalls for a second in qr1000, the third holds
/// 800 of 1000 inserts/s there and in qp1000, l.i1 slows down on the first, a check of l.i2 fails on
/// the second.
#[must_use]
pub fn run() -> Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(made).clone()
}

fn made() -> Run {
    let systems = vec![
        crate::system(Dbms::Mysql, "5.6.14"),
        crate::system(Dbms::Mysql, "8.0.33"),
        crate::system(Dbms::Mariadb, "11.4.5"),
    ];
    let held = |target: f64| move |_: usize, _: u32| vec![target; 10];
    let at_1000 = |idx: usize, slice: u32| match (idx, slice) {
        (1, 1) => [vec![1000.0; 4], vec![0.0, 2000.0], vec![1000.0; 4]].concat(),
        (2, _) => vec![1000.0, 800.0, 600.0, 900.0, 800.0, 1000.0, 700.0, 700.0, 700.0, 800.0],
        _ => vec![1000.0; 10],
    };
    let points_at_1000 =
        |idx: usize, _: u32| if idx == 2 { vec![800.0; 10] } else { vec![1000.0; 10] };
    let mut steps = vec![
        churn_step("l.i0", 160_000.0, (100, 0)),
        churn_step("l.x", 420_000.0, (1, 1)),
        churn_step("l.i1", 24_000.0, (50, 2)),
        churn_step("l.i2", 9_000.0, (5, 3)),
        query_step("qr100", 9_100.0, 100.0, &held(100.0)),
        query_step("qp100", 11_200.0, 100.0, &held(100.0)),
        query_step("qr1000", 8_700.0, 1000.0, &at_1000),
        query_step("qp1000", 10_400.0, 1000.0, &points_at_1000),
    ];
    for slice in &mut steps[2].systems[0].slices {
        let n = 3 * 10;
        for (at, point) in slice.series.iter_mut().enumerate() {
            let second = u32::try_from(at).unwrap() + slice.idx * 10;
            point.queries -= point.queries * second / (2 * n);
        }
    }
    steps[3].systems[1].checks[0] = check("rows in the tables", false, "199990 of 200000");
    crate::run(systems, steps)
}

/// The same measured in turns: blocks of 2.4 s each.
#[must_use]
pub fn interleaved() -> Run {
    let mut run = run();
    run.schedule = rqps_model::Schedule::interleaved(100, 1);
    for slice in run.steps.iter_mut().flat_map(|s| &mut s.systems).flat_map(|s| &mut s.slices) {
        slice.n_rounds = Some(100);
    }
    run
}
