//! Data inside a page: compressed (gzip), as letters that need no escaping (base64).

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, GzBuilder};

/// Half the time of the usual level for a few percent more bytes.
const LEVEL: Compression = Compression::new(4);

/// `text` as gzip, without a time or a name in it: the same text gives the same bytes.
pub(super) fn gzip(text: &str) -> Vec<u8> {
    let mut out = GzBuilder::new().mtime(0).write(Vec::new(), LEVEL);
    // Writing to memory does not fail.
    if out.write_all(text.as_bytes()).is_err() {
        return Vec::new();
    }
    out.finish().unwrap_or_default()
}

/// Bytes as base64, RFC 4648 section 4.
pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn what_is_packed_comes_out() {
        let text = "0.68 [0.66, 0.70] ▼\n".repeat(50);
        let packed = gzip(&text);
        assert!(packed.len() < text.len() / 5);
        assert_eq!(packed, gzip(&text));
        let mut back = String::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut back).unwrap();
        assert_eq!(back, text);
    }
}
