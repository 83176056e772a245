//! HOT PATH: random numbers as scripts ask for them: over any range, by the distributions of the
//! options. Budget: 5 ns for uniform, 60 ns for the others.
//!
//! Names and parameters are sysbench's; the algorithms are the literature's, so that a seed gives other
//! numbers than sysbench's.

use rqps_workload::Rng;
use rqps_workload::random::mix;

/// A distribution; the numbers are those by which Lua names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distribution {
    /// All values equally often.
    Uniform = 1,
    /// A bell around the middle.
    Gaussian = 2,
    /// A few values near the middle most often, all others by a bell.
    Special = 3,
    /// Self-similar: low values more often.
    Pareto = 4,
    /// Value number v in proportion to v^-exponent.
    Zipfian = 5,
}

impl Distribution {
    /// A distribution by its name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "uniform" => Self::Uniform,
            "gaussian" => Self::Gaussian,
            "special" => Self::Special,
            "pareto" => Self::Pareto,
            "zipfian" => Self::Zipfian,
            _ => return None,
        })
    }

    /// A distribution by its number in Lua; 0 is the default one.
    fn from_number(number: i32) -> Option<Self> {
        [Self::Uniform, Self::Gaussian, Self::Special, Self::Pareto, Self::Zipfian]
            .into_iter()
            .find(|one| *one as i32 == number)
    }
}

/// Parameters of the distributions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// What `sysbench.rand.default` draws from.
    pub(crate) default: Distribution,
    /// Uniform draws in the mean that is one draw of the bell, 1 or more.
    pub(crate) n_bell: u32,
    /// Percentage of values that `special` prefers.
    pub(crate) special_pct: u32,
    /// Percentage of draws that they get.
    pub(crate) special_res: u32,
    /// The lowest share h of values gets 1-h of the draws; between 0 and 1.
    pub(crate) pareto_h: f64,
    /// Exponent of the zipfian, not negative.
    pub(crate) zipf_exponent: f64,
}

/// A stream of random numbers of one thread.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    rng: Rng,
    shape: Shape,
    pareto_power: f64,
    zipf: Option<Zipf>,
}

impl Random {
    /// Stream `stream` of `seed`.
    pub(crate) fn new(seed: u64, stream: u64, shape: &Shape) -> Self {
        Self {
            rng: Rng::stream(seed, stream),
            pareto_power: shape.pareto_h.ln() / (1.0 - shape.pareto_h).ln(),
            shape: shape.clone(),
            zipf: None,
        }
    }

    /// A whole number from `low` to `high`, both included and cut to whole numbers, by distribution number
    /// `kind` (0 is the default one); `low` where the range is empty.
    #[inline]
    pub(crate) fn draw(&mut self, kind: i32, low: f64, high: f64) -> f64 {
        let (low, high) = (low.trunc(), high.trunc());
        let n_values = high - low + 1.0;
        if n_values.is_nan() || n_values <= 1.0 {
            return low;
        }
        let kind = Distribution::from_number(kind).unwrap_or(self.shape.default);
        let offset = match kind {
            Distribution::Uniform => self.below(n_values),
            Distribution::Gaussian => self.bell(n_values),
            Distribution::Special => self.special(n_values),
            // J. Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.
            Distribution::Pareto => (n_values * self.rng.unit().powf(self.pareto_power)).floor(),
            Distribution::Zipfian => self.zipfian(n_values),
        };
        low + offset.min(n_values - 1.0)
    }

    /// A whole number in `0..n`.
    #[inline]
    fn below(&mut self, n: f64) -> f64 {
        (self.rng.unit() * n).floor()
    }

    fn bell(&mut self, n: f64) -> f64 {
        let sum: f64 = (0..self.shape.n_bell).map(|_| self.rng.unit()).sum();
        (n * sum / f64::from(self.shape.n_bell)).floor()
    }

    /// One draw decides. In its lowest part, the share 1 - `special_res`, the value comes from a bell. Above it
    /// the draw itself is the place in the preferred values, whose lowest part is so never drawn.
    fn special(&mut self, n: f64) -> f64 {
        let span = n - 1.0;
        let draw = self.rng.unit();
        if draw < 1.0 - f64::from(self.shape.special_res) / 100.0 {
            return self.bell(span);
        }
        let share = f64::from(self.shape.special_pct) / 100.0;
        (span * (1.0 - share) / 2.0 + draw * (span * share + 1.0)).floor()
    }

    fn zipfian(&mut self, n: f64) -> f64 {
        let zipf = match &mut self.zipf {
            Some(zipf) if zipf.n.to_bits() == n.to_bits() => zipf,
            slot => slot.insert(Zipf::new(n, self.shape.zipf_exponent)),
        };
        zipf.draw(&mut self.rng) - 1.0
    }

    /// A fraction in `0..1`.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        self.rng.unit()
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Appends `format` with a random digit in place of each `#` and a random lower case letter in
    /// place of each `@`.
    #[inline]
    pub(crate) fn push_text(&mut self, format: &[u8], out: &mut Vec<u8>) {
        // A draw gives 12 characters: its fraction, multiplied, is whole and again a fraction.
        let (mut fraction, mut n_left) = (0_u64, 0);
        out.extend(format.iter().map(|&byte| {
            let (first, n) = match byte {
                b'#' => (b'0', 10_u64),
                b'@' => (b'a', 26),
                _ => return byte,
            };
            if n_left == 0 {
                (fraction, n_left) = (self.rng.next_u64(), 12);
            }
            n_left -= 1;
            let product = u128::from(fraction) * u128::from(n);
            let [low @ .., _, _, _, _, _, _, _, _] = product.to_le_bytes();
            fraction = u64::from_le_bytes(low);
            // Below 26: the byte above the fraction is all of the whole part.
            first + product.to_le_bytes()[8]
        }));
    }
}

/// Number `n` of a sequence of 32-bit numbers without repetition; another `seed` gives another order.
///
/// A bijection of 32 bits: odd multipliers and shifted xors can all be undone, so that nothing
/// comes twice within 2^32.
#[inline]
pub(crate) fn unique(seed: u64, n: u32) -> u32 {
    let [a, b, c, d, ..] = mix(seed).to_le_bytes();
    let mut x = n ^ u32::from_le_bytes([a, b, c, d]);
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Number `n` of a sequence of the numbers below `n_values` without repetition, which begins again after them all;
/// another `seed` gives another order.
///
/// Numbers of as many bits as are needed are brought into another order until one is small enough: from `n` on, the
/// orbit of a bijection comes back to the small ones, and no two meet.
pub(crate) fn unique_below(seed: u64, n: u64, n_values: u64) -> u64 {
    let n_values = n_values.max(1);
    let n_bits = (64 - (n_values - 1).leading_zeros()).max(1);
    let mask = u64::MAX >> (64 - n_bits);
    let shift = n_bits / 2 + 1;
    let key = mix(seed);
    let mut x = n % n_values;
    loop {
        for factor in [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9] {
            x = (x ^ key).wrapping_mul(factor) & mask;
            x ^= x >> shift;
        }
        if x < n_values {
            return x;
        }
    }
}

/// Zipfian draws by rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate
/// variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. Letters as in the paper.
#[derive(Debug, Clone, PartialEq)]
struct Zipf {
    n: f64,
    exponent: f64,
    lower: f64,
    upper: f64,
    s: f64,
}

impl Zipf {
    fn new(n: f64, exponent: f64) -> Self {
        let mut zipf = Self { n, exponent, lower: 0.0, upper: 0.0, s: 0.0 };
        zipf.lower = zipf.integral(1.5) - 1.0;
        zipf.upper = zipf.integral(n + 0.5);
        zipf.s = 2.0 - zipf.inverse(zipf.integral(2.5) - 2.0_f64.powf(-exponent));
        zipf
    }

    /// Whether the exponent is 1, where the integral is a logarithm.
    fn is_harmonic(&self) -> bool {
        (self.exponent - 1.0).abs() < 1e-9
    }

    fn integral(&self, x: f64) -> f64 {
        if self.is_harmonic() {
            x.ln()
        } else {
            x.powf(1.0 - self.exponent) / (1.0 - self.exponent)
        }
    }

    fn inverse(&self, y: f64) -> f64 {
        if self.is_harmonic() {
            y.exp()
        } else {
            (y * (1.0 - self.exponent)).powf(1.0 / (1.0 - self.exponent))
        }
    }

    /// A value in `1..=n`.
    fn draw(&self, rng: &mut Rng) -> f64 {
        loop {
            let u = self.upper + rng.unit() * (self.lower - self.upper);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.s || u >= self.integral(k + 0.5) - k.powf(-self.exponent) {
                return k;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(default: Distribution, zipf_exponent: f64) -> Random {
        let shape = Shape {
            default,
            n_bell: 12,
            special_pct: 1,
            special_res: 75,
            pareto_h: 0.2,
            zipf_exponent,
        };
        Random::new(7, 0, &shape)
    }

    fn shares(random: &mut Random, kind: i32, is_in: impl Fn(f64) -> bool) -> f64 {
        let n = 40_000;
        let hits = (0..n).filter(|_| is_in(random.draw(kind, 1.0, 1000.0))).count();
        hits as f64 / f64::from(n)
    }

    #[test]
    fn every_distribution_stays_in_range_and_has_its_shape() {
        let mut random = random(Distribution::Special, 0.8);
        for kind in 0..=5 {
            for _ in 0..5_000 {
                let value = random.draw(kind, 3.0, 9.0);
                assert!((3.0..=9.0).contains(&value) && value.fract() == 0.0, "{kind}: {value}");
                for high in [5.0, 4.0] {
                    assert!((random.draw(kind, 5.0, high) - 5.0).abs() < f64::EPSILON);
                }
            }
        }
        let near = |share: f64, expected: f64| (share - expected).abs() < 0.02;
        assert!(near(shares(&mut random, 1, |v| v <= 200.0), 0.2));
        assert!(near(shares(&mut random, 2, |v| v <= 500.0), 0.5));
        assert!(shares(&mut random, 2, |v| v <= 100.0) < 0.01);
        // The bell adds some of its own to the preferred values.
        assert!(near(shares(&mut random, 0, |v| (498.0..=506.0).contains(&v)), 0.76));
        assert!(near(shares(&mut random, 4, |v| v <= 200.0), 0.8));
    }

    /// The share of draws of `special` that each value of `1..=n` gets, seen by the thousand.
    fn special_shares(special_pct: u32, special_res: u32, n: u32) -> Vec<i64> {
        let shape = Shape { special_pct, special_res, ..random(Distribution::Special, 0.8).shape };
        let mut random = Random::new(3, 0, &shape);
        let mut counts = vec![0_i64; n as usize];
        for _ in 0..100_000 {
            let value = random.draw(3, 1.0, f64::from(n));
            let idx = (1..=n).position(|known| f64::from(known) >= value).unwrap();
            counts[idx] += 1;
        }
        counts.into_iter().map(|count| (count + 50) / 100).collect()
    }

    #[test]
    fn special_prefers_the_values_that_sysbench_prefers() {
        // Thousandths, as sysbench 1.0.20 draws them.
        for (pct, res, expected) in [
            (1, 75, vec![0, 0, 6, 58, 373, 557, 6, 0, 0, 0]),
            (1, 75, vec![125, 865, 10]),
            (1, 75, vec![500, 500]),
            (100, 50, vec![0, 0, 11, 116, 244, 216, 113, 101, 101, 99]),
            (0, 75, vec![0, 0, 5, 58, 373, 557, 6, 0, 0, 0]),
            (1, 100, vec![0, 0, 0, 0, 500, 500, 0, 0, 0, 0]),
        ] {
            let seen = special_shares(pct, res, u32::try_from(expected.len()).unwrap());
            let mut off =
                seen.iter().zip(&expected).map(|(seen, expected)| (seen - expected).abs());
            assert!(off.all(|off| off <= 6), "{pct} {res}: {seen:?}");
        }
        // 0.75% of the values get three quarters of the draws: 498 to 506 of a thousand, both ends in part.
        let seen = special_shares(1, 75, 1000);
        assert!(seen[..497].iter().chain(&seen[506..]).all(|&share| share <= 3), "{seen:?}");
        assert!(seen[498..505].iter().all(|share| (84..=102).contains(share)), "{seen:?}");
    }

    #[test]
    fn zipfian_follows_its_law_for_every_exponent() {
        for exponent in [0.0, 0.8, 1.0, 1.5] {
            let mut random = random(Distribution::Zipfian, exponent);
            let weight = |v: f64| v.powf(-exponent);
            let total: f64 = (1..=1000).map(|v| weight(f64::from(v))).sum();
            let expected = (1..=10).map(|v| weight(f64::from(v))).sum::<f64>() / total;
            let seen = shares(&mut random, 5, |v| v <= 10.0);
            assert!((seen - expected).abs() < 0.01, "{exponent}: {seen}, not {expected}");
        }
    }

    #[test]
    fn texts_follow_their_format() {
        let mut random = random(Distribution::Uniform, 0.8);
        let mut counts = [0_u32; 10];
        for _ in 0..2_000 {
            let mut out = Vec::new();
            random.push_text(b"###-@@@@@@@@@@@@@@#x", &mut out);
            assert_eq!(out.len(), 20);
            assert!(out[..3].iter().all(u8::is_ascii_digit) && out[3] == b'-' && out[19] == b'x');
            assert!(out[4..18].iter().all(u8::is_ascii_lowercase), "{out:?}");
            counts[usize::from(out[18] - b'0')] += 1;
        }
        assert!(counts.iter().all(|&n| (140..260).contains(&n)), "{counts:?}");
    }

    #[test]
    fn unique_numbers_do_not_repeat() {
        let mut seen = std::collections::HashSet::new();
        assert!((0..200_000).all(|n| seen.insert(unique(5, n))));
        assert_ne!(unique(5, 0), unique(6, 0));
        for n_values in [1, 2, 3, 10, 1000, 1024, 1025] {
            let all: std::collections::HashSet<u64> =
                (0..n_values).map(|n| unique_below(5, n, n_values)).collect();
            assert!(all.len() as u64 == n_values && all.iter().all(|&value| value < n_values));
        }
        let mut seen = std::collections::HashSet::new();
        assert!((0..100_000).all(|n| seen.insert(unique_below(7, n, 1_000_000_000))));
    }
}
