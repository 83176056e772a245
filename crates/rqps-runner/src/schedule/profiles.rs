//! Stack profiles of a run: which steps get one and when.
//!
//! Steps that only read are recorded right after their slices; those that write when all steps on the
//! same tables have been measured, so that nothing measured sees rows that the extra slices changed. Slices
//! of later steps do come after extra slices, with what these left in caches. What was recorded is
//! stored beside the run. That it cannot be recorded fails no step.

mod choice;
mod recording;

use std::collections::BTreeSet;

use anyhow::Result;
use rqps_model::{StepIdx, StepKind, StepOutcome, SystemIdx, SystemSource};
use rqps_stacks::Stacks;
use rqps_stacks::profile::{Facts, NotHad, StackProfile, Unwind};

pub(crate) use choice::check_patterns;

use crate::engine::stacks::ability::{Ability, look};
use crate::event::Event;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// What is said of a server that has ended beside the steps.
pub(crate) const GONE: &str = "its server ended while stacks were recorded";

/// Whether something is done beside the steps that takes no notice of a server's end.
pub(crate) fn may_have_lost_servers(run: &RunContext<'_>) -> bool {
    run.plan.profiling.is_some() && !run.is_interrupted()
}

/// Records stack profiles, and knows which there are.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    /// Steps and systems that have one.
    done: BTreeSet<(StepIdx, SystemIdx)>,
    /// What perf can do, once that was looked at.
    ability: Option<Result<Ability, NotHad>>,
    /// How stacks are found, once that was tried: the same for all systems, so that they compare.
    unwind: Option<Unwind>,
    /// Extra slices so far: no two may draw the same, whose updates would change nothing.
    n_extra: u64,
}

impl Profiler {
    /// Learns which profiles an earlier attempt has stored.
    pub(crate) fn begin(run: &RunContext<'_>, journal: &mut Journal<'_>) -> Result<Self> {
        let mut profiler = Self::default();
        if run.plan.profiling.is_none() {
            return Ok(profiler);
        }
        let stored = journal.stored_profiles()?;
        let of = |p: &StackProfile| (StepIdx(p.step_idx), SystemIdx(p.system_idx));
        profiler.done = stored.iter().map(of).collect();
        // What was chosen once is kept, so that systems and steps of one run compare.
        profiler.unwind = stored_unwind(&stored);
        for system in &run.plan.systems {
            if matches!(system.source, SystemSource::External { .. }) {
                let label = &system.label;
                journal.note(&format!("{label}: no stacks, as rqps did not start this server"));
            }
        }
        profiler.note_lost(run, journal)?;
        Ok(profiler)
    }

    /// Says of steps that an earlier attempt has measured and not recorded, and whose tables no other step needs,
    /// that they will not be recorded.
    fn note_lost(&mut self, run: &RunContext<'_>, journal: &mut Journal<'_>) -> Result<()> {
        let Some(profiling) = &run.plan.profiling else { return Ok(()) };
        for system in run.systems() {
            // None of them has a server of rqps's own.
            let source = &run.spec(system).source;
            if matches!(source, SystemSource::External { .. } | SystemSource::Builtin) {
                continue;
            }
            for step in run.steps_of_load(0) {
                let is_done = journal.cell(step, system).outcome == StepOutcome::Done
                    && run.step(step).start == 0
                    && profiling.wants(run.step(step));
                let mut later = run
                    .steps_of_load(0)
                    .filter(|&at| at > step)
                    .take_while(|&at| !run.step(at).fills());
                let has_more = later.any(|at| journal.is_pending(at, system));
                if is_done && !has_more && !self.done.contains(&(step, system)) {
                    let why =
                        anyhow::anyhow!("the run was interrupted before stacks were recorded");
                    self.keep(run, journal, &nothing_recorded(step, system, &why))?;
                }
            }
        }
        Ok(())
    }

    /// Records a step that only reads, right after its slices.
    pub(crate) fn record_if_read(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        members: &[&Member<'_>],
        step: StepIdx,
    ) -> Result<()> {
        if run.step(step).info.kind == StepKind::Read {
            self.record(run, journal, members, step)?;
        }
        Ok(())
    }

    /// Records all steps before `end` that are still to be recorded, unless the steps from there on need
    /// the tables as they are.
    pub(crate) fn record_rest(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        members: &[&Member<'_>],
        end: StepIdx,
    ) -> Result<()> {
        let is_needed =
            run.steps.get(end.0).is_some_and(|next| next.load == run.load() && !next.fills());
        if is_needed {
            return Ok(());
        }
        for step in run.first_step().until(end) {
            // Steps on tables of an earlier load were recorded before it.
            if !step.until(end).any(|later| run.step(later).fills()) {
                self.record(run, journal, members, step)?;
            }
        }
        Ok(())
    }

    /// Records a step on the members that have done it.
    fn record(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        members: &[&Member<'_>],
        step: StepIdx,
    ) -> Result<()> {
        let Some(profiling) = &run.plan.profiling else { return Ok(()) };
        // One start of the servers shows where the time goes.
        if run.step(step).start > 0 || !profiling.wants(run.step(step)) {
            return Ok(());
        }
        let is_due = |member: &&&Member<'_>| {
            member.up.server_pid().is_some()
                && journal.cell(step, member.idx()).outcome == StepOutcome::Done
                && !self.done.contains(&(step, member.idx()))
        };
        let due: Vec<SystemIdx> =
            members.iter().filter(is_due).map(|member| member.idx()).collect();
        if due.is_empty() {
            return Ok(());
        }
        for &system in &due {
            journal.tell(Event::Preparing { label: run.label(system), doing: "record stacks" });
        }
        let recorded = match self.record_slices(run, journal, members, step, &due) {
            Ok(recorded) => recorded,
            Err(error) if run.is_interrupted() => return Err(error),
            // What keeps one from it keeps all from it.
            Err(error) => {
                let words = format!("{error:#}");
                due.iter().map(|_| Err(anyhow::anyhow!(words.clone()))).collect()
            }
        };
        for (system, recorded) in due.into_iter().zip(recorded) {
            run.check_interrupt()?;
            let read = recorded.and_then(|found| found.profile(step, system, run.environment));
            let profile = match read {
                Ok(profile) => profile,
                Err(error) if run.is_interrupted() => return Err(error),
                Err(error) => nothing_recorded(step, system, &error),
            };
            self.keep(run, journal, &profile)?;
        }
        Ok(())
    }

    /// Stores a profile, and tells where there are no stacks.
    fn keep(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        profile: &StackProfile,
    ) -> Result<()> {
        let (step, system) = (StepIdx(profile.step_idx), SystemIdx(profile.system_idx));
        let planned = run.step(step);
        if let Some(missing) = profile.facts.missing.iter().find(|m| m.what == "stacks") {
            let remedy = Some(&missing.remedy).filter(|r| !r.is_empty());
            let remedy = remedy.map_or_else(String::new, |r| format!("; {r}"));
            let (label, step) = (run.label(system), &planned.info.name);
            journal.note(&format!("{label}: no stacks of {step}: {}{remedy}", missing.reason));
        }
        journal.keep_profile(profile, planned)?;
        self.done.insert((step, system));
        Ok(())
    }

    fn learn_ability(&mut self) -> &Result<Ability, NotHad> {
        self.ability.get_or_insert_with(look)
    }
}

/// How stacks were found in what an earlier attempt has stored.
fn stored_unwind(stored: &[StackProfile]) -> Option<Unwind> {
    stored.iter().find_map(|profile| profile.facts.cpu.as_ref().map(|cpu| cpu.unwind))
}

/// A profile that says why there is none.
fn nothing_recorded(step: StepIdx, system: SystemIdx, error: &anyhow::Error) -> StackProfile {
    let missing =
        NotHad { what: "stacks".to_owned(), reason: format!("{error:#}"), remedy: String::new() };
    let facts = Facts { missing: vec![missing], ..Facts::default() };
    let (stacks, waits) = (Stacks::default(), Stacks::default());
    StackProfile { step_idx: step.0, system_idx: system.0, facts, stacks, waits }
}

#[cfg(test)]
mod tests {
    use rqps_stacks::profile::CpuSampling;

    use super::*;

    #[test]
    fn what_an_earlier_attempt_chose_is_kept() {
        let failed = nothing_recorded(StepIdx(0), SystemIdx(0), &anyhow::anyhow!("perf ended"));
        assert_eq!(stored_unwind(std::slice::from_ref(&failed)), None);
        let cpu = CpuSampling {
            event: "cpu-clock".to_owned(),
            unwind: Unwind::Dwarf,
            frequency_hz: 499,
            n_samples: 1,
            period_ns: 1,
            n_user: 1,
            n_complete: 1,
            n_frames: 1,
            n_unknown: 0,
            symbols: String::new(),
            is_stripped: false,
            cost_ns: 0,
        };
        let facts = Facts { cpu: Some(cpu), ..Facts::default() };
        let had = StackProfile { facts, ..failed.clone() };
        assert_eq!(stored_unwind(&[failed, had]), Some(Unwind::Dwarf));
    }
}
