//! Response times of a step, and how late its events began.

use maud::{Markup, html};

use super::distribution;
use super::table::{framed, system_head};
use rqps_analysis::response;
use rqps_analysis::{Analysis, Cell, StepAnalysis};
use rqps_report::response::{percentile_heading, time_unit};
use rqps_text::number;
use rqps_text::words::one_line;

/// Percentiles and the field's ten buckets.
pub(super) fn responses(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let measured: Vec<_> =
        step.cells.iter().enumerate().filter_map(|(idx, c)| Some((idx, c.response()?))).collect();
    let Some(smallest) = measured.iter().map(|(_, r)| r.typical_ns()).reduce(f64::min) else {
        return html! {};
    };
    let (unit, unit_ns) = time_unit(smallest);
    let show = |ns: f64| number::duration_in(ns, unit_ns);
    let percentiles = framed(
        &format!("Response time of events, {}", if unit == "us" { "µs" } else { unit }),
        step,
        html! {
            thead { tr {
                th scope="col" { "System" }
                th scope="col" { "mean" }
                @for p in response::PERCENTILES { th scope="col" { (percentile_heading(p)) } }
                th scope="col" { "max" }
                th scope="col" { "responses" }
            } }
            tbody { @for &(idx, times) in &measured {
                tr {
                    (system_head(analysis, idx))
                    td { @match times.mean_ns {
                        Some(ns) => { (show(ns)) },
                        None => { span.faint { "–" } },
                    } }
                    @for value in times.percentiles_ns {
                        td { @match value {
                            Some(ns) => { (show(ns as f64)) },
                            None => { span.faint { "–" } },
                        } }
                    }
                    td { (show(times.max_ns as f64)) }
                    td { (times.n) }
                }
            } }
        },
    );
    html! { (percentiles) (buckets(analysis, step)) }
}

/// The distribution of response times as curves.
pub(super) fn curve(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let measured: Vec<_> =
        step.cells.iter().enumerate().filter_map(|(idx, c)| Some((idx, c.response()?))).collect();
    distribution::draw(analysis, &measured, "Response time of events", &one_line(&step.title))
}

/// The field's ten buckets; imported percentiles have none.
fn buckets(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let times =
        |c: &Cell| c.response().cloned().filter(|times| times.buckets.iter().any(|n| *n > 0));
    let measured: Vec<_> =
        step.cells.iter().enumerate().filter_map(|(idx, c)| Some((idx, times(c)?))).collect();
    if measured.is_empty() {
        return html! {};
    }
    framed(
        "Response time of events, percent of responses up to",
        step,
        html! {
            thead { tr {
                th scope="col" { "System" }
                @for (name, _) in response::BUCKETS { th scope="col" { (name) } }
            } }
            tbody { @for (idx, times) in &measured {
                tr {
                    (system_head(analysis, *idx))
                    @for pct in times.bucket_pcts() {
                        td class=[(pct <= 0.0).then_some("faint")] { (rqps_report::insert::share(pct)) }
                    }
                }
            } }
        },
    )
}

/// How a set rate was held.
pub(super) fn starts(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let paced: Vec<_> =
        step.cells.iter().enumerate().filter_map(|(idx, c)| Some((idx, c.lateness()?))).collect();
    if paced.is_empty() {
        return html! {};
    }
    framed(
        "Starts at the set rate",
        step,
        html! {
            thead { tr {
                th scope="col" { "System" }
                th scope="col" { "due" }
                th scope="col" { "late" span.unit { "by 1 ms" } }
                th scope="col" { "missed" }
                th scope="col" { "mean delay" span.unit { "µs" } }
                th scope="col" { "longest" span.unit { "µs" } }
            } }
            tbody { @for (idx, starts) in paced {
                tr {
                    (system_head(analysis, idx))
                    td { (starts.n_due) }
                    td { (starts.n_late) }
                    td { (starts.n_missed) }
                    td { @match starts.mean_ns() {
                        Some(ns) => { (number::duration_in(ns, 1e3)) },
                        None => { span.faint { "–" } },
                    } }
                    td { (number::duration_in(starts.max_ns as f64, 1e3)) }
                }
            } }
        },
    )
}
