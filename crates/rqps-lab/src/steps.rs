//! From a plan to the list of steps that a run consists of.

use std::path::Path;

use anyhow::{Context as _, Result};
use rqps_model::{Placement, RunStep, StepInfo, StepKind, SystemStep};
use rqps_workload::{Step, Suite, SuiteArgs};

use crate::{Plan, limits, placement};

/// One step with one number of clients, ready to be measured on each system.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// The suite's step.
    pub step: Step,
    /// The suite's arguments.
    pub args: SuiteArgs,
    /// What reports know of it; the name carries the suite's prefix where there is one.
    pub info: StepInfo,
    /// Client threads.
    pub clients: u32,
    /// Placement, resolved.
    pub placement: Placement,
    /// Events per second of all clients together; `None` for as fast as they go.
    pub rate: Option<f64>,
}

impl PlannedStep {
    /// How long it takes on one system, but for connecting and settling; a guess for the load.
    #[must_use]
    pub fn expected(&self, slices: u32) -> std::time::Duration {
        let args = &self.args;
        if self.info.kind == StepKind::Load {
            // A few hundred thousand rows a second is what small tables take.
            let rows = args.rows.saturating_mul(u64::from(args.tables));
            return std::time::Duration::from_micros(rows * 5 + 1_000_000);
        }
        let slices = if self.info.kind == StepKind::WarmUp { 1 } else { slices };
        args.times.warm_up + self.step.slice_time(args) * slices
    }

    /// The step in a new run: pending on every system.
    #[must_use]
    pub fn pending(&self, n_systems: usize) -> RunStep {
        RunStep {
            info: self.info.clone(),
            clients: self.clients,
            placement: self.placement,
            systems: vec![SystemStep::pending(); n_systems],
        }
    }
}

/// All steps of a plan in order, each number of clients on its own.
///
/// # Errors
/// When a suite or a step is unknown, or a placement cannot be had.
pub fn of_plan(plan: &Plan, cpus: &[usize], all_local: bool) -> Result<Vec<PlannedStep>> {
    let mut planned = Vec::new();
    let cpus = &limits::narrowest(plan, cpus);
    for suite_plan in &plan.suites {
        let suite = load_suite(&suite_plan.kind)?;
        let suite = suite.select(&suite_plan.steps, suite_plan.form)?;
        for step in &suite.steps {
            for clients in step.clients(&suite_plan.args) {
                let mut info = step.info(&suite_plan.args);
                if let Some(prefix) = &suite_plan.name {
                    info.name = format!("{prefix}/{}", info.name);
                }
                // A warm-up is there to fill caches, which a low rate would leave cold.
                let paced = info.kind != StepKind::WarmUp;
                planned.push(PlannedStep {
                    step: step.clone(),
                    args: suite_plan.args.clone(),
                    info,
                    clients,
                    placement: placement::resolve(plan.placement, clients, cpus, all_local)?,
                    rate: suite_plan.rate.filter(|_| paced),
                });
            }
        }
    }
    Ok(planned)
}

fn load_suite(kind: &str) -> Result<Suite> {
    if kind == "sysbench" {
        return Ok(Suite::sysbench()?);
    }
    let path = Path::new(kind);
    let known = "known: sysbench, or the path of a suite file";
    let text =
        std::fs::read_to_string(path).with_context(|| format!("read suite {kind:?} ({known})"))?;
    Ok(Suite::parse(&text, kind)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;

    #[test]
    fn the_load_fills_tables_at_once_also_for_a_single_client() {
        let text = r#"
            [[system]]
            dbms = "postgres"
            version = "17.4"
            [[suite]]
            tables = 3
            clients = [1, 2]
            steps = ["point-query"]
        "#;
        let plan = PlanFile::parse(text, "test")
            .unwrap()
            .resolve("test", &rqps_server::Catalogue::builtin().unwrap())
            .unwrap();
        let steps = of_plan(&plan, &[0, 1], true).unwrap();
        let clients = |kind| -> Vec<u32> {
            steps.iter().filter(|s| s.info.kind == kind).map(|s| s.clients).collect()
        };
        assert_eq!(clients(StepKind::Load), [3]);
        assert_eq!(clients(StepKind::Read), [1, 2]);
    }
}
