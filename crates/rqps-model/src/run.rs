//! A run as it is stored and reported: host, systems, steps and all slices.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    BuiltCommit, Calibrated, Host, Imported, Label, Placement, QueryPlan, Recall, RunStatus,
    Schedule, Slice, StepIdx, StepInfo, SystemIdx, SystemSource, SystemSpec, TableState, Version,
    Warning,
};

/// The fact of a server's process that says whether direct IO was refused.
pub const DIRECT_IO: &str = "direct_io";

/// Its value where the file system refused direct IO.
pub const DIRECT_IO_REFUSED: &str = "refused by the file system";

/// A system as it really ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSystem {
    /// What the plan asked for.
    pub spec: SystemSpec,
    /// The server's version; absent until it was first started.
    pub version: Option<Version>,
    /// The server's own version text: `select version()`.
    pub version_text: String,
    /// Where its files came from and their checksum, for the reader.
    pub origin: String,
    /// The effective settings, by the server's own names.
    pub settings: BTreeMap<String, String>,
    /// Facts of the benchmark's own session: transport, TLS, auth plugin, charset, isolation.
    pub session: BTreeMap<String, String>,
    /// Facts of the server's process that it does not report itself: allocator, limits, direct IO.
    #[serde(default)]
    pub process: BTreeMap<String, String>,
    /// Facts of the build: where it comes from, how it was compiled, debug and assertions, engines.
    #[serde(default)]
    pub build: BTreeMap<String, String>,
    /// Where the values of `settings` come from, as far as the server or rqps knows.
    #[serde(default)]
    pub origins: BTreeMap<String, SettingOrigin>,
}

impl RunSystem {
    /// A system before its server is asked: what the plan asks for, and no facts.
    #[must_use]
    pub fn new(spec: SystemSpec) -> Self {
        Self {
            spec,
            version: None,
            version_text: String::new(),
            origin: String::new(),
            settings: BTreeMap::new(),
            session: BTreeMap::new(),
            process: BTreeMap::new(),
            build: BTreeMap::new(),
            origins: BTreeMap::new(),
        }
    }

    /// The commit that rqps built it from.
    #[must_use]
    pub fn commit(&self) -> Option<BuiltCommit<'_>> {
        BuiltCommit::of(&self.build)
    }

    /// The version that the server says, else the one of the catalogue that was asked for.
    #[must_use]
    pub fn known_version(&self) -> Option<&Version> {
        let asked = match &self.spec.source {
            SystemSource::Catalogue { version, .. } => Some(version),
            _ => None,
        };
        self.version.as_ref().or(asked)
    }

    /// `MySQL 8.0.33`, `PostgreSQL 17.4 (1a2b3c4d5e6f)` of a commit, `(1a2b3c4d5e6f, changed)` of files that differ
    /// from it; `None` where no version is known.
    #[must_use]
    pub fn server_name(&self) -> Option<String> {
        let version = self.known_version()?;
        let commit =
            self.commit().map(|commit| format!(" ({})", commit.name())).unwrap_or_default();
        Some(format!("{} {version}{commit}", self.spec.dbms.name()))
    }
}

/// Who gave a setting its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingSource {
    /// Compiled in.
    Default,
    /// The configuration file: profile, the plan's options.
    Config,
    /// The command line, which is rqps's own for the servers that it starts.
    CommandLine,
    /// The server itself, from other settings or the host.
    Computed,
    /// Somebody else: a statement, the environment, initialisation.
    Other,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Default => "default",
            Self::Config => "configured",
            Self::CommandLine => "command line",
            Self::Computed => "computed",
            Self::Other => "other",
        })
    }
}

/// Where a setting's value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingOrigin {
    /// Who gave it.
    pub source: SettingSource,
    /// The compiled default, written like the setting's value; absent where the server does not
    /// report it.
    pub default: Option<String>,
}

/// The state of one step on one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome")]
pub enum StepOutcome {
    /// Not reached yet.
    Pending,
    /// All slices are there.
    Done,
    /// It failed and has no rate.
    Failed {
        /// What happened, and the end of the server's log.
        reason: String,
    },
}

/// One step with one number of clients: its description, and per system its outcome and slices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStep {
    /// What the step is.
    pub info: StepInfo,
    /// Client threads.
    pub clients: u32,
    /// Placement that was in force.
    pub placement: Placement,
    /// On which start of the servers it ran, from 0, where a run has several.
    #[serde(default)]
    pub start: u32,
    /// In the order of the run's systems.
    pub systems: Vec<SystemStep>,
}

/// One step on one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemStep {
    /// Its outcome.
    pub outcome: StepOutcome,
    /// Its slices in order of time.
    pub slices: Vec<Slice>,
    /// Sizes after the step.
    #[serde(flatten)]
    pub sizes: Sizes,
    /// Unfinished background work of the server at the end of the step, by name: history list,
    /// dirty pages, dead tuples.
    #[serde(default)]
    pub debt: BTreeMap<String, u64>,
    /// The checks of the step's work.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// The plan of each of the step's statements, asked in its sessions after the measurement. Of
    /// several starts the plan of most.
    #[serde(default)]
    pub plans: Vec<QueryPlan>,
    /// The same of each start of the servers, where steps of several starts are joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans_of_starts: Vec<StartPlans>,
    /// The state of the tables: before a step that reads, and the writes of a step that writes.
    #[serde(default)]
    pub table_state: TableState,
    /// The recall of a search of vectors, by the start of the servers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recalls: BTreeMap<u32, Recall>,
}

/// The plans of a step's statements on one start of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartPlans {
    /// The start, from 0.
    pub start: u32,
    /// In the order of the statements.
    pub plans: Vec<QueryPlan>,
}

impl SystemStep {
    /// A step that was not reached.
    #[must_use]
    pub fn pending() -> Self {
        Self {
            outcome: StepOutcome::Pending,
            slices: Vec::new(),
            sizes: Sizes::default(),
            debt: BTreeMap::new(),
            checks: Vec::new(),
            plans: Vec::new(),
            plans_of_starts: Vec::new(),
            table_state: TableState::new(),
            recalls: BTreeMap::new(),
        }
    }
}

/// A check that a step did the intended work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked: `rows per query`.
    pub name: String,
    /// Whether it held.
    pub passed: bool,
    /// The result, and the expected one.
    pub found: String,
}

/// Sizes of a system's data after a step; absent where not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// Tables and indexes, as the server accounts for them, bytes.
    pub database_bytes: Option<u64>,
    /// The data directory with everything in it: allocated blocks, bytes.
    #[serde(default)]
    pub data_dir_bytes: Option<u64>,
    /// Of the data directory: redo or write-ahead log, bytes.
    #[serde(default)]
    pub redo_bytes: Option<u64>,
    /// Of the data directory: binary log, bytes.
    #[serde(default)]
    pub binlog_bytes: Option<u64>,
}

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Unique in its store: `20261121-203015-demo`.
    pub id: String,
    /// The plan's name.
    pub name: String,
    /// Its status.
    pub status: RunStatus,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: i64,
    /// End, where it has ended.
    pub finished_unix_ms: Option<i64>,
    /// How often it was resumed.
    pub n_resumed: u32,
    /// Version of rqps.
    pub rqps_version: String,
    /// The words of the command that started it.
    pub command_line: Vec<String>,
    /// The plan as TOML, with every default written out.
    pub plan: String,
    /// The seed that all randomness derives from.
    pub seed: u64,
    /// Order of slices.
    pub schedule: Schedule,
    /// Where it ran.
    pub host: Host,
    /// Where it was taken from; absent for a run that rqps measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The calibration of the host when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibrated>,
    /// Warnings, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Index of the base among the systems.
    pub base: usize,
    /// The systems, base and candidates, in the plan's order.
    pub systems: Vec<RunSystem>,
    /// The steps in the order in which they run.
    pub steps: Vec<RunStep>,
}

impl Run {
    /// The base's label.
    #[must_use]
    pub fn base_label(&self) -> &Label {
        &self.systems[self.base].spec.label
    }

    /// A step on a system.
    #[must_use]
    pub fn cell(&self, step: StepIdx, system: SystemIdx) -> &SystemStep {
        &self.steps[step.0].systems[system.0]
    }

    /// The same, mutable.
    pub fn cell_mut(&mut self, step: StepIdx, system: SystemIdx) -> &mut SystemStep {
        &mut self.steps[step.0].systems[system.0]
    }
}
