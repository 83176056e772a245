//! Which servers this host can get now, and from where: the places that sources need are asked.
//!
//! Asking costs some kilobytes per place: a package's list of versions, an artifact's description,
//! a suite's lists, the headers of each archive of a site. Of registries one package is asked for, which
//! tells that the client works: what they have once published they keep. Suites of Debian and web sites
//! drop files, so each is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::catalogue::{Catalogue, Entry};
use crate::identity::Identity;
use crate::log_text::plain;
use crate::source::{Source, pypi, url};
use crate::tool::{self, Terms};
use crate::watch::Watch;
use crate::{Error, debian, disk, fetch, library};

/// A place that archives come from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The user's Maven client and its registries.
    Maven,
    /// The user's pip and its index.
    Pypi,
    /// The user's npm and its registry.
    Npm,
    /// A suite of Debian, by its name, and the host's own apt.
    Debian(String),
    /// A web site, by `https://HOST`.
    Site(String),
}

/// What a place answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is usable.
    Yes,
    /// A suite of Debian: those of the wanted packages that it has, as `(name, version)`.
    Packages(Vec<(String, String)>),
    /// A web site: the archives that it has, and its answers for the others.
    Archives {
        /// Addresses.
        there: BTreeSet<String>,
        /// Addresses, and why not.
        absent: BTreeMap<String, String>,
    },
    /// Its client is not installed; with the command that installs it.
    NoClient {
        /// The program.
        tool: &'static str,
        /// What to do.
        remedy: String,
    },
    /// It does not answer.
    Silent {
        /// What the client says.
        why: String,
    },
}

/// Whether a server is available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It is in the cache.
    Here,
    /// From this kind of source.
    From(&'static str),
    /// Not available; the reason.
    No(String),
}

/// Longest time for an answer: a Maven client on a busy host, which has to fetch its plugins first.
const LIMIT: Duration = Duration::from_secs(150);

/// Longest time for a web site.
const SITE_LIMIT: Duration = Duration::from_secs(10);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Debian(suite) => return write!(f, "Debian {suite}"),
            Self::Maven => "Maven",
            Self::Pypi => "PyPI",
            Self::Npm => "npm",
            Self::Site(site) => site.split("://").nth(1).unwrap_or(site),
        })
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Yes | Self::Packages(_) => f.write_str("answers"),
            Self::Archives { there, absent } => {
                let (n, all) = (there.len(), there.len() + absent.len());
                write!(f, "answers; has {n} of {all} archives")?;
                match absent.iter().next() {
                    Some((url, why)) => write!(f, ", {why} for {url}"),
                    None => Ok(()),
                }
            }
            Self::NoClient { tool, remedy } => write!(f, "{tool} is missing; {remedy}"),
            Self::Silent { why } => write!(f, "does not answer: {why}"),
        }
    }
}

/// The places that a source can use; any of them will do.
fn places_of(source: &Source) -> Vec<Place> {
    match source {
        Source::Maven(_) => vec![Place::Maven],
        Source::Debian(it) => vec![Place::Debian(it.suite.clone())],
        Source::Pypi(_) => vec![Place::Pypi],
        Source::Npm(_) => vec![Place::Npm],
        Source::Url(it) => it.urls.iter().filter_map(|url| site(url)).map(Place::Site).collect(),
        Source::File(_) => Vec::new(),
    }
}

/// `https://HOST` of an address.
fn site(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    Some(format!("{scheme}://{}", rest.split('/').next()?))
}

/// Asks all places of the catalogue's sources at the same time.
///
/// # Errors
/// When the work is stopped, or the cache cannot be written.
pub fn ask_all(
    catalogue: &Catalogue,
    cache: &Path,
    watch: &Watch<'_>,
) -> Result<BTreeMap<Place, Answer>, Error> {
    let mut questions: BTreeMap<Place, Vec<&Source>> = BTreeMap::new();
    for entry in catalogue.servers() {
        // An archive of what is here already need not be asked for.
        let is_here = fetch::is_cached(entry, cache);
        let asked = |source: &&Source| !(is_here && matches!(source, Source::Url(_)));
        for source in entry.sources.iter().filter(asked) {
            for place in places_of(source) {
                questions.entry(place).or_default().push(source);
            }
        }
    }
    let dir = cache.join("ask");
    fs::create_dir_all(&dir).map_err(|e| Error::write(&dir, e))?;
    let stop = watch.stop;
    let (cache, dir) = (cache, dir.as_path());
    let answers: Result<Vec<_>, Error> = std::thread::scope(|scope| {
        let threads: Vec<_> = questions
            .into_iter()
            .enumerate()
            .map(|(idx, (place, sources))| {
                scope.spawn(move || {
                    let mut watch = Watch { stop, report: &mut |_| {} };
                    let log = dir.join(format!("{}-{idx}.log", std::process::id()));
                    let answer = ask(&place, &sources, cache, &log, &mut watch);
                    let _ = fs::remove_file(&log);
                    answer.map(|answer| (place, answer))
                })
            })
            .collect();
        let lost = || Error::io("ask a source", io::Error::other("its thread panicked"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(lost()))).collect()
    });
    // It is empty but for what another rqps asks at this moment.
    let _ = fs::remove_dir(dir);
    Ok(answers?.into_iter().collect())
}

fn ask(
    place: &Place,
    sources: &[&Source],
    cache: &Path,
    log: &Path,
    watch: &mut Watch<'_>,
) -> Result<Answer, Error> {
    let Some(source) = sources.first() else { return Ok(Answer::Yes) };
    match (place, source) {
        (Place::Site(site), _) => ask_site(site, sources, watch),
        (Place::Maven, Source::Maven(it)) => {
            let repository = cache.join("maven");
            fs::create_dir_all(&repository).map_err(|e| Error::write(&repository, e))?;
            let dir = repository.join(it.path().0);
            if dir.exists() {
                // Another rqps fetches the very same at this moment.
                return Ok(Answer::Yes);
            }
            let coordinates: Vec<&str> = it.artifact.split(':').take(3).collect();
            let mut command = tool::command("mvn");
            command
                .args(["-q", "-B", "dependency:get", "-Dtransitive=false"])
                .arg(format!("-Dmaven.repo.local={}", repository.display()))
                .arg(format!("-Dartifact={}:pom", coordinates.join(":")))
                .current_dir(&repository);
            let answer = run(vec![command], "mvn", "maven", log, watch);
            let _ = fs::remove_dir_all(&dir);
            answer
        }
        (Place::Debian(suite), Source::Debian(_)) => {
            let names: BTreeSet<String> = sources
                .iter()
                .filter_map(|source| match source {
                    Source::Debian(it) => Some(it.packages.iter().cloned()),
                    _ => None,
                })
                .flatten()
                .collect();
            let names: Vec<String> = names.into_iter().collect();
            Ok(match debian::versions_now(suite, &names, cache, watch) {
                Ok(known) => Answer::Packages(known),
                Err(Error::ToolMissing { tool, remedy, .. }) => Answer::NoClient { tool, remedy },
                Err(stopped @ Error::Interrupted { .. }) => return Err(stopped),
                Err(error) => Answer::Silent { why: error.chain() },
            })
        }
        (Place::Pypi, Source::Pypi(it)) => {
            let commands = pypi::question(&it.requirement()).into_iter().map(|(program, words)| {
                let mut command = tool::command(program);
                command.args(words);
                command
            });
            run(commands.collect(), "pip", "python3-pip", log, watch)
        }
        (Place::Npm, Source::Npm(it)) => {
            let mut command = tool::command("npm");
            command
                .args(["view", "--loglevel=error"])
                .arg(format!("{}@{}", it.package, it.version))
                .arg("version");
            run(vec![command], "npm", "npm", log, watch)
        }
        (place, source) => Err(Error::Data {
            what: "server catalogue".to_owned(),
            detail: format!("{place} is not where {} comes from", source.kind()),
        }),
    }
}

/// Asks a web site for each archive, one after the other, until it is silent.
fn ask_site(site: &str, sources: &[&Source], watch: &Watch<'_>) -> Result<Answer, Error> {
    let (mut there, mut absent) = (BTreeSet::new(), BTreeMap::new());
    for source in sources {
        let Source::Url(it) = source else { continue };
        for url in it.urls.iter().filter(|url| self::site(url).as_deref() == Some(site)) {
            watch.check("ask a web site")?;
            match url::is_there(url, SITE_LIMIT) {
                Ok(Ok(())) => drop(there.insert(url.clone())),
                Ok(Err(why)) => drop(absent.insert(url.clone(), why)),
                Err(why) => return Ok(Answer::Silent { why }),
            }
        }
    }
    Ok(Answer::Archives { there, absent })
}

/// Runs the first of the commands of `tool` that can be executed. Debian's `package` has the tool.
fn run(
    commands: Vec<Command>,
    tool: &'static str,
    package: &'static str,
    log: &Path,
    watch: &mut Watch<'_>,
) -> Result<Answer, Error> {
    let me = Identity { switch: false, ..Identity::for_servers()? };
    for command in commands {
        let terms = Terms { identity: &me, log, limit: LIMIT };
        match tool::run(command, terms, watch, &mut |_| {})? {
            Ok(done) if done.success() => return Ok(Answer::Yes),
            Ok(done) if done.output.contains("No module named pip") => {}
            Ok(done) if done.status.is_none() => return Ok(Answer::Silent { why: done.end() }),
            Ok(done) => {
                let words = plain(&done.last_words());
                let line = words.lines().find(|line| line.contains("ERR")).unwrap_or(&words);
                let why = if line.trim().is_empty() { done.end() } else { line.trim().to_owned() };
                return Ok(Answer::Silent { why });
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Ok(Answer::Silent { why: e.to_string() }),
        }
    }
    Ok(Answer::NoClient { tool, remedy: format!("apt-get install {package}") })
}

/// Whether a server is available, by the places' answers.
#[must_use]
pub fn availability(
    entry: &Entry,
    answers: &BTreeMap<Place, Answer>,
    cache: &Path,
) -> Availability {
    if fetch::is_cached(entry, cache) {
        return Availability::Here;
    }
    let machine = std::env::consts::ARCH;
    if entry.arch != machine {
        return Availability::No(format!("it is for {}, this machine is {machine}", entry.arch));
    }
    let mut why = BTreeSet::new();
    for source in &entry.sources {
        match usable(entry, source, answers) {
            Ok(()) => {
                let needed = source.download_bytes() + entry.unpacked_mb * 1_000_000;
                return match disk::require(cache, needed) {
                    Ok(()) => Availability::From(source.kind()),
                    Err(error) => Availability::No(error.to_string()),
                };
            }
            Err(reason) => why.extend(reason),
        }
    }
    Availability::No(why.into_iter().collect::<Vec<_>>().join("; "))
}

fn usable(
    entry: &Entry,
    source: &Source,
    answers: &BTreeMap<Place, Answer>,
) -> Result<(), Vec<String>> {
    if let Some(path) = source.in_place() {
        let missing = || vec![format!("{} does not exist", path.display())];
        return path.is_file().then_some(()).ok_or_else(missing);
    }
    let mut told = Vec::new();
    for place in places_of(source) {
        match (answers.get(&place), source) {
            (Some(Answer::Yes), _) => return Ok(()),
            (Some(Answer::Packages(known)), Source::Debian(it)) => {
                match debian::parts(entry, it, known) {
                    Ok(_) => return Ok(()),
                    Err(error) => told.push(error.to_string()),
                }
            }
            (Some(Answer::Archives { there, absent }), Source::Url(it)) => {
                if it.urls.iter().any(|url| there.contains(url)) {
                    return Ok(());
                }
                let why = it.urls.iter().find_map(|url| {
                    absent.get(url).filter(|_| site(url).is_some_and(|s| Place::Site(s) == place))
                });
                let why = why.map_or("was not asked", String::as_str);
                told.push(format!("{place} {why} for {}", it.file));
            }
            (Some(Answer::NoClient { tool, .. }), _) => told.push(format!("{tool} is missing")),
            _ => told.push(format!("{place} does not answer")),
        }
    }
    Err(told)
}

/// The libraries of a server that neither this host nor the cache has.
#[must_use]
pub fn missing_libraries<'a>(entry: &'a Entry, cache: &Path) -> Vec<&'a str> {
    library::missing(entry, cache)
}

#[cfg(test)]
mod tests;
