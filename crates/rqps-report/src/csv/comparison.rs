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
        "steady rate, operations/s: mean of the windows from the 80th to the 95th percentile, mean \
         over slices",
        |r| number(r.cell.steady_rate()),
    ));
    let meaning = "`steady_per_s` / that of the base, block by block; above 1 is faster";
    all.extend(ratio_columns("steady_ratio", meaning, |c| c.steady));
    for (idx, percentile) in COMPARED.into_iter().enumerate() {
        let heading = percentile_heading(percentile);
        let name = format!("response_{heading}_ratio");
        let meaning = format!(
            "{heading} of the response times / that of the base, block by block; below 1 is better"
        );
        all.extend(ratio_columns(&name, &meaning, move |c| c.responses.get(idx)?.judged));
    }
    all
}

fn verdict_columns() -> Vec<Column> {
    vec![
        column(
            "verdict_alone",
            "verdict without adjustment; `verdict` is adjusted for all ratios of the run \
             (Benjamini-Hochberg, 5%; differences below the bound count as none)",
            |r| {
                let decision = comparison_of(r).and_then(|c| c.decision);
                decision.map_or_else(String::new, |found| found.alone.word().to_owned())
            },
        ),
        column(
            "significant",
            "true when `rqps_adjusted_p` is at most 0.05, however small the difference",
            |r| {
                let of_ours = comparison_of(r).filter(|_| !r.cell.is_imported);
                of_ours.map_or_else(String::new, |c| c.rqps.is_significant().to_string())
            },
        ),
        column("rqps_half_width", "half the width of the interval / `rqps`; 0.01 is 1%", |r| {
            number(r.cell.rqps().and_then(|rqps| rqps.half_width()))
        }),
        column(
            "settle_s",
            "measured time to add, seconds of all systems together, to settle an unclear verdict with \
             a chance of 80%; empty above an hour",
            |r| number(r.cell.settle().and_then(|settle| settle.seconds())),
        ),
        column(
            "settle_starts",
            "starts of the servers to add for the same; empty above 100 and where time settles it",
            |r| {
                r.cell.settle().and_then(|s| s.starts()).map_or_else(String::new, |n| n.to_string())
            },
        ),
        column("starts", "starts of the servers behind the ratio", |r| {
            comparison_of(r).map_or_else(String::new, |c| c.rqps.found.starts.to_string())
        }),
        column(
            "start_sd",
            "standard deviation of the ratio between starts, without the noise of blocks; 0.01 is 1%; \
             empty with one start",
            |r| number(comparison_of(r).and_then(|c| c.rqps.found.start_sd)),
        ),
        column(
            "assumed_start_sd",
            "`start_sd` that the interval assumes; empty without such an assumption",
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
        column(format!("{name}_low"), "lower end of the 95% interval", end(false)),
        column(format!("{name}_high"), "upper end of the 95% interval", end(true)),
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
            "the same p-value, adjusted for all ratios of this kind in the run",
            move |r| number(comparison_of(r).and_then(pick).and_then(|judged| judged.adjusted_p)),
        ),
    ]
}
