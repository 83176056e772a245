//! The columns that only runs of the Insert Benchmark have, after the others.

use rqps_model::Role;

use super::{Column, Row, column, number, words};
use crate::insert::meanings;
use crate::response::percentile_heading;
use rqps_analysis::insert::field::FIELD_METRICS;
use rqps_analysis::insert::flow::{Flow, ROLES};
use rqps_analysis::response::{BUCKETS, ResponseTimes};
use rqps_analysis::{InsertCell, Sla};

/// The columns.
pub(super) fn columns() -> Vec<Column> {
    let mut all = sla_columns();
    for (idx, (metric, meaning)) in meanings().enumerate() {
        let meaning = format!("{meaning} ({})", metric.unit);
        all.push(column(metric.name, meaning, move |r| {
            number(own(r).and_then(|own| own.field.values[idx]))
        }));
    }
    for (idx, metric) in FIELD_METRICS.into_iter().enumerate() {
        let meaning = super::of_base(metric.name);
        all.push(column(format!("{}_ratio", metric.name), meaning, move |r| {
            let against = r.cell.against.as_ref();
            number(against.and_then(|against| against.field_relative.as_ref()?.values[idx]))
        }));
    }
    for role in ROLES {
        all.extend(flow_columns(role));
    }
    all.push(column(
        "debt",
        "unfinished background work of the server at the end, NAME=VALUE",
        |r| {
            let texts: Vec<String> =
                r.cell.debt.iter().map(|(name, value)| format!("{name}={value}")).collect();
            words(&texts.join("; "))
        },
    ));
    all.push(column("checks_passed", "names of passed checks", |r| {
        let passed = r.cell.checks.iter().filter(|check| check.passed);
        words(&passed.map(|check| check.name.clone()).collect::<Vec<_>>().join("; "))
    }));
    all.push(column("checks_failed", "failed checks with their results", |r| {
        let failed = r.cell.failed_checks();
        let texts: Vec<String> =
            failed.map(|check| format!("{}: {}", check.name, check.found)).collect();
        words(&texts.join("; "))
    }));
    all
}

fn own<'r>(row: &Row<'r, '_>) -> Option<&'r InsertCell> {
    row.cell.insert()
}

fn sla_columns() -> Vec<Column> {
    let of = |f: fn(&Sla) -> Option<f64>| move |r: &Row<'_, '_>| number(r.cell.sla().and_then(f));
    vec![
        column(
            "level",
            "`figure` in the range of all systems: top (quarter), bottom (quarter), middle, or unheld \
             (SLA failed)",
            |r| own(r).map_or_else(String::new, |_| r.step.level(r.idx).word().to_owned()),
        ),
        column("sla", "held when inserts reached 95% of their target rate, else failed", |r| {
            let word = |sla: &Sla| if sla.is_held { "held" } else { "failed" };
            r.cell.sla().map_or_else(String::new, |sla| word(sla).to_owned())
        }),
        column("insert_target_per_s", "target rate of inserts, rows/s", {
            of(|sla| Some(sla.target_per_s))
        }),
        column(
            "insert_held_share",
            "share of the seconds with at least 95% of the target",
            of(Sla::share_held),
        ),
        column("insert_gap_s", "longest time below 95% of the target, seconds", {
            of(|sla| sla.longest_gap().map(|s| s as f64))
        }),
    ]
}

/// A value of response times.
type OfTimes = Box<dyn Fn(&ResponseTimes) -> Option<f64>>;

/// Rate, delays and response times of one kind of clients.
fn flow_columns(role: Role) -> Vec<Column> {
    let name = role.name();
    let flow = move |r: &Row<'_, '_>| -> Option<Flow> { own(r)?.flow(role).cloned() };
    let late = move |f: fn(&Flow) -> Option<f64>| {
        move |r: &Row<'_, '_>| number(flow(r).and_then(|flow| f(&flow)))
    };
    let times = move |f: OfTimes| {
        move |r: &Row<'_, '_>| number(flow(r).and_then(|flow| f(flow.response.as_ref()?)))
    };
    let us = |ns: f64| ns / 1e3;
    let rows = if role == Role::Query { "queries" } else { "rows" };
    let mut all = vec![
        column(format!("{name}_per_s"), format!("{rows} per second"), late(|f| Some(f.rate_per_s))),
        column(format!("{name}_missed"), "starts still due at the end", {
            late(|f| Some(f.lateness?.n_missed as f64))
        }),
        column(format!("{name}_late_mean_us"), "mean delay of the starts, µs", {
            late(|f| Some(f.lateness?.mean_ns()? / 1e3))
        }),
        column(format!("{name}_late_p99_us"), "99th percentile of the delays, µs", {
            late(|f| Some(f.late_p99_ns? as f64 / 1e3))
        }),
        column(format!("{name}_late_max_us"), "longest delay of a start, µs", {
            late(|f| Some(f.lateness?.max_ns as f64 / 1e3))
        }),
        column(
            format!("{name}_own_late_p99_us"),
            "99th percentile of the client's own part of the delays, µs",
            late(|f| Some(f.own_late_p99_ns? as f64 / 1e3)),
        ),
        column(format!("{name}_responses"), "responses with a recorded time", {
            times(Box::new(|t| Some(t.n as f64)))
        }),
        column(format!("{name}_mean_us"), "mean response time, µs", {
            times(Box::new(move |t| t.mean_ns.map(us)))
        }),
    ];
    for p in crate::insert::PERCENTILES {
        let heading = percentile_heading(p).replace('.', "_");
        let meaning = format!("{p}th percentile of the response times, µs");
        all.push(column(format!("{name}_{heading}_us"), meaning, {
            times(Box::new(move |t| Some(us(t.percentile_ns(p)? as f64))))
        }));
    }
    all.push(column(format!("{name}_max_us"), "longest response time, µs", {
        times(Box::new(move |t| Some(us(t.max_ns as f64))))
    }));
    for (idx, (bucket, _)) in BUCKETS.into_iter().enumerate() {
        let meaning = match idx.checked_sub(1).map(|before| BUCKETS[before].0) {
            None => format!("percent of the responses up to {bucket}"),
            Some(before) if bucket == "gt" => format!("percent of the responses above {before}"),
            Some(before) => format!("percent of the responses above {before}, up to {bucket}"),
        };
        all.push(column(format!("{name}_{bucket}_pct"), meaning, {
            times(Box::new(move |t| Some(t.bucket_pcts()[idx])))
        }));
    }
    all
}
