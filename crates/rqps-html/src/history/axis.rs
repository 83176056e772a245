//! The axes of a chart: the vertical one is linear, from about the smallest to about the largest value.

use rqps_model::Estimate;

/// Whiskers may widen the axis by this many times the span of the points; longer ones are cut off.
const WHISKER_ROOM: f64 = 0.8;

/// The least span, as a share of the largest value: what is the same shall look the same.
const LEAST_SPAN: f64 = 0.04;

/// Part of the span that stays free at each end.
const MARGIN: f64 = 0.08;

/// Ticks wanted; there are up to twice as many.
const TICKS: f64 = 4.0;

/// Where values are drawn, pixels from the top.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Band {
    pub(crate) top_px: f64,
    pub(crate) bottom_px: f64,
}

/// Horizontal places of so many points, as percentages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) n: f64,
}

impl Places {
    /// Of a point.
    pub(crate) fn middle(self, at: usize) -> String {
        format!("{:.2}%", (at as f64 + 0.5) / self.n * 100.0)
    }

    /// Between a point and the one before it.
    pub(crate) fn edge(self, at: usize) -> String {
        format!("{:.2}%", at as f64 / self.n * 100.0)
    }
}

/// A linear axis of values, drawn from `top_px` down to `bottom_px`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    top_px: f64,
    bottom_px: f64,
}

impl Axis {
    /// An axis that holds every value and its whiskers as far as there is room.
    pub(crate) fn of(values: &[Estimate], Band { top_px, bottom_px }: Band) -> Self {
        let values = || values.iter();
        let low = values().map(|v| v.point).fold(f64::INFINITY, f64::min);
        let high = values().map(|v| v.point).fold(0.0, f64::max);
        let ends = || values().filter_map(|v| v.interval);
        let whisker_low = ends().map(|(l, _)| l).fold(low, f64::min);
        let whisker_high = ends().map(|(_, h)| h).fold(high, f64::max);
        let room = WHISKER_ROOM * (high - low).max(LEAST_SPAN * high);
        let (mut low, mut high) = (whisker_low.max(low - room), whisker_high.min(high + room));
        let lacks = LEAST_SPAN * high - (high - low);
        if lacks > 0.0 {
            (low, high) = (low - lacks / 2.0, high + lacks / 2.0);
        }
        let margin = MARGIN * (high - low);
        Self { low: low - margin, high: high + margin, top_px, bottom_px }
    }

    /// Where a value lies, pixels from the top; at the edge for what lies outside.
    pub(crate) fn px(self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.bottom_px - share * (self.bottom_px - self.top_px)
    }

    /// Round values inside the axis with their texts.
    pub(crate) fn ticks(self) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / TICKS;
        if !(rough.is_finite() && rough > 0.0) {
            return Vec::new();
        }
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|n| n * power).into_iter().rfind(|s| *s <= rough);
        let step = step.unwrap_or(power);
        let decimals = if step >= 1.0 {
            0
        } else {
            (1..9).find(|d| step * 10_f64.powi(*d) >= 0.999).unwrap_or(9)
        };
        let decimals = usize::try_from(decimals).unwrap_or(0);
        let first = (self.low / step).ceil();
        (0..20)
            .map(|n| (first + f64::from(n)) * step)
            .take_while(|value| *value <= self.high)
            .map(|value| (value, format!("{value:.decimals$}")))
            .collect()
    }
}

/// Whole pixels and halves are enough.
pub(crate) fn px(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::Axis;

    #[test]
    fn ticks_are_round_and_inside() {
        let ticks = |low: f64, high: f64| -> Vec<String> {
            let axis = Axis { low, high, top_px: 0.0, bottom_px: 100.0 };
            axis.ticks().into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(
            ticks(0.68, 1.05),
            ["0.70", "0.75", "0.80", "0.85", "0.90", "0.95", "1.00", "1.05"]
        );
        assert_eq!(
            ticks(9_800.0, 25_100.0),
            ["10000", "12000", "14000", "16000", "18000", "20000", "22000", "24000"]
        );
        assert_eq!(ticks(0.985, 1.012).first().map(String::as_str), Some("0.985"));
    }

    #[test]
    fn the_ends_are_at_the_edges() {
        let axis = Axis { low: 1.0, high: 2.0, top_px: 10.0, bottom_px: 110.0 };
        let found = [1.0, 1.5, 2.0, 7.0].map(|value| axis.px(value));
        assert_eq!(found.map(|px| px.round().to_string()), ["110", "60", "10", "10"]);
    }
}
