//! A history as one HTML file that opens offline: what changed, a chart and a table per series.

pub(crate) mod axis;
mod chart;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::label::{outside, prose};
use super::{STYLE, policy};
use rqps_analysis::history::{History, Method, Point, Series};
use rqps_model::Verdict;
use rqps_report::conditions::machine;
use rqps_report::history::names;
use rqps_report::history::text::{change_at, commits_after_base, head, interval, unit, value};
use rqps_report::history::words::{self, certainty, change_in_short, sentences, verdicts};
use rqps_text::number::{self, count};
use rqps_text::words::one_line;

/// What these pages have on top of the reports' style.
const HISTORY_STYLE: &str = include_str!("history/history.css");

/// The style of these pages.
pub(super) fn style() -> String {
    [STYLE, HISTORY_STYLE].concat()
}

/// The history as a page without any external reference and without script.
#[must_use]
pub fn render(history: &History) -> String {
    let body = html! {
                a.skip href="#series-0" { "Skip to the charts" }
                header {
                    h1 { "rqps history by " (history.order.word()) (span(history)) }
                    p.verdict { (head(history)) }
                    ul.sentences {
                        @for text in verdicts(history).iter().chain(&sentences(history)) {
                            li { (prose(text)) }
                        }
                    }
                }
                main {
                    @for (at, series) in history.series.iter().enumerate() {
                        (section(history, at, series))
                    }
                    (reading(history))
                    (left_out(history))
                }
                footer {
                    p {
                        "Made by rqps " (one_line(&history.rqps_version)) ". All points as data: "
                        code { "rqps history --format csv" } " or " code { "json" } "."
                    }
                }
    };
    document("rqps history", &history.rqps_version, &body)
}

/// A page with this body, without any external reference and without script.
pub(super) fn document(title: &str, rqps_version: &str, body: &Markup) -> String {
    let style = style();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::render(&style, &[]));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("rqps {}", one_line(rqps_version)));
                title { (one_line(title)) }
                style { (PreEscaped(&style)) }
            }
            body { (body) }
        }
    };
    let mut out = page.into_string();
    out.push('\n');
    out
}

/// The time and the host of the points.
fn span(history: &History) -> Markup {
    let starts = || history.series.iter().flat_map(|s| &s.points).map(|p| p.started_unix_ms);
    let day = |unix_ms: i64| number::utc(unix_ms).split(' ').next().unwrap_or_default().to_owned();
    html! {
        @if let Some((first, last)) = starts().min().zip(starts().max()) {
            span.when {
                (day(first)) @if day(first) != day(last) { " to " (day(last)) }
            }
            @if let Some(host) = &history.host { " on " (outside(&machine(host))) }
        }
    }
}

/// One series; the step is named once for all series of it.
fn section(history: &History, at: usize, series: &Series) -> Markup {
    let before = at.checked_sub(1).and_then(|before| history.series.get(before));
    let is_first = before.is_none_or(|other| other.title != series.title);
    html! {
        section #{ "series-" (at) } {
            @if is_first { h2 { (outside(&series.title)) } }
            figure.history {
                figcaption {
                    (outside(&names::line(series)))
                    span.unit { (outside(&unit(series))) }
                }
                (chart::render(history, series))
            }
            details {
                summary { (count(series.points.len(), "point")) " as a table" }
                (table(series))
            }
        }
    }
}

fn table(series: &Series) -> Markup {
    let has_commits = series.points.iter().any(|point| point.commit.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Points of " (one_line(&series.title)) } {
            table.numbers {
                thead { tr {
                    th scope="col" { "Server" } th.num scope="col" { (one_line(&unit(series))) }
                    th scope="col" { "95% interval" } th scope="col" { "Verdict" }
                    th scope="col" { "Change" }
                    @if has_commits {
                        th scope="col" { "Committed" } th.num scope="col" { "Commits after base" }
                        th scope="col" { "Subject" }
                    }
                    th scope="col" { "System" } th scope="col" { "Started" }
                    th scope="col" { "Run" } th scope="col" { "Warnings" }
                } }
                tbody {
                    @for (at, point) in series.points.iter().enumerate() {
                        tr {
                            th scope="row" { (outside(&point.server)) }
                            td.num { (value(series, point)) }
                            td.range { (interval(series, point)) }
                            td { (point.verdict.map_or("", Verdict::word)) }
                            td { @if let Some(change) = change_at(series, at) {
                                (change_in_short(&change.size))
                            } }
                            @if has_commits { (commit(point)) }
                            td { (outside(&point.label)) }
                            td { (number::utc(point.started_unix_ms)) }
                            td { (outside(&point.run_id)) }
                            td { (point.warning_names().join(", ")) }
                        }
                    }
                }
            }
        }
    }
}

/// The cells of a point's commit; empty ones of a server that rqps did not build.
fn commit(point: &Point) -> Markup {
    html! {
        @match &point.commit {
            Some(commit) => {
                td { (commit.day()) } td.num { (commits_after_base(commit)) }
                td { (outside(&commit.subject)) }
            }
            None => { td {} td.num {} td {} }
        }
    }
}

fn reading(history: &History) -> Markup {
    let uses = |method: Method| history.series.iter().any(|s| s.method == method);
    html! {
        section #reading aria-labelledby="reading-title" {
            h2 #reading-title { "How to read it" }
            p {
                "A dot is a measurement, its whisker the 95% interval; whiskers that end at the edge are longer. "
                "A ring is the base. Grey points have warnings. Thin lines are levels: geometric means between "
                "changes. A dashed line is a change, with the ratio of the levels as a loss or gain in percent "
                "and its 95% interval. The axis does not begin at 0. Points are equally spaced."
            }
            p {
                "Changes are searched by energy distance, recursively, and tested "
                @if uses(Method::Student) { "with Student's t where every point has an interval" }
                @if uses(Method::Student) && uses(Method::EDivisive) { ", " }
                @if uses(Method::EDivisive) { "by random orders where one has none (E-divisive)" }
                "."
            }
            h3 { "How sure this is" }
            ul.sentences { @for text in certainty(history) { li { (prose(&text)) } } }
        }
    }
}

fn left_out(history: &History) -> Markup {
    html! {
        @if !history.left_out.is_empty() {
            section #left-out aria-labelledby="left-out-title" {
                h2 #left-out-title { "Excluded" }
                ul.sentences { @for one in words::left_out(&history.left_out) { li { (prose(&one)) } } }
            }
        }
    }
}
