//! apt in a root of its own: the host's mirror, proxies and keys, another suite, no installed packages.
//!
//! A long file: what apt is told and how its words are read belong together.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Package;
use crate::identity::Identity;
use crate::source::Algorithm;
use crate::tool::{self, Done, Terms};
use crate::watch::{Progress, Watch};
use crate::{Error, disk};

/// Where Debian's archive keys are: package debian-archive-keyring.
const KEYRINGS: &[&str] = &[
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// Names that an apt source of Debian's main archive may have.
const SUITES: &[&str] = &[
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "unstable",
    "testing",
    "stable",
    "oldstable",
    "oldoldstable",
    "experimental",
];

/// Suites without security updates of their own, and whose signed index may be past its date for
/// days: the archive extends it with the next change only.
const ROLLING: &[&str] = &["sid", "unstable", "experimental"];

/// Longest time for one run of apt-get: 100 MB at 100 kB/s.
const LIMIT: Duration = Duration::from_secs(1000);

/// The version of packages that are only said to be installed: above any real one's.
const ASSUMED_VERSION: &str = "999:999";

/// One suite's apt.
pub(super) struct Apt {
    /// The server that it works for.
    server: String,
    suite: String,
    root: PathBuf,
}

impl Apt {
    /// Sets it up in the cache and fetches the suite's lists.
    pub(super) fn open(
        server: String,
        suite: &str,
        cache: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Error> {
        let root = cache.join("apt").join(suite);
        let apt = Self { server, suite: suite.to_owned(), root };
        for dir in [
            "etc/apt.conf.d",
            "etc/preferences.d",
            "state/lists/partial",
            "cache/archives/partial",
            "log",
            "archives",
        ] {
            let dir = apt.root.join(dir);
            fs::create_dir_all(&dir).map_err(|e| Error::write(&dir, e))?;
        }
        let keyring = KEYRINGS.iter().find(|path| Path::new(path).is_file()).ok_or_else(|| {
            apt.failed(&format!(
                "this host has no keys of Debian's archive ({}); install them: \
                 apt-get install debian-archive-keyring",
                KEYRINGS.join(", ")
            ))
        })?;
        let targets = apt.host(
            "apt-get",
            &["indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages"],
            watch,
        )?;
        let sources = sources(suite, keyring, &targets).map_err(|why| apt.failed(&why))?;
        apt.write("sources.list", &sources)?;
        apt.write("status", "")?;
        let acquire = apt.host("apt-config", &["dump", "Acquire"], watch)?;
        apt.write("apt.conf", &apt.configuration(&acquire))?;
        let what = format!("apt reads the lists of Debian {suite}");
        (watch.report)(Progress::Waiting { what: &what });
        apt.own("apt-get", &["-q", "-o", "APT::Update::Error-Mode=any", "update"], watch)?;
        Ok(apt)
    }

    /// The versions of packages that the suite has, as `(name, version)`, newest first.
    pub(super) fn versions(
        &self,
        packages: &[String],
        watch: &mut Watch<'_>,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut arguments = vec!["madison"];
        arguments.extend(packages.iter().map(String::as_str));
        Ok(parse_madison(&self.own("apt-cache", &arguments, watch)?))
    }

    /// What `roots` need, themselves included, when `assumed` is there already.
    pub(super) fn closure(
        &self,
        roots: &[String],
        assumed: &BTreeSet<&str>,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<(String, String)>, Error> {
        let status: String = assumed.iter().map(|name| installed(name)).collect();
        self.write("status.assumed", &status)?;
        let status = format!("Dir::State::status={}", self.root.join("status.assumed").display());
        let mut arguments =
            vec!["-q", "-o", &status, "install", "-y", "--no-install-recommends", "--print-uris"];
        arguments.extend(roots.iter().map(String::as_str));
        let output = self.own("apt-get", &arguments, watch)?;
        Ok(parse_uris(&output).into_iter().map(|file| (file.name, file.version)).collect())
    }

    /// Fetches packages; apt checks them against the signed index. Those that were fetched before
    /// are taken as they are when their checksum is the index's.
    pub(super) fn download(
        &self,
        wanted: &[(String, String)],
        watch: &mut Watch<'_>,
    ) -> Result<Vec<(Package, PathBuf)>, Error> {
        let specs: Vec<String> = wanted.iter().map(|(name, v)| format!("{name}={v}")).collect();
        let mut arguments = vec!["-q", "download", "--print-uris"];
        arguments.extend(specs.iter().map(String::as_str));
        let files = parse_uris(&self.own("apt-get", &arguments, watch)?);
        let archives = self.root.join("archives");
        let absent: Vec<&Listed> =
            files.iter().filter(|file| !archives.join(&file.file).is_file()).collect();
        let total: u64 = absent.iter().map(|file| file.bytes).sum();
        disk::require(&archives, total)?;
        if !absent.is_empty() {
            let specs: Vec<String> =
                absent.iter().map(|f| format!("{}={}", f.name, f.version)).collect();
            let mut arguments = vec!["-q", "-o", "Acquire::Retries=3", "download"];
            arguments.extend(specs.iter().map(String::as_str));
            self.own_telling("apt-get", &arguments, &absent, total, watch)?;
        }
        let mut done = Vec::new();
        for file in files {
            let path = archives.join(&file.file);
            let sha256 = Algorithm::Sha256.of_file(&path, watch)?;
            if !file.sha256.is_empty() && sha256 != file.sha256 {
                fs::remove_file(&path).map_err(|e| Error::write(&path, e))?;
                let file_name = path.display().to_string();
                return Err(Error::Checksum {
                    file: file_name,
                    algorithm: Algorithm::Sha256.name(),
                    expected: file.sha256,
                    found: sha256,
                    remedy: "the file was deleted; the same command fetches it again".to_owned(),
                });
            }
            done.push((Package { name: file.name, version: file.version, sha256 }, path));
        }
        // In the order of what was wanted: the server's own package first.
        let place = |name: &str| wanted.iter().position(|(wanted, _)| wanted == name);
        done.sort_by_key(|(package, _)| place(&package.name));
        match wanted.iter().find(|(name, _)| !done.iter().any(|(p, _)| p.name == *name)) {
            Some((name, version)) => {
                Err(self.failed(&format!("apt-get does not list {name} {version}")))
            }
            None => Ok(done),
        }
    }

    /// Removes what apt can compute again: 70 MB.
    pub(super) fn tidy(&self) {
        for name in ["pkgcache.bin", "srcpkgcache.bin"] {
            let _ = fs::remove_file(self.root.join("cache").join(name));
        }
    }

    /// An error of this source.
    pub(super) fn failed(&self, detail: &str) -> Error {
        Error::Debian {
            server: self.server.clone(),
            suite: self.suite.clone(),
            detail: detail.to_owned(),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.root.join(name);
        fs::write(&path, text).map_err(|e| Error::write(&path, e))
    }

    /// The configuration: everything below the root but the host's way to the network.
    fn configuration(&self, acquire: &str) -> String {
        let root = self.root.display();
        let mut text = format!(
            "Dir \"{root}/\";\nDir::Etc \"etc/\";\nDir::Etc::sourcelist \"{root}/sources.list\";\n\
             Dir::Etc::netrc \"/etc/apt/auth.conf\";\nDir::Etc::netrcparts \"/etc/apt/auth.conf.d\";\n\
             Dir::State \"state/\";\nDir::State::status \"{root}/status\";\nDir::Cache \"cache/\";\n\
             Dir::Log \"log/\";\nAPT::Architecture \"amd64\";\nAPT::Architectures {{ \"amd64\"; }};\n\
             APT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\nAcquire::GzipIndexes \"true\";\n"
        );
        for line in acquire.lines().filter(|line| is_of_the_network(line)) {
            text.push_str(line);
            text.push('\n');
        }
        if ROLLING.contains(&self.suite.as_str()) {
            text.push_str("Acquire::Check-Valid-Until \"false\";\n");
        }
        text
    }

    /// Runs a program of apt with the host's own configuration.
    fn host(
        &self,
        program: &'static str,
        arguments: &[&str],
        watch: &mut Watch<'_>,
    ) -> Result<String, Error> {
        let mut command = tool::command(program);
        command.args(arguments).env("LC_ALL", "C");
        self.run(program, command, watch, &mut |_| {})
    }

    /// Runs a program of apt with the configuration of this root.
    fn own(
        &self,
        program: &'static str,
        arguments: &[&str],
        watch: &mut Watch<'_>,
    ) -> Result<String, Error> {
        let mut command = tool::command(program);
        command.args(arguments).env("LC_ALL", "C").env("APT_CONFIG", self.root.join("apt.conf"));
        // Not where the packages are: apt does not list those that it sees.
        command.current_dir(&self.root);
        self.run(program, command, watch, &mut |_| {})
    }

    /// As [`Apt::own`], telling how much of the files is there.
    fn own_telling(
        &self,
        program: &'static str,
        arguments: &[&str],
        files: &[&Listed],
        total: u64,
        watch: &mut Watch<'_>,
    ) -> Result<String, Error> {
        let archives = self.root.join("archives");
        let mut command = tool::command(program);
        command.args(arguments).env("LC_ALL", "C").env("APT_CONFIG", self.root.join("apt.conf"));
        command.current_dir(&archives);
        let size = |file: &&Listed| {
            let partial = archives.join(format!("{}.partial", file.file));
            let meta = fs::metadata(archives.join(&file.file)).or_else(|_| fs::metadata(partial));
            meta.map_or(0, |meta| meta.len())
        };
        self.run(program, command, watch, &mut |watch| {
            let bytes = files.iter().map(size).sum();
            (watch.report)(Progress::Fetching { name: &self.server, bytes, total });
        })
    }

    fn run(
        &self,
        program: &'static str,
        command: std::process::Command,
        watch: &mut Watch<'_>,
        meanwhile: &mut dyn FnMut(&mut Watch<'_>),
    ) -> Result<String, Error> {
        let me = Identity { switch: false, ..Identity::for_servers()? };
        let log = self.root.join("log/rqps.log");
        let terms = Terms { identity: &me, log: &log, limit: LIMIT };
        match tool::run(command, terms, watch, meanwhile)? {
            Ok(done) if done.success() => Ok(done.output),
            Ok(done) if done.output.contains("No space left on device") => {
                Err(Error::disk_full(&self.root))
            }
            Ok(done) => Err(self.failed(&explain(program, &self.suite, &done))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(Error::ToolMissing {
                tool: program,
                needed_for: format!("fetching {} from Debian {}", self.server, self.suite),
                remedy: "rqps fetches packages of Debian with the host's apt; run rqps on Debian, \
                         or choose a build from another source (see `rqps servers list`)"
                    .to_owned(),
            }),
            Err(e) => Err(Error::io(format!("run {program}"), e)),
        }
    }
}

/// What apt said, and what to do about it.
fn explain(program: &str, suite: &str, done: &Done) -> String {
    let output = &done.output;
    let says = |texts: &[&str]| texts.iter().any(|text| output.contains(text));
    let remedy = if says(&["NO_PUBKEY", "is not signed", "couldn't be verified", "EXPKEYSIG"]) {
        "this host's keys of Debian's archive do not cover the suite; renew them: \
         apt-get install debian-archive-keyring"
            .to_owned()
    } else if says(&["does not have a Release file", "no longer has a Release file"]) {
        format!(
            "the mirror no longer has {suite}: ended suites move to Debian's archive; add an \
             apt source for {suite} that points there to this host's configuration, and rqps takes it"
        )
    } else if says(&[
        "Temporary failure resolving",
        "Could not resolve",
        "Could not connect",
        "Unable to connect",
        "Connection timed out",
        "Network is unreachable",
        "Cannot initiate",
    ]) {
        "the mirror cannot be reached; check the network, or the proxy of this host's apt \
         (Acquire::http::Proxy), and run the command again"
            .to_owned()
    } else if says(&["404  Not Found"]) {
        "the mirror lists a file that it no longer has; run the command again in some hours"
            .to_owned()
    } else if says(&["unmet dependencies"]) {
        format!(
            "{suite} is in transition, and its packages contradict each other; try again in some days"
        )
    } else {
        "run the command again".to_owned()
    };
    let telling = |line: &&str| {
        ["E: ", "Err:", "  "].iter().any(|start| line.starts_with(start))
            || line.contains("Depends: ")
    };
    let errors: Vec<&str> = output.lines().filter(telling).take(5).collect();
    let said = if errors.is_empty() { done.last_words() } else { errors.join("\n") };
    format!("{program}: {} ({remedy}); it said:\n{said}", done.end())
}

/// The lines of sources.list: the suite, its security updates, and what it stands on.
fn sources(suite: &str, keyring: &str, targets: &str) -> Result<String, String> {
    let hosts: Vec<(&str, &str)> =
        targets.lines().filter_map(|line| line.trim().split_once(' ')).collect();
    let base = |release: &str| SUITES.contains(&release);
    let at = |wanted: &str| hosts.iter().find(|(release, _)| *release == wanted);
    let any = |kind: &dyn Fn(&str) -> bool| hosts.iter().find(|(release, _)| kind(release));
    let main = at(suite).or_else(|| any(&base)).ok_or_else(|| {
        let known: Vec<&str> = hosts.iter().map(|(release, _)| *release).collect();
        format!(
            "this host's apt has no Debian source that names the mirror (it has: {}); add one to \
             /etc/apt/sources.list.d, or choose a build from another source",
            if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
        )
    })?;
    let line = |uri: &str, suite: &str| format!("deb [signed-by={keyring}] {uri} {suite} main\n");
    let mut text = line(main.1, suite);
    if ROLLING.contains(&suite) {
        if suite == "experimental" {
            // It holds what is new only, and stands on sid.
            text.push_str(&line(main.1, "sid"));
        }
        return Ok(text);
    }
    let security = |release: &str| release.strip_suffix("-security").is_some_and(base);
    let own = format!("{suite}-security");
    if let Some((_, uri)) = at(&own).or_else(|| any(&security)) {
        text.push_str(&line(uri, &own));
    }
    Ok(text)
}

/// Whether a line of `apt-config dump Acquire` says how the host reaches the network, or that its
/// clock is off. What weakens the check of signatures is not taken over.
fn is_of_the_network(line: &str) -> bool {
    let taken = [
        "Acquire::http::",
        "Acquire::https::",
        "Acquire::ftp::",
        "Acquire::socks",
        "Acquire::Force",
        "Acquire::Check-Date",
        "Acquire::Check-Valid-Until",
        "Acquire::Queue-Mode",
    ];
    taken.iter().any(|start| line.starts_with(start)) && !line.ends_with(" \"\";")
}

/// A package of dpkg's status file that is said to be installed.
fn installed(name: &str) -> String {
    format!(
        "Package: {name}\nStatus: install ok installed\nArchitecture: amd64\n\
         Multi-Arch: allowed\nVersion: {ASSUMED_VERSION}\nMaintainer: none\nDescription: none\n\n"
    )
}

/// A package's file as apt lists it.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    name: String,
    version: String,
    file: String,
    bytes: u64,
    /// Empty where apt gives another kind of checksum.
    sha256: String,
}

/// Reads lines such as `'http://HOST/x_1.deb' x_1%3a2-3_amd64.deb 13360 SHA256:ab12`.
fn parse_uris(output: &str) -> Vec<Listed> {
    output
        .lines()
        .filter_map(|line| {
            let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
            let mut words = rest.split(' ');
            let (file, bytes) = (words.next()?, words.next()?.parse().ok()?);
            let sha256 =
                words.next().and_then(|sum| sum.strip_prefix("SHA256:")).unwrap_or_default();
            let mut parts = file.split('_');
            let (name, version) = (parts.next()?, parts.next()?);
            Some(Listed {
                name: name.to_owned(),
                // The epoch's colon is written so in file names.
                version: version.replace("%3a", ":"),
                file: file.to_owned(),
                bytes,
                sha256: sha256.to_owned(),
            })
        })
        .collect()
}

/// Reads lines such as ` libpq5 |   18.6-3 | http://HOST/debian sid/main amd64 Packages`.
fn parse_madison(output: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in output.lines() {
        let mut fields = line.split(" | ").map(str::trim);
        let (Some(name), Some(version), Some(_)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let pair = (name.to_owned(), version.to_owned());
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}

#[cfg(test)]
mod tests;
