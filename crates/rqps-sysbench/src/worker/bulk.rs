//! Inserts of many rows, gathered into long statements.

use super::{FAILED, NO_RESULT, Rows, Worker};
use crate::console::Level;

/// A statement is sent when it has this many bytes: as long as sysbench's, and far below the shortest
/// default of `max_allowed_packet` (1 MiB in MySQL 5.5).
const FULL_BYTES: usize = 512 * 1024;

/// An insert under way.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    /// Whether rows can be added: between the beginning and the end.
    is_begun: bool,
    /// All rows so far, behind the statement's head.
    sql: Vec<u8>,
    head_bytes: usize,
    n_rows: u64,
}

impl Worker {
    /// Begins an insert whose statement begins with `head`.
    pub(crate) fn bulk_begin(&mut self, link: usize, head: &[u8]) -> Rows {
        let Some(Some(open)) = self.links.get_mut(link) else { return self.closed() };
        let bulk = &mut open.bulk;
        bulk.sql.clear();
        bulk.sql.extend_from_slice(head);
        bulk.head_bytes = bulk.sql.len();
        bulk.n_rows = 0;
        bulk.is_begun = true;
        0.0
    }

    /// Adds a row, brackets included; sends what there is first when there is enough.
    pub(crate) fn bulk_add(&mut self, link: usize, row: &[u8]) -> Rows {
        let is_full = |bulk: &Bulk| bulk.n_rows > 0 && bulk.sql.len() + row.len() + 1 > FULL_BYTES;
        let full = matches!(self.links.get(link), Some(Some(open)) if is_full(&open.bulk));
        if full {
            let sent = self.bulk_send(link);
            if sent < 0.0 {
                return sent;
            }
        }
        let Some(Some(open)) = self.links.get_mut(link) else { return self.closed() };
        let bulk = &mut open.bulk;
        if !bulk.is_begun {
            return self.not_begun();
        }
        if bulk.n_rows > 0 {
            bulk.sql.push(b',');
        }
        bulk.sql.extend_from_slice(row);
        bulk.n_rows += 1;
        0.0
    }

    #[cold]
    fn not_begun(&mut self) -> Rows {
        let text = "attempt to call bulk_insert_next() before bulk_insert_init()";
        self.settings.console.log(Level::Alert, text);
        self.take_failure();
        FAILED
    }

    /// Sends the rows that are left and ends the insert. One that fails is not ended, as in sysbench.
    pub(crate) fn bulk_end(&mut self, link: usize) -> Rows {
        let sent = self.bulk_send(link);
        if sent >= 0.0
            && let Some(Some(open)) = self.links.get_mut(link)
        {
            open.bulk.is_begun = false;
        }
        sent
    }

    fn bulk_send(&mut self, link: usize) -> Rows {
        let Some(Some(open)) = self.links.get_mut(link) else { return self.closed() };
        if open.bulk.n_rows == 0 {
            return 0.0;
        }
        let mut sql = std::mem::take(&mut open.bulk.sql);
        let sent = self.query(link, &sql);
        if let Some(Some(open)) = self.links.get_mut(link) {
            sql.truncate(open.bulk.head_bytes);
            open.bulk.sql = sql;
            open.bulk.n_rows = 0;
        }
        if sent < NO_RESULT { sent } else { 0.0 }
    }
}
