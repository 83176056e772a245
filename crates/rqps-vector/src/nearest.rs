//! The exact nearest vectors of queries.
//!
//! A fast kernel finds candidates; exact distances put them in order. A query whose candidates could miss a nearest
//! one, because a fast distance is off by its error, is searched exactly as a whole.

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::Vectors;
use crate::distance::{Distance, length};

/// Queries that a thread searches at a time: each vector is read from memory once for all of them.
const QUERIES: usize = 32;

/// Candidates beside the nearest ones: so many may lie within the error of a fast distance.
const SPARE: usize = 32;

/// A vector and its distance; the farthest one is the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Neighbour {
    pub(crate) distance: f64,
    pub(crate) place: u32,
}

impl Eq for Neighbour {}

impl Ord for Neighbour {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.place.cmp(&other.place))
    }
}

impl PartialOrd for Neighbour {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The `n` nearest of what it has seen.
struct Nearest {
    n: usize,
    heap: BinaryHeap<Neighbour>,
}

impl Nearest {
    fn new(n: usize) -> Self {
        Self { n, heap: BinaryHeap::with_capacity(n + 1) }
    }

    #[inline]
    fn see(&mut self, seen: Neighbour) {
        if self.heap.len() < self.n {
            self.heap.push(seen);
        } else if self.heap.peek().is_some_and(|farthest| seen < *farthest) {
            self.heap.pop();
            self.heap.push(seen);
        }
    }

    fn sorted(self) -> Vec<Neighbour> {
        self.heap.into_sorted_vec()
    }
}

/// The `k` nearest vectors of each query, the nearest first; of equally far ones the first. `None` once `stop` is set.
pub(crate) fn nearest(
    vectors: &Vectors,
    queries: &Vectors,
    distance: Distance,
    k: usize,
    stop: &AtomicBool,
) -> Option<Vec<Vec<Neighbour>>> {
    let lengths: Vec<f64> = vectors.iter().map(length).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let search = Search { vectors, queries, distance, k, longest };
    let (next, n_parts) = (AtomicUsize::new(0), queries.len().div_ceil(QUERIES));
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(n_parts.max(1));
    let work = || {
        let mut found = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= n_parts || stop.load(Ordering::Relaxed) {
                return found;
            }
            found.push((part, search.part(part)));
        }
    };
    let mut parts: Vec<(usize, Vec<Vec<Neighbour>>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .flat_map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    parts.sort_by_key(|(part, _)| *part);
    Some(parts.into_iter().flat_map(|(_, found)| found).collect())
}

struct Search<'v> {
    vectors: &'v Vectors,
    queries: &'v Vectors,
    distance: Distance,
    k: usize,
    /// The length of the longest vector.
    longest: f64,
}

impl Search<'_> {
    /// The neighbours of some queries.
    fn part(&self, part: usize) -> Vec<Vec<Neighbour>> {
        let first = part * QUERIES;
        let queries: Vec<&[f32]> = (first..self.queries.len().min(first + QUERIES))
            .map(|idx| self.queries.get(idx))
            .collect();
        let mut all: Vec<Nearest> = queries.iter().map(|_| Nearest::new(self.k + SPARE)).collect();
        for (place, vector) in self.vectors.iter().enumerate() {
            for (query, nearest) in queries.iter().zip(&mut all) {
                let distance = self.distance.fast(query, vector);
                nearest.see(Neighbour { distance, place: place_of(place) });
            }
        }
        queries.iter().zip(all).map(|(query, found)| self.decide(query, found.sorted())).collect()
    }

    /// The nearest of the candidates by exact distances.
    fn decide(&self, query: &[f32], candidates: Vec<Neighbour>) -> Vec<Neighbour> {
        let exact = |place: u32| Neighbour {
            distance: self.distance.exact(query, self.vectors.get(place as usize)),
            place,
        };
        let all_seen = candidates.len() < self.k + SPARE;
        let farthest = candidates.last().map_or(0.0, |last| last.distance);
        let mut found: Vec<Neighbour> = candidates.iter().map(|own| exact(own.place)).collect();
        found.sort_unstable();
        found.truncate(self.k);
        let error = self.distance.error(query.len(), length(query), self.longest);
        let is_decided = found.last().is_none_or(|last| last.distance < farthest - error);
        if all_seen || is_decided {
            return found;
        }
        let mut nearest = Nearest::new(self.k);
        (0..self.vectors.len()).for_each(|place| nearest.see(exact(place_of(place))));
        nearest.sorted()
    }
}

/// Places are numbers of 32 bits: no set of more vectors is loaded.
fn place_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All distances, sorted.
    fn by_hand(vectors: &Vectors, query: &[f32], distance: Distance, k: usize) -> Vec<Neighbour> {
        let mut all: Vec<Neighbour> = vectors
            .iter()
            .enumerate()
            .map(|(place, vector)| Neighbour {
                distance: distance.exact(query, vector),
                place: place_of(place),
            })
            .collect();
        all.sort_unstable();
        all.truncate(k);
        all
    }

    fn vectors(n: usize, dimension: usize, component: impl FnMut() -> f32) -> Vectors {
        let components = std::iter::repeat_with(component).take(n * dimension).collect();
        Vectors::new(dimension, components).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Also where many are equally far: components of few values.
        #[test]
        fn neighbours_are_those_of_a_full_search(
            seed in any::<u64>(), dimension in 1_usize..20, levels in 2_usize..50, k in 1_usize..12,
        ) {
            let mut random = rqps_stats::random::Random::new(seed);
            let mut draw = |n| vectors(n, dimension, || random.position(levels) as f32 - 1.0);
            let (all, queries) = (draw(300), draw(70));
            let stop = AtomicBool::new(false);
            for distance in Distance::ALL {
                let found = nearest(&all, &queries, distance, k, &stop).unwrap();
                prop_assert_eq!(found.len(), 70);
                for (query, found) in queries.iter().zip(found) {
                    prop_assert_eq!(found, by_hand(&all, query, distance, k));
                }
            }
        }
    }

    #[test]
    fn few_vectors_give_few_neighbours_and_a_stop_gives_none() {
        let all = vectors(3, 2, || 1.0);
        let stop = AtomicBool::new(false);
        let found = nearest(&all, &all, Distance::Euclidean, 10, &stop).unwrap();
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3]);
        stop.store(true, Ordering::Relaxed);
        assert!(nearest(&all, &all, Distance::Euclidean, 10, &stop).is_none());
    }
}
