//! Reports as one HTML file that opens offline: no external reference, own style and script.
//!
//! Without its script the page says the same, relative to its own base; of very large runs the details of the steps
//! are packed and need it. Every text passes maud's escaping; only
//! style, scripts and base64 do not. The page's content security policy forbids any request, and any style and
//! script but those that it brings.

mod bases;
mod cause;
mod chart;
pub mod charts;
mod compact;
mod compare;
mod data;
mod distribution;
mod dot;
mod filter;
pub mod history;
mod insert;
mod label;
mod line;
mod method;
mod metrics;
mod own_slices;
mod packed;
pub mod page;
mod part;
mod plans;
mod points;
mod policy;
mod ratios;
mod recall;
mod room;
mod scale;
pub mod search;
mod series;
mod size;
mod stacks;
pub mod stacks_page;
mod step;
mod summary;
mod systems;
mod table;
mod times;
mod verdict;

use std::panic::resume_unwind;
use std::thread;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use rqps_stacks::flame;

use self::part::BasePart;
use self::room::Room;
use rqps_analysis::Analysis;
use rqps_text::number;
use rqps_text::words::one_line;

/// The page's style.
pub(crate) const STYLE: &str = include_str!("style.css");

/// What runs with steps of the Insert Benchmark have on top of it.
const INSERT_STYLE: &str = include_str!("insert.css");

/// The page's script: sorts, filters, takes another base. Without it the page says the same.
const SCRIPT: &str = concat!(
    include_str!("script/steps.js"),
    include_str!("script/tables.js"),
    include_str!("script/filter.js"),
    include_str!("script/bodies.js"),
    include_str!("script/bases.js"),
    include_str!("script/data.js"),
    include_str!("script/series.js"),
    include_str!("script/start.js"),
);

/// Charts that can be zoomed, with the licence that they come under (`vendor`).
const CHART_LIBRARY: &str = concat!(
    "/*\n",
    include_str!("vendor/uPlot.LICENSE"),
    "\n*/\n",
    include_str!("vendor/uPlot.iife.min.js"),
);

/// The library's own style.
const CHART_STYLE: &str = include_str!("vendor/uPlot.min.css");

/// Details of steps beyond this are packed, bytes: they would be most of the page and slow to lay out.
const MOST_DETAILS: usize = 800_000;

/// Bytes of a page beside its main part, other bases, series and raw data: head, style, scripts.
const FRAME: usize = 110_000;

/// The report as a page.
#[must_use]
pub fn render(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    let has_stacks = !analysis.stacks.is_empty();
    let bodies = step::bodies(analysis);
    let is_large = bodies.iter().map(|body| body.0.len()).sum::<usize>() > MOST_DETAILS;
    let main = compact::of_large(html! {
        (recall::render(analysis))
        (chart::render(analysis))
        (summary::render(analysis))
        (causes_part(analysis).placed())
        (systems_part(analysis).placed())
        (sizes_part(analysis).placed())
        (step::render_all(analysis, (!is_large).then_some(&bodies)))
        (method_part(analysis).placed())
    });
    let bodies = is_large.then(|| {
        let texts: Vec<String> = bodies.into_iter().map(|body| body.0).collect();
        packed::base64(&packed::gzip(&serde_json::to_string(&texts).unwrap_or_default()))
    });
    let mut room = Room::beside(FRAME + main.0.len() + bodies.as_ref().map_or(0, String::len));
    let (files, series, others) = thread::scope(|scope| {
        let files = scope.spawn(|| data::files(analysis));
        let mut series = points::packed(analysis, &mut room);
        let others = bases::others(analysis, &mut room, &mut series);
        (files.join().unwrap_or_else(|panic| resume_unwind(panic)), series, others)
    });
    let data = data::render(analysis, files, &mut room);
    let mut scripts = vec![SCRIPT];
    scripts.extend(series.is_some().then_some(CHART_LIBRARY));
    scripts.extend(has_stacks.then_some(flame::SCRIPT));
    let style = style(series.is_some(), analysis.insert.is_some(), has_stacks);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::render(&style, &scripts));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("rqps {}", one_line(&run.rqps_version)));
                title { (one_line(&run.name)) " - rqps report" }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#rqps" { "Skip to the results" }
                (header(analysis, &others.choice))
                main { (main) (data) }
                footer {
                    p {
                        "Made by rqps " (one_line(&run.rqps_version)) " from run "
                        (label::outside(&run.id)) "."
                    }
                }
                // Base64 has no letter that ends a script or needs escaping.
                @if let Some(series) = &series {
                    script type="text/plain" #series { (PreEscaped(series)) }
                    script { (PreEscaped(CHART_LIBRARY)) }
                }
                @if let Some(bodies) = &bodies {
                    script type="text/plain" #bodies { (PreEscaped(bodies)) }
                }
                (others.parts)
                script { (PreEscaped(SCRIPT)) }
                @if has_stacks { script { (PreEscaped(flame::SCRIPT)) } }
            }
        }
    };
    let mut out = page.into_string();
    out.push('\n');
    out
}

/// The style of a page with charts that can be zoomed, with steps of the Insert Benchmark, with flame graphs.
fn style(has_charts: bool, has_insert: bool, has_stacks: bool) -> String {
    let charts = if has_charts { [CHART_STYLE, "\n"].concat() } else { String::new() };
    let insert = if has_insert { INSERT_STYLE } else { "" };
    let stacks = if has_stacks { flame::STYLE } else { "" };
    [charts.as_str(), STYLE, insert, stacks].concat()
}

/// The styles of all reports and histories, as policies name them.
pub(crate) fn all_styles() -> String {
    let mut hashes = vec![policy::hash(&history::style())];
    for has_charts in [false, true] {
        for has_insert in [false, true] {
            let styles = [false, true].map(|stacks| style(has_charts, has_insert, stacks));
            hashes.extend(styles.iter().map(|style| policy::hash(style)));
        }
    }
    hashes.join(" ")
}

/// The scripts of all reports, as policies name them.
pub(crate) fn all_scripts() -> String {
    [SCRIPT, CHART_LIBRARY, flame::SCRIPT].map(policy::hash).join(" ")
}

/// The verdict first, then the ways through the page.
fn header(analysis: &Analysis<'_>, choice: &Markup) -> Markup {
    let run = analysis.run;
    html! {
        header {
            (verdict::warned(analysis).placed())
            h1 {
                "rqps report: " (label::outside(&run.name))
                span.when { (number::utc(run.started_unix_ms)) }
            }
            (choice)
            (verdict::part(analysis).placed())
            nav aria-label="Sections" {
                a href="#charts" { "Charts" }
                a href="#rqps" { "Relative QPS" }
                @if !analysis.recalls.is_empty() { a href="#recall" { "QPS and recall" } }
                @if analysis.joined.is_some() { a href="#runs" { "Runs" } }
                a href="#systems" { "Systems" }
                @if analysis.insert.is_some() { a href="#insert" { "Insert Benchmark" } }
                a href="#steps" { "Steps" }
                a href="#reading" { "How to read it" }
                a href="#method" { "How it was measured" }
                a href="#missing" { "What was not measured" }
                a href="#data" { "Raw data" }
            }
        }
    }
}

/// Why candidates are slower or faster.
fn causes_part(analysis: &Analysis<'_>) -> BasePart {
    BasePart::new("causes", cause::of_run(analysis))
}

/// What was compared.
fn systems_part(analysis: &Analysis<'_>) -> BasePart {
    let markup = html! {
        (compare::render(analysis))
        (systems::render(analysis))
        (plans::summary(analysis))
        (insert::render(analysis))
    };
    BasePart::new("systems", markup)
}

/// What data took, and how steps have aged.
fn sizes_part(analysis: &Analysis<'_>) -> BasePart {
    BasePart::new("sizes", html! { (cause::ageing(analysis)) (size::render(analysis)) })
}

/// How it was measured.
fn method_part(analysis: &Analysis<'_>) -> BasePart {
    BasePart::new("method", method::render(analysis))
}

#[cfg(test)]
mod tests;
