//! Reads the protocol's integers and strings off the front of a payload.

use super::Violation;

/// What is left of a payload.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// The bytes not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Reads `n` bytes; `what` names them in the error.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn bytes(&mut self, n: usize, what: &str) -> Result<&'a [u8], Violation> {
        match self.rest.split_at_checked(n) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(Violation::new(format!(
                "packet ends within {what}: {n} bytes needed, {} left",
                self.rest.len()
            ))),
        }
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Violation> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N, what)?);
        Ok(array)
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// When none is left.
    pub fn u8(&mut self, what: &str) -> Result<u8, Violation> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    /// Reads a two-byte integer.
    ///
    /// # Errors
    /// When fewer bytes are left.
    pub fn u16(&mut self, what: &str) -> Result<u16, Violation> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// Reads a four-byte integer.
    ///
    /// # Errors
    /// When fewer bytes are left.
    pub fn u32(&mut self, what: &str) -> Result<u32, Violation> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Reads a length-encoded integer; `None` stands for NULL (0xFB).
    ///
    /// # Errors
    /// When fewer bytes are left, and for 0xFF, which begins no integer.
    pub fn nullable_lenenc(&mut self, what: &str) -> Result<Option<u64>, Violation> {
        Ok(Some(match self.u8(what)? {
            0xFB => return Ok(None),
            0xFC => u64::from(self.u16(what)?),
            0xFD => {
                let [a, b, c] = self.array(what)?;
                u64::from(u32::from_le_bytes([a, b, c, 0]))
            }
            0xFE => u64::from_le_bytes(self.array(what)?),
            0xFF => return Err(Violation::new(format!("0xFF where the length of {what} begins"))),
            small => u64::from(small),
        }))
    }

    /// Reads a length-encoded integer that cannot be NULL.
    ///
    /// # Errors
    /// As [`Self::nullable_lenenc`], and for NULL.
    pub fn lenenc(&mut self, what: &str) -> Result<u64, Violation> {
        self.nullable_lenenc(what)?.ok_or_else(|| Violation::new(format!("NULL as {what}")))
    }

    /// Reads a string with a length-encoded length; `None` is NULL.
    ///
    /// # Errors
    /// When it is longer than what is left.
    pub fn nullable_string(&mut self, what: &str) -> Result<Option<&'a [u8]>, Violation> {
        match self.nullable_lenenc(what)? {
            None => Ok(None),
            Some(n) => self.bytes(usize::try_from(n).unwrap_or(usize::MAX), what).map(Some),
        }
    }

    /// Reads a string up to a NUL byte, which is taken too.
    ///
    /// # Errors
    /// When there is no NUL byte.
    pub fn nul_string(&mut self, what: &str) -> Result<&'a [u8], Violation> {
        let n = self.rest.iter().position(|&byte| byte == 0);
        let n = n.ok_or_else(|| Violation::new(format!("no end of {what} in the packet")))?;
        let string = self.bytes(n, what)?;
        self.bytes(1, what)?;
        Ok(string)
    }
}

/// Appends a length-encoded integer.
pub fn push_lenenc(out: &mut Vec<u8>, value: usize) {
    let [a, b, c, d, e, f, g, h] = (value as u64).to_le_bytes();
    match value {
        0..=0xFA => out.push(a),
        0xFB..=0xFFFF => out.extend_from_slice(&[0xFC, a, b]),
        0x1_0000..=0xFF_FFFF => out.extend_from_slice(&[0xFD, a, b, c]),
        _ => out.extend_from_slice(&[0xFE, a, b, c, d, e, f, g, h]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_round_trips_at_its_borders() {
        for value in [0, 250, 251, 252, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, 1 << 40] {
            let mut bytes = Vec::new();
            push_lenenc(&mut bytes, value);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.lenenc("n").unwrap(), value as u64);
            assert!(reader.rest().is_empty());
            let mut cut = Reader::new(&bytes[..bytes.len() - 1]);
            assert!(cut.lenenc("n").is_err());
        }
    }

    #[test]
    fn nulls_and_ends() {
        assert_eq!(Reader::new(&[0xFB]).nullable_string("s").unwrap(), None);
        assert_eq!(Reader::new(b"\x02abc").nullable_string("s").unwrap(), Some(&b"ab"[..]));
        assert_eq!(Reader::new(b"ab\0c").nul_string("s").unwrap(), b"ab");
        let error = Reader::new(b"\x05abc").nullable_string("a name").unwrap_err();
        assert_eq!(error.to_string(), "packet ends within a name: 5 bytes needed, 3 left");
        assert!(Reader::new(b"ab").nul_string("s").is_err());
        assert!(Reader::new(&[0xFF]).lenenc("n").is_err());
        assert!(Reader::new(&[0xFB]).lenenc("n").is_err());
    }
}
