//! Names that rqps gives in somebody else's server: its schemas' and its marker table's.

/// The table that says of a schema that rqps made it.
pub(crate) const MARKER: &str = "rqps_made_this";

/// What the names of rqps's schemas begin with; eight hex digits follow.
pub(crate) const PREFIX: &str = "rqps_";

/// Digits of a name.
const DIGITS: usize = 8;

/// Whether a schema's name is one of rqps's.
#[must_use]
pub fn is_schema_name(name: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    let digits = name.strip_prefix(PREFIX);
    digits.is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_hex))
}
