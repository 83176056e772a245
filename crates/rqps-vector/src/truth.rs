//! The exact neighbours of all queries, kept in a file, and the recall of answers.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sha2::{Digest as _, Sha256};

use crate::nearest::{Neighbour, nearest};
use crate::{DataError, DataSet, Distance};

/// The first bytes of a file of neighbours; another form of it gets another number.
const MAGIC: &[u8; 8] = b"rqpsknn1";

/// The exact nearest neighbours of the queries of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    distance: Distance,
    /// Of each query, the nearest first.
    neighbours: Vec<Vec<Neighbour>>,
}

impl Truth {
    /// Computes the `k` nearest neighbours of each query. `None` once `stop` is set.
    #[must_use]
    pub fn of(set: &DataSet, k: usize, stop: &AtomicBool) -> Option<Self> {
        let neighbours = nearest(&set.vectors, &set.queries, set.distance, k, stop)?;
        Some(Self { distance: set.distance, neighbours })
    }

    /// The places of a query's neighbours, the nearest first.
    pub fn places(&self, query: usize) -> impl Iterator<Item = u32> + '_ {
        self.neighbours.get(query).into_iter().flatten().map(|own| own.place)
    }

    /// How many queries there are.
    #[must_use]
    pub fn n_queries(&self) -> usize {
        self.neighbours.len()
    }

    /// The part of a query's nearest neighbours that an answer has, from 0 to 1. Vectors as near as the last of them
    /// count as well; a vector that is there twice counts once.
    #[must_use]
    pub fn recall(&self, set: &DataSet, query: usize, answer: &[u32]) -> f64 {
        let Some(limit) = self.neighbours.get(query).and_then(|own| own.last()) else { return 1.0 };
        let n = self.neighbours[query].len();
        let is_near = |place: u32| {
            let vector = set.vectors.get(place as usize);
            !vector.is_empty()
                && self.distance.exact(set.queries.get(query), vector) <= limit.distance
        };
        let mut found: Vec<u32> = answer.iter().copied().filter(|place| is_near(*place)).collect();
        found.sort_unstable();
        found.dedup();
        found.len().min(n) as f64 / n as f64
    }

    /// Where the neighbours that a file has differ from these: the query, its own neighbour and the exact one, by the
    /// first one that is farther. Equally far ones may stand in any order.
    #[must_use]
    pub fn first_difference(&self, set: &DataSet, given: &[Vec<u32>]) -> Option<(usize, u32, u32)> {
        for (query, (own, given)) in self.neighbours.iter().zip(given).enumerate() {
            for (exact, &place) in own.iter().zip(given) {
                let vector = set.vectors.get(place as usize);
                let found = self.distance.exact(set.queries.get(query), vector);
                // Files are made with numbers of 32 bits.
                let is_equal = !vector.is_empty()
                    && found <= exact.distance + 1e-5 * exact.distance.abs().max(1e-3);
                if !is_equal {
                    return Some((query, place, exact.place));
                }
            }
        }
        None
    }
}

/// Where neighbours are kept that were computed once: a file by the content of the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruthFile(PathBuf);

impl TruthFile {
    /// The file in a directory.
    #[must_use]
    pub fn of(directory: &Path, set: &DataSet, k: usize) -> Self {
        let mut hash = Sha256::new();
        hash.update(MAGIC);
        for vectors in [&set.vectors, &set.queries] {
            hash.update((vectors.dimension() as u64).to_le_bytes());
            hash.update((vectors.len() as u64).to_le_bytes());
            for component in vectors.iter().flatten() {
                hash.update(component.to_le_bytes());
            }
        }
        let digits: String =
            hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        Self(directory.join(format!("{digits}-{}-{k}.knn", set.distance)))
    }

    /// Reads the neighbours; `None` where there is no file, or a broken one.
    #[must_use]
    pub fn read(&self, set: &DataSet) -> Option<Truth> {
        let bytes = fs::read(&self.0).ok()?;
        let mut numbers = bytes.strip_prefix(MAGIC)?.chunks_exact(4);
        let mut next = || numbers.next()?.try_into().ok().map(u32::from_le_bytes);
        let (n_queries, k) = (next()? as usize, next()? as usize);
        if n_queries != set.queries.len() || bytes.len() != MAGIC.len() + 4 * (2 + n_queries * k) {
            return None;
        }
        let mut neighbours = Vec::with_capacity(n_queries);
        for query in set.queries.iter() {
            let mut own = Vec::with_capacity(k);
            for _ in 0..k {
                let place = next()?;
                let vector = set.vectors.get(place as usize);
                if vector.is_empty() {
                    return None;
                }
                own.push(Neighbour { distance: set.distance.exact(query, vector), place });
            }
            neighbours.push(own);
        }
        Some(Truth { distance: set.distance, neighbours })
    }

    /// Keeps the neighbours: under another name first, so that no half of a file is ever read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, truth: &Truth) -> Result<(), DataError> {
        let failed = |error| DataError::Write { path: self.0.clone(), error };
        let k = truth.neighbours.first().map_or(0, Vec::len);
        let numbers = [truth.neighbours.len(), k]
            .into_iter()
            .map(|n| u32::try_from(n).unwrap_or(u32::MAX))
            .chain(truth.neighbours.iter().flatten().map(|own| own.place));
        let bytes: Vec<u8> =
            MAGIC.iter().copied().chain(numbers.flat_map(u32::to_le_bytes)).collect();
        if let Some(directory) = self.0.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        let partial = self.0.with_extension(format!("{}.partial", std::process::id()));
        let written = fs::File::create(&partial).and_then(|mut file| file.write_all(&bytes));
        written.and_then(|()| fs::rename(&partial, &self.0)).map_err(|error| {
            // What is there of it is of no use.
            let _ = fs::remove_file(&partial);
            failed(error)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Generated, Vectors};

    fn line() -> DataSet {
        let of = |places: &[f32]| Vectors::new(1, places.to_vec()).unwrap();
        DataSet {
            name: "line".to_owned(),
            vectors: of(&[0.0, 1.0, 2.0, 3.0, 10.0, 2.0]),
            queries: of(&[2.0, 9.0]),
            distance: Distance::Euclidean,
            given: None,
        }
    }

    #[test]
    fn recall_is_the_part_of_the_nearest() {
        let set = line();
        let truth = Truth::of(&set, 3, &AtomicBool::new(false)).unwrap();
        assert_eq!(truth.places(0).collect::<Vec<_>>(), [2, 5, 1]);
        // 3 is as near as 1.
        for (answer, wanted) in [
            (&[2, 5, 1][..], 1.0),
            (&[5, 3, 2], 1.0),
            (&[2, 5], 2.0 / 3.0),
            (&[2, 2, 2], 1.0 / 3.0),
            (&[4, 0], 0.0),
            (&[2, 5, 1, 3], 1.0),
            (&[77], 0.0),
        ] {
            let found = truth.recall(&set, 0, answer);
            assert!((found - wanted).abs() < 1e-12, "{answer:?}: {found}");
        }
    }

    #[test]
    fn given_neighbours_are_compared() {
        let set = line();
        let truth = Truth::of(&set, 3, &AtomicBool::new(false)).unwrap();
        let good = vec![vec![5, 2, 3], vec![4, 3, 2]];
        assert_eq!(truth.first_difference(&set, &good), None);
        let bad = vec![vec![5, 2, 3], vec![4, 0, 2]];
        assert_eq!(truth.first_difference(&set, &bad), Some((1, 0, 3)));
    }

    #[test]
    fn neighbours_are_kept_and_broken_files_are_not_read() {
        let set = Generated { vectors: 500, queries: 20, dimension: 8, ..Generated::default() };
        let set = set.make().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let file = TruthFile::of(&directory.path().join("new"), &set, 10);
        assert_eq!(file.read(&set), None);
        let truth = Truth::of(&set, 10, &AtomicBool::new(false)).unwrap();
        file.write(&truth).unwrap();
        assert_eq!(file.read(&set).as_ref(), Some(&truth));
        assert_eq!(fs::read_dir(directory.path().join("new")).unwrap().count(), 1);
        let bytes = fs::read(&file.0).unwrap();
        fs::write(&file.0, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(file.read(&set), None);
    }
}
