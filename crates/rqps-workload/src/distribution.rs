//! HOT PATH: the five distributions from which ids and values of k are drawn. Budget: 3 ns for
//! uniform, 50 ns for the others; every constant is computed when the sampler is made.
//!
//! Names and defaults are sysbench's, so that results compare; the algorithms are the literature's.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use rqps_model::UnknownWord;

use crate::random::{Rng, scale};

/// How often each of the values `1..=rows` is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// All equally often.
    #[default]
    Uniform,
    /// A bell around the middle: the mean of 12 uniform draws.
    Gaussian,
    /// 75% of the draws from 0.75% of the values, those from 49.75% to 50.5% of the way, the others from the bell of
    /// `Gaussian`.
    Special,
    /// Self-similar: 80% of the draws from the lowest 20% of the values, again within these.
    Pareto,
    /// Value v in proportion to v^-0.8.
    Zipfian,
}

impl Distribution {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Uniform, Self::Gaussian, Self::Special, Self::Pareto, Self::Zipfian];
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Special => "special",
            Self::Pareto => "pareto",
            Self::Zipfian => "zipfian",
        })
    }
}

impl FromStr for Distribution {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.to_string() == text).ok_or_else(|| UnknownWord {
            what: "distribution",
            value: text.to_owned(),
            known: "uniform, gaussian, special, pareto, zipfian",
        })
    }
}

/// Uniform draws whose mean is one draw of the bell; sysbench's default.
const BELL_DRAWS: u64 = 12;
/// Share of the values in the middle. `special` prefers the upper part of them; sysbench's default.
const SPECIAL_VALUES: f64 = 0.01;
/// Share of the draws that the preferred values get, and how much of the middle they are; sysbench's default.
const SPECIAL_DRAWS: f64 = 0.75;
/// The lowest share h of the values that gets 1-h of the draws; sysbench's default.
const PARETO_H: f64 = 0.2;
/// The exponent of the zipfian; sysbench's default.
const ZIPF_EXPONENT: f64 = 0.8;
/// 1 / (1 - the exponent): a whole number, so that the inverse costs three multiplications.
const ZIPF_INVERSE_POWER: i32 = 5;

/// A distribution over `1..=rows`, ready to draw from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler {
    rows: u64,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Uniform,
    Gaussian,
    Special { first: f64, span: f64 },
    Pareto { power: f64 },
    Zipfian(Zipf),
}

impl Sampler {
    /// Makes a sampler over `1..=rows`; no rows are taken for one.
    #[must_use]
    pub fn new(distribution: Distribution, rows: u64) -> Self {
        let rows = rows.max(1);
        let shape = match distribution {
            Distribution::Uniform => Shape::Uniform,
            Distribution::Gaussian => Shape::Gaussian,
            Distribution::Special => {
                let span = (rows - 1) as f64;
                let first = span * (1.0 - SPECIAL_VALUES) / 2.0;
                Shape::Special { first, span: span * SPECIAL_VALUES + 1.0 }
            }
            Distribution::Pareto => Shape::Pareto { power: PARETO_H.ln() / (1.0 - PARETO_H).ln() },
            Distribution::Zipfian => Shape::Zipfian(Zipf::new(rows as f64)),
        };
        Self { rows, shape }
    }

    /// The largest value.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Draws a value in `1..=rows`.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match &self.shape {
            Shape::Uniform => 1 + rng.below(self.rows),
            Shape::Gaussian => bell(self.rows, rng),
            Shape::Special { first, span } => {
                // One draw says from where and, in the preferred values, which.
                let place = rng.unit();
                if place < 1.0 - SPECIAL_DRAWS {
                    bell(self.rows, rng)
                } else {
                    1 + whole(first + place * span)
                }
            }
            Shape::Pareto { power } => {
                // J. Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD
                // 1994: the self-similar distribution by inversion.
                let below = self.rows as f64 * rng.unit().powf(*power);
                (1 + whole(below)).min(self.rows)
            }
            Shape::Zipfian(zipf) => zipf.draw(rng).min(self.rows),
        }
    }
}

/// The mean of uniform draws over `1..=rows` (Irwin-Hall), in fixed point.
#[inline]
fn bell(rows: u64, rng: &mut Rng) -> u64 {
    // Four bits of each draw make room for the sum: 12 x 2^60 < 2^64.
    let sum: u64 = (0..BELL_DRAWS).map(|_| rng.next_u64() >> 4).sum();
    1 + scale((sum / BELL_DRAWS) << 4, rows)
}

/// A non-negative number without its fraction.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fraction is to be cut off, and `as` keeps what is out of range at the ends"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

/// Zipfian draws by rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate
/// variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. Letters as in the paper.
#[derive(Debug, Clone, PartialEq)]
struct Zipf {
    /// H(1.5) - h(1): where value 1 begins.
    lower: f64,
    /// H(n + 1/2): where value n ends.
    upper: f64,
    /// Draws within this distance below a value are accepted without computing H.
    s: f64,
}

impl Zipf {
    fn new(n: f64) -> Self {
        let lower = Self::integral(1.5) - 1.0;
        let upper = Self::integral(n + 0.5);
        let s = 2.0 - Self::inverse(Self::integral(2.5) - 2.0_f64.powf(-ZIPF_EXPONENT));
        Self { lower, upper, s }
    }

    /// H(x), the integral of h(x) = x^-exponent.
    #[inline]
    fn integral(x: f64) -> f64 {
        x.powf(1.0 - ZIPF_EXPONENT) * f64::from(ZIPF_INVERSE_POWER)
    }

    /// The inverse of H.
    #[inline]
    fn inverse(y: f64) -> f64 {
        (y / f64::from(ZIPF_INVERSE_POWER)).powi(ZIPF_INVERSE_POWER)
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.upper + rng.unit() * (self.lower - self.upper);
            let x = Self::inverse(u);
            let k = (x + 0.5).floor().max(1.0);
            let accepted = k - x <= self.s || u >= Self::integral(k + 0.5) - k.powf(-ZIPF_EXPONENT);
            if accepted {
                return whole(k);
            }
        }
    }
}

#[cfg(test)]
mod tests;
