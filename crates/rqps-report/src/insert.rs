//! The Insert Benchmark's tables as grids: the summary's three, and those of each step. Labels are
//! last, as in the field's tables.

mod metrics;

use rqps_model::{Estimate, Role};

use crate::grid::{Grid, GridCell, Side, plain, toned};
use crate::layout;
use crate::response::{percentile_heading, time_unit};
use crate::tone::Tone;
use rqps_analysis::insert::flow::{Flow, ROLES};
use rqps_analysis::response;
use rqps_analysis::{Analysis, Cell, Level, Sla, StepAnalysis};
use rqps_text::number::{self, NOTHING};
use rqps_text::words::{shorten, shorten_apart};

pub use metrics::{meanings, metrics};

/// Columns that a step's name gets above its figures.
const STEP_COLUMNS: usize = 14;

/// The percentiles of the tables; the field's and ours.
pub(crate) const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// From this delay on a table of delays is in milliseconds.
const LONG_NS: u64 = 100_000_000;

/// One of the three tables of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    /// Operations per second.
    Absolute,
    /// The same relative to the base.
    Relative,
    /// Rows that were inserted per second in the background.
    Rates,
}

impl Summary {
    /// All three, in the field's order.
    pub const ALL: [Self; 3] = [Self::Absolute, Self::Relative, Self::Rates];

    /// Its title.
    pub(crate) fn title(self, analysis: &Analysis<'_>) -> String {
        match self {
            Self::Absolute => "Insert Benchmark, operations per second".to_owned(),
            Self::Relative => {
                format!("Insert Benchmark, relative to {}", shorten(analysis.base_label(), 60))
            }
            Self::Rates => "Insert Benchmark, background inserts per second".to_owned(),
        }
    }

    /// What its signs mean.
    pub(crate) fn legend(self) -> &'static str {
        match self {
            Self::Absolute => {
                "Inserted rows/s in l.i0, l.i1 and l.i2, indexed rows/s in l.x, queries/s in the \
                 others. + and -: top and bottom quarter of the range of the step's rates, no - where \
                 the smallest is at least 80% of the largest; !: the SLA failed, so the rate is not \
                 ranked."
            }
            Self::Relative => {
                "< slower, > faster, = same, ? unclear; !: no verdict, because the SLA or a check \
                 failed on the system or the base."
            }
            Self::Rates => "!: below 95% of the target, which fails the SLA.",
        }
    }

    /// Its steps.
    #[must_use]
    pub fn steps<'s, 'a>(self, analysis: &'s Analysis<'a>) -> Vec<(usize, &'s StepAnalysis<'a>)> {
        let Some(tables) = &analysis.insert else { return Vec::new() };
        let steps = if self == Self::Rates { &tables.rated } else { &tables.steps };
        steps.iter().filter_map(|&at| Some((at, analysis.steps.get(at)?))).collect()
    }

    /// A cell's text with its colour, and the sign that says the same.
    pub(crate) fn cell(
        self,
        step: &StepAnalysis<'_>,
        system_idx: usize,
        is_base: bool,
    ) -> (GridCell, String) {
        let (cell, level) = (&step.cells[system_idx], step.level(system_idx));
        match self {
            Self::Absolute => match cell.figure() {
                Some(figure) => {
                    let text = toned(operations(cell, &figure), Tone::of_level(level));
                    (text, level_sign(level).to_owned())
                }
                None => (layout::figure(cell), String::new()),
            },
            Self::Relative if is_base && cell.figure().is_some() => (plain("1.00"), String::new()),
            Self::Relative => (layout::rqps(cell), layout::cell_sign(cell)),
            Self::Rates => match cell.sla() {
                Some(sla) => {
                    let text = average(cell, sla);
                    if sla.is_held {
                        (plain(text), String::new())
                    } else {
                        (toned(text, Tone::Worst), "!".to_owned())
                    }
                }
                None if cell.figure().is_some() => (plain(NOTHING), String::new()),
                None => (layout::figure(cell), String::new()),
            },
        }
    }

    /// Tables with a row per system, as many steps in each as fit `columns`.
    pub(crate) fn grids(self, analysis: &Analysis<'_>, columns: usize) -> Vec<Grid> {
        let steps = self.steps(analysis);
        let fits =
            |n: usize| steps.chunks(n).all(|chunk| self.grid(analysis, chunk).width() <= columns);
        let n = (1..=steps.len()).rev().find(|&n| fits(n)).unwrap_or(1);
        steps.chunks(n).map(|chunk| self.grid(analysis, chunk)).collect()
    }

    fn grid(self, analysis: &Analysis<'_>, steps: &[(usize, &StepAnalysis<'_>)]) -> Grid {
        let titles: Vec<&str> = steps.iter().map(|(_, step)| step.title.as_str()).collect();
        let names = shorten_apart(&titles, STEP_COLUMNS);
        let mut heads: Vec<(&str, Side)> = Vec::new();
        for name in &names {
            heads.extend([(name.as_str(), Side::Point), ("", Side::Left)]);
        }
        heads.push(("system", Side::Left));
        let mut grid = Grid::new(&heads);
        for idx in 0..analysis.run.systems.len() {
            let mut row = Vec::new();
            for (_, step) in steps {
                let (text, sign) = self.cell(step, idx, idx == analysis.base);
                row.extend([text, plain(sign)]);
            }
            row.push(plain(analysis.short_label(idx)));
            grid.row(row);
        }
        if self == Self::Rates {
            let targets = steps.iter().map(|(_, step)| target(step));
            let mut row: Vec<GridCell> =
                targets.flat_map(|target| [plain(target), GridCell::default()]).collect();
            row.push(plain("(target)"));
            grid.row(row);
        }
        grid
    }
}

fn level_sign(level: Level) -> &'static str {
    match level {
        Level::Bottom => "-",
        Level::Middle => "",
        Level::Top => "+",
        Level::Unheld => "!",
    }
}

/// A cell's rate; that of an imported file in its own digits.
#[must_use]
pub fn operations(cell: &Cell, figure: &Estimate) -> String {
    layout::digits(cell, figure)
}

/// Rows inserted per second beside the queries, in the same digits.
#[must_use]
pub fn average(cell: &Cell, sla: &Sla) -> String {
    stated(cell, sla.average_per_s).unwrap_or_else(|| number::plain_figure(sla.shown_average()))
}

fn stated(cell: &Cell, value: f64) -> Option<String> {
    cell.insert().filter(|own| own.is_stated).map(|_| value.to_string())
}

/// The target of a step, rows per second.
#[must_use]
pub fn target(step: &StepAnalysis<'_>) -> String {
    let target = step.cells.iter().find_map(|cell| Some(cell.sla()?.target_per_s));
    target.map_or_else(String::new, number::plain_figure)
}

/// The flows of a step, those of one kind beside each other: index of the system, flow.
fn flows<'s>(step: &'s StepAnalysis<'_>) -> Vec<(usize, &'s Flow)> {
    let of = |role: Role| {
        let cells = step.cells.iter().enumerate();
        cells.filter_map(move |(idx, cell)| Some((idx, cell.insert()?.flow(role)?)))
    };
    ROLES.into_iter().flat_map(of).collect()
}

/// What the flows of a kind are called.
pub(crate) fn plural(role: Role) -> &'static str {
    match role {
        Role::Query => "queries",
        Role::Insert => "inserts",
        Role::Delete => "deletes",
        Role::Hold => "held transactions",
    }
}

/// Response times of queries, inserts and deletes, and the unit they are in.
#[must_use]
pub fn responses(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Option<(Grid, &'static str)> {
    let timed: Vec<_> =
        flows(step).into_iter().filter_map(|(i, f)| Some((i, f, f.response.as_ref()?))).collect();
    let smallest = timed.iter().map(|(.., r)| r.typical_ns()).reduce(f64::min)?;
    let (unit, unit_ns) = time_unit(smallest);
    let percentiles = PERCENTILES.map(percentile_heading);
    let mut heads = vec![("of", Side::Left), ("mean", Side::Right)];
    heads.extend(percentiles.iter().map(|p| (p.as_str(), Side::Right)));
    heads.extend([("max", Side::Right), ("responses", Side::Right), ("dbms", Side::Left)]);
    let mut grid = Grid::new(&heads);
    for (idx, flow, times) in timed {
        let show = |ns: f64| plain(number::duration_in(ns, unit_ns));
        let mean = times.mean_ns.map_or_else(|| plain(NOTHING), show);
        let mut row = vec![plain(plural(flow.role)), mean];
        row.extend(PERCENTILES.map(|p| match times.percentile_ns(p) {
            Some(ns) => show(ns as f64),
            None => plain(NOTHING),
        }));
        row.extend([show(times.max_ns as f64), plain(times.n.to_string())]);
        row.push(plain(analysis.short_label(idx)));
        grid.row(row);
    }
    Some((grid, unit))
}

/// The field's ten buckets: percent of the responses.
#[must_use]
pub fn buckets(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Grid {
    let mut heads = vec![("of", Side::Left)];
    heads.extend(response::BUCKETS.iter().map(|(name, _)| (*name, Side::Right)));
    heads.push(("dbms", Side::Left));
    let mut grid = Grid::new(&heads);
    for (idx, flow) in flows(step) {
        let Some(times) = &flow.response else { continue };
        let mut row = vec![plain(plural(flow.role))];
        row.extend(times.bucket_pcts().map(|pct| plain(share(pct))));
        row.push(plain(analysis.short_label(idx)));
        grid.row(row);
    }
    grid
}

/// A bucket's percentage: five characters at most, and 0 only for 0.
#[must_use]
pub fn share(pct: f64) -> String {
    match pct {
        0.0 => "0".to_owned(),
        p if p >= 100.0 => "100".to_owned(),
        p if p >= 99.995 => ">99.9".to_owned(),
        p if p >= 10.0 => number::plain_ratio(p),
        p if p >= 0.0005 => format!("{p:.3}"),
        _ => "<.001".to_owned(),
    }
}

/// How inserts and deletes held their rate, and the unit of the delays.
#[must_use]
pub fn rates(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Option<(Grid, &'static str)> {
    let paced: Vec<_> = flows(step)
        .into_iter()
        .filter_map(|(idx, flow)| Some((idx, flow, Sla::of(flow)?)))
        .collect();
    let longest = paced.iter().filter_map(|(_, flow, _)| Some(flow.lateness?.max_ns)).max();
    let is_long = longest.is_some_and(|ns| ns >= LONG_NS);
    let (unit, unit_ns) = if is_long { ("ms", 1e6) } else { ("us", 1e3) };
    let names = ["target/s", "average", "seconds", "held", "gap s", "missed"];
    let mut heads = vec![("of", Side::Left)];
    heads.extend(names.map(|name| (name, Side::Right)));
    heads.extend(["mean", "p99", "max", "own p99"].map(|name| (name, Side::Right)));
    heads.push(("dbms", Side::Left));
    let mut grid = Grid::new(&heads);
    for (idx, flow, sla) in &paced {
        let tone = if sla.is_held { Tone::Plain } else { Tone::Worst };
        let show = |ns: Option<f64>| {
            plain(ns.map_or_else(|| NOTHING.to_owned(), |ns| number::duration_in(ns, unit_ns)))
        };
        let late = flow.lateness;
        let gap = sla.longest_gap().map_or_else(|| NOTHING.to_owned(), |s| s.to_string());
        // An imported file tells of no second.
        let is_told = !flow.is_stated;
        let seconds = if is_told { sla.n_seconds.to_string() } else { NOTHING.to_owned() };
        grid.row(vec![
            plain(plural(flow.role)),
            plain(number::plain_figure(sla.target_per_s)),
            toned(number::plain_figure(sla.shown_average()), tone),
            plain(seconds),
            plain(held(sla)),
            plain(gap),
            plain(late.map_or_else(|| NOTHING.to_owned(), |l| l.n_missed.to_string())),
            show(late.and_then(|l| l.mean_ns())),
            show(flow.late_p99_ns.map(|ns| ns as f64)),
            show(late.map(|l| l.max_ns as f64)),
            show(flow.own_late_p99_ns.map(|ns| ns as f64)),
            plain(analysis.short_label(*idx)),
        ]);
    }
    (!grid.is_empty()).then_some((grid, unit))
}

/// The share of the seconds in which a rate was held: all or nothing only where it is.
fn held(sla: &Sla) -> String {
    let Some(share) = sla.share_held() else { return NOTHING.to_owned() };
    match number::percent(share).as_str() {
        "100%" if sla.n_held < sla.n_seconds => ">99.9%".to_owned(),
        "0%" if sla.n_held > 0 => "<0.1%".to_owned(),
        text => text.to_owned(),
    }
}

/// Unfinished background work of the servers at the end of the step: a column for each name.
#[must_use]
pub fn debt(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Option<Grid> {
    let mut names: Vec<&str> =
        step.cells.iter().flat_map(|c| c.debt.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let clipped: Vec<String> = names.iter().map(|name| layout::name(name)).collect();
    let mut heads: Vec<(&str, Side)> =
        clipped.iter().map(|name| (name.as_str(), Side::Right)).collect();
    heads.push(("dbms", Side::Left));
    let mut grid = Grid::new(&heads);
    for (idx, cell) in step.cells.iter().enumerate().filter(|(_, c)| !c.debt.is_empty()) {
        let mut row: Vec<GridCell> = names
            .iter()
            .map(|name| {
                plain(cell.debt.get(*name).map_or_else(|| NOTHING.to_owned(), u64::to_string))
            })
            .collect();
        row.push(plain(analysis.short_label(idx)));
        grid.row(row);
    }
    Some(grid)
}

/// A step's checks: a line for each that failed, and one for those that passed.
#[must_use]
pub fn checks(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> (Vec<String>, String) {
    let mut failed = Vec::new();
    let mut passed: Vec<(&str, usize)> = Vec::new();
    for (idx, cell) in step.cells.iter().enumerate() {
        for check in &cell.checks {
            if !check.passed {
                let label = analysis.label(idx);
                failed.push(format!("check failed on {label}: {}: {}", check.name, check.found));
                continue;
            }
            match passed.iter_mut().find(|(name, _)| *name == check.name) {
                Some((_, n)) => *n += 1,
                None => passed.push((&check.name, 1)),
            }
        }
    }
    let passed: Vec<String> = passed.iter().map(|(name, n)| format!("{name} ({n})")).collect();
    (failed, passed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Sla, held, share};

    #[test]
    fn a_second_that_was_not_held_is_told() {
        let of = |n_held: usize, n_seconds: usize| {
            let (target_per_s, average_per_s) = (100.0, 100.0);
            let longest_gap_s = usize::from(n_held < n_seconds);
            held(&Sla {
                target_per_s,
                average_per_s,
                is_held: true,
                n_seconds,
                n_held,
                longest_gap_s,
            })
        };
        let texts = [(3600, 3600), (3599, 3600), (1799, 1800), (1, 3600), (0, 60), (0, 0)];
        let told = texts.map(|(n_held, n_seconds)| of(n_held, n_seconds));
        assert_eq!(told, ["100%", ">99.9%", "99.9%", "<0.1%", "0%", "-"]);
    }

    #[test]
    fn shares_are_short_and_honest() {
        let texts = [0.0, 0.0001, 0.0123, 9.5, 12.3456, 99.99, 99.999, 100.0].map(share);
        assert_eq!(texts, ["0", "<.001", "0.012", "9.500", "12.35", "99.99", ">99.9", "100"]);
    }
}
