//! A candidate against the base in tables and sentences: verdicts with what they leave open, and all
//! ratios of a step with their tests.

use std::cmp::Ordering;

use rqps_model::Verdict;

use crate::grid::{Grid, Side, plain};
use crate::response::percentile_heading;
use crate::settle;
use rqps_analysis::{Analysis, Bar, Cell, Comparison, Judged, StepAnalysis};
use rqps_text::number::{self, NOTHING};

/// A verdict's word, the sign of a difference beyond chance and smaller, and what more would settle it:
/// `slower`, `same <`, `unclear +4 min`.
pub(crate) fn verdict(cell: &Cell) -> Option<String> {
    let mut words = vec![cell.verdict()?.word().to_owned()];
    words.extend(lean(cell).map(str::to_owned));
    words.extend(cell.settle().map(|settle| settle::short(&settle)));
    Some(words.join(" "))
}

/// The words instead of a verdict: why a ratio has none.
#[must_use]
pub fn bar(bar: Bar) -> &'static str {
    match bar {
        Bar::Sla => "SLA failed",
        Bar::Check => "check failed",
        Bar::Plans => "plans vary",
        Bar::Rate => "rate held",
        Bar::Recall => "recall differs",
        Bar::HostBusy => "host busy",
    }
}

/// The sign of a difference beyond chance, where the verdict does not say it.
#[must_use]
pub fn lean(cell: &Cell) -> Option<&'static str> {
    let is_open = matches!(cell.verdict(), Some(Verdict::Same | Verdict::Unclear));
    match cell.direction() {
        Some(Ordering::Less) if is_open => Some("<"),
        Some(Ordering::Greater) if is_open => Some(">"),
        _ => None,
    }
}

/// The ratios of a step to the base: their tests, and how starts of the servers differ. `None` where
/// none has an interval.
#[must_use]
pub fn grid(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Option<Grid> {
    let has_starts = analysis.n_starts > 1;
    let mut heads = vec![
        ("of", Side::Left),
        ("ratio", Side::Point),
        ("95% interval", Side::Left),
        ("±", Side::Right),
        ("p", Side::Right),
        ("adjusted", Side::Right),
        ("n", Side::Right),
    ];
    if has_starts {
        heads.extend([("starts", Side::Right), ("sd", Side::Right)]);
    }
    heads.push(("system", Side::Left));
    let mut grid = Grid::new(&heads);
    for (idx, cell) in step.cells.iter().enumerate() {
        let ratios = cell.comparison().into_iter().flat_map(ratios);
        for (what, judged) in ratios.filter(|(_, judged)| judged.found.tested.p.is_some()) {
            let (found, ratio) = (judged.found, judged.estimate());
            let p = |p: Option<f64>| plain(p.map_or_else(|| NOTHING.to_owned(), number::p_value));
            let half = ratio.half_width().map_or_else(String::new, number::small_percent);
            let mut row = vec![
                plain(what),
                plain(number::ratio(&ratio)),
                plain(number::interval(&ratio).unwrap_or_default()),
                plain(half),
                p(found.tested.p),
                p(judged.adjusted_p),
                plain(ratio.n.to_string()),
            ];
            if has_starts {
                let sd = found.start_sd.map_or_else(String::new, number::small_percent);
                row.extend([plain(found.starts.to_string()), plain(sd)]);
            }
            row.push(plain(analysis.short_label(idx)));
            grid.row(row);
        }
    }
    (!grid.is_empty()).then_some(grid)
}

/// The legend of [`grid`].
#[must_use]
pub fn legend(analysis: &Analysis<'_>) -> String {
    let starts = if analysis.n_starts > 1 {
        "; starts: of the servers; sd: standard deviation between starts, beyond what blocks explain"
    } else {
        ""
    };
    let part = if analysis.schedule().is_interleaved() { "blocks" } else { "slices" };
    format!(
        "±: half-width of the interval; p: p-value of no difference; adjusted: p-value for all ratios \
         of this kind in the run; n: {part}{starts}"
    )
}

/// All ratios of a comparison with their names, in the order of reports.
fn ratios(comparison: &Comparison) -> Vec<(String, Judged)> {
    let Comparison { rqps, server_cpu, steady, responses, decision: _, kept_share: _, left_out: _ } =
        comparison;
    let mut out = vec![("rQPS".to_owned(), *rqps)];
    out.extend(steady.map(|judged| ("steady rate".to_owned(), judged)));
    out.extend(server_cpu.map(|judged| ("srvcpu/o".to_owned(), judged)));
    out.extend(responses.iter().filter_map(|ratio| {
        let name = format!("response {}", percentile_heading(ratio.percentile));
        Some((name, ratio.judged?))
    }));
    out
}

/// What a step's verdicts leave open, and missing ratios; a sentence each.
#[must_use]
pub fn notes(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for (idx, cell) in step.cells.iter().enumerate() {
        let Some(comparison) = cell.comparison() else { continue };
        let label = analysis.short_label(idx);
        out.extend(fallen(analysis, cell, comparison).map(|text| format!("{label}: {text}")));
        out.extend(small(analysis, cell).map(|text| format!("{label}: {text}")));
        if let Some(settle) = cell.settle() {
            let words = settle::words(&settle);
            out.push(format!("{label}: unclear; {words} would settle it with a chance of 80%."));
        }
        // A slice or two have no ratio for other reasons.
        let has_interval = comparison.rqps.found.tested.p.is_some();
        out.extend(too_few(comparison).filter(|_| has_interval).map(|t| format!("{label}: {t}")));
    }
    out
}

/// A verdict that does not hold after adjustment.
fn fallen(analysis: &Analysis<'_>, cell: &Cell, comparison: &Comparison) -> Option<String> {
    let alone = cell.fallen_verdict()?;
    let verdict_p = comparison.decision?.verdict_p;
    let p = comparison.rqps.found.tested.p?;
    let n = analysis.n_tests();
    Some(format!(
        "{} on its own (p {}), but unclear after adjustment for all {n} ratios of the run (adjusted \
         p {}; differences below {} count as none).",
        alone.word(),
        number::p_value(p),
        verdict_p.map_or_else(String::new, number::p_value),
        number::exact_percent(analysis.judging.bound)
    ))
}

/// A difference beyond chance and below the bound.
fn small(analysis: &Analysis<'_>, cell: &Cell) -> Option<String> {
    let word = if cell.direction() == Some(Ordering::Less) { "slower" } else { "faster" };
    let bound = number::exact_percent(analysis.judging.bound);
    lean(cell).filter(|_| cell.verdict() == Some(Verdict::Same))?;
    Some(format!("{word} beyond chance, but by less than {bound}, so the verdict is same."))
}

/// The percentiles that a block has too few responses for.
fn too_few(comparison: &Comparison) -> Option<String> {
    let mut lacking = comparison.responses.iter().filter(|r| r.n_fewest < r.n_needed);
    let first = lacking.next()?;
    let names: Vec<String> = std::iter::once(first)
        .chain(lacking)
        .map(|r| format!("{} (needs {})", percentile_heading(r.percentile), r.n_needed))
        .collect();
    Some(format!(
        "no ratio of response times for {}: a block has only {} responses.",
        rqps_text::words::list(&names),
        first.n_fewest
    ))
}
