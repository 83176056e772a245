//! A server's files on disk: which server they are, and where its program and messages lie.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

mod build_tree;
mod tree;

use rqps_model::{Dbms, Engine, Version};

use crate::catalogue::Entry;
use crate::compiled::of_info_bin;
use crate::error::server_name;
use crate::identity::Identity;
use crate::lock::Lease;
use crate::places::reachable;
use crate::source::Algorithm;
use crate::tool::{Done, Terms};
use crate::watch::Watch;
use crate::{Error, library, symbols, tool};

use crate::dbms::server_files::parse_version_output;
use build_tree::BuildTree;
use tree::{basedir_of, bundled_libraries, find_plugins, find_program, find_share};

/// An installed server.
#[derive(Debug, Clone)]
pub struct Installed {
    /// Its DBMS.
    pub dbms: Dbms,
    /// Its version.
    pub version: Version,
    /// The directory that holds it.
    pub prefix: PathBuf,
    /// The server program: `mysqld`, `mariadbd`, `postgres`.
    pub program: PathBuf,
    /// MySQL family: what to give as `--basedir`; the prefix, or `usr` in it.
    pub basedir: PathBuf,
    /// MySQL family: the directory of plugins, where it is not where the program looks by itself.
    pub plugin_dir: Option<PathBuf>,
    /// Engines besides the DBMS's own.
    pub engines: Vec<Engine>,
    /// MySQL family: the directory with `english/errmsg.sys`, `charsets/` and the SQL scripts.
    pub share: PathBuf,
    /// Directories for LD_LIBRARY_PATH.
    pub library_dirs: Vec<PathBuf>,
    /// Its origin, for the reader: coordinates and checksum, or the directory.
    pub origin: String,
    /// The packager's release, as the catalogue has it.
    pub packaged: Option<String>,
    /// The archives of its extensions; absent where it has none of the catalogue.
    pub extensions: Option<String>,
    /// How it was compiled, as far as known.
    pub build: String,
    /// Which build it is: the catalogue's word, or `basedir`.
    pub build_name: String,
    /// Facts of its source, where rqps built it.
    pub source_facts: BTreeMap<String, String>,
    /// Keeps the server in the cache while in use; empty for a server outside the cache.
    pub lease: Lease,
}

/// Where and how to look for a server of the user.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// What the user named: a directory, or a server program.
    pub path: &'a Path,
    /// The DBMS, if several are in one place.
    pub dbms: Dbms,
    /// The cache, for copies of builds that were not installed.
    pub cache: &'a Path,
    /// The user who runs the program.
    pub identity: &'a Identity,
    /// The file that the program's output goes to.
    pub scratch: &'a Path,
}

/// The command that tells a server's version. Without `--no-defaults` servers of the MySQL family read the host's
/// configuration first, and fail where they do not know an option of it.
fn version_command(program: &Path) -> Command {
    let mut command = tool::of_server(program);
    if program.file_name().is_none_or(|name| name != "postgres") {
        command.arg("--no-defaults");
    }
    command.arg("--version");
    command
}

/// The build's name of a server that was found in a directory.
const BASEDIR: &str = "basedir";

/// Where MySQL and MariaDB keep the file that says how they were built, below a prefix.
const INFO_BIN: &[&str] = &["docs/INFO_BIN", "share/doc/INFO_BIN", "share/doc/mysql/INFO_BIN"];

impl Installed {
    /// A server of the catalogue, unpacked in `prefix`.
    pub(crate) fn of_catalogue(
        entry: &Entry,
        prefix: &Path,
        mut library_dirs: Vec<PathBuf>,
        origin: String,
    ) -> Result<Self, Error> {
        let program = find_program(prefix, entry.dbms)?;
        library_dirs.extend(bundled_libraries(prefix));
        Ok(Self {
            dbms: entry.dbms,
            version: entry.version.clone(),
            share: find_share(prefix, entry.dbms)?,
            basedir: basedir_of(prefix, &program),
            plugin_dir: find_plugins(prefix),
            engines: entry.engines.clone(),
            prefix: prefix.to_owned(),
            program,
            library_dirs,
            origin,
            packaged: entry.packaged.clone(),
            extensions: extensions_of(entry),
            build: entry.compiled.clone(),
            build_name: entry.build.clone(),
            source_facts: BTreeMap::new(),
            lease: Lease::default(),
        })
    }

    /// Finds the server in a directory, by `--version`: an installed one, one of a sandbox, or a build of
    /// PostgreSQL that was not installed.
    ///
    /// # Errors
    /// [`Error::NoServer`] when there is none, it cannot be run, or says something unknown.
    pub fn detect(
        Search { path, dbms, cache, identity, scratch }: Search<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Error> {
        let none = |detail: String| Error::NoServer { path: path.to_owned(), detail };
        let named = path.canonicalize().map_err(|e| none(format!("{e}; check the path")))?;
        let mut prefix = tree::prefix_of(&named);
        if let Some(build) = BuildTree::around(&prefix) {
            prefix = build;
        }
        let mut library_dirs: Vec<PathBuf> = bundled_libraries(&prefix).into_iter().collect();
        let mut lease = Lease::default();
        let program = if let Some(build) = BuildTree::at(&prefix) {
            let copy = build.install(&prefix, cache, watch)?;
            library_dirs.extend(copy.libraries);
            (prefix, lease) = (copy.root, copy.lease);
            copy.program
        } else {
            let program = tree::any_program(&prefix, dbms).map_err(|error| match error {
                // As the user wrote it.
                Error::NoServer { detail, .. } => none(detail),
                error => error,
            })?;
            // Its libraries and files lie beside what a link leads to.
            let real = program.canonicalize().map_err(|e| none(e.to_string()))?;
            if real.starts_with(&prefix) {
                program
            } else {
                prefix = tree::prefix_of(&real);
                library_dirs = bundled_libraries(&prefix).into_iter().collect();
                real
            }
        };
        if identity.switch {
            // As root, another user runs it.
            reachable(identity, &prefix).map_err(none)?;
        }
        let mut command = version_command(&program);
        if let Some(path) = library_path(&library_dirs) {
            command.env("LD_LIBRARY_PATH", path);
        }
        let terms = Terms { identity, log: scratch, limit: Duration::from_secs(30) };
        let done = tool::run(command, terms, watch, &mut |_| {})?
            .map_err(|e| none(format!("{} as {}: {e}", program.display(), identity.name)))?;
        let (dbms, version) = parse_version_output(&done.output).ok_or_else(|| {
            let name = program.display().to_string();
            if let Some(error) = library::not_found(&name, &done.output) {
                return error;
            }
            none(format!("{} --version: {}", program.display(), done.end_and_words()))
        })?;
        Ok(Self {
            dbms,
            version,
            share: find_share(&prefix, dbms)?,
            basedir: basedir_of(&prefix, &program),
            plugin_dir: find_plugins(&prefix),
            engines: Vec::new(),
            program,
            library_dirs,
            origin: format!("basedir {}", named.display()),
            build: done.output.trim().to_owned(),
            packaged: None,
            extensions: None,
            build_name: BASEDIR.to_owned(),
            source_facts: BTreeMap::new(),
            lease,
            prefix,
        })
    }

    /// The server program in a prefix, if there is one.
    pub(crate) fn program_in(prefix: &Path, dbms: Dbms) -> Option<PathBuf> {
        find_program(prefix, dbms).ok()
    }

    /// Runs its program once, as `identity`, for its version; what it says goes to the file `log`.
    ///
    /// # Errors
    /// [`Error::Library`] when it lacks a library, [`Error::NoServer`] when it does not run
    /// otherwise or is another version than it should be.
    pub(crate) fn try_out(
        &self,
        identity: &Identity,
        log: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        let none = |detail: String| Error::NoServer { path: self.prefix.clone(), detail };
        let program = self.program.display();
        let done = self
            .run_for_version(identity, log, watch)?
            .map_err(|e| none(format!("{program} cannot be run: {e}")))?;
        if let Some(error) = library::not_found(&self.name(), &done.output) {
            return Err(error);
        }
        match parse_version_output(&done.output) {
            Some((dbms, version)) if (dbms, &version) == (self.dbms, &self.version) => Ok(()),
            Some((dbms, version)) => {
                let is = server_name(dbms, &version);
                Err(none(format!("{program} is {is} and not {}", self.name())))
            }
            None => Err(none(format!("{program} --version: {}", done.end_and_words()))),
        }
    }

    /// Why its program cannot be run here, when it cannot: a library is missing, the file or its loader
    /// is, or it is another program than it should be.
    ///
    /// # Errors
    /// When the work is stopped or a file cannot be read.
    pub(crate) fn load_failure(
        &self,
        identity: &Identity,
        scratch: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Error>, Error> {
        match self.try_out(identity, scratch, watch) {
            Ok(()) => Ok(None),
            Err(error @ (Error::Library { .. } | Error::NoServer { .. })) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    fn run_for_version(
        &self,
        identity: &Identity,
        log: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<io::Result<Done>, Error> {
        let mut command = version_command(&self.program);
        if let Some(path) = self.library_path() {
            command.env("LD_LIBRARY_PATH", path);
        }
        let terms = Terms { identity, log, limit: Duration::from_secs(60) };
        tool::run(command, terms, watch, &mut |_| {})
    }

    /// Facts of its build before a start: which build, and how it was compiled by the catalogue, `--version`,
    /// or a file of the build.
    #[must_use]
    pub fn build_facts(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        if self.build_name == BASEDIR {
            for place in INFO_BIN {
                // Absent in most trees; nothing hangs on it.
                if let Ok(text) = fs::read_to_string(self.prefix.join(place)) {
                    facts.extend(of_info_bin(&text));
                    break;
                }
            }
            facts.insert("program".to_owned(), self.build.clone());
        } else {
            facts.insert("compiled".to_owned(), self.build.clone());
            facts.extend(self.packaged.clone().map(|text| ("packaged".to_owned(), text)));
            facts.extend(self.extensions.clone().map(|text| ("extensions".to_owned(), text)));
        }
        let build_id = symbols::build_id_of(&self.program);
        // Two builds of one version say the same of themselves, and older ones have no id.
        if self.build_name == BASEDIR || build_id.is_none() {
            let nobody = AtomicBool::new(false);
            let watch = Watch { stop: &nobody, report: &mut |_| {} };
            if let Ok(hex) = Algorithm::Sha256.of_file(&self.program, &watch) {
                facts.insert("program_sha256".to_owned(), hex);
            }
        }
        facts.extend(build_id.map(|id| ("program_build_id".to_owned(), id)));
        facts.insert("source".to_owned(), self.build_name.clone());
        facts.extend(self.source_facts.clone());
        facts
    }

    /// Its name in messages: `MySQL 8.0.33`.
    #[must_use]
    pub fn name(&self) -> String {
        server_name(self.dbms, &self.version)
    }

    /// The value for LD_LIBRARY_PATH, when one is needed.
    #[must_use]
    pub fn library_path(&self) -> Option<String> {
        library_path(&self.library_dirs)
    }
}

fn library_path(dirs: &[PathBuf]) -> Option<String> {
    let dirs: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    (!dirs.is_empty()).then(|| dirs.join(":"))
}

/// The archives of an entry's extensions.
fn extensions_of(entry: &Entry) -> Option<String> {
    let all: Vec<String> = entry.additions.iter().map(crate::Source::identity).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests;
