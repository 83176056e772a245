//! HOT PATH: what clients share: which ids a table has, and how far an inserter and its deleter are
//! apart. Budget: a few atomic operations per statement.

use std::sync::atomic::{AtomicU64, Ordering};

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
}

impl Pair {
    /// Whether the inserter may go on: it is not too far ahead of the deleter.
    #[must_use]
    #[inline]
    pub fn may_insert(&self) -> bool {
        let ahead = self.inserts.load(Ordering::Relaxed);
        ahead.saturating_sub(self.deletes.load(Ordering::Acquire)) < MAX_GAP
    }

    /// Whether the deleter may go on: it is not too far ahead of the inserter.
    #[must_use]
    #[inline]
    pub fn may_delete(&self) -> bool {
        let ahead = self.deletes.load(Ordering::Relaxed);
        ahead.saturating_sub(self.inserts.load(Ordering::Acquire)) < MAX_GAP
    }

    /// A statement inserted `rows` rows.
    #[inline]
    pub(crate) fn inserted(&self, rows: u64) {
        self.rows_inserted.fetch_add(rows, Ordering::Relaxed);
        let inserts = self.inserts.fetch_add(1, Ordering::Release) + 1;
        self.look_at_gap(inserts, self.deletes.load(Ordering::Acquire));
    }

    /// A statement deleted `rows` rows.
    #[inline]
    pub(crate) fn deleted(&self, rows: u64) {
        self.rows_deleted.fetch_add(rows, Ordering::Relaxed);
        let deletes = self.deletes.fetch_add(1, Ordering::Release) + 1;
        self.look_at_gap(deletes, self.inserts.load(Ordering::Acquire));
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
            assert!(pair.may_insert());
            pair.inserted(5);
        }
        assert!(!pair.may_insert() && pair.may_delete());
        for _ in 0..2 * MAX_GAP {
            assert!(pair.may_delete());
            pair.deleted(5);
        }
        assert!(!pair.may_delete() && pair.may_insert());
        assert_eq!((pair.rows(), pair.widest_gap()), ((40, 80), MAX_GAP));
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
