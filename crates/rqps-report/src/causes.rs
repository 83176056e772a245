//! Why systems are slower or faster, in lines and tables that the formats share.

pub mod sentence;
mod short_number;
pub(crate) mod summary;

use rqps_explain::{Change, Quantity, Reason, Split};
use rqps_model::{Estimate, Metric};

use crate::grid::{Grid, GridCell, Side, plain};
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_text::number::{self, NOTHING};
use rqps_text::words::list_in_short;

/// The heading above [`lines`].
pub(crate) const TITLE: &str = "Causes, with the explained share of the change in brackets";

/// Per verdict of slower or faster: the step, with its system where there are several, and the cause in
/// a sentence.
pub(crate) fn lines(analysis: &Analysis<'_>) -> Vec<(String, String)> {
    let is_several = analysis.candidates().count() > 1;
    let mut out = Vec::new();
    for idx in analysis.candidates() {
        let mut barred: Vec<(Reason, Vec<String>)> = Vec::new();
        for step in &analysis.steps {
            let cause = step.cells.get(idx).and_then(|cell| cell.cause());
            let Some(cause) = cause else { continue };
            // What several steps share is said once.
            let is_split = step.cells.get(idx).is_some_and(|cell| cell.split().is_some());
            if let Some(why) = cause.reason.filter(|_| !is_split) {
                match barred.iter_mut().find(|(known, _)| *known == why) {
                    Some((_, titles)) => titles.push(step.title.clone()),
                    None => barred.push((why, vec![step.title.clone()])),
                }
                continue;
            }
            let Some(sentence) = step.cells.get(idx).and_then(sentence::of_cell) else { continue };
            let place = if is_several {
                format!("{} on {}:", step.title, analysis.short_label(idx))
            } else {
                format!("{}:", step.title)
            };
            let share = cause.share.map_or_else(String::new, |share| {
                format!(" [{}]", number::percent((share * 100.0).round() / 100.0))
            });
            out.push((place, format!("{sentence}{share}")));
        }
        for (why, titles) in barred {
            let titles = list_in_short(&titles);
            let place = if is_several {
                format!("{titles} on {}:", analysis.short_label(idx))
            } else {
                format!("{titles}:")
            };
            out.push((place, format!("not explained: {}", sentence::reason(why))));
        }
    }
    out
}

/// The time per operation and its parts on base and candidates; `None` where it was not split.
#[must_use]
pub fn parts(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Option<Grid> {
    let mut grid = Grid::new(&[
        ("part", Side::Left),
        ("base", Side::Right),
        ("system", Side::Right),
        ("change", Side::Right),
        ("95% interval", Side::Left),
        ("share", Side::Right),
        ("system", Side::Left),
    ]);
    for (idx, split) in splits(step) {
        let mut row = |what: &str, change: &Change, share: Option<f64>| {
            let mut cells = vec![plain(what)];
            cells.extend(values(change));
            cells.push(share.map_or_else(GridCell::default, |s| plain(number::small_percent(s))));
            cells.push(plain(analysis.short_label(idx)));
            grid.row(cells);
        };
        row("all", &split.total, None);
        for (part, change) in &split.parts {
            if change.base != 0.0 || change.candidate != 0.0 {
                row(part.words(split.basis), change, split.share(*part));
            }
        }
    }
    (!grid.is_empty()).then_some(grid)
}

/// Every measured quantity that is not 0 on both sides, with the intervals of its change; `None` without any.
#[must_use]
pub fn quantities(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Option<Grid> {
    let mut grid = Grid::new(&[
        ("quantity", Side::Left),
        ("base", Side::Right),
        ("system", Side::Right),
        ("change", Side::Right),
        ("95% interval", Side::Left),
        ("ratio", Side::Point),
        ("95% interval", Side::Left),
        ("system", Side::Left),
    ]);
    for (idx, split) in splits(step) {
        for (quantity, change) in &split.quantities {
            if change.base == 0.0 && change.candidate == 0.0 {
                continue;
            }
            let in_tables = in_tables(step, analysis.base, idx, *quantity);
            let change = &in_tables.map_or(*change, |of| of.change(change));
            let mut cells = vec![plain(name(*quantity))];
            cells.extend(values(change));
            let ratio = change.ratio.as_ref();
            cells.push(plain(ratio.map_or_else(|| NOTHING.to_owned(), number::ratio)));
            cells.push(plain(ratio.and_then(number::interval).unwrap_or_default()));
            cells.push(plain(analysis.short_label(idx)));
            grid.row(cells);
        }
    }
    (!grid.is_empty()).then_some(grid)
}

/// The title of the table of [`ageing`].
pub const AGEING: &str =
    "Ageing: QPS after the steps that write / QPS before them; below 1 is slower";

/// What its columns are.
pub const AGEING_LEGEND: &str = "own: of the system alone, changes of the host included; / base: own / \
     that of the base, in which changes of the host cancel where systems were interleaved.";

/// The ageing of steps, a row per step and system; `None` where no step has a twin.
#[must_use]
pub fn ageing(analysis: &Analysis<'_>) -> Option<Grid> {
    let mut grid = Grid::new(&[
        ("own", Side::Point),
        ("95% interval", Side::Left),
        ("/ base", Side::Point),
        ("95% interval", Side::Left),
        ("step", Side::Left),
        ("system", Side::Left),
    ]);
    for step in &analysis.steps {
        if step.cells.iter().any(|cell| cell.ageing.is_some()) {
            grid.split();
        }
        for (idx, cell) in step.cells.iter().enumerate() {
            let Some(ageing) = &cell.ageing else { continue };
            let relative = ageing.relative.as_ref();
            grid.row(vec![
                plain(number::ratio(&ageing.ratio)),
                plain(number::interval(&ageing.ratio).unwrap_or_else(|| "n=1".to_owned())),
                plain(relative.map_or_else(String::new, number::ratio)),
                plain(relative.and_then(number::interval).unwrap_or_default()),
                plain(&step.title),
                plain(analysis.short_label(idx)),
            ]);
        }
    }
    (!grid.is_empty()).then_some(grid)
}

/// A quantity with its unit where that is not in its words.
fn name(quantity: Quantity) -> String {
    match quantity.unit() {
        "us" => format!("{}, µs", quantity.words()),
        _ => quantity.words().to_owned(),
    }
}

/// Share of an interval that two ways to take a mean may differ by, and be one number.
const DIGITS: f64 = 0.02;

/// A metric of base and candidate as the tables of metrics have it: all slices together.
#[derive(Debug, Clone, Copy)]
struct InTables {
    base: f64,
    candidate: f64,
    ratio: Option<Estimate>,
}

impl InTables {
    /// The change of the slices' means with these values, so that a page has one value of each metric. Where that is more
    /// than a matter of digits, as blocks were excluded, theirs stay: the interval is of them.
    fn change(self, of_slices: &Change) -> Change {
        let Self { base, candidate, ratio } = self;
        let (point, own) = (candidate - base, of_slices.difference);
        let moved = point - own.point;
        if own.interval.is_some_and(|(low, high)| moved.abs() > DIGITS * (high - low)) {
            return *of_slices;
        }
        let interval = own.interval.map(|(low, high)| (low + moved, high + moved));
        let difference = Estimate { point, interval, ..own };
        Change { base, candidate, difference, ratio: ratio.or(of_slices.ratio) }
    }
}

/// `None` where the quantity is no metric of tables.
fn in_tables(
    step: &StepAnalysis<'_>,
    base: usize,
    idx: usize,
    quantity: Quantity,
) -> Option<InTables> {
    let Quantity::Metric(metric) = quantity else { return None };
    let (of_base, own) = (step.cells.get(base)?, step.cells.get(idx)?);
    let (base, candidate) = (of_base.per_operation(metric)?, own.per_operation(metric)?);
    let ratio = own.server_cpu_ratio().filter(|_| metric == Metric::ServerCpu);
    Some(InTables { base, candidate, ratio })
}

fn splits<'s>(step: &'s StepAnalysis<'_>) -> impl Iterator<Item = (usize, &'s Split)> {
    step.cells.iter().enumerate().filter_map(|(idx, cell)| Some((idx, cell.split()?)))
}

/// Base, candidate, change and its interval.
fn values(change: &Change) -> [GridCell; 4] {
    let show = number::per_operation;
    let signed = |value: f64| {
        if value > 0.0 { format!("+{}", show(value)) } else { show(value) }
    };
    let interval = change.difference.interval;
    let interval = interval.map(|(low, high)| format!("[{}, {}]", signed(low), signed(high)));
    [
        plain(show(change.base)),
        plain(show(change.candidate)),
        plain(signed(change.difference.point)),
        plain(interval.unwrap_or_else(|| "n=1".to_owned())),
    ]
}
