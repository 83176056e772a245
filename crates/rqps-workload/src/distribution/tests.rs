//! Bounds and frequencies of every distribution, against probabilities worked out independently.

use proptest::{prop_assert, proptest};

use super::*;

const N_DRAWS: u32 = 200_000;

/// How often each value came; index 0 is value 1.
fn count(distribution: Distribution, rows: u64, seed: u64) -> Vec<u32> {
    let sampler = Sampler::new(distribution, rows);
    let mut rng = Rng::stream(seed, 0);
    let mut counts = vec![0_u32; usize::try_from(rows).unwrap()];
    for _ in 0..N_DRAWS {
        counts[usize::try_from(sampler.draw(&mut rng)).unwrap() - 1] += 1;
    }
    counts
}

/// Pearson's statistic over its degrees of freedom, turned into a normal deviate by Wilson and
/// Hilferty's cube root: above 4 about once in 30,000 trials when the probabilities are right.
fn deviate(counts: &[u32], probabilities: &[f64]) -> f64 {
    let chi2: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&seen, p)| {
            let expected = p * f64::from(N_DRAWS);
            (f64::from(seen) - expected).powi(2) / expected
        })
        .sum();
    let df = (counts.len() - 1) as f64;
    let spread = 2.0 / (9.0 * df);
    ((chi2 / df).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// The share of the draws that the values `from..=to` got.
fn share(counts: &[u32], from: usize, to: usize) -> f64 {
    f64::from(counts[from - 1..to].iter().sum::<u32>()) / f64::from(N_DRAWS)
}

#[test]
fn uniform_values_come_equally_often() {
    for seed in 0..3 {
        let z = deviate(&count(Distribution::Uniform, 100, seed), &[0.01; 100]);
        assert!(z.abs() < 4.0, "seed {seed}: {z}");
    }
}

#[test]
fn zipfian_values_come_in_proportion_to_a_power() {
    for rows in [1_u32, 2, 3, 100, 1000] {
        let weights: Vec<f64> = (1..=rows).map(|v| f64::from(v).powf(-0.8)).collect();
        let sum: f64 = weights.iter().sum();
        let probabilities: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let counts = count(Distribution::Zipfian, u64::from(rows), 5);
        if rows > 1 {
            let z = deviate(&counts, &probabilities);
            assert!(z.abs() < 4.0, "{rows} rows: {z}");
        }
    }
}

#[test]
fn the_zipfians_inverse_power_belongs_to_its_exponent() {
    assert!((f64::from(ZIPF_INVERSE_POWER) * (1.0 - ZIPF_EXPONENT) - 1.0).abs() < 1e-12);
    assert!((Zipf::inverse(Zipf::integral(1234.5)) - 1234.5).abs() < 1e-9);
}

#[test]
fn zipfian_reaches_the_last_of_many_rows() {
    let rows = 160_000_000_u32;
    let sampler = Sampler::new(Distribution::Zipfian, rows.into());
    // By Euler and Maclaurin the weights of 1 to v sum to 5 v^0.2 + zeta(0.8), zeta(0.8) = -4.43754.
    let below = |v: u32| 5.0 * f64::from(v).powf(0.2) - 4.437_54;
    let expected = below(rows / 32) / below(rows);
    for seed in 1000..1003 {
        let mut rng = Rng::stream(seed, 0);
        let draws: Vec<u64> = (0..N_DRAWS).map(|_| sampler.draw(&mut rng)).collect();
        let low = draws.iter().filter(|&&v| v <= u64::from(rows / 32)).count() as f64;
        let low = low / f64::from(N_DRAWS);
        // Four standard deviations of a share near one half.
        assert!((low - expected).abs() < 4.0 * 0.5 / f64::from(N_DRAWS).sqrt(), "{low} {expected}");
        assert!(draws.iter().any(|&v| v > u64::from(rows / 100 * 99)));
    }
}

#[test]
fn pareto_gives_the_lowest_fifth_four_fifths() {
    let counts = count(Distribution::Pareto, 1000, 3);
    assert!((share(&counts, 1, 200) - 0.8).abs() < 0.005);
    // Self-similar: the lowest fifth of the lowest fifth gets four fifths of its share.
    assert!((share(&counts, 1, 40) - 0.64).abs() < 0.005);
    // By inversion P(value <= v) = (v/rows)^(1/power).
    let power = 0.2_f64.ln() / 0.8_f64.ln();
    let below = |v: u32| (f64::from(v) / 1000.0).powf(1.0 / power);
    let probabilities: Vec<f64> = (1..=1000).map(|v| below(v) - below(v - 1)).collect();
    let z = deviate(&counts, &probabilities);
    assert!(z.abs() < 4.0, "{z}");
}

#[test]
fn gaussian_is_a_bell_of_the_known_width() {
    let counts = count(Distribution::Gaussian, 1000, 3);
    let n = f64::from(N_DRAWS);
    let values = || (1_u32..).zip(&counts).map(|(v, &c)| (f64::from(v) - 0.5, f64::from(c)));
    let mean: f64 = values().map(|(v, c)| v * c).sum::<f64>() / n;
    let variance: f64 = values().map(|(v, c)| (v - mean).powi(2) * c).sum::<f64>() / n;
    assert!((mean - 500.0).abs() < 1.0, "mean {mean}");
    // The mean of 12 uniform draws over a range has a standard deviation of a twelfth of it.
    assert!((variance.sqrt() - 1000.0 / 12.0).abs() < 0.6, "deviation {}", variance.sqrt());
    // Within one standard deviation lie 68% of a normal distribution; 12 draws are close to it.
    assert!((share(&counts, 417, 583) - 0.683).abs() < 0.01);
}

#[test]
fn special_gives_three_quarters_of_a_percent_of_the_values_three_quarters_of_the_draws() {
    let counts = count(Distribution::Special, 10_000, 3);
    // From 49.75% to 50.5% of the way; both ends belong to it in part.
    let hot = share(&counts, 4975, 5051);
    // The bell puts 3.7% of its quarter there as well.
    assert!((hot - (0.75 + 0.25 * 0.0369)).abs() < 0.004, "{hot}");
    let evenly = deviate_of_hot(&counts[4975..5050]);
    assert!(evenly.abs() < 4.0, "{evenly}");
}

fn deviate_of_hot(hot: &[u32]) -> f64 {
    let sum = f64::from(hot.iter().sum::<u32>()) / f64::from(N_DRAWS);
    deviate(hot, &vec![sum / hot.len() as f64; hot.len()])
}

#[test]
fn names_go_there_and_back() {
    for distribution in Distribution::ALL {
        assert_eq!(distribution.to_string().parse(), Ok(distribution));
    }
    let error = "zipf".parse::<Distribution>().unwrap_err().to_string();
    assert!(error.contains("zipf") && error.contains("zipfian"), "{error}");
}

proptest! {
    #[test]
    fn every_draw_lies_within_the_rows(rows in 0_u64..=i32::MAX as u64, seed: u64) {
        for distribution in Distribution::ALL {
            let sampler = Sampler::new(distribution, rows);
            let mut rng = Rng::stream(seed, 1);
            for _ in 0..50 {
                let value = sampler.draw(&mut rng);
                prop_assert!((1..=rows.max(1)).contains(&value), "{distribution}: {value}");
            }
        }
    }
}
