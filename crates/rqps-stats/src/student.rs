//! Student's t distribution, also for the fractional degrees of freedom of Welch's interval.
//!
//! The distribution function is the regularised incomplete beta function (Abramowitz and Stegun
//! 26.5.27), evaluated by its continued fraction (26.5.8) with Lentz's method; the quantile is
//! found by Newton's steps, and by bisection where one would leave the bracket.

/// Steps of the search for a quantile: bisection alone would reach a rounding error in 60.
const MAX_STEPS: u32 = 60;

/// Natural logarithm of the gamma function, Lanczos approximation (g = 7, 9 terms); relative error
/// below 1e-13 for x > 0.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let mut sum = COEFFICIENTS[0];
    for (i, c) in COEFFICIENTS.iter().enumerate().skip(1) {
        sum += c / (x + i as f64);
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// Continued fraction of the incomplete beta function, modified Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let clamp = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / clamp(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..=500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / clamp(1.0 + even * d);
        c = clamp(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / clamp(1.0 + odd * d);
        c = clamp(1.0 + odd / c);
        let step = d * c;
        h *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    h
}

/// Regularised incomplete beta function I_x(a, b) for 0 <= x <= 1, a and b above 0.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let front = ln_front.exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// Probability that |T| exceeds `t` (t >= 0) with `df` degrees of freedom.
#[must_use]
pub fn two_sided_p(t: f64, df: f64) -> f64 {
    incomplete_beta(df / 2.0, 0.5, df / (df + t * t))
}

/// Probability that T is at most `t` with `df` degrees of freedom.
#[must_use]
pub fn cumulative(t: f64, df: f64) -> f64 {
    let tail = 0.5 * two_sided_p(t.abs(), df);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The t that |T| exceeds with probability 1 - `confidence`: half the width of a two-sided
/// interval in standard errors. `df` above 0, `confidence` in 0..1.
#[must_use]
pub fn quantile(confidence: f64, df: f64) -> f64 {
    let p = 1.0 - confidence;
    let mut high = 1.0;
    while two_sided_p(high, df) > p && high < 1e12 {
        high *= 2.0;
    }
    let mut low = 0.0;
    let ln_density =
        ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df) - 0.5 * (df * std::f64::consts::PI).ln();
    let mut t: f64 = 0.5 * (low + high);
    for _ in 0..MAX_STEPS {
        let excess = two_sided_p(t, df) - p;
        if excess > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let slope = 2.0 * (ln_density - 0.5 * (df + 1.0) * (t * t / df).ln_1p()).exp();
        let newton = t + excess / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let is_there = (next - t).abs() <= 1e-14 * t;
        t = next;
        if is_there {
            break;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_printed_tables() {
        // Two-sided 95% and 99%, from the tables in every textbook.
        for (confidence, df, expected) in [
            (0.95, 1.0, 12.706),
            (0.95, 2.0, 4.303),
            (0.95, 4.0, 2.776),
            (0.95, 10.0, 2.228),
            (0.95, 30.0, 2.042),
            (0.99, 5.0, 4.032),
            (0.95, 1e6, 1.960),
        ] {
            let t = quantile(confidence, df);
            assert!((t - expected).abs() < 6e-4, "{confidence} {df}: {t} {expected}");
        }
    }

    #[test]
    fn both_tails() {
        // P(T <= 1) with one degree of freedom is 3/4.
        assert!((cumulative(1.0, 1.0) - 0.75).abs() < 1e-12);
        assert!((cumulative(-1.0, 1.0) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn fractional_degrees_lie_between_whole_ones() {
        let t = quantile(0.95, 3.5);
        assert!(t < quantile(0.95, 3.0) && t > quantile(0.95, 4.0));
    }
}
