//! Which allocator a process or a program has, from its map and its symbols.

use std::fs;
use std::path::{Path, PathBuf};

use crate::elf;

/// Beginnings of allocators' file names, and what they are called.
const LIBRARIES: &[(&str, &str)] = &[
    ("libjemalloc", "jemalloc"),
    ("libtcmalloc", "tcmalloc"),
    ("libmimalloc", "mimalloc"),
    ("libtbbmalloc", "tbbmalloc"),
    ("libsnmalloc", "snmalloc"),
    ("librpmalloc", "rpmalloc"),
    ("libhoard", "hoard"),
];

/// Symbols by which a program shows whose `malloc` it has linked into it.
const SYMBOLS: &[(&str, &str)] =
    &[("mallctl", "jemalloc"), ("tc_malloc", "tcmalloc"), ("mi_malloc", "mimalloc")];

/// The allocator that a program has linked into it; `None` also for what cannot be read: a script.
pub(super) fn of_program(program: &Path) -> Option<&'static str> {
    let mut wanted: Vec<&str> = SYMBOLS.iter().map(|(symbol, _)| *symbol).collect();
    wanted.push("malloc");
    let defined = elf::defined_symbols(program, &wanted).ok()?;
    if !defined.contains("malloc") {
        return None;
    }
    let known = SYMBOLS.iter().find(|(symbol, _)| defined.contains(*symbol));
    Some(known.map_or("an allocator of its own", |(_, name)| name))
}

/// The files that a process has mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapped(Vec<PathBuf>);

impl Mapped {
    /// Reads /proc/PID/maps (proc_pid_maps(5)): the sixth field, when it is a path.
    pub(super) fn parse(maps: &str) -> Self {
        let mut files: Vec<PathBuf> = Vec::new();
        for line in maps.lines() {
            let Some(start) = line.find('/') else { continue };
            // The kernel escapes a line break only.
            let path = PathBuf::from(line[start..].replace("\\012", "\n"));
            if files.last() != Some(&path) && !files.contains(&path) {
                files.push(path);
            }
        }
        Self(files)
    }

    /// Nothing but the kernel's own parts: a process that is ending.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, file: &Path) -> bool {
        self.0.iter().any(|mapped| mapped == file)
    }

    /// The allocators' libraries that are mapped: `tcmalloc (libtcmalloc.so.4.5.9)`.
    pub(super) fn allocator(&self) -> Option<String> {
        let found = self.0.iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            let (_, word) = LIBRARIES.iter().find(|(start, _)| name.starts_with(start))?;
            Some(format!("{word} ({name})"))
        });
        let all: Vec<String> = found.collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }

    /// The C library.
    pub(super) fn libc(&self) -> Option<&Path> {
        let is = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // libc-2.31.so until glibc 2.34; musl is its own linker.
            name == "libc.so.6" || name.starts_with("libc-2.") || name.starts_with("ld-musl")
        };
        self.0.iter().find(is).map(PathBuf::as_path)
    }
}

/// `glibc 2.36`, from the banner in the library.
pub(super) fn libc_version(libc: &Path) -> String {
    let name = libc.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("ld-musl") {
        return "musl".to_owned();
    }
    match fs::read(libc).ok().as_deref().and_then(banner_version) {
        Some(version) => format!("glibc {version}"),
        None => format!("glibc of unknown version ({name})"),
    }
}

/// The number in `GNU C Library (...) stable release version 2.36.`
fn banner_version(bytes: &[u8]) -> Option<String> {
    const WORDS: &[u8] = b"release version ";
    let at = bytes.windows(WORDS.len()).position(|window| window == WORDS)? + WORDS.len();
    let is_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let number: Vec<u8> = bytes[at..].iter().take_while(is_number).copied().collect();
    let text = String::from_utf8(number).ok()?;
    let text = text.trim_end_matches('.');
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0c0000000-55d0c0100000 r--p 00000000 fe:00 1  /srv/my server/bin/mysqld
55d0c0100000-55d0c0200000 r-xp 00100000 fe:00 1  /srv/my server/bin/mysqld
7f0000000000-7f0000100000 rw-p 00000000 00:00 0 
7f0000100000-7f0000200000 r-xp 00000000 fe:00 2  /usr/lib/x86_64-linux-gnu/libtcmalloc.so.4.5.9
7f0000200000-7f0000300000 r-xp 00000000 fe:00 3  /usr/lib/x86_64-linux-gnu/libc.so.6
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0  [stack]
";

    #[test]
    fn reads_a_map() {
        let mapped = Mapped::parse(MAPS);
        assert_eq!(mapped.0.len(), 3);
        assert!(mapped.has(Path::new("/srv/my server/bin/mysqld")));
        assert!(!mapped.has(Path::new("/srv/my")));
        assert_eq!(mapped.allocator().unwrap(), "tcmalloc (libtcmalloc.so.4.5.9)");
        assert_eq!(mapped.libc().unwrap().file_name().unwrap(), "libc.so.6");
        assert!(Mapped::parse("7ff000000000-7ff000001000 r-xp 0 00:00 0 [vdso]\n").is_empty());
    }

    #[test]
    fn knows_the_c_librarys_version() {
        let text = b"\0GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\nCopyright";
        assert_eq!(banner_version(text).unwrap(), "2.36");
        assert_eq!(banner_version(b"release version \n"), None);
        assert_eq!(libc_version(Path::new("/lib/ld-musl-x86_64.so.1")), "musl");
        // This very process has one.
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let version = libc_version(Mapped::parse(&maps).libc().unwrap());
        assert!(version.starts_with("glibc 2.") || version == "musl", "{version}");
    }

    #[test]
    fn programs_without_an_allocator_of_their_own_have_none() {
        assert_eq!(of_program(&std::env::current_exe().unwrap()), None);
        assert_eq!(of_program(Path::new("/no/such/program")), None);
        // The C library is an ELF file that surely defines one.
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let mapped = Mapped::parse(&maps);
        assert_eq!(of_program(mapped.libc().unwrap()), Some("an allocator of its own"));
    }
}
