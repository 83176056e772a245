//! Metrics per operation of one step: absolute, and relative to the base with the colours of costs.

use maud::{Markup, html};
use rqps_model::{Better, Metric, PerOperation};

use super::label::{self, outside};
use super::table::{framed, system_head};
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_report::layout;
use rqps_report::tone::Tone;
use rqps_text::number;

/// The tables of a step, absolute and relative to the base; nothing where there is no metric.
pub(super) fn render(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let metrics = analysis.metrics();
    let row = |idx: usize,
               values: &PerOperation,
               is_relative: bool,
               show: &dyn Fn(Metric, f64) -> String| {
        html! { tr {
            (system_head(analysis, idx))
            @for &metric in &metrics {
                @let value = values.get(metric);
                @let is_cost = is_relative && metric.better() == Better::Lower;
                @let tone = value.filter(|_| is_cost).map_or(Tone::Plain, cost_tone);
                td class=[(tone != Tone::Plain).then(|| label::class(tone))] {
                    @match value {
                        Some(value) => { (show(metric, value)) },
                        None => { span.faint { "–" } },
                    }
                }
            }
        } }
    };
    if step
        .cells
        .iter()
        .all(|c| c.measurement().is_none_or(|own| own.per_operation.values.is_empty()))
    {
        return html! {};
    }
    let measured = step.cells.iter().enumerate();
    let measured: Vec<_> = measured
        .filter_map(|(idx, cell)| {
            Some((idx, cell.measurement().filter(|own| own.figure.is_some())?))
        })
        .collect();
    framed(
        &format!("Per {}", step.step.info.figure.operation()),
        step,
        html! {
            thead { tr {
                th scope="col" { "System" }
                @for metric in &metrics {
                    th scope="col" {
                        (metric.words())
                        span.unit { (if metric.unit() == "us" { "µs" } else { metric.unit() }) }
                    }
                }
            } }
            tbody {
                @for (idx, own) in measured {
                    (row(idx, &own.per_operation, false, &|metric, value| {
                        if analysis.is_imported(idx) {
                            number::stated(metric, value)
                        } else {
                            number::per_operation(value)
                        }
                    }))
                }
            }
            tbody {
                @if step.cells.iter().any(|c| c.relative().is_some()) {
                    tr.group { th scope="rowgroup" colspan=(metrics.len() + 1) {
                        "Relative to " (outside(analysis.base_label()))
                    } }
                }
                @for (idx, cell) in step.cells.iter().enumerate() {
                    @if let Some(relative) = cell.relative() {
                        (row(idx, relative, true, &|metric, ratio| {
                            if analysis.is_imported(idx) {
                                layout::stated_ratio(cell, metric)
                            } else {
                                number::plain_ratio(ratio)
                            }
                        }))
                    }
                }
            }
        },
    )
}

/// Costs are coloured by what they mean: more cost has the colour of a loss.
fn cost_tone(ratio: f64) -> Tone {
    match Tone::of_ratio(ratio) {
        Tone::Lower => Tone::Higher,
        Tone::Higher => Tone::Lower,
        other => other,
    }
}
