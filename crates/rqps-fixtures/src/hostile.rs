//! A run whose texts come from somebody who means harm.

use rqps_model::{Run, Scope, StepOutcome, Warning, WarningKind};

/// A run in which every text that comes from outside is `text`.
#[must_use]
pub fn run(text: &str) -> Run {
    let mut run = crate::demo();
    let mut n = 0;
    let mut next = || {
        n += 1;
        format!("{text}{n}")
    };
    (run.id, run.name, run.rqps_version) = (next(), next(), next());
    (run.command_line, run.plan) = (vec![next()], next());
    (run.host.hostname, run.host.kernel, run.host.os) = (next(), next(), next());
    (run.host.cpu_model, run.host.storage) = (next(), next());
    for system in &mut run.systems {
        system.spec.label.0 = next();
        system.spec.config = next();
        system.spec.options.insert(next(), next());
        (system.version_text, system.origin) = (next(), next());
        system.settings.insert(next(), next());
        system.session.insert(next(), next());
        system.version = None;
    }
    for scope in [Scope::Run, Scope::System(0)] {
        let kind = WarningKind::RunEnded { reason: next() };
        run.warnings.push(Warning { at_unix_ms: Some(1), scope, kind });
    }
    for step in &mut run.steps {
        (step.info.name, step.info.family, step.info.what) = (next(), next(), next());
        for system in &mut step.systems {
            if let StepOutcome::Failed { reason } = &mut system.outcome {
                *reason = next();
            }
            for slice in &mut system.slices {
                slice.warnings.push(WarningKind::ImportedFault { text: next() });
                slice.warnings.push(WarningKind::NotSettled { left: next() });
                slice.errors.push(rqps_model::ErrorCount { code: next(), n: 1 });
            }
        }
    }
    run
}
