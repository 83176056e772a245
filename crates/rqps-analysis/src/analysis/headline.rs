//! The summary of a run for each candidate: counts, extremes, causes, and why steps are unclear.

use rqps_model::warning::HalfWidth;
use rqps_model::{Estimate, StepKind, Verdict};

use super::median::median;
use super::settle::{self, Settle};
use super::{Analysis, Bar, Cell, CellState, StepAnalysis};

/// The summary of a run for one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// Index of the candidate.
    pub system_idx: usize,
    /// Its steps by outcome.
    pub counts: Counts,
    /// Median of the rQPS of all compared steps.
    pub median: Option<f64>,
    /// Median half-widths of the intervals of these ratios, by kind of step.
    pub half_widths: Vec<HalfWidth>,
    /// Index of the slower step with the smallest rQPS.
    pub worst_idx: Option<usize>,
    /// Index of the faster step with the largest rQPS.
    pub best_idx: Option<usize>,
    /// Whether it was measured in another run than the base.
    pub is_over_runs: bool,
    /// The steps with the lowest and the highest rQPS; absent without a ratio.
    pub range: Option<Range>,
    /// Its unclear steps by what they lack, in the order of reports.
    pub unclear: Vec<Unclear>,
}

/// The steps with the lowest and the highest ratio, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// That with the lowest rQPS.
    pub lowest_idx: usize,
    /// That with the highest.
    pub highest_idx: usize,
}

/// Unclear steps that lack the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Unclear {
    /// What they lack.
    pub lack: Lack,
    /// The steps, by index.
    pub step_idxs: Vec<usize>,
    /// What would settle them, where that is known.
    pub settles: Vec<Settle>,
}

/// Compared steps by outcome. Warm-ups and indexes are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Steps slower by the bound or more.
    pub slower: usize,
    /// Steps faster by the bound or more.
    pub faster: usize,
    /// Steps that are the same within the bound.
    pub same: usize,
    /// Steps whose interval is too wide for a verdict, or that have none.
    pub unclear: usize,
    /// Steps that failed on the base or the candidate.
    pub failed: usize,
    /// Steps whose insert rate was not held on the base or the candidate.
    pub sla_failed: usize,
    /// Steps with a failed check on the base or the candidate.
    pub check_failed: usize,
    /// Steps on which starts of the base or the candidate ran different plans.
    pub plans_vary: usize,
    /// Steps whose events came at a set rate, which both held.
    pub rate_held: usize,
    /// Searches of vectors whose recalls differ.
    pub recall_differs: usize,
    /// Steps during which the host was busy with other work.
    pub host_busy: usize,
    /// Steps whose rates were imported: a ratio, and no verdict.
    pub imported: usize,
    /// Steps that were not reached, or that did no operation.
    pub missing: usize,
}

impl Counts {
    /// All compared steps.
    #[must_use]
    pub fn total(&self) -> usize {
        self.measured() + self.barred() + self.failed + self.imported + self.missing
    }

    /// Steps with a ratio that is barred from a verdict.
    #[must_use]
    pub fn barred(&self) -> usize {
        self.sla_failed
            + self.check_failed
            + self.plans_vary
            + self.rate_held
            + self.recall_differs
            + self.host_busy
    }

    /// Steps with a verdict.
    #[must_use]
    pub fn measured(&self) -> usize {
        self.slower + self.faster + self.same + self.unclear
    }
}

pub(super) fn headlines(analysis: &Analysis<'_>) -> Vec<Headline> {
    analysis.candidates().map(|system_idx| headline(analysis, system_idx)).collect()
}

fn headline(analysis: &Analysis<'_>, system_idx: usize) -> Headline {
    let counts = counts(analysis, system_idx);
    let point =
        |step: &StepAnalysis<'_>| step.cells.get(system_idx)?.comparable_rqps().map(|r| r.point);
    let compared = || analysis.steps.iter().enumerate().filter(|(_, step)| step.is_compared());
    let extreme = |wanted: Verdict, better: fn(f64, f64) -> bool| {
        compared()
            .filter(|(_, step)| {
                step.cells.get(system_idx).and_then(|c| c.verdict()) == Some(wanted)
            })
            .filter_map(|(idx, step)| Some((idx, point(step)?)))
            .reduce(|a, b| if better(b.1, a.1) { b } else { a })
            .map(|(idx, _)| idx)
    };
    let joined = analysis.joined;
    Headline {
        system_idx,
        counts,
        median: median(compared().filter_map(|(_, step)| point(step)).collect()),
        half_widths: super::width::medians(analysis, |idx| idx == system_idx),
        worst_idx: extreme(Verdict::Slower, |new, old| new < old),
        best_idx: extreme(Verdict::Faster, |new, old| new > old),
        is_over_runs: joined.is_some_and(|joined| !joined.is_one_run(analysis.base, system_idx)),
        range: range(analysis, system_idx),
        unclear: unclear(analysis, system_idx),
    }
}

fn counts(analysis: &Analysis<'_>, system_idx: usize) -> Counts {
    let mut counts = Counts::default();
    for step in analysis.steps.iter().filter(|step| step.is_compared()) {
        let cells: Vec<&Cell> =
            [analysis.base, system_idx].iter().filter_map(|&i| step.cells.get(i)).collect();
        let verdict = step.cells.get(system_idx).and_then(|c| c.verdict());
        let slot = match verdict {
            Some(Verdict::Slower) => &mut counts.slower,
            Some(Verdict::Faster) => &mut counts.faster,
            Some(Verdict::Same) => &mut counts.same,
            Some(Verdict::Unclear) => &mut counts.unclear,
            None if cells.iter().any(|c| matches!(c.state, CellState::Failed { .. })) => {
                &mut counts.failed
            }
            None => match step.cells.get(system_idx).and_then(|c| c.bar()) {
                Some(Bar::Sla) => &mut counts.sla_failed,
                Some(Bar::Check) => &mut counts.check_failed,
                Some(Bar::Plans) => &mut counts.plans_vary,
                Some(Bar::Rate) => &mut counts.rate_held,
                Some(Bar::Recall) => &mut counts.recall_differs,
                Some(Bar::HostBusy) => &mut counts.host_busy,
                None if cells.iter().any(|c| c.is_imported && c.rqps().is_some()) => {
                    &mut counts.imported
                }
                None => &mut counts.missing,
            },
        };
        *slot += 1;
    }
    counts
}

/// The server's CPU per operation / that of the base, beside a verdict. Absent where other work of
/// the server hides the CPU of its clients: the cause is then about connection threads.
#[must_use]
pub fn cpu_behind(cell: &Cell) -> Option<Estimate> {
    let is_apart = cell.cause().is_some_and(|cause| cause.is_of_serving);
    cell.server_cpu_ratio().filter(|_| !is_apart)
}

/// The steps with the lowest and the highest rQPS.
fn range(analysis: &Analysis<'_>, system_idx: usize) -> Option<Range> {
    let compared = || analysis.steps.iter().enumerate().filter(|(_, step)| step.is_compared());
    let ratio =
        |step: &StepAnalysis<'_>| Some(step.cells.get(system_idx)?.comparable_rqps()?.point);
    let ratios: Vec<(usize, f64)> =
        compared().filter_map(|(idx, step)| Some((idx, ratio(step)?))).collect();
    let by_point = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
    let (low, high) = (ratios.iter().min_by(by_point)?, ratios.iter().max_by(by_point)?);
    Some(Range { lowest_idx: low.0, highest_idx: high.0 })
}

/// What an unclear step lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// A second creation of its indexes.
    Creation,
    /// A second block of its work, which is fixed.
    Block,
    /// A second slice.
    Slice,
    /// More starts of the servers, which decide its interval.
    Starts,
    /// More time.
    Time,
    /// Other starts of the servers: its work is fixed, and it has had one.
    Restarts,
    /// Fewer ratios: it is slower or faster alone, but not after adjustment.
    Alone,
}

impl Lack {
    /// In the order in which they are told.
    const ALL: [Self; 7] = [
        Self::Creation,
        Self::Block,
        Self::Slice,
        Self::Starts,
        Self::Time,
        Self::Restarts,
        Self::Alone,
    ];

    /// That of an unclear step; `None` for any other.
    fn of(step: &StepAnalysis<'_>, cell: &Cell) -> Option<Self> {
        if cell.verdict() != Some(Verdict::Unclear) {
            return None;
        }
        if cell.fallen_verdict().is_some() {
            return Some(Self::Alone);
        }
        let is_timed = settle::is_timed(&step.step);
        if cell.rqps().is_none_or(|ratio| ratio.interval.is_none()) {
            return Some(match step.step.info.kind {
                StepKind::Index => Self::Creation,
                _ if is_timed => Self::Slice,
                _ => Self::Block,
            });
        }
        let found = cell.comparison().map(|c| c.rqps.found);
        let holds_starts = found.is_some_and(|found| found.holds_starts);
        let assumes_starts = found.is_some_and(|found| found.prior.is_some());
        Some(match (holds_starts, is_timed) {
            (true, _) => Self::Starts,
            (false, true) if assumes_starts => Self::Starts,
            (false, true) => Self::Time,
            (false, false) => Self::Restarts,
        })
    }
}

/// The unclear steps of a candidate by what they lack.
fn unclear(analysis: &Analysis<'_>, system_idx: usize) -> Vec<Unclear> {
    let mut out = Vec::new();
    for lack in Lack::ALL {
        let mut of_lack = Unclear { lack, step_idxs: Vec::new(), settles: Vec::new() };
        let compared = analysis.steps.iter().enumerate().filter(|(_, step)| step.is_compared());
        for (step_idx, step) in compared {
            let Some(cell) = step.cells.get(system_idx) else { continue };
            if Lack::of(step, cell) == Some(lack) {
                of_lack.step_idxs.push(step_idx);
                of_lack.settles.extend(cell.settle());
            }
        }
        if !of_lack.step_idxs.is_empty() {
            out.push(of_lack);
        }
    }
    out
}
