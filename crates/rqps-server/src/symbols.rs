//! Where the names of a program's functions come from: the program itself, a file beside it, nowhere.
//!
//! The places are those where debuggers and perf look (gdb's manual, "Debugging Information in Separate
//! Files"): `FILE` beside the program or in `.debug/` beside it, the same below /usr/lib/debug, and by
//! the build id below /usr/lib/debug/.build-id.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::elf;

/// Below it, distributions put the symbols of what they stripped.
const DEBUG_DIR: &str = "/usr/lib/debug";

/// Where a program's function names come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Symbols {
    /// It has all its symbols (`.symtab`).
    pub own: bool,
    /// The file with the symbols, if they are elsewhere.
    pub file: Option<PathBuf>,
}

impl Symbols {
    /// The symbols of the program at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is no 64-bit ELF file.
    pub fn of(path: &Path) -> io::Result<Self> {
        Self::read(path, path)
    }

    /// The symbols of a process's program, even if its file was replaced or removed.
    ///
    /// # Errors
    /// As [`Symbols::of`].
    pub fn of_process(pid: i32) -> io::Result<Self> {
        let program = PathBuf::from(format!("/proc/{pid}/exe"));
        let path = file_of(&std::fs::read_link(&program)?);
        Self::read(&program, &path)
    }

    /// Of the program that can be read at `program` and whose file is, or was, `path`.
    fn read(program: &Path, path: &Path) -> io::Result<Self> {
        let sections = elf::sections(program)?;
        let part = |name: &str| -> Option<Vec<u8>> {
            let (_, offset, len) = sections.iter().find(|(found, ..)| found == name)?;
            elf::read_part(program, *offset, *len).ok()
        };
        if sections.iter().any(|(name, ..)| name == ".symtab") {
            return Ok(Self { own: true, file: None });
        }
        let link = part(".gnu_debuglink").and_then(|bytes| {
            let name = bytes.split(|byte| *byte == 0).next()?;
            String::from_utf8(name.to_vec()).ok().filter(|name| !name.is_empty())
        });
        let id = part(".note.gnu.build-id").and_then(|note| build_id(&note));
        let file = candidates(path, link.as_deref(), id.as_deref());
        Ok(Self { own: false, file: file.into_iter().find(|file| file.is_file()) })
    }

    /// Whether most functions have no name anywhere.
    #[must_use]
    pub fn is_stripped(&self) -> bool {
        !self.own && self.file.is_none()
    }
}

impl std::fmt::Display for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.own, &self.file) {
            (true, _) => f.write_str("its own (.symtab)"),
            (false, Some(file)) => write!(f, "those of {}", file.display()),
            (false, None) => f.write_str("none of its own: it is stripped"),
        }
    }
}

/// The file that a link of /proc names, without what the kernel adds when it is gone (`proc_pid_exe(5)`).
fn file_of(link: &Path) -> PathBuf {
    let bytes = link.as_os_str().as_bytes();
    PathBuf::from(OsStr::from_bytes(bytes.strip_suffix(b" (deleted)").unwrap_or(bytes)))
}

/// Where the symbols of `path` may be.
fn candidates(path: &Path, link: Option<&str>, id: Option<&str>) -> Vec<PathBuf> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    let mut files = Vec::new();
    if let Some(id) = id.filter(|id| id.len() > 2) {
        let (head, tail) = id.split_at(2);
        files.push(Path::new(DEBUG_DIR).join(format!(".build-id/{head}/{tail}.debug")));
    }
    if let Some(link) = link {
        let below = dir.strip_prefix("/").unwrap_or(dir);
        files.extend([
            dir.join(link),
            dir.join(".debug").join(link),
            Path::new(DEBUG_DIR).join(below).join(link),
        ]);
    }
    // A program is no source of its own symbols.
    files.retain(|file| file != path);
    files
}

/// What tells a program from every other one that was linked: its build id, where it has one.
pub(crate) fn build_id_of(program: &Path) -> Option<String> {
    let sections = elf::sections(program).ok()?;
    let (_, offset, len) = sections.iter().find(|(name, ..)| name == ".note.gnu.build-id")?;
    build_id(&elf::read_part(program, *offset, *len).ok()?)
}

/// The build id of a note, as hexadecimal digits: sizes of name and id, a type, the name `GNU`, the id.
fn build_id(note: &[u8]) -> Option<String> {
    let len = u32::from_le_bytes(note.get(4..8)?.try_into().ok()?);
    let id = note.get(16..16 + usize::try_from(len).ok()?)?;
    (note.get(12..16)? == b"GNU\0").then(|| id.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_its_own_symbols_and_the_shell_none() {
        let me = Symbols::of(&std::env::current_exe().unwrap()).unwrap();
        assert!(me.own && !me.is_stripped());
        assert_eq!(me.to_string(), "its own (.symtab)");
        let shell = std::fs::canonicalize("/bin/sh").unwrap();
        let shell = Symbols::of(&shell).unwrap();
        // Distributions strip their programs; a developer's host may have the debug file.
        assert!(!shell.own);
        assert_eq!(shell.is_stripped(), shell.file.is_none());
    }

    #[test]
    fn a_process_is_read_through_its_link() {
        let me = i32::try_from(std::process::id()).unwrap();
        let by_file = Symbols::of(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!(Symbols::of_process(me).unwrap(), by_file);
        let gone = file_of(Path::new("/opt/my/bin/mysqld (deleted)"));
        assert_eq!(gone, Path::new("/opt/my/bin/mysqld"));
        assert_eq!(file_of(Path::new("/bin/x")), Path::new("/bin/x"));
    }

    #[test]
    fn files_beside_a_program_are_looked_for() {
        let files = candidates(Path::new("/opt/my/bin/mysqld"), Some("mysqld.debug"), Some("ab12"));
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let expected = [
            "/usr/lib/debug/.build-id/ab/12.debug",
            "/opt/my/bin/mysqld.debug",
            "/opt/my/bin/.debug/mysqld.debug",
            "/usr/lib/debug/opt/my/bin/mysqld.debug",
        ];
        assert_eq!(files, expected);
        assert!(
            candidates(Path::new("/bin/x"), Some("x"), None)
                .iter()
                .all(|f| f != Path::new("/bin/x"))
        );
    }

    #[test]
    fn a_build_id_is_read_from_its_note() {
        let note = [&[4_u8, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0", &[0xab, 0x12]].concat();
        assert_eq!(build_id(&note).as_deref(), Some("ab12"));
        assert_eq!(build_id(&note[..10]), None);
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        assert!(Symbols::of(Path::new("/etc/passwd")).is_err());
    }
}
