//! Suites of a plan: what is written, and what it means.

use std::time::Duration;

use rqps_client::Protocol;
use rqps_workload::insert::{InsertProtocol, InsertSize};
use rqps_workload::{Form, InsertArgs, Size, SuiteArgs, SuiteError};

use super::{Refusal, SecondsFile, SuiteFile, SuitePlan, SuiteWork, no_such_word, unknown_word};

/// The Insert Benchmark's name.
const INSERT: &str = "insert";

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
        let is_insert = kind == INSERT;
        for (key, written, of_insert) in [
            ("form", self.form.is_some(), false),
            ("tables", self.tables.is_some(), false),
            ("rate", self.rate.is_some(), false),
            ("seconds.read", self.seconds.read.is_some(), false),
            ("seconds.write", self.seconds.write.is_some(), false),
            ("seconds.insert", self.seconds.insert.is_some(), false),
            ("seconds.warm_up", self.seconds.warm_up.is_some(), false),
            ("seconds.fixed_at_most", self.seconds.fixed_at_most.is_some(), false),
            ("rows_later", self.rows_later.is_some(), true),
            ("rows_per_commit", self.rows_per_commit.is_some(), true),
            ("rates", self.rates.is_some(), true),
            ("shared_table", self.shared_table.is_some(), true),
            ("partitions", self.partitions.is_some(), true),
            ("bulk_load", self.bulk_load.is_some(), true),
            ("seconds.query", self.seconds.query.is_some(), true),
            ("seconds.wait", self.seconds.wait.is_some(), true),
            ("seconds.hold", self.seconds.hold.is_some(), true),
        ] {
            if written && is_insert != of_insert {
                let (has, other) = if of_insert { (&*kind, INSERT) } else { (INSERT, "sysbench") };
                let what = format!("the suite {has:?} has no key {key}");
                return Err((what, format!("leave it out, or write kind = {other:?}")));
            }
        }
        let work = if is_insert {
            let protocol = protocol.map_or(InsertProtocol::Original, InsertProtocol::All);
            SuiteWork::Insert(self.insert(size, protocol)?)
        } else {
            self.file(kind, size, protocol.unwrap_or(Protocol::Prepared))?
        };
        Ok(SuitePlan {
            name: self.name.clone(),
            reuse_tables: self.reuse_tables.unwrap_or(false),
            steps: self.steps.clone().unwrap_or_default(),
            work,
        })
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
