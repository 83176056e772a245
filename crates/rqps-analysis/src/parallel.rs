//! Work on many items at a time, on as many threads as there are CPUs.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `of` makes of each item, in their order.
#[must_use]
pub fn map<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match items.get(at) {
                Some(item) => made.push((at, of(item))),
                None => return made,
            }
        }
    };
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let mut made = thread::scope(|scope| {
        // One that cannot be had is no loss: this thread works as well.
        let helpers: Vec<_> = (1..n_threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut made = work();
        for helper in helpers {
            made.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        made
    });
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        let items: Vec<u64> = (0..1000).collect();
        assert_eq!(map(&items, |n| n * n), items.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(map(&Vec::<u8>::new(), |n| *n).is_empty());
    }
}
