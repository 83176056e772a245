//! What a history needs of runs: a value and its warnings per step, system and base.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::run::SystemStep;
use rqps_model::{Estimate, Figure, Placement, Run, RunStep, StepOutcome, Verdict};
use rqps_stats::change_point::Uncertainty;

use super::lines::server;
use super::member::Member;
use super::point_commit::PointCommit;
use super::step_key::{StepKey, key};
use super::{Because, Choice, OtherCondition, Point, PointWarning, Surroundings, copies};
use crate::analysis::SystemPair;
use crate::analysis::{Analysis, Cell, StepAnalysis};
use crate::gate::{NoRatio, Unfit};
use crate::join::{self, Work, work, work_of};
use rqps_text::words::one_line;

/// Whether a step is one that series are made of: chosen, and compared.
pub(super) fn is_shown(step: &RunStep, choice: Choice<'_>) -> bool {
    step.info.is_compared() && (choice.step)(&step.info)
}

/// Whether a step has all its slices on a system.
pub(super) fn is_done(system: &SystemStep) -> bool {
    system.outcome == StepOutcome::Done && !system.slices.is_empty()
}

/// A step on a system.
#[derive(Debug, Clone)]
pub(super) struct Extract {
    /// Ratio to the base, or figure; else why there is none that can be compared.
    pub(super) value: Result<Estimate, Because>,
    /// How far it may be off, where that is known.
    pub(super) uncertainty: Option<Uncertainty>,
    /// What the report of its run says of the ratio.
    pub(super) verdict: Option<Verdict>,
    /// Starts of the servers that it rests on.
    pub(super) starts: u32,
    /// Short names of its footnotes and, of a ratio, of the base's.
    pub(super) warnings: Vec<PointWarning>,
}

/// What a step was measured under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conditions {
    placement: Placement,
    work: join::Values,
}

impl Conditions {
    /// How others differ from these.
    pub(super) fn differences(&self, other: &Self) -> Vec<OtherCondition> {
        let mut out = Vec::new();
        if self.placement != other.placement {
            let (own, latest) = (other.placement, self.placement);
            out.push(OtherCondition::Placement { own, latest });
        }
        let all: BTreeSet<&Vec<String>> = self.work.keys().chain(other.work.keys()).collect();
        for keys in all {
            let (latest, own) = (self.work.get(keys), other.work.get(keys));
            if latest != own {
                let (own, latest) = (own.cloned(), latest.cloned());
                out.push(OtherCondition::Work { keys: keys.clone(), own, latest });
            }
        }
        out
    }
}

/// Values by step, one per system of the run.
type Values = BTreeMap<StepKey, Vec<Option<Extract>>>;

/// The runs, and what was computed of them.
#[derive(Debug)]
pub(super) struct Extracts {
    runs: Vec<Run>,
    work: Vec<Vec<Work>>,
    surroundings: Vec<Surroundings>,
    /// By run and base; without a base the figures.
    values: BTreeMap<(usize, Option<usize>), Values>,
}

impl Extracts {
    pub(super) fn of(runs: Vec<Run>) -> Self {
        let work = runs.iter().map(|run| work(&run.plan)).collect();
        let surroundings = runs.iter().map(Surroundings::of).collect();
        Self { runs, work, surroundings, values: BTreeMap::new() }
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

    pub(super) fn surroundings(&self, run_idx: usize) -> &Surroundings {
        &self.surroundings[run_idx]
    }

    pub(super) fn conditions(&self, run_idx: usize, wanted: &StepKey) -> Conditions {
        let step = self.runs[run_idx].steps.iter().find(|step| key(step) == *wanted);
        Conditions {
            placement: step.map(|step| step.placement).unwrap_or_default(),
            work: work_of(&self.work[run_idx], &wanted.name).cloned().unwrap_or_default(),
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

    /// The first of some other runs that has the same figure, where both were imported.
    pub(super) fn copied_from(
        &self,
        member: Member,
        others: &[Member],
        step: &StepKey,
    ) -> Option<&str> {
        let own = self.run(member.run_idx);
        let label = own.systems.get(member.system_idx)?.spec.label.as_str();
        let mut runs = others.iter().map(|other| self.run(other.run_idx));
        let found =
            runs.find(|run| run.id != own.id && copies::is_copy(step, label, [own, run]))?;
        Some(&found.id)
    }

    /// The point of a system, relative to a base of its run where there is one.
    pub(super) fn point(
        &self,
        member: Member,
        base: Option<usize>,
        value: Estimate,
        extract: Extract,
    ) -> Point {
        let run = &self.runs[member.run_idx];
        let is_base = base == Some(member.system_idx);
        let is_base_of_run = base == Some(run.base);
        let system = &run.systems[member.system_idx];
        let commit = system.commit().map(|commit| PointCommit {
            hash: commit.hash.to_owned(),
            is_changed: commit.is_changed,
            name: commit.name(),
            subject: one_line(commit.subject),
            time: commit.time.to_owned(),
            after_base: commit.after_base.filter(|_| is_base_of_run),
        });
        Point {
            run_id: run.id.clone(),
            started_unix_ms: run.started_unix_ms,
            label: one_line(system.spec.label.as_str()),
            server: server(system),
            version: system.known_version().cloned(),
            commit,
            value,
            uncertainty: extract.uncertainty.filter(|_| !is_base),
            verdict: extract.verdict.filter(|_| !is_base),
            starts: extract.starts,
            surroundings: self.surroundings[member.run_idx].clone(),
            is_base,
            warnings: extract.warnings,
        }
    }
}

/// The values of a run against one of its systems, or its figures.
fn values(run: &mut Run, base: Option<usize>) -> Values {
    let own = run.base;
    run.base = base.unwrap_or(own);
    let analysis = Analysis::of(run, rqps_stats::DEFAULT_BOUND);
    let mut values = Values::new();
    for step in &analysis.steps {
        let extracts = (0..step.cells.len()).map(|idx| {
            let is_done = step.step.systems.get(idx).is_some_and(is_done);
            is_done.then(|| match base {
                Some(base) => ratio(&analysis, step, SystemPair { base, candidate: idx }),
                None if step.step.info.figure == Figure::AsStated => {
                    let own = figure(&analysis, &step.cells[idx]);
                    Extract { value: Err(Because::NoUnit), ..own }
                }
                None => figure(&analysis, &step.cells[idx]),
            })
        });
        values.entry(key(&step.step)).or_insert_with(|| extracts.collect());
    }
    run.base = own;
    values
}

/// A system against the base, whose warnings are the ratio's as well.
fn ratio(analysis: &Analysis<'_>, step: &StepAnalysis<'_>, pair: SystemPair) -> Extract {
    let (base, cell) = (&step.cells[pair.base], &step.cells[pair.candidate]);
    let mut warnings = own_warnings(cell);
    if pair.base != pair.candidate {
        warnings.extend(kinds(base).into_iter().map(PointWarning::OnBase));
        if analysis.run.imported.is_none() && !analysis.run.schedule.is_interleaved() {
            warnings.push(PointWarning::Sequential);
        }
    }
    let because = || match Unfit::of(base).or_else(|| Unfit::of(cell)) {
        Some(unfit) => Because::Unfit(unfit),
        None if base.failed_sla() || cell.failed_sla() => Because::RateNotHeld,
        None if !base.state.is_measured() => Because::NoBaseFigure,
        None => Because::NoRatio(NoRatio::of(base, cell)),
    };
    let is_fit = Unfit::of(base).is_none() && Unfit::of(cell).is_none();
    let value = cell.comparable_rqps().filter(|ratio| is_fit && is_usable(ratio, cell));
    let found = cell.comparison().map(|comparison| comparison.rqps.found);
    Extract {
        value: value.ok_or_else(because),
        uncertainty: found.and_then(|found| Uncertainty::of_ratio(&found)),
        verdict: cell.verdict(),
        starts: found.map_or(1, |found| found.starts),
        warnings,
    }
}

/// The figure of a system.
fn figure(analysis: &Analysis<'_>, cell: &Cell) -> Extract {
    let because = || match Unfit::of(cell) {
        Some(unfit) => Because::Unfit(unfit),
        None if cell.failed_sla() => Because::RateNotHeld,
        None => Because::NoRatio(NoRatio::NothingDone),
    };
    let is_fit = Unfit::of(cell).is_none() && !cell.failed_sla();
    Extract {
        value: cell.figure().filter(|figure| is_fit && is_usable(figure, cell)).ok_or_else(because),
        uncertainty: cell.figure().and_then(|figure| Uncertainty::of_figure(&figure)),
        verdict: None,
        starts: analysis.n_starts,
        warnings: own_warnings(cell),
    }
}

/// What has a logarithm; of an imported file 0 is a value as well.
fn is_usable(value: &Estimate, cell: &Cell) -> bool {
    value.point.is_finite() && (value.point > 0.0 || cell.is_stated && value.point == 0.0)
}

/// The kinds of a cell's warnings, each once.
fn kinds(cell: &Cell) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for kind in cell.warnings.iter().map(|warning| warning.kind.key()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

fn own_warnings(cell: &Cell) -> Vec<PointWarning> {
    kinds(cell).into_iter().map(PointWarning::Own).collect()
}
