//! Plans: what a user wants measured, as written (`PlanFile`) and as meant ([`Plan`]).
//!
//! Reading refuses what cannot be meant - unknown keys, impossible values, two systems of one
//! label - with the line, the reason and the remedy, before anything is fetched or started.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rqps_model::{
    Calibration, Compression, Dbms, Engine, Label, Placement, Schedule, SystemSpec, UnknownWord,
};
use rqps_server::Catalogue;
use rqps_workload::vector::{Source, VectorArgs, VectorSchema};
use rqps_workload::{Form, InsertArgs, SuiteArgs};

mod audit_rule;
pub(crate) mod descriptors;
#[cfg(test)]
mod examples;
mod file;
mod label;
pub(crate) mod launches;
pub(crate) mod limits;
#[cfg(test)]
mod manual;
mod null_arm;
pub mod placement;
mod profiling;
mod reuse;
pub(crate) mod schedule;
mod secret;
pub(crate) mod seed;
pub mod steps;
mod suite;
mod system;
mod whole_time;

pub use audit_rule::AuditRule;
pub use file::{OptionValue, PlanFile, ScheduleFile, SecondsFile, SuiteFile, SystemFile};
pub use profiling::SECONDS as PROFILE_SECONDS;
pub use profiling::{ChosenFile, Profiling, ProfilingFile};
use schedule::Times;
pub use schedule::{SLICES, STARTS, parse_duration};
pub use suite::RATES;
use system::OwnServer;

/// The origin of a plan that was typed as options: errors advise what can be typed.
pub const COMMAND_LINE: &str = "command line";

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
    /// Time of the whole run as written, if the plan gives one.
    pub time: Option<String>,
    /// Placement as asked for.
    pub placement: Placement,
    /// Starts of the servers for each step, on the same data.
    pub starts: u32,
    /// How often everything is measured, each time on new data.
    pub loads: u32,
    /// Whether the length of a slice comes from a calibration, if there is one.
    pub slice_is_auto: bool,
    /// This host's calibration, once read: it decides `auto`.
    pub calibration: Option<Calibration>,
    /// Whether the systems were meant to be interleaved but do not fit into memory together.
    pub is_sequential_to_fit: bool,
    /// Seed, where the user set one.
    pub seed: Option<u64>,
    /// Which steps get a stack profile; none when absent.
    pub profiling: Option<Profiling>,
    /// What a severe difference between the systems does.
    pub audit: AuditRule,
}

/// The shortest slice of the Insert Benchmark's steps that query: their rates are held by the second.
const LEAST_QUERY_TIME: Duration = Duration::from_secs(1);

/// A suite of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct SuitePlan {
    /// Prefix of its step names, for plans with several suites.
    pub name: Option<String>,
    /// Whether the tables are copied from an earlier run's.
    pub reuse_tables: bool,
    /// Globs of steps; empty for all.
    pub steps: Vec<String>,
    /// What is run.
    pub work: SuiteWork,
}

/// What a suite runs, and with what.
#[derive(Debug, Clone, PartialEq)]
pub enum SuiteWork {
    /// Steps that are read from a file: statements of events.
    File {
        /// `sysbench`, or the path of a suite file.
        kind: String,
        /// The whole suite or its short form.
        form: Form,
        /// Tables, rows, clients, seconds.
        args: SuiteArgs,
        /// Events per second of all clients together; as fast as they go when absent.
        rate: Option<f64>,
    },
    /// The Insert Benchmark.
    Insert(InsertArgs),
    /// Vector search.
    Vector(VectorArgs),
}

impl SuiteWork {
    /// Approximate size of the tables without compression, bytes.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        match self {
            Self::File { args, .. } => args.data_bytes(),
            Self::Insert(args) => args.data_bytes(),
            Self::Vector(args) => {
                let of_file = |path| std::fs::metadata(path).map_or(0, |file| file.len());
                let bytes = match &args.source {
                    Source::Files(files) => of_file(&files.vectors),
                    Source::Generated(_) => 0,
                };
                args.data_bytes(bytes)
            }
        }
    }

    /// Makes a slice of every step that is measured by time this long; work that is fixed stays.
    pub(crate) fn take_slices_of(&mut self, slice: Duration) {
        match self {
            Self::File { args, .. } => {
                let times = &mut args.times;
                (times.read, times.write, times.insert) = (slice, slice, slice);
            }
            Self::Insert(args) => args.query_time = slice.max(LEAST_QUERY_TIME),
            Self::Vector(args) => args.read = slice,
        }
    }
}

impl Plan {
    /// Whether the tables are copied from an earlier run's.
    #[must_use]
    pub fn reuses_tables(&self) -> bool {
        self.suites.iter().any(|suite| suite.reuse_tables)
    }

    /// Makes a system given by its address one of the DBMS that its server says it is. A label that rqps made
    /// follows.
    pub(crate) fn set_dbms(&mut self, idx: usize, dbms: Dbms) {
        let was = std::mem::replace(&mut self.systems[idx].dbms, dbms);
        if was == dbms {
            return;
        }
        let before = self.systems[idx].label.clone();
        label::follow_dbms(&mut self.systems, idx, was);
        if let Some(dsn) = self.dsns.remove(&before) {
            self.dsns.insert(self.systems[idx].label.clone(), dsn);
        }
    }
}

impl PlanFile {
    /// Reads a plan's text.
    ///
    /// # Errors
    /// When it is not TOML, or has a key or a type that no plan has, or an address outside of `dsn`. No error
    /// holds a password of the text.
    pub fn parse(text: &str, origin: &str) -> Result<Self, PlanError> {
        let file: Self = toml::from_str(text).map_err(|error| PlanError::Syntax {
            origin: origin.to_owned(),
            detail: secret::syntax(&error),
        })?;
        file.check_addresses().map_err(|(what, remedy)| PlanError::Meaning {
            origin: origin.to_owned(),
            what,
            remedy,
        })?;
        Ok(file)
    }

    /// Resolves the plan.
    ///
    /// # Errors
    /// When something in it cannot be carried out; the error names the value and the remedy.
    pub fn resolve(&self, origin: &str, catalogue: &Catalogue) -> Result<Plan, PlanError> {
        let refuse = |what: String, remedy: &str| PlanError::Meaning {
            origin: origin.to_owned(),
            what,
            remedy: remedy.to_owned(),
        };
        // What was typed beside the text of a plan is looked at here.
        self.check_addresses().map_err(|(what, remedy)| refuse(what, &remedy))?;
        if self.system.is_empty() {
            return Err(refuse("no [[system]]".into(), "name at least one system"));
        }
        let own_server = match origin {
            COMMAND_LINE => OwnServer::OnCommandLine,
            _ => OwnServer::InPlan,
        };
        let mut systems = Vec::new();
        let mut passwords = Vec::new();
        for (idx, system) in self.system.iter().enumerate() {
            let (spec, dsn) = system
                .resolve(catalogue, own_server)
                .map_err(|(what, remedy)| refuse(format!("system {}: {what}", idx + 1), &remedy))?;
            passwords.push(dsn);
            systems.push(spec);
        }
        let is_made = |idx: usize| self.system[idx].label.is_none();
        label::tell_apart(&mut systems, is_made);
        label::number_externals(&mut systems, is_made);
        let labels = systems.iter().map(|system| system.label.clone());
        let dsns = labels.zip(passwords).filter_map(|(label, dsn)| Some((label, dsn?))).collect();
        let mut seen = BTreeSet::new();
        for system in &systems {
            if !seen.insert(&system.label) {
                let what = format!("two systems have the label {:?}", system.label.as_str());
                let remedy = "give each a `label` of its own (--base NAME=SYSTEM); to measure the \
                              base against itself, `null = true` or --null";
                return Err(refuse(what, remedy));
            }
        }
        let base = match &self.base {
            None => 0,
            Some(label) => {
                systems.iter().position(|s| s.label.as_str() == label).ok_or_else(|| {
                    let known: Vec<&str> = systems.iter().map(|s| s.label.as_str()).collect();
                    let remedy = format!("write one of: {}", known.join(", "));
                    refuse(format!("base {label:?}: no system has this label"), &remedy)
                })?
            }
        };
        if self.null == Some(true) {
            null_arm::add(&mut systems, base).map_err(|(what, remedy)| refuse(what, &remedy))?;
        }
        if systems[base].is_null_arm {
            let what = format!("the base {:?} is a null arm", systems[base].label.as_str());
            return Err(refuse(what, "leave null_arm out of the base"));
        }
        let suites = self.suites(&systems).map_err(|(what, remedy)| refuse(what, &remedy))?;
        let Times { schedule, placement, starts, loads } =
            self.schedule.resolve(&systems).map_err(|(what, remedy)| refuse(what, &remedy))?;
        let profiling = self.profile.as_ref().map_or(Ok(None), ProfilingFile::resolve);
        let profiling = profiling.map_err(|(what, remedy)| refuse(what, &remedy))?;
        let audit = match self.audit.as_deref().map(str::parse) {
            None => AuditRule::default(),
            Some(Ok(rule)) => rule,
            Some(Err(error)) => {
                let (what, remedy) = unknown_word(&error);
                return Err(refuse(what, &remedy));
            }
        };
        let name = self.name.clone().unwrap_or_else(|| default_name(&systems, base));
        let seed = self.schedule.seed;
        let plan = Plan {
            name,
            base,
            systems,
            dsns,
            suites,
            schedule,
            time: None,
            placement,
            starts,
            loads,
            slice_is_auto: self.schedule.slice.as_deref() == Some("auto"),
            calibration: None,
            is_sequential_to_fit: false,
            seed,
            profiling,
            audit,
        };
        reuse::check(&plan).map_err(|(what, remedy)| refuse(what, &remedy))?;
        let Some(time) = &self.schedule.time else { return Ok(plan) };
        let divided = whole_time::divide(&plan, time);
        let schedule = divided.map_err(|(what, remedy)| refuse(what, &remedy))?;
        Ok(Plan { schedule, time: Some(time.clone()), ..plan })
    }

    /// The suites that are meant.
    fn suites(&self, systems: &[SystemSpec]) -> Result<Vec<SuitePlan>, Refusal> {
        let written =
            if self.suite.is_empty() { vec![SuiteFile::default()] } else { self.suite.clone() };
        let suites: Vec<SuitePlan> =
            written.iter().map(SuiteFile::resolve).collect::<Result<_, Refusal>>()?;
        for suite in &suites {
            check_suite(suite, systems)?;
        }
        let refuse = |what: &str, remedy: &str| Err((what.to_owned(), remedy.to_owned()));
        let names: BTreeSet<_> = suites.iter().map(|s| &s.name).collect();
        if names.len() < suites.len() {
            let what = "two suites have the same name, or none";
            return refuse(what, "give each [[suite]] a `name` of its own");
        }
        let is_timed = |suite: &SuitePlan| !matches!(suite.work, SuiteWork::Insert(_));
        if self.schedule.precision.is_some() && !suites.iter().any(is_timed) {
            let what = "precision has no effect: no step of the Insert Benchmark can end early";
            return refuse(what, "leave precision out");
        }
        Ok(suites)
    }
}

/// What is wrong and what to do about it.
type Refusal = (String, String);

/// Refuses a word that is none of a known few.
fn unknown_word(error: &UnknownWord) -> Refusal {
    (error.to_string(), error.remedy())
}

/// The same of a word that has no type of its own.
fn no_such_word(what: &'static str, value: &str, known: &'static str) -> Refusal {
    unknown_word(&UnknownWord { what, value: value.to_owned(), known })
}

/// Refuses what a suite asks of systems that cannot do it.
fn check_suite(suite: &SuitePlan, systems: &[SystemSpec]) -> Result<(), Refusal> {
    let args = match &suite.work {
        SuiteWork::Insert(args) => args,
        SuiteWork::Vector(args) => return check_vector(args, systems),
        SuiteWork::File { .. } => return Ok(()),
    };
    if args.bulk_load && !systems.iter().any(|system| system.engine == Engine::Rocksdb) {
        let what = "bulk_load = true needs a system with MyRocks".to_owned();
        let remedy = "leave bulk_load out, or write engine = \"rocksdb\" for a system";
        return Err((what, remedy.to_owned()));
    }
    if systems.iter().any(|system| !system.variant.sql_after_load.is_empty()) {
        let what = "sql_after_load with a suite that fills its tables step by step".to_owned();
        return Err((what, "leave it out of plans with kind = \"insert\"".to_owned()));
    }
    Ok(())
}

/// Refuses what vector search asks of systems that cannot do it.
fn check_vector(args: &VectorArgs, systems: &[SystemSpec]) -> Result<(), Refusal> {
    for system in systems {
        // That of a file is known when it is read.
        let distance = args.distance.unwrap_or_default();
        let obstacle = args
            .indexes
            .iter()
            .find_map(|index| VectorSchema::obstacle(system.dbms, distance, index));
        if let Some((what, remedy)) = obstacle {
            return Err((format!("{}: {what}", system.label), remedy.to_owned()));
        }
        if !system.variant.sql_after_load.is_empty() {
            let what = "sql_after_load with a suite that fills its tables step by step".to_owned();
            return Err((what, "leave it out of plans with kind = \"vector\"".to_owned()));
        }
        if system.engine == Engine::Rocksdb || system.variant.compression != Compression::None {
            let what =
                format!("{}: vectors are measured in InnoDB, without compression", system.label);
            return Err((what, "leave out engine and compression".to_owned()));
        }
    }
    Ok(())
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
