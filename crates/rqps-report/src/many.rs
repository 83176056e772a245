//! Runs of many systems: a row for each, where a few systems have columns, and one sentence for
//! all.

use crate::grid::{Grid, GridCell, Side, plain};
use crate::layout;
use rqps_analysis::headline::Counts;
use rqps_analysis::{Analysis, Cell, CellState, StepAnalysis};
use rqps_text::number::{count, plain_ratio};
use rqps_text::values::{MANY, VALUES};
use rqps_text::words::{list, shorten_apart};

/// Columns that a step's name gets above its figures.
const STEP_COLUMNS: usize = 18;

/// Whether a run is shown with a row per system.
#[must_use]
pub fn is_many(analysis: &Analysis<'_>) -> bool {
    analysis.candidates().count() > MANY
}

/// The verdicts on all candidates, in one sentence.
#[must_use]
pub fn sentence(analysis: &Analysis<'_>) -> String {
    let all = analysis.headlines.len();
    let n = |wanted: &dyn Fn(&Counts) -> bool| {
        analysis.headlines.iter().filter(|headline| wanted(&headline.counts)).count()
    };
    let said: Vec<String> = [
        (n(&|c| c.slower > 0), "slower on a step or more"),
        (n(&|c| c.faster > 0), "faster on a step or more"),
        (n(&|c| c.measured() > 0 && c.slower + c.faster == 0), "neither"),
        (n(&|c| without_verdict(c) == Some(Without::Rate)), "held the set rate"),
        (n(&|c| without_verdict(c) == Some(Without::Import)), "imported, without a verdict"),
        (
            n(&|c| without_verdict(c) == Some(Without::Bar)),
            "without a verdict (SLA failed, check failed, plans vary or host busy)",
        ),
        (n(&|c| without_verdict(c) == Some(Without::Figure)), "could not be compared"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    let base = &analysis.names[analysis.base];
    let steps = analysis.steps.iter().filter(|step| step.is_compared()).count();
    let medians = medians(analysis).map_or_else(String::new, |medians| format!(" {medians}"));
    format!("{all} systems against {base}, {}: {}.{medians}", count(steps, "step"), list(&said))
}

/// Why no step of a candidate has a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    /// Events came at a set rate, which was held.
    Rate,
    /// Figures were imported.
    Import,
    /// The SLA or a check failed, starts ran different plans, or the host was busy.
    Bar,
    /// There is no figure on one side.
    Figure,
}

fn without_verdict(counts: &Counts) -> Option<Without> {
    if counts.measured() > 0 {
        None
    } else if counts.rate_held > 0 {
        Some(Without::Rate)
    } else if counts.imported > 0 {
        Some(Without::Import)
    } else if counts.barred() > 0 {
        Some(Without::Bar)
    } else {
        Some(Without::Figure)
    }
}

/// The median of a system's ratios.
struct Median<'a> {
    value: f64,
    /// The system's.
    name: &'a str,
}

/// The lowest and highest median of imported figures, which have no verdict that sums them up.
fn medians(analysis: &Analysis<'_>) -> Option<String> {
    let of_imported = analysis.headlines.iter().filter(|headline| headline.counts.imported > 0);
    let medians: Vec<Median<'_>> = of_imported
        .filter_map(|h| Some(Median { value: h.median?, name: &analysis.names[h.system_idx] }))
        .collect();
    let by_value = |a: &&Median<'_>, b: &&Median<'_>| a.value.total_cmp(&b.value);
    let (low, high) = (medians.iter().min_by(by_value)?, medians.iter().max_by(by_value)?);
    let shown = |median: &Median<'_>| format!("{} ({})", plain_ratio(median.value), median.name);
    Some(format!("Median rQPS from {} to {}.", shown(low), shown(high)))
}

/// Tables with a row per system and two or three columns per step, as many steps in each as fit.
pub(crate) fn grids(analysis: &Analysis<'_>, columns: usize) -> Vec<Grid> {
    let titles: Vec<&str> = analysis.steps.iter().map(|step| step.title.as_str()).collect();
    let names = shorten_apart(&titles, STEP_COLUMNS);
    let steps: Vec<NamedStep<'_>> =
        analysis.steps.iter().zip(names).map(|(step, name)| NamedStep { step, name }).collect();
    let fits = |n: usize| steps.chunks(n).all(|chunk| grid(analysis, chunk).width() <= columns);
    let n = (1..=steps.len()).rev().find(|&n| fits(n)).unwrap_or(1);
    steps.chunks(n).map(|chunk| grid(analysis, chunk)).collect()
}

/// A step with its name in a heading.
struct NamedStep<'a> {
    step: &'a StepAnalysis<'a>,
    name: String,
}

fn grid(analysis: &Analysis<'_>, steps: &[NamedStep<'_>]) -> Grid {
    let mut heads = Vec::new();
    for NamedStep { name, .. } in steps {
        heads.extend([(name.as_str(), Side::Point), ("rQPS", Side::Point), ("", Side::Left)]);
    }
    heads.push(("system", Side::Left));
    let mut grid = Grid::new(&heads);
    for idx in 0..analysis.run.systems.len() {
        let mut row = Vec::new();
        for NamedStep { step, .. } in steps {
            row.extend(step.cells.get(idx).map_or_else(Default::default, |cell| {
                [layout::figure(cell), ratio(analysis, idx, cell), mark(analysis, cell)]
            }));
        }
        let base = if idx == analysis.base { " (base)" } else { "" };
        row.push(plain(format!("{}{base}", analysis.short_label(idx))));
        grid.row(row);
    }
    grid
}

fn ratio(analysis: &Analysis<'_>, idx: usize, cell: &Cell) -> GridCell {
    match cell.state {
        CellState::Measured(_) if idx == analysis.base => plain("1.00"),
        // The word is in the figure's column already.
        CellState::Measured(_) => layout::rqps(cell),
        _ => GridCell::default(),
    }
}

fn mark(analysis: &Analysis<'_>, cell: &Cell) -> GridCell {
    let sign = layout::cell_sign(cell);
    plain(format!("{sign} {}", analysis.letters(cell)).trim())
}

/// Where a footnote applies; of many systems the first ones.
pub(crate) fn places(analysis: &Analysis<'_>, places: &[String]) -> String {
    if !is_many(analysis) || places.len() <= VALUES {
        return places.join("; ");
    }
    let more = places.len() - VALUES;
    format!("{}; and {more} more (see other formats)", places[..VALUES].join("; "))
}
