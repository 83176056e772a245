//! How the servers go about the statements of a step: asked in the sessions that were measured, after the last block
//! and before they end.

use anyhow::Result;
use rqps_model::{StepIdx, StepKind};
use rqps_workload::{Probe, Program};

use crate::engine::clients::StepClients;
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
    clients: &StepClients,
) -> Result<()> {
    let system = member.idx();
    let probes = probes(run, member, step);
    if probes.is_empty() || !journal.cell(step, system).plans.is_empty() {
        return Ok(());
    }
    match member.up.plans(&probes, clients) {
        Ok(plans) => journal.keep_plans(step, system, plans),
        Err(error) => {
            let (label, step) = (run.label(system), &run.step(step).info.name);
            journal.note(&format!("{label}: no query plans of {step}: {error:#}"));
            Ok(())
        }
    }
}

/// The statements that a step has on a system.
fn probes(run: &RunContext<'_>, member: &Member<'_>, step: StepIdx) -> Vec<Probe> {
    let (planned, system) = (run.step(step), member.idx());
    if matches!(planned.info.kind, StepKind::Load | StepKind::WarmUp | StepKind::Index) {
        return Vec::new();
    }
    // One seed for all systems and starts: a difference of plans is not one of values.
    let seed = seed::derive(run.seed, SeedDomain::Probes, 0);
    match &planned.job {
        Job::File { step, args, .. } => {
            let program = Program::compile(step, args, run.spec(system).dbms);
            program.map_or_else(|_| Vec::new(), |program| program.probes(seed))
        }
        Job::Insert { step, args } => step.probes(args, &run.schema(system, args), seed),
        Job::Vector { step, args } => run.vectors.get(args).map_or_else(
            |_| Vec::new(),
            |vectors| step.probes(args, &vectors.schema(run.spec(system).dbms, args), &vectors.set),
        ),
    }
}
