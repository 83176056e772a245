//! A history in sentences.

use rqps_model::{Estimate, Verdict};
use rqps_stats::change_point::{START_DF, START_SD};

use rqps_analysis::history::{
    Because, Change, History, LeftOut, Method, Order, OtherCondition, Point, PointWarning,
    Reported, Scale, Series, Surrounding, commits_between, reported,
};
use rqps_text::number::{self, utc};
use rqps_text::words::{clip, list, list_in_short, one_line};

use super::names;
use crate::conditions::{machine, suite_value};
use crate::unfit;

/// Columns that a sentence gives to a value.
const VALUE_COLUMNS: usize = 40;

/// Points without intervals below which the permutation test finds next to nothing.
const FEW: usize = 8;

/// Figures below which there is no test: two on each side of a change.
const FEWEST_FIGURES: usize = 4;

/// Ratios, the base among them, below which there is no test.
const FEWEST_RATIOS: usize = 2;

/// `point-query got slower at MariaDB 10.11.5, 8% [6, 10].`
#[must_use]
pub fn sentence(history: &History, series: &Series, change: &Change) -> String {
    let Change { at, size, .. } = change;
    let of = if history.has_several_lines {
        format!(" ({})", names::line(series))
    } else {
        String::new()
    };
    let place = place(&series.points, *at, history.order);
    if size.point == 0.0 {
        return format!("{}{of} stopped {place}: nothing was done from there on.", series.title);
    }
    if size.point.is_infinite() {
        return format!("{}{of} began {place}: nothing was done before.", series.title);
    }
    let direction = if size.point < 1.0 { "slower" } else { "faster" };
    let host = if holds_the_host(series, *at) { ", or the host did" } else { "" };
    let unlike = unlike_in_words(series, change)
        .map_or_else(String::new, |what| format!("; also changed: {what}"));
    format!("{}{of} got {direction} {place}, {}{host}{unlike}.", series.title, percent(size))
}

/// All changes in sentences, the largest losses first.
#[must_use]
pub fn sentences(history: &History) -> Vec<String> {
    let mut all: Vec<(&Series, &Change)> = Vec::new();
    for series in &history.series {
        all.extend(series.changes.iter().map(|change| (series, change)));
    }
    all.sort_by(|(_, a), (_, b)| a.size.point.total_cmp(&b.size.point));
    all.into_iter().map(|(series, change)| sentence(history, series, change)).collect()
}

/// The verdicts on each version: `MySQL 8.0.33 against MySQL 5.6.14: slower on 9 of 12 steps, same on 3.`
#[must_use]
pub fn verdicts(history: &History) -> Vec<String> {
    let all = reported(history);
    let is_alike = |a: &Reported, b: &Reported| a.server == b.server && a.base == b.base;
    let sentence = |own: &Reported| {
        let server = match all.iter().filter(|other| is_alike(own, other)).count() {
            1 => own.server.clone(),
            _ => names::server(&own.server, &own.line),
        };
        let counts = [
            (own.n_slower, Verdict::Slower.word()),
            (own.n_faster, Verdict::Faster.word()),
            (own.n_same, Verdict::Same.word()),
            (own.n_unclear, Verdict::Unclear.word()),
            (own.n_without, "without a verdict"),
        ];
        let found = counts.iter().filter(|(n, _)| *n > 0).enumerate();
        let words: Vec<String> = found
            .map(|(nth, (n, word))| match nth {
                0 => format!("{word} on {n} of {}", number::count(own.n_steps(), "step")),
                _ => format!("{word} on {n}"),
            })
            .collect();
        format!("{server} against {}: {}.", names::base(&own.base), words.join(", "))
    };
    all.iter().map(sentence).collect()
}

/// Whether a series has too few points to tell a change from chance.
#[must_use]
pub fn is_too_short(series: &Series) -> bool {
    let fewest = match (series.method, &series.scale) {
        (Method::EDivisive, _) => FEW,
        (Method::Student, Scale::Absolute { .. }) => FEWEST_FIGURES,
        (Method::Student, Scale::Relative { .. }) => FEWEST_RATIOS,
    };
    is_short(series, fewest)
}

/// What is excluded, and why: `20261121-203015-demo, scan: it is of another host`.
#[must_use]
pub fn left_out(all: &[LeftOut]) -> Vec<String> {
    let sentence = |one: &LeftOut| {
        let what =
            if one.what.is_empty() { String::new() } else { format!(", {}", names::what(one)) };
        format!("{}{what}: {}", one.run_id, because(&one.because))
    };
    all.iter().map(sentence).collect()
}

/// Why something is excluded: `it is of another host`.
#[must_use]
pub fn because(because: &Because) -> String {
    match because {
        Because::NothingFinished => "it has no finished step of the selected ones".to_owned(),
        Because::OtherHost { own, latest } => {
            let (own, latest) = (machine(own), machine(latest));
            format!(
                "it is of another host ({own}; the latest is of {latest}); include it with --all-hosts"
            )
        }
        Because::Copied { run_id } => format!("run {run_id} has all its results"),
        Because::SameFigure { run_id } => format!("run {run_id} has the same result"),
        Because::NoVersion => "its version is not known; include it with --by time".to_owned(),
        Because::OtherConditions(all) => {
            let shown = |value: &Option<String>| {
                value.as_ref().map_or_else(|| "none".to_owned(), |value| one_line(value))
            };
            let one = |of: &OtherCondition| match of {
                OtherCondition::Placement { own, latest } => {
                    format!("placement {own}, not {latest}")
                }
                OtherCondition::Work { keys, own, latest } => {
                    format!("{} {}, not {}", suite_value(keys), shown(own), shown(latest))
                }
            };
            let words: Vec<String> = all.iter().map(one).collect();
            format!("differs from the latest: {}", list_in_short(&words))
        }
        Because::Unfit(reason) => unfit::words(reason),
        Because::RateNotHeld => "an insert rate was not held".to_owned(),
        Because::NoBaseFigure => "its base has no result there".to_owned(),
        Because::NoRatio(reason) => unfit::no_ratio(*reason).to_owned(),
        Because::NoUnit => {
            "its file does not say what it counts, and runs may count different things".to_owned()
        }
    }
}

/// Conditions that differ between the points beside a change: `kernel (6.8.0, then 6.9.1)`; `None` where nothing does.
#[must_use]
pub fn unlike_in_words(series: &Series, change: &Change) -> Option<String> {
    let before = series.points.get(change.at.checked_sub(1)?)?;
    let first = series.points.get(change.at)?;
    let one = |what: &Surrounding| {
        let value = |p: &Point| clip(&names::surrounding(&p.surroundings, *what), VALUE_COLUMNS);
        format!("{} ({}, then {})", what.key(), value(before), value(first))
    };
    let told: Vec<String> = change.unlike.iter().map(one).collect();
    (!told.is_empty()).then(|| list(&told))
}

/// Whether the values beside a change include changes of the host: rates do, and ratios of systems that were
/// measured one after the other.
fn holds_the_host(series: &Series, at: usize) -> bool {
    let mut beside = series.points.iter().skip(at.saturating_sub(1)).take(2);
    match series.scale {
        Scale::Absolute { .. } => true,
        Scale::Relative { .. } => beside.any(is_sequential),
    }
}

fn is_sequential(point: &Point) -> bool {
    point.warnings.contains(&PointWarning::Sequential)
}

/// `slower 8% [6, 10]`, for tables and charts.
#[must_use]
pub fn change_in_short(size: &Estimate) -> String {
    if size.point == 0.0 {
        return "stopped".to_owned();
    }
    if size.point.is_infinite() {
        return "began".to_owned();
    }
    let direction = if size.point < 1.0 { "slower" } else { "faster" };
    format!("{direction} {}", percent(size))
}

/// A ratio as a loss or gain in percent, with its interval: `8% [6, 10]`.
fn percent(size: &Estimate) -> String {
    let sign = if size.point < 1.0 { -1.0 } else { 1.0 };
    let of = |ratio: f64| (ratio - 1.0) * 100.0 * sign;
    let Some((low, high)) = size.interval.map(|(l, h)| (of(l), of(h))) else {
        return format!("{:.0}% (no interval)", of(size.point));
    };
    let (low, high) = (low.min(high), low.max(high));
    let decimals = usize::from(high - low < 2.0);
    format!("{:.decimals$}% [{low:.decimals$}, {high:.decimals$}]", of(size.point))
}

/// Where a change is: the first point of the new level.
fn place(points: &[Point], at: usize, order: Order) -> String {
    let Some(point) = points.get(at) else { return String::new() };
    let run = &point.run_id;
    match order {
        Order::Time => {
            let utc = utc(point.started_unix_ms);
            format!("on {} (run {run})", utc.get(..10).unwrap_or(&utc))
        }
        Order::Version => {
            let is_same = |other: &Point| other.server == point.server;
            let before = at.checked_sub(1).and_then(|before| points.get(before));
            // Several points of one version: the run says which.
            let which =
                if before.is_some_and(is_same) { format!(" (run {run})") } else { String::new() };
            // Commits in between were not measured, and any of them may be the one.
            let has_commits = |point: &Point| point.commit.is_some();
            let is_alone = before.is_none_or(|before| commits_between(before, point) == Some(1));
            let among = if before.is_some_and(has_commits) && has_commits(point) && !is_alone {
                " or at a commit before it that was not measured"
            } else {
                ""
            };
            format!("at {}{which}{among}", point.server)
        }
    }
}

/// How sure the changes of a history are.
#[must_use]
pub fn certainty(history: &History) -> Vec<String> {
    let series = &history.series;
    let n = series.len();
    let points = || series.iter().flat_map(|s| &s.points);
    let mut out = vec![format!(
        "A change is reported when it is significant at 1%, the search for its place included. {n} \
         series were tested: about one in a hundred series without a change has a false one."
    )];
    if series.iter().flat_map(|s| &s.changes).any(|change| change.p.is_none()) {
        out.push(
            "A version beside the base that the report calls slower or faster is a change, too."
                .to_owned(),
        );
    }
    out.extend(starts(history));
    if series.iter().any(|s| matches!(s.scale, Scale::Absolute { .. })) {
        out.push(
            "Where the runs of a series have no common base, its points are rates: a change of the \
             host looks like a change of the server. A change needs at least two points on each side, \
             because intervals do not include changes of the host between runs."
                .to_owned(),
        );
    }
    if points().any(is_sequential) {
        out.push(
            "Ratios marked sequential are of runs that measured one system after the other: they \
             include drift of the host between base and system, but their intervals do not."
                .to_owned(),
        );
    }
    let is_other = |warning: &PointWarning| matches!(warning, PointWarning::OtherCondition(_));
    if points().any(|point| point.warnings.iter().any(is_other)) {
        out.push(
            "Points marked other-kernel and similar were measured under other conditions than the \
             latest. A change between such points names the conditions, which may be its cause."
                .to_owned(),
        );
    }
    if history.host.is_none() {
        out.push(
            "The points are of several hosts: differences between hosts are in the series."
                .to_owned(),
        );
    }
    let n_short =
        series.iter().filter(|s| s.method == Method::EDivisive && is_short(s, FEW)).count();
    if n_short > 0 {
        out.push(format!(
            "{n_short} of the series have points without intervals (n=1), and fewer than {FEW} points: \
             too few to tell a change from chance."
        ));
    }
    let is_alone =
        |s: &&Series| matches!(s.scale, Scale::Relative { .. }) && s.points.len() < FEWEST_RATIOS;
    let n_alone = series.iter().filter(is_alone).count();
    if n_alone > 0 {
        out.push(format!(
            "{n_alone} of the series have one version, which is compared with a base of another kind: no \
             change can be looked for."
        ));
    }
    let are_figures =
        |s: &&Series| matches!(s.scale, Scale::Absolute { .. }) && s.method == Method::Student;
    let n_short = series.iter().filter(are_figures).filter(|s| is_short(s, FEWEST_FIGURES)).count();
    if n_short > 0 {
        out.push(format!(
            "{n_short} of the series have fewer than {FEWEST_FIGURES} rates: too few to tell a change \
             from chance."
        ));
    }
    out
}

fn is_short(series: &Series, fewest: usize) -> bool {
    series.points.len() < fewest
}

/// What is known of the differences between starts of the servers.
fn starts(history: &History) -> Option<String> {
    let ratios = history.series.iter().filter(|s| matches!(s.scale, Scale::Relative { .. }));
    let mut all = ratios.flat_map(|s| &s.points).filter(|point| !point.is_base).peekable();
    all.peek()?;
    if all.all(|point| point.starts > 1) {
        return Some(
            "All ratios are of several starts of the servers: intervals include differences between starts."
                .to_owned(),
        );
    }
    Some(format!(
        "Each start of a server has its own memory layout, which alone changes QPS by 1 to 2%. \
         Intervals of ratios of one start include an assumed spread of starts, those of rates do not. The \
         test of changes assumes a standard deviation of {} for ratios of one start, more for writes of MySQL; from {:.0} points on, the differences between the \
         ratios decide.",
        number::percent(START_SD),
        START_DF + 2.0
    ))
}
