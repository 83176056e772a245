//! The event at the start of a step: how long it takes, and what is left after it.

use std::time::Duration;

use rqps_model::{Label, SystemSource};

use crate::changes::ChangesLeft;
use crate::event::Event;
use crate::run::{Lab, done};

impl Lab<'_> {
    /// Tells that a step begins on the systems `idxs`, under the name `label`.
    pub(crate) fn announce(&mut self, label: &Label, idxs: &[usize], step_idx: usize) {
        idxs.iter().for_each(|&idx| self.states[idx].under_way = Some(step_idx));
        let is_other = |system, step| !(step == step_idx && idxs.contains(&system));
        let (mut left, mut left_guessed) = (Duration::ZERO, Duration::ZERO);
        (0..self.plan.systems.len())
            .flat_map(|system| (0..self.steps.len()).map(move |step| (system, step)))
            .filter(|&(system, step)| is_other(system, step) && self.is_pending(step, system))
            .map(|(_, step)| &self.steps[step])
            .for_each(|planned| {
                let expected = planned.expected(self.plan.schedule);
                left += expected;
                left_guessed += if planned.is_guess() { expected } else { Duration::ZERO };
            });
        let next = (step_idx + 1..self.steps.len())
            .find(|&step| idxs.iter().any(|&system| self.is_pending(step, system)));
        let planned = &self.steps[step_idx];
        let times = u32::try_from(idxs.len()).unwrap_or(1);
        let changes_left = self.changes_left(idxs);
        (self.listen)(Event::StepStarted {
            label,
            step: &planned.info.name,
            clients: planned.clients,
            idx: done(&self.run),
            step_idx,
            systems: idxs,
            expected: planned.expected(self.plan.schedule) * times,
            next: next.map(|n| self.steps[n].info.name.as_str()),
            is_guess: planned.is_guess(),
            left,
            left_guessed,
            changes_left,
        });
    }

    /// What is to come when a step begins on the systems `idxs`.
    pub(crate) fn changes_left(&self, idxs: &[usize]) -> ChangesLeft {
        let n = self.steps_of_start().len();
        let is_ours = |system: &usize| {
            let source = &self.plan.systems[*system].source;
            matches!(source, SystemSource::Catalogue { .. } | SystemSource::Basedir { .. })
        };
        let systems = || (0..self.plan.systems.len()).filter(is_ours);
        let has_more = |start: usize, system: usize| {
            (start * n..(start + 1) * n).any(|step| self.is_pending(step, system))
        };
        let place = |start: u32| usize::try_from(start).unwrap_or(0);
        let pending: Vec<Vec<usize>> = (place(self.start_idx)..place(self.plan.starts))
            .map(|start| systems().filter(|&system| has_more(start, system)).collect())
            .collect();
        // Interleaved systems are all up from the beginning.
        let are_all_up = self.plan.schedule.is_interleaved();
        let is_of_now = |system: &usize| pending.first().is_some_and(|now| now.contains(system));
        let up: Vec<usize> = systems()
            .filter(|system| idxs.contains(system) || (are_all_up && is_of_now(system)))
            .collect();
        ChangesLeft::of(&pending, &up)
    }
}
