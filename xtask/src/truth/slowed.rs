//! Servers that are slowed by code outside rqps: the files of a server, whose program loads one library more.
//!
//! `slow.c` is compiled once for each share of CPU. The program is copied and gets the library as its first;
//! all other files are links. To rqps such a server is a build of the user's own (`basedir`).

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use rqps_server::Installed;
use tempfile::NamedTempFile;

use super::counts::Counts;

/// The library's source.
const SOURCE: &str = include_str!("slow.c");

/// The library's file, beside the program.
const LIBRARY: &str = "rqps-truth-slow.so";

/// Where files lie that a server may write whatever confines it.
const SHARED_MEMORY: &str = "/dev/shm";

/// A system that burns a share of its own CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slowdown {
    /// The system's label.
    pub(super) label: String,
    /// The share, basis points of the CPU that a thread needs for its commands.
    pub(super) bp: u32,
}

/// A server's files with the library, and the file in which the library counts.
#[derive(Debug)]
pub(super) struct SlowedServer {
    pub(super) slowdown: Slowdown,
    pub(super) basedir: PathBuf,
    pub(super) counts: NamedTempFile,
}

/// What slowed servers are made of.
#[derive(Debug)]
pub(super) struct Workshop<'a> {
    /// The server as it is fetched.
    pub(super) installed: &'a Installed,
    /// The program that adds a library to a program.
    pub(super) patchelf: &'a Path,
    /// Where the slowed servers' files lie; those of an earlier call are taken.
    pub(super) dir: PathBuf,
}

impl Workshop<'_> {
    /// Makes the files of a slowed server.
    ///
    /// # Errors
    /// When files cannot be made or `cc` does not compile the library.
    pub(super) fn make(&self, slowdown: &Slowdown) -> Result<SlowedServer> {
        let program = self.patched_program()?;
        let basedir = self.dir.join(&slowdown.label);
        let own_program = self.program_below_prefix()?;
        if !basedir.is_dir() {
            let partial = self.dir.join(format!("{}.partial", slowdown.label));
            remove_tree(&partial)?;
            link_tree(&self.installed.prefix, &partial)?;
            for dir in &self.installed.library_dirs {
                link_tree(dir, &partial.join("libs"))?;
            }
            fs::remove_file(partial.join(own_program))?;
            link_file(&program, &partial.join(own_program))?;
            fs::rename(&partial, &basedir)?;
        }
        let counts = counts_file()?;
        let dir = basedir.join(own_program);
        let dir = dir.parent().context("the program has no directory")?;
        compile(&dir.join(LIBRARY), slowdown.bp, counts.path())?;
        Ok(SlowedServer { slowdown: slowdown.clone(), basedir, counts })
    }

    /// The program's place in its prefix: `bin/mysqld`.
    fn program_below_prefix(&self) -> Result<&Path> {
        let Installed { program, prefix, .. } = self.installed;
        program.strip_prefix(prefix).context("the program is not in the server's directory")
    }

    /// The program with the library as its first, so that recv and send are the library's. All slowed
    /// servers share it, and with it their code's pages in memory.
    fn patched_program(&self) -> Result<PathBuf> {
        let program = self.dir.join("program");
        if program.is_file() {
            return Ok(program);
        }
        fs::create_dir_all(&self.dir)?;
        let partial = self.dir.join("program.partial");
        fs::copy(&self.installed.program, &partial).context("copy the server's program")?;
        let patched = Command::new(self.patchelf)
            .arg("--add-needed")
            .arg(format!("$ORIGIN/{LIBRARY}"))
            .arg(&partial)
            .status()
            .context("run patchelf")?;
        ensure!(patched.success(), "patchelf failed on {}", partial.display());
        fs::rename(&partial, &program)?;
        Ok(program)
    }
}

/// A file of zeros that the server's user can write; removed when it is dropped.
fn counts_file() -> Result<NamedTempFile> {
    let file = tempfile::Builder::new()
        .prefix("rqps-truth-")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(SHARED_MEMORY)
        .context("make a file for the counts")?;
    // The mode that a file is made with lacks the bits of the umask.
    file.as_file().set_permissions(fs::Permissions::from_mode(0o666))?;
    file.as_file().set_len(Counts::BYTES)?;
    Ok(file)
}

/// Compiles the library, in the place of an earlier one.
fn compile(library: &Path, bp: u32, counts: &Path) -> Result<()> {
    let partial = library.with_extension("partial");
    let source = tempfile::Builder::new().suffix(".c").tempfile()?;
    fs::write(source.path(), SOURCE)?;
    let compiled = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"])
        .arg("-ftls-model=initial-exec")
        .arg(format!("-DSHARE_BP={bp}"))
        .arg(format!("-DCOUNTS_PATH=\"{}\"", counts.display()))
        .arg("-o")
        .args([&partial, source.path()])
        .status()
        .context("run cc: the library that slows servers is written in C")?;
    ensure!(compiled.success(), "cc did not compile slow.c");
    fs::rename(&partial, library).context("put the library beside the program")
}

/// Links all files below a directory into another.
fn link_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            link_tree(&source, &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else {
            link_file(&source, &target)?;
        }
    }
    Ok(())
}

/// One file under a second name; a copy where the file systems differ or links are not allowed.
fn link_file(from: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).with_context(|| format!("copy {}", from.display()))?;
    }
    Ok(())
}

fn remove_tree(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server of 200 commands on a socket of its own, each of some CPU.
    const SERVER: &str = r#"
        #include <sys/socket.h>
        #include <unistd.h>
        int main(void) {
            int ends[2];
            char byte = 0;
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
            for (int i = 0; i < 200; i++) {
                if (write(ends[0], &byte, 1) != 1 || recv(ends[1], &byte, 1, 0) != 1) return 1;
                for (volatile int work = 0; work < 20000; work++) {}
                if (send(ends[1], &byte, 1, 0) != 1 || read(ends[0], &byte, 1) != 1) return 1;
            }
            return 0;
        }
    "#;

    #[test]
    fn the_share_is_burnt_and_counted() {
        let temp = tempfile::tempdir().unwrap();
        let (source, program) = (temp.path().join("server.c"), temp.path().join("server"));
        let library = temp.path().join(LIBRARY);
        let counts = counts_file().unwrap();
        fs::write(&source, SERVER).unwrap();
        compile(&library, 1000, counts.path()).unwrap();
        let linked = Command::new("cc")
            .args([Path::new("-o"), &program, &source, &library])
            .status()
            .unwrap();
        assert!(linked.success());
        assert!(Command::new(&program).status().unwrap().success());
        let counts = Counts::read(counts.as_file()).unwrap();
        // Nothing is known of what was before the first two commands.
        assert_eq!(counts.commands, 198);
        let share = counts.burnt_ns as f64 / counts.own_ns as f64;
        assert!((share - 0.1).abs() < 0.02, "{counts:?}");
    }

    #[test]
    fn a_tree_is_linked_with_its_links() {
        let temp = tempfile::tempdir().unwrap();
        let (from, to) = (temp.path().join("from"), temp.path().join("to"));
        fs::create_dir_all(from.join("bin")).unwrap();
        fs::write(from.join("bin/mysqld"), "program").unwrap();
        symlink("mysqld", from.join("bin/mariadbd")).unwrap();
        link_tree(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("bin/mysqld")).unwrap(), b"program");
        assert_eq!(fs::read_link(to.join("bin/mariadbd")).unwrap(), Path::new("mysqld"));
    }
}
