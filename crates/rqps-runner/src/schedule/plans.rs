//! How the servers go about the statements of a step: asked once before it is measured, on a
//! connection of its own, while the server runs and nothing is counted.

use anyhow::Result;
use rqps_model::{StepIdx, StepKind};
use rqps_workload::Program;

use crate::journal::Journal;
use crate::plan::seed::{self, SeedDomain};
use crate::plan::steps::Job;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// Asks a system for the plans of a step's statements and stores them, unless they are known from
/// before an interruption. Plans that cannot be had keep nothing from being measured.
pub(crate) fn keep_plans(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &Member<'_>,
    step: StepIdx,
) -> Result<()> {
    let (planned, system) = (run.step(step), member.idx());
    let has_statements = match planned.info.kind {
        StepKind::Load | StepKind::WarmUp | StepKind::Index => false,
        StepKind::Read | StepKind::Write | StepKind::Insert | StepKind::Mixed => true,
    };
    if !has_statements || !journal.cell(step, system).plans.is_empty() {
        return Ok(());
    }
    // One seed for all systems and starts: a difference of plans is not one of values.
    let seed = seed::derive(run.seed, SeedDomain::Probes, 0);
    let probes = match &planned.job {
        Job::File { step, args, .. } => {
            // What cannot be compiled fails as a step, with its reason.
            let Ok(program) = Program::compile(step, args, run.spec(system).dbms) else {
                return Ok(());
            };
            program.probes(seed)
        }
        Job::Insert { step, args } => step.probes(args, &run.schema(system, args), seed),
    };
    match member.up.plans(&probes) {
        Ok(plans) => journal.keep_plans(step, system, plans),
        Err(error) => {
            let (label, step) = (run.label(system), &planned.info.name);
            journal.note(&format!("{label}: the query plans of {step} are not known: {error:#}"));
            Ok(())
        }
    }
}
