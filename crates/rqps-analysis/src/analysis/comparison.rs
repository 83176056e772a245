//! Comparisons beside rQPS and verdict: tests, starts of the servers, server CPU, steady rates and
//! response times.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::{Estimate, Slice, Verdict};
use rqps_stats::fdr::DEFAULT_Q;
use rqps_stats::resolution;
use rqps_stats::starts::StartsEstimate;

use super::Settle;
use super::estimate::Pair;
use crate::response::{self, COMPARED};

/// How far neighbouring values of a histogram with three significant digits are apart, at the worst.
const HISTOGRAM_STEP: f64 = 1e-3;

/// A ratio with its test, alone and among all ratios of its kind in the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The ratio, its interval and p-value, and what is known of the starts of the servers.
    pub found: StartsEstimate,
    /// The p-value adjusted for the number of ratios of its kind, whatever their size. Absent
    /// without an interval, and where the insert rate was not held, a check failed or starts ran
    /// different plans. Also absent for the rQPS where a set rate was held.
    pub adjusted_p: Option<f64>,
}

impl Judged {
    /// The ratio with its interval.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        self.found.tested.estimate
    }

    /// Whether the difference is significant after adjustment, however small.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.adjusted_p.is_some_and(|p| p <= DEFAULT_Q)
    }
}

/// A percentile of the response times over the base's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResponseRatio {
    /// One of [`COMPARED`].
    pub percentile: f64,
    /// The ratio, of the percentile in every block; absent where a block has too few responses.
    pub judged: Option<Judged>,
    /// Responses in the block that has the fewest.
    pub n_fewest: u64,
    /// Responses that a block needs for the percentile.
    pub n_needed: u64,
}

/// The verdict on an rQPS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// The verdict, adjusted for all ratios of the run.
    pub verdict: Verdict,
    /// The verdict without adjustment.
    pub alone: Verdict,
    /// The adjusted p-value that the verdict goes by, where differences below the practical bound
    /// count as none; absent where the rQPS alone is neither slower nor faster.
    pub verdict_p: Option<f64>,
    /// What would settle an unclear verdict, where known.
    pub settle: Option<Settle>,
}

/// A candidate against the base on one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// QPS / QPS of the base.
    pub rqps: Judged,
    /// Its verdict; absent where the ratio is barred, and for imported rates.
    pub decision: Option<Decision>,
    /// Share of the measured blocks that ratios include, above 0: the host was disturbed in others.
    pub kept_share: f64,
    /// The blocks that ratios exclude, because the host was disturbed: start of the servers, and
    /// number.
    pub left_out: BTreeSet<(u32, u32)>,
    /// Server CPU per operation / that of the base; below 1 is better.
    pub server_cpu: Option<Judged>,
    /// Steady rate / that of the base; absent where a block has too few windows.
    pub steady: Option<Judged>,
    /// Percentiles of response times / those of the base; empty where they were not recorded.
    pub responses: Vec<ResponseRatio>,
}

impl Comparison {
    /// The ratios of a pair with what the run says of them.
    pub(super) fn of(ratios: Ratios, judgement: &Judgement) -> Self {
        let judged = |kind: RatioKind| {
            let found = *ratios.get(kind)?;
            Some(Judged { found, adjusted_p: judgement.adjusted_p.get(&kind).copied() })
        };
        let response = |(at, test): (usize, &ResponseTest)| ResponseRatio {
            percentile: test.percentile,
            judged: judged(RatioKind::Response(at)),
            n_fewest: test.n_fewest,
            n_needed: test.n_needed,
        };
        let adjusted_p = judgement.adjusted_p.get(&RatioKind::Rqps).copied();
        Self {
            rqps: Judged { found: ratios.rqps, adjusted_p },
            decision: judgement.decision,
            kept_share: ratios.kept_share,
            server_cpu: judged(RatioKind::ServerCpu),
            steady: judged(RatioKind::SteadyRate),
            responses: ratios.responses.iter().enumerate().map(response).collect(),
            left_out: ratios.left_out,
        }
    }
}

/// What a ratio to the base is of. Ratios of one kind are adjusted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RatioKind {
    Rqps,
    ServerCpu,
    SteadyRate,
    /// The percentile at this place among [`COMPARED`].
    Response(usize),
}

/// What the run says of the ratios of a pair; nothing of those that take no part.
#[derive(Debug, Clone, Default)]
pub(super) struct Judgement {
    pub(super) decision: Option<Decision>,
    pub(super) adjusted_p: BTreeMap<RatioKind, f64>,
}

/// A percentile of the response times over the base's, before it is judged.
#[derive(Debug, Clone)]
struct ResponseTest {
    percentile: f64,
    found: Option<StartsEstimate>,
    n_fewest: u64,
    n_needed: u64,
}

/// The ratios of a pair, before they are judged among all of the run.
#[derive(Debug, Clone)]
pub(super) struct Ratios {
    /// QPS / QPS of the base.
    pub(super) rqps: StartsEstimate,
    /// As in [`Comparison`].
    pub(super) kept_share: f64,
    left_out: BTreeSet<(u32, u32)>,
    server_cpu: Option<StartsEstimate>,
    steady: Option<StartsEstimate>,
    responses: Vec<ResponseTest>,
}

impl Ratios {
    /// Those of a pair whose rQPS is `rqps`.
    pub(super) fn of(pair: &Pair<'_>, rqps: StartsEstimate) -> Self {
        Self {
            rqps,
            kept_share: pair.kept_share(),
            left_out: pair.left_out_blocks().clone(),
            server_cpu: pair.server_cpu(),
            steady: pair.steady(),
            responses: responses(pair).unwrap_or_default(),
        }
    }

    /// The ratio of a kind, where it has one.
    fn get(&self, kind: RatioKind) -> Option<&StartsEstimate> {
        match kind {
            RatioKind::Rqps => Some(&self.rqps),
            RatioKind::ServerCpu => self.server_cpu.as_ref(),
            RatioKind::SteadyRate => self.steady.as_ref(),
            RatioKind::Response(at) => self.responses.get(at)?.found.as_ref(),
        }
    }

    /// The p-values of its ratios, except that of the rQPS.
    pub(super) fn other_p_values(&self) -> impl Iterator<Item = (RatioKind, f64)> {
        let responses = (0..self.responses.len()).map(RatioKind::Response);
        let all = [RatioKind::ServerCpu, RatioKind::SteadyRate].into_iter().chain(responses);
        all.filter_map(|kind| Some((kind, self.get(kind)?.tested.p?)))
    }
}

/// The percentiles' ratios; `None` where a slice has no readable histogram.
fn responses(pair: &Pair<'_>) -> Option<Vec<ResponseTest>> {
    let times = |slice: &Slice| pair.observed(slice)?.times.as_ref();
    let counts: Vec<u64> = pair.slices().map(|s| Some(times(s)?.n)).collect::<Option<_>>()?;
    let n_fewest = counts.into_iter().min()?;
    let ratio = |(at, percentile): (usize, f64)| {
        let n_needed = response::needed(percentile);
        let found = pair.ratio_of(|slice: &Slice| Some(times(slice)?.percentiles_ns[at]));
        let step = resolution::of_ratio(HISTOGRAM_STEP, HISTOGRAM_STEP);
        let found = found.filter(|_| n_fewest >= n_needed);
        let found = found.map(|found| found.resolved(step));
        ResponseTest { percentile, found, n_fewest, n_needed }
    };
    Some(COMPARED.into_iter().enumerate().map(ratio).collect())
}
