//! Plans: what a user wants measured, as written (`PlanFile`) and as meant ([`Plan`]).
//!
//! Reading refuses what cannot be meant - unknown keys, impossible values, two systems of one
//! label - with the line, the reason and the remedy, before anything is fetched or started.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::{
    Dbms, Engine, Label, Placement, Schedule, SystemSource, SystemSpec, Transport, Version,
};
use rqps_server::{Catalogue, Dsn};
use rqps_workload::{Form, SuiteArgs};

mod file;
mod suite;

pub use file::{OptionValue, PlanFile, ScheduleFile, SecondsFile, SuiteFile, SystemFile};

/// Why a plan is refused.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The text is not a plan: syntax, an unknown key, a value of the wrong type.
    #[error("{origin}: {detail}")]
    Syntax {
        /// The file, or `command line`.
        origin: String,
        /// Line, reason and the keys that would do.
        detail: String,
    },
    /// The text is a plan that cannot be carried out.
    #[error("{origin}: {what}; {remedy}")]
    Meaning {
        /// The file, or `command line`.
        origin: String,
        /// What is wrong, with the value.
        what: String,
        /// What to write instead.
        remedy: String,
    },
}

/// A plan as meant: everything resolved, every default filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The plan's name.
    pub name: String,
    /// Index of the base among the systems.
    pub base: usize,
    /// The systems in order.
    pub systems: Vec<SystemSpec>,
    /// Passwords of external systems, by label; never written anywhere.
    pub dsns: BTreeMap<Label, String>,
    /// The suites in order.
    pub suites: Vec<SuitePlan>,
    /// Order of slices.
    pub schedule: Schedule,
    /// Placement as asked for.
    pub placement: Placement,
    /// Seed, where the user set one.
    pub seed: Option<u64>,
}

/// A suite of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct SuitePlan {
    /// Prefix of its step names, for plans with several suites.
    pub name: Option<String>,
    /// `sysbench`, or the path of a suite file.
    pub kind: String,
    /// The whole suite or its short form.
    pub form: Form,
    /// Globs of steps; empty for all.
    pub steps: Vec<String>,
    /// Tables, rows, clients, seconds.
    pub args: SuiteArgs,
    /// Events per second of all clients together; as fast as they go when absent.
    pub rate: Option<f64>,
}

/// Slices per step when the plan does not say. For the same time in all, six give an interval about
/// half as wide as three do: t falls from 2.8 (4 degrees of freedom) to 2.2 (10).
pub const DEFAULT_SLICES: u32 = 6;

impl PlanFile {
    /// Reads a plan's text.
    ///
    /// # Errors
    /// When it is not TOML, or has a key or a type that no plan has.
    pub fn parse(text: &str, origin: &str) -> Result<Self, PlanError> {
        toml::from_str(text).map_err(|error| PlanError::Syntax {
            origin: origin.to_owned(),
            detail: error.to_string().trim_end().to_owned(),
        })
    }

    /// What the plan means.
    ///
    /// # Errors
    /// When something in it cannot be carried out; the error names the value and the remedy.
    pub fn resolve(&self, origin: &str) -> Result<Plan, PlanError> {
        let refuse = |what: String, remedy: &str| PlanError::Meaning {
            origin: origin.to_owned(),
            what,
            remedy: remedy.to_owned(),
        };
        if self.system.is_empty() {
            return Err(refuse("no [[system]]".into(), "name at least one system"));
        }
        let mut systems = Vec::new();
        let mut dsns = BTreeMap::new();
        for (idx, system) in self.system.iter().enumerate() {
            let (spec, dsn) = system
                .resolve()
                .map_err(|(what, remedy)| refuse(format!("system {}: {what}", idx + 1), &remedy))?;
            let mut spec = spec;
            if let Some(dsn) = dsn {
                if system.label.is_none() {
                    spec.label = free_label(spec.label, &systems);
                }
                dsns.insert(spec.label.clone(), dsn);
            }
            systems.push(spec);
        }
        let mut seen = BTreeSet::new();
        for system in &systems {
            if !seen.insert(&system.label) {
                let what = format!("two systems have the label {:?}", system.label.as_str());
                return Err(refuse(what, "give each a `label` of its own"));
            }
        }
        let base = match &self.base {
            None => 0,
            Some(label) => {
                systems.iter().position(|s| s.label.as_str() == label).ok_or_else(|| {
                    let known: Vec<&str> = systems.iter().map(|s| s.label.as_str()).collect();
                    let remedy = format!("write one of: {}", known.join(", "));
                    refuse(format!("base {label:?} is no system's label"), &remedy)
                })?
            }
        };
        let written =
            if self.suite.is_empty() { vec![SuiteFile::default()] } else { self.suite.clone() };
        let mut suites = Vec::new();
        for suite in &written {
            let suite = suite.resolve().map_err(|(what, remedy)| refuse(what, &remedy))?;
            suites.push(suite);
        }
        let names: BTreeSet<_> = suites.iter().map(|s| &s.name).collect();
        if names.len() < suites.len() {
            let what = "two suites have the same name, or none".to_owned();
            return Err(refuse(what, "give each [[suite]] a `name` of its own"));
        }
        let (schedule, placement) =
            self.schedule.resolve().map_err(|(what, remedy)| refuse(what, &remedy))?;
        let name = self.name.clone().unwrap_or_else(|| default_name(&systems, base));
        let seed = self.schedule.seed;
        Ok(Plan { name, base, systems, dsns, suites, schedule, placement, seed })
    }
}

/// A label for one more external system: on the command line two of a family can get no other.
fn free_label(label: Label, taken: &[SystemSpec]) -> Label {
    let is_free = |label: &Label| taken.iter().all(|system| system.label != *label);
    let numbered = (2..).map(|n: u32| Label(format!("{label}-{n}")));
    std::iter::once(label.clone()).chain(numbered).find(is_free).unwrap_or(label)
}

/// What is wrong and what to do about it.
type Refusal = (String, String);

impl SystemFile {
    fn resolve(&self) -> Result<(SystemSpec, Option<String>), Refusal> {
        let dbms: Option<Dbms> = match &self.dbms {
            Some(word) => {
                Some(word.parse().map_err(|e| (format!("{e}"), "write one of them".into()))?)
            }
            None => None,
        };
        let (source, dbms, password_dsn) = self.source(dbms)?;
        let engine: Engine = match &self.engine {
            Some(word) => word.parse().map_err(|e| (format!("{e}"), "write one of them".into()))?,
            None if dbms == Dbms::Postgres => Engine::Heap,
            None => Engine::Innodb,
        };
        if (dbms == Dbms::Postgres) != (engine == Engine::Heap) {
            let known = if dbms == Dbms::Postgres { "heap" } else { "innodb" };
            let what = format!("{} has no engine {:?}", dbms.name(), engine.to_string());
            return Err((what, format!("write engine = {known:?}, or leave it out")));
        }
        if engine == Engine::Rocksdb {
            let what = "engine \"rocksdb\" is not supported yet".to_owned();
            return Err((what, "use innodb".to_owned()));
        }
        let config = match &source {
            // Not configured by rqps.
            SystemSource::External { .. } | SystemSource::Builtin => String::new(),
            _ => self.config.clone().unwrap_or_else(|| "small".to_owned()),
        };
        let label = match (&self.label, &source) {
            (Some(label), _) if label.trim().is_empty() => {
                return Err((
                    "the label is empty".into(),
                    "leave it out, or name the system".into(),
                ));
            }
            (Some(label), _) => Label(label.clone()),
            (None, SystemSource::Catalogue { version }) => {
                Label::of(dbms, version, config_name(&config))
            }
            (None, SystemSource::Basedir { path }) => {
                let dir = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
                Label(format!("{}-{dir}.{}", dbms.letters(), config_name(&config)))
            }
            (None, SystemSource::External { .. }) => Label(format!("{}-external", dbms.letters())),
            (None, SystemSource::Builtin) => Label(dbms.letters().to_owned()),
        };
        let options = self.options.iter().map(|(k, v)| (k.clone(), v.text())).collect();
        let transport = match &password_dsn {
            Some(dsn) => Dsn::parse(dsn).map_or_else(|_| Transport::default(), |d| d.transport()),
            None => self.transport.unwrap_or_default(),
        };
        let spec = SystemSpec { label, dbms, source, engine, config, options, transport };
        Ok((spec, password_dsn))
    }

    /// The null client is a part of rqps: there is nothing to choose.
    fn null_source(&self) -> Result<(SystemSource, Dbms, Option<String>), Refusal> {
        for (key, given) in [
            ("version", self.version.is_some()),
            ("basedir", self.basedir.is_some()),
            ("dsn", self.dsn.is_some()),
            ("engine", self.engine.is_some()),
            ("config", self.config.is_some()),
            ("options", !self.options.is_empty()),
            ("transport", self.transport.is_some()),
        ] {
            if given {
                let what = format!("dbms \"null\" is a part of rqps and has no {key}");
                return Err((what, format!("leave out {key}")));
            }
        }
        Ok((SystemSource::Builtin, Dbms::Null, None))
    }

    fn source(&self, dbms: Option<Dbms>) -> Result<(SystemSource, Dbms, Option<String>), Refusal> {
        if dbms == Some(Dbms::Null) {
            return self.null_source();
        }
        let need_dbms = || {
            let what = "dbms is missing".to_owned();
            dbms.ok_or((what, "write dbms = \"mysql\", \"mariadb\" or \"postgres\"".to_owned()))
        };
        match (&self.version, &self.basedir, &self.dsn) {
            (Some(version), None, None) => {
                let dbms = need_dbms()?;
                let see = || "see `rqps servers list`".to_owned();
                let wanted: Version = version.parse().map_err(|e| (format!("{e}"), see()))?;
                // Servers append words to their versions, users do not.
                if wanted.to_string() != version.trim() {
                    return Err((format!("version {version:?} is no version"), see()));
                }
                let catalogue = Catalogue::builtin().map_err(|e| (e.to_string(), see()))?;
                let entry = catalogue.find(dbms, &wanted).map_err(|e| (e.to_string(), see()))?;
                Ok((SystemSource::Catalogue { version: entry.version.clone() }, dbms, None))
            }
            (None, Some(path), None) => {
                Ok((SystemSource::Basedir { path: path.clone() }, need_dbms()?, None))
            }
            (None, None, Some(dsn)) => {
                let parsed = Dsn::parse(dsn).map_err(|e| {
                    (e.to_string(), "write mysql://user:password@host:port/db".into())
                })?;
                if !self.options.is_empty() || self.config.is_some() {
                    let what = "a server given by dsn is not configured by rqps".to_owned();
                    return Err((what, "leave out config and options".to_owned()));
                }
                if self.transport.is_some() {
                    let what = "a server given by dsn is reached as its address says".to_owned();
                    let remedy = "leave out transport; write ?socket=PATH or ?tls=required in dsn";
                    return Err((what, remedy.to_owned()));
                }
                let protocol = |dbms: Dbms| dbms == Dbms::Postgres;
                if dbms.is_some_and(|dbms| protocol(dbms) != protocol(parsed.dbms)) {
                    let what = format!("dsn is the address of a {} server", parsed.dbms.name());
                    return Err((what, "leave out dbms, or name the same one".to_owned()));
                }
                let source = SystemSource::External { dsn: parsed.to_string() };
                Ok((source, dbms.unwrap_or(parsed.dbms), Some(dsn.clone())))
            }
            (None, None, None) => {
                need_dbms()?;
                let remedy = "write version = \"...\" (see `rqps servers list`), or basedir or dsn";
                Err(("there is no version, basedir or dsn".to_owned(), remedy.to_owned()))
            }
            _ => Err((
                "a system has only one of version, basedir and dsn".into(),
                "keep one of them".into(),
            )),
        }
    }
}

impl OptionValue {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Bool(value) => u8::from(*value).to_string(),
        }
    }
}

/// The part of a config that goes into a label: a profile's name, or a file's without its ending.
fn config_name(config: &str) -> &str {
    let file = config.rsplit('/').next().unwrap_or(config);
    file.strip_suffix(".cnf").or_else(|| file.strip_suffix(".conf")).unwrap_or(file)
}

fn default_name(systems: &[SystemSpec], base: usize) -> String {
    let others: Vec<&str> = systems
        .iter()
        .enumerate()
        .filter(|(idx, _)| *idx != base)
        .map(|(_, s)| s.label.as_str())
        .collect();
    let base = systems[base].label.as_str();
    if others.is_empty() { base.to_owned() } else { format!("{base}-to-{}", others.join("-")) }
}

#[cfg(test)]
mod tests;
