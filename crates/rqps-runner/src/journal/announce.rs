//! The events at the start and the end of a step: how long it takes, what is left after it, what came of it.

use std::time::Duration;

use rqps_model::{Label, StepIdx, StepOutcome, SystemIdx, SystemSource};

use crate::changes::ChangesLeft;
use crate::event::Event;
use crate::journal::Journal;
use crate::run_context::RunContext;

impl Journal<'_> {
    /// Tells that a step begins on some systems.
    pub(crate) fn announce(&mut self, run: &RunContext<'_>, systems: &[SystemIdx], step: StepIdx) {
        let is_other = |system, other| !(other == step && systems.contains(&system));
        let (mut left, mut left_guessed) = (Duration::ZERO, Duration::ZERO);
        run.systems()
            .flat_map(|system| run.all_steps().map(move |step| (system, step)))
            .filter(|&(system, step)| is_other(system, step) && self.is_pending(step, system))
            .map(|(_, step)| run.step(step))
            .for_each(|planned| {
                let expected = planned.expected(run.plan.schedule);
                left += expected;
                left_guessed += if planned.is_guess() { expected } else { Duration::ZERO };
            });
        let label = match systems {
            [system] => run.label(*system).clone(),
            several => Label(format!("{} systems", several.len())),
        };
        let next = run.all_steps().find(|&later| {
            later > step && systems.iter().any(|&system| self.is_pending(later, system))
        });
        let planned = run.step(step);
        let times = u32::try_from(systems.len()).unwrap_or(1);
        let places: Vec<usize> = systems.iter().map(|system| system.0).collect();
        self.tell(Event::StepStarted {
            label: &label,
            step: &planned.info.name,
            clients: planned.clients,
            idx: self.n_done(),
            step_idx: step.0,
            systems: &places,
            expected: planned.expected(run.plan.schedule) * times,
            next: next.map(|next| run.step(next).info.name.as_str()),
            is_guess: planned.is_guess(),
            left,
            left_guessed,
            changes_left: self.changes_left(run, systems),
        });
    }

    /// What is to come when a step begins on some systems.
    fn changes_left(&self, run: &RunContext<'_>, systems: &[SystemIdx]) -> ChangesLeft {
        let is_ours = |system: &SystemIdx| {
            let source = &run.spec(*system).source;
            matches!(
                source,
                SystemSource::Catalogue { .. }
                    | SystemSource::Basedir { .. }
                    | SystemSource::Built(_)
            )
        };
        let ours = || run.systems().filter(is_ours);
        let has_more = |launch: u32, system: SystemIdx| {
            run.steps_of(launch).any(|step| self.is_pending(step, system))
        };
        let pending: Vec<Vec<SystemIdx>> = (run.launch..run.n_launches())
            .map(|launch| ours().filter(|&system| has_more(launch, system)).collect())
            .collect();
        // Interleaved systems are all up from the beginning.
        let are_all_up = run.plan.schedule.is_interleaved();
        let is_of_now =
            |system: &SystemIdx| pending.first().is_some_and(|now| now.contains(system));
        let up: Vec<SystemIdx> = ours()
            .filter(|system| systems.contains(system) || (are_all_up && is_of_now(system)))
            .collect();
        ChangesLeft::of(&pending, &up)
    }

    /// Tells how a step ended on a system.
    pub(crate) fn tell_end(
        &mut self,
        run: &RunContext<'_>,
        step: StepIdx,
        system: SystemIdx,
        outcome: &StepOutcome,
    ) {
        let planned = run.step(step);
        let slices = &self.cell(step, system).slices;
        // Over the whole time: blocks of work are not of equal length.
        let (n, ns) =
            slices.iter().fold((0, 0), |(n, ns), s| (n + s.n_operations, ns + s.duration_ns));
        let mean = (ns > 0 && *outcome == StepOutcome::Done).then(|| n as f64 * 1e9 / ns as f64);
        let failure = match outcome {
            StepOutcome::Failed { reason } => Some(reason.as_str()),
            _ => None,
        };
        self.tell(Event::StepEnded {
            label: run.label(system),
            step: &planned.info.name,
            clients: planned.clients,
            figure: mean,
            unit: planned.info.figure.unit(),
            failure,
        });
    }
}
