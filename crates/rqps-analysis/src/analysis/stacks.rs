//! What the stack profiles of a run tell, step by step. They were recorded in slices of their own: no
//! figure, ratio or verdict has a part in them.

use std::collections::BTreeMap;

use rqps_model::Verdict;
use rqps_stacks::function::{Change, FunctionChange, FunctionTime, changes, times};
use rqps_stacks::profile::{RUNNING, SERVING};
use rqps_stacks::time::signed_us;
use rqps_stacks::{Sampled, StackProfile};

use super::estimate::Pair;
use super::explain::{Around, Subject};
use super::origin::Rule;
use super::system_pair::SystemPair;
use super::{Analysis, StepAnalysis};
use rqps_text::words::clip;

/// The stack profiles of one step.
#[derive(Debug, Clone)]
pub struct StepStacks<'a> {
    /// The step's place in [`Analysis::steps`].
    pub step_at: usize,
    /// Per system, what was recorded of it.
    pub profiles: Vec<Option<&'a StackProfile>>,
    /// Per candidate whose stacks and whose base's are there.
    pub pairs: Vec<PairStacks>,
    /// Candidates that are not compared by function, as samples of the base and of theirs stand for such
    /// different shares of CPU time.
    pub unlike: Vec<(usize, [f64; 2])>,
    /// Per system, its functions by their own time.
    pub times: Vec<Vec<FunctionTime>>,
    /// Where threads were, by system.
    pub waits: Vec<Wait>,
}

/// A candidate's functions beside the base's.
#[derive(Debug, Clone)]
pub struct PairStacks {
    /// The candidate.
    pub system_idx: usize,
    /// CPU time per operation of all stacks.
    pub total: Change,
    /// Every function that either has, by name.
    pub changes: Vec<FunctionChange>,
}

/// A place where threads were.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The kind of thread.
    pub kind: String,
    /// The state, and where in the kernel.
    pub place: String,
    /// Per system, time of threads per operation, µs; `None` where they were not looked at.
    pub us: Vec<Option<f64>>,
    /// Per system, threads that were there, on average.
    pub threads: Vec<Option<f64>>,
}

/// Columns that a sentence gives to a place.
const PLACE_COLUMNS: usize = 60;

/// How many standard errors of looking a thread's time in a place must have grown to be told: there are
/// dozens of places.
const SURELY: f64 = 4.0;

impl<'a> Analysis<'a> {
    /// The same analysis with what was recorded of stacks beside it, and with the places where threads
    /// waited longer in the causes of steps that lose by waiting.
    #[must_use]
    pub fn with_profiles(mut self, profiles: &'a [StackProfile]) -> Self {
        self.profiles = profiles;
        self.stacks = (0..self.steps.len())
            .filter_map(|step_at| step_stacks(&self, step_at, profiles))
            .collect();
        if !self.stacks.is_empty() {
            let around = Around::of(self.run, Rule { base: self.base, joined: self.joined });
            for found in &self.stacks {
                if let Some(step) = self.steps.get_mut(found.step_at) {
                    explain_with_waits(&around, step, found);
                }
            }
        }
        self
    }

    /// The stacks of a step, where there are any.
    #[must_use]
    pub fn stacks_of(&self, step: &StepAnalysis<'_>) -> Option<&StepStacks<'a>> {
        self.stacks.iter().find(|stacks| {
            self.steps.get(stacks.step_at).is_some_and(|other| std::ptr::eq(other, step))
        })
    }
}

/// Names the causes of a step's verdicts again, now that it is known where threads waited.
fn explain_with_waits(around: &Around<'_>, of: &mut StepAnalysis<'_>, stacks: &StepStacks<'_>) {
    let StepAnalysis { step, cells, plans, observed, .. } = of;
    let base = around.rule.base;
    for (system_idx, cell) in cells.iter_mut().enumerate() {
        let (Some(rqps), Some(verdict)) = (cell.rqps(), cell.verdict()) else { continue };
        let Some(against) = &mut cell.against else { continue };
        let systems = SystemPair { base, candidate: system_idx };
        let how = around.rule.measured(around.run, system_idx);
        let Some(pair) = Pair::of(step, observed, systems, how) else { continue };
        let is_gain = verdict == Verdict::Faster;
        let off_cpu =
            stacks.waited(if is_gain { (system_idx, base) } else { (base, system_idx) }, is_gain);
        let verdict = Some(verdict);
        let subject = Subject { step, plans, system_idx, pair: &pair, rqps, verdict };
        against.cause = around.explain(subject, off_cpu).cause;
    }
}

impl StepStacks<'_> {
    /// Where threads that serve clients of the one system were off the CPU longer than the other's, the place
    /// with most of it and beyond the error of looking: `threads +21 µs asleep: futex, futex_wait in extra
    /// slices`. `is_gain` tells it as what the first has less.
    fn waited(&self, (less, more): (usize, usize), is_gain: bool) -> Option<String> {
        let one_us = |at: usize| Some(self.profiles.get(at)?.as_ref()?.waits()?.us_per_sample);
        let (of_less, of_more) = (one_us(less)?, one_us(more)?);
        let us = |wait: &Wait, at: usize| wait.us.get(at).copied().flatten().unwrap_or(0.0);
        let grown = |wait: &Wait| {
            let (before, after) = (us(wait, less), us(wait, more));
            // Of n looks, n ± sqrt(n); to each count one is added.
            let variance = (before / of_less + 1.0) * of_less * of_less
                + (after / of_more + 1.0) * of_more * of_more;
            (after - before > SURELY * variance.sqrt()).then_some(after - before)
        };
        let is_off = |wait: &&Wait| wait.kind == SERVING && !wait.place.starts_with(RUNNING);
        let all = self.waits.iter().filter(is_off).filter_map(|wait| Some((wait, grown(wait)?)));
        let (wait, more_us) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let place = clip(&wait.place, PLACE_COLUMNS);
        let change_us = signed_us(if is_gain { -more_us } else { more_us });
        Some(format!("threads {change_us} µs {place} in extra slices"))
    }
}

fn step_stacks<'a>(
    analysis: &Analysis<'a>,
    step_at: usize,
    profiles: &'a [StackProfile],
) -> Option<StepStacks<'a>> {
    let n_systems = analysis.run.systems.len();
    let stored = stored_idx(analysis, step_at)?;
    let of = |idx: usize| profiles.iter().find(|p| p.step_idx == stored && p.system_idx == idx);
    let profiles: Vec<Option<&StackProfile>> = (0..n_systems).map(of).collect();
    if profiles.iter().all(Option::is_none) {
        return None;
    }
    let cpu = |idx: usize| profiles.get(idx).copied().flatten().and_then(StackProfile::cpu);
    let base = cpu(analysis.base);
    let unlike = |idx: usize| {
        let of = |idx: usize| profiles.get(idx).copied().flatten();
        // Where one has no samples, that is said of it.
        base.and(cpu(idx))?;
        Some((idx, of(analysis.base)?.unlike_shares(of(idx)?)?))
    };
    let unlike: Vec<(usize, [f64; 2])> = analysis.candidates().filter_map(unlike).collect();
    let is_alike = |idx: &usize| !unlike.iter().any(|(other, _)| other == idx);
    let alike = analysis.candidates().filter(is_alike);
    let pairs = alike.filter_map(|idx| Some(pair(idx, &base?, &cpu(idx)?))).collect();
    let times = (0..n_systems).map(|idx| cpu(idx).map_or_else(Vec::new, |s| times(&s))).collect();
    let waits = waits(&profiles);
    Some(StepStacks { step_at, profiles, pairs, unlike, times, waits })
}

/// The place in the stored run of a reported step: of the first start of the servers, and of equal steps
/// the one with as many before it.
fn stored_idx(analysis: &Analysis<'_>, step_at: usize) -> Option<usize> {
    let key = |step: &rqps_model::RunStep| (step.info.name.clone(), step.clients);
    let wanted = key(&analysis.steps.get(step_at)?.step);
    let before = analysis.steps[..step_at].iter().filter(|s| key(&s.step) == wanted).count();
    let stored = analysis.run.steps.iter().enumerate();
    let mut same = stored.filter(|(_, step)| step.start == 0 && key(step) == wanted);
    same.nth(before).map(|(idx, _)| idx)
}

fn pair(system_idx: usize, base: &Sampled<'_>, candidate: &Sampled<'_>) -> PairStacks {
    let counts = [base.stacks.n_samples(), candidate.stacks.n_samples()];
    let total = Change::of(counts, [base.us_per_sample, candidate.us_per_sample]);
    PairStacks { system_idx, total, changes: changes(base, candidate) }
}

/// Places by kind of thread and by how long threads were there, the longest of any system first.
fn waits(profiles: &[Option<&StackProfile>]) -> Vec<Wait> {
    let mut places: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for (idx, profile) in profiles.iter().enumerate() {
        let Some(profile) = profile else { continue };
        for (frames, n) in profile.waits.iter() {
            let counts = places.entry(place(frames)).or_insert_with(|| vec![0; profiles.len()]);
            counts[idx] += n;
        }
    }
    let us = |idx: usize, n: u64| {
        let waits = profiles[idx]?.waits()?;
        Some(n as f64 * waits.us_per_sample)
    };
    let threads = |idx: usize, n: u64| {
        let looks = profiles[idx]?.facts.waits.as_ref()?.n_looks;
        (looks > 0).then(|| n as f64 / looks as f64)
    };
    let mut waits: Vec<Wait> = places
        .into_iter()
        .map(|((kind, place), counts)| Wait {
            kind,
            place,
            us: counts.iter().enumerate().map(|(idx, n)| us(idx, *n)).collect(),
            threads: counts.iter().enumerate().map(|(idx, n)| threads(idx, *n)).collect(),
        })
        .collect();
    // Threads that serve clients come last in the alphabet and first in what they mean.
    let longest = |wait: &Wait| wait.us.iter().flatten().copied().fold(0.0, f64::max);
    waits.sort_by(|a, b| b.kind.cmp(&a.kind).then_with(|| longest(b).total_cmp(&longest(a))));
    waits
}

/// Kind and place of frames as the sampler writes them: kind, state, system call, functions from the
/// outermost on. Of the functions, the first and the last say most.
fn place<'f>(frames: impl Iterator<Item = &'f str>) -> (String, String) {
    let frames: Vec<&str> = frames.collect();
    let (kind, rest) = frames.split_first().map_or(("", &[][..]), |(kind, rest)| (*kind, rest));
    let place = match rest {
        [] => String::new(),
        [state] => (*state).to_owned(),
        [state, call] => format!("{state}: {call}"),
        [state, call, one] => format!("{state}: {call}, {one}"),
        [state, call, first, .., last] => format!("{state}: {call}, {first} … {last}"),
    };
    (kind.to_owned(), place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_its_first_and_its_last_function() {
        let of = |text: &str| place(text.split(';')).1;
        assert_eq!(of("threads;on a CPU"), "on a CPU");
        assert_eq!(of("threads;asleep;futex;futex_wait"), "asleep: futex, futex_wait");
        assert_eq!(
            of("threads;asleep;fsync;do_fsync;ext4_sync;jbd2_wait"),
            "asleep: fsync, do_fsync … jbd2_wait"
        );
    }
}
