//! Distances of vectors: the fast one that finds candidates, and the exact one that decides.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use simsimd::SpatialSimilarity as _;

/// How far vectors are from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// The Euclidean distance.
    #[default]
    Euclidean,
    /// 1 less the cosine of the angle.
    Cosine,
    /// The inner product, negated: larger products are nearer.
    InnerProduct,
}

impl Distance {
    /// All distances.
    pub const ALL: [Self; 3] = [Self::Euclidean, Self::Cosine, Self::InnerProduct];

    /// Its name in a plan.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::Cosine => "cosine",
            Self::InnerProduct => "inner-product",
        }
    }

    /// What orders vectors by this distance, in numbers of 32 bits: of the Euclidean distance the square.
    #[inline]
    pub(crate) fn fast(self, a: &[f32], b: &[f32]) -> f64 {
        let found = match self {
            Self::Euclidean => f32::sqeuclidean(a, b),
            Self::Cosine => f32::cosine(a, b),
            Self::InnerProduct => f32::dot(a, b).map(|product| -product),
        };
        // Only vectors of different dimensions have none.
        found.unwrap_or(f64::INFINITY)
    }

    /// How much a fast distance may differ from the exact one, given the lengths of the vectors: each of the n products
    /// and sums is rounded to 2^-24 of its value, and no sum is larger than the product of the lengths.
    pub(crate) fn error(self, dimension: usize, a: f64, b: f64) -> f64 {
        let rounding = (dimension as f64 + 8.0) * f64::from(f32::EPSILON);
        match self {
            Self::Euclidean => rounding * (a + b).powi(2),
            // Reciprocal square roots are approximate, with a relative error of 2^-11 or less before they are refined.
            Self::Cosine => rounding + 2e-3,
            Self::InnerProduct => rounding * a * b,
        }
    }

    /// The same in numbers of 64 bits.
    pub(crate) fn exact(self, a: &[f32], b: &[f32]) -> f64 {
        let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        match self {
            Self::Euclidean => pairs().map(|(a, b)| (a - b).powi(2)).sum(),
            Self::InnerProduct => -pairs().map(|(a, b)| a * b).sum::<f64>(),
            Self::Cosine => {
                let product: f64 = pairs().map(|(a, b)| a * b).sum();
                let lengths = length(a) * length(b);
                // A vector of zeros has no angle; servers differ in what they say.
                if lengths > 0.0 { 1.0 - product / lengths } else { 1.0 }
            }
        }
    }
}

/// The length of a vector.
pub(crate) fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|component| f64::from(*component).powi(2)).sum::<f64>().sqrt()
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Distance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|distance| distance.name() == text);
        known.ok_or_else(|| {
            format!("no distance {text:?}; write euclidean, cosine or inner-product")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The bound holds for any numbers, also where large ones cancel.
        #[test]
        fn fast_distances_are_within_their_error(
            values in prop::collection::vec((-1e3_f32..1e3, -1e3_f32..1e3), 1..300),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = values.into_iter().unzip();
            for distance in Distance::ALL {
                let apart = (distance.fast(&a, &b) - distance.exact(&a, &b)).abs();
                let error = distance.error(a.len(), length(&a), length(&b));
                prop_assert!(apart <= error, "{distance}: {apart} beyond {error}");
            }
        }
    }

    #[test]
    fn distances_are_those_of_the_textbook() {
        let (a, b) = ([3.0, 0.0], [0.0, 4.0]);
        let found = Distance::ALL.map(|distance| distance.exact(&a, &b));
        assert!(
            found.iter().zip([25.0, 1.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}"
        );
        for distance in Distance::ALL {
            assert_eq!(distance.name().parse(), Ok(distance));
        }
        assert!("manhattan".parse::<Distance>().unwrap_err().contains("write euclidean"));
    }
}
