//! Programs of a prefix made to run with the C library that came with them: the loader's path and the
//! libraries' path are written into the file, so that the process keeps its own name.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;
use crate::identity::Identity;
use crate::tool::{self, Terms};
use crate::watch::Watch;

/// Where Debian's packages have libraries, below a prefix.
pub(super) const LIBRARY_DIRS: &[&str] = &["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];

/// The loader of the C library.
pub(super) const LOADER: &str = "ld-linux-x86-64.so.2";

/// Where programs are, below a prefix; `*` stands for one directory.
const PROGRAM_DIRS: &[&str] = &["usr/sbin", "usr/bin", "usr/lib/postgresql/*/bin"];

/// Longest time for one program; it takes a fraction of a second.
const LIMIT: Duration = Duration::from_secs(120);

/// Patches every program below `partial` for the place where it will be, `prefix`.
pub(super) fn relocate(
    patchelf: &Path,
    partial: &Path,
    prefix: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let loader = LIBRARY_DIRS
        .iter()
        .map(|dir| Path::new(dir).join(LOADER))
        .find(|path| partial.join(path).exists())
        .ok_or_else(|| Error::Data {
            what: "server catalogue".to_owned(),
            detail: format!("{}: its packages have no {LOADER}", prefix.display()),
        })?;
    let rpath: Vec<String> =
        LIBRARY_DIRS.iter().map(|dir| prefix.join(dir).display().to_string()).collect();
    let me = Identity { switch: false, ..Identity::for_servers()? };
    let log = partial.join("patchelf.log");
    for program in programs(partial) {
        let mut command = tool::command(&patchelf.to_string_lossy());
        command
            .arg("--set-interpreter")
            .arg(prefix.join(&loader))
            // The old kind of path, which also holds for what libraries and plugins ask for.
            .args(["--force-rpath", "--set-rpath", &rpath.join(":")])
            .arg(&program);
        let terms = Terms { identity: &me, log: &log, limit: LIMIT };
        let done = tool::run(command, terms, watch, &mut |_| {})?
            .map_err(|e| Error::io(format!("run {}", patchelf.display()), e))?;
        if done.output.contains("No space left on device") {
            return Err(Error::disk_full(partial));
        }
        if !done.success() {
            let doing = format!("patch {} ({}: {})", program.display(), done.end(), done.output);
            return Err(Error::io(doing, std::io::Error::other("patchelf failed")));
        }
    }
    let _ = fs::remove_file(log);
    Ok(())
}

/// The ELF programs below a prefix; links to them apart.
fn programs(prefix: &Path) -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for dir in PROGRAM_DIRS {
        match dir.split_once("/*/") {
            None => dirs.push(prefix.join(dir)),
            Some((above, below)) => {
                let each = fs::read_dir(prefix.join(above)).into_iter().flatten().flatten();
                dirs.extend(each.map(|entry| entry.path().join(below)));
            }
        }
    }
    let entries = dirs.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter(|entry| entry.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0))
        .map(|entry| entry.path())
        .filter(|path| is_elf(path))
        .collect();
    found.sort();
    found
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    // elf(5): EI_MAG0 to EI_MAG3.
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_but_no_scripts_links_or_libraries() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, content: &[u8], mode: u32| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        put("usr/sbin/mariadbd", b"\x7fELF...", 0o755);
        put("usr/bin/script", b"#!/bin/sh", 0o755);
        put("usr/bin/short", b"\x7f", 0o755);
        put("usr/lib/postgresql/18/bin/initdb", b"\x7fELF...", 0o755);
        put("usr/lib/x86_64-linux-gnu/libx.so", b"\x7fELF...", 0o755);
        std::os::unix::fs::symlink("mariadbd", dir.path().join("usr/sbin/mysqld")).unwrap();
        let found = programs(dir.path());
        let found: Vec<_> =
            found.iter().map(|p| p.strip_prefix(dir.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(found, ["usr/lib/postgresql/18/bin/initdb", "usr/sbin/mariadbd"]);
    }
}
