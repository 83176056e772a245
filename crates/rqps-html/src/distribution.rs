//! How response times are distributed: each system's percentiles as a line, the nines equally far apart.

use maud::{Markup, html};

use super::line::legend;
use rqps_analysis::Analysis;
use rqps_analysis::response::{PERCENTILES, ResponseTimes};
use rqps_report::response::{percentile_heading, time_unit};
use rqps_text::number;

/// Width and height of the drawing's own coordinates.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// The longest time over the shortest that the axis spans at least, so that no hair is a mountain.
const LEAST_SPAN: f64 = 2.0;

/// The axes: times from the bottom to the top, percentiles from the first to the last that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Axes {
    low_ns: f64,
    high_ns: f64,
    last: f64,
}

/// The percentiles that are known, with their times.
fn points(times: &ResponseTimes) -> impl Iterator<Item = (f64, f64)> + Clone {
    let known = PERCENTILES.into_iter().zip(times.percentiles_ns);
    known.filter_map(|(percentile, ns)| Some((percentile, ns? as f64)))
}

/// Whether there is a line: an imported file may state one percentile alone.
fn is_line(times: &ResponseTimes) -> bool {
    points(times).nth(1).is_some()
}

/// 1 for 90%, 2 for 99%, 3 for 99.9%.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).log10()
}

impl Axes {
    /// Axes that hold all lines; `None` where there is none.
    fn of<'a>(lines: impl Iterator<Item = &'a ResponseTimes>) -> Option<Self> {
        let all: Vec<(f64, f64)> = lines.filter(|times| is_line(times)).flat_map(points).collect();
        // A clock that stood still is no time on a logarithmic axis.
        let low_ns = all.iter().map(|(_, ns)| ns.max(1.0)).reduce(f64::min)?;
        let high_ns = all.iter().map(|(_, ns)| *ns).reduce(f64::max)?.max(low_ns * LEAST_SPAN);
        let last = all.iter().map(|(percentile, _)| *percentile).reduce(f64::max)?;
        Some(Self { low_ns, high_ns, last })
    }

    fn x(self, percentile: f64) -> f64 {
        let first = nines(PERCENTILES[0]);
        (nines(percentile) - first) / (nines(self.last) - first) * WIDTH
    }

    fn y(self, ns: f64) -> f64 {
        let share = (ns.max(1.0) / self.low_ns).ln() / (self.high_ns / self.low_ns).ln();
        HEIGHT - share.clamp(0.0, 1.0) * (HEIGHT - 2.0) - 1.0
    }

    /// A line through the percentiles.
    fn path(self, times: &ResponseTimes) -> String {
        let places = points(times)
            .map(|(percentile, ns)| format!("{:.0} {:.0}", self.x(percentile), self.y(ns)));
        let places: Vec<String> = places.collect();
        format!("M{}", places.join("L"))
    }

    /// The percentiles up to the last.
    fn percentiles(self) -> impl Iterator<Item = f64> {
        PERCENTILES.into_iter().filter(move |percentile| *percentile <= self.last)
    }
}

/// The drawing of some systems' response times; nothing where there are too few to draw. `what` they are of,
/// and `of` which step, in words.
pub(super) fn draw(
    analysis: &Analysis<'_>,
    lines: &[(usize, &ResponseTimes)],
    what: &str,
    of: &str,
) -> Markup {
    let lines: Vec<_> = lines.iter().filter(|(_, times)| is_line(times)).collect();
    let Some(axes) = Axes::of(lines.iter().map(|(_, times)| *times)) else { return html! {} };
    let (unit, unit_ns) = time_unit(axes.low_ns);
    let unit = if unit == "us" { "µs" } else { unit };
    let show = |ns: f64| number::duration_in(ns, unit_ns);
    let cuts: String =
        axes.percentiles().map(|p| format!("M{:.0} 0V{HEIGHT}", axes.x(p))).collect();
    html! {
        figure.series {
            figcaption {
                (what) " by percentile, " (unit) "; both axes are logarithmic"
                (legend(analysis, lines.iter().map(|(idx, _)| *idx)))
            }
            div.frame {
                span.top { (show(axes.high_ns)) }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-label={ (what) " of " (of) " by percentile; a table has the numbers" } {
                    path.cut d=(cuts) {}
                    @for (idx, times) in &lines {
                        path class={ "track t" (idx % 6) } d=(axes.path(times)) {}
                    }
                }
                span.bottom { (show(axes.low_ns)) }
            }
            svg.nines aria-hidden="true" {
                // Those between the nines have no room on a phone.
                @for p in axes.percentiles().filter(|p| (p - 95.0).abs() > 1e-9 || *p >= axes.last) {
                    text x=(format!("{:.1}%", axes.x(p) / WIDTH * 100.0)) y="1em" { (percentile_heading(p)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(percentiles_ns: [Option<u64>; 6]) -> ResponseTimes {
        ResponseTimes {
            n: 1,
            min_ns: Some(1),
            mean_ns: Some(1.0),
            max_ns: 1,
            percentiles_ns,
            buckets: [0; 10],
        }
    }

    #[test]
    fn nines_are_equally_far_apart() {
        let [short, long] = [
            times([Some(100), Some(200), Some(200), Some(400), None, None]),
            times([Some(200), Some(400), Some(400), Some(800), Some(10_000), None]),
        ];
        let axes = Axes::of([&short, &long].into_iter()).unwrap();
        assert_eq!((axes.low_ns, axes.high_ns, axes.last), (100.0, 10_000.0, 99.9));
        let [one, two, three] = [90.0, 99.0, 99.9].map(|p| axes.x(p));
        assert!((three - two - (two - one)).abs() < 1e-6 && (three - WIDTH).abs() < 1e-6);
        // A thousand ns lie halfway between a hundred and ten thousand.
        assert!((axes.y(1000.0) - HEIGHT / 2.0).abs() < 1e-6);
        assert_eq!(axes.path(&short), "M0 99L259 84L371 84L629 69");
    }

    #[test]
    fn what_has_one_point_or_none_is_not_drawn() {
        let one = times([Some(100), None, None, None, None, None]);
        assert_eq!(Axes::of([&one].into_iter()), None);
        assert_eq!(Axes::of([&times([None; 6])].into_iter()), None);
        let stated = times([None, None, Some(100), None, None, None]);
        assert_eq!(Axes::of([&one, &stated].into_iter()), None);
        let flat = times([Some(100), Some(101), None, None, None, None]);
        assert!((Axes::of([&flat].into_iter()).unwrap().high_ns - 200.0).abs() < 1e-9);
    }
}
