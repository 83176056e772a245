//! The field's tables for a post: per step QPS, ratio and system, groups of systems split by `-`, several
//! hosts as pairs of columns.
//!
//! ```text
//! update-one
//! i3 NUC          i5 NUC
//! QPS     ratio   QPS     ratio   system
//! 8514    1.00    9287    1.00    my5651.small
//! 7854    0.92    8972    0.97    my5744.small
//! -
//! 8280    0.97    9180    0.99    ma110405.small
//! ```
//!
//! A table has only these lines, so that it can be pasted. Bases, intervals, footnotes and
//! differences between hosts and plans follow at the end.

mod unlike;

use rqps_model::{Figure, SystemSpec};

use crate::{places, warning};
use rqps_analysis::{Analysis, Cell, CellState, GROUPS, StepAnalysis};
use rqps_text::number::{self, NOTHING};
use rqps_text::words::{one_line, shorten_apart};

/// Columns are as wide as a tab, or as much wider as a number needs.
const TAB: usize = 8;

/// The tables of one run, or of several: a pair of columns for each, with a base of its own.
#[must_use]
pub fn render(hosts: &[Analysis<'_>]) -> String {
    let names = names(hosts);
    let rows = rows(hosts);
    let mut out = String::new();
    for (title, key) in steps(hosts) {
        let found: Vec<Option<&StepAnalysis<'_>>> =
            hosts.iter().map(|host| host.steps.iter().find(|step| same(step, &key))).collect();
        out.push_str(&one_line(&title));
        out.push('\n');
        out.push_str(&table(hosts, &names, &found, &rows));
        out.push('\n');
    }
    for (host, name) in hosts.iter().zip(&names) {
        let of = if hosts.len() > 1 { format!("{name}: ") } else { String::new() };
        out.push_str(&format!("{of}{}\n", about(host)));
        for (idx, note) in host.footnotes.iter().enumerate() {
            let meaning = one_line(&warning::meaning(&note.kind));
            let places = one_line(&places::list(host, idx).join("; "));
            out.push_str(&format!("{of}{} {meaning}: {places}\n", note.letter));
        }
    }
    for line in unlike::lines(hosts, &names) {
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// What makes a step of one run that of another.
type Key = (String, u32);

fn key(step: &StepAnalysis<'_>) -> Key {
    (step.step.info.name.clone(), step.step.clients)
}

fn same(step: &StepAnalysis<'_>, wanted: &Key) -> bool {
    key(step) == *wanted
}

/// All steps in the order of reports, those of the first run first.
fn steps(hosts: &[Analysis<'_>]) -> Vec<(String, Key)> {
    let mut all: Vec<(String, Key)> = Vec::new();
    for group in GROUPS {
        for step in hosts.iter().flat_map(|host| host.steps_of(group)) {
            if !all.iter().any(|(_, known)| same(step, known)) {
                all.push((step.title.clone(), key(step)));
            }
        }
    }
    all
}

/// What stands over each pair of columns: the hosts' names, or the runs' where several are of one host.
fn names(hosts: &[Analysis<'_>]) -> Vec<String> {
    let host = |analysis: &Analysis<'_>| one_line(&analysis.run.host.hostname);
    let all: Vec<String> = hosts.iter().map(host).collect();
    let is_unique = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
    if all.iter().all(is_unique) {
        return all;
    }
    hosts.iter().map(|analysis| one_line(&analysis.run.id)).collect()
}

/// A line: a system, or the `-` between groups.
enum Line {
    System(String),
    Split,
}

/// The systems of all runs, each label once, those that differ in version alone together.
fn rows(hosts: &[Analysis<'_>]) -> Vec<Line> {
    let mut groups: Vec<Vec<&SystemSpec>> = Vec::new();
    for system in hosts.iter().flat_map(|host| &host.run.systems) {
        let spec = &system.spec;
        // A label stands for what each run has by it, also where that is not of one kind.
        if groups.iter().flatten().any(|known| known.label == spec.label) {
            continue;
        }
        match groups.iter_mut().find(|group| group[0].is_of_kind(spec)) {
            Some(group) => group.push(spec),
            None => groups.push(vec![spec]),
        }
    }
    let mut lines = Vec::new();
    for group in groups {
        if !lines.is_empty() {
            lines.push(Line::Split);
        }
        lines.extend(group.into_iter().map(|spec| Line::System(spec.label.0.clone())));
    }
    lines
}

fn table(
    hosts: &[Analysis<'_>],
    names: &[String],
    found: &[Option<&StepAnalysis<'_>>],
    rows: &[Line],
) -> String {
    let unit = found.iter().flatten().next().map_or(Figure::Queries, |s| s.step.info.figure);
    let mut lines: Vec<Vec<String>> = Vec::new();
    let head = |_: &Analysis<'_>| [heading(unit).to_owned(), "ratio".to_owned()];
    lines.push(hosts.iter().flat_map(head).chain(["system".to_owned()]).collect());
    for row in rows {
        let Line::System(label) = row else {
            lines.push(vec!["-".to_owned()]);
            continue;
        };
        let pair = |(host, step): (&Analysis<'_>, &Option<&StepAnalysis<'_>>)| {
            let at = host.run.systems.iter().position(|s| s.spec.label.0 == *label);
            match at.zip(*step).and_then(|(at, step)| Some((at, step.cells.get(at)?))) {
                Some((at, cell)) => cells(host, at, cell, unit),
                None => [NOTHING.to_owned(), NOTHING.to_owned()],
            }
        };
        let pairs: Vec<[String; 2]> = hosts.iter().zip(found).map(pair).collect();
        // A step that no run has on a system is no line.
        if pairs.iter().flatten().any(|text| text != NOTHING) {
            let marks = marks(hosts, found, label);
            let name = label_of(rows, label) + &marks;
            lines.push(pairs.into_iter().flatten().chain([name]).collect());
        }
    }
    let several = (hosts.len() > 1).then_some(names);
    laid_out(&without_empty_groups(lines), several)
}

/// Columns given to a label, the last in a line.
const LABEL_COLUMNS: usize = 60;

/// A system's label, shortened where it is very long.
fn label_of(rows: &[Line], label: &str) -> String {
    let labels: Vec<&str> = rows
        .iter()
        .filter_map(|line| match line {
            Line::System(label) => Some(label.as_str()),
            Line::Split => None,
        })
        .collect();
    let short = labels
        .iter()
        .position(|known| *known == label)
        .zip(Some(shorten_apart(&labels, LABEL_COLUMNS)));
    short.map_or_else(|| one_line(label), |(at, names)| names[at].clone())
}

/// The lines without a `-` that has nothing before or behind it.
fn without_empty_groups(lines: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let is_split = |line: &Vec<String>| line.len() == 1;
    let mut out: Vec<Vec<String>> = Vec::new();
    for line in lines {
        // The first line is that of headings.
        if is_split(&line) && (out.len() < 2 || out.last().is_some_and(is_split)) {
            continue;
        }
        out.push(line);
    }
    while out.last().is_some_and(is_split) {
        out.pop();
    }
    out
}

/// Figure and ratio of a cell.
fn cells(host: &Analysis<'_>, at: usize, cell: &Cell, unit: Figure) -> [String; 2] {
    let figure = match (&cell.state, cell.figure()) {
        (CellState::Failed { .. }, _) => "failed".to_owned(),
        (CellState::TablesReused, _) => "tables reused".to_owned(),
        (CellState::Pending, _) | (_, None) => "not run".to_owned(),
        (CellState::Measured(_), Some(figure)) if cell.is_stated => figure.point.to_string(),
        (CellState::Measured(_), Some(figure)) => shown(figure.point, unit),
    };
    let ratio = match &cell.rqps() {
        Some(ratio) => number::plain_ratio(ratio.point),
        None if at == host.base && cell.figure().is_some() => "1.00".to_owned(),
        None => NOTHING.to_owned(),
    };
    [figure, ratio]
}

/// What the field calls a step's figure.
fn heading(unit: Figure) -> &'static str {
    match unit {
        Figure::Queries => "QPS",
        Figure::RowsRead => "Mrps",
        Figure::RowsInserted => "ips",
        Figure::RowsIndexed => "rows/s",
        Figure::AsStated => "stated",
    }
}

/// A figure as the field writes it: scans in millions of rows with three decimals, others whole.
fn shown(figure: f64, unit: Figure) -> String {
    match unit {
        Figure::RowsRead => format!("{:.3}", figure / 1e6),
        _ => number::plain_figure(figure),
    }
}

/// The letters of a system's footnotes in all runs, behind its name.
fn marks(hosts: &[Analysis<'_>], found: &[Option<&StepAnalysis<'_>>], label: &str) -> String {
    let mut letters: Vec<String> = Vec::new();
    for (host, step) in hosts.iter().zip(found) {
        let at = host.run.systems.iter().position(|s| s.spec.label.0 == label);
        let cell = at.zip(*step).and_then(|(at, step)| step.cells.get(at));
        let own = cell.map(|cell| host.letters(cell)).filter(|own| !own.is_empty());
        letters.extend(own);
    }
    if letters.is_empty() { String::new() } else { format!("  {}", letters.join("/")) }
}

/// The lines with columns as wide as tabs make them, and the hosts' names above where there are several.
fn laid_out(lines: &[Vec<String>], names: Option<&[String]>) -> String {
    let n = lines.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![TAB; n];
    for line in lines.iter().filter(|line| line.len() > 1) {
        for (width, text) in widths.iter_mut().zip(line) {
            // At least one space stays between columns.
            while text.chars().count() + 1 > *width {
                *width += TAB;
            }
        }
    }
    for (at, name) in names.into_iter().flatten().enumerate() {
        while name.chars().count() + 1 > widths[2 * at] + widths[2 * at + 1] {
            widths[2 * at + 1] += TAB;
        }
    }
    let mut out = String::new();
    let mut line = |texts: &[(String, usize)]| {
        let whole: String = texts.iter().map(|(text, width)| format!("{text:width$}")).collect();
        out.push_str(whole.trim_end());
        out.push('\n');
    };
    if let Some(names) = names {
        let pair = |at: usize| widths[2 * at] + widths[2 * at + 1];
        let heads: Vec<(String, usize)> =
            names.iter().enumerate().map(|(at, name)| (name.clone(), pair(at))).collect();
        line(&heads);
    }
    for texts in lines {
        let columns: Vec<(String, usize)> =
            texts.iter().cloned().zip(widths.iter().copied()).collect();
        line(&columns);
    }
    out
}

/// What ratios are relative to and how sure they are, in a line.
fn about(host: &Analysis<'_>) -> String {
    let ratios = || host.steps.iter().flat_map(|s| &s.cells).filter_map(Cell::rqps);
    let has_intervals = ratios().any(|ratio| ratio.interval.is_some());
    let sure = if let Some(imported) = &host.run.imported {
        format!("{}; n=1, no intervals", one_line(&imported.to_string()))
    } else if has_intervals {
        let id = one_line(&host.run.id);
        format!("intervals and verdicts: rqps report {id} --summary")
    } else {
        "n=1, no intervals".to_owned()
    };
    format!("ratio: relative to {}; {sure}", one_line(host.base_label()))
}
