//! The allocator of a server's process: fetched, preloaded, and looked for in the running process.
//!
//! Only the measured server gets it. A data directory is initialised with what the build brings: that
//! is not measured, what it leaves on disk does not depend on the allocator, and some builds crash
//! there with a foreign one.

mod found;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rqps_model::Malloc;

use crate::catalogue::Catalogue;
use crate::error::Error;
use crate::installed::Installed;
use crate::library;
use crate::watch::{Watch, pause};
use found::{Mapped, libc_version};

/// How often a process without the allocator is looked at before it counts as one, and how far apart.
const LOOKS: u32 = 3;
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The library of each allocator, by the names under which distributions have it. The first is
/// Debian's.
fn sonames(malloc: Malloc) -> &'static [&'static str] {
    match malloc {
        Malloc::Build | Malloc::System => &[],
        Malloc::Jemalloc => &["libjemalloc.so.2"],
        Malloc::Tcmalloc => &["libtcmalloc_minimal.so.4"],
        Malloc::Mimalloc => &["libmimalloc.so.2", "libmimalloc.so.3"],
    }
}

/// An allocator to preload; by default the build's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allocator {
    malloc: Malloc,
    library: Option<Preload>,
}

/// A library to be preloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Preload {
    /// The file, without symbolic links: as the process's map will show it.
    file: PathBuf,
    /// Package and version, where known: `libjemalloc2 5.3.0-1`.
    package: Option<String>,
}

impl Allocator {
    /// Finds an allocator's library on the host, or fetches its package without installing it.
    ///
    /// # Errors
    /// [`Error::Library`] when neither is to be had.
    pub fn ensure(
        catalogue: &Catalogue,
        malloc: Malloc,
        cache: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Error> {
        let names = sonames(malloc);
        // What the host has, whatever it is called; else the package of the first name.
        let there = names.iter().find(|soname| library::is_there(soname, cache));
        let Some(soname) = there.or(names.first()) else {
            return Ok(Self { malloc, library: None });
        };
        let user = format!("malloc = \"{malloc}\"");
        let found = library::obtain(catalogue, &user, soname, cache, watch)?;
        let file = found.path.canonicalize();
        let file = file.map_err(|e| Error::io(format!("find {soname}"), e))?;
        Ok(Self { malloc, library: Some(Preload { file, package: found.package }) })
    }

    /// An allocator by the path of its library, for tests and allocators that no distribution has.
    #[must_use]
    pub fn of_file(malloc: Malloc, file: PathBuf) -> Self {
        Self { malloc, library: Some(Preload { file, package: None }) }
    }

    /// The file that is preloaded.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.library.as_ref().map(|library| library.file.as_path())
    }

    /// The plan's word for the allocator.
    #[must_use]
    pub fn malloc(&self) -> Malloc {
        self.malloc
    }

    /// Refuses a server whose program has an allocator linked into it: a preloaded one would be
    /// there and never be called, or crash it, and the C library's is never called.
    ///
    /// # Errors
    /// [`Error::Allocator`] with what the program has.
    pub fn check_program(&self, installed: &Installed) -> Result<(), Error> {
        if self.malloc == Malloc::Build {
            return Ok(());
        }
        match found::of_program(&installed.program) {
            None => Ok(()),
            Some(own) => Err(self.error(
                &installed.name(),
                format!(
                    "its program {} has {own} linked in, which cannot be replaced; leave out malloc to \
                     measure with {own}, or choose another build",
                    installed.program.display()
                ),
            )),
        }
    }

    /// Environment of the server: LD_PRELOAD, and LD_LIBRARY_PATH where the file's path has
    /// characters that LD_PRELOAD separates by (ld.so(8)).
    pub(crate) fn environment(
        &self,
        library_path: Option<String>,
    ) -> BTreeMap<&'static str, String> {
        let mut environment = BTreeMap::new();
        if let Some(path) = library_path {
            environment.insert("LD_LIBRARY_PATH", path);
        }
        let Some(library) = &self.library else { return environment };
        let path = library.file.display().to_string();
        if !path.contains([' ', ':', ';', '$']) {
            environment.insert("LD_PRELOAD", path);
            return environment;
        }
        let dir = library.file.parent().unwrap_or(Path::new("/")).display();
        let all = match environment.get("LD_LIBRARY_PATH") {
            Some(others) => format!("{dir}:{others}"),
            None => dir.to_string(),
        };
        let name = library.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        environment.insert("LD_LIBRARY_PATH", all);
        environment.insert("LD_PRELOAD", name);
        environment
    }

    /// Checks that all of these processes have it, and tells what they have, for the record.
    pub(crate) fn check(
        &self,
        installed: &Installed,
        pids: &[i32],
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let mut first = None;
        for pid in pids {
            let mut looks = LOOKS;
            let mapped = loop {
                // One that has ended meanwhile is no matter.
                let Ok(text) = fs::read_to_string(format!("/proc/{pid}/maps")) else { break None };
                let mapped = Mapped::parse(&text);
                let Some(detail) = self.wrong_map(&mapped, *pid, &installed.program) else {
                    break Some(mapped);
                };
                // Of one that ends while its map is read, the rest is missing; the next look finds none.
                looks -= 1;
                if looks == 0 {
                    return Err(self.error(&installed.name(), detail));
                }
                pause(LOOK_AGAIN);
            };
            if let Some(mapped) = mapped {
                first.get_or_insert(mapped);
            }
        }
        let Some(mapped) = first.filter(|mapped| !mapped.is_empty()) else {
            let detail = "its map in /proc cannot be read".to_owned();
            // Nothing to check is fine when nothing was asked for.
            return match self.malloc {
                Malloc::Build => Ok(Vec::new()),
                _ => Err(self.error(&installed.name(), detail)),
            };
        };
        Ok(self.facts(installed, &mapped))
    }

    /// What is wrong with what a process has mapped, and the remedy.
    fn wrong_map(&self, mapped: &Mapped, pid: i32, program: &Path) -> Option<String> {
        let there = mapped.allocator();
        if self.malloc == Malloc::System {
            return Some(format!(
                "process {pid} has mapped {}, which its build brings; leave out malloc to measure with \
                 that, or choose another build",
                there?
            ));
        }
        let library = self.library.as_ref()?;
        (!mapped.has(&library.file) && !mapped.is_empty()).then(|| {
            format!(
                "process {pid} has not mapped {}; its allocator is {}. The dynamic linker ignores \
                 LD_PRELOAD for static programs, for programs with file capabilities (see getcap {}) \
                 and where the library itself lacks something (see the log)",
                library.file.display(),
                there.unwrap_or_else(|| "the C library's own".to_owned()),
                program.display()
            )
        })
    }

    fn facts(&self, installed: &Installed, mapped: &Mapped) -> Vec<(&'static str, String)> {
        if let Some(library) = &self.library {
            let name = library.file.file_name().unwrap_or_default().to_string_lossy();
            let from = library.package.clone().unwrap_or_else(|| name.into_owned());
            let path = library.file.display().to_string();
            return vec![("malloc", format!("{} ({from})", self.malloc)), ("malloc_library", path)];
        }
        if let Some(own) = found::of_program(&installed.program) {
            return vec![("malloc", format!("{own}, linked into the program"))];
        }
        match (mapped.allocator(), mapped.libc()) {
            (Some(library), _) => vec![("malloc", format!("{library}, part of the build"))],
            (None, Some(libc)) => vec![("malloc", libc_version(libc))],
            (None, None) => vec![("malloc", "unknown: no C library is mapped".to_owned())],
        }
    }

    /// What to add to the message when a server does not start with it.
    pub(crate) fn suspicion(&self) -> Option<String> {
        let library = self.library.as_ref()?;
        Some(format!(
            "it was started with malloc = \"{}\" ({} preloaded); a start without malloc shows whether \
             that is the cause",
            self.malloc,
            library.file.display()
        ))
    }

    fn error(&self, server: &str, detail: String) -> Error {
        Error::Allocator { server: server.to_owned(), wanted: self.malloc, detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(file: &str, library_path: Option<&str>) -> Vec<String> {
        let allocator = Allocator::of_file(Malloc::Jemalloc, file.into());
        let environment = allocator.environment(library_path.map(str::to_owned));
        environment.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn the_c_librarys_own_is_refused_where_the_build_brings_another() {
        let with = Mapped::parse("7f00-7f01 r-xp 00000000 fe:00 2  /p/lib/libtcmalloc.so.4.5.9\n");
        let without = Mapped::parse("7f00-7f01 r-xp 00000000 fe:00 2  /p/lib/libc.so.6\n");
        let wrong = |malloc, mapped| {
            Allocator { malloc, library: None }.wrong_map(mapped, 7, Path::new("/p/mysqld"))
        };
        assert_eq!(
            wrong(Malloc::System, &with).unwrap(),
            "process 7 has mapped tcmalloc (libtcmalloc.so.4.5.9), which its build brings; leave out \
             malloc to measure with that, or choose another build"
        );
        assert_eq!(wrong(Malloc::System, &without), None);
        assert_eq!(wrong(Malloc::Build, &with), None);
        let preloaded = Allocator::of_file(Malloc::Jemalloc, "/c/libjemalloc.so.2".into());
        let detail = preloaded.wrong_map(&with, 7, Path::new("/p/mysqld")).unwrap();
        assert!(detail.contains("has not mapped /c/libjemalloc.so.2; its allocator is tcmalloc"));
    }

    #[test]
    fn a_path_that_preloading_would_split_is_searched_for() {
        assert_eq!(environment("/c/l.so.2", None), ["LD_PRELOAD=/c/l.so.2"]);
        assert_eq!(
            environment("/c/l.so.2", Some("/p/libs")),
            ["LD_LIBRARY_PATH=/p/libs", "LD_PRELOAD=/c/l.so.2"]
        );
        assert_eq!(
            environment("/my cache/l.so.2", Some("/p/libs")),
            ["LD_LIBRARY_PATH=/my cache:/p/libs", "LD_PRELOAD=l.so.2"]
        );
        assert!(Allocator::default().environment(None).is_empty());
    }
}
