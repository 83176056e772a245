//! How the systems go about the statements of a step, and where that is not the same.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rqps_model::warning::PlanOfStarts;
use rqps_model::{PlanDifference, QueryPlan, Run, RunStep, WarningKind, plan_difference};

use rqps_text::words::one_line;

/// The query plans of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepPlans {
    /// Its statements in their order; none where nothing was asked.
    pub statements: Vec<StatementPlans>,
    /// Per system how its plans differ from those of the base; absent for the base, and where they do
    /// not.
    pub differences: Vec<Option<PlanDifference>>,
}

/// A statement and how each system goes about it.
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
        Self { statements, differences }
    }

    /// Whether a system's plans differ from the base's.
    #[must_use]
    pub fn differ(&self) -> bool {
        self.differences.iter().any(Option::is_some)
    }
}

/// The warning of a step whose statement had several query plans over the starts of its server. `None` where all
/// starts have the same plans, and where a start has the step twice. The first such statement counts.
pub(super) fn over_starts<'a>(
    run: &'a Run,
    step: &RunStep,
    system_idx: usize,
) -> Option<WarningKind> {
    let is_same =
        |other: &&RunStep| other.info.name == step.info.name && other.clients == step.clients;
    let same: Vec<&RunStep> = run.steps.iter().filter(is_same).collect();
    // A step that a start has twice may be on other tables each time.
    let starts: BTreeSet<u32> = same.iter().map(|step| step.start).collect();
    if starts.len() < same.len() {
        return None;
    }
    let plans_of = |step: &&'a RunStep| Some(step.systems.get(system_idx)?.plans.as_slice());
    let of_starts: Vec<&[QueryPlan]> = same.iter().filter_map(plans_of).collect();
    let n_statements = of_starts.iter().map(|plans| plans.len()).max()?;
    (0..n_statements).find_map(|at| {
        let plans = || of_starts.iter().filter_map(|plans| plans.get(at));
        let mut found: Vec<PlanOfStarts> = Vec::new();
        for shape in plans().filter_map(|plan| plan.shape.as_ref()) {
            // Plans that read the same are the same to a reader.
            match found.iter_mut().find(|known| known.shape.words() == shape.words()) {
                Some(known) => known.n_starts += 1,
                None => found.push(PlanOfStarts { shape: shape.clone(), n_starts: 1 }),
            }
        }
        found.sort_by_key(|known| Reverse(known.n_starts));
        let sql = plans().next()?.sql.clone();
        (found.len() > 1).then_some(WarningKind::PlanVaries { plans: found, sql })
    })
}
