//! What an archive holds, told before it comes.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::csv::hex;

/// The form of archives: a new number when an older rqps could not read them.
pub(super) const FORMAT: u32 = 1;

/// The first file of an archive.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// [`FORMAT`].
    pub(super) format: u32,
    /// The run.
    pub(super) run_id: String,
    /// The rqps that wrote it.
    pub(super) rqps_version: String,
    /// All other files, in their order.
    pub(super) files: Vec<Entry>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Its name in the archive.
    pub(super) name: String,
    /// Bytes.
    pub(super) bytes: u64,
    /// SHA-256 in hexadecimal.
    pub(super) sha256: String,
}

impl Manifest {
    /// As it stands in the archive.
    pub(super) fn to_json(&self) -> String {
        // Its keys are text: nothing can fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl Entry {
    /// That of a file on disk.
    pub(super) fn of(name: &str, path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::File { action: "read", path: path.to_path_buf(), source };
        let mut file = File::open(path).map_err(failed)?;
        let (mut hash, mut bytes) = (Sha256::new(), 0_u64);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = file.read(&mut buffer).map_err(failed)?;
            if n == 0 {
                break;
            }
            hash.update(&buffer[..n]);
            bytes += n as u64;
        }
        Ok(Self { name: name.to_owned(), bytes, sha256: hex(&hash.finalize()) })
    }
}
