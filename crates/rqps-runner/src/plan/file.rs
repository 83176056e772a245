//! Plans as written: the TOML file, key by key, and back.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use rqps_model::{SystemSource, Transport};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Plan, ProfilingFile};

/// A plan as written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Name of the plan; shown in lists.
    pub name: Option<String>,
    /// Label of the base; the first system when absent.
    pub base: Option<String>,
    /// Whether the base is measured once more, as a server of its own (null arm).
    pub null: Option<bool>,
    /// `warn` or `strict`: whether a severe difference between the systems is said or refused.
    pub audit: Option<String>,
    /// The systems.
    #[serde(default, deserialize_with = "read_systems")]
    pub system: Vec<SystemFile>,
    /// The suites; the sysbench suite when absent.
    #[serde(default, deserialize_with = "read_suites")]
    pub suite: Vec<SuiteFile>,
    /// Order of slices and placement.
    #[serde(default)]
    pub schedule: ScheduleFile,
    /// Stack profiles, recorded in extra slices after the measured ones: `true`, or which steps and for
    /// how long.
    pub profile: Option<ProfilingFile>,
}

fn read_systems<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SystemFile>, D::Error> {
    from.deserialize_seq(Tables { expected: "tables [[system]]", kind: PhantomData })
}

fn read_suites<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SuiteFile>, D::Error> {
    from.deserialize_seq(Tables { expected: "tables [[suite]]", kind: PhantomData })
}

/// Reads an array of tables; where something else stands, it says how the tables are written.
struct Tables<T> {
    expected: &'static str,
    kind: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Tables<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut tables: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(table) = tables.next_element()? {
            all.push(table);
        }
        Ok(all)
    }
}

/// A system as written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[system]]")]
pub struct SystemFile {
    /// Its label; made from DBMS, version and config when absent.
    pub label: Option<String>,
    /// `mysql`, `mariadb` or `postgres`; may be absent with `dsn`. `null` is the client that
    /// answers at once: it measures rqps itself and takes no other key but `label`.
    pub dbms: Option<String>,
    /// A version of the catalogue.
    pub version: Option<String>,
    /// Which build of that version: `debian`; the catalogue's first when absent.
    pub build: Option<String>,
    /// Or the directory of an installed server.
    pub basedir: Option<PathBuf>,
    /// Or the address of a server that runs already.
    pub dsn: Option<String>,
    /// `innodb` or `rocksdb`; `heap` for PostgreSQL.
    pub engine: Option<String>,
    /// Built-in profile or path; `small` when absent.
    pub config: Option<String>,
    /// Single options on top.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, OptionValue>,
    /// `socket`, `tcp` or `tls`.
    pub transport: Option<Transport>,
    /// `build`, `system`, `jemalloc`, `tcmalloc` or `mimalloc`.
    pub malloc: Option<String>,
    /// `relaxed` or `full`.
    pub durability: Option<String>,
    /// `none`, `row`, `page-zlib`, `zstd`, `lz4+zstd` and others.
    pub compression: Option<String>,
    /// At most this much memory: `2G`.
    pub memory: Option<String>,
    /// Only these CPUs: `0-1`.
    pub cpus: Option<String>,
    /// Percent of the measured time in which the server is stopped on purpose: a slowdown of known size.
    pub injected_slowdown: Option<f64>,
    /// Statements that are run on its tables when they have been filled and before anything is measured:
    /// `["ALTER TABLE sbtest1 DROP INDEX k_1"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sql_after_load: Vec<String>,
    /// Whether it is the base once more: what `null = true` of a plan adds.
    pub null_arm: Option<bool>,
}

/// An option's value as TOML lets one write it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "an option takes a text, a number, true or false")]
pub enum OptionValue {
    /// `"O_DIRECT"`
    Text(String),
    /// `42`
    Integer(i64),
    /// `0.9`
    Float(f64),
    /// `true`: written as 1 or 0, which every server understands.
    Bool(bool),
}

/// A suite as written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[suite]]")]
pub struct SuiteFile {
    /// Prefix of its step names, for plans with several suites.
    pub name: Option<String>,
    /// `sysbench`, `insert` (the Insert Benchmark), or the path of a suite file.
    pub kind: Option<String>,
    /// `tiny`, `small` or `medium`: presets for what follows.
    pub size: Option<String>,
    /// `short` (32 figures) or `full`.
    pub form: Option<String>,
    /// Tables.
    pub tables: Option<u32>,
    /// Rows of each table; of the Insert Benchmark, after its first load.
    pub rows: Option<u64>,
    /// Insert Benchmark: rows that l.i1 and l.i2 insert into each table, and delete.
    pub rows_later: Option<u64>,
    /// Insert Benchmark: rows per statement of l.i0, l.i1, l.i2 and the steps that query.
    pub rows_per_commit: Option<[u32; 4]>,
    /// Insert Benchmark: background inserts per second and client of the steps that query.
    pub rates: Option<Vec<u32>>,
    /// Insert Benchmark: all clients work on one table.
    pub shared_table: Option<bool>,
    /// Insert Benchmark: partitions of each table.
    pub partitions: Option<u32>,
    /// Insert Benchmark: MyRocks fills its tables by bulk load.
    pub bulk_load: Option<bool>,
    /// Whether the tables are copied from those that an earlier run filled alike.
    pub reuse_tables: Option<bool>,
    /// `prepared` or `text`: how statements travel.
    pub protocol: Option<String>,
    /// Numbers of clients; every step runs with each.
    pub clients: Option<Vec<u32>>,
    /// Globs of step names.
    pub steps: Option<Vec<String>>,
    /// Events per second of all clients together; as fast as they go when absent.
    pub rate: Option<f64>,
    /// Seconds of a slice.
    #[serde(default)]
    pub seconds: SecondsFile,
}

/// Seconds of a slice, by kind of step, as written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of times, as in { read = 10, write = 10 }")]
pub struct SecondsFile {
    /// Steps that change no row.
    pub read: Option<f64>,
    /// Steps that change rows.
    pub write: Option<f64>,
    /// The insert step.
    pub insert: Option<f64>,
    /// The warm-up before each step, not counted.
    pub warm_up: Option<f64>,
    /// Upper bound for steps with a time of their own (the warming scans).
    pub fixed_at_most: Option<f64>,
    /// Insert Benchmark: each step that queries.
    pub query: Option<f64>,
    /// Insert Benchmark: how long the server is left alone after l.i2.
    pub wait: Option<f64>,
    /// Insert Benchmark: how long a connection holds each of its transactions open.
    pub hold: Option<f64>,
}

/// The schedule as written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the table [schedule]")]
pub struct ScheduleFile {
    /// `interleaved` or `sequential`; when absent, interleaved for several systems that rqps runs.
    pub mode: Option<String>,
    /// Length of a slice in an interleaved schedule: `20ms`; `auto` for the best that a calibration found.
    pub slice: Option<String>,
    /// Slices per step and system; interleaved, the time of so many slices.
    pub slices: Option<u32>,
    /// Longest time that a step is measured on each system, all starts together, in place of `slices`: `60s`.
    pub budget: Option<String>,
    /// Time of the whole run once its servers are there, divided among the steps, in place of `budget`: `20m`.
    pub time: Option<String>,
    /// A step ends when the half-width of every candidate's rQPS is at most this: `1%`. Not one of the
    /// Insert Benchmark.
    pub precision: Option<String>,
    /// On how many starts of the servers each step is measured, on the same data; its time is divided among them.
    pub starts: Option<u32>,
    /// How many times everything is measured, each time on new data.
    pub loads: Option<u32>,
    /// `auto`, `free`, `split` or `paired`.
    pub placement: Option<String>,
    /// Seed of all randomness; drawn when absent, and recorded.
    pub seed: Option<u64>,
}

impl Plan {
    /// The plan as a file with every default written out and no password: what is stored with a
    /// run, and what two runs of the same plan have in common.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let file = PlanFile {
            name: Some(self.name.clone()),
            base: Some(self.systems[self.base].label.0.clone()),
            // What is as usual stays unwritten: plans of older runs can then still be resumed.
            null: None,
            audit: unusual(&self.audit),
            system: self.systems.iter().map(SystemFile::of).collect(),
            suite: self.suites.iter().map(SuiteFile::of).collect(),
            schedule: ScheduleFile::of(self),
            profile: self.profiling.as_ref().map(ProfilingFile::of),
        };
        // These types are tables of plain values, which TOML can always write.
        toml::to_string(&file).unwrap_or_default()
    }
}

impl SystemFile {
    fn of(spec: &rqps_model::SystemSpec) -> Self {
        let mut file = Self {
            label: Some(spec.label.0.clone()),
            dbms: Some(spec.dbms.to_string()),
            engine: Some(spec.engine.to_string()),
            config: Some(spec.config.clone()),
            options: spec
                .options
                .iter()
                .map(|(name, value)| (name.clone(), OptionValue::Text(value.clone())))
                .collect(),
            transport: Some(spec.transport),
            // What is as usual stays unwritten: plans of older runs can then still be resumed.
            malloc: unusual(&spec.variant.malloc),
            durability: unusual(&spec.variant.durability),
            compression: unusual(&spec.variant.compression),
            memory: spec.variant.limits.memory_bytes.map(|bytes| bytes.to_string()),
            cpus: spec.variant.limits.cpus.as_ref().map(ToString::to_string),
            injected_slowdown: Some(f64::from(spec.variant.injected_slowdown_bp) / 100.0)
                .filter(|pct| *pct > 0.0),
            sql_after_load: spec.variant.sql_after_load.clone(),
            null_arm: spec.is_null_arm.then_some(true),
            ..Self::default()
        };
        match &spec.source {
            SystemSource::Catalogue { version, build } => {
                file.version = Some(version.to_string());
                file.build.clone_from(build);
            }
            SystemSource::Basedir { path } => file.basedir = Some(path.clone()),
            SystemSource::External { dsn } => {
                file.dsn = Some(dsn.clone());
                (file.config, file.transport) = (None, None);
            }
            SystemSource::Builtin | SystemSource::Imported => {}
        }
        if spec.source == SystemSource::Builtin {
            (file.engine, file.config, file.transport) = (None, None, None);
        }
        file
    }
}

fn unusual<T: Default + PartialEq + ToString>(value: &T) -> Option<String> {
    (*value != T::default()).then(|| value.to_string())
}
