//! When two rates are of one run.

/// How far a rate of the metrics may be from the QPS of the same step, as a share and for rounding.
const RATE_SHARE: f64 = 0.02;
const RATE_SLACK: f64 = 1.0;

/// Whether QPS and the rate of metrics are of two runs.
pub(super) fn is_other(qps: f64, rate: f64) -> bool {
    !is_within(qps, rate, 0.0)
}

/// Whether QPS, which may be off by some digits that they lack, and a rate are of one run.
pub(super) fn is_within(qps: f64, rate: f64, lacking: f64) -> bool {
    (qps - rate).abs() <= RATE_SHARE * qps.max(rate) + RATE_SLACK + lacking
}

/// The weight of the last digit that values of one line are printed with.
pub(super) fn last_digit(values: &[Option<f64>]) -> f64 {
    let decimals = |value: &f64| value.to_string().split_once('.').map_or(0, |(_, d)| d.len());
    let most = values.iter().flatten().map(decimals).max().unwrap_or(0);
    10_f64.powi(-i32::try_from(most).unwrap_or(0))
}
