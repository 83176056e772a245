//! The charts' horizontal axis: logarithmic, so that 0.5 and 2 lie equally far from 1.

use rqps_analysis::Analysis;

/// Whiskers may widen the axis to this many times the span of the points, so that one noisy step
/// does not press all others together; what lies outside ends in an arrow.
const WHISKER_ROOM: f64 = 1.3;

/// Part of a chart's width left free at each side, as a share of the span.
const MARGIN: f64 = 0.06;

/// Places for ticks, from fine to coarse; the first list whose labels have room is taken.
const TICKS: [&[f64]; 4] = [
    &[0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4],
    &[0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.5],
    &[0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0],
    &[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0],
];

/// Room of a label, percent of the width: 30 pixels on a phone.
const LABEL_ROOM: f64 = 8.5;

/// A logarithmic axis of ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low_log: f64,
    high_log: f64,
}

impl Scale {
    /// An axis that holds every rQPS of the run and the bound's band.
    pub(crate) fn of(analysis: &Analysis<'_>) -> Self {
        let ratios = || analysis.steps.iter().flat_map(|s| &s.cells).filter_map(|c| c.rqps());
        let band = [1.0 - 1.6 * analysis.judging.bound, 1.0 + 1.6 * analysis.judging.bound];
        let points = || ratios().map(|r| r.point).chain(band).filter(|v| *v > 0.0 && v.is_finite());
        let low = points().fold(f64::INFINITY, f64::min);
        let high = points().fold(0.0, f64::max);
        let whisker_low =
            ratios().filter_map(|r| r.interval).map(|(l, _)| l.max(1e-9)).fold(low, f64::min);
        let whisker_high = ratios().filter_map(|r| r.interval).map(|(_, h)| h).fold(high, f64::max);
        let low_log = whisker_low.max(low / WHISKER_ROOM).ln();
        let high_log = whisker_high.min(high * WHISKER_ROOM).ln();
        let margin = (high_log - low_log) * MARGIN;
        Self { low_log: low_log - margin, high_log: high_log + margin }
    }

    /// Where a ratio lies, percent of the width; outside the axis below 0 or above 100.
    pub(crate) fn percent(self, ratio: f64) -> f64 {
        let log = ratio.clamp(1e-9, 1e9).ln();
        (log - self.low_log) / (self.high_log - self.low_log) * 100.0
    }

    /// Ratios to label inside the axis, in order; 1 is among them.
    pub(crate) fn ticks(self) -> Vec<f64> {
        let inside = |ticks: &[f64]| -> Vec<f64> {
            let is_inside = |t: &f64| (2.0..=98.0).contains(&self.percent(*t));
            ticks.iter().copied().filter(is_inside).collect()
        };
        let has_room = |list: &[f64]| {
            list.windows(2).all(|w| self.percent(w[1]) - self.percent(w[0]) >= LABEL_ROOM)
        };
        // A list that ends inside the axis would leave a part of it without ticks.
        let covers = |list: &[f64]| {
            let at = |end: Option<&f64>| end.map_or(50.0, |t| self.percent(*t));
            at(list.first()) <= LABEL_ROOM && at(list.last()) >= 100.0 - LABEL_ROOM
        };
        let fitting = TICKS.iter().filter(|list| covers(list)).map(|list| inside(list));
        fitting.into_iter().find(|list| has_room(list)).unwrap_or_else(|| vec![1.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(low: f64, high: f64) -> Scale {
        Scale { low_log: low.ln(), high_log: high.ln() }
    }

    #[test]
    fn halves_and_doubles_lie_equally_far() {
        let scale = scale(0.4, 2.5);
        assert!((scale.percent(1.0) - 50.0).abs() < 1e-9);
        assert!((scale.percent(0.5) + scale.percent(2.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_have_room_and_hold_1() {
        assert_eq!(scale(0.74, 1.24).ticks(), [0.8, 0.9, 1.0, 1.1, 1.2]);
        assert_eq!(scale(0.55, 1.6).ticks(), [0.6, 0.8, 1.0, 1.2, 1.5]);
        assert_eq!(scale(0.03, 40.0).ticks(), [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert!(scale(0.92, 1.08).ticks().contains(&1.0));
    }
}
