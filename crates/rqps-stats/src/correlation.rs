//! Blocks that resemble their neighbours tell less than their number: how much less.
//!
//! The variance of the mean is multiplied by (1 + r) / (1 - r) with the correlation r of
//! neighbours, as for a first-order autoregression (G. V. Bayley and J. M. Hammersley, "The
//! 'effective' number of independent observations in an autocorrelated time series", Supplement to
//! the Journal of the Royal Statistical Society 8 (1946)).

/// Blocks from which on the correlation of neighbours is estimated; with fewer it is noise alone.
pub const MIN_FOR_CORRELATION: usize = 8;

/// The most that a correlation counts: above it a dozen blocks would be worth less than two.
const MAX_CORRELATION: f64 = 0.7;

/// The correlation of neighbours in time, from 0 to 0.7; 0 for fewer than 8 values or no spread.
///
/// The raw estimate is biased by about -(1 + 3r) / n (F. H. C. Marriott and J. A. Pope, "Bias in
/// the estimation of autocorrelations", Biometrika 41 (1954)), which is undone. Every r above 0
/// counts, chance ones too: blocks that are independent pay for it with an interval that covers 96
/// to 97.5%; those that are correlated would otherwise be covered in 80 to 90%.
#[must_use]
pub fn of_neighbours(values: &[f64]) -> f64 {
    if values.len() < MIN_FOR_CORRELATION {
        return 0.0;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    ((products / squares * n + 1.0) / (n - 3.0)).clamp(0.0, MAX_CORRELATION)
}

/// By how much the correlation of neighbours inflates the variance of the mean: 1 to 5.7.
#[must_use]
pub fn inflation(values: &[f64]) -> f64 {
    let r = of_neighbours(values);
    (1.0 + r) / (1.0 - r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn by_hand() {
        // Waves of five: deviations ±1; 8 of 9 neighbours agree, so raw = 7/10 and r = 8/7, cut to
        // 0.7.
        let waves = [1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0];
        assert!((of_neighbours(&waves) - 0.7).abs() < 1e-12);
        assert!((inflation(&waves) - 1.7 / 0.3).abs() < 1e-12);
        // Alternating values correlate negatively, which does not count.
        let alternating = [1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0];
        assert!((inflation(&alternating) - 1.0).abs() < 1e-12);
        assert!((inflation(&waves[..7]) - 1.0).abs() < 1e-12);
        assert!((inflation(&[2.0; 10]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_bias_of_short_series_is_undone() {
        let mut random = Random::new(3);
        let mut sum = 0.0;
        let runs = 4000;
        for _ in 0..runs {
            let mut last = random.normal();
            let series: Vec<f64> = (0..40)
                .map(|_| {
                    last = 0.4 * last + (1.0 - 0.16_f64).sqrt() * random.normal();
                    last
                })
                .collect();
            sum += of_neighbours(&series);
        }
        let mean = sum / f64::from(runs);
        assert!((mean - 0.4).abs() < 0.02, "{mean}");
    }
}
