//! Shared libraries that a server needs and the host may not have, fetched without installing them.
//!
//! `apt-get download` and `dpkg -x` need no root: the package's files end up in the cache, and the
//! server finds them through LD_LIBRARY_PATH. Package lists that are missing (fresh containers) are
//! fetched into the cache as well, so that the system's own stay untouched.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::catalogue::{Catalogue, Entry, Library};
use crate::identity::Identity;
use crate::log_text::missing_library;
use crate::tool::{self, Done, Terms};
use crate::watch::Watch;
use crate::{Error, lock};

/// Where the dynamic linker looks: ld.so(8) and the multi-arch directories of Debian.
const HOST_DIRS: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
];

/// Longest time for one run of apt-get.
const LIMIT: Duration = Duration::from_secs(300);

/// The directories that hold what the entry needs beyond the host; empty when the host has it all.
pub(crate) fn ensure(
    catalogue: &Catalogue,
    entry: &Entry,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<Vec<PathBuf>, Error> {
    let mut dirs = Vec::new();
    for soname in &entry.libraries {
        if on_host(soname).is_some() {
            continue;
        }
        let root = cache.join("libs").join(soname);
        let dir = match find(&root, soname) {
            Some(dir) => dir,
            None => fetch(catalogue, &entry.name(), soname, &root, watch)?,
        };
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    Ok(dirs)
}

/// A library by itself.
pub(crate) struct Obtained {
    /// Its file, or a link to it.
    pub(crate) path: PathBuf,
    /// Package and version, where known.
    pub(crate) package: Option<String>,
}

/// A library that `user` needs: from the cache, the host or its package.
pub(crate) fn obtain(
    catalogue: &Catalogue,
    user: &str,
    soname: &str,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<Obtained, Error> {
    let root = cache.join("libs").join(soname);
    if find(&root, soname).is_none()
        && let Some(path) = on_host(soname)
    {
        let package = package_of_host(&path, cache, watch)?;
        return Ok(Obtained { path, package });
    }
    let dir = match find(&root, soname) {
        Some(dir) => dir,
        None => fetch(catalogue, user, soname, &root, watch)?,
    };
    let package = fs::read_to_string(root.join(PACKAGE)).ok();
    Ok(Obtained { path: dir.join(soname), package })
}

/// Whether a library is in the cache or on the host.
pub(crate) fn is_there(soname: &str, cache: &Path) -> bool {
    find(&cache.join("libs").join(soname), soname).is_some() || on_host(soname).is_some()
}

fn on_host(soname: &str) -> Option<PathBuf> {
    HOST_DIRS.iter().map(|dir| Path::new(dir).join(soname)).find(|path| path.exists())
}

/// The file that says which package a library in the cache is from.
const PACKAGE: &str = "rqps-package";

/// Name and version of the package that a file of the host belongs to, by dpkg.
fn package_of_host(
    path: &Path,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<Option<String>, Error> {
    let log = cache.join("libs").join("dpkg.log");
    let Ok(path) = path.canonicalize() else { return Ok(None) };
    // Debian 12 and later have the files of /lib in /usr/lib, and dpkg may know either name.
    let mut search = tool::command("dpkg-query");
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    search.arg("--search").arg(format!("*/{name}"));
    let first_word = |done: Result<Done, io::Error>| {
        let output = done.ok().filter(Done::success)?.output;
        Some(output.split([':', ' ', '\n']).next()?.to_owned()).filter(|word| !word.is_empty())
    };
    let Some(package) = first_word(run(search, &log, watch)?) else { return Ok(None) };
    let mut show = tool::command("dpkg-query");
    show.args(["--show", "--showformat", "${Version} ", &package]);
    let version = run(show, &log, watch)?.ok().filter(Done::success);
    Ok(version.map(|done| format!("{package} {}", done.output.trim())))
}

fn fetch(
    catalogue: &Catalogue,
    user: &str,
    soname: &str,
    root: &Path,
    watch: &mut Watch<'_>,
) -> Result<PathBuf, Error> {
    let library = catalogue.library(soname).ok_or_else(|| Error::Data {
        what: "server catalogue".to_owned(),
        detail: format!("unknown library {soname}"),
    })?;
    let libs = root.parent().unwrap_or(root);
    fs::create_dir_all(libs).map_err(|e| Error::write(libs, e))?;
    let _lock = lock::acquire(&libs.join(format!("{soname}.lock")), lock::FETCHING, watch)?;
    if let Some(dir) = find(root, soname) {
        return Ok(dir);
    }
    let partial = libs.join(format!("{soname}.partial"));
    let _ = fs::remove_dir_all(&partial);
    let _ = fs::remove_dir_all(root);
    fs::create_dir_all(&partial).map_err(|e| Error::write(&partial, e))?;
    let fail = |detail: String| Error::Library {
        server: user.to_owned(),
        soname: soname.to_owned(),
        detail: format!("{detail}; install it yourself: {}", remedy(library)),
    };
    let deb = download(library, libs, &partial, watch)?.map_err(&fail)?;
    let mut command = tool::command("dpkg");
    command.arg("-x").arg(&deb).arg(&partial);
    match run(command, &libs.join("dpkg.log"), watch)? {
        Ok(done) if done.success() => {}
        Ok(done) => return Err(fail(format!("dpkg: {}", done.last_words()))),
        Err(e) => return Err(fail(format!("dpkg: {e}"))),
    }
    let stated = partial.join(PACKAGE);
    fs::write(&stated, package_of(&deb)).map_err(|e| Error::write(&stated, e))?;
    fs::remove_file(&deb).map_err(|e| Error::write(&deb, e))?;
    give_the_wanted_name(&partial, soname)?;
    open_directories(&partial)?;
    fs::rename(&partial, root).map_err(|e| Error::write(root, e))?;
    find(root, soname).ok_or_else(|| fail(format!("no package of {:?} has it", library.packages)))
}

/// What to do when the dynamic linker did not find a library, or a version of one, for a server.
pub(crate) fn not_found(server: &str, log: &str) -> Option<Error> {
    let missing = missing_library(log)?;
    let detail = if missing.starts_with("GLIBC") {
        "it was compiled for a newer distribution; choose another build of the version (see `rqps \
         servers list`), or run rqps on that distribution"
            .to_owned()
    } else {
        // Only to name the package; without the catalogue the name of the library must do.
        let known = Catalogue::builtin().ok();
        match known.as_ref().and_then(|catalogue| catalogue.library(missing)) {
            Some(library) => format!("install it: {}", remedy(library)),
            None => format!(
                "install the package that has it (on Debian and Ubuntu, `apt-file search {missing}` \
                 names it), or put the library into a directory `libs` of the server"
            ),
        }
    };
    Some(Error::Library { server: server.to_owned(), soname: missing.to_owned(), detail })
}

/// The directories of the cache that hold libraries of the entry already.
pub(crate) fn dirs_here(entry: &Entry, cache: &Path) -> Vec<PathBuf> {
    let libs = cache.join("libs");
    entry.libraries.iter().filter_map(|soname| find(&libs.join(soname), soname)).collect()
}

/// The entry's libraries that this host does not have.
#[must_use]
pub fn missing<'a>(entry: &'a Entry, cache: &Path) -> Vec<&'a str> {
    let here = |soname: &str| {
        HOST_DIRS.iter().any(|dir| Path::new(dir).join(soname).exists())
            || find(&cache.join("libs").join(soname), soname).is_some()
    };
    entry.libraries.iter().map(String::as_str).filter(|soname| !here(soname)).collect()
}

/// The command that installs a library system-wide.
pub(crate) fn remedy(library: &Library) -> String {
    let first = library.packages.first().map_or("", String::as_str);
    format!("apt-get install {first} (or package {} elsewhere)", library.elsewhere)
}

/// Downloads the first package that there is; the inner error says what apt said.
fn download(
    library: &Library,
    libs: &Path,
    into: &Path,
    watch: &mut Watch<'_>,
) -> Result<Result<PathBuf, String>, Error> {
    let log = libs.join("apt.log");
    let mut said = String::new();
    for own_lists in [false, true] {
        if own_lists {
            match run(apt(libs, true, into, &["update"]), &log, watch)? {
                Ok(_) => {}
                Err(e) => return Ok(Err(no_apt(&e))),
            }
        }
        for package in &library.packages {
            match run(apt(libs, own_lists, into, &["download", package]), &log, watch)? {
                Ok(done) => match first_deb(into) {
                    Some(deb) if done.success() => return Ok(Ok(deb)),
                    _ => said = done.last_words(),
                },
                Err(e) => return Ok(Err(no_apt(&e))),
            }
        }
    }
    Ok(Err(format!("apt-get could not download it ({said})")))
}

fn no_apt(e: &io::Error) -> String {
    if e.kind() == io::ErrorKind::NotFound {
        "and without apt-get rqps cannot fetch it".to_owned()
    } else {
        format!("and apt-get cannot be run ({e})")
    }
}

fn apt(libs: &Path, own_lists: bool, into: &Path, args: &[&str]) -> Command {
    let mut command = tool::command("apt-get");
    // The sandbox user _apt cannot write into a user's cache; apt would only warn about it.
    command.args(["-q", "-o", "APT::Sandbox::User=root"]);
    if own_lists {
        let state = libs.join("apt");
        for dir in ["lists/partial", "cache/archives/partial"] {
            let _ = fs::create_dir_all(state.join(dir));
        }
        command.arg("-o").arg(format!("Dir::State::Lists={}", state.join("lists").display()));
        command.arg("-o").arg(format!("Dir::Cache={}", state.join("cache").display()));
    }
    command.args(args).current_dir(into);
    command
}

fn run(
    command: Command,
    log: &Path,
    watch: &mut Watch<'_>,
) -> Result<Result<Done, io::Error>, Error> {
    let me = Identity { switch: false, ..Identity::for_servers()? };
    let terms = Terms { identity: &me, log, limit: LIMIT };
    tool::run(command, terms, watch, &mut |_| {})
}

/// Name and version from an archive's name: `libjemalloc2_5.3.0-1_amd64.deb`. apt writes the colon
/// of an epoch as `%3a`.
fn package_of(deb: &Path) -> String {
    let stem = deb.file_stem().unwrap_or_default().to_string_lossy().replace("%3a", ":");
    let mut parts = stem.splitn(3, '_');
    let (name, version) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{name} {version}").trim().to_owned()
}

fn first_deb(dir: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    entries.find(|path| path.extension().is_some_and(|extension| extension == "deb"))
}

/// The directory below `root` that holds the library.
fn find(root: &Path, soname: &str) -> Option<PathBuf> {
    HOST_DIRS.iter().map(|dir| root.join(dir.trim_start_matches('/'))).find(|dir| {
        // Through the link, if it is one: it may dangle.
        dir.join(soname).exists()
    })
}

/// Where a package has the library under its name of the 64-bit time transition
/// (`libaio.so.1t64`), adds a link of the name that servers ask for. The interface that servers
/// use on x86-64 did not change.
fn give_the_wanted_name(root: &Path, soname: &str) -> Result<(), Error> {
    let renamed = format!("{soname}t64");
    for dir in HOST_DIRS.iter().map(|dir| root.join(dir.trim_start_matches('/'))) {
        if dir.join(&renamed).exists() && !dir.join(soname).exists() {
            let link = dir.join(soname);
            symlink(&renamed, &link).map_err(|e| Error::write(&link, e))?;
        }
    }
    Ok(())
}

/// dpkg gives the top directory the package's mode; the servers' user must get in.
fn open_directories(root: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(root, fs::Permissions::from_mode(0o755)).map_err(|e| Error::write(root, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_by_their_archive() {
        let of = |name: &str| package_of(Path::new(name));
        assert_eq!(of("/x/libjemalloc2_5.3.0-1_amd64.deb"), "libjemalloc2 5.3.0-1");
        assert_eq!(of("libfoo_1%3a2.0+ds-1_amd64.deb"), "libfoo 1:2.0+ds-1");
        assert_eq!(of("odd.deb"), "odd");
    }

    #[test]
    fn a_library_that_is_not_found_is_told_with_the_next_step() {
        let told = |soname: &str| {
            let log = format!(
                "mysqld: error while loading shared libraries: {soname}: cannot open shared object \
                 file: No such file or directory"
            );
            not_found("MySQL 5.6.14", &log).unwrap().to_string()
        };
        expect_test::expect!["MySQL 5.6.14 needs libaio.so.1, which this host does not have: install it: apt-get install libaio1 (or package libaio elsewhere)"].assert_eq(&told("libaio.so.1"));
        expect_test::expect!["MySQL 5.6.14 needs libx.so.2, which this host does not have: install the package that has it (on Debian and Ubuntu, `apt-file search libx.so.2` names it), or put the library into a directory `libs` of the server"].assert_eq(&told("libx.so.2"));
        assert!(not_found("x", "all is well").is_none());
    }

    #[test]
    fn a_renamed_library_gets_the_old_name() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("usr/lib/x86_64-linux-gnu");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("libaio.so.1t64"), b"elf").unwrap();
        assert_eq!(find(root.path(), "libaio.so.1"), None);
        give_the_wanted_name(root.path(), "libaio.so.1").unwrap();
        assert_eq!(find(root.path(), "libaio.so.1"), Some(dir.clone()));
        assert_eq!(fs::read(dir.join("libaio.so.1")).unwrap(), b"elf");
    }
}
