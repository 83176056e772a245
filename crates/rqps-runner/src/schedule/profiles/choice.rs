//! Which steps are recorded, by the patterns of a plan.

use std::collections::BTreeSet;

use anyhow::Result;
use rqps_model::StepKind;
use rqps_workload::Pattern;

use crate::plan::Profiling;
use crate::plan::steps::{Job, PlannedStep};

/// Refuses patterns that mean no step.
///
/// # Errors
/// Names the pattern and what would do.
pub(crate) fn check_patterns(profiling: &Profiling, steps: &[PlannedStep]) -> Result<()> {
    for pattern in &profiling.steps {
        let one = Profiling { steps: vec![pattern.clone()], time: profiling.time };
        if !steps.iter().any(|step| one.wants(step)) {
            let known: BTreeSet<&str> = steps
                .iter()
                .filter(|step| can_be_recorded(step))
                .map(|step| step.info.name.as_str())
                .collect();
            let known: Vec<&str> = known.into_iter().take(8).collect();
            anyhow::bail!(
                "no step {pattern:?} can be profiled; possible in this plan: {} (steps of the Insert \
                 Benchmark cannot be profiled)",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            );
        }
    }
    Ok(())
}

impl Profiling {
    /// Whether a step is one of those that are meant.
    pub(crate) fn wants(&self, step: &PlannedStep) -> bool {
        let (name, family) = (step.info.name.as_str(), step.info.family.as_str());
        let mut names = vec![name.to_owned(), family.to_owned()];
        // Of a suite with a name.
        if let Some((suite, alone)) = name.rsplit_once('/') {
            names.extend([alone.to_owned(), format!("{suite}/{family}")]);
        }
        let is_meant = |pattern: &String| {
            let pattern = Pattern::new(pattern);
            names.iter().any(|name| pattern.matches(name))
        };
        can_be_recorded(step) && (self.steps.is_empty() || self.steps.iter().any(is_meant))
    }
}

/// Steps that are compared and can run for any time.
fn can_be_recorded(step: &PlannedStep) -> bool {
    let is_compared = matches!(step.info.kind, StepKind::Read | StepKind::Write | StepKind::Insert);
    is_compared && matches!(step.job, Job::File { .. })
}
