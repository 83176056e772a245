//! What real servers do with options that lead out of them: each option of a server's own list whose value can be
//! a path or an address is set to a watched place, and the server is started once with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result, ensure};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use rqps_model::{Dbms, Engine, Limits, Transport};
use rqps_server::options::{Outcome, treatment};
use rqps_server::profile::{Rendered, render};
use rqps_server::trial::Walls;
use rqps_server::{
    Allocator, Catalogue, Config, Identity, Installed, Instance, Places, Setup, Sizing, Watch,
    Wishes, fetch, places,
};

/// How long stopping may take.
const STOP_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);

/// Options of the task.
#[derive(Debug)]
pub(crate) struct Options {
    /// Servers by family and version.
    pub(crate) servers: Vec<(Dbms, String)>,
    /// Only these options, all when empty.
    pub(crate) only: Vec<String>,
    /// Whether the kernel confines the servers as well.
    pub(crate) has_wall: bool,
}

/// What became of an option on one start.
#[derive(Debug)]
struct Seen {
    /// What rqps made of it.
    treated: String,
    /// What the server did with that.
    started: String,
    /// What was touched outside, and who was spoken to.
    harm: Vec<String>,
}

/// Tries all options and prints a table of outcomes. An error where anything outside was touched.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let mut harms = Vec::new();
    for (dbms, version) in &options.servers {
        let trial = Trial::prepare(root, *dbms, version, options.has_wall)?;
        let names = trial.texts()?;
        let names: Vec<&String> = names
            .iter()
            .filter(|name| options.only.is_empty() || options.only.contains(name))
            .collect();
        println!("\n{}: {} options\n", trial.installed.name(), names.len());
        println!("| option | value | treated | server | outside |\n|---|---|---|---|---|");
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in names {
            for value in ["path", "address"] {
                let seen = trial.try_option(name, value)?;
                let outside = if seen.harm.is_empty() {
                    "untouched".to_owned()
                } else {
                    seen.harm.join("; ")
                };
                println!("| {name} | {value} | {} | {} | {outside} |", seen.treated, seen.started);
                *counts.entry(seen.treated).or_default() += 1;
                harms.extend(
                    seen.harm.into_iter().map(|harm| {
                        format!("{}: {name} = {value}: {harm}", trial.installed.name())
                    }),
                );
            }
        }
        println!("\n{}: {counts:?}", trial.installed.name());
    }
    ensure!(harms.is_empty(), "{} touched what is not theirs:\n{}", harms.len(), harms.join("\n"));
    println!("nothing outside was touched");
    Ok(())
}

struct Trial {
    installed: Installed,
    identity: Identity,
    places: Places,
    trial: rqps_server::Trial,
    /// Holds the watched places of all options.
    temp: tempfile::TempDir,
}

impl Trial {
    fn prepare(root: &Path, dbms: Dbms, version: &str, has_wall: bool) -> Result<Self> {
        let walls = if has_wall { Walls::Any } else { Walls::Nothing };
        let trial = rqps_server::Trial { walls, ..rqps_server::Trial::default() };
        let temp = tempfile::Builder::new().prefix("rqps-options").tempdir_in("/var/tmp")?;
        fs::set_permissions(temp.path(), Permissions::from_mode(0o755))?;
        let identity = Identity::for_servers()?;
        let (cache, data) = (root.join("target/rqps-cache"), temp.path().join("data"));
        let wishes = Wishes { cache: &cache, data: &data, temp: temp.path() };
        let places = places::choose(&identity, &wishes)?;
        let catalogue = Catalogue::builtin()?;
        let entry = catalogue.find(dbms, &version.parse()?, None)?;
        let installed = watched(|watch| fetch::ensure(&catalogue, entry, &places.cache, watch))?;
        Ok(Self { installed, identity, places, trial, temp })
    }

    /// The server's own list of options whose values are texts.
    fn texts(&self) -> Result<BTreeSet<String>> {
        let installed = &self.installed;
        let mut command = Command::new(&installed.program);
        command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
        if let Some(path) = installed.library_path() {
            command.env("LD_LIBRARY_PATH", path);
        }
        if installed.dbms == Dbms::Postgres {
            command.arg("--describe-config");
        } else {
            command.args(["--no-defaults", "--user=root", "--verbose", "--help"]);
            command.arg(format!("--lc-messages-dir={}", installed.share.display()));
            command.current_dir(self.temp.path());
        }
        let said = command.output().with_context(|| format!("run {command:?}"))?;
        let text = String::from_utf8_lossy(&said.stdout);
        let names = if installed.dbms == Dbms::Postgres {
            postgres_texts(&text)
        } else {
            mysql_texts(&text)
        };
        ensure!(names.len() > 20, "{} tells {} options", installed.name(), names.len());
        Ok(names)
    }

    fn try_option(&self, option: &str, kind: &str) -> Result<Seen> {
        let place = self.temp.path().join(format!("outside-{option}"));
        let outside = Outside::make(&place)?;
        let value = if kind == "address" {
            format!("127.0.0.1:{}", outside.listener.local_addr()?.port())
        } else if ["dir", "path", "home", "datadir"].iter().any(|part| option.contains(part)) {
            place.display().to_string()
        } else {
            place.join("file").display().to_string()
        };
        let mysql = self.installed.dbms.is_mysql_family();
        let text = if mysql {
            format!("[mysqld]\n{option}={value}\n")
        } else {
            format!("{option} = '{value}'\n")
        };
        let file = self.temp.path().join("given.cnf");
        fs::write(&file, text)?;
        let config = Config::of(&file.to_string_lossy(), self.engine());
        let sizing = Sizing { memory_bytes: 2 << 30, systems_up: 1, data_bytes: None };
        let rendered = match render(self.installed.dbms, &self.installed.version, &config, sizing) {
            Ok(rendered) => rendered,
            Err(error) => {
                let treated = format!("refused ({})", class(self.installed.dbms, option)?);
                let _ = error;
                return Ok(Seen {
                    treated,
                    started: "not started".to_owned(),
                    harm: outside.harm(0)?,
                });
            }
        };
        let treated = describe(&rendered);
        let started = self.start(rendered);
        let (said, pid_ports) = match started {
            Ok(ports) => ("started".to_owned(), ports),
            Err(error) => (first_line(&format!("{error:#}")), 0),
        };
        let harm = outside.harm(pid_ports)?;
        fs::remove_dir_all(&place)?;
        Ok(Seen { treated, started: said, harm })
    }

    fn engine(&self) -> Engine {
        if self.installed.dbms == Dbms::Postgres { Engine::Heap } else { Engine::Innodb }
    }

    /// Starts a server, writes to it, counts what listens on other addresses than the loopback, stops it.
    fn start(&self, config: Rendered) -> Result<usize> {
        let setup = Setup {
            installed: self.installed.clone(),
            dir: self.places.data.join("trial"),
            sockets: self.places.sockets.clone(),
            identity: self.identity.clone(),
            config,
            transport: Transport::Socket,
            allocator: Allocator::default(),
            limits: Limits::default(),
            trial: self.trial,
            templates: None,
            patience: rqps_server::Patience::default(),
        };
        let instance = watched(|watch| Instance::create(setup, watch))?;
        let tried = watched(|watch| instance.start(None, watch))
            .map_err(anyhow::Error::from)
            .and_then(|server| {
                let mut connection = server.connect()?;
                for sql in [
                    "create table t (a int primary key)",
                    "insert into t values (1)",
                    "drop table t",
                ] {
                    connection.query(sql)?;
                }
                let n_listening = listening_elsewhere(&server.processes())?;
                drop(connection);
                server.stop(STOP_WITHIN)?;
                Ok(n_listening)
            });
        instance.remove()?;
        tried
    }
}

/// Runs `f` with a watch that nobody stops.
fn watched<T>(f: impl FnOnce(&mut Watch<'_>) -> T) -> T {
    static NEVER: AtomicBool = AtomicBool::new(false);
    f(&mut Watch { stop: &NEVER, report: &mut |_| {} })
}

fn class(dbms: Dbms, option: &str) -> Result<String> {
    Ok(treatment(dbms, option)?
        .map_or("not in the table".to_owned(), |t| format!("{t:?}").to_lowercase()))
}

fn describe(rendered: &Rendered) -> String {
    match rendered.changes.first().map(|change| &change.outcome) {
        None => "kept",
        Some(Outcome::SetByRqps) => "set by rqps",
        Some(Outcome::Moved { .. }) => "moved",
        Some(Outcome::InDataDirectory) => "data directory",
        Some(Outcome::Dropped { .. }) => "dropped",
        Some(Outcome::NotLoaded { .. }) => "not loaded",
    }
    .to_owned()
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().replace('|', "/");
    line.chars().take(80).collect()
}

/// The lines `name value` of the table that `mysqld --verbose --help` ends with, where the value is no number or
/// switch.
fn mysql_texts(help: &str) -> BTreeSet<String> {
    let table = help.split("----").last().unwrap_or_default();
    let lines = table.lines().skip(1).take_while(|line| !line.is_empty());
    let pairs = lines.filter_map(|line| {
        let (name, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.trim().replace('-', "_");
        (!name.is_empty()).then(|| (name, value.trim().to_owned()))
    });
    let is_text = |value: &String| {
        value.parse::<f64>().is_err() && !matches!(value.as_str(), "TRUE" | "FALSE")
    };
    pairs.filter(|(_, value)| is_text(value)).map(|(name, _)| name).collect()
}

/// The names of `postgres --describe-config` whose type is STRING.
fn postgres_texts(text: &str) -> BTreeSet<String> {
    let fields = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let texts = fields.filter(|fields| fields.get(3).is_some_and(|kind| *kind == "STRING"));
    // `postgres --describe-config` lacks those that stand in no file.
    let hidden = ["restore_command", "primary_conninfo", "local_preload_libraries", "jit_provider"];
    texts.map(|fields| fields[0].to_owned()).chain(hidden.map(str::to_owned)).collect()
}

/// A place outside of everything that a server may touch.
struct Outside {
    place: PathBuf,
    before: BTreeMap<PathBuf, Vec<u8>>,
    notify: Inotify,
    listener: TcpListener,
}

impl Outside {
    fn make(place: &Path) -> Result<Self> {
        fs::create_dir_all(place.join("sub"))?;
        for name in ["file", "file.000001", "file.index", "sub/theirs", "ibdata1", "PG_VERSION"] {
            fs::write(place.join(name), "theirs")?;
            fs::set_permissions(place.join(name), Permissions::from_mode(0o666))?;
        }
        let notify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        let dirs = [place.to_owned(), place.join("sub")];
        for dir in &dirs {
            fs::set_permissions(dir, Permissions::from_mode(0o777))?;
        }
        for dir in &dirs {
            let flags = AddWatchFlags::IN_MODIFY
                | AddWatchFlags::IN_CLOSE_WRITE
                | AddWatchFlags::IN_CREATE
                | AddWatchFlags::IN_DELETE
                | AddWatchFlags::IN_DELETE_SELF
                | AddWatchFlags::IN_MOVE
                | AddWatchFlags::IN_ATTRIB;
            notify.add_watch(dir, flags)?;
        }
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let before = contents(place)?;
        Ok(Self { place: place.to_owned(), before, notify, listener })
    }

    /// What was touched since.
    fn harm(&self, n_listening: usize) -> Result<Vec<String>> {
        let mut harm = BTreeSet::new();
        if let Ok(events) = self.notify.read_events() {
            harm.extend(
                events.into_iter().map(|event| format!("{:?} {:?}", event.mask, event.name)),
            );
        }
        if contents(&self.place)? != self.before {
            harm.insert("contents changed".to_owned());
        }
        if self.listener.accept().is_ok() {
            harm.insert("connected".to_owned());
        }
        if n_listening > 0 {
            harm.insert(format!("listens on {n_listening} other addresses"));
        }
        Ok(harm.into_iter().collect())
    }
}

/// All files below a directory with their bytes.
fn contents(dir: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(contents(&path)?);
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    Ok(all)
}

/// How many sockets of these processes listen on other addresses than 127.0.0.1 and ::1.
fn listening_elsewhere(pids: &[i32]) -> Result<usize> {
    let mut inodes = BTreeSet::new();
    for pid in pids {
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            let inode = target
                .to_string_lossy()
                .strip_prefix("socket:[")
                .map(|text| text.trim_end_matches(']').to_owned());
            inodes.extend(inode);
        }
    }
    let mut n_listening = 0;
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(file)?.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, local, _, "0A", ..] = fields[..] else { continue };
            let address = local.split(':').next().unwrap_or_default();
            let is_loopback =
                address == "0100007F" || address == "00000000000000000000000001000000";
            if fields.get(9).is_some_and(|inode| inodes.contains(*inode)) && !is_loopback {
                n_listening += 1;
            }
        }
    }
    Ok(n_listening)
}
