//! One step over versions or dates, with its changes.

use std::collections::BTreeSet;

use hyper::StatusCode;
use maud::{Markup, html};
use rqps_analysis::history::{Because, Choice, History, HistoryError, LeftOut, Order};
use rqps_model::{Run, RunSystem, StepInfo, StepKind};
use rqps_report::history::words;
use rqps_store::{Brief, Error, RunRef, Store};
use rqps_text::number::utc;
use rqps_text::words::one_line;

use super::shell;
use crate::asked::{Asked, query_of};
use crate::desk::Desk;
use crate::reply::Reply;

/// Runs that a history looks at, the latest ones.
const MOST_RUNS: usize = 400;

/// Excluded results whose reasons are said where nothing is left.
const MOST_REASONS: usize = 10;

/// Runs whose steps the first page lists.
const LATEST_RUNS: usize = 10;

/// Shows the history of the step that is asked for, else the form to ask for one.
pub(crate) fn show(desk: &Desk, asked: &Asked) -> Result<Reply, Error> {
    let Some(store) = desk.store()? else { return Ok(form(desk, &[], &BTreeSet::new(), &[])) };
    let wanted = asked.query.get("step");
    if wanted.is_empty() {
        let steps = store.list_steps()?;
        let briefs = store.list_briefly()?;
        let recent = recent(&store, &briefs)?;
        let labels = briefs.into_iter().flat_map(|brief| brief.systems).map(|label| label.0);
        return Ok(form(desk, &steps, &labels.collect(), &recent));
    }
    let system = asked.query.get("system");
    let Selection { runs, excluded } = select(&store, wanted)?;
    let takes = |one: &RunSystem| system.is_empty() || one.spec.label.as_str() == system;
    let choice = Choice {
        order: match asked.query.get("by") {
            "version" => Some(Order::Version),
            "time" => Some(Order::Time),
            _ => None,
        },
        all_hosts: asked.query.get("hosts") == "all",
        step: &|step| step.name == wanted,
        system: &takes,
    };
    match History::of(runs, choice) {
        Ok(history) => {
            let page = rqps_html::history::render(&history);
            Ok(Reply::whole_page(shell::with_links(page, &above(asked, wanted, &excluded))))
        }
        Err(HistoryError::Nothing { left_out, .. }) => {
            let words =
                "No run has a result of such a step and system that can be compared.".to_owned();
            let of_step =
                left_out.into_iter().filter(|one| one.because != Because::NothingFinished);
            let of_step: Vec<LeftOut> = of_step.collect();
            // A step that was measured is there, also where no run of it counts.
            let status = if of_step.is_empty() { StatusCode::NOT_FOUND } else { StatusCode::OK };
            let why = words::left_out(&of_step).into_iter().map(|why| format!("Excluded: {why}."));
            let why: Vec<String> = why.take(MOST_REASONS).chain(excluded).collect();
            Ok(Reply::problem(status, &[vec![words], why].concat().join(" ")))
        }
    }
}

/// Runs with one step of each, and why others are not among them.
#[derive(Default)]
struct Selection {
    runs: Vec<Run>,
    excluded: Vec<String>,
}

/// The latest runs as far as they can be read: of many runs one is not worth the others.
fn select(store: &Store, step: &str) -> Result<Selection, Error> {
    let mut selection = Selection::default();
    for brief in store.list_briefly()?.iter().take(MOST_RUNS) {
        match store.select_steps_of_run(&brief.id, &|info| info.name == step) {
            Ok(run) => selection.runs.push(run),
            Err(Error::Sql { source, .. }) => {
                let id = &brief.id;
                selection.excluded.push(format!("Excluded: run {id} cannot be read ({source})."));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(selection)
}

/// A step of the latest runs.
struct Recent {
    name: String,
    /// When the latest run with this step began, milliseconds since 1970, and its name.
    started_unix_ms: i64,
    run: String,
    n_runs: usize,
}

/// The steps of the latest runs, those of the latest first.
fn recent(store: &Store, briefs: &[Brief]) -> Result<Vec<Recent>, Error> {
    let mut steps: Vec<Recent> = Vec::new();
    for brief in briefs.iter().take(LATEST_RUNS) {
        let outline = match store.select_outline(&RunRef::Id(brief.id.clone())) {
            Ok(outline) => outline,
            // Of many runs one is not worth the others.
            Err(Error::Sql { .. }) => continue,
            Err(error) => return Err(error),
        };
        let measured = outline.steps.iter().filter(|step| {
            step.start == 0
                && step.info.kind != StepKind::WarmUp
                && step.n_slices.iter().any(|&n| n > 0)
        });
        let names: BTreeSet<&str> = measured.clone().map(|step| step.info.name.as_str()).collect();
        for step in &mut steps {
            step.n_runs += usize::from(names.contains(step.name.as_str()));
        }
        for step in measured {
            if !steps.iter().any(|known| known.name == step.info.name) {
                steps.push(Recent {
                    name: step.info.name.clone(),
                    started_unix_ms: brief.started_unix_ms,
                    run: brief.name.clone(),
                    n_runs: 1,
                });
            }
        }
    }
    Ok(steps)
}

/// The steps of the latest runs with links to their histories.
fn recent_steps(recent: &[Recent]) -> Markup {
    html! {
        h2 #recent-title { "Steps of the latest runs" }
        div.scroll tabindex="0" role="region" aria-labelledby="recent-title" {
            table.words {
                thead { tr {
                    th scope="col" { "Step" } th scope="col" { "Order" }
                    th scope="col" { "Latest run" } th.num scope="col" { "Runs, of the latest 10" }
                } }
                tbody { @for step in recent {
                    @let link = |by: &str| {
                        format!("/history?{}", query_of([("step", step.name.as_str()), ("by", by)]))
                    };
                    tr {
                        th scope="row" { a href=(link("")) { bdi { (one_line(&step.name)) } } }
                        td.orders { a href=(link("version")) { "by version" } " " a href=(link("time")) { "by time" } }
                        td { bdi { (one_line(&step.run)) } span.below { (utc(step.started_unix_ms)) } }
                        td.num { (step.n_runs) }
                    }
                } }
            }
        }
    }
}

fn form(desk: &Desk, steps: &[StepInfo], labels: &BTreeSet<String>, recent: &[Recent]) -> Reply {
    let is_measured = |step: &&StepInfo| !matches!(step.kind, StepKind::WarmUp);
    let steps: Vec<&StepInfo> = steps.iter().filter(is_measured).collect();
    let content = html! {
        @if steps.is_empty() {
            p { "There are no runs yet. Start one with " code { "rqps run PLAN.toml" } "." }
        } @else {
            p { "The rate of a step over versions of a server or over time, and where it changes." }
            @if !recent.is_empty() {
                (recent_steps(recent))
                h2 { "Another step, or some systems" }
            }
            form.ask method="get" action="/history" {
                p {
                    label for="step" { "Step" }
                    select #step name="step" required {
                        @for step in steps { option value=(step.name) { (one_line(&step.name)) } }
                    }
                }
                p {
                    label for="system" { "Systems" }
                    select #system name="system" {
                        option value="" { "all" }
                        @for label in labels { option value=(label) { (one_line(label)) } }
                    }
                }
                p {
                    label for="by" { "Order" }
                    select #by name="by" {
                        option value="" { "by version where there are several" }
                        option value="version" { "by version" }
                        option value="time" { "by the start of the run" }
                    }
                }
                p { label { input type="checkbox" name="hosts" value="all"; " Runs of other hosts, too" } }
                p { button type="submit" { "Show" } }
            }
        }
    };
    let about = shell::About { title: "History of a step", script: None, again: None };
    Reply::page(shell::page(desk, about, &content))
}

/// Links to other pages, and what the history lacks.
fn above(asked: &Asked, step: &str, excluded: &[String]) -> Markup {
    let by = |by: &'static str| {
        let pairs = [
            ("step", step),
            ("system", asked.query.get("system")),
            ("by", by),
            ("hosts", asked.query.get("hosts")),
        ];
        format!("/history?{}", query_of(pairs))
    };
    html! {
        nav.pages aria-label="Pages" {
            a href="/" { "All runs" }
            a href="/history" { "Another step" }
            a href=(by("version")) { "By version" }
            a href=(by("time")) { "By time" }
        }
        @for sentence in excluded { p role="alert" { (one_line(sentence)) } }
    }
}
