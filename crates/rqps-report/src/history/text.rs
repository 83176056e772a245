//! A history for a terminal: what changed, then a table per series.

use super::names;
use super::words::{certainty, change_in_short, is_too_short, left_out, sentences, verdicts};
use crate::grid::{Grid, GridCell, Side, plain, toned};
use crate::tone::Tone;
use rqps_analysis::history::{Change, History, Point, Scale, Series};
use rqps_text::number;
use rqps_text::words::{NAME_COLUMNS, clip, shorten_apart, wrap};

/// Columns of a run's id, which begins with its start.
const RUN_COLUMNS: usize = 48;

/// The history in lines of at most `width` columns, as far as tables fit; `colour` is for terminals
/// that want it.
#[must_use]
pub fn render(history: &History, colour: bool, width: usize) -> String {
    let mut out = String::new();
    let title = |out: &mut String, text: &str| {
        let (on, off) = if colour { (Tone::Strong.ansi(), "\u{1b}[0m") } else { ("", "") };
        out.push_str(&format!("{on}{}{off}\n", wrap("", text, width)));
    };
    title(&mut out, &head(history));
    list(&mut out, &verdicts(history), width);
    list(&mut out, &sentences(history), width);
    for series in &history.series {
        out.push('\n');
        title(&mut out, &heading(series));
        out.push_str(&grid(series).fitted(width).render_text(colour));
    }
    out.push('\n');
    title(&mut out, "How sure this is");
    list(&mut out, &certainty(history), width);
    if !history.left_out.is_empty() {
        out.push('\n');
        title(&mut out, "Excluded");
        list(&mut out, &left_out(history), width);
    }
    out
}

fn list(out: &mut String, items: &[String], width: usize) {
    for item in items {
        out.push_str(&wrap("- ", item, width));
        out.push('\n');
    }
}

/// `3 changes of level in 4 series, by version. 1 series has too few points to judge.`
#[must_use]
pub fn head(history: &History) -> String {
    let (series, by) = (&history.series, history.order.word());
    let n_short = series.iter().filter(|s| is_too_short(s)).count();
    if n_short == series.len() {
        return format!("{n_short} series by {by}, each with too few points to judge a change.");
    }
    let n: usize = series.iter().map(|s| s.changes.len()).sum();
    let changes = if n == 0 { "No change".to_owned() } else { number::count(n, "change") };
    let short = match n_short {
        0 => String::new(),
        1 => " 1 series has too few points to judge.".to_owned(),
        n => format!(" {n} series have too few points to judge."),
    };
    format!("{changes} of level in {} series, by {by}.{short}", series.len())
}

/// `point-query: MySQL, innodb, small; rQPS against MySQL 5.6.14, innodb, small`.
pub(crate) fn heading(series: &Series) -> String {
    format!("{}: {}; {}", series.title, names::line(series), unit(series))
}

/// What the values of a series are, in words.
#[must_use]
pub fn unit(series: &Series) -> String {
    match &series.scale {
        Scale::Relative { base } => format!("rQPS against {}", names::base(base)),
        Scale::Absolute { unit } => (*unit).to_owned(),
    }
}

/// A value as its scale is written, without its interval.
#[must_use]
pub fn value(series: &Series, point: &Point) -> String {
    match series.scale {
        Scale::Relative { .. } if point.is_base => "1".to_owned(),
        Scale::Relative { .. } => number::ratio(&point.value),
        Scale::Absolute { .. } => number::figure(&point.value),
    }
}

/// The interval of a value, `base` or `n=1`.
#[must_use]
pub fn interval(series: &Series, point: &Point) -> String {
    let none = || "n=1".to_owned();
    match series.scale {
        _ if point.is_base => "base".to_owned(),
        Scale::Relative { .. } => number::interval(&point.value).unwrap_or_else(none),
        Scale::Absolute { .. } => number::figure_interval(&point.value).unwrap_or_else(none),
    }
}

/// The change that begins with the point at a position.
#[must_use]
pub fn change_at(series: &Series, at: usize) -> Option<&Change> {
    series.changes.iter().find(|change| change.at == at)
}

fn grid(series: &Series) -> Grid {
    let head = match series.scale {
        Scale::Relative { .. } => "rQPS",
        Scale::Absolute { .. } => "QPS",
    };
    let mut grid = Grid::new(&[
        (head, Side::Point),
        ("95% interval", Side::Left),
        ("verdict", Side::Left),
        ("change", Side::Left),
        ("version", Side::Left),
        ("system", Side::Left),
        ("run", Side::Left),
        ("warnings", Side::Left),
    ]);
    let labels: Vec<&str> = series.points.iter().map(|point| point.label.as_str()).collect();
    let labels = shorten_apart(&labels, NAME_COLUMNS);
    let runs: Vec<&str> = series.points.iter().map(|point| point.run_id.as_str()).collect();
    let runs = shorten_apart(&runs, RUN_COLUMNS);
    for (at, point) in series.points.iter().enumerate() {
        let change = change_at(series, at);
        grid.row(vec![
            plain(value(series, point)),
            plain(interval(series, point)),
            point.verdict.map_or_else(GridCell::default, |v| plain(v.word())),
            change.map_or_else(GridCell::default, |c| toned(change_in_short(&c.size), tone(c))),
            plain(&point.server),
            plain(if is_ambiguous(series, at) { labels[at].clone() } else { String::new() }),
            plain(&runs[at]),
            plain(clip(&point.warning_names().join(" "), NAME_COLUMNS)),
        ]);
    }
    grid
}

/// Whether version and run do not tell which system a point is of.
fn is_ambiguous(series: &Series, at: usize) -> bool {
    let own = &series.points[at];
    let is_like = |p: &Point| p.server == own.server && p.run_id == own.run_id;
    series.points.iter().filter(|p| is_like(p)).count() > 1
}

fn tone(change: &Change) -> Tone {
    if change.size.point < 1.0 { Tone::Lower } else { Tone::Higher }
}
