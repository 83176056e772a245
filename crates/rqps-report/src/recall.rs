//! Tables of vector searches: QPS and recall of each, the best at a recall, and candidates at equal recall.

use rqps_analysis::{Analysis, LISTED, RecallRatio, RecallTable};
use rqps_text::number::{self, count, ratio_with_interval};

use crate::comparison;
use crate::grid::{Grid, Side, plain, toned};
use crate::tone::Tone;

/// What the tables mean.
pub const LEGEND: &str = "recall: the part of the exact nearest vectors that answers have, mean over the queries, with half \
    of its 95% interval; low: 5% of the queries have less. At equal recall a system has the QPS of its fastest search that \
    reaches the recall, between two searches on a line of recall and the logarithm of QPS. Intervals hold blocks and starts \
    of the servers. These verdicts are not adjusted for the number of ratios. What the build of an index draws is in them only with several loads.";

/// What a table is of: `10 nearest, 1000 queries, 1 client`.
#[must_use]
pub fn title(table: &RecallTable) -> String {
    let clients = usize::try_from(table.clients).unwrap_or(usize::MAX);
    let queries = usize::try_from(table.n_queries).unwrap_or(usize::MAX);
    let queries = if queries == 1 { "1 query".to_owned() } else { format!("{queries} queries") };
    format!("{} nearest vectors, {queries}, {}", table.k, count(clients, "client"))
}

/// QPS and recall of each search.
#[must_use]
pub fn searches(analysis: &Analysis<'_>, table: &RecallTable) -> Grid {
    let mut grid = Grid::new(&[
        ("QPS", Side::Right),
        ("95% interval", Side::Left),
        ("recall", Side::Right),
        ("±", Side::Right),
        ("low", Side::Right),
        ("step", Side::Left),
        ("dbms", Side::Left),
    ]);
    for (system_idx, curve) in table.curves.iter().enumerate() {
        grid.split();
        for point in &curve.points {
            grid.row(vec![
                plain(number::figure(&point.qps)),
                plain(number::figure_interval(&point.qps).unwrap_or_default()),
                plain(recall(point.recall)),
                plain(format!("{:.4}", point.half_width)),
                plain(format!("{:.2}", point.p5)),
                plain(&analysis.steps[point.step_idx].step.info.name),
                plain(analysis.short_label(system_idx)),
            ]);
        }
    }
    grid
}

/// Candidates relative to the base at equal recall; `None` where the base reaches no such recall.
#[must_use]
pub fn compared(analysis: &Analysis<'_>, table: &RecallTable) -> Option<Grid> {
    let mut grid = Grid::new(&[
        ("recall", Side::Right),
        ("QPS", Side::Right),
        ("base QPS", Side::Right),
        ("rQPS", Side::Left),
        ("verdict", Side::Left),
        ("dbms", Side::Left),
    ]);
    for system_idx in analysis.candidates() {
        for at in &table.compared {
            let qps = |idx: usize| {
                at.qps
                    .get(idx)
                    .copied()
                    .flatten()
                    .map_or_else(|| "-".to_owned(), number::plain_figure)
            };
            let against = at.against.get(system_idx).copied().flatten();
            let (rqps, verdict, tone) = match &against {
                Some(found) => (
                    ratio_with_interval(&found.rqps),
                    word(found).to_owned(),
                    Tone::of_ratio(found.rqps.point),
                ),
                None => ("not reached".to_owned(), String::new(), Tone::Plain),
            };
            grid.row(vec![
                plain(recall(at.recall)),
                plain(qps(system_idx)),
                plain(qps(analysis.base)),
                toned(rqps, tone),
                plain(verdict),
                plain(analysis.short_label(system_idx)),
            ]);
        }
    }
    (!grid.is_empty()).then_some(grid)
}

/// The fastest search that reaches each of the listed recalls, as the field lists them.
#[must_use]
pub fn best(analysis: &Analysis<'_>, table: &RecallTable) -> Grid {
    let mut grid = Grid::new(&[
        ("recall >=", Side::Right),
        ("QPS", Side::Right),
        ("recall", Side::Right),
        ("step", Side::Left),
        ("dbms", Side::Left),
    ]);
    for wanted in LISTED {
        for (system_idx, curve) in table.curves.iter().enumerate() {
            let Some(point) = curve.best(wanted) else { continue };
            grid.row(vec![
                plain(format!("{wanted:.2}")),
                plain(number::figure(&point.qps)),
                plain(recall(point.recall)),
                plain(&analysis.steps[point.step_idx].step.info.name),
                plain(analysis.short_label(system_idx)),
            ]);
        }
    }
    grid
}

/// A recall: 1 is exact, and nothing else is written as 1.
#[must_use]
pub fn recall(value: f64) -> String {
    if value < 1.0 && value > 0.99995 { "0.9999".to_owned() } else { format!("{value:.4}") }
}

/// The verdict, or why there is none.
fn word(ratio: &RecallRatio) -> &'static str {
    match (ratio.verdict, ratio.bar) {
        (Some(verdict), _) => verdict.word(),
        (None, Some(bar)) => comparison::bar(bar),
        (None, None) => "",
    }
}

/// What a candidate is at equal recall, in a sentence; `None` where nothing could be compared.
#[must_use]
pub fn sentence(analysis: &Analysis<'_>, system_idx: usize) -> Option<String> {
    let (name, base) = (&analysis.names[system_idx], &analysis.names[analysis.base]);
    let of_table = |table: &RecallTable| {
        let at = table.compared.iter().filter_map(|at| {
            let found = at.against.get(system_idx).copied().flatten()?;
            let ratio = ratio_with_interval(&found.rqps);
            Some(format!("{ratio} at recall {:.2} ({})", at.recall, word(&found)))
        });
        at.collect::<Vec<String>>()
    };
    let told: Vec<String> = analysis.recalls.iter().flat_map(of_table).collect();
    (!told.is_empty()).then(|| format!("{name} against {base}, rQPS {}.", told.join(", ")))
}
