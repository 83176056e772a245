//! Plans as written: the TOML file, key by key, and back.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use rqps_model::{BuildType, SourceBuild, SourceOrigin, SystemSource, Transport};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Plan, ProfilingFile};

/// A plan as written.
///
/// The doc comments of these types are the comments of the plan in docs/reference/plan.md.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Name of the plan, shown in lists of runs. Default: made of the labels.
    pub name: Option<String>,
    /// Label of the system that the others are compared with. Default: the first system.
    pub base: Option<String>,
    /// Measure the base twice, as two servers (null arm). Each report then shows base against base. Default: false.
    pub null: Option<bool>,
    /// What a severe difference between the systems does: "warn" reports it, "strict" refuses the run.
    /// Default: "warn".
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
    /// Stack profiles: `profile = true` for all steps, or a table of steps and time. Default: false.
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table [[system]]")]
pub struct SystemFile {
    /// Name of the system in reports. Default: made of DBMS, version and configuration.
    pub label: Option<String>,
    /// "mysql", "mariadb" or "postgres". Not needed with dsn. "null" is a client that answers itself: it measures
    /// rqps, and has no other key but label.
    pub dbms: Option<String>,
    /// A version that `rqps servers list` shows. Each system has one of version, basedir, repo, source and dsn.
    pub version: Option<String>,
    /// The build of that version, such as "debian". Default: the first that `rqps servers list` shows. With repo or
    /// source: "release", or "debug" with assertions. Default: "release".
    pub build: Option<String>,
    /// Directory of an installed server or of an own build.
    pub basedir: Option<PathBuf>,
    /// Git repository with the source of a server, which rqps builds. The repository itself is only read.
    pub repo: Option<PathBuf>,
    /// Commit of repo: a hash, a tag, a branch, or a revision such as "REL_17_STABLE~3". Needed with repo.
    pub commit: Option<String>,
    /// Directory with the source of a server, which rqps builds as the files are, without a commit.
    pub source: Option<PathBuf>,
    /// File with a recipe for repo or source. Default: rqps's own for that DBMS and version.
    pub recipe: Option<PathBuf>,
    /// C compiler for repo or source, such as "gcc-12" or "clang"; its C++ compiler follows. Default: "cc".
    pub cc: Option<String>,
    /// Options of the compilers for repo or source, such as "-O3 -fno-omit-frame-pointer". Default: the recipe's.
    pub cflags: Option<String>,
    /// Whether repo or source is optimised at link time. Default: false.
    pub lto: Option<bool>,
    /// Patches that are applied to repo or source, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<PathBuf>,
    /// Hash of the files of source, as a run keeps it.
    #[cfg_attr(test, schemars(skip))]
    pub tree: Option<String>,
    /// Address of a running server. rqps neither configures nor starts it: keys marked with * are refused.
    pub dsn: Option<String>,
    /// Storage engine: "innodb" or "rocksdb"; PostgreSQL has "heap". Default: InnoDB, or heap.
    pub engine: Option<String>,
    /// Configuration profile, or path of a configuration file. * Default: "small".
    pub config: Option<String>,
    /// Single options, in addition to config. *
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, OptionValue>,
    /// Connections: "socket", "tcp" or "tls". * Default: "socket".
    #[cfg_attr(test, schemars(with = "String"))]
    pub transport: Option<Transport>,
    /// Allocator: "build" (as built), "system", "jemalloc", "tcmalloc" or "mimalloc". * Default: "build".
    pub malloc: Option<String>,
    /// Commits: "relaxed" (no sync per commit) or "full". * Default: "relaxed".
    pub durability: Option<String>,
    /// InnoDB: "none", "row", "page-zlib", "page-lz4" or "page-snappy". MyRocks: "none", "snappy", "lz4", "zlib",
    /// "zstd", or a pair such as "lz4+zstd" for the middle and the last level. Default: "none".
    pub compression: Option<String>,
    /// Memory limit, page cache included, such as "512M" or "2G". * Default: none.
    pub memory: Option<String>,
    /// CPUs that the server may use, such as "0-3,6". * Default: all that rqps may use.
    pub cpus: Option<String>,
    /// Percent of the measured time, 0.01 to 50, during which rqps stops the server: a slowdown of known size. *
    /// Default: 0.
    pub injected_slowdown: Option<f64>,
    /// Statements that are executed once on this system, after the load. Not for the Insert Benchmark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sql_after_load: Vec<String>,
    /// Whether it is the base once more: what `null = true` of a plan adds.
    #[cfg_attr(test, schemars(skip))]
    pub null_arm: Option<bool>,
}

/// An option's value as TOML lets one write it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table [[suite]]")]
pub struct SuiteFile {
    /// Prefix of its step names, as in NAME/point-query. Needed where a plan has several suites.
    pub name: Option<String>,
    /// "sysbench", "insert" (the Insert Benchmark), "vector" (vector search), or the path of a suite file. Default:
    /// "sysbench".
    pub kind: Option<String>,
    /// "tiny", "small" or "medium": rows, tables and times, unless their own keys are set. Default: "small". A
    /// default that depends on the size is written as tiny / small / medium.
    pub size: Option<String>,
    /// "short" has the 32 steps of the Small Datum blog, "full" all. Not for the Insert Benchmark. Default: "short".
    pub form: Option<String>,
    /// Number of tables, 1 to 1000. Not for the Insert Benchmark. Default: 1 / 1 / 4.
    pub tables: Option<u32>,
    /// Rows of each table, 1 to 2147483647. Default: 100,000 / 1,000,000 / 5,000,000. Insert Benchmark: rows after
    /// l.i0, 5000 or more; default: 200,000 / 2,000,000 / 20,000,000.
    pub rows: Option<u64>,
    /// Insert Benchmark: rows that l.i1 and l.i2 insert into each table, and delete; at least 20 statements of each
    /// client. Default: 50,000 / 400,000 / 4,000,000.
    pub rows_later: Option<u64>,
    /// Insert Benchmark: rows per transaction of l.i0, of l.i1, of l.i2, and of the query steps, each 1 to 10,000.
    /// Default: [100, 50, 5, 50].
    pub rows_per_commit: Option<[u32; 4]>,
    /// Insert Benchmark: rows per second that each client inserts and deletes during query steps. Each rate has two
    /// steps. Default: [100, 500, 1000].
    pub rates: Option<Vec<u32>>,
    /// Insert Benchmark: all clients use one table. Default: false, one table per client.
    pub shared_table: Option<bool>,
    /// Insert Benchmark: range partitions of each table, 2 to 1024, or 0 for none. Default: 0.
    pub partitions: Option<u32>,
    /// Insert Benchmark: MyRocks loads in bulk. Default: false.
    pub bulk_load: Option<bool>,
    /// Vector search: the file of the vectors, as .hdf5 of ann-benchmarks, .fvecs, .bvecs or .idx. Default: they are
    /// drawn.
    pub data: Option<PathBuf>,
    /// Vector search: the file of the queries, where `data` has none.
    pub query_data: Option<PathBuf>,
    /// Vector search: the file of each query's neighbours, as .ivecs, which are compared with the exact ones.
    pub neighbour_data: Option<PathBuf>,
    /// Vector search: how many vectors are drawn, or taken of the file. Default: 5,000 / 50,000 / 500,000, of files all.
    pub vectors: Option<usize>,
    /// Vector search: how many queries are drawn, or taken of the file. Default: 1000, of files all.
    pub queries: Option<usize>,
    /// Vector search: components of vectors that are drawn, 1 to 16383. Default: 64 / 128 / 256.
    pub dimension: Option<usize>,
    /// Vector search: clusters of vectors that are drawn. Default: 100.
    pub clusters: Option<usize>,
    /// Vector search: "euclidean", "cosine" or "inner-product". Default: that of the file, else "euclidean".
    pub distance: Option<String>,
    /// Vector search: nearest neighbours that a query asks for, 1 to 1000. Default: 10.
    pub k: Option<u32>,
    /// Vector search: links per node of each HNSW index, 3 to 100. Default: [16].
    pub m: Option<Vec<u32>>,
    /// Vector search: candidates of an insert into an HNSW index of pgvector, at least twice m. Default: 64, or twice m.
    pub ef_construction: Option<u32>,
    /// Vector search: candidates of a search, 1 to 1000. Default: [10, 20, 40, 80, 160, 320].
    pub ef_search: Option<Vec<u32>>,
    /// Vector search: lists of each IVFFlat index of pgvector, 1 to 32768. Default: none.
    pub lists: Option<Vec<u32>>,
    /// Vector search: lists that a search looks at. Default: [1, 2, 5, 10, 20, 50], as far as there are lists.
    pub probes: Option<Vec<u32>>,
    /// Copy the tables that an earlier run filled in the same way, or store them for later runs. Default: false.
    pub reuse_tables: Option<bool>,
    /// "prepared" or "text": the protocol of statements. Default: "prepared"; the Insert Benchmark uses both, as the
    /// original client does.
    pub protocol: Option<String>,
    /// Numbers of clients, 1 to 4096. Each step runs with each number. The Insert Benchmark takes one, up to 1024.
    /// Default: [1].
    pub clients: Option<Vec<u32>>,
    /// Steps, by name or glob. Steps that these need are added. Default: all of the form.
    pub steps: Option<Vec<String>>,
    /// Events per second of all clients together, 0.001 to 1e9. Response times then count from the intended start.
    /// Not for the Insert Benchmark. Default: no limit.
    pub rate: Option<f64>,
    /// Times in seconds.
    #[serde(default)]
    pub seconds: SecondsFile,
}

/// Seconds of a slice, by kind of step, as written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table of times, as in { read = 10, write = 10 }")]
pub struct SecondsFile {
    /// Steps that read, above 0, up to 604,800 (a week). With slices = 6, each is measured for six times this long on each
    /// system. Default: 1 / 10 / 10.
    pub read: Option<f64>,
    /// Steps that write. Default: 1 / 10 / 10.
    pub write: Option<f64>,
    /// The step that inserts. Default: 1 / 10 / 10.
    pub insert: Option<f64>,
    /// Warm-up before a step, which is not counted. Default: 1 / 5 / 5.
    pub warm_up: Option<f64>,
    /// Upper limit for steps with a time of their own, such as the scans that warm caches. Default: 1 / 20 / 60.
    pub fixed_at_most: Option<f64>,
    /// Insert Benchmark: query steps, 1 or more. Default: 3 / 30 / 300.
    pub query: Option<f64>,
    /// Insert Benchmark: pause after l.i2. Default: 1 s per 100,000 rows, from 5 s to 20 minutes.
    pub wait: Option<f64>,
    /// Insert Benchmark: one more connection holds each transaction open for so long, with a snapshot, during query
    /// steps. Default: no such connection.
    pub hold: Option<f64>,
}

/// The schedule as written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "the table [schedule]")]
pub struct ScheduleFile {
    /// "interleaved": systems alternate in slices of milliseconds. "sequential": one system after the other. Default:
    /// interleaved for several systems that rqps starts.
    pub mode: Option<String>,
    /// Interleaved: length of a slice, "20ms" to "5000ms", or "auto" for the length that `rqps calibrate` found best.
    /// Default: "20ms".
    pub slice: Option<String>,
    /// Measured time of a step on each system, as a number of `seconds` of the suite, 1 to 1000. Instead of budget or
    /// time. Default: 6.
    pub slices: Option<u32>,
    /// Interleaved: longest measured time of a step on each system, "1s" to "24h". All starts share it. Instead of
    /// slices or time.
    pub budget: Option<String>,
    /// Interleaved: time of the whole run, downloads excluded, such as "20m" or "2h". Steps share it. Instead of slices
    /// or budget. A run may exceed it where tables are large: servers rest and read them after each start.
    pub time: Option<String>,
    /// Interleaved: a step ends when the noise of its blocks gives all its ratios this half-width, "0.1%" to "50%";
    /// starts add to it. Not for the Insert Benchmark. Default: none; "1%" with time.
    pub precision: Option<String>,
    /// Starts of the servers on the same data, 1 to 100. The time of a step is divided among them. Default: 4 where
    /// rqps starts all servers, else 1.
    pub starts: Option<u32>,
    /// How often everything is measured, each time on new data, 1 to 100. Default: 1.
    pub loads: Option<u32>,
    /// CPUs of clients and server threads: "free", "split" (halves), "paired" (a client and its server thread share a
    /// CPU), or "auto". Default: "auto".
    pub placement: Option<String>,
    /// Seed of all randomness, 0 to 2^63 - 1. Default: drawn, and recorded.
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
            SystemSource::Built(how) => file.set_build(how),
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

impl SystemFile {
    fn set_build(&mut self, how: &SourceBuild) {
        match &how.origin {
            SourceOrigin::Commit { repo, revision, hash } => {
                self.repo = Some(repo.clone());
                self.commit = Some(hash.as_ref().unwrap_or(revision).clone());
            }
            SourceOrigin::Directory { dir, tree } => {
                self.source = Some(dir.clone());
                self.tree.clone_from(tree);
            }
        }
        self.recipe.clone_from(&how.recipe);
        self.cc.clone_from(&how.cc);
        self.cflags.clone_from(&how.cflags);
        self.lto = how.lto.then_some(true);
        self.build = (how.build == BuildType::Debug).then(|| "debug".to_owned());
        self.patches.clone_from(&how.patches);
    }
}

fn unusual<T: Default + PartialEq + ToString>(value: &T) -> Option<String> {
    (*value != T::default()).then(|| value.to_string())
}
