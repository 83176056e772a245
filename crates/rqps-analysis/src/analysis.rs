//! The analysis of a run: estimates, ratios, verdicts and warnings, ready for every format.
//!
//! All formats render an [`Analysis`] and compute nothing of their own, so that they cannot differ.

mod against;
mod ageing;
mod background;
mod bar;
mod calibrated;
pub mod cell;
mod cells;
pub mod comparison;
mod contention;
#[cfg(test)]
mod coverage;
mod data;

mod disturbed;
mod estimate;
mod evidence;
mod explain;
pub mod footnote;
pub mod group;
mod guard;
pub mod headline;
mod host_busy;
mod imported;
pub mod insert;
mod judge;
mod levels;
mod measurement;
mod median;
pub mod memory;
mod missing;
mod null_arm;
mod observed;
mod of_systems;
mod open_cell;
mod origin;
mod own_run;
mod page_cache;
pub(crate) mod pairing;
mod per_operation;
mod plan_ratio;
pub mod plans;
mod recall;
mod restart;
mod rule;
mod run_warnings;
pub mod settle;
pub mod size;
mod slowed;
pub mod stacks;
mod stall;
mod start_prior;
mod system_pair;
mod table_states;
mod totals;
mod wall;
mod width;
mod windows;

use std::borrow::Cow;
use std::sync::Arc;

use rqps_audit::Differences;
use rqps_model::{Group, Run, RunStep, RunSystem, StepKind, WarningKind, starts};
use rqps_stacks::StackProfile;

use self::cells::ObservedStep;
use self::observed::OfStep;
use crate::join::Joined;
use crate::parallel;
use rqps_text::words::{NAME_COLUMNS, shorten_apart};

pub use against::Against;
pub use bar::Bar;
pub(crate) use bar::{Standing, holds_rate};
pub use cell::{Cell, CellState};
pub use comparison::{Comparison, Decision, Judged, ResponseRatio};
pub use evidence::{Differing, Evidence, Hint, Moves, OffCpu};
pub use footnote::{CellWarning, Footnote, SomeSlices};
pub use group::GroupSummary;
pub use headline::Headline;
pub use insert::{InsertCell, InsertTables, Level, Sla};
pub use measurement::Measurement;
pub use memory::Memory;
pub use plan_ratio::PlanRatio;
pub use plans::{PlanVariation, StatementPlans, StepPlans};
pub use recall::{AtRecall, COMPARED, LISTED, RecallCurve, RecallPoint, RecallRatio, RecallTable};
pub use run_warnings::insert_steps;
pub use settle::Settle;
pub use size::SystemSizes;
pub use stacks::{PairStacks, StepStacks};
pub(crate) use system_pair::SystemPair;
pub use totals::Totals;
pub use width::half_widths;
pub use windows::WindowRates;

/// A run with everything that reports say about it.
#[derive(Debug, Clone)]
pub struct Analysis<'a> {
    /// The run itself.
    pub run: &'a Run,
    /// The runs that `run` was made of, where it was made of several.
    pub joined: Option<&'a Joined>,
    /// On how many starts of the servers it was measured, or is to be.
    pub n_starts: u32,
    /// How verdicts are reached.
    pub judging: Judging,
    /// Index of the base among the systems.
    pub base: usize,
    /// A name for people per system: `MySQL 8.0.33` where that is unique in the run, else the label.
    pub names: Vec<String>,
    /// Labels of the systems in as many columns as tables give them, different ones different.
    pub short_labels: Vec<String>,
    /// The reported steps, in the order of the run; without warm-ups.
    pub steps: Vec<StepAnalysis<'a>>,
    /// The steps that only warm caches, by name.
    pub warm_ups: Vec<String>,
    /// The kinds of warnings that cells have; cells refer to them by index.
    pub footnotes: Vec<Footnote>,
    /// One per candidate, in the order of the systems.
    pub headlines: Vec<Headline>,
    /// One per group of steps that has a ratio.
    pub groups: Vec<GroupSummary>,
    /// Resident memory of the servers; one per system with a reading.
    pub memory: Vec<Memory>,
    /// What the data took, per system.
    pub sizes: Vec<SystemSizes>,
    /// How the systems differ in what they ran with.
    pub differences: Differences,
    /// Warnings to read before the results. Severe ones come first.
    pub warnings: Vec<WarningKind>,
    /// How sure the results are.
    pub certainty: Vec<WarningKind>,
    /// Recorded stacks, of the steps that have any, in the order of [`Self::steps`].
    pub stacks: Vec<StepStacks<'a>>,
    /// The stack profiles that [`Self::stacks`] was made of.
    profiles: &'a [StackProfile],
    /// Which steps are the Insert Benchmark's; absent where none is.
    pub insert: Option<InsertTables>,
    /// Searches of vectors: QPS against recall.
    pub recalls: Vec<RecallTable>,
    /// What was not measured, and why.
    pub not_measured: Vec<WarningKind>,
}

/// One step with one number of clients.
#[derive(Debug, Clone)]
pub struct StepAnalysis<'a> {
    /// The step as it was run; on several starts of the servers, all of them joined.
    pub step: Cow<'a, RunStep>,
    /// Its name, with the number of clients where the run has several: `scan, 4 clients`.
    pub title: String,
    /// Per system, in the order of the run.
    pub cells: Vec<Cell>,
    /// How the systems execute its statements.
    pub plans: StepPlans,
    /// Of a step of the Insert Benchmark, per system where its rate lies among those of all.
    levels: Vec<Level>,
    /// What its slices show by themselves.
    observed: OfStep,
}

impl StepAnalysis<'_> {
    /// Whether it is compared: everything except a suite's indexes, which are created once.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.step.info.is_compared()
    }

    /// Where the rate of a system lies among those of all, in a step of the Insert Benchmark.
    #[must_use]
    pub fn level(&self, system_idx: usize) -> Level {
        self.levels.get(system_idx).copied().unwrap_or(Level::Middle)
    }

    /// The group it is reported in; filling the tables has its own.
    #[must_use]
    pub fn group(&self) -> Group {
        if self.is_compared() { self.step.info.group } else { Group::Other }
    }
}

/// How verdicts are reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judging {
    /// The practical bound, as a share: 0.05 for 5%.
    pub bound: f64,
    /// Whether a step has a verdict although the host was busy with something else.
    pub allow_busy_host: bool,
}

impl From<f64> for Judging {
    /// By a practical bound, on a host that was not busy.
    fn from(bound: f64) -> Self {
        Self { bound, allow_busy_host: false }
    }
}

/// What another analysis of the same run has found whatever its base; empty for the first one.
#[derive(Default)]
struct SharedFacts {
    /// Of the reported steps.
    steps: Vec<OfStep>,
    /// Between the systems.
    differences: Option<Differences>,
}

impl<'a> Analysis<'a> {
    /// Analyses `run` with a practical bound (0.05 for 5%). Steps that were measured on several starts of the
    /// servers are joined.
    #[must_use]
    pub fn of(run: &'a Run, judging: impl Into<Judging>) -> Self {
        Self::made(run, None, run.base, judging.into(), SharedFacts::default())
    }

    /// The same relative to another of its systems, by index.
    #[must_use]
    pub fn of_base(run: &'a Run, base: usize, judging: impl Into<Judging>) -> Self {
        Self::made(run, None, base, judging.into(), SharedFacts::default())
    }

    /// Analyses several runs that were made into one.
    #[must_use]
    pub fn of_joined(joined: &'a Joined, judging: impl Into<Judging>) -> Self {
        let run = &joined.run;
        Self::made(run, Some(joined), run.base, judging.into(), SharedFacts::default())
    }

    /// This analysis with another of its systems as the base.
    #[must_use]
    pub fn rebased(&self, base: usize) -> Self {
        let known = SharedFacts {
            steps: self.steps.iter().map(|step| Arc::clone(&step.observed)).collect(),
            differences: Some(self.differences.clone()),
        };
        Self::made(self.run, self.joined, base, self.judging, known).with_profiles(self.profiles)
    }

    /// The systems that can be the base instead of this one, by index: those with a rate, of any
    /// run.
    #[must_use]
    pub fn other_bases(&self) -> Vec<usize> {
        let has_figure = |&idx: &usize| {
            self.steps.iter().any(|s| s.cells.get(idx).is_some_and(|c| c.figure().is_some()))
        };
        self.candidates().filter(has_figure).collect()
    }

    fn made(
        run: &'a Run,
        joined: Option<&'a Joined>,
        base: usize,
        judging: Judging,
        known: SharedFacts,
    ) -> Self {
        let base = base.min(run.systems.len().saturating_sub(1));
        let several = has_several_clients(run);
        let mut book = footnote::Book::default();
        let (warm_ups, reported): (Vec<_>, Vec<_>) =
            starts::joined(&run.steps).into_iter().partition(|s| s.info.kind == StepKind::WarmUp);
        let warm_ups = warm_ups.iter().map(|step| title(step, several)).collect();
        let observed = if known.steps.len() == reported.len() {
            known.steps
        } else {
            parallel::map(&reported, |step| observed::of_step(step))
        };
        let plans: Vec<StepPlans> = reported.iter().map(|s| StepPlans::of(s, base)).collect();
        let around = explain::Around::of(run, origin::Rule { base, joined });
        let of_steps = reported.iter().zip(&observed).zip(&plans);
        let of_steps: Vec<ObservedStep<'_>> = of_steps
            .map(|((step, observed), plans)| {
                let bars_busy_host = !judging.allow_busy_host;
                ObservedStep { step, observed, plans, bars_busy_host }
            })
            .collect();
        let cells = cells::cells(&around, &of_steps, judging.bound, &mut book);
        let differences = known.differences.unwrap_or_else(|| Differences::between(&run.systems));
        let parts = reported.into_iter().zip(observed).zip(plans).zip(cells);
        let steps: Vec<StepAnalysis<'a>> = parts
            .map(|(((step, observed), plans), cells)| StepAnalysis {
                title: title(&step, several),
                levels: match insert::is_step(&step) {
                    true => insert::compare::levels(&cells),
                    false => Vec::new(),
                },
                cells,
                plans,
                observed,
                step,
            })
            .collect();
        let mut analysis = Self {
            run,
            joined,
            n_starts: run.n_starts(),
            judging,
            base,
            names: names(run),
            short_labels: short_labels(run),
            steps,
            warm_ups,
            footnotes: Vec::new(),
            headlines: Vec::new(),
            groups: Vec::new(),
            memory: Vec::new(),
            sizes: size::sizes(run, base),
            differences,
            warnings: Vec::new(),
            certainty: Vec::new(),
            stacks: Vec::new(),
            profiles: &[],
            insert: None,
            recalls: Vec::new(),
            not_measured: Vec::new(),
        };
        analysis.insert = insert::tables(&analysis.steps);
        analysis.recalls = recall::tables(&analysis);
        analysis.footnotes = book.close();
        analysis.headlines = headline::headlines(&analysis);
        analysis.groups = group::groups(&analysis);
        analysis.memory = memory::memory(&analysis);
        analysis.warnings = run_warnings::before_reading(&analysis);
        analysis.certainty = run_warnings::certainty(&analysis);
        analysis.not_measured = run_warnings::not_measured(&analysis);
        analysis
    }

    /// The severe warnings, and the others.
    #[must_use]
    pub fn warnings_by_weight(&self) -> (&[WarningKind], &[WarningKind]) {
        let n_severe = self.warnings.iter().take_while(|kind| kind.is_severe()).count();
        self.warnings.split_at(n_severe)
    }

    /// Indices of the systems that are compared with the base.
    pub fn candidates(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.run.systems.len()).filter(|&idx| idx != self.base)
    }

    /// The label of a system.
    #[must_use]
    pub fn label(&self, system_idx: usize) -> &str {
        self.run.systems.get(system_idx).map_or("", |s| s.spec.label.as_str())
    }

    /// A system's label, cut to the columns that tables give it, or to more where it would equal
    /// another's.
    #[must_use]
    pub fn short_label(&self, system_idx: usize) -> &str {
        self.short_labels.get(system_idx).map_or("", String::as_str)
    }

    /// The base's label; empty in a run without systems.
    #[must_use]
    pub fn base_label(&self) -> &str {
        self.label(self.base)
    }

    /// The footnotes of a cell, each once.
    #[must_use]
    pub fn footnotes_of(&self, cell: &Cell) -> Vec<&Footnote> {
        let mut seen: Vec<usize> = Vec::new();
        for warning in &cell.warnings {
            if !seen.contains(&warning.footnote_idx) {
                seen.push(warning.footnote_idx);
            }
        }
        seen.into_iter().filter_map(|idx| self.footnotes.get(idx)).collect()
    }

    /// The letters of a cell's footnotes, in order: `ac`.
    #[must_use]
    pub fn letters(&self, cell: &Cell) -> String {
        let letters: Vec<&str> =
            self.footnotes_of(cell).into_iter().map(|note| note.letter.as_str()).collect();
        letters.join(if letters.iter().any(|l| l.len() > 1) { "," } else { "" })
    }

    /// A step's number of clients, where the run has several.
    #[must_use]
    pub fn clients_of(&self, step: &StepAnalysis<'_>) -> Option<u32> {
        has_several_clients(self.run).then_some(step.step.clients)
    }

    /// Steps of one group, in the order of the run.
    pub fn steps_of(&self, group: Group) -> impl Iterator<Item = &StepAnalysis<'a>> {
        self.steps.iter().filter(move |step| step.group() == group)
    }
}

/// The order in which reports list groups: loading comes last, as it is no microbenchmark.
pub const GROUPS: [Group; 6] =
    [Group::Point, Group::Range, Group::RangeAggregate, Group::Vector, Group::Write, Group::Other];

fn has_several_clients(run: &Run) -> bool {
    let mut compared =
        run.steps.iter().filter(|s| s.info.is_compared() && !s.info.prepares_tables());
    let first = compared.next().map(|s| s.clients);
    compared.any(|s| Some(s.clients) != first)
}

fn title(step: &RunStep, several: bool) -> String {
    if several && !step.info.prepares_tables() {
        let clients = usize::try_from(step.clients).unwrap_or(usize::MAX);
        format!("{}, {}", step.info.name, rqps_text::number::count(clients, "client"))
    } else {
        step.info.name.clone()
    }
}

fn short_labels(run: &Run) -> Vec<String> {
    let labels: Vec<&str> = run.systems.iter().map(|system| system.spec.label.as_str()).collect();
    shorten_apart(&labels, NAME_COLUMNS)
}

fn names(run: &Run) -> Vec<String> {
    let all: Vec<Option<String>> = run.systems.iter().map(RunSystem::server_name).collect();
    all.iter()
        .enumerate()
        .map(|(idx, name)| match name {
            Some(name) if all.iter().filter(|other| other.as_ref() == Some(name)).count() == 1 => {
                name.clone()
            }
            _ => run.systems[idx].spec.label.0.clone(),
        })
        .collect()
}
