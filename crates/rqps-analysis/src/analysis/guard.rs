//! Warnings from the blocks of a whole step: rates at two levels, drift, and stalls that cost one
//! side more.

use rqps_model::warning::RateLevels;
use rqps_model::{Slice, StepKind, WarningKind};
use rqps_stats::bimodal::Levels;
use rqps_stats::drift::{DRIFT_P, MIN_BLOCKS, drift, drift_over_starts};
use rqps_stats::steady::{Disagreement, Rates, disagreement_of_samples, disagreement_over_starts};
use rqps_stats::tested::Tested;

use super::background;
use super::estimate::Pair;
use super::footnote::{Book, CellWarning};
use super::observed::ObservedSystem;
use super::stall::Stall;
use super::windows;

/// A drift of the figure below this blurs it less than the practical bound; two levels nearer than
/// this are not marked either.
const MIN_DRIFT: f64 = 0.05;

/// A drift of the ratio below this is of no consequence: 2%, beyond what the memory layout does.
const MIN_RATIO_DRIFT: f64 = 0.02;

/// What a system's blocks say of themselves. Filling tables, creating indexes and the steps of the
/// Insert Benchmark change as they go; they have their own.
pub(super) fn own(
    kind: StepKind,
    ObservedSystem { system, observed }: ObservedSystem<'_>,
    of_host: bool,
    book: &mut Book,
) -> Vec<CellWarning> {
    if matches!(kind, StepKind::Load | StepKind::WarmUp | StepKind::Index | StepKind::Mixed) {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if let Some(levels) = &observed.two_levels {
        warnings.push(match of_host {
            true => book.warn(WarningKind::HostLevels { levels: rate_levels(levels) }),
            false => book.warn(WarningKind::TwoLevels { levels: rate_levels(levels) }),
        });
    }
    // Few slices in which nothing was in between are cut into parts, so that there are enough for a line.
    let of_start = |slices: &[&Slice]| {
        let is_few = slices.len() < MIN_BLOCKS;
        let parts = is_few.then(|| windows::parts(slices, MIN_BLOCKS)).flatten();
        parts.unwrap_or_else(|| slices.iter().map(|s| s.figure()).collect())
    };
    if let Some(found) = drift_of(&system.slices.iter().collect::<Vec<_>>(), MIN_DRIFT, of_start) {
        let kind = WarningKind::Drift { rate: Some(found.estimate), ratio: None };
        warnings.push(book.warn(kind));
    }
    let began = background::began(kind, &system.slices);
    warnings.extend(began.map(|kind| book.warn(kind)));
    warnings
}

/// What the blocks of candidate and base, measured in turns, say of each other; of slices measured one after
/// the other, stalls alone: a drift of their ratio is the host's as much as theirs.
pub(super) fn of_pair(
    kind: StepKind,
    pair: &Pair<'_>,
    warnings: &mut Vec<CellWarning>,
    book: &mut Book,
) {
    let blocks = pair.blocks();
    let candidates: Vec<&Slice> = blocks.iter().map(|(_, c)| *c).collect();
    let ratios = |slices: &[&Slice]| {
        let base = |c: &&Slice| blocks.iter().find(|(_, own)| std::ptr::eq(*own, *c));
        let ratio = |c: &&Slice| base(c).map(|(b, _)| c.figure() / b.figure());
        slices.iter().filter_map(ratio).collect()
    };
    if let Some(found) = drift_of(&candidates, MIN_RATIO_DRIFT, ratios) {
        // A cell has one warning of a kind.
        let own = warnings.iter_mut().find_map(|own| match &mut own.kind {
            WarningKind::Drift { ratio, .. } => Some(ratio),
            _ => None,
        });
        match own {
            Some(ratio) => *ratio = Some(found.estimate),
            None => {
                let kind = WarningKind::Drift { rate: None, ratio: Some(found.estimate) };
                warnings.push(book.warn(kind));
            }
        }
    }
    if let Some(found) = disagrees(pair, &blocks) {
        let stall = Stall::of(&blocks, &found);
        warnings.push(book.warn(stall.warning()));
    }
    // Filling tables and creating indexes change as they go.
    if !matches!(kind, StepKind::Load | StepKind::Index)
        && let Some((base, candidate)) = pair.samples()
        && let Some(found) = samples_disagree(pair, &base, &candidate)
    {
        let stall = Stall::of_samples(&base, &candidate, &found);
        warnings.push(book.warn(stall.warning()));
    }
}

fn rate_levels(found: &Levels) -> RateLevels {
    RateLevels { low_per_s: found.low, high_per_s: found.high, low_share: found.low_share }
}

/// The drift of a value of the blocks, the surest of each start and of all starts together; `None` where none is sure or as
/// large as `least`. Between starts a value may jump, so each is looked at on its own.
fn drift_of(
    slices: &[&Slice],
    least: f64,
    values: impl Fn(&[&Slice]) -> Vec<f64>,
) -> Option<Tested> {
    let starts: Vec<Vec<f64>> = slices.chunk_by(|a, b| a.start == b.start).map(values).collect();
    let p_of = |found: &Tested| found.p.unwrap_or(1.0);
    let found: Vec<Tested> = starts
        .iter()
        .filter_map(|of_start| drift(of_start))
        .chain(drift_over_starts(&starts))
        .collect();
    let n = found.len() as f64;
    let is_large = |own: &Tested| own.estimate.point.ln().abs() >= (1.0 + least).ln();
    let large = found.into_iter().filter(is_large);
    let surest = large.min_by(|a, b| p_of(a).total_cmp(&p_of(b)))?;
    (p_of(&surest) * n < DRIFT_P).then_some(surest)
}

/// Averages and steady rates of slices, in order.
struct Told {
    average: Vec<f64>,
    steady: Vec<f64>,
}

impl Told {
    /// `None` where a slice has no steady rate.
    fn of<'s>(pair: &Pair<'_>, slices: impl Iterator<Item = &'s Slice>) -> Option<Self> {
        let rates = slices.map(|slice| Some((slice.figure(), pair.observed(slice)?.steady_rate?)));
        let rates: Vec<(f64, f64)> = rates.collect::<Option<_>>()?;
        let (average, steady) = rates.into_iter().unzip();
        Some(Self { average, steady })
    }

    fn rates(&self) -> Rates<'_> {
        Rates { average: &self.average, steady: &self.steady }
    }
}

/// Average and steady rate, where they tell different stories; over several starts of the servers
/// tested as the rQPS is.
fn disagrees(pair: &Pair<'_>, blocks: &[(&Slice, &Slice)]) -> Option<Disagreement> {
    let mut starts = Vec::new();
    for of_start in blocks.chunk_by(|a, b| a.0.start == b.0.start) {
        let base = Told::of(pair, of_start.iter().map(|(b, _)| *b))?;
        starts.push((base, Told::of(pair, of_start.iter().map(|(_, c)| *c))?));
    }
    let rates: Vec<_> = starts.iter().map(|(b, c)| (b.rates(), c.rates())).collect();
    finding(pair, disagreement_over_starts(&rates)?)
}

/// The same of slices that have no partners.
fn samples_disagree(
    pair: &Pair<'_>,
    base: &[&Slice],
    candidate: &[&Slice],
) -> Option<Disagreement> {
    let base = Told::of(pair, base.iter().copied())?;
    let candidate = Told::of(pair, candidate.iter().copied())?;
    finding(pair, disagreement_of_samples(base.rates(), candidate.rates())?)
}

/// A disagreement that is one, with the rQPS of the cell as the ratio of averages.
fn finding(pair: &Pair<'_>, found: Disagreement) -> Option<Disagreement> {
    if !found.is_finding() {
        return None;
    }
    Some(Disagreement { average: pair.rqps()?.tested, ..found })
}
