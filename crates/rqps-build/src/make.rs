//! Makes a build: takes the files out of git, follows the recipe, and keeps what was installed.
//!
//! Steps that are done are marked, so that an interrupted build continues where it was. Two rqps that want the same build
//! wait for each other.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rqps_model::{BuildType, Dbms, SourceBuild, SourceOrigin};
use rqps_server::identity::Identity;
use rqps_server::{Lease, Progress, Watch, lock, process};

use crate::key::{Key, compiler_version};
use crate::leftover;
use crate::recipe::{Need, Recipe, Recipes, Values, can_run};
use crate::stored::{self, LOG, RECORD, Record};
use crate::{Commit, Error, Repository};

/// Longest that a step may take.
const STEP_WITHIN: Duration = Duration::from_secs(6 * 60 * 60);

/// How often progress reports a long step, minutes.
const TELL_EVERY_MIN: u64 = 5;

/// What all builds of a cache may take on disk.
const MOST_BYTES: u64 = 20 << 30;

/// Lines of the log that an error shows, and bytes of its end that are looked at.
const N_LINES: usize = 15;
const END_BYTES: u64 = 64 * 1024;

/// A build that is there.
#[derive(Debug)]
pub struct Built {
    /// Its key.
    pub key: Key,
    /// Where it is installed.
    pub prefix: PathBuf,
    /// What it is, of the commit that was asked for.
    pub record: Record,
    /// Whether it was made now.
    pub is_new: bool,
    /// Keeps it while it is used.
    pub lease: Lease,
}

/// The files that are built.
struct Source {
    repository: Repository,
    tree: String,
    commit: Option<Commit>,
    is_dirty: bool,
    /// Objects of files that are in no commit.
    _scratch: Option<Scratch>,
}

/// A directory that is removed when it is no longer needed.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is found by its name, and removed with the cache.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where the files of a build lie.
struct Places {
    root: PathBuf,
    source: PathBuf,
    build: PathBuf,
    prefix: PathBuf,
    log: PathBuf,
}

impl Places {
    fn of(root: PathBuf) -> Self {
        let [source, build, prefix, log] =
            ["source", "build", "installed", LOG].map(|name| root.join(name));
        Self { root, source, build, prefix, log }
    }
}

/// Where the source is, with the commit's hash, or that of the files. A recipe builds it, and what that needs is there.
///
/// # Errors
/// What is missing, with the remedy.
pub fn resolve(dbms: Dbms, how: &SourceBuild, cache: &Path) -> Result<SourceOrigin, Error> {
    let source = source(&how.origin, cache)?;
    let version = version(dbms, &|path| source.repository.file(&source.tree, path))?;
    recipe(dbms, &version, how)?;
    Ok(match how.origin.clone() {
        SourceOrigin::Commit { repo, revision, .. } => {
            let hash = source.commit.map(|commit| commit.hash);
            SourceOrigin::Commit { repo, revision, hash }
        }
        SourceOrigin::Directory { dir, .. } => {
            SourceOrigin::Directory { dir, tree: Some(source.tree) }
        }
    })
}

/// The DBMS that a commit or tree of a repository is the source of; `None` where its files do not tell.
#[must_use]
pub fn dbms_of(repository: &Repository, tree: &str) -> Option<Dbms> {
    let file = |path: &str| repository.file(tree, path);
    if version(Dbms::Postgres, &file).is_ok() {
        return Some(Dbms::Postgres);
    }
    version(Dbms::Mysql, &file).ok()?;
    // MariaDB's file of the version says how mature it is.
    let is_mariadb = file("VERSION").is_some_and(|text| text.contains("SERVER_MATURITY"));
    Some(if is_mariadb { Dbms::Mariadb } else { Dbms::Mysql })
}

/// The version that the source says it is.
///
/// # Errors
/// When there is no such commit, or it is no source of the DBMS.
pub fn version_of(dbms: Dbms, origin: &SourceOrigin) -> Result<String, Error> {
    match origin {
        SourceOrigin::Commit { repo, revision, hash } => {
            let repository = Repository::open(repo)?;
            let commit = repository.commit(hash.as_deref().unwrap_or(revision))?;
            version(dbms, &|path| repository.file(&commit.tree, path))
        }
        SourceOrigin::Directory { dir, .. } => {
            version(dbms, &|path| fs::read_to_string(dir.join(path)).ok())
        }
    }
}

/// The build that is ordered; made, where it is not in the cache.
///
/// # Errors
/// What is missing or went wrong, with the end of the log.
pub fn ensure(
    dbms: Dbms,
    how: &SourceBuild,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<Built, Error> {
    for dir in ["source-builds", "locks"] {
        let dir = cache.join(dir);
        fs::create_dir_all(&dir).map_err(|e| Error::io(format!("write {}", dir.display()), e))?;
    }
    let source = source(&how.origin, cache)?;
    let version = version(dbms, &|path| source.repository.file(&source.tree, path))?;
    let recipe = &recipe(dbms, &version, how)?;
    let key = Key::of(&source.tree, recipe, how)?;
    let places = Places::of(stored::dir_of(cache, key.as_str()));
    let is_new = stored::record(cache, key.as_str()).is_none();
    if is_new {
        let making = lock::acquire(&stored::lock_of(cache, key.as_str()), lock::FETCHING, watch)?;
        if stored::record(cache, key.as_str()).is_none() {
            let job =
                Job { dbms, how, source: &source, recipe, version: &version, places: &places };
            job.run(watch)?;
            drop(making);
            stored::bound(cache, MOST_BYTES)?;
        }
    }
    let lease = Lease::take(&stored::use_of(cache, key.as_str()), watch)?;
    let none = || Error::NoBuild { key: key.as_str().to_owned() };
    let stored = stored::record(cache, key.as_str()).ok_or_else(none)?;
    // Commits of equal files share a build, which another one of them may have made.
    let record = Record { commit: source.commit.clone(), is_dirty: source.is_dirty, ..stored };
    // The time of the record tells when it was used last. A cache of another user's stays as it is.
    let _ = File::open(places.root.join(RECORD))
        .and_then(|file| file.set_modified(std::time::SystemTime::now()));
    Ok(Built { key, prefix: places.prefix, record, is_new, lease })
}

fn source(origin: &SourceOrigin, cache: &Path) -> Result<Source, Error> {
    match origin {
        SourceOrigin::Commit { repo, revision, hash } => {
            let repository = Repository::open(repo)?;
            let commit = repository.commit(hash.as_deref().unwrap_or(revision))?;
            let tree = commit.tree.clone();
            Ok(Source { repository, tree, commit: Some(commit), is_dirty: false, _scratch: None })
        }
        SourceOrigin::Directory { dir, .. } if !dir.is_dir() => {
            Err(Error::NoDirectory { dir: dir.clone() })
        }
        SourceOrigin::Directory { dir, tree: known } => {
            let name = format!("scratch-{}", std::process::id());
            let scratch = Scratch(stored::dir_of_all(cache).join(name));
            let path = &scratch.0;
            fs::create_dir_all(path)
                .map_err(|e| Error::io(format!("write {}", path.display()), e))?;
            let own = Repository::open(dir).ok();
            let commit = own.as_ref().and_then(|own| own.commit("HEAD").ok());
            let (repository, tree) = Repository::tree_of_files(dir, path)?;
            if known.as_ref().is_some_and(|known| *known != tree) {
                return Err(Error::Changed { dir: dir.clone() });
            }
            let is_dirty = commit.is_none() || own.is_none_or(|own| own.has_changes());
            Ok(Source { repository, tree, commit, is_dirty, _scratch: Some(scratch) })
        }
    }
}

/// The recipe for a version; what it needs is there.
fn recipe(dbms: Dbms, version: &str, how: &SourceBuild) -> Result<Recipe, Error> {
    let recipes = match &how.recipe {
        None => Recipes::builtin()?,
        Some(path) => {
            let shown = path.display().to_string();
            let text = fs::read_to_string(path)
                .map_err(|e| Error::io(format!("read the recipe {shown}"), e))?;
            Recipes::parse(&text, &shown)?
        }
    };
    let none = || Error::NoRecipe { what: format!("{} {version}", dbms.name()) };
    let recipe = recipes.find(dbms, version).ok_or_else(none)?;
    for (key, wanted, is_known) in [
        ("lto = true", how.lto, recipe.step.iter().any(|step| !step.lto.is_empty())),
        (
            "engine = \"rocksdb\"",
            how.rocksdb,
            recipe.step.iter().any(|step| !step.rocksdb.is_empty()),
        ),
        (
            "build = \"debug\"",
            how.build == BuildType::Debug,
            recipe.step.iter().any(|step| !step.debug.is_empty()),
        ),
    ] {
        if wanted && !is_known {
            return Err(Error::NotInRecipe { recipe: recipe.name.clone(), key });
        }
    }
    check_needs(recipe, how)?;
    Ok(recipe.clone())
}

/// The version that the source says it is.
fn version(dbms: Dbms, file: &dyn Fn(&str) -> Option<String>) -> Result<String, Error> {
    let found = if dbms == Dbms::Postgres {
        file("configure.ac").or_else(|| file("configure.in")).and_then(|text| of_autoconf(&text))
    } else {
        file("MYSQL_VERSION").or_else(|| file("VERSION")).and_then(|text| of_mysql(&text))
    };
    found.ok_or_else(|| Error::NoRecipe {
        what: format!(
            "this source: it is no source of {} (it has no file of its version)",
            dbms.name()
        ),
    })
}

/// `AC_INIT([PostgreSQL], [17.4], ...`
fn of_autoconf(text: &str) -> Option<String> {
    let rest = text.split_once("AC_INIT([PostgreSQL], [")?.1;
    Some(rest.split_once(']')?.0.to_owned())
}

/// `MYSQL_VERSION_MAJOR=8` and so on.
fn of_mysql(text: &str) -> Option<String> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim().to_owned())
    };
    let [major, minor, patch] =
        ["MAJOR", "MINOR", "PATCH"].map(|part| value(&format!("MYSQL_VERSION_{part}")));
    Some(format!("{}.{}.{}", major?, minor?, patch?))
}

fn check_needs(recipe: &Recipe, how: &SourceBuild) -> Result<(), Error> {
    let missing = recipe.missing(how);
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::Missing {
        recipe: recipe.name.clone(),
        missing: Need::names(&missing).join(", "),
        packages: Need::packages(&missing).join(" "),
    })
}

/// An attempt that made no server.
struct FailedAttempt {
    error: Box<Error>,
    /// Whether an earlier attempt was interrupted.
    after_interruption: bool,
}

impl From<Error> for FailedAttempt {
    fn from(error: Error) -> Self {
        Self { error: Box::new(error), after_interruption: false }
    }
}

/// A build that is being made.
struct Job<'a> {
    dbms: Dbms,
    how: &'a SourceBuild,
    source: &'a Source,
    recipe: &'a Recipe,
    version: &'a str,
    places: &'a Places,
}

impl Job<'_> {
    /// `PostgreSQL 17.4 (1a2b3c4d5e6f)`.
    fn what(&self) -> String {
        let of = self.source.commit.as_ref().map_or("no commit", Commit::short);
        let changed = if self.source.is_dirty { ", changed" } else { "" };
        format!("{} {} ({of}{changed})", self.dbms.name(), self.version)
    }

    fn run(&self, watch: &mut Watch<'_>) -> Result<(), Error> {
        if leftover::end_all(&self.places.root) > 0 {
            let text = format!("build {}: ended compilers of an earlier attempt", self.what());
            (watch.report)(Progress::Note { text: &text });
        }
        let failed = match self.attempt(watch) {
            Err(failed) if failed.after_interruption && failed.error.is_of_commit() => failed.error,
            other => return other.map_err(|failed| *failed.error),
        };
        // A file that was half written when a compiler was killed looks finished to make.
        let (what, why) = (self.what(), failed.to_string());
        let why = why.lines().next().unwrap_or_default();
        let text =
            format!("build {what}: begin again, as an interrupted attempt left files ({why})");
        (watch.report)(Progress::Note { text: &text });
        let root = &self.places.root;
        fs::remove_dir_all(root).map_err(|e| Error::io(format!("remove {}", root.display()), e))?;
        self.attempt(watch).map_err(|failed| *failed.error)
    }

    /// The file that is there while an attempt runs, and after one that was interrupted.
    fn under_way(&self) -> PathBuf {
        self.places.root.join("under-way")
    }

    /// Carries out the steps that are not done.
    fn attempt(&self, watch: &mut Watch<'_>) -> Result<(), FailedAttempt> {
        let began = Instant::now();
        self.write_source(watch)?;
        // There while steps run, and after one was interrupted.
        let under_way = self.under_way();
        let after_interruption = under_way.is_file();
        fs::write(&under_way, "")
            .map_err(|e| Error::io(format!("write {}", under_way.display()), e))?;
        let cflags = self.how.cflags.as_deref().unwrap_or(&self.recipe.cflags);
        let ccache = if can_run("ccache") { "ccache" } else { "" };
        let values = Values {
            source: &self.places.source,
            build: &self.places.build,
            prefix: &self.places.prefix,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            how: self.how,
            cflags,
            ccache,
        };
        for (idx, step) in self.recipe.step.iter().enumerate() {
            let done = self.places.root.join(format!("done-{idx}"));
            if done.is_file() {
                continue;
            }
            let words = self.recipe.words(step, &values);
            self.step(&step.name, &words, &values, watch)
                .map_err(|error| FailedAttempt { error: Box::new(error), after_interruption })?;
            fs::write(&done, "").map_err(|e| Error::io(format!("write {}", done.display()), e))?;
        }
        if !self.places.prefix.join(&self.recipe.server).is_file() {
            let (recipe, server) = (self.recipe.name.clone(), self.recipe.server.clone());
            let error = Error::NoServer { what: self.what(), recipe, server };
            // All steps ended by themselves: the next attempt need not begin again.
            let _ = fs::remove_file(under_way);
            return Err(FailedAttempt { error: Box::new(error), after_interruption });
        }
        let writing = |e| Error::io(format!("write {}", self.places.root.display()), e);
        // Servers may run as another user, whatever the umask is.
        open_to_all(&self.places.root).map_err(writing)?;
        for dir in [&self.places.source, &self.places.build] {
            fs::remove_dir_all(dir).map_err(writing)?;
        }
        let patch_name =
            |patch: &PathBuf| patch.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let record = Record {
            dbms: self.dbms,
            version: self.version.to_owned(),
            recipe: self.recipe.name.clone(),
            tree: self.source.tree.clone(),
            commit: self.source.commit.clone(),
            is_dirty: self.source.is_dirty,
            compiler: compiler_version(self.how.cc()).unwrap_or_default(),
            cflags: cflags.to_owned(),
            lto: self.how.lto,
            build: self.how.build,
            patches: self.how.patches.iter().map(patch_name).collect(),
            seconds: began.elapsed().as_secs_f64(),
        };
        let text = serde_json::to_vec_pretty(&record).unwrap_or_default();
        let partial = self.places.root.join("build.json.partial");
        fs::write(&partial, text).map_err(writing)?;
        fs::rename(&partial, self.places.root.join(RECORD)).map_err(writing)?;
        // The record says that it is finished.
        let _ = fs::remove_file(under_way);
        Ok(())
    }

    /// Writes the files and applies the patches, unless that is done.
    fn write_source(&self, watch: &mut Watch<'_>) -> Result<(), Error> {
        let Places { root, source, build, prefix, .. } = self.places;
        let done = root.join("done-source");
        if done.is_file() {
            return Ok(());
        }
        watch.check("write the source")?;
        // What an interrupted attempt left.
        let _ = fs::remove_dir_all(root);
        for dir in [root, build, prefix] {
            fs::create_dir_all(dir)
                .map_err(|e| Error::io(format!("write {}", dir.display()), e))?;
        }
        self.source.repository.export(&self.source.tree, source)?;
        for patch in &self.how.patches {
            Repository::apply(patch, source)?;
        }
        fs::write(&done, "").map_err(|e| Error::io(format!("write {}", done.display()), e))
    }

    fn step(
        &self,
        name: &str,
        words: &[String],
        values: &Values<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        let Places { root, build, log, .. } = self.places;
        let writing = |e| Error::io(format!("write {}", log.display()), e);
        let mut out = File::options().create(true).append(true).open(log).map_err(writing)?;
        writeln!(out, "$ {}", words.join(" ")).map_err(writing)?;
        let [program, args @ ..] = words else { return Ok(()) };
        let mut command = Command::new(program);
        command.args(args).current_dir(build).stdin(Stdio::null());
        command.stdout(out.try_clone().map_err(writing)?).stderr(out);
        command.envs(self.recipe.variables(values)).env("LC_ALL", "C");
        // Files of two builds that are the same are compiled once, wherever they lie.
        command.env(leftover::MARK, root).env("CCACHE_NOHASHDIR", "1");
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env_remove("DESTDIR");
        let failed = |end: String| {
            let (what, step) = (self.what(), name.to_owned());
            Error::Failed { what, step, end, last_lines: last_lines(log), log: log.clone() }
        };
        let me = Identity { switch: false, ..Identity::for_servers()? };
        let process = process::spawn(command, &me, Signal::SIGKILL)
            .map_err(|e| failed(format!("{program} cannot be run: {e}")))?;
        let began = Instant::now();
        let doing = format!("build {}", self.what());
        (watch.report)(Progress::Note { text: &format!("{doing}: {name}") });
        let mut told = 0;
        let every = Duration::from_millis(100);
        let ended: Option<ExitStatus> = watch.poll(&doing, STEP_WITHIN, every, |watch| {
            let minutes = began.elapsed().as_secs() / 60;
            if minutes >= told + TELL_EVERY_MIN {
                told = minutes;
                (watch.report)(Progress::Note {
                    text: &format!("{doing}: {name}, {minutes} min so far"),
                });
            }
            process.ended().map_err(|e| rqps_server::Error::Io { doing: doing.clone(), source: e })
        })?;
        match ended {
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                let error = failed(process::describe_end(status));
                // No file is half written then: neither was a compiler killed, nor is the disk full.
                if status.code().is_some() && error.is_of_commit() {
                    let _ = fs::remove_file(self.under_way());
                }
                Err(error)
            }
            None => Err(failed("it took too long and was killed".to_owned())),
        }
    }
}

/// The last lines of a log.
fn last_lines(log: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(log)?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(END_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(N_LINES)..].join("\n")
}

/// Lets everybody read a directory and what is below it, and run what its owner may run.
fn open_to_all(dir: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let meta = path.symlink_metadata()?;
        if meta.is_dir() {
            open_to_all(&path)?;
        } else if meta.is_file() {
            let mode = meta.permissions().mode();
            let more = if mode & 0o100 == 0 { 0o444 } else { 0o555 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode | more))?;
        }
    }
    let mode = dir.metadata()?.permissions().mode();
    fs::set_permissions(dir, fs::Permissions::from_mode(mode | 0o755))
}

#[cfg(test)]
mod tests;
