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
