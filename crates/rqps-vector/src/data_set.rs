//! A set of vectors that are loaded, and queries.

use crate::{DataError, Distance, Vectors};

/// Vectors, queries, and the distance by which they are searched.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// Its name: that of its file without the ending, or of how it was generated.
    pub name: String,
    /// What is loaded. The place of a vector is its id.
    pub vectors: Vectors,
    /// What is searched for.
    pub queries: Vectors,
    /// How far vectors are from each other.
    pub distance: Distance,
    /// What its files say themselves.
    pub given: Option<Given>,
}

/// The neighbours that the files of a set have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Of each query the places of its neighbours, the nearest first.
    pub neighbours: Vec<Vec<u32>>,
}

impl DataSet {
    /// Takes the first vectors and queries alone; 0 takes all. Neighbours among all vectors are then those of no part.
    pub fn truncate(&mut self, n_vectors: usize, n_queries: usize) {
        if n_vectors > 0 && n_vectors < self.vectors.len() {
            self.vectors.truncate(n_vectors);
            self.given = None;
        }
        if n_queries > 0 && n_queries < self.queries.len() {
            self.queries.truncate(n_queries);
            if let Some(given) = &mut self.given {
                given.neighbours.truncate(n_queries);
            }
        }
    }

    /// Checks what no format promises.
    ///
    /// # Errors
    /// When queries have another dimension, or there is nothing to load or to search for.
    pub fn check(&self) -> Result<(), DataError> {
        let refuse = |detail: String| Err(DataError::Set { name: self.name.clone(), detail });
        if self.vectors.is_empty() || self.queries.is_empty() {
            let what = if self.vectors.is_empty() { "vectors" } else { "queries" };
            return refuse(format!("it has no {what}"));
        }
        let (dimension, of_queries) = (self.vectors.dimension(), self.queries.dimension());
        if dimension != of_queries {
            return refuse(format!(
                "its vectors have {dimension} components, its queries {of_queries}; give files of one set"
            ));
        }
        if u32::try_from(self.vectors.len()).is_err() {
            return refuse(format!(
                "it has {} vectors; 4294967295 are possible",
                self.vectors.len()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> DataSet {
        let of = |components: &[f32]| Vectors::new(1, components.to_vec()).unwrap();
        DataSet {
            name: "set".to_owned(),
            vectors: of(&[1.0, 2.0, 3.0]),
            queries: of(&[1.0, 2.0]),
            distance: Distance::Euclidean,
            given: Some(Given { neighbours: vec![vec![0], vec![1]] }),
        }
    }

    #[test]
    fn neighbours_among_all_vectors_are_not_those_of_a_part() {
        let mut fewer_queries = set();
        fewer_queries.truncate(0, 1);
        assert_eq!(fewer_queries.given, Some(Given { neighbours: vec![vec![0]] }));
        let mut part = set();
        part.truncate(2, 0);
        assert_eq!((part.given, part.vectors.len(), part.queries.len()), (None, 2, 2));
    }

    #[test]
    fn sets_that_fit_nowhere_are_told() {
        set().check().unwrap();
        let other = Vectors::new(2, vec![1.0, 2.0]).unwrap();
        let said = |set: DataSet| set.check().unwrap_err().to_string();
        assert!(said(DataSet { queries: other, ..set() }).contains("1 components, its queries 2"));
        let none = Vectors::new(1, Vec::new()).unwrap();
        assert_eq!(said(DataSet { queries: none, ..set() }), "set: it has no queries");
    }
}
