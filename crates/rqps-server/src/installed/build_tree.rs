//! Builds that were never installed: PostgreSQL's are installed into the cache, others are told how.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::identity::Identity;
use crate::lock::{self, Lease};
use crate::places::{hex, make_open, short_hash};
use crate::tool::{self, Terms};
use crate::watch::Watch;

/// Longest an installation may take: what changed since it was built is compiled.
const INSTALL_WITHIN: Duration = Duration::from_secs(30 * 60);

/// Levels of a build that its server program may lie below its top: `src/backend`.
const MOST_LEVELS: usize = 3;

/// Where meson notes what it installed, which is no part of the build.
const NOTES_OF_MESON: &str = "meson-logs";

/// What tells that a copy of the cache is whole.
const WHOLE: &str = "rqps-whole";

/// A directory in which a server was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuildTree {
    /// MySQL's, MariaDB's or Percona Server's.
    Cmake,
    /// PostgreSQL's, by meson.
    Meson,
    /// PostgreSQL's, by configure and make.
    Make,
    /// PostgreSQL's source in which nothing was built.
    Unbuilt,
}

/// An installed copy of a build.
#[derive(Debug)]
pub(super) struct Copy {
    /// The directory that holds all of it.
    pub(super) root: PathBuf,
    /// Its server program.
    pub(super) program: PathBuf,
    /// Its libraries, which its programs look for where it would be installed.
    pub(super) libraries: Option<PathBuf>,
    /// Keeps it while it is used.
    pub(super) lease: Lease,
}

impl BuildTree {
    /// What was built in a directory, if anything.
    pub(super) fn at(dir: &Path) -> Option<Self> {
        if let Ok(cache) = fs::read_to_string(dir.join("CMakeCache.txt")) {
            let installed_here = cache.lines().any(|line| {
                let value = line.strip_prefix("CMAKE_INSTALL_PREFIX:PATH=");
                value.is_some_and(|value| Path::new(value) == dir)
            });
            return (!installed_here).then_some(Self::Cmake);
        }
        let has_program = dir.join("src/backend/postgres").is_file();
        if dir.join("meson-private").is_dir() {
            return has_program.then_some(Self::Meson);
        }
        if dir.join("src/Makefile.global").is_file() && has_program {
            return Some(Self::Make);
        }
        let is_source = dir.join("src/include/catalog/catversion.h").is_file();
        let is_installed_here = dir.join("bin/postgres").is_file();
        (is_source && !is_installed_here).then_some(Self::Unbuilt)
    }

    /// The build that a directory of it belongs to, where a program of it was named.
    pub(super) fn around(dir: &Path) -> Option<PathBuf> {
        let is_program_dir =
            ["mysqld", "mariadbd", "postgres"].iter().any(|name| dir.join(name).is_file());
        let mut above = dir.ancestors().skip(1).take(MOST_LEVELS);
        is_program_dir
            .then(|| {
                above.find(|dir| {
                    matches!(Self::at(dir), Some(Self::Cmake | Self::Meson | Self::Make))
                })
            })
            .flatten()
            .map(Path::to_owned)
    }

    /// Installs it below `cache`, unless the same build is there already.
    ///
    /// # Errors
    /// [`Error::NoServer`] with what to do, where it cannot be installed.
    pub(super) fn install(
        self,
        tree: &Path,
        cache: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<Copy, Error> {
        let none = |detail| Error::NoServer { path: tree.to_owned(), detail };
        let text = tree.display();
        match self {
            Self::Cmake => Err(none(format!(
                "it is a build that was not installed; run `cmake --install {text} --prefix DIR`, then name DIR"
            ))),
            Self::Unbuilt => Err(none(built_below(tree).map_or_else(
                || "it is a source tree of PostgreSQL without a build".to_owned(),
                |build| {
                    format!(
                        "it is a source tree of PostgreSQL; name its build, {}",
                        build.display()
                    )
                },
            ))),
            Self::Meson | Self::Make => self.copy(tree, cache, watch),
        }
    }

    fn copy(self, tree: &Path, cache: &Path, watch: &mut Watch<'_>) -> Result<Copy, Error> {
        let (builds, locks) = (cache.join("builds"), cache.join("locks"));
        for dir in [&builds, &locks] {
            make_open(dir)?;
        }
        let of_tree = short_hash(&tree.to_string_lossy());
        let lock = locks.join(format!("build-{of_tree}.lock"));
        let _alone = lock::acquire(&lock, lock::FETCHING, watch)?;
        let name = format!(
            "{of_tree}-{}",
            self.fingerprint(tree).map_err(|e| Error::io(format!("read {}", tree.display()), e))?
        );
        let copy = builds.join(&name);
        let use_of = |name: &str| locks.join(format!("build-{name}.use"));
        if !copy.join(WHOLE).is_file() {
            remove_older(&builds, &of_tree, use_of, watch)?;
            self.run(tree, &copy, &locks.join(format!("build-{of_tree}.log")), watch)?;
            // Servers may run as another user, whatever the umask was.
            for dir in dirs_of(&copy) {
                fs::set_permissions(&dir, fs::Permissions::from_mode(0o755))
                    .map_err(|e| Error::write(&dir, e))?;
            }
            fs::write(copy.join(WHOLE), "").map_err(|e| Error::write(&copy, e))?;
        }
        let program = find(&copy, "postgres").ok_or_else(|| Error::NoServer {
            path: tree.to_owned(),
            detail: format!("its installation in {} has no postgres", copy.display()),
        })?;
        let libraries = find(&copy, "libpq.so.5").and_then(|file| Some(file.parent()?.to_owned()));
        Ok(Copy { root: copy, program, libraries, lease: Lease::take(&use_of(&name), watch)? })
    }

    /// What tells one state of it from another. `make install` compiles what has changed in a source elsewhere;
    /// meson is told not to.
    fn fingerprint(self, tree: &Path) -> std::io::Result<String> {
        let source = source_of(tree).filter(|source| self == Self::Make && *source != tree);
        fingerprint([Some(tree), source.as_deref()].into_iter().flatten())
    }

    /// Runs the build's own installation, with `copy` in front of every path.
    fn run(self, tree: &Path, copy: &Path, log: &Path, watch: &mut Watch<'_>) -> Result<(), Error> {
        let (program, mut command) = match self {
            Self::Meson => {
                let mut command = tool::command("meson");
                command.args(["install", "--no-rebuild", "--quiet", "--destdir"]).arg(copy);
                command.arg("-C").arg(tree);
                ("meson", command)
            }
            _ => {
                let mut destination = std::ffi::OsString::from("DESTDIR=");
                destination.push(copy);
                let mut command = tool::command("make");
                command.arg("-s").arg("-C").arg(tree).arg("install").arg(destination);
                ("make", command)
            }
        };
        // Of a make that runs rqps.
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
        let words = words_of(&command);
        let me = Identity { switch: false, ..Identity::for_servers()? };
        let terms = Terms { identity: &me, log, limit: INSTALL_WITHIN };
        let none = |detail| Error::NoServer { path: tree.to_owned(), detail };
        let done = tool::run(command, terms, watch, &mut |_| {})?.map_err(|e| {
            none(format!("it is a build that was not installed, and {program} cannot be run: {e}"))
        })?;
        if done.success() {
            return Ok(());
        }
        let went = done.end_and_words();
        Err(none(format!("it is a build that was not installed; `{words}`: {went}")))
    }
}

/// A command as one would type it.
fn words_of(command: &Command) -> String {
    let args = command.get_args().map(|arg| arg.to_string_lossy());
    let program = command.get_program().to_string_lossy();
    [program].into_iter().chain(args).collect::<Vec<_>>().join(" ")
}

/// A directory right below this one that holds a build.
fn built_below(dir: &Path) -> Option<PathBuf> {
    let below = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    let is_built =
        |dir: &PathBuf| matches!(BuildTree::at(dir), Some(BuildTree::Meson | BuildTree::Make));
    below.into_iter().find(is_built)
}

/// Removes copies of earlier states of a build that no rqps uses.
fn remove_older(
    builds: &Path,
    of_tree: &str,
    use_of: impl Fn(&str) -> PathBuf,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let entries = fs::read_dir(builds).map_err(|e| Error::write(builds, e))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.split_once('-').is_none_or(|(tree, _)| tree != of_tree) {
            continue;
        }
        let Some(_alone) = lock::try_alone(&use_of(&name))? else { continue };
        watch.check("remove earlier copies of a build")?;
        let path = entry.path();
        fs::remove_dir_all(&path).map_err(|e| Error::write(&path, e))?;
        let _ = fs::remove_file(use_of(&name));
    }
    Ok(())
}

/// The source of a build by configure and make, as its makefiles have it.
fn source_of(tree: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(tree.join("src/Makefile.global")).ok()?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("abs_top_srcdir")?.trim().strip_prefix('='))?;
    Some(PathBuf::from(value.trim()))
}

/// What tells one state of directories from another: names, sizes and times of their files.
fn fingerprint<'a>(trees: impl Iterator<Item = &'a Path>) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut dirs: Vec<PathBuf> = trees.flat_map(dirs_of).collect();
    dirs.retain(|dir| !dir.ends_with(NOTES_OF_MESON));
    dirs.sort();
    dirs.dedup();
    for dir in dirs {
        let mut entries: Vec<fs::DirEntry> = fs::read_dir(&dir)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, meta) = (entry.path(), entry.metadata()?);
            if meta.is_file() && path.extension().is_none_or(|end| end != "log") {
                let time = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                hash.update(path.as_os_str().as_encoded_bytes());
                hash.update(format!(" {} {}\n", meta.len(), time.as_nanos()));
            }
        }
    }
    Ok(hex(&hash.finalize()[..4]))
}

/// A directory and all below it, without those behind symbolic links.
fn dirs_of(top: &Path) -> Vec<PathBuf> {
    let mut dirs = vec![top.to_owned()];
    let mut at = 0;
    while let Some(dir) = dirs.get(at).cloned() {
        let below = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        dirs.extend(below.filter(|path| path.is_dir() && !path.is_symlink()));
        at += 1;
    }
    dirs
}

/// A file of a name below a directory.
fn find(top: &Path, name: &str) -> Option<PathBuf> {
    dirs_of(top).into_iter().map(|dir| dir.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tree: &tempfile::TempDir) -> std::io::Result<String> {
        BuildTree::Make.fingerprint(tree.path())
    }

    #[test]
    fn what_an_installation_notes_in_a_build_is_no_change_of_it() {
        let tree = tempfile::tempdir().unwrap();
        let write = |below: &str, text: &str| {
            let path = tree.path().join(below);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("src/backend/postgres", "1");
        let built = of(&tree).unwrap();
        write("meson-logs/install-log.txt", "# installed");
        write("build.log", "done");
        assert_eq!(of(&tree).unwrap(), built);
        write("src/backend/postgres", "another");
        assert_ne!(of(&tree).unwrap(), built);
    }

    #[test]
    fn a_source_elsewhere_is_a_part_of_the_build() {
        let (tree, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(tree.path().join("src")).unwrap();
        let makefile = format!("srcdir = .\nabs_top_srcdir = {}\n", source.path().display());
        fs::write(tree.path().join("src/Makefile.global"), makefile).unwrap();
        let before = of(&tree).unwrap();
        fs::write(source.path().join("xact.c"), "changed").unwrap();
        assert_ne!(of(&tree).unwrap(), before);
        // Meson installs what was built, whatever has become of the source.
        let built = BuildTree::Meson.fingerprint(tree.path()).unwrap();
        fs::write(source.path().join("xact.c"), "changed again").unwrap();
        assert_eq!(BuildTree::Meson.fingerprint(tree.path()).unwrap(), built);
    }
}
