//! The token that a browser must show, and its comparison in constant time.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::Error;

/// Fewest and most characters of a token.
const LENGTH: std::ops::RangeInclusive<usize> = 16..=256;

/// A secret that is compared and never shown.
pub struct Token([u8; 32]);

impl Token {
    /// The token of a file's text or an environment variable; white space around it is not part of it.
    ///
    /// # Errors
    /// [`Error::WeakToken`] when it is too short or too long, or has a space in it.
    pub fn new(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let found = text.chars().count();
        if LENGTH.contains(&found) && !text.contains(char::is_whitespace) {
            Ok(Self(digest(text)))
        } else {
            Err(Error::WeakToken { found })
        }
    }

    /// Whether somebody showed this token, in a time that tells nothing of it.
    pub(crate) fn is(&self, shown: &str) -> bool {
        // Of equal length, whatever was shown.
        self.0.ct_eq(&digest(shown.trim())).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Whether two texts are the same, in a time that tells nothing of them.
pub(crate) fn same(a: &str, b: &str) -> bool {
    digest(a).ct_eq(&digest(b)).into()
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// 32 random bytes in hexadecimal.
pub(crate) fn random_text() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(hex(&bytes))
}

/// A text that only who knows `secret` can make of `parts`.
pub(crate) fn sealed(secret: &str, part: &str) -> String {
    // The secret has one length, so that no other pair has the same text.
    hex(&digest(&format!("{secret}{part}")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_the_file_says_without_the_line_end() {
        let token = Token::new("0123456789abcdef\n").unwrap();
        assert!(token.is("0123456789abcdef") && token.is(" 0123456789abcdef\r\n"));
        assert!(!token.is("0123456789abcdeF") && !token.is(""));
        assert_eq!(format!("{token:?}"), "Token(..)");
        for weak in ["", "short", "0123456789 abcdef", &"x".repeat(257)] {
            assert!(Token::new(weak).is_err(), "{weak}");
        }
    }

    #[test]
    fn random_texts_differ() {
        let (a, b) = (random_text().unwrap(), random_text().unwrap());
        assert!(a.len() == 64 && a != b);
        assert!(same(&a, &a) && !same(&a, &b));
        assert_ne!(sealed(&a, "x"), sealed(&a, "y"));
    }
}
