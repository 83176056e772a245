//! How the systems execute the statements of a step, and where their plans differ.

use rqps_model::query_plan::kind::PlanKind;
use rqps_model::run::{StartPlans, SystemStep};
use rqps_model::starts::{PlanGroup, plan_groups};
use rqps_model::warning::PlanOfStarts;
use rqps_model::{PlanDifference, RunStep, WarningKind, plan_difference};

use rqps_text::words::one_line;

/// The query plans of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepPlans {
    /// Its statements in their order; none where nothing was asked.
    pub statements: Vec<StatementPlans>,
    /// Per system how its plans differ from those of the base; absent for the base, and where they do
    /// not.
    pub differences: Vec<Option<PlanDifference>>,
    /// Per system the statements that did not have one plan throughout.
    pub variations: Vec<Vec<PlanVariation>>,
}

/// A statement that starts of a server ran by different plans, or the sessions of one start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanVariation {
    /// Its place among the statements of the step.
    pub statement_idx: usize,
    /// The statement.
    pub sql: String,
    /// The plans, the most frequent first; a single one is generic and custom at once.
    pub plans: Vec<PlanOfStarts>,
}

/// A statement and how each system executes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementPlans {
    /// The statement as the first system has it that knows it.
    pub sql: String,
    /// Per system its plan in words; absent where it was not asked.
    pub words: Vec<Option<String>>,
    /// On how many systems it was explained.
    pub n_explained: usize,
}

impl StatementPlans {
    /// The plans that there are, each with the indices of its systems.
    #[must_use]
    pub fn groups(&self) -> Vec<(&str, Vec<usize>)> {
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for (idx, words) in self.words.iter().enumerate() {
            let Some(words) = words else { continue };
            match groups.iter_mut().find(|(known, _)| *known == words) {
                Some((_, systems)) => systems.push(idx),
                None => groups.push((words, vec![idx])),
            }
        }
        groups
    }
}

impl StepPlans {
    /// Of a step whose base is the system `base`.
    pub(super) fn of(step: &RunStep, base: usize) -> Self {
        let n = step.systems.iter().map(|system| system.plans.len()).max().unwrap_or(0);
        let statements = (0..n)
            .filter_map(|at| {
                let plans = || step.systems.iter().map(move |system| system.plans.get(at));
                Some(StatementPlans {
                    sql: one_line(&plans().flatten().next()?.sql),
                    words: plans().map(|plan| plan.map(|p| one_line(&p.words()))).collect(),
                    n_explained: plans().flatten().filter(|p| p.shape.is_some()).count(),
                })
            })
            .collect();
        let differences = (0..step.systems.len())
            .map(|idx| if idx == base { None } else { plan_difference(step, base, idx) })
            .collect();
        let variations = step.systems.iter().map(variations).collect();
        Self { statements, differences, variations }
    }

    /// The statements that did not have one plan throughout on a system.
    #[must_use]
    pub fn variations_of(&self, system_idx: usize) -> &[PlanVariation] {
        self.variations.get(system_idx).map_or(&[], Vec::as_slice)
    }

    /// The warning that a system ran different plans. The first such statement counts.
    pub(super) fn warning(&self, system_idx: usize) -> Option<WarningKind> {
        let (first, others) = self.variations_of(system_idx).split_first()?;
        let PlanVariation { sql, plans, .. } = first.clone();
        Some(WarningKind::PlanVaries { plans, sql, n_more: others.len() })
    }

    /// Whether a system's plans differ from the base's.
    #[must_use]
    pub fn differ(&self) -> bool {
        self.differences.iter().any(Option::is_some)
    }
}

/// The statements of a system whose plan was not the same on all of its starts and in all sessions.
fn variations(system: &SystemStep) -> Vec<PlanVariation> {
    let only = [StartPlans { start: 0, plans: system.plans.clone() }];
    let starts = match system.plans_of_starts.as_slice() {
        [] => only.as_slice(),
        starts => starts,
    };
    let n = starts.iter().map(|start| start.plans.len()).max().unwrap_or(0);
    let of_statement = |statement_idx: usize| {
        let groups = plan_groups(starts, statement_idx);
        let sql = one_line(&groups.first()?.plan.sql);
        let plan = |group: &PlanGroup<'_>| {
            Some(PlanOfStarts { shape: group.plan.shape.clone()?, starts: group.starts.clone() })
        };
        let plans: Vec<PlanOfStarts> = groups.iter().filter_map(plan).collect();
        let is_mixed = plans.iter().any(|own| own.shape.kind == Some(PlanKind::Mixed));
        (plans.len() > 1 || is_mixed).then_some(PlanVariation { statement_idx, sql, plans })
    };
    (0..n).filter_map(of_statement).collect()
}
