//! What measuring a commit gave.

/// A probe: a commit was measured beside the good end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Its place: 0 is the good end, the last one the bad end.
    pub commit: usize,
    /// Natural logarithm of its QPS over that of the good end.
    pub log_ratio: f64,
    /// Standard error of the logarithm.
    pub sd: f64,
}

/// Half of the width of a 95% interval of a normal distribution, in standard deviations.
pub(crate) const HALF_WIDTH: f64 = 1.96;

impl Probe {
    /// A probe by the ratio and the ends of its 95% interval. The search assumes a normal distribution: an interval by
    /// Student's t counts as the wider normal one.
    #[must_use]
    pub fn of_interval(commit: usize, ratio: f64, low: f64, high: f64) -> Self {
        let sd = (high.ln() - low.ln()) / (2.0 * HALF_WIDTH);
        Self { commit, log_ratio: ratio.ln(), sd }
    }
}
