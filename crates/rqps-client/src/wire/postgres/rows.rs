//! Reads the rows of an answer that was gone through and kept. All values are text.

use super::{HEADER_BYTES, Violation, header};
use crate::script::Row;

/// A position in an answer; the answer itself is given with each call.
#[derive(Debug, Default)]
pub struct RowCursor {
    at: usize,
    after: bool,
}

impl RowCursor {
    /// Goes to the front of a new answer.
    #[inline]
    pub fn restart(&mut self) {
        *self = Self::default();
    }

    /// The columns of the first result that tells of some: by a description, or by its first row.
    ///
    /// # Errors
    /// When the bytes are no answer.
    pub fn n_columns(answer: &[u8]) -> Result<usize, Violation> {
        let mut at = 0;
        while let Some((tag, end)) = header(answer, at)? {
            if matches!(tag, b'T' | b'D') {
                let count = answer.get(at + HEADER_BYTES..).and_then(<[u8]>::first_chunk);
                return Ok(count.map_or(0, |count| u16::from_be_bytes(*count).into()));
            }
            at = end;
        }
        Ok(0)
    }

    /// Reads the next row into `row`; false after the last one of the first result that has rows.
    ///
    /// # Errors
    /// When the bytes are no answer.
    pub fn next_row(&mut self, answer: &[u8], row: &mut Row) -> Result<bool, Violation> {
        row.clear();
        let mut seen_rows = self.at > 0;
        while !self.after {
            let Some((tag, end)) = header(answer, self.at)? else { break };
            let body = answer.get(self.at + HEADER_BYTES..end).ok_or_else(cut)?;
            self.at = end;
            match tag {
                b'D' => {
                    read_row(body, row)?;
                    return Ok(true);
                }
                b'T' => seen_rows = true,
                b'C' if seen_rows => break,
                _ => {}
            }
        }
        self.after = true;
        Ok(false)
    }
}

fn read_row(body: &[u8], row: &mut Row) -> Result<(), Violation> {
    let (count, mut rest) = body.split_first_chunk().ok_or_else(cut)?;
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk().ok_or_else(cut)?;
        rest = after;
        match u32::from_be_bytes(*length) {
            u32::MAX => row.push_null(),
            length => {
                let (value, after) = rest.split_at_checked(length as usize).ok_or_else(cut)?;
                row.push(value);
                rest = after;
            }
        }
    }
    Ok(())
}

#[cold]
fn cut() -> Violation {
    Violation("a row ends too early".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_nulls_and_the_end() {
        let answer = [
            &b"2\0\0\0\x04D\0\0\0\x0f\0\x02\0\0\0\x01x\xff\xff\xff\xff"[..],
            b"D\0\0\0\x10\0\x02\0\0\0\0\0\0\0\x02ab",
            b"C\0\0\0\x0dSELECT 2\0Z\0\0\0\x05I",
        ]
        .concat();
        assert_eq!(RowCursor::n_columns(&answer).unwrap(), 2);
        let (mut cursor, mut row) = (RowCursor::default(), Row::default());
        assert!(cursor.next_row(&answer, &mut row).unwrap());
        assert_eq!(row.values().collect::<Vec<_>>(), [Some(&b"x"[..]), None]);
        assert!(cursor.next_row(&answer, &mut row).unwrap());
        assert_eq!(row.values().collect::<Vec<_>>(), [Some(&b""[..]), Some(b"ab")]);
        assert!(!cursor.next_row(&answer, &mut row).unwrap());
        assert!(!cursor.next_row(&answer, &mut row).unwrap());
        cursor.restart();
        assert!(cursor.next_row(&answer, &mut row).unwrap());
        assert_eq!(RowCursor::n_columns(b"C\0\0\0\x0bCOMMIT\0").unwrap(), 0);
    }
}
