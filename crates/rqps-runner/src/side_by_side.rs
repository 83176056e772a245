//! What is done on all systems at once: stopping, starting and settling wait for disks more than for CPUs.

use anyhow::{Context as _, Result};

/// Does `work` on each of `items` in a thread of its own. Gives what came of each, in their order.
///
/// # Errors
/// When the host starts no thread; those that are under way come to their end.
pub(crate) fn on_each<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Result<Vec<R>> {
    let work = &work;
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for item in items {
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || work(item));
            threads.push(thread.context("start a thread")?);
        }
        let ended = threads.into_iter().map(|thread| thread.join());
        Ok(ended.map(|ended| ended.unwrap_or_else(|e| std::panic::resume_unwind(e))).collect())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::on_each;

    #[test]
    fn all_are_under_way_at_once_and_come_back_in_order() {
        let barrier = Barrier::new(3);
        let work = |n: usize| {
            barrier.wait();
            n * 10
        };
        assert_eq!(on_each(vec![1, 2, 3], work).unwrap(), [10, 20, 30]);
    }
}
