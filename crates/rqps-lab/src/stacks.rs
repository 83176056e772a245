//! Stack profiles of a run: which steps get one and when.
//!
//! Steps that only read are recorded right after their slices; those that write when all steps on the
//! same tables have been measured, so that nothing measured sees rows that the extra slices changed. Figures
//! of later steps do come after extra slices, with what these left in caches. What was recorded is
//! stored beside the run. That it cannot be recorded fails no step.

mod ability;
mod choice;
mod counting;
mod perf;
mod profiler;
mod record;
mod turns;
mod unwind;

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rqps_model::{StepKind, StepOutcome, SystemSource, SystemSpec};
use rqps_stacks::Stacks;
use rqps_stacks::profile::{Facts, NotHad, StackProfile, Unwind};
use rqps_store::RunRef;

pub use ability::{Ability, look as ability};
pub(crate) use choice::check_patterns;
pub(crate) use profiler::Profiler;

use crate::event::Event;
use crate::measure::late_crew;
use crate::run::Lab;
use crate::seed::{self, SeedDomain};
use crate::system::Up;
use crate::waiting::Waiting;
use record::{Recorded, Wanted};
use turns::{Extra, Member};
use unwind::{better, wants_tables};

/// Time of the recording that shows whether frame pointers will do.
const TRIAL: Duration = Duration::from_secs(1);

/// A system that is up, and its place in the run.
type Seen<'a> = (usize, &'a Up);

impl Lab<'_> {
    /// Learns which profiles an earlier attempt has stored.
    pub(crate) fn begin_profiles(&mut self) -> Result<()> {
        if self.plan.profiling.is_some() {
            let stored = self.store.select_stack_profiles(&RunRef::Id(self.run.id.clone()))?;
            self.profiler.done = stored.iter().map(|p| (p.step_idx, p.system_idx)).collect();
            // What was chosen once is kept, so that systems and steps of one run compare.
            self.profiler.unwind = stored_unwind(&stored);
            let is_external = |s: &&SystemSpec| matches!(s.source, SystemSource::External { .. });
            for system in self.plan.systems.iter().filter(is_external) {
                let label = &system.label;
                (self.listen)(Event::Note(&format!(
                    "{label}: stacks are recorded of servers that rqps starts; this one runs already"
                )));
            }
            self.note_lost_profiles()?;
        }
        Ok(())
    }

    /// Says of steps that an earlier attempt has measured and not recorded, and whose tables no other step needs,
    /// that they will not be recorded.
    fn note_lost_profiles(&mut self) -> Result<()> {
        let plan = self.plan;
        let Some(profiling) = &plan.profiling else { return Ok(()) };
        let steps = self.steps_of(0);
        for (idx, system) in plan.systems.iter().enumerate() {
            // None of them has a server of rqps's own.
            if matches!(system.source, SystemSource::External { .. } | SystemSource::Builtin) {
                continue;
            }
            for step_idx in steps.clone() {
                let is_done = self.run.steps[step_idx].systems[idx].outcome == StepOutcome::Done
                    && profiling.wants(&self.steps[step_idx]);
                let mut later = (step_idx + 1..steps.end).take_while(|&at| !self.steps[at].fills());
                let has_more = later.any(|at| self.is_pending(at, idx));
                if is_done && !has_more && !self.profiler.done.contains(&(step_idx, idx)) {
                    let why = anyhow::anyhow!("the run was interrupted before they were recorded");
                    let profile = nothing_recorded((step_idx, idx), &why);
                    self.keep_profile((step_idx, idx), &profile)?;
                }
            }
        }
        Ok(())
    }

    /// Records a step that only reads, right after its slices.
    pub(crate) fn profile_if_read(&mut self, step_idx: usize, up: &[Seen<'_>]) -> Result<()> {
        if self.steps[step_idx].info.kind == StepKind::Read {
            self.profile(step_idx, up)?;
        }
        Ok(())
    }

    /// Records all steps before `end` that are still to be recorded: the tables are about to be made
    /// anew, or the servers to be stopped.
    pub(crate) fn profile_rest(&mut self, end: usize, up: &[Seen<'_>]) -> Result<()> {
        let steps = self.steps_of_start();
        let end = end.min(steps.end);
        for step_idx in steps.start..end {
            // Steps on tables of an earlier load had their turn before it.
            let is_of_these = !(step_idx..end).any(|later| self.steps[later].fills());
            if is_of_these {
                self.profile(step_idx, up)?;
            }
        }
        Ok(())
    }

    fn profile(&mut self, step_idx: usize, up: &[Seen<'_>]) -> Result<()> {
        let plan = self.plan;
        let Some(profiling) = &plan.profiling else { return Ok(()) };
        // One start of the servers shows where the time goes.
        if self.start_idx > 0 || !profiling.wants(&self.steps[step_idx]) {
            return Ok(());
        }
        let is_due = |(idx, up): &&Seen<'_>| {
            up.server_pid().is_some()
                && self.run.steps[step_idx].systems[*idx].outcome == StepOutcome::Done
                && !self.profiler.done.contains(&(step_idx, *idx))
        };
        let due: Vec<Seen<'_>> = up.iter().filter(is_due).copied().collect();
        if due.is_empty() {
            return Ok(());
        }
        self.learn_ability();
        let idxs: Vec<usize> = due.iter().map(|(idx, _)| *idx).collect();
        for idx in &idxs {
            let label = &plan.systems[*idx].label;
            (self.listen)(Event::Preparing { label, doing: "record stacks" });
        }
        let recorded = match self.record(step_idx, &idxs, up) {
            Ok(recorded) => recorded,
            Err(error) if self.context.interrupt.load(Ordering::Relaxed) => return Err(error),
            // What keeps one from it keeps all from it.
            Err(error) => {
                let words = format!("{error:#}");
                idxs.iter().map(|_| Err(anyhow::anyhow!(words.clone()))).collect()
            }
        };
        for (idx, recorded) in idxs.into_iter().zip(recorded) {
            self.check_interrupt()?;
            let read = recorded.and_then(|found| found.profile((step_idx, idx), self.context));
            let profile = match read {
                Ok(profile) => profile,
                Err(error) if self.context.interrupt.load(Ordering::Relaxed) => return Err(error),
                Err(error) => nothing_recorded((step_idx, idx), &error),
            };
            self.keep_profile((step_idx, idx), &profile)?;
        }
        Ok(())
    }

    /// Stores a profile, and tells where there are no stacks.
    fn keep_profile(
        &mut self,
        (step_idx, idx): (usize, usize),
        profile: &StackProfile,
    ) -> Result<()> {
        let label = &self.plan.systems[idx].label;
        let step = &self.steps[step_idx].info.name;
        if let Some(missing) = profile.facts.missing.iter().find(|m| m.what == "stacks") {
            let remedy = Some(&missing.remedy).filter(|r| !r.is_empty());
            let remedy = remedy.map_or_else(String::new, |r| format!("; {r}"));
            let sentence = format!("{label}: no stacks of {step}: {}{remedy}", missing.reason);
            (self.listen)(Event::Note(&sentence));
        }
        let names = (step.as_str(), label.as_str());
        self.store.insert_stack_profile(&self.run.id, profile, names)?;
        self.profiler.done.insert((step_idx, idx));
        Ok(())
    }

    fn learn_ability(&mut self) {
        if self.profiler.ability.is_none() {
            self.profiler.ability = Some(ability());
        }
    }

    /// Records a step on the systems `idxs` in turns, while all others wait.
    fn record(
        &mut self,
        step_idx: usize,
        idxs: &[usize],
        systems: &[Seen<'_>],
    ) -> Result<Vec<Result<Recorded>>> {
        if self.profiler.unwind.is_none() {
            self.profiler.unwind = self.try_unwind(step_idx, idxs, systems)?;
        }
        let time = self.plan.profiling.as_ref().map_or(TRIAL, |profiling| profiling.time);
        let unwind = self.profiler.unwind.unwrap_or(Unwind::FramePointer);
        self.extra(step_idx, (idxs, systems), (unwind, time))
    }

    /// Frame pointers where they give whole stacks on every system, else unwind tables on all, where these
    /// do better. A chain of frame pointers costs next to nothing, but few builds have them throughout.
    /// A system whose trial fails has no say; `None` where none has, and the next step's trial decides.
    fn try_unwind(
        &mut self,
        step_idx: usize,
        idxs: &[usize],
        systems: &[Seen<'_>],
    ) -> Result<Option<Unwind>> {
        if !matches!(self.profiler.ability, Some(Ok(_))) {
            return Ok(None);
        }
        let mut shares = |unwind| -> Result<Vec<Option<f64>>> {
            idxs.iter().map(|idx| self.try_one(step_idx, (*idx, systems), unwind)).collect()
        };
        let by_pointers = shares(Unwind::FramePointer)?;
        if !wants_tables(&by_pointers) {
            let is_known = by_pointers.iter().any(Option::is_some);
            return Ok(is_known.then_some(Unwind::FramePointer));
        }
        let by_tables = shares(Unwind::Dwarf)?;
        Ok(Some(better(&by_pointers, &by_tables)))
    }

    /// The share of whole stacks of one system in a trial; `None` where there are none, or it failed.
    fn try_one(
        &mut self,
        step_idx: usize,
        (idx, systems): (usize, &[Seen<'_>]),
        unwind: Unwind,
    ) -> Result<Option<f64>> {
        let share = self.extra(step_idx, (&[idx], systems), (unwind, TRIAL)).and_then(|tried| {
            tried.into_iter().next().context("nothing was tried")??.complete_share(self.context)
        });
        match share {
            Err(error) if self.context.interrupt.load(Ordering::Relaxed) => Err(error),
            Err(error) => {
                let label = &self.plan.systems[idx].label;
                let way = unwind.words();
                (self.listen)(Event::Note(&format!("{label}: no trial of {way}: {error:#}")));
                Ok(None)
            }
            Ok(share) => Ok(share),
        }
    }

    /// Extra slices of a step on the systems `idxs` in turns, the others stopped.
    fn extra(
        &mut self,
        step_idx: usize,
        (idxs, systems): (&[usize], &[Seen<'_>]),
        (unwind, time): (Unwind, Duration),
    ) -> Result<Vec<Result<Recorded>>> {
        let nth = (u64::from(self.run.n_resumed) << 20) + self.profiler.n_extra;
        self.profiler.n_extra += 1;
        let seed = seed::derive(seed::of_step(self.run.seed, step_idx), SeedDomain::Extra, nth);
        let Self { steps, listen, cpus, context, profiler, .. } = self;
        let planned = &steps[step_idx];
        let ability = match &profiler.ability {
            Some(Ok(ability)) => Ok(ability),
            Some(Err(missing)) => Err(missing),
            None => anyhow::bail!("what perf can do is not known"),
        };
        let (mut members, mut failed) = (Vec::new(), Vec::new());
        for idx in idxs {
            let at = systems.iter().position(|(other, _)| other == idx);
            let at = at.context("no such system")?;
            let up = systems[at].1;
            let server = up.server_pid().context("the server is not rqps's own")?;
            let bench = up.bench(cpus, &context.interrupt);
            let manned = late_crew(&bench, planned, seed);
            failed.push(manned.as_ref().err().map(|error| anyhow::anyhow!("{error:#}")));
            members.extend(manned.ok().map(|manned| Member { at, bench, server, manned }));
        }
        let freezers = systems.iter().map(|(_, up)| up.freezer()).collect();
        let mut waiting = Waiting::new(freezers, false, context)?;
        let wanted = Wanted { ability, unwind, n_systems: members.len() };
        let (temp, interrupt) = (context.temp.as_path(), &context.interrupt);
        let extra = Extra { planned, time, seed, wanted, temp, interrupt };
        let mut recorded = extra.record(members, &mut waiting, *listen)?.into_iter();
        // In the order of the systems, with those whose clients could not be connected.
        let in_order = failed.into_iter().map(|failed| match failed {
            Some(error) => Err(error),
            None => recorded.next().context("a system was not recorded")?,
        });
        Ok(in_order.collect())
    }
}

/// How stacks were found in what an earlier attempt has stored.
fn stored_unwind(stored: &[StackProfile]) -> Option<Unwind> {
    stored.iter().find_map(|profile| profile.facts.cpu.as_ref().map(|cpu| cpu.unwind))
}

/// A profile that says why there is none.
fn nothing_recorded((step_idx, system_idx): (usize, usize), error: &anyhow::Error) -> StackProfile {
    let missing =
        NotHad { what: "stacks".to_owned(), reason: format!("{error:#}"), remedy: String::new() };
    let facts = Facts { missing: vec![missing], ..Facts::default() };
    let (stacks, waits) = (Stacks::default(), Stacks::default());
    StackProfile { step_idx, system_idx, facts, stacks, waits }
}

#[cfg(test)]
mod tests {
    use rqps_stacks::profile::CpuSampling;

    use super::*;

    #[test]
    fn what_an_earlier_attempt_chose_is_kept() {
        let failed = nothing_recorded((0, 0), &anyhow::anyhow!("perf ended"));
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
