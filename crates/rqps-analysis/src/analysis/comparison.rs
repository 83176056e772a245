//! What is known of a candidate beside its rQPS and verdict: tests, starts of the servers, and the
//! same of server CPU, steady rates and response times.

use std::collections::BTreeSet;

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
    /// The p-value adjusted for the number of ratios of its kind, whatever their size; absent
    /// without an interval, where the insert rate was not held or a check failed, and of the rQPS
    /// where a set rate was held.
    pub adjusted_p: Option<f64>,
}

impl Judged {
    /// One that has not been looked at among the others yet.
    fn alone(found: StartsEstimate) -> Self {
        Self { found, adjusted_p: None }
    }

    /// The ratio with its interval.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        self.found.tested.estimate
    }

    /// Whether the difference stands among all that were tried, however small it is.
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

/// A candidate against the base on one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Figure / that of the base.
    pub rqps: Judged,
    /// The verdict of the rQPS alone, whatever else was tried; absent where the ratio is barred.
    pub alone: Option<Verdict>,
    /// The adjusted p-value that the verdict goes by, where differences below the practical bound
    /// count as none; absent where the rQPS alone is neither slower nor faster.
    pub verdict_p: Option<f64>,
    /// Share of the measured blocks that ratios are of, above 0: the host was disturbed in others.
    pub kept_share: f64,
    /// The blocks that ratios are without, as the host was disturbed: start of the servers, and number.
    pub left_out: BTreeSet<(u32, u32)>,
    /// What would settle an unclear verdict, where that can be told.
    pub settle: Option<Settle>,
    /// Server CPU per operation / that of the base; below 1 is better.
    pub server_cpu: Option<Judged>,
    /// Steady rate / that of the base; absent where a block has too few windows.
    pub steady: Option<Judged>,
    /// Percentiles of response times / those of the base; empty where they were not recorded.
    pub responses: Vec<ResponseRatio>,
}

impl Comparison {
    /// The comparison of a pair whose rQPS is `rqps`; what it says among others is decided later.
    pub(super) fn of(pair: &Pair<'_>, rqps: StartsEstimate) -> Self {
        Self {
            rqps: Judged::alone(rqps),
            alone: None,
            verdict_p: None,
            kept_share: pair.kept_share(),
            left_out: pair.left_out_blocks().clone(),
            settle: None,
            server_cpu: pair.server_cpu().map(Judged::alone),
            steady: pair.steady().map(Judged::alone),
            responses: responses(pair).unwrap_or_default(),
        }
    }

    /// Its ratios but for the rQPS, each with its kind: ratios of one kind are adjusted together.
    pub(super) fn others(&mut self) -> impl Iterator<Item = (usize, &mut Judged)> {
        let responses = self.responses.iter_mut().map(|ratio| ratio.judged.as_mut());
        let all = [self.server_cpu.as_mut(), self.steady.as_mut()].into_iter().chain(responses);
        all.enumerate().filter_map(|(kind, judged)| Some((kind, judged?)))
    }
}

/// The percentiles' ratios; `None` where a slice has no readable histogram.
fn responses(pair: &Pair<'_>) -> Option<Vec<ResponseRatio>> {
    let times = |slice: &Slice| pair.observed(slice)?.times.as_ref();
    let counts: Vec<u64> = pair.slices().map(|s| Some(times(s)?.n)).collect::<Option<_>>()?;
    let n_fewest = counts.into_iter().min()?;
    let ratio = |(at, percentile): (usize, f64)| {
        let n_needed = response::needed(percentile);
        let found = pair.ratio_of(|slice: &Slice| Some(times(slice)?.percentiles_ns[at]));
        let step = resolution::of_ratio(HISTOGRAM_STEP, HISTOGRAM_STEP);
        let found = found.filter(|_| n_fewest >= n_needed);
        let judged = found.map(|found| {
            Judged::alone(StartsEstimate { tested: found.tested.resolved(step), ..found })
        });
        ResponseRatio { percentile, judged, n_fewest, n_needed }
    };
    Some(COMPARED.into_iter().enumerate().map(ratio).collect())
}
