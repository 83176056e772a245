//! Several runs made into one, so that their systems stand in one report.
//!
//! Steps are matched by name, number of clients and what they count, with all starts of the
//! servers taken together. The joined run keeps each system's own run, and where the runs'
//! conditions differ. Ratios within a run stay those of its own schedule. Ratios between runs
//! compare two samples, and their intervals do not include changes of the host between the runs.

mod base;
mod conditions;
mod labels;

use std::borrow::Cow;

use rqps_model::run::SystemStep;
use rqps_model::warning::{DifferentCondition, StepDifference, Topic};
use rqps_model::{
    Calibrated, Figure, Host, Imported, Label, Placement, Run, RunStatus, RunStep, Schedule, Scope,
    Warning, WarningKind, starts,
};

pub use base::JoinError;
pub use conditions::{Machine, compare as conditions_of, suite_of};
pub(crate) use conditions::{Values, Work, work, work_of};

use crate::analysis::SystemPair;
use rqps_text::words::list;

/// Several runs as one, and what is known of each.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The systems and steps of all runs. Its host, schedule, plan and seed are those of its base's
    /// run; [`Joined::sources`] has those of each, and [`Joined::conditions`] where they differ.
    pub run: Run,
    /// The runs, in the order given.
    pub sources: Vec<Source>,
    /// Per system of `run` the index of its source.
    pub origins: Vec<usize>,
    /// Per system of `run` its name to `--base`: `RUN:LABEL`, the label as it is in its own run.
    names: Vec<String>,
    /// Conditions that differ between the runs.
    pub conditions: Vec<DifferentCondition>,
    /// Per step of `run` and source: the step as it was there; absent where the run has none.
    steps: Vec<Vec<Option<Told>>>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its id.
    pub id: String,
    /// The plan's name.
    pub name: String,
    /// Its status.
    pub status: RunStatus,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: i64,
    /// Where it ran.
    pub host: Host,
    /// The order of its slices.
    pub schedule: Schedule,
    /// Starts of its servers.
    pub n_starts: u32,
    /// The plan as TOML.
    pub plan: String,
    /// The words of the command that started it.
    pub command_line: Vec<String>,
    /// Version of rqps that measured it.
    pub rqps_version: String,
    /// Its seed.
    pub seed: u64,
    /// Where it was taken from; absent for a run that rqps measured.
    pub imported: Option<Imported>,
    /// The calibration of its host when it began.
    pub calibration: Option<Calibrated>,
}

/// What a run says of one of its steps.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    placement: Placement,
    what: String,
}

impl Joined {
    /// Makes one run of several. The base is the system `base` names (`LABEL` or `RUN:LABEL`), else
    /// the first run's. `command_line` are the words of what the report says it was made by.
    ///
    /// # Errors
    /// Fewer than two runs, one run twice, a run without systems, or a base that no system or more
    /// than one system is.
    pub fn of(
        mut runs: Vec<Run>,
        base: Option<&str>,
        command_line: &[String],
    ) -> Result<Self, JoinError> {
        base::check(&runs)?;
        let chosen = base::find(&runs, base)?;
        let conditions = conditions::compare(&runs.iter().collect::<Vec<_>>());
        let origins = origins(&runs);
        let labels = labels::unique(&runs);
        let names = labels::full(&runs);
        let sources: Vec<Source> = runs.iter().map(source).collect();
        let (steps, told) = steps(&mut runs, &origins);
        let n_before: usize = runs.iter().take(chosen.0).map(|run| run.systems.len()).sum();
        let n_systems: Vec<usize> = runs.iter().map(|run| run.systems.len()).collect();
        let mut systems: Vec<_> = runs.iter_mut().flat_map(|run| run.systems.drain(..)).collect();
        for (system, label) in systems.iter_mut().zip(labels) {
            system.spec.label = Label(label);
        }
        let warnings = warnings(&mut runs, &n_systems);
        let ids: Vec<String> = sources.iter().map(|s| s.id.clone()).collect();
        let run = Run {
            id: ids.join("+"),
            name: name(&sources),
            status: status(&sources),
            started_unix_ms: sources.iter().map(|s| s.started_unix_ms).min().unwrap_or_default(),
            finished_unix_ms: finished(&runs),
            n_resumed: runs.iter().map(|run| run.n_resumed).sum(),
            command_line: command_line.to_owned(),
            warnings,
            base: n_before + chosen.1,
            systems,
            steps,
            ..runs.swap_remove(chosen.0)
        };
        Ok(Self { run, sources, origins, names, conditions, steps: told })
    }

    /// The runs by their ids, in the order of [`Joined::sources`].
    pub(crate) fn run_ids(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.id.clone()).collect()
    }

    /// The run that a system was measured in.
    #[must_use]
    pub fn source(&self, system_idx: usize) -> Option<&Source> {
        self.sources.get(*self.origins.get(system_idx)?)
    }

    /// What `rqps compare --base` calls a system.
    #[must_use]
    pub fn name(&self, system_idx: usize) -> &str {
        self.names.get(system_idx).map_or("", String::as_str)
    }

    /// Whether two systems are of one run.
    #[must_use]
    pub fn is_one_run(&self, a: usize, b: usize) -> bool {
        self.origins.get(a) == self.origins.get(b)
    }

    /// Whether two systems took turns: of one run, and that an interleaved one.
    pub(crate) fn are_interleaved(&self, a: usize, b: usize) -> bool {
        self.is_one_run(a, b) && self.source(a).is_some_and(|s| s.schedule.is_interleaved())
    }

    /// How a step's conditions on a system differ from those on another of another run; empty where nothing
    /// that is known does.
    pub(crate) fn differences(&self, step: &RunStep, pair: SystemPair) -> Vec<StepDifference> {
        let origin = |system: usize| self.origins.get(system);
        let (Some(&of_base), Some(&own)) = (origin(pair.base), origin(pair.candidate)) else {
            return Vec::new();
        };
        let topic = |c: &DifferentCondition| c.condition.topic();
        let differing: Vec<&DifferentCondition> = self
            .conditions
            .iter()
            .filter(|c| topic(c).moves_figures() && c.differs(of_base, own))
            .collect();
        let mut out: Vec<StepDifference> =
            differing.iter().map(|c| StepDifference::Condition(c.condition.clone())).collect();
        if let Some((a, b)) = self.told(step, of_base).zip(self.told(step, own)) {
            if a.placement != b.placement {
                out.push(StepDifference::Placement { base: a.placement, own: b.placement });
            }
            // Where the tables or arguments differ, they have been named.
            if a.what != b.what && !differing.iter().any(|c| topic(c) == Topic::Work) {
                out.push(StepDifference::Work);
            }
        }
        out
    }

    /// Whether the system's run has the step at all.
    #[must_use]
    pub fn has_step(&self, step: &RunStep, system: usize) -> bool {
        self.origins.get(system).is_some_and(|&origin| self.told(step, origin).is_some())
    }

    fn told(&self, step: &RunStep, origin: usize) -> Option<&Told> {
        let steps = &self.run.steps;
        // The very one: files that were imported may have two steps of one name.
        let own = steps.iter().position(|s| std::ptr::eq(s, step));
        let at = own.or_else(|| steps.iter().position(|s| key(s) == key(step)))?;
        self.steps.get(at)?.get(origin)?.as_ref()
    }

    /// What must be known before any figure relative to a base is read.
    pub(crate) fn warnings(&self, base: usize) -> Vec<WarningKind> {
        let base = self.source(base).map_or_else(String::new, |s| s.id.clone());
        let mut out = vec![WarningKind::SeveralRuns { n: self.sources.len(), base }];
        if !self.conditions.is_empty() {
            let conditions = self.conditions.clone();
            out.push(WarningKind::RunsDiffer { runs: self.run_ids(), conditions });
        }
        out
    }

    /// In which order the systems were measured, and which ratios are of two samples.
    pub(crate) fn order(&self) -> WarningKind {
        let of = |wanted: bool| -> Vec<String> {
            let is = |s: &&Source| s.schedule.is_interleaved() == wanted;
            self.sources.iter().filter(is).map(|s| s.id.clone()).collect()
        };
        WarningKind::OrderOfRuns { interleaved: of(true), sequential: of(false) }
    }
}

/// What makes a step of one run that of another: name, number of clients and what its figure counts.
fn key(step: &RunStep) -> (&str, u32, Figure) {
    (&step.info.name, step.clients, step.info.figure)
}

fn source(run: &Run) -> Source {
    Source {
        id: run.id.clone(),
        name: run.name.clone(),
        status: run.status,
        started_unix_ms: run.started_unix_ms,
        host: run.host.clone(),
        schedule: run.schedule,
        n_starts: run.n_starts(),
        plan: run.plan.clone(),
        command_line: run.command_line.clone(),
        rqps_version: run.rqps_version.clone(),
        seed: run.seed,
        imported: run.imported.clone(),
        calibration: run.calibration.clone(),
    }
}

fn origins(runs: &[Run]) -> Vec<usize> {
    runs.iter().enumerate().flat_map(|(at, run)| vec![at; run.systems.len()]).collect()
}

/// What happened to the runs on the way, of systems by their places among all; of a whole run by its id.
fn warnings(runs: &mut [Run], n_systems: &[usize]) -> Vec<Warning> {
    let mut out = Vec::new();
    let mut n_before = 0;
    for (run, n) in runs.iter_mut().zip(n_systems) {
        for warning in run.warnings.drain(..) {
            let scope = match warning.scope {
                Scope::System(idx) => Scope::System(idx + n_before),
                Scope::Run | Scope::OneOfRuns(_) => Scope::OneOfRuns(run.id.clone()),
            };
            out.push(Warning { scope, ..warning });
        }
        n_before += n;
    }
    out
}

/// The steps of all runs with the systems of all runs, and what each run says of them. Steps come in
/// the order of the first run that has them; a run that has no such step has pending systems there.
fn steps(runs: &mut [Run], origins: &[usize]) -> (Vec<RunStep>, Vec<Vec<Option<Told>>>) {
    let mut steps: Vec<RunStep> = Vec::new();
    let mut told: Vec<Vec<Option<Told>>> = Vec::new();
    let n_runs = runs.len();
    let mut first_system = 0;
    for (origin, run) in runs.iter_mut().enumerate() {
        // A start of one run is none of another's.
        let of_all_starts = starts::joined(&run.steps).into_iter().map(Cow::into_owned).collect();
        run.steps = of_all_starts;
        // New steps go behind the one that precedes them in their own run.
        let mut place = 0;
        for step in run.steps.drain(..) {
            // Imported files may have two steps of one name, which stay two.
            let is_free =
                |at: &usize| key(&steps[*at]) == key(&step) && told[*at][origin].is_none();
            let at = (0..steps.len()).find(is_free).unwrap_or_else(|| {
                let systems = origins.iter().map(|_| SystemStep::pending()).collect();
                steps.insert(place, RunStep { systems, ..step.clone() });
                told.insert(place, vec![None; n_runs]);
                place
            });
            place = at + 1;
            let RunStep { info, placement, systems, .. } = step;
            told[at][origin] = Some(Told { placement, what: info.what });
            for (slot, system) in steps[at].systems[first_system..].iter_mut().zip(systems) {
                *slot = system;
            }
        }
        first_system += run.systems.len();
    }
    (steps, told)
}

fn name(sources: &[Source]) -> String {
    let mut names: Vec<String> = Vec::new();
    for source in sources {
        if !names.contains(&source.name) {
            names.push(source.name.clone());
        }
    }
    list(&names)
}

/// Finished when all runs are; else how the first one stands that is not.
fn status(sources: &[Source]) -> RunStatus {
    let open = sources.iter().map(|s| s.status).find(|status| *status != RunStatus::Finished);
    open.unwrap_or(RunStatus::Finished)
}

/// The end of the last run; absent where one has not ended.
fn finished(runs: &[Run]) -> Option<i64> {
    let ends: Option<Vec<i64>> = runs.iter().map(|run| run.finished_unix_ms).collect();
    ends?.into_iter().max()
}
