//! QPS over runs or versions: one series per step and kind of system, and where it changes its
//! level.
//!
//! A point is the ratio to a base that all runs of the series have in common, else the rate itself.
//! Results of other conditions are excluded and named: another host looks like a change of the
//! server.

mod change;
mod copies;
mod extract;
mod left_out;
mod line_name;
mod lines;
mod member;
mod method;
mod point_commit;
mod point_warning;
mod reported;
mod step_key;
mod surroundings;

use rqps_model::{Estimate, Run, RunSystem, StepInfo, Verdict, Version};
use rqps_stats::change_point::Uncertainty;

pub use change::levels;
pub use change::{Change, SIGNIFICANCE};
pub use left_out::{Because, LeftOut, OtherCondition};
pub use line_name::{BaseName, LineName, SystemKind};
pub use method::Method;
pub use point_commit::{PointCommit, commits_between};
pub use point_warning::PointWarning;
pub use reported::{Reported, reported};
pub use surroundings::{SliceOrder, Surrounding, Surroundings};

use extract::Extracts;
use lines::Line;
use step_key::StepKey;

use crate::join::Machine;

/// The order of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The systems' versions, by number, and commits as their branch has them; then time.
    Version,
    /// The start of the run.
    Time,
}

impl Order {
    /// Its word: `version`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Time => "time",
        }
    }
}

/// What the values of a series are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scale {
    /// rQPS against a system that all runs have.
    Relative {
        /// That system.
        base: Box<BaseName>,
    },
    /// Operations per second.
    Absolute {
        /// Their unit: `queries/s`.
        unit: &'static str,
    },
}

/// One measurement of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The run.
    pub run_id: String,
    /// Its start, milliseconds since 1970.
    pub started_unix_ms: i64,
    /// Label of the system.
    pub label: String,
    /// Name and version of the server: `MySQL 8.0.33`; with the commit of one that rqps built.
    pub server: String,
    /// The version, where it is known.
    pub version: Option<Version>,
    /// The commit, of a server that rqps built.
    pub commit: Option<PointCommit>,
    /// Ratio or rate; of the base exactly 1, without an interval.
    pub value: Estimate,
    /// How far it may be off, where that is known; absent for the base.
    pub uncertainty: Option<Uncertainty>,
    /// Its verdict against the series' base in the report of its run; absent for rates and for the
    /// base.
    pub verdict: Option<Verdict>,
    /// Starts of the servers that it rests on.
    pub starts: u32,
    /// What it was measured under.
    pub surroundings: Surroundings,
    /// Whether it is the base itself.
    pub is_base: bool,
    /// Its warnings.
    pub warnings: Vec<PointWarning>,
}

impl Point {
    /// The names of its warnings: `not-settled`, `steal-on-base`.
    #[must_use]
    pub fn warning_names(&self) -> Vec<String> {
        self.warnings.iter().map(ToString::to_string).collect()
    }
}

/// The points of one step on systems of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name of the step.
    pub step: String,
    /// Client threads.
    pub clients: u32,
    /// The step's name, with the clients where series differ in them.
    pub title: String,
    /// The systems: their kind by version, their label by time.
    pub line: LineName,
    /// What the values are.
    pub scale: Scale,
    /// In order.
    pub points: Vec<Point>,
    /// How changes are told from chance.
    pub method: Method,
    /// Changes of level, in order.
    pub changes: Vec<Change>,
}

/// All series.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The order of points.
    pub order: Order,
    /// One per step and kind of system; those of one step stand together.
    pub series: Vec<Series>,
    /// Whether the runs have several kinds of systems.
    pub has_several_lines: bool,
    /// What is excluded.
    pub left_out: Vec<LeftOut>,
    /// The host of all points; absent with points of several.
    pub host: Option<Machine>,
    /// Version of rqps of the latest run.
    pub rqps_version: String,
}

/// What a history is made of.
#[derive(Clone, Copy)]
pub struct Choice<'c> {
    /// The order; by version where a kind of systems has several, when absent.
    pub order: Option<Order>,
    /// Whether runs of other hosts than that of the latest run are included.
    pub all_hosts: bool,
    /// Which steps are shown.
    pub step: &'c dyn Fn(&StepInfo) -> bool,
    /// Which systems are shown.
    pub system: &'c dyn Fn(&RunSystem) -> bool,
}

impl std::fmt::Debug for Choice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { order, all_hosts, .. } = self;
        f.debug_struct("Choice").field("order", order).field("all_hosts", all_hosts).finish()
    }
}

/// Why there is no history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// No run has a selected result.
    #[error(
        "none of {n_runs} runs has a result of such a step and system; --steps and --system take names or globs, `rqps runs list` lists the runs"
    )]
    Nothing {
        /// Runs that were read.
        n_runs: usize,
        /// What is excluded of them.
        left_out: Vec<LeftOut>,
    },
}

impl History {
    /// The series of `runs`, in any order.
    ///
    /// # Errors
    /// When nothing that is selected has a result.
    pub fn of(mut runs: Vec<Run>, choice: Choice<'_>) -> Result<Self, HistoryError> {
        let n_runs = runs.len();
        runs.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
        let mut left_out = Vec::new();
        keep_measured(&mut runs, choice, &mut left_out);
        copies::leave_out_runs(&mut runs, &mut left_out);
        if !choice.all_hosts {
            keep_one_host(&mut runs, &mut left_out);
        }
        let (order, lines) = lines::collect(&runs, choice, &mut left_out);
        let rqps_version = runs.last().map_or_else(String::new, |run| run.rqps_version.clone());
        let hosts: Vec<Machine> = runs.iter().map(|run| Machine::of(&run.host)).collect();
        let host = hosts.first().filter(|first| hosts.iter().all(|h| h == *first)).cloned();
        let mut extracts = Extracts::of(runs);
        let keys = extracts.keys(choice);
        let mut series = Vec::new();
        for key in &keys {
            let several = keys.iter().any(|other| other.clients != key.clients);
            for line in &lines {
                let points = points(&mut extracts, key, line, order, &mut left_out);
                if !points.is_empty() {
                    series.push(one(&extracts, key, several, line, points));
                }
            }
        }
        if series.is_empty() {
            left_out::merge(&mut left_out);
            return Err(HistoryError::Nothing { n_runs, left_out });
        }
        for one in &mut series {
            change::find(one, order);
        }
        left_out::merge(&mut left_out);
        let has_several_lines = lines.len() > 1;
        Ok(Self { order, series, has_several_lines, left_out, host, rqps_version })
    }
}

/// Leaves out the runs that have no figure of what was chosen.
fn keep_measured(runs: &mut Vec<Run>, choice: Choice<'_>, left_out: &mut Vec<LeftOut>) {
    runs.retain(|run| {
        let chosen = |idx: usize| run.systems.get(idx).is_some_and(|s| (choice.system)(s));
        let has = run.steps.iter().filter(|step| extract::is_shown(step, choice)).any(|step| {
            step.systems.iter().enumerate().any(|(idx, s)| chosen(idx) && extract::is_done(s))
        });
        if !has {
            let because = Because::NothingFinished;
            left_out.push(LeftOut { run_id: run.id.clone(), what: Vec::new(), because });
        }
        has
    });
}

/// Leaves out the runs of other hosts than that of the latest.
fn keep_one_host(runs: &mut Vec<Run>, left_out: &mut Vec<LeftOut>) {
    let Some(latest) = runs.last().map(|run| Machine::of(&run.host)) else { return };
    runs.retain(|run| {
        let own = Machine::of(&run.host);
        if own != latest {
            let because = Because::OtherHost { own: own.clone(), latest: latest.clone() };
            left_out.push(LeftOut { run_id: run.id.clone(), what: Vec::new(), because });
        }
        own == latest
    });
}

/// The points of a step on the systems of a line, in order.
fn points(
    extracts: &mut Extracts,
    key: &StepKey,
    line: &Line,
    order: Order,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Point> {
    let mut found: Vec<Point> = Vec::new();
    // What the latest point was measured under holds for all.
    let mut wanted: Option<extract::Conditions> = None;
    let mut latest: Option<Surroundings> = None;
    let mut has_base = false;
    for (at, &member) in line.members.iter().enumerate().rev() {
        let base = line.base_in(member.run_idx);
        let is_base = base == Some(member.system_idx);
        if is_base && has_base {
            continue;
        }
        let Some(mut cell) = extracts.cell(member, base, key) else { continue };
        if let Some(other) = extracts.copied_from(member, &line.members[..at], key) {
            let run_id = extracts.run(member.run_idx).id.clone();
            let because = Because::SameFigure { run_id: other.to_owned() };
            left_out.push(LeftOut { run_id, what: vec![key.name.clone()], because });
            continue;
        }
        let conditions = extracts.conditions(member.run_idx, key);
        let others = wanted.as_ref().map(|wanted| wanted.differences(&conditions));
        let others = others.unwrap_or_default();
        let value = match is_base {
            _ if !others.is_empty() => Err(Because::OtherConditions(others)),
            true => Ok(Estimate::single(1.0)),
            false => cell.value.clone(),
        };
        let value = match value {
            Ok(value) => value,
            Err(because) => {
                let run_id = extracts.run(member.run_idx).id.clone();
                left_out.push(LeftOut { run_id, what: vec![key.name.clone()], because });
                continue;
            }
        };
        wanted.get_or_insert(conditions);
        has_base |= is_base;
        if !is_base {
            let own = extracts.surroundings(member.run_idx);
            let others = own.differences(latest.get_or_insert_with(|| own.clone()));
            cell.warnings.extend(others.into_iter().map(PointWarning::OtherCondition));
        }
        found.push(extracts.point(member, base, value, cell));
    }
    found.reverse();
    if order == Order::Version {
        point_commit::sort(&mut found);
    }
    // A base alone says nothing.
    if found.iter().all(|point| point.is_base) {
        return Vec::new();
    }
    found
}

fn one(
    extracts: &Extracts,
    key: &StepKey,
    several: bool,
    line: &Line,
    points: Vec<Point>,
) -> Series {
    let clients = usize::try_from(key.clients).unwrap_or(usize::MAX);
    let title = if several {
        format!("{}, {}", key.name, rqps_text::number::count(clients, "client"))
    } else {
        key.name.clone()
    };
    let scale = match &line.base {
        Some(base) => Scale::Relative { base: Box::new(base.name.clone()) },
        None => Scale::Absolute { unit: extracts.unit(key) },
    };
    let method = Method::of(&points);
    Series {
        step: key.name.clone(),
        clients: key.clients,
        title,
        line: line.name.clone(),
        scale,
        points,
        method,
        changes: Vec::new(),
    }
}
