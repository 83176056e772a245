//! Where a series changes its level.

use rqps_model::{Estimate, Verdict};
use rqps_stats::change_point::{self, Value};

use super::{Method, Order, Point, Series, Surrounding};

/// Significance of a change: the share of series without a change that have a false one.
pub const SIGNIFICANCE: f64 = 0.01;

/// Orders that the permutation test tries: the smallest p-value is a tenth of the significance.
const ORDERS: u32 = 999;

/// Seed of these orders: a series gives the same changes every time.
const SEED: u64 = 20_261_122;

/// A change of level.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Position of the first point of the new level.
    pub at: usize,
    /// New level / old level.
    pub size: Estimate,
    /// p-value, the search for its place included; absent where the verdict of a report tells the change.
    pub p: Option<f64>,
    /// What differs between the points beside it and may be the cause as well.
    pub unlike: Vec<Surrounding>,
}

/// Finds the changes of a series: what the test finds, and beside the base what the report of the run says.
pub(super) fn find(series: &mut Series, order: Order) {
    find_levels(series);
    let by_verdict = match order {
        Order::Version => by_verdict(series),
        Order::Time => Vec::new(),
    };
    let is_new = |at: usize| series.changes.iter().all(|change| change.at != at);
    let new: Vec<Change> = by_verdict.into_iter().filter(|change| is_new(change.at)).collect();
    if new.is_empty() {
        return;
    }
    series.changes.extend(new);
    series.changes.sort_by_key(|change| change.at);
    // Levels are those between all changes.
    let floor = floor(series);
    let values: Vec<Value> = series.points.iter().map(|p| value(series, p, floor)).collect();
    let places: Vec<usize> = series.changes.iter().map(|change| change.at).collect();
    for (nth, change) in series.changes.iter_mut().enumerate().filter(|(_, own)| own.p.is_some()) {
        let from = nth.checked_sub(1).map_or(0, |before| places[before]);
        let to = places.get(nth + 1).copied().unwrap_or(values.len());
        let at = change.at;
        if let Some(found) = change_point::level_change(&values[from..at], &values[at..to]) {
            let (old, new) = (&series.points[from..at], &series.points[at..to]);
            change.size = size(old, new, found.estimate);
        }
    }
    // One that was a part of what the report says of the base is none of its own.
    let is_open =
        |size: &Estimate| size.interval.is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high);
    series.changes.retain(|change| change.p.is_none() || !is_open(&change.size));
}

/// What the report says of the versions before and after the base, where all points are of one run: the test of levels
/// sees all versions after it as one level, and may find nothing where they differ much.
fn by_verdict(series: &Series) -> Vec<Change> {
    let points = &series.points;
    let is_one_run = points.iter().all(|point| point.run_id == points[0].run_id);
    let Some(base) = points.iter().position(|point| point.is_base).filter(|_| is_one_run) else {
        return Vec::new();
    };
    let is_called =
        |point: &Point| matches!(point.verdict, Some(Verdict::Slower | Verdict::Faster));
    let change = |at: usize, size: Estimate| Change { at, size, p: None, unlike: Vec::new() };
    let before = base.checked_sub(1).filter(|before| is_called(&points[*before]));
    let after = points.get(base + 1).filter(|point| is_called(point));
    let of_before = before.map(|before| change(base, inverse(&points[before].value)));
    of_before.into_iter().chain(after.map(|point| change(base + 1, point.value))).collect()
}

fn inverse(of: &Estimate) -> Estimate {
    let interval = of.interval.map(|(low, high)| (1.0 / high, 1.0 / low));
    Estimate { point: 1.0 / of.point, interval, n: of.n }
}

/// Finds where a series changes its level.
fn find_levels(series: &mut Series) {
    let floor = floor(series);
    let values: Vec<Value> = series.points.iter().map(|p| value(series, p, floor)).collect();
    let method = match series.method {
        Method::Student => change_point::Method::Student,
        Method::EDivisive => change_point::Method::Permutation { orders: ORDERS, seed: SEED },
    };
    let found = change_point::change_points(&values, method, SIGNIFICANCE).unwrap_or_default();
    let mut changes = Vec::new();
    for (nth, change) in found.iter().enumerate() {
        let from = nth.checked_sub(1).map_or(0, |before| found[before].at);
        let to = found.get(nth + 1).map_or(series.points.len(), |next| next.at);
        let (old, new) = (&series.points[from..change.at], &series.points[change.at..to]);
        let size = size(old, new, change.size.estimate);
        let unlike = unlike(&series.points, change.at);
        changes.push(Change { at: change.at, size, p: Some(change.p), unlike });
    }
    series.changes = changes;
}

/// What stands for 0, which has no logarithm: a thousandth of the least value above it.
fn floor(series: &Series) -> f64 {
    let above = series.points.iter().map(|point| point.value.point).filter(|value| *value > 0.0);
    let least = above.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least / 1000.0 } else { 1.0 }
}

/// The size of a change: 0 where nothing is done on the new level, infinite where nothing was on the old.
fn size(old: &[Point], new: &[Point], found: Estimate) -> Estimate {
    let is_nothing = |points: &[Point]| points.iter().all(|point| point.value.point == 0.0);
    match (is_nothing(old), is_nothing(new)) {
        (_, true) => Estimate { point: 0.0, interval: None, ..found },
        (true, false) => Estimate { point: f64::INFINITY, interval: None, ..found },
        (false, false) => found,
    }
}

/// A point as the search takes it. Points of one run share the starts of their base.
fn value(series: &Series, point: &Point, floor: f64) -> Value {
    if point.is_base {
        return Value::base();
    }
    let value = match point.uncertainty {
        Some(uncertainty) => Value::known(point.value.point, uncertainty),
        None => Value::alone(point.value.point.max(floor)),
    };
    let run = series.points.iter().position(|other| other.run_id == point.run_id);
    run.map_or(value, |run| value.of_run(run))
}

/// How the conditions of the two points differ between which a change is. The base is 1 under any.
fn unlike(points: &[Point], at: usize) -> Vec<Surrounding> {
    let before = at.checked_sub(1).and_then(|before| points.get(before));
    let Some((before, first)) = before.zip(points.get(at)) else { return Vec::new() };
    if before.is_base || first.is_base {
        return Vec::new();
    }
    before.surroundings.differences(&first.surroundings)
}

/// Levels between changes: from, to (excluded) and geometric mean.
#[must_use]
pub fn levels(series: &Series) -> Vec<(usize, usize, f64)> {
    let ends = series.changes.iter().map(|c| c.at).chain([series.points.len()]);
    let mut from = 0;
    let mut out = Vec::new();
    for to in ends {
        let logs: f64 = series.points[from..to].iter().map(|p| p.value.point.ln()).sum();
        out.push((from, to, (logs / (to - from).max(1) as f64).exp()));
        from = to;
    }
    out
}
