//! How response times are written.

/// The unit for a table whose smallest time is `smallest_ns`: its name and length in nanoseconds.
#[must_use]
pub fn time_unit(smallest_ns: f64) -> (&'static str, f64) {
    if smallest_ns < 1e6 {
        ("us", 1e3)
    } else if smallest_ns < 1e9 {
        ("ms", 1e6)
    } else {
        ("s", 1e9)
    }
}

/// A percentile's heading: `p99.9`.
#[must_use]
pub fn percentile_heading(percentile: f64) -> String {
    format!("p{percentile}")
}
