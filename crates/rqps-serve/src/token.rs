//! The token that a request must show, and its comparison in constant time.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::Error;

/// Fewest and most characters of a token.
const LENGTH: std::ops::RangeInclusive<usize> = 16..=256;

/// A secret that is compared and never shown.
pub struct Token([u8; 32]);

impl Token {
    /// The token of a file's text or an environment variable; white space around it is not part of it. Its letters are
    /// those of RFC 6750, section 2.1, so that it stands in a header and after `#` in an address as it is.
    ///
    /// # Errors
    /// [`Error::WeakToken`] when it is too short or too long, or has any other letter.
    pub fn new(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let found = text.chars().count();
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/".contains(&b);
        let is_plain = text.trim_end_matches('=').bytes().all(is_letter);
        if LENGTH.contains(&found) && is_plain {
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

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
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
        for weak in [
            "",
            "short",
            "0123456789 abcdef",
            "0123456789%abcdef",
            "0123456789äabcdef",
            &"x".repeat(257),
        ] {
            assert!(Token::new(weak).is_err(), "{weak}");
        }
    }
}
