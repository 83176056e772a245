//! The standard normal distribution.

use crate::student;

/// Degrees of freedom at which Student's distribution is the normal one to 1e-8.
const MANY_DEGREES: f64 = 1e8;

/// Probability that a standard normal value is at most `z`; error below 1e-7.
#[must_use]
pub fn cumulative(z: f64) -> f64 {
    student::cumulative(z, MANY_DEGREES)
}

/// The value that a standard normal one stays below with probability `p`, by bisection; `p` outside
/// 1e-9..1-1e-9 counts as these.
#[must_use]
pub fn quantile(p: f64) -> f64 {
    let p = p.clamp(1e-9, 1.0 - 1e-9);
    let (mut low, mut high) = (-7.0, 7.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if cumulative(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_printed_tables() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
            assert!((cumulative(z) - p).abs() < 2e-7, "{z}: {}", cumulative(z));
            assert!((quantile(p) - z).abs() < 1e-4, "{p}: {}", quantile(p));
        }
    }
}
