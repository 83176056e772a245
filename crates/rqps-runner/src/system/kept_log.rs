//! The log of a system's server, kept with the run.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result};
use rqps_server::{Instance, instance};

/// Adds a server's log to what earlier attempts of the same run left in `to`, where it is kept at all, and
/// empties it, so that nothing of it is kept twice.
pub(super) fn keep(instance: &Instance, to: Option<&Path>) -> Result<()> {
    let Some(to) = to else { return Ok(()) };
    keep_left(&instance.setup().dir, to)?;
    // One that cannot be emptied is kept all the same.
    let _ = instance.empty_log();
    Ok(())
}

/// Adds the log of a server that an earlier attempt has left in `dir`, where it goes with its data.
pub(crate) fn keep_left(dir: &Path, to: &Path) -> Result<()> {
    let copy = || -> io::Result<()> {
        let mut log = instance::open_log_in(dir)?;
        let mut kept = OpenOptions::new().create(true).append(true).open(to)?;
        io::copy(&mut log, &mut kept).map(|_| ())
    };
    copy().with_context(|| format!("keep the server's log as {}", to.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_left_is_added_to_what_was_kept() {
        let top = tempfile::tempdir().unwrap();
        let (dir, to) = (top.path().join("run-0"), top.path().join("server-0.log"));
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("server.log"), "second\n").unwrap();
        fs::write(&to, "first\n").unwrap();
        keep_left(&dir, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "first\nsecond\n");
        fs::remove_file(dir.join("server.log")).unwrap();
        let error = keep_left(&dir, &to).unwrap_err().to_string();
        assert_eq!(error, format!("keep the server's log as {}", to.display()));
    }
}
