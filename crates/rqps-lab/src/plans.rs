//! How the servers go about the statements of a step: asked once before it is measured, on a
//! connection of its own, while the server runs and nothing is counted.

use std::time::Duration;

use anyhow::Result;
use rqps_model::{QueryPlan, StepKind};
use rqps_server::explain::Question;
use rqps_workload::{Probe, Program};

use crate::event::Event;
use crate::run::Lab;
use crate::seed::{self, SeedDomain};
use crate::steps::Job;
use crate::system::Up;

/// Longest wait for a plan. An in-list of thousands of values takes a look into the index for each.
pub(crate) const EXPLAIN_WITHIN: Duration = Duration::from_secs(60);

impl Lab<'_> {
    /// Asks a system for the plans of a step's statements and stores them, unless they are known from
    /// before an interruption. Plans that cannot be had keep nothing from being measured.
    pub(crate) fn keep_plans(&mut self, idx: usize, step_idx: usize, up: &Up) -> Result<()> {
        let planned = &self.steps[step_idx];
        let has_statements = match planned.info.kind {
            StepKind::Load | StepKind::WarmUp | StepKind::Index => false,
            StepKind::Read | StepKind::Write | StepKind::Insert | StepKind::Mixed => true,
        };
        let known = &self.run.steps[step_idx].systems[idx].plans;
        if !has_statements || !known.is_empty() {
            return Ok(());
        }
        // One seed for all systems and starts: a difference of plans is not one of values.
        let seed = seed::derive(self.run.seed, SeedDomain::Probes, 0);
        let probes = match &planned.job {
            Job::File { step, args, .. } => {
                let dbms = self.plan.systems[idx].dbms;
                // What cannot be compiled fails as a step, with its reason.
                let Ok(program) = Program::compile(step, args, dbms) else { return Ok(()) };
                program.probes(seed)
            }
            Job::Insert { step, args } => step.probes(args, &self.schema(idx, args), seed),
        };
        let plans = match up.plans(&probes) {
            Ok(plans) => plans,
            Err(error) => {
                let (label, step) = (&self.plan.systems[idx].label, &planned.info.name);
                (self.listen)(Event::Note(&format!(
                    "{label}: the query plans of {step} are not known: {error:#}"
                )));
                return Ok(());
            }
        };
        self.store.insert_plans(&self.run.id, step_idx, idx, &plans)?;
        self.run.steps[step_idx].systems[idx].plans = plans;
        Ok(())
    }
}

/// Asks about each probe.
pub(crate) fn ask(
    probes: &[Probe],
    explain: &mut dyn FnMut(&Question<'_>) -> QueryPlan,
) -> Vec<QueryPlan> {
    probes
        .iter()
        .map(|probe| {
            explain(&Question {
                sql: &probe.sql,
                shown: &probe.shown(),
                protocol: probe.protocol,
                types: &probe.types,
                values: &probe.values,
            })
        })
        .collect()
}
