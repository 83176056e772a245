//! Sets that are drawn: clusters of normal distributions, so that nothing has to be downloaded.

use std::f64::consts::TAU;

use rqps_stats::random::Random;

use crate::vectors::MOST_COMPONENTS;
use crate::{DataError, DataSet, Distance, Vectors};

/// How far vectors lie from the centre of their cluster, relative to how far centres lie from each other.
const SPREAD: f64 = 1.0;

/// Dimensions in which vectors vary. Real vectors lie near a space of fewer dimensions, too. Otherwise every vector would
/// be about as far from every other one.
const INNER: usize = 32;

/// A set that is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generated {
    /// How many vectors are loaded.
    pub vectors: usize,
    /// How many queries there are, of the same clusters.
    pub queries: usize,
    /// Components of a vector.
    pub dimension: usize,
    /// How many clusters there are.
    pub clusters: usize,
    /// By what they are searched.
    pub distance: Distance,
    /// What they are drawn from: the same seed gives the same set.
    pub seed: u64,
}

impl Default for Generated {
    fn default() -> Self {
        Self {
            vectors: 20_000,
            queries: 1000,
            dimension: 96,
            clusters: 100,
            distance: Distance::Euclidean,
            seed: 1,
        }
    }
}

impl Generated {
    /// Draws the set.
    ///
    /// # Errors
    /// The first size that cannot be.
    pub fn make(&self) -> Result<DataSet, DataError> {
        self.check()?;
        let mut random = Random::new(self.seed);
        let inner = INNER.min(self.dimension);
        let normals = |n: usize, random: &mut Random| -> Vec<f64> {
            std::iter::repeat_with(|| random.normal()).take(n).collect()
        };
        // Each component is a mixture of the inner ones.
        let scale = 1.0 / (inner as f64).sqrt();
        let mixture = normals(self.dimension * inner, &mut random);
        let centres = normals(self.clusters * inner, &mut random);
        let mut draw = |n: usize| {
            let mut components = Vec::with_capacity(n * self.dimension);
            for _ in 0..n {
                let cluster = random.position(self.clusters) * inner;
                let place: Vec<f64> = centres[cluster..cluster + inner]
                    .iter()
                    .map(|centre| centre + SPREAD * normal(&mut random))
                    .collect();
                components.extend(mixture.chunks_exact(inner).map(|weights| {
                    let sum: f64 = weights.iter().zip(&place).map(|(a, b)| a * b).sum();
                    rounded(scale * sum)
                }));
            }
            Vectors::new(self.dimension, components)
        };
        let name = format!("generated-{}x{}", self.vectors, self.dimension);
        let made = draw(self.vectors).and_then(|vectors| Ok((vectors, draw(self.queries)?)));
        let (vectors, queries) =
            made.map_err(|detail| DataError::Set { name: name.clone(), detail })?;
        Ok(DataSet { name, vectors, queries, distance: self.distance, given: None })
    }

    fn check(&self) -> Result<(), DataError> {
        for (key, value, most) in [
            ("vectors", self.vectors, 100_000_000),
            ("queries", self.queries, 1_000_000),
            ("dimension", self.dimension, MOST_COMPONENTS),
            ("clusters", self.clusters, 1_000_000),
        ] {
            if !(1..=most).contains(&value) {
                let (value, remedy) = (value.to_string(), format!("give 1 to {most}"));
                return Err(DataError::Argument { key, value, remedy });
            }
        }
        Ok(())
    }
}

/// A normal number of one draw of bits, which is twice as fast: millions of these are drawn.
fn normal(random: &mut Random) -> f64 {
    let bits = random.bits();
    let [radius, angle] =
        [bits >> 32, bits & 0xffff_ffff].map(|half| (half as f64 + 0.5) / 2_f64.powi(32));
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// A component with few digits: its text is short, and the same for every server.
#[expect(clippy::cast_possible_truncation, reason = "servers store numbers of 32 bits")]
fn rounded(value: f64) -> f32 {
    ((value * 1e4).round() / 1e4) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_set() {
        let small = Generated { vectors: 300, queries: 20, dimension: 24, ..Generated::default() };
        let set = small.make().unwrap();
        assert_eq!(set, small.make().unwrap());
        assert_eq!((set.vectors.len(), set.queries.len(), set.vectors.dimension()), (300, 20, 24));
        assert_ne!(set.vectors, Generated { seed: 2, ..small }.make().unwrap().vectors);
    }

    /// Vectors of a cluster are nearer to each other than to others: an index has something to find.
    #[test]
    fn vectors_lie_in_clusters() {
        let set = Generated { vectors: 2000, clusters: 10, ..Generated::default() }.make().unwrap();
        let query = set.queries.get(0);
        let mut all: Vec<f64> = set
            .vectors
            .iter()
            .map(|vector| Distance::Euclidean.exact(query, vector).sqrt())
            .collect();
        all.sort_by(f64::total_cmp);
        assert!(all[100] < 0.7 * all[1900], "{} and {}", all[100], all[1900]);
    }

    #[test]
    fn sizes_that_cannot_be_are_told() {
        let said = |generated: Generated| generated.make().unwrap_err().to_string();
        let usual = Generated::default;
        assert_eq!(said(Generated { vectors: 0, ..usual() }), "vectors = 0: give 1 to 100000000");
        assert!(said(Generated { dimension: 20_000, ..usual() }).contains("1 to 16383"));
    }
}
