//! A run's report, and its data for other programs.

use hyper::StatusCode;
use maud::{Markup, html};
use rqps_analysis::Analysis;
use rqps_model::Run;
use rqps_report::{Detail, TextOptions};
use rqps_stats::DEFAULT_BOUND;
use rqps_store::{Error, RunRef};
use rqps_text::words::one_line;

use super::overview;
use super::shell::with_links;
use crate::asked::Asked;
use crate::desk::Desk;
use crate::reply::Reply;

/// Data of a run that can be asked for.
struct Format {
    ending: &'static str,
    content_type: &'static str,
    render: fn(&Analysis<'_>) -> String,
}

const FORMATS: [Format; 4] = [
    Format {
        ending: ".csv",
        content_type: "text/csv; charset=utf-8",
        render: rqps_report::csv::render,
    },
    Format { ending: ".json", content_type: "application/json", render: rqps_report::json::render },
    Format { ending: ".txt", content_type: "text/plain; charset=utf-8", render: text },
    Format {
        ending: ".md",
        content_type: "text/plain; charset=utf-8",
        render: rqps_report::markdown::render,
    },
];

/// Text as in a file.
fn text(analysis: &Analysis<'_>) -> String {
    let options =
        TextOptions { colour: false, detail: Detail::Full, width: rqps_report::text::WIDTH };
    rqps_report::text::render(analysis, options)
}

/// Shows a run's report.
pub(crate) fn show(desk: &Desk, _asked: &Asked, id: &str) -> Result<Reply, Error> {
    let store = desk.store_of(id)?;
    let of = RunRef::Id(id.to_owned());
    let (run, profiles) = (store.select_run(&of)?, store.select_stack_profiles(&of)?);
    if run.steps.is_empty() {
        return overview::show(desk, id);
    }
    let analysis = Analysis::of(&run, DEFAULT_BOUND).with_profiles(&profiles);
    let page = rqps_html::render(&analysis);
    let is_held = store.is_held(id)?;
    Ok(Reply::whole_page(with_links(page, &links(&run, is_held))))
}

/// A run in a format for programs; `name` is its id with the format's ending.
pub(crate) fn data(desk: &Desk, asked: &Asked, name: &str) -> Result<Reply, Error> {
    let format =
        FORMATS.iter().find_map(|format| Some((name.strip_suffix(format.ending)?, format)));
    let in_path = asked.path.get(1).map(String::as_str);
    let Some((id, Format { content_type, render, .. })) =
        format.filter(|(id, _)| Some(*id) == in_path)
    else {
        return Ok(Reply::unknown());
    };
    let (store, of) = (desk.store_of(id)?, RunRef::Id(id.to_owned()));
    let (run, profiles) = (store.select_run(&of)?, store.select_stack_profiles(&of)?);
    if run.steps.is_empty() {
        return Ok(nothing());
    }
    let analysis = Analysis::of(&run, DEFAULT_BOUND).with_profiles(&profiles);
    // What browsers show as text they show; the rest they keep.
    let file = (!content_type.starts_with("text/plain")).then_some(name);
    Ok(Reply::data(content_type, file, render(&analysis)))
}

/// Whether a run has rates.
pub(crate) fn has_figures(run: &Run) -> bool {
    run.steps.iter().flat_map(|step| &step.systems).any(|system| !system.slices.is_empty())
}

/// Nothing to report: a run without steps, or systems without figures to compare. A run of which nothing is
/// measured yet has a report that says so, as on the command line.
pub(crate) fn nothing() -> Reply {
    Reply::problem(
        StatusCode::NOT_FOUND,
        "Nothing of this run is measured, so there is no report of it.",
    )
}

fn links(run: &Run, is_held: bool) -> Markup {
    html! {
        nav.pages aria-label="Pages" {
            a href="/" { "All runs" }
            @if is_held { a href={ "/runs/" (run.id) "/live" } { "Live view" } }
            a href={ "/runs/" (run.id) "/about" } { "About " bdi { (one_line(&run.id)) } }
            @for (ending, name) in [("csv", "CSV"), ("json", "JSON")] {
                a href={ "/runs/" (run.id) "/data/" (run.id) "." (ending) } { (name) }
            }
        }
    }
}
