//! The columns of tests, starts of the servers, steady rates and percentiles against the base.

use super::{Column, Row, column, number};
use crate::response::percentile_heading;
use rqps_analysis::response::COMPARED;
use rqps_analysis::{Comparison, Judged};

/// The columns.
pub(super) fn columns() -> Vec<Column> {
    let mut all = verdict_columns();
    all.extend(test_columns("rqps", |c| Some(c.rqps)));
    all.extend(test_columns("server_cpu_ratio", |c| c.server_cpu));
    all.push(column(
        "steady_per_s",
        "operations per second of the better windows: mean over slices of those from the 80th to the \
         95th percentile",
        |r| number(r.cell.steady_rate()),
    ));
    let meaning = "steady_per_s / that of the base, block by block, above 1 is faster";
    all.extend(ratio_columns("steady_ratio", meaning, |c| c.steady));
    for (idx, percentile) in COMPARED.into_iter().enumerate() {
        let heading = percentile_heading(percentile);
        let name = format!("response_{heading}_ratio");
        let meaning = format!(
            "{heading} of response times / that of the base, block by block, below 1 is better"
        );
        all.extend(ratio_columns(&name, &meaning, move |c| c.responses.get(idx)?.judged));
    }
    all
}

fn verdict_columns() -> Vec<Column> {
    vec![
        column(
            "verdict_alone",
            "the verdict if no other ratio had been tried: `verdict` is adjusted for all of the run \
             (Benjamini-Hochberg, 5%), where differences below the bound count as none",
            |r| {
                let decision = comparison_of(r).and_then(|c| c.decision);
                decision.map_or_else(String::new, |found| found.alone.word().to_owned())
            },
        ),
        column(
            "significant",
            "true where the difference stands among all that were tried, however small it is: \
             rqps_adjusted_p is at most 0.05",
            |r| {
                let of_ours = comparison_of(r).filter(|_| !r.cell.is_imported);
                of_ours.map_or_else(String::new, |c| c.rqps.is_significant().to_string())
            },
        ),
        column("rqps_half_width", "half the interval's width / rqps: 0.01 is 1%", |r| {
            number(r.cell.rqps().and_then(|rqps| rqps.half_width()))
        }),
        column(
            "settle_s",
            "seconds of measuring, all systems together, that would settle an unclear verdict with a \
             chance of 80%; empty for more than an hour",
            |r| number(r.cell.settle().and_then(|settle| settle.seconds())),
        ),
        column(
            "settle_starts",
            "starts of the servers that would, where there were several; empty for more than 100",
            |r| {
                r.cell.settle().and_then(|s| s.starts()).map_or_else(String::new, |n| n.to_string())
            },
        ),
        column("starts", "starts of the servers that the ratio rests on", |r| {
            comparison_of(r).map_or_else(String::new, |c| c.rqps.found.starts.to_string())
        }),
        column(
            "start_sd",
            "standard deviation of the ratio from start to start, beyond what blocks explain: 0.01 is \
             1%; empty for one start",
            |r| number(comparison_of(r).and_then(|c| c.rqps.found.start_sd)),
        ),
        column(
            "assumed_start_sd",
            "the same, assumed before the starts at hand; empty where the interval does not go by it",
            |r| number(comparison_of(r).and_then(|c| c.rqps.found.prior).map(|prior| prior.sd)),
        ),
    ]
}

fn comparison_of<'r>(row: &Row<'r, '_>) -> Option<&'r Comparison> {
    row.cell.comparison()
}

/// A ratio with interval and test.
fn ratio_columns(
    name: &str,
    meaning: &str,
    pick: impl Fn(&Comparison) -> Option<Judged> + Copy + 'static,
) -> Vec<Column> {
    let end = move |upper: bool| {
        move |r: &Row<'_, '_>| {
            let ends =
                comparison_of(r).and_then(pick).and_then(|judged| judged.estimate().interval);
            number(ends.map(|(low, high)| if upper { high } else { low }))
        }
    };
    let point =
        move |r: &Row<'_, '_>| number(comparison_of(r).and_then(pick).map(|j| j.estimate().point));
    let mut all = vec![
        column(name, meaning, point),
        column(format!("{name}_low"), "lower end of its 95% interval", end(false)),
        column(format!("{name}_high"), "upper end of its 95% interval", end(true)),
    ];
    all.extend(test_columns(name, pick));
    all
}

fn test_columns(
    name: &str,
    pick: impl Fn(&Comparison) -> Option<Judged> + Copy + 'static,
) -> Vec<Column> {
    vec![
        column(format!("{name}_p"), "p-value of no difference", move |r| {
            number(comparison_of(r).and_then(pick).and_then(|judged| judged.found.tested.p))
        }),
        column(
            format!("{name}_adjusted_p"),
            "the same adjusted for all ratios of its kind in the run",
            move |r| number(comparison_of(r).and_then(pick).and_then(|judged| judged.adjusted_p)),
        ),
    ]
}
