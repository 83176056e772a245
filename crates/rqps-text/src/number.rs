//! Numbers as text, with as many digits as their intervals support.
//!
//! A rate is rounded at the second significant digit of its interval's half-width: 16747 ± 335 is
//! written 16750. A ratio is rounded at the first one, with two or three decimals: 0.623 ± 0.021 is
//! 0.62, 0.7123 ± 0.0041 is 0.712. Without an interval a rate is a whole number from 100 up, and a
//! ratio has two decimals. Only text is rounded: CSV and JSON have full precision.

use jiff::Timestamp;
use rqps_model::{Estimate, Metric};

/// The text where nothing was measured.
pub const NOTHING: &str = "-";

/// Most decimals of a ratio: the steadiest measurements of this field resolve 0.1%.
const MAX_RATIO_DECIMALS: usize = 3;

/// Half the interval's width in the unit of the value; `None` without one, or when it is nothing
/// but the rounding of the arithmetic.
fn half_width(estimate: &Estimate) -> Option<f64> {
    let (low, high) = estimate.interval?;
    let half = (high - low) / 2.0;
    (half.is_finite() && half > 1e-9 * estimate.point.abs()).then_some(half)
}

/// Operations per second.
pub fn figure(estimate: &Estimate) -> String {
    match half_width(estimate) {
        Some(half) => round_at(estimate.point, half),
        None => plain_figure(estimate.point),
    }
}

/// The ends of a rate's interval: `[16410, 17080]`; absent with one observation.
pub fn figure_interval(estimate: &Estimate) -> Option<String> {
    let (low, high) = estimate.interval?;
    Some(match half_width(estimate) {
        Some(half) => format!("[{}, {}]", round_at(low, half), round_at(high, half)),
        None => format!("[{}, {}]", plain_figure(low), plain_figure(high)),
    })
}

/// Operations per second of one slice, which has no interval.
pub fn plain_figure(value: f64) -> String {
    fixed(value, decimals(value))
}

/// The decimals that [`plain_figure`] gives a value.
pub fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v > 0.0 => 3,
        _ => 0,
    }
}

/// `value` rounded at the second significant digit of `half`.
fn round_at(value: f64, half: f64) -> String {
    let mut unit = 1.0;
    while unit * 100.0 <= half {
        unit *= 10.0;
    }
    if unit > 1.0 || value.abs() >= 1000.0 {
        return fixed((value / unit).round() * unit, 0);
    }
    let (mut decimals, mut shifted) = (0, half);
    while shifted < 10.0 && decimals < 3 {
        shifted *= 10.0;
        decimals += 1;
    }
    fixed(value, decimals)
}

/// Decimals that a ratio and the ends of its interval are written with.
fn ratio_decimals(estimate: &Estimate) -> usize {
    let Some(half) = half_width(estimate) else { return 2 };
    let (mut decimals, mut shifted) = (0, half);
    while shifted < 1.0 && decimals < MAX_RATIO_DECIMALS {
        shifted *= 10.0;
        decimals += 1;
    }
    decimals.max(2)
}

/// Bytes as whole MB of 2^20 bytes, the MB of [`bytes`], without the unit.
#[must_use]
pub fn megabytes(bytes: u64) -> String {
    ((bytes + (1 << 19)) >> 20).to_string()
}

/// A ratio: `0.62`.
pub fn ratio(estimate: &Estimate) -> String {
    fixed(estimate.point, ratio_decimals(estimate))
}

/// The ends of a ratio's interval: `[0.60, 0.64]`; absent with one observation.
pub fn interval(estimate: &Estimate) -> Option<String> {
    let (low, high) = estimate.interval?;
    let decimals = ratio_decimals(estimate);
    Some(format!("[{}, {}]", fixed(low, decimals), fixed(high, decimals)))
}

/// A ratio with its interval, or with `n=1` where it has none: `0.62 [0.60, 0.64]`.
#[must_use]
pub fn ratio_with_interval(estimate: &Estimate) -> String {
    match interval(estimate) {
        Some(ends) => format!("{} {ends}", ratio(estimate)),
        None => format!("{} (n=1)", ratio(estimate)),
    }
}

/// A ratio without an interval of its own, in two digits as the field writes it; `inf` for x/0.
pub fn plain_ratio(value: f64) -> String {
    fixed(value, 2)
}

/// A quantity per operation: four significant digits at most, a plain 0 for nothing.
pub fn per_operation(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    fixed(value, decimals)
}

/// A metric as an imported file states it: the same digits, without zeros at the end.
pub fn stated(metric: Metric, value: f64) -> String {
    if metric == Metric::HostCpuShare { format!("{value:.6}") } else { value.to_string() }
}

/// Nanoseconds in `unit_ns`, three significant digits: what the histograms resolve.
pub fn duration_in(ns: f64, unit_ns: f64) -> String {
    let value = ns / unit_ns;
    let decimals = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    fixed(value, decimals)
}

/// A length of time for people: `90 s`, `12 min`, `1 h 5 min`.
pub fn long_duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A projected time for people: `40 s`, `4 min`.
pub fn about(seconds: f64) -> String {
    if seconds < 60.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

/// A small share as percent with two significant digits: `0.86%`, `2.8%`, `12%`.
pub fn small_percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = match value.abs() {
        v if v >= 9.95 => 0,
        v if v >= 0.995 => 1,
        _ => 2,
    };
    format!("{}%", fixed(value, decimals))
}

/// A p-value: three decimals.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { fixed(p, 3) }
}

/// Bytes in the largest unit that leaves at least one whole: `31.2 GB` (powers of 1024).
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KB", "MB", "GB", "TB"];
    let (mut value, mut idx) = (n as f64, 0);
    while value >= 1024.0 && idx + 1 < UNITS.len() {
        value /= 1024.0;
        idx += 1;
    }
    let decimals = usize::from(idx > 0 && value < 100.0);
    format!("{value:.decimals$} {}", UNITS[idx])
}

/// KB of 1024 bytes, without larger units: `8192 KB`.
pub fn kb(n: u32) -> String {
    format!("{n} KB")
}

/// Milliseconds since 1970 as `2026-11-21 20:30:15 UTC`; the number itself where it is no date.
pub fn utc(unix_ms: i64) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{unix_ms} ms since 1970"),
    }
}

/// `value` with `decimals` digits after the point; never `-0`, and `inf` for infinity.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

/// A share as percent with at most one decimal: `5%`, `2.5%`.
pub fn percent(share: f64) -> String {
    let text = fixed(share * 100.0, 1);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// A share that a user chose, such as a bound, as percent with all its digits: `5%`, `1.25%`.
pub fn exact_percent(share: f64) -> String {
    // The share is the percentage over 100: what rounding left of that is not told.
    format!("{}%", (share * 1e8).round() / 1e6)
}

/// `n` and a noun in the right number: `1 step`, `3 steps`.
pub fn count(n: usize, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    if n == 1 { format!("1 {noun}") } else { format!("{n} {plural}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(point: f64, half: f64) -> Estimate {
        Estimate { point, interval: Some((point - half, point + half)), n: 3 }
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(figure(&estimate(16_747.0, 335.0)), "16750");
        assert_eq!(figure(&estimate(16_747.0, 1335.0)), "16700");
        assert_eq!(figure(&estimate(16_747.4, 3.0)), "16747");
        assert_eq!(figure(&estimate(3.8751, 0.021)), "3.875");
        assert_eq!(figure(&estimate(160.4, 2.1)), "160.4");
        assert_eq!(figure(&Estimate::single(160.4)), "160");
        assert_eq!(figure(&Estimate::single(0.0)), "0");
        let ends = figure_interval(&estimate(16_747.0, 335.0));
        assert_eq!(ends.as_deref(), Some("[16410, 17080]"));
        assert_eq!(figure_interval(&Estimate::single(1.0)), None);
        assert_eq!(ratio_with_interval(&estimate(0.623, 0.021)), "0.62 [0.60, 0.64]");
        assert_eq!(ratio_with_interval(&estimate(0.7123, 0.0041)), "0.712 [0.708, 0.716]");
        assert_eq!(ratio_with_interval(&estimate(0.7123, 0.000_01)), "0.712 [0.712, 0.712]");
        assert_eq!(ratio_with_interval(&estimate(0.7123, 0.0)), "0.71 [0.71, 0.71]");
        assert_eq!(ratio_with_interval(&estimate(1.5, 4.0)), "1.50 [-2.50, 5.50]");
        assert_eq!(ratio_with_interval(&Estimate::single(0.623)), "0.62 (n=1)");
        assert_eq!(plain_ratio(f64::INFINITY), "inf");
        assert_eq!(plain_ratio(-0.001), "0.00");
    }

    #[test]
    fn dates_by_hand() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_795_293_015_999), "2026-11-21 20:30:15 UTC");
        assert_eq!(utc(-1000), "1969-12-31 23:59:59 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
        assert_eq!(utc(i64::MAX), "9223372036854775807 ms since 1970");
    }

    #[test]
    fn quantities_for_people() {
        assert_eq!(bytes(512), "512 bytes");
        assert_eq!(bytes(33_500_000_000), "31.2 GB");
        assert_eq!(long_duration(95_000), "95 s");
        assert_eq!(long_duration(725_000), "12 min");
        assert_eq!(long_duration(7_500_000), "2 h 5 min");
        assert_eq!(count(1, "query"), "1 query");
        assert_eq!(count(2, "query"), "2 queries");
        assert_eq!(percent(0.07), "7%");
        assert_eq!(percent(0.025), "2.5%");
        let bounds = [5.0, 7.0, 1.25, 0.25, 0.1, 50.0].map(|pct: f64| exact_percent(pct / 100.0));
        assert_eq!(bounds, ["5%", "7%", "1.25%", "0.25%", "0.1%", "50%"]);
        assert_eq!(per_operation(0.0), "0");
        assert_eq!(per_operation(1234.5), "1234");
        assert_eq!(duration_in(41_234.0, 1000.0), "41.2");
        assert_eq!([about(40.0), about(250.0)], ["40 s", "4 min"]);
        assert_eq!(
            [0.00086, 0.0281, 0.1234, 0.0995].map(small_percent),
            ["0.09%", "2.8%", "12%", "10%"]
        );
        assert_eq!([0.000_4, 0.023_4].map(p_value), ["<0.001", "0.023"]);
    }
}
