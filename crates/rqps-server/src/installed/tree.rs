//! Where a server's parts lie: in a prefix of its own, in packages' places, in a sandbox.

use std::fs;
use std::path::{Path, PathBuf};

use rqps_model::Dbms;

use crate::Error;
use crate::dbms::server_files::{not_started, server_files};

/// Where server programs lie below a prefix, best first.
const PROGRAM_DIRS: &[&str] =
    &["bin", "sbin", "libexec", "usr/sbin", "usr/libexec", "usr/bin", "."];

/// Where packages keep each major version of PostgreSQL in a directory of its own, below a prefix.
const MAJOR_DIRS: &[&str] =
    &["usr/lib/postgresql", "lib/postgresql", ".", "usr", "pgsql", "usr/edb", "edb", "PostgreSQL"];

/// Where MySQL's and MariaDB's messages and scripts lie below a prefix.
const SHARE_DIRS: &[&str] = &["share", "usr/share"];

/// Where packages put plugins, below a prefix; elsewhere servers find them by themselves.
const PLUGIN_DIRS: &[&str] =
    &["lib/mysql/plugin", "lib64/mysql/plugin", "lib64/mariadb/plugin", "lib/mariadb/plugin"];

/// The prefix that a path of the user's stands for: the directory itself, the one above `bin` or a program, or
/// that of a sandbox's server.
pub(super) fn prefix_of(path: &Path) -> PathBuf {
    let dir = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    if let Some(basedir) = basedir_of_sandbox(dir) {
        return basedir;
    }
    let is_program_dir =
        dir.file_name().is_some_and(|name| name == "bin" || name == "sbin" || name == "libexec");
    match dir.parent() {
        Some(parent) if is_program_dir && !dir.join("bin").is_dir() => parent.to_owned(),
        _ => dir.to_owned(),
    }
}

/// The directory of the server that a sandbox of dbdeployer runs.
fn basedir_of_sandbox(dir: &Path) -> Option<PathBuf> {
    let value = |file: &str| {
        let text = fs::read_to_string(dir.join(file)).ok()?;
        text.lines().find_map(|line| {
            let line = line.trim();
            let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            name.trim().eq_ignore_ascii_case("basedir").then(|| PathBuf::from(value))
        })
    };
    let basedir = value("my.sandbox.cnf").or_else(|| value("sb_include"))?;
    basedir.is_dir().then_some(basedir)
}

/// The server program of this family in a prefix.
///
/// # Errors
/// [`Error::NoServer`] when there is none, or there are several major versions; [`Error::Unsupported`] for a DBMS that
/// rqps does not start.
pub(super) fn find_program(prefix: &Path, dbms: Dbms) -> Result<PathBuf, Error> {
    let files = server_files(dbms).ok_or_else(|| not_started(dbms))?;
    program_in(prefix, dbms)?.ok_or_else(|| Error::NoServer {
        path: prefix.to_owned(),
        detail: format!("looked for {} in {}", files.programs.join(", "), PROGRAM_DIRS.join(", ")),
    })
}

/// The server program of this family in a prefix, or of another: its name says more than that there is none.
///
/// # Errors
/// As [`find_program`].
pub(super) fn any_program(prefix: &Path, dbms: Dbms) -> Result<PathBuf, Error> {
    if let Some(program) = program_in(prefix, dbms)? {
        return Ok(program);
    }
    let other =
        Dbms::ALL.into_iter().filter_map(|other| program_in(prefix, other).ok().flatten()).next();
    other.map_or_else(|| find_program(prefix, dbms).map_err(with_remedy), Ok)
}

/// What to do where a directory that a user named has no server.
fn with_remedy(error: Error) -> Error {
    match error {
        Error::NoServer { path, detail } => {
            let remedy = "name the directory of an installed server or of a build";
            Error::NoServer { path, detail: format!("{detail}; {remedy}") }
        }
        error => error,
    }
}

/// The server program of this family in a prefix, if there is one.
///
/// # Errors
/// [`Error::NoServer`] when there are several major versions.
pub(super) fn program_in(prefix: &Path, dbms: Dbms) -> Result<Option<PathBuf>, Error> {
    let Some(files) = server_files(dbms) else { return Ok(None) };
    let in_dirs = |dirs: &[PathBuf]| -> Vec<PathBuf> {
        let paths = dirs.iter().flat_map(|dir| files.programs.iter().map(|name| dir.join(name)));
        paths.filter(|path| path.is_file()).collect()
    };
    let dirs: Vec<PathBuf> = PROGRAM_DIRS.iter().map(|dir| prefix.join(dir)).collect();
    if let Some(program) = in_dirs(&dirs).into_iter().next() {
        return Ok(Some(program));
    }
    let majors = if files.has_major_dirs { in_dirs(&major_dirs(prefix)) } else { Vec::new() };
    match majors.as_slice() {
        [] => Ok(None),
        [program] => Ok(Some(program.clone())),
        [first, ..] => {
            let places: Vec<String> = majors
                .iter()
                .filter_map(|program| program.parent()?.parent())
                .map(|dir| dir.display().to_string())
                .collect();
            let example = first.parent().and_then(Path::parent).unwrap_or(prefix).display();
            let places = places.join(", ");
            let detail = format!("it holds several: {places}; name one, such as \"{example}\"");
            Err(Error::NoServer { path: prefix.to_owned(), detail })
        }
    }
}

/// The `bin` directories of the major versions below a prefix, each once, in order.
fn major_dirs(prefix: &Path) -> Vec<PathBuf> {
    let is_major = |name: &str| {
        let number = ["pgsql-", "as", "postgresql-", ""].iter().find_map(|p| name.strip_prefix(p));
        number.is_some_and(|rest| rest.split('.').all(|part| part.parse::<u32>().is_ok()))
    };
    let mut dirs: Vec<PathBuf> = MAJOR_DIRS
        .iter()
        .flat_map(|dir| fs::read_dir(prefix.join(dir)).into_iter().flatten().flatten())
        .filter(|entry| entry.file_name().to_str().is_some_and(is_major))
        .filter_map(|entry| entry.path().join("bin").canonicalize().ok())
        .collect();
    dirs.sort();
    dirs.dedup();
    dirs
}

/// The directory with `english/errmsg.sys` of this family in a prefix.
pub(super) fn find_share(prefix: &Path, dbms: Dbms) -> Result<PathBuf, Error> {
    let mine = server_files(dbms).ok_or_else(|| not_started(dbms))?.message_dirs;
    if mine.is_empty() {
        return Ok(prefix.join("share"));
    }
    for share in SHARE_DIRS.iter().map(|dir| prefix.join(dir)) {
        let has_messages = |dir: &PathBuf| dir.join("english/errmsg.sys").is_file();
        if has_messages(&share) {
            return Ok(share);
        }
        let mut below: Vec<PathBuf> = fs::read_dir(&share)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        below.retain(has_messages);
        below.sort();
        let is_of = |dir: &PathBuf, name: &str| {
            dir.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
        };
        let of = |name: &&str| below.iter().find(|dir| is_of(dir, name)).cloned();
        if let Some(found) = mine.iter().find_map(of) {
            return Ok(found);
        }
    }
    let looked = SHARE_DIRS.iter().flat_map(|dir| {
        [(*dir).to_owned()].into_iter().chain(mine.iter().map(move |name| format!("{dir}/{name}*")))
    });
    let looked: Vec<String> = looked.collect();
    Err(Error::NoServer {
        path: prefix.to_owned(),
        detail: format!("looked for english/errmsg.sys in {}", looked.join(", ")),
    })
}

/// The directory above that of the program: what `--basedir` means.
pub(super) fn basedir_of(prefix: &Path, program: &Path) -> PathBuf {
    let below = program.strip_prefix(prefix).is_ok_and(|rest| rest.starts_with("usr"));
    if below { prefix.join("usr") } else { prefix.to_owned() }
}

/// The directory of plugins where packages have put them.
pub(super) fn find_plugins(prefix: &Path) -> Option<PathBuf> {
    let usr = [prefix.to_owned(), prefix.join("usr")];
    let dirs = usr.iter().flat_map(|root| PLUGIN_DIRS.iter().map(|dir| root.join(dir)));
    dirs.into_iter().find(|dir| dir.is_dir())
}

/// Libraries that lie beside a server, where there are any.
pub(super) fn bundled_libraries(prefix: &Path) -> Option<PathBuf> {
    Some(prefix.join("libs")).filter(|dir| dir.is_dir())
}
