//! Where a system's files come from: fetched, found in a directory, or not needed at all.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rqps_model::variant::written_bytes;
use rqps_model::{Engine, SystemIdx, SystemSource, SystemSpec, Version};
use rqps_server::{
    Allocator, Config, Dsn, Identity, Installed, Places, Progress, Search, Sizing, Watch, Wishes,
    direct_io, fetch, places, profile, punch_hole,
};

use crate::Plan;
use crate::environment::Environment;
use crate::event::{Event, Listener};
use crate::plan::limits;
use crate::system::builds;

/// A system's files, there to be started; or the address of one that runs.
#[derive(Debug)]
pub(crate) enum Installation {
    /// A server that rqps starts, with its allocator.
    Local(Box<Installed>, Allocator, Identity, Places),
    /// One that runs already.
    External(Dsn),
    /// The null client needs none.
    Null,
}

/// A system of a run whose files are there.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) system: SystemIdx,
    pub(crate) installation: Installation,
}

/// Looks up the passwords of all systems: one that is not there costs no fetched server and no measured time.
pub(crate) fn check_passwords(plan: &Plan, environment: &Environment) -> Result<()> {
    for spec in &plan.systems {
        external(plan, spec, environment).with_context(|| format!("get {}", spec.label))?;
    }
    Ok(())
}

/// The address of a system that rqps does not start, with its password; `None` of others.
pub(crate) fn external(
    plan: &Plan,
    spec: &SystemSpec,
    environment: &Environment,
) -> Result<Option<Dsn>> {
    let SystemSource::External { dsn } = &spec.source else { return Ok(None) };
    let dsn = plan.dsns.get(&spec.label).unwrap_or(dsn);
    let mut dsn = Dsn::parse(dsn)?.with_password(environment.variables)?;
    dsn.endpoint.connect_timeout = environment.patience.times(dsn.endpoint.connect_timeout);
    Ok(Some(dsn))
}

impl Installation {
    /// Fetches or finds what a system of the plan runs.
    pub(crate) fn of(
        plan: &Plan,
        idx: usize,
        environment: &Environment,
        listen: &mut Listener<'_>,
    ) -> Result<Self> {
        let spec = &plan.systems[idx];
        if spec.source == SystemSource::Builtin {
            return Ok(Self::Null);
        }
        if let Some(dsn) = external(plan, spec, environment)? {
            return Ok(Self::External(dsn));
        }
        let identity = Identity::for_servers()?;
        let places = places(environment)?;
        for note in &places.notes {
            listen(Event::Note(note));
        }
        let (mut wait, tell_after) = (Wait::default(), environment.patience.tell());
        let mut report = |progress: Progress<'_>| match progress {
            Progress::Waiting { what } if wait.is_due(what, tell_after) => {
                listen(Event::Note(&format!("{}: waiting: {what}", spec.label)));
            }
            progress => tell(&progress, &spec.label, listen),
        };
        let mut watch = Watch { stop: &environment.interrupt, report: &mut report };
        let installed = match &spec.source {
            SystemSource::Catalogue { version, build } => {
                let catalogue = &environment.catalogue;
                let entry = catalogue.find(spec.dbms, version, build.as_deref())?;
                if entry.shadows() {
                    let (label, selector) = (&spec.label, entry.selector());
                    let text = format!(
                        "{label}: {selector} is from your catalogue, in place of the built-in entry"
                    );
                    (watch.report)(Progress::Note { text: &text });
                }
                // What is wrong with the configuration is said before anything is fetched.
                render_config(plan, spec, &entry.version, &places)?;
                fetch::ensure(catalogue, entry, &places.cache, &mut watch)?
            }
            SystemSource::Basedir { path } => {
                let found = detect(path, spec, &places, &identity, &mut watch)?;
                if found.dbms != spec.dbms {
                    let path = path.display();
                    bail!("{path} holds {}, the plan says {}", found.name(), spec.dbms.name());
                }
                found
            }
            SystemSource::Built(how) => {
                // What is wrong with the configuration is said before anything is built.
                let version = builds::version_of(spec, how)?;
                render_config(plan, spec, &version, &places)?;
                let built = rqps_build::ensure(spec.dbms, how, &places.cache, &mut watch)?;
                let found = detect(&built.prefix, spec, &places, &identity, &mut watch)?;
                let base = match &plan.systems[plan.base].source {
                    SystemSource::Built(base) => Some(base),
                    _ => None,
                };
                let described = builds::described(found, how, &built.record, base);
                Installed { lease: built.lease, ..described }
            }
            SystemSource::External { .. } | SystemSource::Builtin | SystemSource::Imported => {
                bail!("{} is not installed by rqps", spec.label)
            }
        };
        if spec.engine == Engine::Rocksdb {
            installed
                .require_engine(spec.engine, &environment.catalogue.selectors_with(spec.engine))?;
        }
        let (malloc, cache) = (spec.variant.malloc, &places.cache);
        let allocator = Allocator::ensure(&environment.catalogue, malloc, cache, &mut watch)?;
        allocator.check_program(&installed)?;
        let config = render_config(plan, spec, &installed.version, &places)?;
        direct_io::check(installed.dbms, &config, &places.data, &mut watch)?;
        punch_hole::check(spec.variant.compression, &places.data)?;
        Ok(Self::Local(Box::new(installed), allocator, identity, places))
    }
}

/// The server of a directory.
fn detect(
    path: &Path,
    spec: &SystemSpec,
    places: &Places,
    identity: &Identity,
    watch: &mut Watch<'_>,
) -> Result<Installed> {
    let scratch = places.data.join(format!("detect-{}", std::process::id()));
    let search =
        Search { path, dbms: spec.dbms, cache: &places.cache, identity, scratch: &scratch };
    let found = Installed::detect(search, watch);
    let _ = std::fs::remove_file(&scratch);
    Ok(found?)
}

/// What is waited for, which comes with every look.
#[derive(Default)]
struct Wait {
    /// For what, and since when.
    of: Option<(String, Instant)>,
    is_told: bool,
}

impl Wait {
    /// Whether it is time to tell of it, once.
    fn is_due(&mut self, what: &str, after: Duration) -> bool {
        let since = match &self.of {
            Some((known, since)) if known == what => *since,
            _ => {
                *self = Self { of: Some((what.to_owned(), Instant::now())), is_told: false };
                return false;
            }
        };
        let is_due = !self.is_told && since.elapsed() >= after;
        self.is_told |= is_due;
        is_due
    }
}

/// Passes on what a server tells of its progress.
pub(crate) fn tell(progress: &Progress<'_>, label: &rqps_model::Label, listen: &mut Listener<'_>) {
    match progress {
        Progress::Fetching { name, bytes, total } => {
            listen(Event::Fetching { what: name, bytes: *bytes, total_bytes: *total });
        }
        Progress::Unpacking { name, .. } => {
            listen(Event::Preparing { label, doing: "unpack" });
            let _ = name;
        }
        Progress::Waiting { .. } => {}
        Progress::Note { text } => listen(Event::Note(text)),
    }
}

/// The directories that servers use.
///
/// # Errors
/// When there is none that the servers' user can reach.
pub fn places(environment: &Environment) -> Result<Places> {
    let identity = Identity::for_servers()?;
    let data = environment.results.join("data");
    let wishes = Wishes { cache: &environment.cache, data: &data, temp: &environment.temp };
    Ok(places::choose(&identity, &wishes)?)
}

/// Fetches a system of a plan; `None` if the system needs no fetching.
///
/// # Errors
/// When it cannot be fetched.
pub fn fetch_only(
    plan: &Plan,
    idx: usize,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<Option<Installed>> {
    match Installation::of(plan, idx, environment, listen)? {
        Installation::Local(installed, ..) => Ok(Some(*installed)),
        Installation::External(_) | Installation::Null => Ok(None),
    }
}

/// What the plan asks of a system's configuration.
pub(crate) fn config_of(spec: &SystemSpec) -> Config {
    Config {
        base: spec.config.clone(),
        options: spec.options.clone(),
        engine: spec.engine,
        durability: spec.variant.durability,
        compression: spec.variant.compression,
    }
}

/// The configuration of a system for this host and the plan's largest tables.
pub(crate) fn render_config(
    plan: &Plan,
    spec: &SystemSpec,
    version: &Version,
    places: &Places,
) -> Result<profile::Rendered> {
    let host = rqps_sample::host_info(&places.data).context("read the size of memory")?;
    let data_bytes = plan.suites.iter().map(|suite| suite.work.data_bytes()).max();
    let config = config_of(spec);
    let sizing = match spec.variant.limits.memory_bytes {
        None => {
            Sizing { memory_bytes: host.memory_bytes, systems_up: plan.systems_up(), data_bytes }
        }
        // Its own, whatever else is up.
        Some(memory_bytes) => {
            let least = profile::least_memory(spec.dbms, version, &config)?.unwrap_or(0);
            ensure!(
                memory_bytes >= least,
                "memory = \"{}\": config {:?} needs \"{}\" for {}; write more memory, or smaller caches \
                 in options",
                written_bytes(memory_bytes),
                spec.config,
                written_bytes(least),
                spec.label
            );
            Sizing { memory_bytes, systems_up: 1, data_bytes }
        }
    };
    let mut rendered = profile::render(spec.dbms, version, &config, sizing)?;
    if let Some(allowed) = profile::max_connections(&rendered) {
        limits::admits_clients(plan, spec, allowed)?;
    }
    if let Some(memory_bytes) = spec.variant.limits.memory_bytes {
        let cache_bytes = profile::cache_bytes(spec.dbms, &rendered)?;
        limits::fits(spec, memory_bytes, cache_bytes)?;
        rendered.notes.extend(limits::may_outgrow(spec, memory_bytes, cache_bytes));
    }
    Ok(rendered)
}
