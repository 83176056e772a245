//! Checksums of archives as they are published: MD5 for old ones, SHA-256, SHA-512.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use md5::Md5;
use serde::Deserialize;
use sha2::{Digest, Sha256, Sha512};

use crate::Error;
use crate::places::hex;
use crate::watch::Watch;

/// How a checksum is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Guards against accidents only; all that MySQL's download pages publish.
    Md5,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// A published checksum, written `sha256:HEX`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Checksum {
    /// How it is computed.
    pub algorithm: Algorithm,
    /// Lower-case hex digits.
    pub hex: String,
}

/// Bytes that are read at once.
const BUFFER: usize = 1 << 20;

impl Algorithm {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha256 => "SHA-256",
            Self::Sha512 => "SHA-512",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    fn digits(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }

    /// The checksum of a file, in hex.
    pub(crate) fn of_file(self, path: &Path, watch: &Watch<'_>) -> Result<String, Error> {
        match self {
            Self::Md5 => digest::<Md5>(path, watch),
            Self::Sha256 => digest::<Sha256>(path, watch),
            Self::Sha512 => digest::<Sha512>(path, watch),
        }
    }
}

fn digest<D: Digest>(path: &Path, watch: &Watch<'_>) -> Result<String, Error> {
    let doing = || format!("read {}", path.display());
    let mut file = File::open(path).map_err(|e| Error::io(doing(), e))?;
    let mut hash = D::new();
    let mut buffer = vec![0_u8; BUFFER];
    loop {
        watch.check("verify an archive")?;
        let n = file.read(&mut buffer).map_err(|e| Error::io(doing(), e))?;
        if n == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..n]);
    }
}

impl Checksum {
    /// A SHA-256 checksum of these digits.
    #[must_use]
    pub fn sha256(hex: &str) -> Self {
        Self { algorithm: Algorithm::Sha256, hex: hex.to_owned() }
    }

    pub(super) fn flaw(&self) -> Option<String> {
        let (name, digits) = (self.algorithm.word(), self.algorithm.digits());
        let lower = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let good = self.hex.len() == digits && self.hex.bytes().all(lower);
        (!good).then(|| format!("{name} is not {digits} hex digits"))
    }
}

impl TryFrom<String> for Checksum {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let form = || format!("checksum {text:?} is not md5:HEX, sha256:HEX or sha512:HEX");
        let (word, hex) = text.split_once(':').ok_or_else(form)?;
        let known = [Algorithm::Md5, Algorithm::Sha256, Algorithm::Sha512];
        let algorithm = known.into_iter().find(|a| a.word() == word).ok_or_else(form)?;
        let checksum = Self { algorithm, hex: hex.trim().to_ascii_lowercase() };
        checksum.flaw().map_or(Ok(checksum), Err)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.word(), self.hex)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn known_answers() {
        // RFC 1321 and FIPS 180-2: of "abc".
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let stop = AtomicBool::new(false);
        let watch = Watch { stop: &stop, report: &mut |_| {} };
        for (algorithm, begins, ends) in [
            (Algorithm::Md5, "900150983cd24fb0", "d6963f7d28e17f72"),
            (Algorithm::Sha256, "ba7816bf8f01cfea", "b410ff61f20015ad"),
            (Algorithm::Sha512, "ddaf35a193617aba", "2a9ac94fa54ca49f"),
        ] {
            let found = algorithm.of_file(&path, &watch).unwrap();
            assert!(found.starts_with(begins) && found.ends_with(ends), "{found}");
            let text = format!("{}:{found}", algorithm.word());
            let checksum = Checksum::try_from(text.to_uppercase().replacen(
                &algorithm.word().to_uppercase(),
                algorithm.word(),
                1,
            ));
            assert_eq!(checksum.unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses_what_is_none() {
        for text in ["", "900150983cd24fb0d6963f7d28e17f72", "crc32:1234", "md5:xyz", "sha256:00"] {
            let error = Checksum::try_from(text.to_owned()).unwrap_err();
            assert!(error.contains("hex") || error.contains("HEX"), "{error}");
        }
    }
}
