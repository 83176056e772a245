//! A table: records of one size in a file by their id, which outlive the process, and k in memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

/// Bytes of a record: whether it is there, k, c and pad.
const RECORD: usize = 192;
const C: std::ops::Range<usize> = 8..128;
const PAD: std::ops::Range<usize> = 128..188;

/// In place of a k where there is no row.
const ABSENT: i64 = i64::MIN;

/// A row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) k: i64,
    pub(crate) c: String,
    pub(crate) pad: String,
}

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    file: File,
    /// k of each id.
    ks: Vec<i64>,
    pub(crate) n_rows: u64,
}

impl Table {
    /// Makes an empty table.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Self { file, ks: Vec::new(), n_rows: 0 })
    }

    /// Takes up a table that an earlier process has left.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let bytes = std::fs::read(path)?;
        let k = |record: &[u8]| match record.first() {
            Some(1) => record.get(..8).map_or(ABSENT, k_of),
            _ => ABSENT,
        };
        let ks: Vec<i64> = bytes.chunks(RECORD).map(k).collect();
        let n_rows = ks.iter().filter(|k| **k != ABSENT).count() as u64;
        Ok(Self { file, ks, n_rows })
    }

    /// What its file takes on disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |meta| meta.blocks() * 512)
    }

    /// The first id after all that are there.
    pub(crate) fn next_id(&self) -> u64 {
        (self.ks.len() as u64).max(1)
    }

    pub(crate) fn k(&self, id: u64) -> Option<i64> {
        self.ks.get(index(id)).copied().filter(|k| *k != ABSENT)
    }

    /// The ids of all rows, or of those for whose k something is so.
    pub(crate) fn ids_where(&self, is_wanted: impl Fn(i64) -> bool) -> Vec<u64> {
        let wanted = |(_, k): &(u64, &i64)| **k != ABSENT && is_wanted(**k);
        (0..).zip(&self.ks).filter(wanted).map(|(id, _)| id).collect()
    }

    pub(crate) fn read(&self, id: u64) -> io::Result<Row> {
        let mut record = [0; RECORD];
        self.file.read_exact_at(&mut record, offset(id))?;
        let text = |range| {
            let bytes: &[u8] = record.get::<std::ops::Range<usize>>(range).unwrap_or_default();
            String::from_utf8_lossy(bytes).trim_end_matches(['\0', ' ']).to_owned()
        };
        Ok(Row { k: record.get(..8).map_or(0, k_of), c: text(C), pad: text(PAD) })
    }

    /// Writes rows, those of neighbouring ids at once.
    pub(crate) fn write(&mut self, rows: &[(u64, Row)]) -> io::Result<()> {
        let mut rest = rows;
        while let Some((first, _)) = rest.first() {
            let n = rest.iter().zip(*first..).take_while(|((id, _), wanted)| id == wanted).count();
            let (run, after) = rest.split_at(n);
            let bytes: Vec<u8> = run.iter().flat_map(|(_, row)| record(row)).collect();
            self.file.write_all_at(&bytes, offset(*first))?;
            for (id, row) in run {
                self.set(*id, row.k);
            }
            rest = after;
        }
        Ok(())
    }

    /// Takes a row away; false where there is none.
    pub(crate) fn delete(&mut self, id: u64) -> io::Result<bool> {
        if self.k(id).is_none() {
            return Ok(false);
        }
        self.file.write_all_at(&[0], offset(id))?;
        self.set(id, ABSENT);
        Ok(true)
    }

    fn set(&mut self, id: u64, k: i64) {
        let at = index(id);
        if at >= self.ks.len() {
            self.ks.resize(at + 1, ABSENT);
        }
        let Some(place) = self.ks.get_mut(at) else { return };
        let (was, is) = (*place != ABSENT, k != ABSENT);
        *place = k;
        self.n_rows = self.n_rows + u64::from(is) - u64::from(was);
    }
}

fn index(id: u64) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX - 1)
}

fn offset(id: u64) -> u64 {
    id * RECORD as u64
}

/// k from the head of a record, whose first byte says that it is there.
fn k_of(head: &[u8]) -> i64 {
    let bytes = head.get(4..8).and_then(<[u8]>::first_chunk::<4>);
    bytes.map_or(0, |bytes| i64::from(i32::from_le_bytes(*bytes)))
}

fn record(row: &Row) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[0] = 1;
    let k = i32::try_from(row.k).unwrap_or(i32::MAX);
    record[4..8].copy_from_slice(&k.to_le_bytes());
    for (range, text) in [(C, &row.c), (PAD, &row.pad)] {
        let place = &mut record[range];
        let n = text.len().min(place.len());
        place[..n].copy_from_slice(&text.as_bytes()[..n]);
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_there_for_the_next_process() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.ibd");
        let row = |k: i64| Row { k, c: format!("c{k}"), pad: "p".to_owned() };
        let mut table = Table::create(&path).unwrap();
        table.write(&[(1, row(5)), (2, row(6)), (9, row(7))]).unwrap();
        assert!(table.delete(2).unwrap() && !table.delete(2).unwrap());
        drop(table);
        let table = Table::open(&path).unwrap();
        assert_eq!((table.n_rows, table.next_id()), (2, 10));
        assert_eq!((table.k(1), table.k(2), table.k(9)), (Some(5), None, Some(7)));
        assert_eq!(table.read(9).unwrap(), row(7));
        assert_eq!(table.ids_where(|k| k < 7), [1]);
    }
}
