//! What a run is made of: facts, tags and note, steps; links to its report, data and live view.

use maud::{Markup, html};
use rqps_model::Schedule;
use rqps_report::command;
use rqps_store::{Error, Outline, RunRef};
use rqps_text::number::{long_duration, utc};
use rqps_text::words::one_line;

use super::{list, shell};
use crate::asked::query_of;
use crate::desk::Desk;
use crate::live::outcome_of;
use crate::reply::Reply;

/// Shows a run.
pub(crate) fn show(desk: &Desk, id: &str) -> Result<Reply, Error> {
    let store = desk.store_of(id)?;
    let outline = store.select_outline(&RunRef::Id(id.to_owned()))?;
    let (is_held, note) = (store.is_held(id)?, store.select_note(id)?);
    let note = note.unwrap_or_default();
    let content = html! {
        (links(&outline, is_held))
        (facts(&outline, is_held))
        (tags_and_note(&outline.brief.tags, &note))
        (steps(&outline))
    };
    let about = shell::About { title: &outline.brief.name, script: None, again: None };
    Ok(Reply::page(shell::page(desk, about, &content)))
}

fn links(outline: &Outline, is_held: bool) -> Markup {
    let id = &outline.brief.id;
    html! {
        ul.links {
            @if is_held { li { a href={ "/runs/" (id) "/live" } { "Live view" } ": it is under way" } }
            @if outline.has_report() {
                li { a href={ "/runs/" (id) } { "Report" } }
                li {
                    "Data: "
                    @for (ending, name) in [("csv", "CSV"), ("json", "JSON"), ("txt", "text"), ("md", "Markdown")] {
                        a href={ "/runs/" (id) "/data/" (id) "." (ending) } { (name) } " "
                    }
                }
            } @else if !is_held { li { "There is no report, as it has no steps." } }
        }
    }
}

fn facts(outline: &Outline, is_held: bool) -> Markup {
    let brief = &outline.brief;
    html! {
        dl.facts {
            div { dt { "Run" } dd { bdi { (brief.id) } } }
            div { dt { "Status" } dd { @if is_held { "under way" } @else { (list::status(brief)) } } }
            div { dt { "Started" } dd {
                (utc(brief.started_unix_ms))
                @if let Some(end) = brief.finished_unix_ms { ", for " (long_duration(end - brief.started_unix_ms)) }
            } }
            div { dt { "Host" } dd { bdi { (one_line(&brief.host)) } } }
            div { dt { "Schedule" } dd { @match outline.schedule {
                Schedule::Interleaved { .. } => { "interleaved" }
                Schedule::Sequential { .. } => { "one system after the other" }
            } } }
            div { dt { "Command" } dd { code { bdi { (one_line(&command::line(&outline.command_line))) } } } }
            div { dt { "Systems" } dd { ul.plain {
                @for (idx, (label, version)) in brief.systems.iter().zip(&outline.versions).enumerate() {
                    li {
                        bdi { (one_line(label.as_str())) }
                        @if idx == brief.base { " " span.badge { "base" } }
                        @if !version.is_empty() { span.below { bdi { (one_line(version)) } } }
                    }
                }
            } } }
        }
    }
}

fn tags_and_note(tags: &[String], note: &str) -> Markup {
    html! {
        section aria-labelledby="remarks-title" {
            h2 #remarks-title { "Tags and note" }
            @if tags.is_empty() { p.hint { "It has no tags." } }
            @else { ul.tags {
                @for tag in tags { li {
                    a.tag href={ "/?" (query_of([("tag", tag.as_str())])) } { bdi { (one_line(tag)) } }
                } }
            } }
            @for line in note.lines() { p { bdi { (one_line(line)) } } }
        }
    }
}

fn steps(outline: &Outline) -> Markup {
    html! {
        section aria-labelledby="steps-title" {
            h2 #steps-title { "Steps" }
            div.scroll tabindex="0" role="region" aria-labelledby="steps-title" {
                table.words {
                    thead { tr {
                        th scope="col" { "Step" } th.num scope="col" { "Clients" }
                        @for label in &outline.brief.systems { th scope="col" { bdi { (one_line(label.as_str())) } } }
                    } }
                    tbody { @for step in &outline.steps {
                        tr {
                            th scope="row" {
                                a href={ "/history?" (query_of([("step", step.info.name.as_str())])) } {
                                    bdi { (one_line(&step.info.name)) }
                                }
                            }
                            td.num { (step.clients) }
                            @for (outcome, n) in step.outcomes.iter().zip(&step.n_slices) {
                                td { (outcome_of(outcome, *n)) }
                            }
                        }
                    } }
                }
            }
        }
    }
}
