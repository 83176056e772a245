//! Checksums of files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::places::hex;
use crate::watch::Watch;

/// The SHA-256 of a file, hex.
pub(crate) fn of_file(path: &Path, watch: &Watch<'_>) -> Result<String, Error> {
    let doing = || format!("read {}", path.display());
    let mut file = File::open(path).map_err(|e| Error::io(doing(), e))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 20];
    loop {
        watch.check("verify an archive")?;
        let n = file.read(&mut buffer).map_err(|e| Error::io(doing(), e))?;
        if n == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..n]);
    }
}
