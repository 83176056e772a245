//! Suites of a plan: what is written, and what it means.

use std::time::Duration;

use rqps_client::Protocol;
use rqps_vector::Files;
use rqps_workload::insert::{InsertProtocol, InsertSize};
use rqps_workload::vector::{Index, Source, VectorArgs, VectorSize as _};
use rqps_workload::{Form, InsertArgs, Size, SuiteArgs, SuiteError};

use super::{Refusal, SecondsFile, SuiteFile, SuitePlan, SuiteWork, no_such_word, unknown_word};

/// The Insert Benchmark's name.
const INSERT: &str = "insert";

/// The name of vector search.
const VECTOR: &str = "vector";

/// The kinds of suites, by the keys that they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Insert,
    Vector,
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            INSERT => Self::Insert,
            VECTOR => Self::Vector,
            _ => Self::File,
        }
    }

    /// A suite that has its keys.
    fn example(self) -> &'static str {
        match self {
            Self::File => "sysbench",
            Self::Insert => INSERT,
            Self::Vector => VECTOR,
        }
    }
}

/// Set rates that can be asked for, events per second. Slower than one event in 1000 s is no load; with
/// more than one per nanosecond the starts can no longer be told apart nor the missed ones counted.
pub const RATES: std::ops::RangeInclusive<f64> = 0.001..=1e9;

/// Longest slice or warm-up, s: a week. What is longer is a slip of the pen.
const MAX_SECONDS: f64 = 604_800.0;

impl SuiteFile {
    pub(super) fn resolve(&self) -> Result<SuitePlan, Refusal> {
        let kind = self.kind.clone().unwrap_or_else(|| "sysbench".to_owned());
        let size: Size = match &self.size {
            Some(word) => word.parse().map_err(|e| unknown_word(&e))?,
            None => Size::Small,
        };
        let protocol = match self.protocol.as_deref() {
            None => None,
            Some("prepared") => Some(Protocol::Prepared),
            Some("text") => Some(Protocol::Text),
            Some(other) => return Err(no_such_word("protocol", other, "prepared, text")),
        };
        self.check_keys(&kind)?;
        let work = match Kind::of(&kind) {
            Kind::Insert => {
                let protocol = protocol.map_or(InsertProtocol::Original, InsertProtocol::All);
                SuiteWork::Insert(self.insert(size, protocol)?)
            }
            Kind::Vector => SuiteWork::Vector(self.vector(size)?),
            Kind::File => self.file(kind, size, protocol.unwrap_or(Protocol::Prepared))?,
        };
        Ok(SuitePlan {
            name: self.name.clone(),
            reuse_tables: self.reuse_tables.unwrap_or(false),
            steps: self.steps.clone().unwrap_or_default(),
            work,
        })
    }

    /// Refuses keys that a kind of suite has not.
    fn check_keys(&self, kind: &str) -> Result<(), Refusal> {
        use Kind::{File, Insert, Vector};
        let seconds = &self.seconds;
        for (key, is_written, kinds) in [
            ("form", self.form.is_some(), &[File][..]),
            ("tables", self.tables.is_some(), &[File]),
            ("rows", self.rows.is_some(), &[File, Insert]),
            ("rate", self.rate.is_some(), &[File]),
            ("protocol", self.protocol.is_some(), &[File, Insert]),
            ("reuse_tables", self.reuse_tables == Some(true), &[File, Insert]),
            ("seconds.read", seconds.read.is_some(), &[File, Vector]),
            ("seconds.write", seconds.write.is_some(), &[File]),
            ("seconds.insert", seconds.insert.is_some(), &[File]),
            ("seconds.warm_up", seconds.warm_up.is_some(), &[File, Vector]),
            ("seconds.fixed_at_most", seconds.fixed_at_most.is_some(), &[File]),
            ("rows_later", self.rows_later.is_some(), &[Insert]),
            ("rows_per_commit", self.rows_per_commit.is_some(), &[Insert]),
            ("rates", self.rates.is_some(), &[Insert]),
            ("shared_table", self.shared_table.is_some(), &[Insert]),
            ("partitions", self.partitions.is_some(), &[Insert]),
            ("bulk_load", self.bulk_load.is_some(), &[Insert]),
            ("seconds.query", seconds.query.is_some(), &[Insert]),
            ("seconds.wait", seconds.wait.is_some(), &[Insert]),
            ("seconds.hold", seconds.hold.is_some(), &[Insert]),
            ("data", self.data.is_some(), &[Vector]),
            ("query_data", self.query_data.is_some(), &[Vector]),
            ("neighbour_data", self.neighbour_data.is_some(), &[Vector]),
            ("vectors", self.vectors.is_some(), &[Vector]),
            ("queries", self.queries.is_some(), &[Vector]),
            ("dimension", self.dimension.is_some(), &[Vector]),
            ("clusters", self.clusters.is_some(), &[Vector]),
            ("distance", self.distance.is_some(), &[Vector]),
            ("k", self.k.is_some(), &[Vector]),
            ("m", self.m.is_some(), &[Vector]),
            ("ef_construction", self.ef_construction.is_some(), &[Vector]),
            ("ef_search", self.ef_search.is_some(), &[Vector]),
            ("lists", self.lists.is_some(), &[Vector]),
            ("probes", self.probes.is_some(), &[Vector]),
        ] {
            if is_written && !kinds.contains(&Kind::of(kind)) {
                let what = format!("the suite {kind:?} has no key {key}");
                let others: Vec<String> =
                    kinds.iter().map(|kind| format!("kind = {:?}", kind.example())).collect();
                return Err((what, format!("leave it out, or write {}", others.join(" or "))));
            }
        }
        Ok(())
    }

    fn vector(&self, size: Size) -> Result<VectorArgs, Refusal> {
        let mut args = size.vector_args();
        if let Source::Generated(drawn) = &mut args.source {
            drawn.vectors = self.vectors.unwrap_or(drawn.vectors);
            drawn.queries = self.queries.unwrap_or(drawn.queries);
            drawn.dimension = self.dimension.unwrap_or(drawn.dimension);
            drawn.clusters = self.clusters.unwrap_or(drawn.clusters);
        }
        if let Some(data) = &self.data {
            for (key, is_written) in
                [("dimension", self.dimension.is_some()), ("clusters", self.clusters.is_some())]
            {
                if is_written {
                    let what = format!("{key} is of vectors that are drawn, and data names a file");
                    return Err((what, format!("leave out {key}, or data")));
                }
            }
            args.source = Source::Files(Files {
                vectors: data.clone(),
                queries: self.query_data.clone(),
                neighbours: self.neighbour_data.clone(),
            });
            args.vectors = self.vectors.unwrap_or(0);
            args.queries = self.queries.unwrap_or(0);
        } else if self.query_data.is_some() || self.neighbour_data.is_some() {
            let what = "query_data or neighbour_data without data".to_owned();
            return Err((what, "name the file of the vectors with data".to_owned()));
        }
        args.distance = match &self.distance {
            None => None,
            Some(word) => match word.parse() {
                Ok(distance) => Some(distance),
                Err(problem) => {
                    let _: String = problem;
                    return Err(no_such_word("distance", word, "euclidean, cosine, inner-product"));
                }
            },
        };
        args.k = self.k.unwrap_or(args.k);
        if let Some(clients) = &self.clients {
            args.clients.clone_from(clients);
        }
        args.indexes = self.indexes(&args)?;
        args.read = time_of("read", self.seconds.read)?.unwrap_or(args.read);
        args.warm_up = time_of("warm_up", self.seconds.warm_up)?.unwrap_or(args.warm_up);
        args.check().map_err(refusal)?;
        Ok(args)
    }

    /// The indexes: without a word those of the size, else those that are written.
    fn indexes(&self, usual: &VectorArgs) -> Result<Vec<Index>, Refusal> {
        let mut all = Vec::new();
        let efforts = usual.indexes.iter().find_map(|index| match index {
            Index::Hnsw { ef_search, .. } => Some(ef_search.clone()),
            Index::Ivfflat { .. } => None,
        });
        let links = match (&self.m, &self.lists) {
            (Some(m), _) => m.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![16],
        };
        for (key, is_written, has_index) in [
            ("ef_construction", self.ef_construction.is_some(), !links.is_empty()),
            ("ef_search", self.ef_search.is_some(), !links.is_empty()),
            ("probes", self.probes.is_some(), self.lists.is_some()),
        ] {
            if is_written && !has_index {
                let index = if key == "probes" { "lists" } else { "m" };
                return Err((
                    format!("{key} has no index"),
                    format!("write {index}, or leave out {key}"),
                ));
            }
        }
        for m in links {
            all.push(Index::Hnsw {
                m,
                ef_construction: self.ef_construction.unwrap_or(Index::usual_ef_construction(m)),
                ef_search: self.ef_search.clone().or_else(|| efforts.clone()).unwrap_or_default(),
            });
        }
        let fewest = self.lists.iter().flatten().min().copied().unwrap_or(0);
        for &lists in self.lists.iter().flatten() {
            let usual = || [1, 2, 5, 10, 20, 50].into_iter().filter(|n| *n <= fewest).collect();
            let probes = self.probes.clone().unwrap_or_else(usual);
            all.push(Index::Ivfflat { lists, probes });
        }
        Ok(all)
    }

    fn file(&self, kind: String, size: Size, protocol: Protocol) -> Result<SuiteWork, Refusal> {
        let form = match self.form.as_deref() {
            None | Some("short") => Form::Short,
            Some("full") => Form::Full,
            Some(other) => return Err(no_such_word("form", other, "short, full")),
        };
        let mut args = SuiteArgs { protocol, ..size.args() };
        if let Some(tables) = self.tables {
            args.tables = tables;
        }
        if let Some(rows) = self.rows {
            args.rows = rows;
        }
        if let Some(clients) = &self.clients {
            args.clients.clone_from(clients);
        }
        let seconds = &self.seconds;
        let times = &mut args.times;
        for (key, written, target) in [
            ("read", seconds.read, &mut times.read),
            ("write", seconds.write, &mut times.write),
            ("insert", seconds.insert, &mut times.insert),
            ("warm_up", seconds.warm_up, &mut times.warm_up),
            ("fixed_at_most", seconds.fixed_at_most, &mut times.fixed_at_most),
        ] {
            if let Some(time) = time_of(key, written)? {
                *target = time;
            }
        }
        args.check().map_err(refusal)?;
        if let Some(rate) = self.rate
            && !RATES.contains(&rate)
        {
            let what = format!("rate = {rate:?} is out of range");
            let remedy = format!("write {} to {}, or leave it out", RATES.start(), RATES.end());
            return Err((what, remedy));
        }
        Ok(SuiteWork::File { kind, form, args, rate: self.rate })
    }

    fn insert(&self, size: Size, protocol: InsertProtocol) -> Result<InsertArgs, Refusal> {
        let mut args = InsertArgs { protocol, ..InsertSize::args(size) };
        if let Some(clients) = &self.clients {
            let [clients] = clients.as_slice() else {
                let what = format!("clients = {clients:?}: the suite {INSERT:?} takes one number");
                let remedy = "write one number, and another [[suite]] with its own name for each \
                              other number";
                return Err((what, remedy.to_owned()));
            };
            args.clients = *clients;
        }
        args.rows = self.rows.unwrap_or(args.rows);
        args.rows_later = self.rows_later.unwrap_or(args.rows_later);
        args.rows_per_commit = self.rows_per_commit.unwrap_or(args.rows_per_commit);
        if let Some(rates) = &self.rates {
            args.rates.clone_from(rates);
        }
        args.shared_table = self.shared_table.unwrap_or(args.shared_table);
        args.partitions = self.partitions.unwrap_or(args.partitions);
        args.bulk_load = self.bulk_load.unwrap_or(args.bulk_load);
        args.query_time = time_of("query", self.seconds.query)?.unwrap_or(args.query_time);
        args.wait = time_of("wait", self.seconds.wait)?;
        args.hold = time_of("hold", self.seconds.hold)?;
        args.check().map_err(refusal)?;
        Ok(args)
    }

    /// A suite with every default written out.
    pub(super) fn of(plan: &SuitePlan) -> Self {
        let common =
            Self { name: plan.name.clone(), steps: Some(plan.steps.clone()), ..Self::default() };
        let common = Self { reuse_tables: plan.reuse_tables.then_some(true), ..common };
        let text = |protocol: Protocol| (protocol == Protocol::Text).then(|| "text".to_owned());
        let s = |time: Duration| Some(time.as_secs_f64());
        match &plan.work {
            SuiteWork::File { kind, form, args, rate } => Self {
                kind: Some(kind.clone()),
                form: Some(if *form == Form::Short { "short" } else { "full" }.to_owned()),
                tables: Some(args.tables),
                rows: Some(args.rows),
                clients: Some(args.clients.clone()),
                rate: *rate,
                protocol: text(args.protocol),
                seconds: SecondsFile {
                    read: s(args.times.read),
                    write: s(args.times.write),
                    insert: s(args.times.insert),
                    warm_up: s(args.times.warm_up),
                    fixed_at_most: s(args.times.fixed_at_most),
                    ..SecondsFile::default()
                },
                ..common
            },
            SuiteWork::Vector(args) => Self::of_vector(args, common),
            SuiteWork::Insert(args) => Self {
                kind: Some(INSERT.to_owned()),
                clients: Some(vec![args.clients]),
                rows: Some(args.rows),
                rows_later: Some(args.rows_later),
                rows_per_commit: Some(args.rows_per_commit),
                rates: Some(args.rates.clone()),
                shared_table: args.shared_table.then_some(true),
                partitions: (args.partitions > 0).then_some(args.partitions),
                bulk_load: args.bulk_load.then_some(true),
                protocol: match args.protocol {
                    InsertProtocol::Original => None,
                    InsertProtocol::All(Protocol::Text) => Some("text".to_owned()),
                    InsertProtocol::All(Protocol::Prepared) => Some("prepared".to_owned()),
                },
                seconds: SecondsFile {
                    query: s(args.query_time),
                    wait: args.wait.and_then(s),
                    hold: args.hold.and_then(s),
                    ..SecondsFile::default()
                },
                ..common
            },
        }
    }
}

impl SuiteFile {
    fn of_vector(args: &VectorArgs, common: Self) -> Self {
        let mut file = Self {
            kind: Some(VECTOR.to_owned()),
            distance: args.distance.map(|distance| distance.name().to_owned()),
            k: Some(args.k),
            clients: Some(args.clients.clone()),
            seconds: SecondsFile {
                read: Some(args.read.as_secs_f64()),
                warm_up: Some(args.warm_up.as_secs_f64()),
                ..SecondsFile::default()
            },
            ..common
        };
        match &args.source {
            Source::Files(files) => {
                file.data = Some(files.vectors.clone());
                file.query_data.clone_from(&files.queries);
                file.neighbour_data.clone_from(&files.neighbours);
                file.vectors = (args.vectors > 0).then_some(args.vectors);
                file.queries = (args.queries > 0).then_some(args.queries);
            }
            Source::Generated(drawn) => {
                file.vectors = Some(drawn.vectors);
                file.queries = Some(drawn.queries);
                file.dimension = Some(drawn.dimension);
                file.clusters = Some(drawn.clusters);
            }
        }
        for index in &args.indexes {
            match index {
                Index::Hnsw { m, ef_construction, ef_search } => {
                    file.m.get_or_insert_default().push(*m);
                    file.ef_search = Some(ef_search.clone());
                    // What follows from m is not written: indexes may differ in it.
                    let is_usual = *ef_construction == Index::usual_ef_construction(*m);
                    if !is_usual {
                        file.ef_construction = Some(*ef_construction);
                    }
                }
                Index::Ivfflat { lists, probes } => {
                    file.lists.get_or_insert_default().push(*lists);
                    file.probes = Some(probes.clone());
                }
            }
        }
        file
    }
}

fn refusal(error: SuiteError) -> Refusal {
    match error {
        SuiteError::Argument { key, value, remedy } => (format!("{key} = {value}"), remedy),
        other => (other.to_string(), "see `rqps suites show sysbench`".to_owned()),
    }
}

fn time_of(key: &str, written: Option<f64>) -> Result<Option<Duration>, Refusal> {
    let Some(value) = written else { return Ok(None) };
    let within = Some(value).filter(|v| (0.0..=MAX_SECONDS).contains(v));
    let time = within.and_then(|v| Duration::try_from_secs_f64(v).ok());
    time.map(Some).ok_or_else(|| {
        let what = format!("seconds.{key} = {value:?} is out of range");
        (what, format!("write a number of seconds, 0 to {MAX_SECONDS}"))
    })
}
