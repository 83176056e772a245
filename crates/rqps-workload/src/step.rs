//! Steps of a suite: what an event runs, with how many clients, for how long, and what reports say.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use rqps_client::Protocol;
use rqps_model::{Figure, Group, StepInfo, StepKind};
use serde::{Deserialize, Serialize};

use crate::populate::LoadCut;
use crate::statement::{Source, Statement, Verb};
use crate::{Distribution, SuiteArgs};

/// A statement of an event, and how often it runs in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventStatement {
    /// The statement.
    pub statement: Arc<Statement>,
    /// How often.
    pub times: u32,
}

/// How many clients run a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clients {
    /// Each number of clients in the suite's arguments, one after the other.
    #[default]
    Each,
    /// As many as there are tables, once.
    Tables,
}

/// A step's place in the short form of its suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Short {
    /// Excluded.
    #[default]
    No,
    /// Run; its rate is reported.
    Figure,
    /// Run because other steps need it; reported under `Other`.
    Run,
}

/// Whether ids 1 to rows all exist when a step runs in its place in the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rows {
    /// Nothing deletes before the step or in it, or what it deletes comes back within a transaction.
    Whole {
        /// A row may be missing for a moment outside a transaction, so that the ids are only there
        /// as long as transactions are used.
        needs_trx: bool,
    },
    /// Rows have been deleted for good.
    Thinned,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Unique in its suite: `point-query.pre`, `random-points_range=100`.
    pub name: String,
    /// The name without arguments.
    pub family: String,
    /// Range size or in-list length.
    pub n: Option<u32>,
    /// What kind of work it does.
    pub kind: StepKind,
    /// The group it is reported in.
    pub group: Group,
    /// What its rate counts.
    pub figure: Figure,
    /// The statements of an event, in order; empty for the load and the indexes.
    pub event: Vec<EventStatement>,
    /// Whether an event is a transaction.
    pub transaction: bool,
    /// How many clients run it.
    pub clients: Clients,
    /// A time of its own, seconds, in place of the one for its kind.
    pub fixed_s: Option<u32>,
    /// A distribution of its own.
    pub distribution: Option<Distribution>,
    /// The number of rows from which ids are drawn, in place of all.
    pub rows: Option<u64>,
    /// Whether the server is settled after it.
    pub settle: bool,
    /// Whether every selection of steps includes it.
    pub always: bool,
    /// Names of earlier steps that it needs.
    pub needs: Vec<String>,
    /// Its place in the short form.
    pub short: Short,
    /// Whether ids 1 to rows all exist.
    pub table: Rows,
}

impl Step {
    /// The numbers of clients that it runs with, one after the other.
    ///
    /// The load runs once, over tables and, where there are more clients than tables, over parts of
    /// tables.
    #[must_use]
    pub fn clients(&self, args: &SuiteArgs) -> Vec<u32> {
        let most = args.clients.iter().copied().max().unwrap_or(1);
        match (self.kind, self.clients) {
            (StepKind::Load, _) => vec![most.max(args.tables)],
            (StepKind::Index, _) => vec![args.tables],
            (_, Clients::Each) => args.clients.clone(),
            (_, Clients::Tables) => vec![args.tables],
        }
    }

    /// How long a slice of it takes; zero for the load and the indexes, which end when their work is done.
    #[must_use]
    pub fn slice_time(&self, args: &SuiteArgs) -> Duration {
        let times = &args.times;
        match (self.fixed_s, self.kind) {
            (_, StepKind::Load | StepKind::Index) => Duration::ZERO,
            (Some(s), _) => Duration::from_secs(u64::from(s)).min(times.fixed_at_most),
            (None, StepKind::Read | StepKind::WarmUp) => times.read,
            (None, StepKind::Write | StepKind::Mixed) => times.write,
            (None, StepKind::Insert) => times.insert,
        }
    }

    /// The distribution of its ids: its own, else the suite's, else uniform.
    #[must_use]
    pub fn distribution(&self, args: &SuiteArgs) -> Distribution {
        self.distribution.or(args.distribution).unwrap_or_default()
    }

    /// The number of rows from which its ids are drawn.
    #[must_use]
    pub fn rows(&self, args: &SuiteArgs) -> u64 {
        self.rows.unwrap_or(args.rows).min(args.rows)
    }

    /// Whether its events are transactions.
    #[must_use]
    pub fn is_transaction(&self, args: &SuiteArgs) -> bool {
        self.transaction && !args.skip_trx
    }

    /// Whether one of its statements deletes.
    #[must_use]
    pub fn deletes(&self) -> bool {
        self.event.iter().any(|part| part.statement.verb == Verb::Delete)
    }

    /// Whether it deletes rows for good: a DELETE that no INSERT of the same id makes up for.
    #[must_use]
    pub(crate) fn thins(&self) -> bool {
        let n = |wanted: fn(&Statement) -> bool| -> u32 {
            self.event.iter().filter(|part| wanted(&part.statement)).map(|part| part.times).sum()
        };
        let puts_back =
            |s: &Statement| s.verb == Verb::Insert && s.params.contains(&Source::SameId);
        n(|s| s.verb == Verb::Delete) > n(puts_back)
    }

    /// Whether every id from 1 to rows is known to exist while it runs, so that the number of rows
    /// that a statement gives can be checked.
    ///
    /// Without transactions, or without a unique id, a delete and its insert can lose a row or make
    /// it two where clients meet.
    #[must_use]
    pub fn is_whole(&self, args: &SuiteArgs) -> bool {
        match self.table {
            Rows::Whole { needs_trx } => !(needs_trx && (args.skip_trx || args.secondary)),
            Rows::Thinned => false,
        }
    }

    /// The step's facts for reports.
    #[must_use]
    pub fn info(&self, args: &SuiteArgs) -> StepInfo {
        StepInfo {
            name: self.name.clone(),
            family: self.family.clone(),
            n: self.n,
            kind: self.kind,
            group: self.group,
            figure: self.figure,
            what: self.what(args),
        }
    }

    /// The statements and arguments in a sentence.
    fn what(&self, args: &SuiteArgs) -> String {
        let (tables, rows) = (args.tables, args.rows);
        let size = format!("{tables} table{} of {rows} rows", if tables == 1 { "" } else { "s" });
        match self.kind {
            StepKind::Load => {
                let clients = self.clients(args).first().copied().unwrap_or(1);
                let cut = LoadCut::of(tables, rows, clients);
                let of_insert = rows.div_ceil(cut.inserts_per_table);
                return format!("Fills {size} without index k, {of_insert} rows per INSERT.");
            }
            StepKind::Index => {
                return format!(
                    "Creates index k on {size}, all tables at once; the rate counts the rows of the tables."
                );
            }
            _ => {}
        }
        let mut text = "An event is ".to_owned();
        let transaction = self.is_transaction(args);
        if transaction {
            text.push_str("BEGIN; ");
        }
        for (idx, part) in self.event.iter().enumerate() {
            let sql = &part.statement.sql;
            let sql = sql.replace("{table}", "t").replace("{list}", "n values");
            let _ = write!(text, "{}", if idx > 0 { "; " } else { "" });
            if part.times > 1 {
                let _ = write!(text, "{} times ", part.times);
            }
            text.push_str(&sql);
        }
        if transaction {
            text.push_str("; COMMIT");
        }
        if self.event.iter().any(|part| part.statement.needs_n())
            && let Some(n) = self.n
        {
            let _ = write!(text, " with n = {n}");
        }
        let draws =
            |source: &Source| matches!(source, Source::Id | Source::Ids | Source::K | Source::Ks);
        if self.event.iter().any(|part| part.statement.params.iter().any(draws)) {
            let (distribution, rows) = (self.distribution(args), self.rows(args));
            let _ = write!(text, "; values {distribution} over 1 to {rows}");
        }
        let always_text = self.event.iter().all(|part| part.statement.always_text);
        let prepared = args.protocol == Protocol::Prepared && !always_text;
        let how = if prepared { "prepared statements" } else { "text protocol" };
        let _ = write!(text, "; {how}; {size}.");
        text
    }
}
