//! The verdict on a candidate in sentences made from the figures.

use rqps_model::{Estimate, StepKind, Verdict};

use super::settle;
use super::{Analysis, Bar, Cell, CellState, StepAnalysis, explain};
use rqps_text::number::{count, plain_ratio, ratio_with_interval};
use rqps_text::words::{list, list_in_short};

/// Stands beside every verdict on a candidate that was measured in another run than the base.
const OVER_RUNS: &str = "Over runs: what the host did between them is in these ratios.";

/// How a sentence of causes begins.
pub const CAUSE: &str = "Cause:";

/// What a whole run says about one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// Index of the candidate.
    pub system_idx: usize,
    /// How its steps came out.
    pub counts: Counts,
    /// Median of the rQPS of all compared steps.
    pub median: Option<f64>,
    /// Index of the slower step with the smallest rQPS.
    pub worst_idx: Option<usize>,
    /// Index of the faster step with the largest rQPS.
    pub best_idx: Option<usize>,
    /// The verdict in one sentence.
    pub sentence: String,
    /// Median, largest loss and gain, what is unclear or missing; a sentence each.
    pub details: Vec<String>,
}

/// Compared steps by how they came out. Filling the tables is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Steps slower by the bound or more.
    pub slower: usize,
    /// Steps faster by the bound or more.
    pub faster: usize,
    /// Steps that are the same within the bound.
    pub same: usize,
    /// Steps whose interval does not settle it, or that have none.
    pub unclear: usize,
    /// Steps that failed on the base or the candidate.
    pub failed: usize,
    /// Steps whose insert rate was not held on the base or the candidate.
    pub sla_failed: usize,
    /// Steps of which a check failed on the base or the candidate.
    pub check_failed: usize,
    /// Steps whose events came at a set rate, which both held.
    pub rate_held: usize,
    /// Steps whose figures were imported: a ratio, and no verdict.
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
        self.sla_failed + self.check_failed + self.rate_held
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
            .filter(|(_, step)| step.cells.get(system_idx).and_then(|c| c.verdict) == Some(wanted))
            .filter_map(|(idx, step)| Some((idx, point(step)?)))
            .reduce(|a, b| if better(b.1, a.1) { b } else { a })
            .map(|(idx, _)| idx)
    };
    let mut headline = Headline {
        system_idx,
        counts,
        median: median(compared().filter_map(|(_, step)| point(step)).collect()),
        worst_idx: extreme(Verdict::Slower, |new, old| new < old),
        best_idx: extreme(Verdict::Faster, |new, old| new > old),
        sentence: sentence(analysis, system_idx, counts),
        details: Vec::new(),
    };
    headline.details = details(analysis, &headline);
    headline
}

fn counts(analysis: &Analysis<'_>, system_idx: usize) -> Counts {
    let mut counts = Counts::default();
    for step in analysis.steps.iter().filter(|step| step.is_compared()) {
        let cells: Vec<&Cell> =
            [analysis.base, system_idx].iter().filter_map(|&i| step.cells.get(i)).collect();
        let verdict = step.cells.get(system_idx).and_then(|c| c.verdict);
        let slot = match verdict {
            Some(Verdict::Slower) => &mut counts.slower,
            Some(Verdict::Faster) => &mut counts.faster,
            Some(Verdict::Same) => &mut counts.same,
            Some(Verdict::Unclear) => &mut counts.unclear,
            None if cells.iter().any(|c| matches!(c.state, CellState::Failed { .. })) => {
                &mut counts.failed
            }
            None => match step.cells.get(system_idx).and_then(|c| c.bar) {
                Some(Bar::Sla) => &mut counts.sla_failed,
                Some(Bar::Check) => &mut counts.check_failed,
                Some(Bar::Rate) => &mut counts.rate_held,
                None if cells.iter().any(|c| c.is_imported && c.rqps.is_some()) => {
                    &mut counts.imported
                }
                None => &mut counts.missing,
            },
        };
        *slot += 1;
    }
    counts
}

fn sentence(analysis: &Analysis<'_>, system_idx: usize, counts: Counts) -> String {
    let (name, base) = (&analysis.names[system_idx], &analysis.names[analysis.base]);
    let steps = count(counts.total(), "step");
    let bound = rqps_text::number::exact_percent(analysis.bound);
    match (counts.measured(), counts.slower, counts.faster) {
        (0, ..) if counts.rate_held > 0 => {
            format!("{name} held the set rate as {base} did: compare their response times and CPU.")
        }
        (0, ..) if counts.imported > 0 => {
            format!("{name} against {base}: imported figures, without a verdict.")
        }
        (0, ..) => format!("{name} could not be compared with {base} on any step."),
        (_, 0, 0) if counts.unclear == 0 => {
            let of = if counts.total() == 1 {
                "its only step".to_owned()
            } else if counts.same == counts.total() {
                format!("all {steps}")
            } else {
                format!("{} of {steps}", counts.same)
            };
            format!("{name} is as fast as {base} on {of}, within {bound}.")
        }
        (_, 0, 0) if counts.same == 0 => {
            let of = if counts.total() == 1 {
                "its only step".to_owned()
            } else {
                format!("any of {steps}")
            };
            format!("{name} against {base}: no verdict on {of}.")
        }
        (_, 0, 0) => format!(
            "{name} is neither slower nor faster than {base} by {bound} on any step that this \
             run settles ({} of {steps}).",
            counts.same
        ),
        (_, slower, 0) => format!("{name} is slower than {base} on {slower} of {steps}."),
        (_, 0, faster) => format!("{name} is faster than {base} on {faster} of {steps}."),
        (_, slower, faster) => {
            format!("{name} is slower than {base} on {slower} and faster on {faster} of {steps}.")
        }
    }
}

fn details(analysis: &Analysis<'_>, headline: &Headline) -> Vec<String> {
    let counts = headline.counts;
    let mut out = Vec::new();
    if analysis.joined.is_some_and(|joined| !joined.is_one_run(analysis.base, headline.system_idx))
    {
        out.push(OVER_RUNS.to_owned());
    }
    if let Some(median) = headline.median {
        out.push(format!("Median rQPS {}.", plain_ratio(median)));
    }
    out.extend(range(analysis, headline.system_idx).filter(|_| counts.imported > 0));
    for (idx, what) in [(headline.worst_idx, "loss"), (headline.best_idx, "gain")] {
        if let Some(text) = idx.and_then(|idx| extreme(&analysis.steps[idx], headline.system_idx)) {
            out.push(format!("Largest {what}: {text}."));
        }
    }
    out.extend(explain::summary(analysis, headline.system_idx).into_iter().map(|t| cause(&t)));
    let others: Vec<String> = [
        (counts.same, "the same"),
        (counts.unclear, "unclear"),
        (counts.sla_failed, "without a verdict as the SLA failed"),
        (counts.check_failed, "without a verdict as a check failed"),
        (counts.rate_held, "without a verdict as the rate was set and held"),
        (counts.imported, "imported"),
        (counts.failed, "failed"),
        (counts.missing, "not measured"),
    ]
    .iter()
    .filter(|(n, _)| *n > 0 && *n < counts.total())
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    if !others.is_empty() {
        out.push(format!("{} of {}.", list(&others), count(counts.total(), "step")));
    }
    if counts.unclear > 0 {
        out.extend(unclear_because(analysis, headline.system_idx));
    }
    out
}

/// A sentence of causes, told from others by its beginning.
fn cause(sentence: &str) -> String {
    format!("{CAUSE} {sentence}")
}

/// The server's CPU per operation over the base's beside a verdict; absent where what else the server did hides
/// in it what its clients met, so that the cause tells the threads that serve them alone.
#[must_use]
pub fn cpu_behind(cell: &Cell) -> Option<&Estimate> {
    let is_apart = cell.cause.as_ref().is_some_and(|cause| cause.is_of_serving);
    cell.server_cpu_ratio.as_ref().filter(|_| !is_apart)
}

/// `point-query 0.62 [0.60, 0.64], server CPU per query 1.53x [1.50, 1.56]`.
fn extreme(step: &StepAnalysis<'_>, system_idx: usize) -> Option<String> {
    let cell = step.cells.get(system_idx)?;
    let mut text = format!("{} {}", step.title, ratio_with_interval(&cell.rqps?));
    if let Some(cpu) = cpu_behind(cell) {
        let operation = step.step.info.figure.operation();
        text.push_str(&format!(", server CPU per {operation} {}x", rqps_text::number::ratio(cpu)));
        if let Some(ends) = rqps_text::number::interval(cpu) {
            text.push_str(&format!(" {ends}"));
        }
    }
    Some(text)
}

/// The lowest and highest rQPS of imported figures, of which none has a verdict.
fn range(analysis: &Analysis<'_>, system_idx: usize) -> Option<String> {
    let ratios: Vec<(f64, &str)> = analysis
        .steps
        .iter()
        .filter(|step| step.is_compared())
        .filter_map(|step| {
            let ratio = step.cells.get(system_idx)?.comparable_rqps()?;
            Some((ratio.point, step.title.as_str()))
        })
        .collect();
    let by_point = |a: &&(f64, &str), b: &&(f64, &str)| a.0.total_cmp(&b.0);
    let (low, high) = (ratios.iter().min_by(by_point)?, ratios.iter().max_by(by_point)?);
    let told = |(ratio, title): &(f64, &str)| format!("{} ({title})", plain_ratio(*ratio));
    Some(format!("rQPS from {} to {}.", told(low), told(high)))
}

/// What an unclear step lacks, by which reasons are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lack {
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
    /// Fewer steps beside it: it is slower or faster alone, and not among all that were tried.
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
        if cell.verdict != Some(Verdict::Unclear) {
            return None;
        }
        if cell.fell_short() {
            return Some(Self::Alone);
        }
        let is_timed = settle::is_timed(&step.step);
        if cell.rqps.is_none_or(|ratio| ratio.interval.is_none()) {
            return Some(match step.step.info.kind {
                StepKind::Index => Self::Creation,
                _ if is_timed => Self::Slice,
                _ => Self::Block,
            });
        }
        let holds_starts = cell.comparison.as_ref().is_some_and(|c| c.rqps.found.holds_starts);
        Some(match (holds_starts, is_timed) {
            (true, _) => Self::Starts,
            (false, true) => Self::Time,
            (false, false) => Self::Restarts,
        })
    }
}

/// Why steps are unclear, and what would settle it; which steps, where there is more than one reason.
fn unclear_because(analysis: &Analysis<'_>, system_idx: usize) -> Vec<String> {
    let cells = || {
        let compared = analysis.steps.iter().filter(|step| step.is_compared());
        compared.filter_map(move |step| Some((step, step.cells.get(system_idx)?)))
    };
    let those = |lack: Lack| cells().filter(move |(step, cell)| Lack::of(step, cell) == Some(lack));
    let of =
        |lack: Lack| -> Vec<String> { those(lack).map(|(step, _)| step.title.clone()).collect() };
    let amounts =
        |lack: Lack| settle::amounts(those(lack).filter_map(|(_, c)| c.settle().copied()));
    let wide = "the interval is too wide for a verdict";
    let because = |lack: Lack| match lack {
        Lack::Creation => "indexes are created once, and one slice has no interval.".to_owned(),
        Lack::Block => {
            "a single block has no interval; the work is fixed, so that only more starts have more."
                .to_owned()
        }
        Lack::Slice => "a single slice has no interval; more slices would settle it.".to_owned(),
        Lack::Starts => {
            format!("{wide}; more starts of the servers would probably settle it{}.", amounts(lack))
        }
        Lack::Time => {
            let is_interleaved = analysis.schedule().is_interleaved();
            let what = if is_interleaved { "measuring longer" } else { "more or longer slices" };
            format!("{wide}; {what} would probably settle it{}.", amounts(lack))
        }
        Lack::Restarts => {
            format!("{wide}; the work is fixed, so that only more starts measure more of it.")
        }
        Lack::Alone => format!(
            "slower or faster if nothing else had been tried; among {} ratios it may be chance.",
            analysis.n_tests()
        ),
    };
    let told = Lack::ALL.into_iter().map(|lack| (lack, of(lack)));
    let told: Vec<(Lack, Vec<String>)> = told.filter(|(_, titles)| !titles.is_empty()).collect();
    let lead = |lack: Lack, titles: &[String]| match told.len() == 1 && lack != Lack::Alone {
        true => "Unclear".to_owned(),
        false => format!("Unclear on {}", list_in_short(titles)),
    };
    told.iter().map(|(lack, of)| format!("{}: {}", lead(*lack, of), because(*lack))).collect()
}

/// The middle value, or the mean of the two middle ones.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(values[n / 2]),
        _ => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn median_of_odd_and_even() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
