//! Vectors of one dimension, one after the other.

/// Most components of a vector: pgvector indexes up to 2000 of `vector` and 4000 of `halfvec`, MariaDB stores 16383.
pub(crate) const MOST_COMPONENTS: usize = 16_383;

/// Vectors of one dimension.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vectors {
    dimension: usize,
    components: Vec<f32>,
}

impl Vectors {
    /// Vectors from their components in a row.
    ///
    /// # Errors
    /// A sentence, when these are no vectors of the dimension, or a component is no finite number.
    pub fn new(dimension: usize, components: Vec<f32>) -> Result<Self, String> {
        if dimension == 0 || dimension > MOST_COMPONENTS {
            return Err(format!(
                "vectors have {dimension} components; 1 to {MOST_COMPONENTS} are possible"
            ));
        }
        if !components.len().is_multiple_of(dimension) {
            return Err(format!(
                "{} components are no vectors of {dimension} each",
                components.len()
            ));
        }
        if let Some(at) = components.iter().position(|component| !component.is_finite()) {
            let (vector, component) = (at / dimension + 1, at % dimension + 1);
            return Err(format!(
                "component {component} of vector {vector} is {}; servers store finite numbers only",
                components[at]
            ));
        }
        Ok(Self { dimension, components })
    }

    /// Components of a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many vectors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.components.len() / self.dimension.max(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// A vector, by its place from 0 on; empty beyond the last one.
    #[must_use]
    pub fn get(&self, place: usize) -> &[f32] {
        let start = place * self.dimension;
        self.components.get(start..start + self.dimension).unwrap_or(&[])
    }

    /// All vectors in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.components.chunks_exact(self.dimension.max(1))
    }

    /// The first `n` vectors.
    pub fn truncate(&mut self, n: usize) {
        self.components.truncate(n.saturating_mul(self.dimension));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_found_by_their_places() {
        let mut vectors = Vectors::new(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!((vectors.len(), vectors.get(1), vectors.get(3)), (3, &[3.0, 4.0][..], &[][..]));
        vectors.truncate(1);
        assert_eq!(vectors.iter().collect::<Vec<_>>(), [&[1.0, 2.0]]);
    }

    #[test]
    fn what_no_server_stores_is_told() {
        let said = |dimension, components: &[f32]| {
            Vectors::new(dimension, components.to_vec()).unwrap_err()
        };
        assert!(said(0, &[]).starts_with("vectors have 0 components"));
        assert!(said(16_384, &[]).contains("1 to 16383"));
        assert_eq!(said(2, &[1.0]), "1 components are no vectors of 2 each");
        assert!(said(2, &[1.0, 2.0, 3.0, f32::NAN]).starts_with("component 2 of vector 2 is NaN"));
    }
}
