//! A history in sentences.

use rqps_model::Estimate;

use super::{History, Method, Order, Point, Scale, Series};
use crate::number::utc;

/// What another start of a server can move a figure by (docs/methodology.md): a smaller change is
/// told as such.
const START: f64 = 0.02;

/// Points without intervals below which the permutation test finds next to nothing.
const FEW: usize = 8;

/// `point-query got slower at MariaDB 10.11.5, 8% [6, 10].`
pub(super) fn sentence(
    series: &Series,
    (at, size): (usize, &Estimate),
    order: Order,
    several: bool,
) -> String {
    let of = if several { format!(" ({})", series.line) } else { String::new() };
    let place = place(&series.points, at, order);
    let direction = if size.point < 1.0 { "slower" } else { "faster" };
    let small = if (size.point - 1.0).abs() < START {
        "; another start of the server can move as much"
    } else {
        ""
    };
    let host = match series.scale {
        Scale::Relative { .. } => "",
        Scale::Absolute { .. } => ", or the host did",
    };
    format!("{}{of} got {direction} {place}, {}{host}{small}.", series.title, percent(size))
}

/// `slower 8% [6, 10]`, for tables and charts.
pub(crate) fn change_in_short(size: &Estimate) -> String {
    let direction = if size.point < 1.0 { "slower" } else { "faster" };
    format!("{direction} {}", percent(size))
}

/// A ratio as a loss or gain in percent, with its interval: `8% [6, 10]`.
fn percent(size: &Estimate) -> String {
    let sign = if size.point < 1.0 { -1.0 } else { 1.0 };
    let of = |ratio: f64| (ratio - 1.0) * 100.0 * sign;
    let Some((low, high)) = size.interval.map(|(l, h)| (of(l), of(h))) else {
        return format!("{:.0}% (no interval)", of(size.point));
    };
    let (low, high) = (low.min(high), low.max(high));
    let decimals = usize::from(high - low < 2.0);
    format!("{:.decimals$}% [{low:.decimals$}, {high:.decimals$}]", of(size.point))
}

/// Where a change is: the first point of the new level.
fn place(points: &[Point], at: usize, order: Order) -> String {
    let Some(point) = points.get(at) else { return String::new() };
    let run = &point.run_id;
    match order {
        Order::Time => {
            let utc = utc(point.started_unix_ms);
            format!("on {} (run {run})", utc.get(..10).unwrap_or(&utc))
        }
        Order::Version => {
            let is_same = |other: &Point| other.version == point.version;
            let before = at.checked_sub(1).and_then(|before| points.get(before));
            // Several points of one version: the run says which.
            let which =
                if before.is_some_and(is_same) { format!(" (run {run})") } else { String::new() };
            format!("at {}{which}", point.server)
        }
    }
}

/// How far a history can be trusted.
pub(super) fn caveats(history: &History) -> Vec<String> {
    let series = &history.series;
    let n = series.len();
    let mut out = vec![format!(
        "A change is told when it is significant at 1%, the search for its place included. {n} series \
         were tested: of those that never changed about one in a hundred is told to have."
    )];
    out.push(
        "A point is one start of its server or a few: another start draws another memory layout, which \
         alone can move a figure by 1 to 2%."
            .to_owned(),
    );
    if series.iter().any(|s| matches!(s.scale, Scale::Absolute { .. })) {
        out.push(
            "Where the runs of a series have no base in common its points are figures: a host that \
             became slower or faster looks like a change of the server."
                .to_owned(),
        );
    }
    if history.host.is_none() {
        out.push(
            "The points are of several hosts: what these differ in is in the series.".to_owned(),
        );
    }
    let short = |s: &&Series| s.method == Method::EDivisive && s.points.len() < FEW;
    let n_short = series.iter().filter(short).count();
    if n_short > 0 {
        out.push(format!(
            "{n_short} of the series have points without intervals (n=1) and fewer than {FEW} of them: \
             too few to tell a change from chance."
        ));
    }
    out
}
