//! Hartigan's dip: how far the distribution of values is from every distribution with one mode.
//!
//! J. A. Hartigan and P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13
//! (1985). The distribution function is compared with the best one that is convex up to a modal
//! interval and concave after it: the greatest convex minorant to the left, the least concave
//! majorant to the right, while the modal interval shrinks as long as the gap between the two
//! exceeds what the sides miss already.

/// Values below which there is no dip to speak of.
const MIN_VALUES: usize = 4;

/// The dip of `sorted` values (ascending), from 1/(2n) to 1/4; 0 for fewer than four, or all alike.
///
/// Ties widen it: a value that comes k times is a jump of k/n, which no smooth distribution has.
#[must_use]
pub fn dip(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n < MIN_VALUES || sorted[n - 1] <= sorted[0] {
        return 0.0;
    }
    let (mut low, mut high) = (0, n - 1);
    // Counted in values, doubled as in the paper: a dip of 1/(2n) is 1.
    let mut dip: f64 = 1.0;
    loop {
        let minorant = Hull::new(sorted, low, high, Side::Below);
        let majorant = Hull::new(sorted, low, high, Side::Above);
        let gap = widest(sorted, &minorant, &majorant);
        if gap.size < dip {
            break;
        }
        let left = missed(sorted, &minorant, low, gap.left, Side::Below);
        let right = missed(sorted, &majorant, gap.right, high, Side::Above);
        dip = dip.max(left).max(right);
        if gap.left <= low && gap.right >= high {
            break;
        }
        (low, high) = (gap.left, gap.right);
    }
    dip / (2.0 * n as f64)
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// The greatest convex minorant.
    Below,
    /// The least concave majorant.
    Above,
}

/// A convex minorant or concave majorant of the points (value, position), by its corners and its
/// height at every position.
struct Hull {
    corners: Vec<usize>,
    /// Height at position `low + i`, in values.
    heights: Vec<f64>,
    low: usize,
}

impl Hull {
    fn new(x: &[f64], low: usize, high: usize, side: Side) -> Self {
        let mut corners: Vec<usize> = Vec::new();
        for i in low..=high {
            while let [.., a, b] = corners.as_slice() {
                // Slopes of a-b and b-i compared without division: ties have an endless slope.
                let before = (b - a) as f64 * (x[i] - x[*b]);
                let after = (i - b) as f64 * (x[*b] - x[*a]);
                let bends = if side == Side::Below { before < after } else { before > after };
                if bends {
                    break;
                }
                corners.pop();
            }
            corners.push(i);
        }
        let mut heights: Vec<f64> = Vec::with_capacity(high - low + 1);
        heights.push(low as f64);
        for pair in corners.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let run = x[b] - x[a];
            for i in a + 1..=b {
                let share = if run > 0.0 { (x[i] - x[a]) / run } else { 1.0 };
                heights.push(a as f64 + share * (b - a) as f64);
            }
        }
        Self { corners, heights, low }
    }

    fn at(&self, i: usize) -> f64 {
        self.heights[i - self.low]
    }
}

/// The widest gap between majorant and minorant, and the modal interval that it leaves.
struct Gap {
    size: f64,
    left: usize,
    right: usize,
}

fn widest(x: &[f64], minorant: &Hull, majorant: &Hull) -> Gap {
    let first = minorant.low;
    let last = minorant.corners.last().copied().unwrap_or(first);
    let mut gap = Gap { size: 0.0, left: first, right: last };
    let mut offer = |i: usize, left: usize, right: usize| {
        // The minorant runs through the lower ends of the jumps, the majorant through the upper
        // ones.
        let size = majorant.at(i) - minorant.at(i) + 1.0;
        if size > gap.size {
            gap = Gap { size, left, right };
        }
    };
    let is_inside = |i: usize| x[i] > x[first] && x[i] < x[last];
    for &corner in minorant.corners.iter().filter(|c| is_inside(**c)) {
        let right = majorant.corners.iter().copied().find(|c| *c >= corner).unwrap_or(last);
        offer(corner, corner, right);
    }
    for &corner in majorant.corners.iter().filter(|c| is_inside(**c)) {
        let left = minorant.corners.iter().rev().copied().find(|c| *c <= corner).unwrap_or(first);
        offer(corner, left, corner);
    }
    gap
}

/// By how much the distribution leaves `hull` between two of its positions, at most, in values.
fn missed(x: &[f64], hull: &Hull, from: usize, to: usize, side: Side) -> f64 {
    (from..=to)
        .filter(|i| x[*i] > x[from] && x[*i] < x[to])
        .map(|i| match side {
            Side::Below => i as f64 - hull.at(i) + 1.0,
            Side::Above => hull.at(i) - i as f64 + 1.0,
        })
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quality of 63 statistics faculties, the example of Hartigan and Hartigan (1985): their dip
    /// is 0.0595.
    const FACULTY: [f64; 63] = [
        30.0, 33.0, 35.0, 36.0, 36.0, 37.0, 37.0, 39.0, 39.0, 39.0, 39.0, 39.0, 40.0, 40.0, 40.0,
        40.0, 41.0, 42.0, 43.0, 43.0, 43.0, 44.0, 44.0, 45.0, 45.0, 46.0, 47.0, 47.0, 48.0, 48.0,
        48.0, 49.0, 50.0, 50.0, 51.0, 52.0, 52.0, 53.0, 53.0, 53.0, 53.0, 53.0, 54.0, 54.0, 57.0,
        57.0, 59.0, 60.0, 60.0, 60.0, 61.0, 61.0, 61.0, 61.0, 62.0, 62.0, 62.0, 62.0, 63.0, 66.0,
        70.0, 72.0, 72.0,
    ];

    #[test]
    fn the_example_of_the_paper() {
        let found = dip(&FACULTY);
        assert!((found - 0.059_523_81).abs() < 1e-6, "{found}");
    }

    #[test]
    fn known_values() {
        // Evenly spaced values are as near to uniform as n values can be: 1/(2n).
        let even: Vec<f64> = (0..50).map(f64::from).collect();
        assert!((dip(&even) - 0.01).abs() < 1e-12);
        // Two groups far apart: the dip nears its largest value, 1/4.
        let two: Vec<f64> =
            (0..200).map(|i| f64::from(i) * 1e-6 + if i < 100 { 0.0 } else { 1.0 }).collect();
        assert!((dip(&two) - 0.25).abs() < 0.006, "{}", dip(&two));
        assert!(dip(&[1.0, 2.0, 3.0]) < 1e-12 && dip(&[1.0; 9]) < 1e-12);
    }

    #[test]
    fn place_and_scale_do_not_matter() {
        let moved: Vec<f64> = FACULTY.iter().map(|v| 1000.0 + 0.5 * v).collect();
        assert!((dip(&moved) - dip(&FACULTY)).abs() < 1e-9);
        let mut mirrored: Vec<f64> = FACULTY.iter().map(|v| -v).collect();
        mirrored.reverse();
        assert!((dip(&mirrored) - dip(&FACULTY)).abs() < 1e-9);
    }
}
