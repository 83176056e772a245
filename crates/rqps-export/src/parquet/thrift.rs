//! As much of Thrift's compact protocol as a Parquet file needs:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

/// Types of fields and of the elements of lists.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure under construction; fields are written in ascending order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    /// A whole number of 32 bits, or one of an enumeration.
    pub(super) fn int32(&mut self, number: u8, value: i64) {
        self.head(number, I32);
        varint(&mut self.bytes, zigzag(value));
    }

    /// A whole number of 64 bits.
    pub(super) fn int64(&mut self, number: u8, value: i64) {
        self.head(number, I64);
        varint(&mut self.bytes, zigzag(value));
    }

    /// Text.
    pub(super) fn text(&mut self, number: u8, text: &str) {
        self.head(number, BINARY);
        binary(&mut self.bytes, text);
    }

    /// A structure.
    pub(super) fn structure(&mut self, number: u8, value: Self) {
        self.head(number, STRUCT);
        self.bytes.extend(value.end());
    }

    /// A list of numbers of 32 bits.
    pub(super) fn int32s(&mut self, number: u8, values: &[i64]) {
        self.list(number, I32, values.len());
        for value in values {
            varint(&mut self.bytes, zigzag(*value));
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, number: u8, values: &[&str]) {
        self.list(number, BINARY, values.len());
        for value in values {
            binary(&mut self.bytes, value);
        }
    }

    /// A list of structures.
    pub(super) fn structures(&mut self, number: u8, values: Vec<Self>) {
        self.list(number, STRUCT, values.len());
        for value in values {
            self.bytes.extend(value.end());
        }
    }

    /// The structure's bytes.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    /// A field's head: the difference to the number before it, and its type. No structure here leaves out as many
    /// as 15.
    fn head(&mut self, number: u8, kind: u8) {
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn list(&mut self, number: u8, kind: u8, n: usize) {
        self.head(number, LIST);
        match u8::try_from(n) {
            Ok(n) if n < 15 => self.bytes.push(n << 4 | kind),
            _ => {
                self.bytes.push(0xF0 | kind);
                varint(&mut self.bytes, n as u64);
            }
        }
    }
}

fn binary(out: &mut Vec<u8>, text: &str) {
    varint(out, text.len() as u64);
    out.extend(text.as_bytes());
}

/// Seven bits a byte, the lowest first; all bytes but the last have the eighth.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7F) as u8);
}

/// Small numbers of either sign as small ones without.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        let bytes = |value| {
            let mut out = Vec::new();
            varint(&mut out, value);
            out
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(127), [127]);
        assert_eq!(bytes(300), [0xAC, 2]);
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
        let mut one = Struct::default();
        one.int32(1, 1);
        one.text(4, "ab");
        assert_eq!(one.end(), [0x15, 2, 0x38, 2, b'a', b'b', 0]);
    }

    #[test]
    fn long_lists_have_their_length_behind() {
        let mut one = Struct::default();
        one.int32s(2, &[0; 20]);
        assert_eq!(&one.end()[..3], [0x29, 0xF5, 20]);
    }
}
