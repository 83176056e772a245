//! HOT PATH: what clients share: which ids a table has, and how far an inserter and its deleter are
//! apart. Budget: a few atomic operations per statement.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// Statements by which an inserter and its deleter may be apart.
pub const MAX_GAP: u64 = 8;

/// The ids of a table while clients insert and delete: whole from `min` to `max`, but for what is just
/// being deleted or inserted.
#[derive(Debug)]
pub struct TableIds {
    /// The smallest id that no deleter has claimed.
    min: AtomicU64,
    /// The largest id that was inserted.
    max: AtomicU64,
}

impl TableIds {
    /// A table whose ids are `min` to `max`.
    #[must_use]
    pub fn new(min: u64, max: u64) -> Self {
        Self { min: AtomicU64::new(min), max: AtomicU64::new(max) }
    }

    /// Smallest and largest id.
    #[must_use]
    #[inline]
    pub fn range(&self) -> (u64, u64) {
        let (min, max) = (self.min.load(Ordering::Acquire), self.max.load(Ordering::Acquire));
        (min.min(max), max)
    }

    /// Claims `n` ids for deletion and returns the first one.
    #[inline]
    pub(crate) fn claim(&self, n: u64) -> u64 {
        self.min.fetch_add(n, Ordering::AcqRel)
    }

    /// Corrects the smallest id by what the table says, unless others have claimed some since.
    pub(crate) fn correct_min(&self, claimed: u64, found: u64) {
        let _ = self.min.compare_exchange(claimed, found, Ordering::AcqRel, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn inserted(&self, rows: u64) {
        self.max.fetch_add(rows, Ordering::AcqRel);
    }
}

/// One that waits is woken when the gap has shrunk to this: not for each statement.
const WAKE_GAP: u64 = MAX_GAP / 2;

/// One of a pair that waits for the other.
#[derive(Debug, Default)]
struct Sleeper {
    sleeps: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl Sleeper {
    /// Waits until it is woken, but no longer than `at_most`; not at all when `may_go`.
    #[cold]
    fn sleep(&self, at_most: Duration, may_go: impl Fn() -> bool) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current());
        // Announced before it looks again, as the other counts before it looks who sleeps.
        self.sleeps.store(true, Ordering::SeqCst);
        if !may_go() {
            std::thread::park_timeout(at_most);
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }

    #[inline]
    fn wake(&self) {
        if self.sleeps.load(Ordering::SeqCst) {
            self.unpark();
        }
    }

    #[cold]
    fn unpark(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*thread {
            thread.unpark();
        }
    }
}

/// An inserter and its deleter.
#[derive(Debug, Default)]
pub struct Pair {
    /// Statements that were answered.
    inserts: AtomicU64,
    deletes: AtomicU64,
    /// The widest gap between the two that there was, statements.
    widest: AtomicU64,
    /// Rows, as the server counted them.
    rows_inserted: AtomicU64,
    rows_deleted: AtomicU64,
    inserter: Sleeper,
    deleter: Sleeper,
}

impl Pair {
    /// Whether the inserter may go on, with `n_sent` statements on their way: it is not too far ahead of
    /// the deleter, even if those are answered first.
    #[must_use]
    #[inline]
    pub fn may_insert(&self, n_sent: u64) -> bool {
        let ahead = self.inserts.load(Ordering::Relaxed) + n_sent;
        ahead.saturating_sub(self.deletes.load(Ordering::SeqCst)) < MAX_GAP
    }

    /// Whether the deleter may go on, with `n_sent` statements on their way: it is not too far ahead of
    /// the inserter, even if those are answered first.
    #[must_use]
    #[inline]
    pub fn may_delete(&self, n_sent: u64) -> bool {
        let ahead = self.deletes.load(Ordering::Relaxed) + n_sent;
        ahead.saturating_sub(self.inserts.load(Ordering::SeqCst)) < MAX_GAP
    }

    /// The inserter, with nothing on its way, waits until it may go on, but no longer than `at_most`.
    pub(crate) fn await_insert(&self, at_most: Duration) {
        self.inserter.sleep(at_most, || self.may_insert(0));
    }

    /// The deleter, with nothing on its way, waits until it may go on, but no longer than `at_most`.
    pub(crate) fn await_delete(&self, at_most: Duration) {
        self.deleter.sleep(at_most, || self.may_delete(0));
    }

    /// A statement inserted `rows` rows.
    #[inline]
    pub(crate) fn inserted(&self, rows: u64) {
        self.rows_inserted.fetch_add(rows, Ordering::Relaxed);
        let inserts = self.inserts.fetch_add(1, Ordering::SeqCst) + 1;
        let deletes = self.deletes.load(Ordering::SeqCst);
        self.look_at_gap(inserts, deletes);
        if deletes.saturating_sub(inserts) <= WAKE_GAP {
            self.deleter.wake();
        }
    }

    /// A statement deleted `rows` rows.
    #[inline]
    pub(crate) fn deleted(&self, rows: u64) {
        self.rows_deleted.fetch_add(rows, Ordering::Relaxed);
        let deletes = self.deletes.fetch_add(1, Ordering::SeqCst) + 1;
        let inserts = self.inserts.load(Ordering::SeqCst);
        self.look_at_gap(deletes, inserts);
        if inserts.saturating_sub(deletes) <= WAKE_GAP {
            self.inserter.wake();
        }
    }

    #[inline]
    fn look_at_gap(&self, mine: u64, theirs: u64) {
        let gap = mine.abs_diff(theirs);
        if gap > self.widest.load(Ordering::Relaxed) {
            self.widest.fetch_max(gap, Ordering::Relaxed);
        }
    }

    /// The widest gap between the two so far, statements.
    #[must_use]
    pub fn widest_gap(&self) -> u64 {
        self.widest.load(Ordering::Relaxed)
    }

    /// Rows inserted and deleted so far, as the server counted them.
    #[must_use]
    pub fn rows(&self) -> (u64, u64) {
        (self.rows_inserted.load(Ordering::Relaxed), self.rows_deleted.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_gets_further_ahead_than_the_gap() {
        let pair = Pair::default();
        for _ in 0..MAX_GAP {
            assert!(pair.may_insert(0));
            pair.inserted(5);
        }
        assert!(!pair.may_insert(0) && pair.may_delete(0));
        for _ in 0..2 * MAX_GAP {
            assert!(pair.may_delete(0));
            pair.deleted(5);
        }
        assert!(!pair.may_delete(0) && pair.may_insert(0));
        assert_eq!((pair.rows(), pair.widest_gap()), ((40, 80), MAX_GAP));
    }

    #[test]
    fn what_is_on_its_way_counts_as_ahead() {
        let pair = Pair::default();
        pair.inserted(5);
        assert!(pair.may_insert(MAX_GAP - 2) && !pair.may_insert(MAX_GAP - 1));
        assert!(pair.may_delete(MAX_GAP) && !pair.may_delete(MAX_GAP + 1));
    }

    #[test]
    fn one_that_waits_is_woken_when_the_other_has_come_near() {
        let pair = std::sync::Arc::new(Pair::default());
        (0..MAX_GAP).for_each(|_| pair.inserted(1));
        let other = std::sync::Arc::clone(&pair);
        let waits = std::thread::spawn(move || {
            while !other.may_insert(0) {
                // Far longer than the test: only a wake ends it.
                other.await_insert(Duration::from_secs(600));
            }
        });
        while !pair.inserter.sleeps.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        (0..WAKE_GAP).for_each(|_| pair.deleted(1));
        waits.join().unwrap();
        // And not at all when it may go on already.
        pair.await_insert(Duration::from_secs(600));
    }

    #[test]
    fn ids_move_with_what_is_inserted_and_claimed() {
        let ids = TableIds::new(1, 100);
        ids.inserted(10);
        assert_eq!((ids.claim(5), ids.range()), (1, (6, 110)));
        // The table says otherwise, as its first rows were gone.
        ids.correct_min(6, 20);
        ids.correct_min(6, 30);
        assert_eq!(ids.range(), (20, 110));
    }
}
