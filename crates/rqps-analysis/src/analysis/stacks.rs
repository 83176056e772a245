//! The stack profiles of a run, step by step. They were recorded in extra slices: no rate, ratio or
//! verdict includes these.

use std::collections::BTreeMap;

use rqps_model::Verdict;
use rqps_stacks::function::{Change, FunctionChange, FunctionTime, changes, times};
use rqps_stacks::profile::SERVING;
use rqps_stacks::{Sampled, StackProfile, ThreadPlace};

use super::evidence::OffCpu;
use super::system_pair::SystemPair;
use super::{Analysis, StepAnalysis};

/// The stack profiles of one step.
#[derive(Debug, Clone)]
pub struct StepStacks<'a> {
    /// The step's place in [`Analysis::steps`].
    pub step_at: usize,
    /// Per system, what was recorded of it.
    pub profiles: Vec<Option<&'a StackProfile>>,
    /// Per candidate whose stacks and whose base's are there.
    pub pairs: Vec<PairStacks>,
    /// Candidates that are not compared by function, because their samples and the base's cover too
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
    pub place: ThreadPlace,
    /// Per system, time of threads per operation, µs; `None` where they were not looked at.
    pub us: Vec<Option<f64>>,
    /// Per system, threads that were there, on average.
    pub threads: Vec<Option<f64>>,
}

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
        for found in &self.stacks {
            if let Some(step) = self.steps.get_mut(found.step_at) {
                add_waits(step, found, self.base);
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

/// Puts beside the causes of a step's verdicts where threads waited.
fn add_waits(step: &mut StepAnalysis<'_>, stacks: &StepStacks<'_>, base: usize) {
    for (system_idx, cell) in step.cells.iter_mut().enumerate() {
        let Some(verdict) = cell.verdict() else { continue };
        let Some(against) = &mut cell.against else { continue };
        let pair = SystemPair { base, candidate: system_idx };
        against.evidence.off_cpu = stacks.waited(pair, verdict == Verdict::Faster);
    }
}

impl StepStacks<'_> {
    /// Where threads that serve clients of the candidate were off the CPU longer than the base's, the place with
    /// most of it and beyond the error of looking; for a gain, where the base's were.
    fn waited(&self, pair: SystemPair, is_gain: bool) -> Option<OffCpu> {
        let SystemPair { base, candidate } = pair;
        let (less, more) = if is_gain { (candidate, base) } else { (base, candidate) };
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
        let is_off = |wait: &&Wait| wait.kind == SERVING && wait.place.is_off_cpu();
        let all = self.waits.iter().filter(is_off).filter_map(|wait| Some((wait, grown(wait)?)));
        let (wait, more_us) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let change_us = if is_gain { -more_us } else { more_us };
        Some(OffCpu { place: wait.place.clone(), change_us })
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
    let mut places: BTreeMap<(String, ThreadPlace), Vec<u64>> = BTreeMap::new();
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

/// Kind and place of frames as the sampler writes them.
fn place<'f>(frames: impl Iterator<Item = &'f str>) -> (String, ThreadPlace) {
    let frames: Vec<&str> = frames.collect();
    let (kind, rest) = frames.split_first().map_or(("", &[][..]), |(kind, rest)| (*kind, rest));
    (kind.to_owned(), ThreadPlace::of(rest))
}
