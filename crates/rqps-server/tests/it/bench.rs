//! What the tests stand on: a cache that stays, a directory that goes, and which servers to take.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use rqps_model::{Dbms, Engine, Limits, Transport};
use rqps_server::profile::render;
use rqps_server::{
    Allocator, Catalogue, Config, Identity, Installed, Instance, Patience, Places, Setup, Sizing,
    Trial, Watch, Wishes, fetch, places,
};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Runs `f` with a watch that nobody stops and that keeps the notes.
pub(crate) fn watched<T>(f: impl FnOnce(&mut Watch<'_>) -> T) -> T {
    f(&mut Watch { stop: &NEVER, report: &mut |_| {} })
}

/// The cache that rqps itself has, so that no server is fetched twice.
#[expect(clippy::disallowed_methods, reason = "where the user's cache lies")]
fn users_cache() -> PathBuf {
    let of_user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
    of_user.unwrap_or_else(home).join("rqps")
}

/// Where data directories are kept that these tests have made. Another build makes its own.
fn templates() -> PathBuf {
    let built = std::env::current_exe().unwrap().metadata().unwrap().modified().unwrap();
    let built = built.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let all = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("templates-of-servers");
    let dir = all.join(built.to_string());
    for other in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        if other.path() != dir {
            let _ = std::fs::remove_dir_all(other.path());
        }
    }
    dir
}

/// Places and identity of one test.
pub(crate) struct Bench {
    pub(crate) identity: Identity,
    pub(crate) places: Places,
    _temp: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tempfile::Builder::new().prefix("rqps-it").tempdir_in("/var/tmp").unwrap();
        std::fs::set_permissions(temp.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let identity = Identity::for_servers().unwrap();
        let cache = users_cache();
        let data = temp.path().join("data");
        let wishes = Wishes { cache: &cache, data: &data, temp: temp.path() };
        let places = places::choose(&identity, &wishes).unwrap();
        Self { identity, places, _temp: temp }
    }

    pub(crate) fn installed(&self, dbms: Dbms, version: &str) -> Installed {
        let catalogue = Catalogue::builtin().unwrap();
        let (version, build) =
            version.split_once('+').map_or((version, None), |(v, b)| (v, Some(b)));
        let entry = catalogue.find(dbms, &version.parse().unwrap(), build).unwrap();
        watched(|watch| fetch::ensure(&catalogue, entry, &self.places.cache, watch))
            .unwrap_or_else(|e| panic!("{}: {}", entry.name(), chain(&e)))
    }

    pub(crate) fn setup(
        &self,
        installed: Installed,
        name: &str,
        options: &[(&str, &str)],
    ) -> Setup {
        self.setup_with(installed, name, Config::of("small", Engine::Innodb), options)
    }

    /// A setup of a configuration with options on top.
    pub(crate) fn setup_with(
        &self,
        installed: Installed,
        name: &str,
        config: Config,
        options: &[(&str, &str)],
    ) -> Setup {
        let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let config = Config { options, ..config };
        // Small on purpose: several of them run at once.
        let sizing = Sizing { memory_bytes: 2 << 30, systems_up: 4, data_bytes: None };
        let config = render(installed.dbms, &installed.version, &config, sizing).unwrap();
        Setup {
            installed,
            dir: self.dir(name),
            sockets: self.places.sockets.clone(),
            identity: self.identity.clone(),
            config,
            transport: Transport::Socket,
            allocator: Allocator::default(),
            limits: Limits::default(),
            trial: Trial::default(),
            templates: Some(templates()),
            patience: Patience::default(),
        }
    }

    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        self.places.data.join(name)
    }

    pub(crate) fn instance(&self, dbms: Dbms, version: &str, transport: Transport) -> Instance {
        let name = format!("{dbms}{version}{transport}");
        let setup = Setup { transport, ..self.setup(self.installed(dbms, version), &name, &[]) };
        watched(|watch| Instance::create(setup, watch)).unwrap_or_else(|e| panic!("{}", chain(&e)))
    }
}

/// An error with its sources, as the binary prints it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

/// Runs a test on each server that was chosen.
pub(crate) fn for_each_server(test: impl Fn(&Bench, Dbms, &str)) {
    for_each_of("postgres@11.22 mariadb@10.2.11", &|_| true, test);
}

/// Runs a test on each server that was chosen and has the engine, or on `default`.
pub(crate) fn for_each_server_with(
    engine: Engine,
    default: &str,
    test: impl Fn(&Bench, Dbms, &str),
) {
    let catalogue = Catalogue::builtin().unwrap();
    let with_it = catalogue.selectors_with(engine);
    for_each_of(default, &|name| with_it.iter().any(|known| known == name), test);
}

/// Runs a test on each server that was chosen and fits, or on `default`.
pub(crate) fn for_each_of(
    default: &str,
    fits: &dyn Fn(&str) -> bool,
    test: impl Fn(&Bench, Dbms, &str),
) {
    let bench = Bench::new();
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let chosen = std::env::var("RQPS_TEST_SERVERS").unwrap_or_default();
    let chosen = match chosen.as_str() {
        "" => default.to_owned(),
        "all" => {
            let catalogue = Catalogue::builtin().unwrap();
            let names = catalogue.servers().iter().map(rqps_server::Entry::selector);
            names.collect::<Vec<_>>().join(" ")
        }
        _ => chosen,
    };
    for name in chosen.split_whitespace().filter(|name| fits(name)) {
        eprintln!("server {name}");
        let (dbms, version) = name.split_once('@').unwrap();
        test(&bench, dbms.parse().unwrap(), version);
    }
}
