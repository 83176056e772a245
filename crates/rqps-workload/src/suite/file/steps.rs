//! `[[step]]` entries: one step for each n, with its event put together from the statements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rqps_model::{Figure, Group, StepKind};
use serde::Deserialize;
use toml::Spanned;

use super::File;
use crate::kind::kind_name;
use crate::statement::{Source, Statement, Verb};
use crate::step::{Clients, EventStatement, Rows, Short, Step};
use crate::{Distribution, SuiteError};

/// The kinds of steps that statements of a file can do.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Load,
    Index,
    Read,
    Write,
    Insert,
    WarmUp,
}

impl From<Kind> for StepKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Load => Self::Load,
            Kind::Index => Self::Index,
            Kind::Read => Self::Read,
            Kind::Write => Self::Write,
            Kind::Insert => Self::Insert,
            Kind::WarmUp => Self::WarmUp,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepEntry {
    pub(super) family: Spanned<String>,
    n: Option<Spanned<Vec<u32>>>,
    pub(super) kind: Spanned<Kind>,
    #[serde(default = "other")]
    group: Group,
    figure: Option<Spanned<Figure>>,
    #[serde(default)]
    event: Vec<Spanned<String>>,
    #[serde(default)]
    transaction: bool,
    #[serde(default)]
    clients: Clients,
    seconds: Option<Spanned<u32>>,
    distribution: Option<Distribution>,
    rows: Option<Spanned<u64>>,
    #[serde(default)]
    settle: bool,
    #[serde(default)]
    always: bool,
    #[serde(default)]
    needs: Vec<Spanned<String>>,
    #[serde(default)]
    short: Short,
}

fn other() -> Group {
    Group::Other
}

impl StepEntry {
    /// What its rate counts: what it says, else rows where tables are made, else queries.
    fn figure(&self) -> Figure {
        match (&self.figure, self.kind.get_ref()) {
            (Some(figure), _) => *figure.get_ref(),
            (None, Kind::Load) => Figure::RowsInserted,
            (None, Kind::Index) => Figure::RowsIndexed,
            (None, _) => Figure::Queries,
        }
    }
}

/// Turns the entries into steps, in order.
pub(super) fn read_steps(
    file: &File<'_>,
    statements: &BTreeMap<String, Arc<Statement>>,
    entries: Vec<StepEntry>,
) -> Result<Vec<Step>, SuiteError> {
    let mut n_of_family: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for entry in &entries {
        let ns = n_of_family.entry(entry.family.get_ref().clone()).or_default();
        ns.extend(entry.n.iter().flat_map(|n| n.get_ref()));
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut table = Rows::Whole { needs_trx: false };
    for (idx, entry) in entries.into_iter().enumerate() {
        check_step(file, &entry, idx)?;
        for needed in &entry.needs {
            if !steps.iter().any(|step| step.name == *needed.get_ref()) {
                let problem = format!("no earlier step is named {:?}", needed.get_ref());
                return Err(file.wrong(needed, "needs", problem, "name an earlier step"));
            }
        }
        let event = read_event(file, statements, &entry)?;
        let several = n_of_family.get(entry.family.get_ref()).is_some_and(|ns| ns.len() > 1);
        let ns: Vec<Option<u32>> = match &entry.n {
            Some(ns) => ns.get_ref().iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let last = ns.len();
        for (nth, n) in ns.into_iter().enumerate() {
            let mut step = one_step(&entry, n, several, event.clone());
            step.settle = entry.settle && nth + 1 == last;
            table = after(table, &step);
            step.table = table;
            if steps.iter().any(|other| other.name == step.name) {
                let problem = format!("step {:?} is defined twice", step.name);
                let remedy = "give it another family or n";
                return Err(file.wrong(&entry.family, "family", problem, remedy));
            }
            steps.push(step);
        }
    }
    Ok(steps)
}

/// What is left of the ids while a step runs, and after it.
fn after(table: Rows, step: &Step) -> Rows {
    match table {
        Rows::Whole { .. } if step.thins() => Rows::Thinned,
        Rows::Whole { .. } if step.deletes() && !step.transaction => Rows::Thinned,
        Rows::Whole { needs_trx } => Rows::Whole { needs_trx: needs_trx || step.deletes() },
        Rows::Thinned => Rows::Thinned,
    }
}

fn one_step(entry: &StepEntry, n: Option<u32>, several: bool, event: Vec<EventStatement>) -> Step {
    let family = entry.family.get_ref().clone();
    let name = match n {
        Some(n) if several => format!("{family}_range={n}"),
        _ => family.clone(),
    };
    Step {
        name,
        family,
        n,
        kind: (*entry.kind.get_ref()).into(),
        group: entry.group,
        figure: entry.figure(),
        event,
        transaction: entry.transaction,
        clients: entry.clients,
        fixed_s: entry.seconds.as_ref().map(|s| *s.get_ref()),
        distribution: entry.distribution,
        rows: entry.rows.as_ref().map(|rows| *rows.get_ref()),
        settle: entry.settle,
        always: entry.always,
        needs: entry.needs.iter().map(|name| name.get_ref().clone()).collect(),
        short: entry.short,
        table: Rows::Whole { needs_trx: false },
    }
}

/// Refuses impossible values, before the step's statements are checked.
fn check_step(file: &File<'_>, entry: &StepEntry, idx: usize) -> Result<(), SuiteError> {
    let name = entry.family.get_ref();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        let remedy = "use small letters, digits, `-`, `_` and `.`";
        let problem = format!("{name:?} is not a valid name");
        return Err(file.wrong(&entry.family, "family", problem, remedy));
    }
    let kind = *entry.kind.get_ref();
    for (special, nth) in [(Kind::Load, 0), (Kind::Index, 1)] {
        if (kind == special) != (idx == nth) {
            let problem = "only the first step is a load, and only the second creates indexes";
            let remedy = "begin with a step of kind \"load\" and a step of kind \"index\"";
            return Err(file.wrong(&entry.kind, "kind", problem, remedy));
        }
    }
    let makes_tables = matches!(kind, Kind::Load | Kind::Index);
    if makes_tables != entry.event.is_empty() {
        let (problem, remedy) = if makes_tables {
            ("a step that fills or indexes tables has no event", "leave `event` out")
        } else {
            ("the step has no event", "list the names of statements in `event`")
        };
        return Err(file.wrong(&entry.family, "event", problem, remedy));
    }
    if makes_tables && entry.group != Group::Other {
        let problem = "a step that fills or indexes tables has no group";
        return Err(file.wrong(&entry.family, "group", problem, "leave `group` out"));
    }
    if let Some(figure) = &entry.figure {
        let fits = match kind {
            Kind::Load => *figure.get_ref() == Figure::RowsInserted,
            Kind::Index => *figure.get_ref() == Figure::RowsIndexed,
            _ => matches!(figure.get_ref(), Figure::Queries | Figure::RowsRead),
        };
        if !fits {
            let counted = figure.get_ref().unit().trim_end_matches("/s");
            let kind = kind_name(kind.into());
            let problem = format!("a step of kind {kind} cannot count {counted}");
            let remedy = "leave `figure` out: the load and the indexes count rows, other steps \
                          count queries";
            return Err(file.wrong(figure, "figure", problem, remedy));
        }
    }
    if let Some(n) = &entry.n
        && (n.get_ref().is_empty() || n.get_ref().iter().any(|n| !(1..=30_000).contains(n)))
    {
        let problem = format!("{:?} is out of range", n.get_ref());
        return Err(file.wrong(n, "n", problem, "give numbers from 1 to 30000"));
    }
    if let Some(rows) = entry.rows.as_ref().filter(|rows| *rows.get_ref() == 0) {
        return Err(file.wrong(rows, "rows", "0 is out of range", "give 1 or more"));
    }
    if let Some(seconds) = entry.seconds.as_ref().filter(|seconds| *seconds.get_ref() == 0) {
        return Err(file.wrong(seconds, "seconds", "0 is out of range", "give 1 or more"));
    }
    Ok(())
}

/// Reads `point` and `point * 10`.
fn read_event(
    file: &File<'_>,
    statements: &BTreeMap<String, Arc<Statement>>,
    entry: &StepEntry,
) -> Result<Vec<EventStatement>, SuiteError> {
    let mut event = Vec::new();
    // What the statements before have drawn: an id, a value of k.
    let (mut has_id, mut has_k) = (false, false);
    for item in &entry.event {
        let (name, times) = match item.get_ref().split_once('*') {
            Some((name, times)) => (name.trim(), times.trim().parse().unwrap_or(0)),
            None => (item.get_ref().trim(), 1_u32),
        };
        if !(1..=10_000).contains(&times) {
            let problem = format!("{:?} has no valid count", item.get_ref());
            return Err(file.wrong(item, "event", problem, "write \"name * 10\", up to 10000"));
        }
        let Some(statement) = statements.get(name) else {
            let problem = format!("statement {name:?} is not defined");
            let known: Vec<&str> = statements.keys().map(String::as_str).collect();
            let remedy = format!("defined statements: {}", known.join(", "));
            return Err(file.wrong(item, "event", problem, remedy));
        };
        for source in &statement.params {
            let missing = match source {
                Source::SameId | Source::IdPlusNLess1 | Source::IdPlusN => !has_id,
                Source::KPlusN => !has_k,
                _ => false,
            };
            if missing {
                let problem = format!("{name}: {:?} comes before any id or k", source.name());
                return Err(file.wrong(item, "event", problem, "draw an id or a k before it"));
            }
            has_id |= *source == Source::Id;
            has_k |= *source == Source::K;
        }
        if statement.needs_n() && entry.n.is_none() {
            let problem = format!("statement {name} needs n, but the step has none");
            return Err(file.wrong(item, "event", problem, "write n = [100]"));
        }
        let reads = matches!(entry.kind.get_ref(), Kind::Read | Kind::WarmUp);
        if reads && statement.verb != Verb::Select {
            let problem = format!("statement {name} writes, but a step of this kind only reads");
            return Err(file.wrong(item, "event", problem, "write kind = \"write\" or \"insert\""));
        }
        event.push(EventStatement { statement: Arc::clone(statement), times });
    }
    if let Some(figure) = &entry.figure
        && *figure.get_ref() == Figure::RowsRead
        && event.len() != 1
    {
        let problem = "rows read are counted for a single scan only";
        return Err(file.wrong(figure, "figure", problem, "leave `figure` out to count queries"));
    }
    Ok(event)
}
