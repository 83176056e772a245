//! Searches of vectors: QPS against recall, and relative QPS at equal recall.
//!
//! A search is worth what it costs at a recall. The searches of a system make a curve: its QPS at a recall is that of the
//! fastest search that reaches it, between two searches on a line of recall and the logarithm of QPS. The relative QPS at
//! a recall is the quotient of two such curves. Its interval is that of the blocks of the searches between which the
//! recall lies, for each start of the servers.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::run::SystemStep;
use rqps_model::{Estimate, Recall, Slice, StepKind, Verdict};
use rqps_stats::ratio::verdict;
use rqps_stats::starts::of_starts_with;

use super::pairing::rate;
use super::start_prior;
use super::system_pair::SystemPair;
use super::{Analysis, Bar, StepAnalysis};

/// Recalls at which candidates are compared with the base, as far as both have a search with less; else the least that
/// both have.
pub const COMPARED: [f64; 3] = [0.90, 0.95, 0.99];

/// Recalls for which the best search is listed, as the field does.
pub const LISTED: [f64; 6] = [1.0, 0.99, 0.98, 0.97, 0.96, 0.95];

/// A recall that misses its mark by less than this reaches it: sums of tenths are rounded.
const ROUNDING: f64 = 1e-9;

/// The searches of a suite with one number of clients.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallTable {
    /// Clients of each search.
    pub clients: u32,
    /// Nearest neighbours that a query asks for.
    pub k: u32,
    /// Queries whose answers were read; of an exact search fewer.
    pub n_queries: u32,
    /// Per system, in the order of the run.
    pub curves: Vec<RecallCurve>,
    /// At each of [`COMPARED`] that the base reaches, candidates relative to the base.
    pub compared: Vec<AtRecall>,
}

/// The searches of a system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecallCurve {
    /// In the order of the run.
    pub points: Vec<RecallPoint>,
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallPoint {
    /// Its step, by its place in [`Analysis::steps`].
    pub step_idx: usize,
    /// Whether it looks at all vectors.
    pub is_exact: bool,
    /// Its QPS.
    pub qps: Estimate,
    /// The mean recall over queries and starts.
    pub recall: f64,
    /// Half of the 95% interval of the mean over queries like these.
    pub half_width: f64,
    /// The recall below which 5% of the queries lie.
    pub p5: f64,
}

/// Candidates relative to the base at a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct AtRecall {
    /// The recall.
    pub recall: f64,
    /// QPS of each system at it; absent where it does not reach the recall.
    pub qps: Vec<Option<f64>>,
    /// Per system; absent for the base, and where either does not reach the recall.
    pub against: Vec<Option<RecallRatio>>,
}

/// The QPS of a candidate over that of the base, at one recall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallRatio {
    /// The ratio.
    pub rqps: Estimate,
    /// What it says by itself, not adjusted for the number of ratios; absent where something bars it.
    pub verdict: Option<Verdict>,
    /// Why there is none.
    pub bar: Option<Bar>,
}

/// A search that counts with a share.
#[derive(Debug, Clone, Copy)]
struct Weighted<'c> {
    point: &'c RecallPoint,
    share: f64,
}

/// What the blocks of a search add to the logarithm of a ratio.
struct Part<'s> {
    slices: &'s [Slice],
    /// Below 0 for the base.
    share: f64,
}

impl RecallCurve {
    /// The recall of its fastest search.
    fn least(&self) -> Option<f64> {
        let fastest = self.points.iter().max_by(|a, b| a.qps.point.total_cmp(&b.qps.point));
        fastest.map(|point| point.recall)
    }

    /// The fastest search that reaches a recall.
    #[must_use]
    pub fn best(&self, recall: f64) -> Option<&RecallPoint> {
        let reaching = self.points.iter().filter(|point| point.recall >= recall - ROUNDING);
        reaching.max_by(|a, b| a.qps.point.total_cmp(&b.qps.point))
    }

    /// The points between which a recall lies, each with its share: the fastest that reaches it, and the fastest of those
    /// that do not, if that is faster. `None` where no point reaches it.
    fn around(&self, recall: f64) -> Option<Vec<Weighted<'_>>> {
        let above = self.best(recall)?;
        let is_faster = |point: &&RecallPoint| point.qps.point > above.qps.point;
        // Nearest to the recall, so that the line between is short.
        let below =
            self.points.iter().filter(is_faster).max_by(|a, b| a.recall.total_cmp(&b.recall));
        match below {
            Some(below) if below.recall < above.recall => {
                let share = (recall - below.recall) / (above.recall - below.recall);
                let share = share.clamp(0.0, 1.0);
                let both = [
                    Weighted { point: above, share },
                    Weighted { point: below, share: 1.0 - share },
                ];
                Some(both.into_iter().filter(|part| part.share > 0.0).collect())
            }
            _ => Some(vec![Weighted { point: above, share: 1.0 }]),
        }
    }

    /// The QPS at a recall.
    #[must_use]
    pub fn qps_at(&self, recall: f64) -> Option<f64> {
        let around = self.around(recall)?;
        Some(around.iter().map(|part| part.share * part.point.qps.point.ln()).sum::<f64>().exp())
    }
}

/// The tables of an analysis: one for each suite and number of clients that have recalls.
pub(super) fn tables(analysis: &Analysis<'_>) -> Vec<RecallTable> {
    let mut groups: BTreeMap<(String, u32), Vec<usize>> = BTreeMap::new();
    for (idx, step) in analysis.steps.iter().enumerate() {
        let is_search = step.step.info.kind == StepKind::Read
            && step.step.systems.iter().any(|system| !system.recalls.is_empty());
        if is_search {
            let name = &step.step.info.name;
            let suite = name.rsplit_once('/').map_or("", |(suite, _)| suite).to_owned();
            groups.entry((suite, step.step.clients)).or_default().push(idx);
        }
    }
    groups
        .into_iter()
        .filter_map(|((_, clients), steps)| table(analysis, clients, &steps))
        .collect()
}

fn table(analysis: &Analysis<'_>, clients: u32, step_idxs: &[usize]) -> Option<RecallTable> {
    let n_systems = analysis.run.systems.len();
    let curves: Vec<RecallCurve> = (0..n_systems)
        .map(|system_idx| RecallCurve {
            points: step_idxs
                .iter()
                .filter_map(|&step_idx| point(&analysis.steps[step_idx], step_idx, system_idx))
                .collect(),
        })
        .collect();
    // An exact search has fewer: each of its queries takes long.
    let any = step_idxs
        .iter()
        .flat_map(|&idx| &analysis.steps[idx].step.systems)
        .flat_map(|system| system.recalls.values())
        .max_by_key(|recall| recall.n_queries)?;
    let base = curves.get(analysis.base)?;
    let at = |recall: f64| {
        base.qps_at(recall)?;
        let against = |system_idx: usize| {
            let is_candidate = system_idx != analysis.base;
            is_candidate.then(|| ratio_at(analysis, &curves, system_idx, recall)).flatten()
        };
        Some(AtRecall {
            recall,
            qps: curves.iter().map(|curve| curve.qps_at(recall)).collect(),
            against: (0..n_systems).map(against).collect(),
        })
    };
    // Below its least recall a system is at its fastest: what is compared there is no equal recall.
    let least = curves.iter().filter_map(RecallCurve::least).fold(0.0, f64::max);
    let mut recalls: Vec<f64> = COMPARED.into_iter().filter(|recall| *recall >= least).collect();
    if recalls.len() < COMPARED.len() && !recalls.contains(&least) {
        recalls.insert(0, least);
    }
    let compared = recalls.into_iter().filter_map(at).collect();
    Some(RecallTable { clients, k: any.k, n_queries: any.n_queries, compared, curves })
}

/// The mean recall of a search over its starts; `None` of anything else.
pub(super) fn mean(system: &SystemStep) -> Option<f64> {
    let sum: f64 = system.recalls.values().map(|recall| recall.mean).sum();
    (!system.recalls.is_empty()).then(|| sum / system.recalls.len() as f64)
}

fn point(step: &StepAnalysis<'_>, step_idx: usize, system_idx: usize) -> Option<RecallPoint> {
    let system = step.step.systems.get(system_idx)?;
    let qps = step.cells.get(system_idx)?.figure()?;
    let recalls: Vec<&Recall> = system.recalls.values().collect();
    let n = recalls.len() as f64;
    let mean = |of: fn(&Recall) -> f64| recalls.iter().map(|recall| of(recall)).sum::<f64>() / n;
    let first = recalls.first()?;
    Some(RecallPoint {
        step_idx,
        is_exact: step.step.info.name.ends_with("search.exact"),
        qps,
        recall: mean(|recall| recall.mean),
        half_width: 1.96 * mean(|recall| recall.sd) / f64::from(first.n_queries).sqrt(),
        p5: mean(|recall| recall.p5),
    })
}

/// The ratio of a candidate to the base at a recall. The blocks of each search are paired by their order: searches follow
/// one another, so that each adds its own noise.
fn ratio_at(
    analysis: &Analysis<'_>,
    curves: &[RecallCurve],
    system_idx: usize,
    recall: f64,
) -> Option<RecallRatio> {
    let own = curves.get(system_idx)?.around(recall)?;
    let base = curves.get(analysis.base)?.around(recall)?;
    let part = |of: &Weighted<'_>, idx: usize, sign: f64| Part {
        slices: &analysis.steps[of.point.step_idx].step.systems[idx].slices,
        share: sign * of.share,
    };
    let parts: Vec<Part<'_>> = own
        .iter()
        .map(|of| part(of, system_idx, 1.0))
        .chain(base.iter().map(|of| part(of, analysis.base, -1.0)))
        .collect();
    let all = || parts.iter().flat_map(|part| part.slices);
    // The starts of a load share its tables and its index.
    let has_loads = all().map(|slice| slice.load).collect::<BTreeSet<u32>>().len() > 1;
    let observation = |slice: &Slice| if has_loads { slice.load } else { slice.start };
    let observations: BTreeSet<u32> = all().map(observation).collect();
    let logs_of = |of: &u32| -> Vec<f64> {
        let of_part = |part: &Part<'_>| -> Vec<f64> {
            let own = part.slices.iter().filter(|slice| observation(slice) == *of);
            own.map(|slice| part.share * log_rate(slice)).collect()
        };
        let all: Vec<Vec<f64>> = parts.iter().map(of_part).collect();
        let n = all.iter().map(Vec::len).min().unwrap_or(0);
        (0..n).map(|block| all.iter().map(|logs| logs[block]).sum()).collect()
    };
    let logs: Vec<Vec<f64>> =
        observations.iter().map(logs_of).filter(|logs| !logs.is_empty()).collect();
    let step = &analysis.steps[own.first()?.point.step_idx].step;
    let systems = SystemPair { base: analysis.base, candidate: system_idx };
    let priors = start_prior::of_pair(analysis.run, analysis.calibration(), step, systems);
    let prior = priors.filter(|_| !has_loads || logs.len() < 2).map(|priors| match logs.len() {
        0..=3 => priors.of_one,
        _ => priors.of_several,
    });
    let rqps = of_starts_with(&logs, prior)?.tested.estimate;
    // What bars the ratio of a search bars what is made of it; another recall does not.
    let bar = own.iter().chain(&base).find_map(|of| {
        let cell = analysis.steps[of.point.step_idx].cells.get(system_idx)?;
        cell.bar().filter(|bar| *bar != Bar::Recall)
    });
    let verdict = bar.is_none().then(|| verdict(&rqps, analysis.judging.bound));
    Some(RecallRatio { rqps, verdict, bar })
}

fn log_rate(slice: &Slice) -> f64 {
    rate(None, slice.n_operations, slice.duration_ns).ratio().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(recall: f64, qps: f64) -> RecallPoint {
        RecallPoint {
            step_idx: 0,
            is_exact: false,
            qps: Estimate::single(qps),
            recall,
            half_width: 0.0,
            p5: 0.0,
        }
    }

    fn curve() -> RecallCurve {
        // A search that is slower and finds less than another one is of no use.
        let points = [(0.80, 1000.0), (0.90, 500.0), (0.85, 400.0), (0.99, 100.0), (1.0, 10.0)];
        RecallCurve { points: points.map(|(recall, qps)| point(recall, qps)).to_vec() }
    }

    #[test]
    fn the_best_search_is_the_fastest_that_reaches_a_recall() {
        let best = |recall: f64| curve().best(recall).map(|point| point.qps.point);
        assert_eq!(
            [0.5, 0.9, 0.95, 1.0].map(best),
            [Some(1000.0), Some(500.0), Some(100.0), Some(10.0)]
        );
        let points = vec![point(0.9, 500.0)];
        assert_eq!(RecallCurve { points }.best(0.95), None);
    }

    #[test]
    fn between_two_searches_the_logarithm_of_qps_is_on_a_line() {
        let at = |recall: f64| curve().qps_at(recall).unwrap();
        assert!((at(0.90) - 500.0).abs() < 1e-6, "{}", at(0.90));
        let half = (500.0_f64 * 100.0).sqrt();
        assert!((at(0.945) - half).abs() < 1e-6, "{}", at(0.945));
        // A recall below all of them costs no less than the least search.
        assert!((at(0.5) - 1000.0).abs() < 1e-6, "{}", at(0.5));
        assert_eq!(RecallCurve { points: vec![point(0.9, 500.0)] }.qps_at(0.95), None);
    }
}
