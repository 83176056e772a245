//! Reports as one HTML file that opens offline: no external reference, one small script, own style.
//!
//! Every text passes maud's escaping; only this file's own style and script do not. The page's
//! content security policy forbids any request and any script but ours.

mod cause;
mod chart;
mod compare;
pub mod history;
mod insert;
mod label;
mod method;
mod metrics;
mod plans;
mod ratios;
mod scale;
pub(crate) use scale::Scale;
mod series;
mod size;
pub(crate) mod stacks;
mod step;
mod summary;
mod systems;
mod verdict;

use maud::{DOCTYPE, PreEscaped, html};
use rqps_stacks::flame;

use crate::analysis::Analysis;
use crate::number;
use crate::words::one_line;

/// The page's style.
pub(crate) const STYLE: &str = include_str!("html/style.css");

/// What runs with steps of the Insert Benchmark have on top of it.
const INSERT_STYLE: &str = include_str!("html/insert.css");

/// The page's script: opens the step that a link points to, and all steps at once.
const SCRIPT: &str = include_str!("html/script.js");

/// SHA-256 of the script of flame graphs, likewise.
pub(crate) const FLAME_SCRIPT_HASH: &str = "sha256-W2iSwQrW+4FWruwVZh9xjxMYp9mE6MWEJ1jEqXbsNzI=";

/// SHA-256 of [`SCRIPT`] in base64, for the content security policy; a test keeps it true.
const SCRIPT_HASH: &str = "sha256-Tap0QBUC3K8hHf04DjmdIux1MfOw0vDRLyfB012VKh0=";

/// The report as a page.
#[must_use]
pub fn render(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    let has_stacks = !analysis.stacks.is_empty();
    let flame = if has_stacks { format!(" '{FLAME_SCRIPT_HASH}'") } else { String::new() };
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'{flame}; \
         base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("rqps {}", one_line(&run.rqps_version)));
                title { (one_line(&run.name)) " - rqps report" }
                style {
                    (PreEscaped(STYLE))
                    @if analysis.insert.is_some() { (PreEscaped(INSERT_STYLE)) }
                    @if has_stacks { (PreEscaped(flame::STYLE)) }
                }
            }
            body {
                a.skip href="#rqps" { "Skip to the results" }
                header {
                    (verdict::severe(analysis))
                    h1 {
                        "rqps report: " (label::outside(&run.name))
                        span.when { (number::utc(run.started_unix_ms)) }
                    }
                    (verdict::render(analysis))
                    nav aria-label="Sections" {
                        @if analysis.joined.is_some() { a href="#runs" { "Runs" } }
                        a href="#systems" { "Systems" }
                        @if analysis.insert.is_some() { a href="#insert" { "Insert Benchmark" } }
                        a href="#rqps" { "Relative QPS" }
                        a href="#charts" { "Charts" }
                        a href="#steps" { "Steps" }
                        a href="#reading" { "How to read it" }
                        a href="#method" { "How it was measured" }
                        a href="#missing" { "What was not measured" }
                    }
                }
                main {
                    (compare::render(analysis))
                    (systems::render(analysis))
                    (plans::summary(analysis))
                    (insert::render(analysis))
                    (summary::render(analysis))
                    (cause::ageing(analysis))
                    (size::render(analysis))
                    (chart::render(analysis))
                    (step::render_all(analysis))
                    (method::render(analysis))
                }
                footer {
                    p {
                        "Made by rqps " (one_line(&run.rqps_version)) " from run "
                        (label::outside(&run.id))
                        ". All figures as data: "
                        code { (data_command(analysis)) }
                        " or " code { "json" } "."
                    }
                }
                script { (PreEscaped(SCRIPT)) }
                @if has_stacks { script { (PreEscaped(flame::SCRIPT)) } }
            }
        }
    };
    let mut out = page.into_string();
    out.push('\n');
    out
}

/// The command that writes the same as CSV.
fn data_command(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    if analysis.joined.is_none() {
        return format!("rqps report {} --format csv", one_line(&run.id));
    }
    let ids = run.id.replace('+', " ");
    let base = one_line(analysis.base_label());
    format!("rqps compare {} --base {base} --format csv", one_line(&ids))
}

#[cfg(test)]
mod tests;
