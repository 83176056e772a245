//! All runs, with search, tags and the choice of systems to compare.

use maud::{Markup, html};
use rqps_model::RunStatus;
use rqps_store::{Brief, Error, Store, Verdicts};
use rqps_text::number::{count, long_duration, utc};
use rqps_text::words::one_line;

use super::shell;
use crate::asked::{Asked, query_of};
use crate::desk::Desk;
use crate::reply::Reply;
use crate::verdicts;

/// Runs on one page.
const ON_PAGE: usize = 200;

/// Shows the list.
pub(crate) fn show(desk: &Desk, asked: &Asked) -> Result<Reply, Error> {
    let store = desk.store()?;
    let all = match &store {
        Some(store) => store.list_briefly()?,
        None => Vec::new(),
    };
    let search = Search::of(asked);
    let found: Vec<&Brief> = all.iter().filter(|brief| search.fits(brief)).collect();
    let from = asked.query.get("from").parse::<usize>().unwrap_or(0).min(found.len());
    let shown = &found[from..found.len().min(from + ON_PAGE)];
    let held = store.as_ref().map_or_else(Vec::new, |store| held(store, shown));
    let verdicts_of =
        |brief: &Brief| store.as_ref()?.read_verdicts(brief, &desk.options.rqps_version);
    let content = html! {
        @if all.is_empty() {
            p { "There are no runs yet. Start one with " code { "rqps run PLAN.toml" } "." }
        } @else {
            (search_form(&search, &all))
            (under_way(&held))
            @if found.is_empty() { p { "No run has all of these words." } }
            @else { (table(shown, &held, &verdicts_of)) (pages(&search, from, found.len())) }
        }
    };
    let about = shell::About { title: "Runs", script: Some("list.js"), again: None };
    Ok(Reply::page(shell::page(desk, about, &content)))
}

/// What is looked for.
struct Search {
    text: String,
    words: Vec<String>,
    tag: String,
}

impl Search {
    fn of(asked: &Asked) -> Self {
        let text: String = asked.query.get("q").chars().take(200).collect();
        let words = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        Self { text, words, tag: asked.query.get("tag").to_owned() }
    }

    fn fits(&self, brief: &Brief) -> bool {
        let has_tag = self.tag.is_empty() || brief.tags.contains(&self.tag);
        let of_run = words_of(brief);
        has_tag && self.words.iter().all(|word| of_run.contains(word))
    }
}

/// What a run is found by.
fn words_of(brief: &Brief) -> String {
    let systems: Vec<&str> = brief.systems.iter().map(|label| label.as_str()).collect();
    let parts = [&brief.id, &brief.name, &brief.host];
    let status =
        if brief.imported.is_some() { "imported".to_owned() } else { brief.status.to_string() };
    let text = format!(
        "{} {} {} {status}",
        parts.map(String::as_str).join(" "),
        systems.join(" "),
        brief.tags.join(" ")
    );
    one_line(&text).to_lowercase()
}

/// The runs that a process works on.
fn held<'b>(store: &Store, shown: &[&'b Brief]) -> Vec<&'b Brief> {
    let is_held = |brief: &&&Brief| {
        brief.status == RunStatus::Running && store.is_held(&brief.id).unwrap_or(false)
    };
    shown.iter().filter(is_held).copied().collect()
}

fn search_form(search: &Search, all: &[Brief]) -> Markup {
    let mut tags: Vec<&str> = all.iter().flat_map(|b| &b.tags).map(String::as_str).collect();
    tags.sort_unstable();
    tags.dedup();
    html! {
        form.search method="get" action="/" role="search" {
            label for="q" { "Search" }
            input #q type="search" name="q" value=(search.text) autocomplete="off"
                placeholder="name, system, host, tag, status";
            @if !search.tag.is_empty() { input type="hidden" name="tag" value=(search.tag); }
            button type="submit" { "Search" }
            span #n-shown role="status" {}
        }
        @if !tags.is_empty() {
            p.tags {
                "Tags: "
                @if !search.tag.is_empty() { a href={ "/?" (query_of([("q", search.text.as_str())])) } { "any" } " " }
                @for tag in tags {
                    a.tag href={ "/?" (query_of([("tag", tag), ("q", &search.text)])) }
                        aria-current=[(tag == search.tag).then_some("true")] { bdi { (one_line(tag)) } } " "
                }
            }
        }
    }
}

fn under_way(held: &[&Brief]) -> Markup {
    html! {
        @for brief in held {
            p.under-way {
                span.badge { "under way" } " "
                a href={ "/runs/" (brief.id) "/live" } { "Follow " bdi { (one_line(&brief.name)) } }
                ", " (brief.n_done + brief.n_failed) " of " (brief.n_steps) " steps on systems are over"
            }
        }
    }
}

fn table(
    shown: &[&Brief],
    held: &[&Brief],
    verdicts_of: &impl Fn(&Brief) -> Option<Verdicts>,
) -> Markup {
    html! {
        form method="get" action="/compare" {
            p.choose {
                button type="submit" { "Compare" }
                " the ticked systems, of any runs. The first in the list is the base. "
                span #n-chosen role="status" {}
            }
            table.runs {
                thead { tr {
                    th scope="col" { "Run" } th scope="col" { "Systems" }
                    th scope="col" { "Verdicts" } th scope="col" { "Status" } th scope="col" { "Tags" }
                } }
                tbody { @for brief in shown {
                    (row(brief, held.contains(brief), verdicts_of(brief).as_ref()))
                } }
            }
        }
    }
}

fn row(brief: &Brief, is_held: bool, verdicts: Option<&Verdicts>) -> Markup {
    let took = brief.finished_unix_ms.map(|end| long_duration(end - brief.started_unix_ms));
    html! {
        tr data-words=(words_of(brief)) {
            th scope="row" {
                a href={ "/runs/" (brief.id) } { bdi { (one_line(&brief.name)) } }
                span.below {
                    time datetime=(utc(brief.started_unix_ms).replace(' ', "T").replace("TUTC", "Z")) {
                        (utc(brief.started_unix_ms))
                    }
                    " on " bdi { (one_line(&brief.host)) }
                }
            }
            td {
                ul.systems aria-label={ "Systems of " (one_line(&brief.name)) } {
                    @for (idx, label) in brief.systems.iter().enumerate() {
                        li { label {
                            input type="checkbox" name="s" value={ (brief.id) ":" (idx) };
                            " " bdi { (one_line(label.as_str())) }
                            @if idx == brief.base { " " span.badge { "base" } }
                        } }
                    }
                }
            }
            td.verdicts {
                @match verdicts {
                    Some(verdicts) => { (verdicts::lines(verdicts)) }
                    None if brief.imported.is_some() => { span.faint { "imported, without verdicts" } }
                    None if is_held => { span.faint { "under way" } }
                    None if brief.systems.len() > 1 && brief.n_done > 0 => { span.faint { "in its report" } }
                    None => { span.faint { "–" } }
                }
            }
            td {
                @if is_held { a href={ "/runs/" (brief.id) "/live" } { "under way" } }
                @else { (status(brief)) }
                @if let Some(took) = took { span.below { "in " (took) } }
                @if brief.n_failed > 0 { span.below { span.failed { (brief.n_failed) " failed" } } }
                @if brief.n_done + brief.n_failed < brief.n_steps {
                    span.below { (brief.n_done) " of " (brief.n_steps) " done" }
                }
            }
            td { @for tag in &brief.tags {
                a.tag href={ "/?" (query_of([("tag", tag.as_str())])) } { bdi { (one_line(tag)) } } " "
            } }
        }
    }
}

/// How a run that nobody works on stands.
pub(crate) fn status(brief: &Brief) -> &'static str {
    match brief.status {
        _ if brief.imported.is_some() => "imported",
        RunStatus::Finished => "finished",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Failed => "failed",
        RunStatus::Running => "ended unexpectedly",
    }
}

fn pages(search: &Search, from: usize, n: usize) -> Markup {
    let link = |from: usize| {
        let from = from.to_string();
        format!(
            "/?{}",
            query_of([("q", search.text.as_str()), ("tag", &search.tag), ("from", &from)])
        )
    };
    html! {
        p.pages {
            (count(n, "run"))
            @if n > ON_PAGE || from > 0 {
                ", " (from + 1) " to " (n.min(from + ON_PAGE)) " shown. "
                @if from > 0 { a href=(link(from.saturating_sub(ON_PAGE))) { "Later ones" } " " }
                @if from + ON_PAGE < n { a href=(link(from + ON_PAGE)) { "Earlier ones" } }
            }
        }
    }
}
