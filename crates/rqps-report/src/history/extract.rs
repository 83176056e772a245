//! What a history needs of runs: a value and its marks per step, system and base.

use std::collections::BTreeMap;

use rqps_model::run::SystemStep;
use rqps_model::{Estimate, Run, RunStep, StepKind, StepOutcome, SystemSource};

use super::{Choice, Member, Point, work};
use crate::analysis::{Analysis, Cell};
use crate::words::one_line;

/// A step as series know it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepKey {
    pub(super) name: String,
    pub(super) clients: u32,
}

/// Whether a step is one that series are made of: chosen, and neither load nor warm-up.
pub(super) fn is_shown(step: &RunStep, choice: Choice<'_>) -> bool {
    !matches!(step.info.kind, StepKind::Load | StepKind::WarmUp) && (choice.step)(&step.info)
}

/// Whether a step has all its slices on a system.
pub(super) fn is_done(system: &SystemStep) -> bool {
    system.outcome == StepOutcome::Done && !system.slices.is_empty()
}

/// A step on a system.
#[derive(Debug, Clone)]
pub(super) struct Extract {
    /// Ratio to the base, or figure; absent where there is none to be compared.
    pub(super) value: Option<Estimate>,
    /// Short names of its footnotes.
    pub(super) marks: Vec<String>,
}

/// What a step was measured under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conditions {
    placement: String,
    work: BTreeMap<String, String>,
}

impl Conditions {
    /// How these differ from others, in words; `None` where they do not.
    pub(super) fn differences(&self, other: &Self) -> Option<String> {
        let mut words = Vec::new();
        if self.placement != other.placement {
            words.push(format!("placement {}, not {}", other.placement, self.placement));
        }
        let names: std::collections::BTreeSet<&String> =
            self.work.keys().chain(other.work.keys()).collect();
        for name in names {
            let (latest, own) = (self.work.get(name), other.work.get(name));
            if latest != own {
                let show =
                    |value: Option<&String>| value.map_or("none".to_owned(), |v| one_line(v));
                words.push(format!("{name} {}, not {}", show(own), show(latest)));
            }
        }
        let differs = !words.is_empty();
        differs.then(|| format!("other than the latest: {}", crate::words::list_in_short(&words)))
    }
}

/// Values by step, one per system of the run.
type Values = BTreeMap<StepKey, Vec<Option<Extract>>>;

/// The runs, and what was computed of them.
#[derive(Debug)]
pub(super) struct Extracts {
    runs: Vec<Run>,
    work: Vec<BTreeMap<String, String>>,
    /// By run and base; without a base the figures.
    values: BTreeMap<(usize, Option<usize>), Values>,
}

impl Extracts {
    pub(super) fn of(runs: Vec<Run>) -> Self {
        let work = runs.iter().map(|run| work(&run.plan)).collect();
        Self { runs, work, values: BTreeMap::new() }
    }

    pub(super) fn run(&self, run_idx: usize) -> &Run {
        &self.runs[run_idx]
    }

    /// The steps of all runs: in the order of the latest, then what only earlier ones have.
    pub(super) fn keys(&self, choice: Choice<'_>) -> Vec<StepKey> {
        let mut keys = Vec::new();
        for step in self.runs.iter().rev().flat_map(|run| &run.steps) {
            let key = key(step);
            if is_shown(step, choice) && !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// What a figure of the step counts per second.
    pub(super) fn unit(&self, wanted: &StepKey) -> &'static str {
        let mut steps = self.runs.iter().rev().flat_map(|run| &run.steps);
        steps.find(|step| key(step) == *wanted).map_or("", |step| step.info.figure.unit())
    }

    pub(super) fn conditions(&self, run_idx: usize, wanted: &StepKey) -> Conditions {
        let step = self.runs[run_idx].steps.iter().find(|step| key(step) == *wanted);
        Conditions {
            placement: step.map_or_else(String::new, |step| step.placement.to_string()),
            work: self.work[run_idx].clone(),
        }
    }

    /// A finished step on a system, against a base of its run where there is one.
    pub(super) fn cell(
        &mut self,
        member: Member,
        base: Option<usize>,
        step: &StepKey,
    ) -> Option<Extract> {
        let run = &mut self.runs[member.run_idx];
        let values = self.values.entry((member.run_idx, base)).or_insert_with(|| values(run, base));
        values.get(step)?.get(member.system_idx)?.clone()
    }

    pub(super) fn point(
        &self,
        member: Member,
        value: Estimate,
        is_base: bool,
        marks: Vec<String>,
    ) -> Point {
        let run = &self.runs[member.run_idx];
        let system = &run.systems[member.system_idx];
        let version = version_of(system);
        let dbms = system.spec.dbms.name();
        Point {
            run_id: run.id.clone(),
            started_unix_ms: run.started_unix_ms,
            label: one_line(system.spec.label.as_str()),
            server: version.as_ref().map_or(dbms.to_owned(), |v| format!("{dbms} {v}")),
            version,
            value,
            is_base,
            marks,
        }
    }
}

/// The version that the server says, else the one that was asked for.
pub(super) fn version_of(system: &rqps_model::RunSystem) -> Option<rqps_model::Version> {
    match (&system.version, &system.spec.source) {
        (Some(version), _) | (None, SystemSource::Catalogue { version, .. }) => {
            Some(version.clone())
        }
        (None, _) => None,
    }
}

fn key(step: &RunStep) -> StepKey {
    StepKey { name: step.info.name.clone(), clients: step.clients }
}

/// The values of a run against one of its systems, or its figures.
fn values(run: &mut Run, base: Option<usize>) -> Values {
    let own = run.base;
    run.base = base.unwrap_or(own);
    let analysis = Analysis::of(run, rqps_stats::DEFAULT_BOUND);
    let mut values = Values::new();
    for step in &analysis.steps {
        let extracts = step.cells.iter().enumerate().map(|(idx, cell)| {
            let is_done = step.step.systems.get(idx).is_some_and(is_done);
            is_done.then(|| extract(&analysis, cell, base.is_some()))
        });
        values.entry(key(&step.step)).or_insert_with(|| extracts.collect());
    }
    run.base = own;
    values
}

fn extract(analysis: &Analysis<'_>, cell: &Cell, is_relative: bool) -> Extract {
    let mut marks: Vec<String> = Vec::new();
    for mark in &cell.marks {
        let Some(note) = analysis.footnotes.get(mark.footnote_idx) else { continue };
        let key = note.kind.key().to_owned();
        if !marks.contains(&key) {
            marks.push(key);
        }
    }
    let figure = cell.figure.filter(|_| !cell.failed_sla());
    let value = if is_relative { cell.comparable_rqps() } else { figure };
    Extract { value: value.filter(|v| v.point > 0.0 && v.point.is_finite()), marks }
}
