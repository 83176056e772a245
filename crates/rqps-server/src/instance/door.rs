//! The wall around the programs of an instance: which directories and which port they may reach.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Instance;
use crate::tool::{self, Terms};
use crate::wall::{Door, Enclosure};
use crate::watch::Watch;
use crate::{Error, elf};

/// Shared memory of POSIX: shm_overview(7).
const SHARED_MEMORY: &str = "/dev/shm";

/// Longest time that the loader may take to list libraries.
const LIST_WITHIN: Duration = Duration::from_secs(30);

impl Instance {
    /// The way into the wall, for one program; only the server has a port.
    pub(crate) fn door(
        &self,
        port: Option<u16>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Door>, Error> {
        if !self.wall.holds() {
            return Ok(None);
        }
        let libraries = match self.libraries.get() {
            Some(libraries) => libraries.clone(),
            None => {
                let found = loaded_libraries(self, watch)?;
                self.libraries.get_or_init(|| found).clone()
            }
        };
        Door::new(&self.wall, &enclosure(self, libraries, port))
            .map_err(|e| Error::io(format!("confine the server ({})", self.wall.name()), e))
    }
}

/// What an instance's programs may reach; `libraries` are directories that the loader finds for them.
fn enclosure(instance: &Instance, libraries: Vec<PathBuf>, port: Option<u16>) -> Enclosure {
    let setup = instance.setup();
    let installed = &setup.installed;
    let mut read = libraries;
    read.extend(installed.library_dirs.iter().cloned());
    read.extend([&installed.prefix, &installed.basedir, &installed.share].map(Clone::clone));
    read.extend(installed.plugin_dir.clone());
    read.extend(dir_of(&installed.program));
    read.extend(setup.allocator.file().and_then(dir_of));
    let write = vec![setup.dir.clone(), instance.socket_dir(), PathBuf::from(SHARED_MEMORY)];
    Enclosure { read, write, port }
}

/// The directory of a file, without symbolic links.
fn dir_of(file: &Path) -> Option<PathBuf> {
    Some(file.canonicalize().ok()?.parent()?.to_owned())
}

/// The directories of the libraries that the loader finds for an instance's server; none for a program that
/// is no ELF file or is static.
///
/// # Errors
/// When the work is stopped.
fn loaded_libraries(instance: &Instance, watch: &mut Watch<'_>) -> Result<Vec<PathBuf>, Error> {
    let setup = instance.setup();
    let program = &setup.installed.program;
    let Ok(Some(loader)) = elf::interpreter(program) else { return Ok(Vec::new()) };
    // The loader itself is run: it lists and does not execute the program.
    let mut command = Command::new(loader);
    command.arg("--list").arg(program).env_clear().stdin(Stdio::null());
    command.envs(setup.allocator.environment(setup.installed.library_path()));
    let log = setup.dir.join("libraries.log");
    let terms = Terms { identity: &setup.identity, log: &log, limit: LIST_WITHIN };
    let done = tool::run(command, terms, watch, &mut |_| {})?;
    let _ = fs::remove_file(&log);
    Ok(done.map_or_else(|_| Vec::new(), |done| parse_list(&done.output)))
}

/// Directories of a loader's list: `libaio.so.1 => /usr/lib/libaio.so.1 (0x00007f...)`.
fn parse_list(text: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let line = line.split_once(" => ").map_or(line, |(_, path)| path).trim();
        let path = line.rsplit_once(" (0x").map_or(line, |(path, _)| path);
        path.starts_with('/').then(|| PathBuf::from(path))
    };
    let dirs: BTreeSet<PathBuf> =
        text.lines().filter_map(path).filter_map(|p| dir_of(&p)).collect();
    dirs.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_where_the_loader_has_them() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for (dir, file) in [("a b", "libx.so.1"), ("c", "ld.so")] {
            fs::create_dir(top.join(dir)).unwrap();
            fs::write(top.join(dir).join(file), "").unwrap();
        }
        let text = format!(
            "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibx.so.1 => {0}/a b/libx.so.1 (0x00007f)\n\
             \tlibgone.so => not found\n\t{0}/c/ld.so (0x00007f)\n",
            top.display()
        );
        assert_eq!(parse_list(&text), [top.join("a b"), top.join("c")]);
    }
}
