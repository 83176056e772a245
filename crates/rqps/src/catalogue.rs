//! The catalogue of servers as this user has it: built in, and the user's own files.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};
use rqps_sample::given_file;
use rqps_server::Catalogue;

/// The user's own file below the configuration directory.
const OWN: &str = "rqps/servers.toml";

/// Most bytes of a catalogue: tens of thousands of servers.
const MOST_BYTES: u64 = 16 << 20;

/// The built-in catalogue with the user's usual file, if there is one, and the one that was named.
pub(crate) fn read(config_home: Option<&Path>, named: Option<&Path>) -> Result<Catalogue> {
    let mut catalogue = Catalogue::builtin()?;
    if let Some(path) = config_home.map(|dir| dir.join(OWN)) {
        match given_file::read_text(&path, MOST_BYTES) {
            Ok(text) => catalogue = catalogue.with_own(&text, &path)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("read catalogue {}", path.display()));
            }
        }
    }
    if let Some(path) = named {
        let text = given_file::read_text(path, MOST_BYTES)
            .with_context(|| format!("read catalogue {}", path.display()))?;
        let path = std::path::absolute(path).context("find the catalogue's directory")?;
        catalogue = catalogue.with_own(&text, &path)?;
    }
    Ok(catalogue)
}
