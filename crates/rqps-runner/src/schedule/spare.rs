//! Time of the run that steps have left because they were precise enough before theirs was over, for those that are
//! not.

use std::time::Duration;

use rqps_model::{StepIdx, StepOutcome, SystemIdx};

use crate::engine::cut::Cut;
use crate::journal::Journal;
use crate::plan::steps::PlannedStep;
use crate::run_context::RunContext;

/// The part of its time that a step takes at most where it ended because it was precise enough.
const ENDED_EARLY: f64 = 0.95;

/// How a step is cut: with its own time and its part of what the steps before it have left, where steps share the time
/// of the run and end when they are precise enough. A budget is the most that a step takes, whatever others leave.
pub(crate) fn cut(run: &RunContext<'_>, journal: &Journal<'_>, step: StepIdx) -> Cut {
    let schedule = run.plan.schedule;
    let planned = run.step(step);
    let cut = Cut::of_step(planned, schedule);
    let (Cut::Timed(_), Some(_), Some(_)) = (cut, schedule.half_width(), &run.plan.time) else {
        return cut;
    };
    let is_timed =
        |step: &StepIdx| matches!(Cut::of_step(run.step(*step), run.plan.schedule), Cut::Timed(_));
    let (mut before, mut to_come) = (Vec::new(), Vec::new());
    for other in run.all_steps().filter(is_timed) {
        let of_start = StartOfStep::of(run, other);
        if other < step {
            before.push(Spent { spent_s: spent_s(run, journal, other), of_start });
        } else {
            to_come.push(of_start);
        }
    }
    let more = Duration::from_secs_f64(part_of_spare(&before, &to_come));
    Cut::timed(planned, schedule, planned.time(schedule) + more)
}

/// A step on one start of the servers.
#[derive(Debug, Clone, Copy)]
struct StartOfStep<'a> {
    planned: &'a PlannedStep,
    time_s: f64,
}

impl<'a> StartOfStep<'a> {
    fn of(run: &'a RunContext<'_>, step: StepIdx) -> Self {
        let planned = run.step(step);
        Self { planned, time_s: planned.time(run.plan.schedule).as_secs_f64() }
    }

    fn is_of_step(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.planned.info.name.clone(), one.planned.clients);
        of(self) == of(other)
    }
}

/// One that is over.
#[derive(Debug, Clone, Copy)]
struct Spent<'a> {
    of_start: StartOfStep<'a>,
    spent_s: f64,
}

/// What the first of the steps to come gets of the seconds that those before have left. All to come have shares in
/// proportion to their time, but for those that were precise enough before their time was over on an earlier start.
fn part_of_spare(before: &[Spent<'_>], to_come: &[StartOfStep<'_>]) -> f64 {
    let was_precise = |spent: &&Spent<'_>| spent.spent_s < ENDED_EARLY * spent.of_start.time_s;
    let lacks = |step: &&StartOfStep<'_>| {
        !before.iter().filter(was_precise).any(|spent| spent.of_start.is_of_step(step))
    };
    let Some(own) = to_come.first().filter(lacks) else { return 0.0 };
    let spare: f64 = before.iter().map(|spent| spent.of_start.time_s - spent.spent_s).sum();
    let wanted: f64 = to_come.iter().filter(lacks).map(|step| step.time_s).sum();
    if wanted > 0.0 && spare > 0.0 { spare * own.time_s / wanted } else { 0.0 }
}

/// Seconds that a step was measured for, on the system with the most. All of its time where it failed everywhere: it
/// has used it, or nobody knows.
fn spent_s(run: &RunContext<'_>, journal: &Journal<'_>, step: StepIdx) -> f64 {
    let is_done = |system: &SystemIdx| journal.cell(step, *system).outcome == StepOutcome::Done;
    let done: Vec<SystemIdx> = run.systems().filter(is_done).collect();
    if done.is_empty() {
        return StartOfStep::of(run, step).time_s;
    }
    journal.done_of(step, &done).spent.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;
    use crate::plan::launches;

    fn steps() -> Vec<PlannedStep> {
        let text = "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'b'\n[[suite]]\nclients = [1]\n\
                    steps = ['point-query', 'scan']\n[schedule]\nstarts = 2\nprecision = '1%'\nbudget = '40s'\n";
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = PlanFile::parse(text, "test").unwrap().resolve("test", &catalogue).unwrap();
        let mut steps = launches::of_plan(&plan, &[0, 1], true).unwrap();
        steps.retain(|step| ["point-query", "scan"].contains(&step.info.name.as_str()));
        steps
    }

    #[test]
    fn what_precise_steps_leave_goes_to_the_others() {
        let steps = steps();
        let order: Vec<&str> = steps.iter().map(|step| step.info.name.as_str()).collect();
        assert_eq!(order, ["scan", "point-query", "scan", "point-query"]);
        let all: Vec<StartOfStep<'_>> =
            steps.iter().map(|planned| StartOfStep { planned, time_s: 20.0 }).collect();
        let part = |spent: &[f64]| {
            let before: Vec<Spent<'_>> = all
                .iter()
                .zip(spent)
                .map(|(of_start, spent_s)| Spent { of_start: *of_start, spent_s: *spent_s })
                .collect();
            part_of_spare(&before, &all[spent.len()..])
        };
        let parts = [
            part(&[]),
            // A scan leaves 15 s. Its other start needs no more either: two starts of point queries share it.
            part(&[5.0]),
            part(&[5.0, 27.5]),
            part(&[5.0, 27.5, 5.0]),
            // Where none was precise there is nothing to share, and what took longer is made up for first.
            part(&[20.0, 20.0, 20.0]),
            part(&[30.0, 15.0]),
        ];
        assert_eq!(parts.map(|s| s.to_string()), ["0", "7.5", "0", "22.5", "0", "0"]);
    }
}
