//! A history for a terminal: what changed, then a table per series.

use super::names;
use super::words::{certainty, change_in_short, is_too_short, left_out, sentences, verdicts};
use crate::grid::{Grid, GridCell, Side, plain, toned};
use crate::tone::Tone;
use rqps_analysis::history::{Change, History, Order, Point, PointCommit, Scale, Series};
use rqps_model::Verdict;
use rqps_text::number;
use rqps_text::words::{NAME_COLUMNS, clip, shorten_apart, wrap};

/// Columns of a run's id, which begins with its start.
const RUN_COLUMNS: usize = 48;

/// Columns from which on subjects of commits have room.
const WIDE: usize = 96;

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
        out.push_str(&grid(series, width).fitted(width).render_text(colour));
    }
    out.push('\n');
    title(&mut out, "How sure this is");
    list(&mut out, &certainty(history), width);
    if !history.left_out.is_empty() {
        out.push('\n');
        title(&mut out, "Excluded");
        list(&mut out, &left_out(&history.left_out), width);
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
    let silent = silent(history);
    if n_short == series.len() {
        return format!(
            "{n_short} series by {by}, each with too few points to judge a change.{silent}"
        );
    }
    let n: usize = series.iter().map(|s| s.changes.len()).sum();
    let changes = if n == 0 { "No change".to_owned() } else { number::count(n, "change") };
    let short = match n_short {
        0 => String::new(),
        1 => " 1 series has too few points to judge.".to_owned(),
        n => format!(" {n} series have too few points to judge."),
    };
    format!("{changes} of level in {} series, by {by}.{silent}{short}", series.len())
}

/// Series in which no change was found though the report calls a version slower or faster.
fn silent(history: &History) -> String {
    let is_called = |point: &Point| {
        history.order == Order::Version
            && matches!(point.verdict, Some(Verdict::Slower | Verdict::Faster))
    };
    let is_silent = |s: &&Series| s.changes.is_empty() && s.points.iter().any(is_called);
    match history.series.iter().filter(is_silent).count() {
        0 => String::new(),
        1 => {
            " 1 series has a slower or faster version, but no certain place of a change.".to_owned()
        }
        n => {
            format!(" {n} series have slower or faster versions, but no certain place of a change.")
        }
    }
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

fn grid(series: &Series, width: usize) -> Grid {
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
        ("commit", Side::Left),
        ("date", Side::Left),
        ("after", Side::Right),
        ("subject", Side::Left),
        ("system", Side::Left),
        ("run", Side::Left),
        ("warnings", Side::Left),
    ]);
    let is_of_commits = series.points.iter().all(|point| point.commit.is_some());
    let labels: Vec<&str> = series.points.iter().map(|point| point.label.as_str()).collect();
    let labels = shorten_apart(&labels, NAME_COLUMNS);
    let runs: Vec<&str> = series.points.iter().map(|point| point.run_id.as_str()).collect();
    let runs = shorten_apart(&runs, RUN_COLUMNS);
    for (at, point) in series.points.iter().enumerate() {
        let change = change_at(series, at);
        let commit = point.commit.as_ref();
        let of_commit =
            |text: fn(&PointCommit) -> String| plain(commit.map_or_else(String::new, text));
        let subject = of_commit(|commit| clip(&commit.subject, NAME_COLUMNS));
        grid.row(vec![
            plain(value(series, point)),
            plain(interval(series, point)),
            point.verdict.map_or_else(GridCell::default, |v| plain(v.word())),
            change.map_or_else(GridCell::default, |c| toned(change_in_short(&c.size), tone(c))),
            plain(version(series, point)),
            of_commit(|commit| commit.name.clone()),
            of_commit(|commit| commit.day().to_owned()),
            of_commit(commits_after_base),
            if width < WIDE { GridCell::default() } else { subject },
            plain(if is_ambiguous(series, at) { labels[at].clone() } else { String::new() }),
            // Commits tell points apart, and take the room.
            if is_of_commits { GridCell::default() } else { plain(&runs[at]) },
            plain(clip(&point.warning_names().join(" "), NAME_COLUMNS)),
        ]);
    }
    grid
}

/// The server of a point. Its commit has a column of its own; where all points are of one version, that suffices.
fn version(series: &Series, point: &Point) -> String {
    let is_one = series.points.iter().all(|p| p.commit.is_some() && p.version == point.version);
    match &point.commit {
        None => point.server.clone(),
        Some(_) if is_one => String::new(),
        Some(_) => point.version.as_ref().map_or_else(String::new, ToString::to_string),
    }
}

/// Commits from the base to that of a point: `+12`.
#[must_use]
pub fn commits_after_base(commit: &PointCommit) -> String {
    commit.after_base.map_or_else(String::new, |n| format!("{n:+}"))
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
