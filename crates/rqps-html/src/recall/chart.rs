//! QPS on a logarithmic scale against recall, a line for each system.
//!
//! Recall is drawn by its distance to 1 on a logarithmic scale: 0.9 to 0.99 is as wide as 0.99 to 0.999.

use maud::{Markup, html};

use rqps_analysis::{Analysis, RecallPoint, RecallTable};
use rqps_text::number::{figure, plain_figure};
use rqps_text::words::one_line;

/// Height of the drawing, and of the room for the labels below; pixels.
const HEIGHT: f64 = 300.0;
const BELOW: f64 = 40.0;
const ABOVE: f64 = 10.0;

/// A recall this near to 1, or nearer, is drawn at the right edge.
const NEAREST: f64 = 1e-4;

/// Recalls with a label.
const TICKS: [f64; 7] = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0];

/// The drawing.
pub(super) fn render(analysis: &Analysis<'_>, table: &RecallTable) -> Markup {
    let points = || table.curves.iter().flat_map(|curve| &curve.points);
    let qps = || points().map(|point| point.qps.point).filter(|qps| *qps > 0.0);
    let (low, high) = (qps().fold(f64::INFINITY, f64::min), qps().fold(0.0, f64::max));
    let lowest = points().map(|point| point.recall).fold(1.0, f64::min);
    if low > high {
        return html! {};
    }
    let scales = Scales {
        low: low.log10() - 0.08,
        high: high.log10() + 0.08,
        left: depth(lowest) - 0.08,
        right: depth(1.0),
    };
    let described = format!("QPS against recall of {} systems", table.curves.len());
    html! {
        figure.history {
            figcaption { "QPS (logarithmic) against recall; up and right is better" }
            div.plot-frame {
                svg width="100%" height=(px(HEIGHT)) role="img" aria-label=(one_line(&described)) {
                    @for tick in ticks(low, high) {
                        @let y = px(scales.y(tick));
                        line.tick x1="0" x2="100%" y1=(y) y2=(y) {}
                        text.tick-label x="-6" y=(y) { (plain_figure(tick)) }
                    }
                    @for recall in TICKS {
                        @if recall >= lowest {
                            @let x = scales.x(recall);
                            line.tick x1=(x) x2=(x) y1=(px(ABOVE)) y2=(px(HEIGHT - BELOW)) {}
                            text x=(x) y=(px(HEIGHT - BELOW + 16.0)) text-anchor="middle" { (recall) }
                        }
                    }
                    @for (idx, curve) in table.curves.iter().enumerate() {
                        (line(&curve.points, idx, scales))
                        @for point in &curve.points { (dot(analysis, point, idx, scales)) }
                    }
                }
            }
            (legend(analysis))
        }
    }
}

/// Where values lie.
#[derive(Clone, Copy)]
struct Scales {
    low: f64,
    high: f64,
    left: f64,
    right: f64,
}

impl Scales {
    fn y(self, qps: f64) -> f64 {
        let share = (qps.log10() - self.low) / (self.high - self.low);
        HEIGHT - BELOW - share * (HEIGHT - BELOW - ABOVE)
    }

    fn share(self, recall: f64) -> f64 {
        (depth(recall) - self.left) / (self.right - self.left) * 97.0 + 1.0
    }

    fn x(self, recall: f64) -> String {
        format!("{:.2}%", self.share(recall))
    }
}

/// How far a recall is on the way to 1.
fn depth(recall: f64) -> f64 {
    -(1.0 - recall).max(NEAREST).log10()
}

/// A line through the points of a system, part by part: a path takes no percentages.
fn line(points: &[RecallPoint], idx: usize, scales: Scales) -> Markup {
    let mut searched: Vec<&RecallPoint> = points.iter().filter(|point| !point.is_exact).collect();
    searched.sort_by(|a, b| a.recall.total_cmp(&b.recall));
    html! {
        @for pair in searched.windows(2) {
            line class={ "curve t" (idx % COLOURS + 1) }
                x1=(scales.x(pair[0].recall)) y1=(px(scales.y(pair[0].qps.point)))
                x2=(scales.x(pair[1].recall)) y2=(px(scales.y(pair[1].qps.point))) {}
        }
    }
}

/// Colours of the style.
const COLOURS: usize = 5;

fn dot(analysis: &Analysis<'_>, point: &RecallPoint, idx: usize, scales: Scales) -> Markup {
    let (x, y) = (scales.x(point.recall), px(scales.y(point.qps.point)));
    let words = format!(
        "{}, {}: {} QPS at recall {:.4} ± {:.4}",
        analysis.label(idx),
        analysis.steps[point.step_idx].step.info.name,
        figure(&point.qps),
        point.recall,
        point.half_width
    );
    let ends = point.qps.interval;
    let wide = (
        scales.x(point.recall - point.half_width),
        scales.x((point.recall + point.half_width).min(1.0)),
    );
    html! {
        g class={ "dot c" (idx % COLOURS + 1) } {
            title { (one_line(&words)) }
            @if let Some((low, high)) = ends {
                @if low > 0.0 { line x1=(x) x2=(x) y1=(px(scales.y(low))) y2=(px(scales.y(high))) {} }
            }
            line x1=(wide.0) x2=(wide.1) y1=(y) y2=(y) {}
            circle cx=(x) cy=(y) r="4" {}
        }
    }
}

fn legend(analysis: &Analysis<'_>) -> Markup {
    html! {
        ul.curve-legend {
            @for (idx, system) in analysis.run.systems.iter().enumerate() {
                li class={ "c" (idx % COLOURS + 1) } { (super::outside(system.spec.label.as_str())) }
            }
        }
    }
}

/// 1, 2 and 5 times powers of ten between two values.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let powers = (low.log10().floor(), high.log10().ceil());
    let mut all = Vec::new();
    let mut power = powers.0;
    while power <= powers.1 {
        all.extend([1.0, 2.0, 5.0].map(|n| n * 10_f64.powf(power)));
        power += 1.0;
    }
    all.retain(|tick| *tick >= low * 0.9 && *tick <= high * 1.1);
    all
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::{depth, ticks};

    #[test]
    fn decades_of_recall_are_equally_wide() {
        let wide = |from: f64, to: f64| depth(to) - depth(from);
        assert!((wide(0.9, 0.99) - wide(0.99, 0.999)).abs() < 1e-9);
        assert!((depth(1.0) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(90.0, 1000.0), [100.0, 200.0, 500.0, 1000.0]);
    }
}
