//! The rate of a step on one system, and ratios between two, with their intervals and tests.
//!
//! Slices of equal time have rates of equal weight. Blocks of equal work do not: theirs are ratios
//! of totals ([`rqps_stats::totals`]), in which a stall counts as long as it took. Where the
//! servers were started several times, the observation is the start ([`rqps_stats::starts`]); where
//! tables were filled several times, it is the load, as the starts of a load share its tables.

use std::collections::BTreeSet;

use rqps_explain::{Sides, Start};
use rqps_model::run::SystemStep;
use rqps_model::{Estimate, Metric, RunStep, Slice, WarningKind};
use rqps_stats::paired::log_ratios;
use rqps_stats::ratio_test;
use rqps_stats::resolution;
use rqps_stats::starts::{StartPrior, StartsEstimate, of_starts_with, one_start};
use rqps_stats::totals::{self, BlockTotals};

use super::disturbed::{self, Block};
use super::observed::{OfSlice, OfSystem};
use super::pairing::{self, Pairing, ratios};
use super::start_prior::StartPriors;
use super::system_pair::SystemPair;

/// The figure: the mean over the slices; of blocks of equal work, operations of all over time of all.
/// Of several starts of the servers, the mean of theirs, with Student's interval over the starts.
pub(super) fn figure(step: &RunStep, system: &SystemStep) -> Option<Estimate> {
    let starts = of_observations(&system.slices, rate);
    let of_blocks = |rates: &[BlockTotals]| {
        if step.info.has_blocks_of_work() {
            totals::total(rates)
        } else {
            rqps_stats::mean(&ratios(rates))
        }
    };
    let resolved = |found| rqps_stats::resolved(found, one_operation(system));
    if let [only] = starts.as_slice() {
        return of_blocks(only).map(resolved);
    }
    let figures: Option<Vec<f64>> =
        starts.iter().map(|rates| of_blocks(rates).map(|found| found.point)).collect();
    rqps_stats::mean(&figures?).map(resolved)
}

/// What an observation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Observation {
    Start,
    Load,
}

impl Observation {
    /// A load from two loads on.
    fn of<'s>(slices: impl Iterator<Item = &'s Slice>) -> Self {
        let loads: BTreeSet<u32> = slices.map(|slice| slice.load).collect();
        if loads.len() > 1 { Self::Load } else { Self::Start }
    }

    /// The observation that a slice belongs to.
    fn key(self, slice: &Slice) -> u32 {
        match self {
            Self::Start => slice.start,
            Self::Load => slice.load,
        }
    }
}

/// A value of the slices, for each observation.
fn of_observations<T>(slices: &[Slice], value: impl Fn(&Slice) -> T) -> Vec<Vec<T>> {
    let of = Observation::of(slices.iter());
    let of_one = |slices: &[Slice]| slices.iter().map(&value).collect();
    slices.chunk_by(|a, b| of.key(a) == of.key(b)).map(of_one).collect()
}

/// How two systems were measured beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measured {
    /// In turns, within one run.
    Interleaved,
    /// One after the other, within one run.
    Sequence,
    /// In runs of their own.
    OtherRuns,
}

/// One step on base and candidate.
#[derive(Debug, Clone)]
pub(super) struct Pair<'a> {
    base: &'a SystemStep,
    candidate: &'a SystemStep,
    /// Whether block i of one was measured in turns with block i of the other.
    is_interleaved: bool,
    /// Whether figures are ratios of totals.
    of_totals: bool,
    /// Whether both sides are of one run, so that a start of one is the partner of the other's.
    is_one_run: bool,
    /// What the slices of base and candidate tell by themselves.
    observed: [&'a OfSystem; 2],
    /// What is assumed of starts of the servers.
    priors: Option<StartPriors>,
    /// Blocks of turns that ratios are without, as the host was disturbed.
    left_out: BTreeSet<Block>,
    /// The starts of the servers that it is of, where not of all.
    only: Option<BTreeSet<u32>>,
}

impl<'a> Pair<'a> {
    /// The step on two systems.
    pub(super) fn of(
        step: &'a RunStep,
        observed: &'a [OfSystem],
        SystemPair { base, candidate }: SystemPair,
        how: Measured,
    ) -> Option<Self> {
        let Pairing { is_interleaved, of_totals } =
            Pairing::of(&step.info, how == Measured::Interleaved);
        let mut pair = Self {
            base: step.systems.get(base)?,
            candidate: step.systems.get(candidate)?,
            is_interleaved,
            of_totals,
            is_one_run: how != Measured::OtherRuns,
            observed: [observed.get(base)?, observed.get(candidate)?],
            priors: None,
            left_out: BTreeSet::new(),
            only: None,
        };
        pair.leave_out();
        Some(pair)
    }

    /// The same with what is assumed of starts of the servers.
    pub(super) fn assuming(self, priors: Option<StartPriors>) -> Self {
        Self { priors, ..self }
    }

    /// What is assumed of starts of the servers. Of loads nothing is: what the tables of a load have in common is no part
    /// of it. Nor of starts whose slices are no pairs: each gives one ratio, whose noise is not known. Two or three starts
    /// may agree by chance, and say little of their spread.
    fn prior(&self) -> Option<StartPrior> {
        let priors = self.priors?;
        match (self.n_observations(), self.observation()) {
            (0 | 1, _) => Some(priors.of_one),
            (2 | 3, Observation::Start) if self.is_interleaved => Some(priors.of_one),
            (_, Observation::Start) if self.is_interleaved => Some(priors.of_several),
            _ => None,
        }
    }

    /// How many observations a ratio is of: in runs of their own those of the side that has fewer.
    fn n_observations(&self) -> usize {
        if self.is_one_run {
            return self.observations().len();
        }
        let of_side = |system: &SystemStep| of_observations(&system.slices, |_| ()).len();
        of_side(self.base).min(of_side(self.candidate))
    }

    fn observation(&self) -> Observation {
        Observation::of(self.base.slices.iter().chain(&self.candidate.slices))
    }

    /// Leaves the disturbed blocks out, unless they tell of another ratio than the others, or the ratio without
    /// them is not one that all allow; those in which nobody measured for a while in any case. Of equal work every
    /// block is a part.
    fn leave_out(&mut self) {
        if !self.is_interleaved || self.of_totals {
            return;
        }
        let paused = disturbed::paused(self.base, self.candidate);
        self.left_out.clone_from(&paused);
        let disturbed = disturbed::blocks(self.base, self.candidate);
        if disturbed.is_empty() {
            return;
        }
        let is_disturbed = |slice: &Slice| disturbed.contains(&disturbed::block(slice));
        let (hit, kept): (Vec<_>, Vec<_>) =
            self.blocks().into_iter().partition(|(slice, _)| is_disturbed(slice));
        let ratios_of = |blocks: &[(&Slice, &Slice)]| -> Vec<f64> {
            blocks.iter().map(|(b, c)| rate(c).ratio() / rate(b).ratio()).collect()
        };
        if disturbed::differ(&ratios_of(&kept), &ratios_of(&hit)) {
            return;
        }
        let ratio = |pair: &Self| pair.rqps().map(|found| found.unassuming.estimate);
        let of_all = ratio(self);
        self.left_out.extend(disturbed);
        if !disturbed::agree(of_all, ratio(self)) {
            self.left_out = paused;
        }
    }

    /// The same pair on some starts of the servers.
    pub(super) fn on_starts(&self, starts: &BTreeSet<u32>) -> Self {
        Self { only: Some(starts.clone()), ..self.clone() }
    }

    /// Whether a start of one side is the partner of the other's.
    pub(super) fn is_of_one_run(&self) -> bool {
        self.is_one_run
    }

    /// What is known of one of the slices of either side.
    pub(super) fn observed(&self, slice: &Slice) -> Option<&'a OfSlice> {
        let sides = [self.base, self.candidate].into_iter().zip(self.observed);
        sides.into_iter().find_map(|(system, observed)| {
            observed.slice(system.slices.iter().position(|own| std::ptr::eq(own, slice))?)
        })
    }

    /// Figure of the candidate / figure of the base.
    pub(super) fn rqps(&self) -> Option<StartsEstimate> {
        let one = resolution::of_ratio(one_operation(self.base), one_operation(self.candidate));
        Some(self.ratio(self.of_totals, |slice| Some(rate(slice)))?.resolved(one))
    }

    /// Server CPU per operation of the candidate / that of the base.
    pub(super) fn server_cpu(&self) -> Option<StartsEstimate> {
        self.ratio(self.of_totals, server_cpu)
    }

    /// Steady rate of the candidate / that of the base; `None` for blocks of equal work, whose figure
    /// is no mean of theirs.
    pub(super) fn steady(&self) -> Option<StartsEstimate> {
        self.ratio_of(|slice| self.observed(slice)?.steady_rate).filter(|_| !self.of_totals)
    }

    /// The ratio of a value of the slices, all of equal weight; `None` when a slice lacks it.
    pub(super) fn ratio_of(&self, value: impl Fn(&Slice) -> Option<f64>) -> Option<StartsEstimate> {
        self.ratio(false, |slice| Some(BlockTotals { amount: value(slice)?, per: 1.0 }))
    }

    /// Base's and candidate's blocks that were measured in the same seconds, in order of time; none
    /// where systems did not take turns.
    pub(super) fn blocks(&self) -> Vec<(&'a Slice, &'a Slice)> {
        if !self.is_interleaved || self.of_totals {
            return Vec::new();
        }
        self.starts().into_iter().flat_map(|start| self.partners(start)).collect()
    }

    /// Base's and candidate's slices of one run and one start of the servers that were not measured in turns; `None`
    /// for any others, and of equal work. What slices of one start share would count as often as there are slices.
    pub(super) fn samples(&self) -> Option<(Vec<&'a Slice>, Vec<&'a Slice>)> {
        if self.is_interleaved || self.of_totals || !self.is_one_run || self.starts().len() > 1 {
            return None;
        }
        Some((self.base.slices.iter().collect(), self.candidate.slices.iter().collect()))
    }

    /// The slices of each observation, those of turns with their partners.
    pub(super) fn sides(&self) -> Sides<'a> {
        let of_start = |start: u32| -> Start<'a> {
            if self.is_interleaved {
                let (base, candidate) = self.partners(start).into_iter().unzip();
                return Start { base, candidate };
            }
            let of = |system: &'a SystemStep| -> Vec<&'a Slice> {
                system.slices.iter().filter(|s| s.start == start).collect()
            };
            Start { base: of(self.base), candidate: of(self.candidate) }
        };
        let of_one = |starts: Vec<u32>| {
            let mut all = Start::default();
            for Start { base, candidate } in starts.into_iter().map(of_start) {
                all.base.extend(base);
                all.candidate.extend(candidate);
            }
            all
        };
        Sides {
            starts: self.observations().into_iter().map(of_one).collect(),
            is_interleaved: self.is_interleaved,
            is_one_run: self.is_one_run,
            prior: self.prior(),
        }
    }

    /// The starts of each observation, in order.
    fn observations(&self) -> Vec<Vec<u32>> {
        let of = self.observation();
        let key = |start: u32| {
            let mut slices = self.base.slices.iter().chain(&self.candidate.slices);
            slices.find(|slice| slice.start == start).map(|slice| of.key(slice))
        };
        let starts = self.starts();
        let each: Vec<Vec<u32>> =
            starts.chunk_by(|a, b| key(*a) == key(*b)).map(<[u32]>::to_vec).collect();
        // Of a part of the starts, those of one load.
        if each.len() > 1 { each } else { starts.iter().map(|start| vec![*start]).collect() }
    }

    /// The slices of both sides that ratios are of.
    pub(super) fn slices(&self) -> impl Iterator<Item = &'a Slice> {
        let all = self.base.slices.iter().chain(&self.candidate.slices);
        all.filter(|slice| self.is_kept(slice))
    }

    /// Share of the base's blocks that are not left out.
    pub(super) fn kept_share(&self) -> f64 {
        match self.base.slices.len() {
            0 => 1.0,
            n => 1.0 - self.left_out.len() as f64 / n as f64,
        }
    }

    fn is_kept(&self, slice: &Slice) -> bool {
        !self.left_out.contains(&disturbed::block(slice))
    }

    /// Starts of the servers on which both sides have slices, those of turns partners, in order; of runs of their own all
    /// that either has.
    fn starts(&self) -> Vec<u32> {
        let has = |system: &SystemStep, start: u32| system.slices.iter().any(|s| s.start == start);
        let mut starts: Vec<u32> = self.base.slices.iter().map(|s| s.start).collect();
        if self.is_one_run {
            starts.retain(|start| has(self.candidate, *start));
        } else {
            starts.extend(self.candidate.slices.iter().map(|s| s.start));
        }
        starts.retain(|start| self.only.as_ref().is_none_or(|only| only.contains(start)));
        starts.sort_unstable();
        starts.dedup();
        if self.is_interleaved {
            starts.retain(|start| !self.partners(*start).is_empty());
        }
        starts
    }

    /// Blocks of one start that have their partner: none has when its system was measured without the
    /// other, also where that was at another time. All systems of a block begin it at one moment. Those
    /// during which the host was disturbed are left out.
    fn partners(&self, start: u32) -> Vec<(&'a Slice, &'a Slice)> {
        let of = |system: &'a SystemStep| system.slices.iter().filter(move |s| s.start == start);
        let is_partner =
            |b: &Slice, c: &Slice| (c.idx, c.start_unix_ms) == (b.idx, b.start_unix_ms);
        let pair = |b: &'a Slice| Some((b, of(self.candidate).find(|c| is_partner(b, c))?));
        of(self.base).filter(|slice| self.is_kept(slice)).filter_map(pair).collect()
    }

    /// The blocks that ratios are without: start of the servers, and number.
    pub(super) fn left_out_blocks(&self) -> &BTreeSet<Block> {
        &self.left_out
    }

    /// The warning of excluded blocks; `None` for none.
    pub(super) fn excluded(&self) -> Option<WarningKind> {
        disturbed::excluded(self.candidate, &self.left_out)
    }

    /// The ratio of two samples, of which a start of one has no partner in the other.
    fn ratio_over_runs(
        &self,
        of_totals: bool,
        value: impl Fn(&Slice) -> Option<BlockTotals>,
    ) -> Option<StartsEstimate> {
        let side = |system: &SystemStep| -> Option<Vec<Vec<BlockTotals>>> {
            let starts = of_observations(&system.slices, &value);
            starts.into_iter().map(|start| start.into_iter().collect()).collect()
        };
        let (base, candidate) = (side(self.base)?, side(self.candidate)?);
        let tested = ratio_test(&sample(&base, of_totals)?, &sample(&candidate, of_totals)?)?;
        let starts = base.len().min(candidate.len());
        let holds_starts = starts > 1;
        Some(StartsEstimate {
            starts: u32::try_from(starts).unwrap_or(u32::MAX),
            holds_starts,
            ..one_start(tested, self.prior().filter(|_| !holds_starts))
        })
    }

    /// The ratio of a value of the slices: of blocks that were measured in turns by their pairs, else
    /// of two samples. `None` when a slice lacks the value.
    fn ratio(
        &self,
        of_totals: bool,
        value: impl Fn(&Slice) -> Option<BlockTotals>,
    ) -> Option<StartsEstimate> {
        if !self.is_one_run {
            return self.ratio_over_runs(of_totals, value);
        }
        let mut sides: Vec<(u32, Vec<BlockTotals>, Vec<BlockTotals>)> = Vec::new();
        for start in self.starts() {
            let side = |system: &SystemStep| -> Option<Vec<BlockTotals>> {
                system.slices.iter().filter(|s| s.start == start).map(&value).collect()
            };
            let (b, c): (Vec<BlockTotals>, Vec<BlockTotals>) = if self.is_interleaved {
                let pairs = self.partners(start).into_iter();
                let parts: Option<Vec<_>> = pairs.map(|(b, c)| value(b).zip(value(c))).collect();
                parts?.into_iter().unzip()
            } else {
                (side(self.base)?, side(self.candidate)?)
            };
            if !b.is_empty() {
                sides.push((start, b, c));
            }
        }
        if let [(_, b, c)] = sides.as_slice() {
            let pairing = Pairing { is_interleaved: self.is_interleaved, of_totals };
            return pairing.ratio(b, c).map(|tested| one_start(tested, self.prior()));
        }
        let log_ratios_of = |(start, b, c): &(u32, Vec<BlockTotals>, Vec<BlockTotals>)| {
            let (b, c) = (figures(b, of_totals)?, figures(c, of_totals)?);
            if self.is_interleaved {
                return Some((*start, log_ratios(&b, &c)?));
            }
            // Slices of two systems are no pairs: a start gives one ratio, that of their means.
            ratio_test(&b, &c).map(|tested| (*start, vec![tested.estimate.point.ln()]))
        };
        let logs: Vec<(u32, Vec<f64>)> = sides.iter().map(log_ratios_of).collect::<Option<_>>()?;
        let of_one = |starts: &Vec<u32>| -> Vec<f64> {
            let own = logs.iter().filter(|(start, _)| starts.contains(start));
            own.flat_map(|(_, logs)| logs.iter().copied()).collect()
        };
        let observations: Vec<Vec<f64>> = self.observations().iter().map(of_one).collect();
        of_starts_with(&observations, self.prior())
    }
}

/// What the slices of a start say: of blocks of equal work the figures whose geometric mean is the
/// ratio of their totals, else each slice's own.
fn figures(parts: &[BlockTotals], of_totals: bool) -> Option<Vec<f64>> {
    if of_totals { totals::figures(parts) } else { Some(ratios(parts)) }
}

/// The observations of one side: the geometric means of its starts, or the slices of its only
/// start. `None` where a slice of several starts has a value that is not above 0 and finite.
fn sample(starts: &[Vec<BlockTotals>], of_totals: bool) -> Option<Vec<f64>> {
    if let [only] = starts {
        return figures(only, of_totals);
    }
    let middle = |parts: &Vec<BlockTotals>| {
        let has_log = |v: f64| v > 0.0 && v.is_finite();
        let figures = figures(parts, of_totals)?.into_iter();
        let logs: Option<Vec<f64>> = figures.map(|v| has_log(v).then(|| v.ln())).collect();
        Some(rqps_stats::mean(&logs?)?.point.exp())
    };
    starts.iter().map(middle).collect()
}

/// Operations per second.
fn rate(slice: &Slice) -> BlockTotals {
    let stated = slice.stated.as_ref().and_then(|stated| stated.figure);
    pairing::rate(stated, slice.n_operations, slice.duration_ns)
}

/// CPU of the server per operation: what it used in all is the metric for a single operation.
fn server_cpu(slice: &Slice) -> Option<BlockTotals> {
    let amount = Metric::ServerCpu.value(&slice.usage, 1)?;
    (slice.n_operations > 0).then_some(BlockTotals { amount, per: slice.n_operations as f64 })
}

/// What a single operation is of a slice's, at the worst.
fn one_operation(system: &SystemStep) -> f64 {
    resolution::of_counts(system.slices.iter().map(|s| s.n_operations))
}
