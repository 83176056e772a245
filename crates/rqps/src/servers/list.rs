//! `rqps servers list`: the catalogue, and which of it this host can get.

use std::collections::BTreeMap;

use anyhow::Result;
use rqps_server::availability::{Answer, Availability, Place, ask_all, availability};
use rqps_server::{Catalogue, Entry, Places, Source, Watch, fetch};
use serde_json::{Value, json};

use crate::Surroundings;
use crate::output::{print, say, table};

/// Columns of a terminal that a line should not exceed.
const WIDTH: usize = 100;

/// What the places of sources said; nothing when they were not asked.
type Answers = Option<BTreeMap<Place, Answer>>;

/// Prints the catalogue; with `available`, after asking every source.
pub(super) fn run(available: bool, json: bool, around: &Surroundings) -> Result<()> {
    let places = rqps_runner::places(&around.environment())?;
    let answers = if available {
        let watch = Watch { stop: &around.interrupt, report: &mut |_| {} };
        Some(ask_all(&around.catalogue, &places.cache, &watch)?)
    } else {
        None
    };
    let entries = around.catalogue.servers();
    if json {
        let list: Vec<Value> =
            entries.iter().map(|entry| as_json(entry, &answers, &places)).collect();
        return print(&format!("{:#}\n", Value::Array(list)));
    }
    say(&as_text(&around.catalogue, &answers, &places))
}

fn as_json(entry: &Entry, answers: &Answers, places: &Places) -> Value {
    let sources: Vec<Value> = entry
        .sources
        .iter()
        .map(|source| {
            json!({
                "kind": source.kind(), "identity": source.identity(),
                "download_bytes": source.download_bytes(),
            })
        })
        .collect();
    let mut value = json!({
        "system": entry.selector(), "name": entry.name(), "dbms": entry.dbms,
        "version": entry.version, "build": entry.build, "packaged": entry.packaged,
        "compiled": entry.compiled,
        "engines": entry.engines, "arch": entry.arch, "tried": entry.tried, "own": entry.is_own(),
        "sources": sources, "libraries": entry.libraries,
        "download_bytes": download_bytes(entry), "unpacked_mb": entry.unpacked_mb,
        "cached": fetch::is_cached(entry, &places.cache),
    });
    if let Some(answers) = answers {
        value["available"] = match availability(entry, answers, &places.cache) {
            Availability::Here => json!({ "available": true, "from": "cache", "reason": "" }),
            Availability::From(kind) => json!({ "available": true, "from": kind, "reason": "" }),
            Availability::No(why) => json!({ "available": false, "from": "", "reason": why }),
        };
    }
    value
}

/// What the first source has to download; 0 where that is not known.
fn download_bytes(entry: &Entry) -> u64 {
    entry.sources.first().map_or(0, Source::download_bytes)
}

fn as_text(catalogue: &Catalogue, answers: &Answers, places: &Places) -> String {
    let mut rows = Vec::new();
    // Which row begins a new series.
    let mut begins = Vec::new();
    let mut last = None;
    for entry in catalogue.servers() {
        let series = (entry.dbms, entry.series());
        begins.push(last.as_ref().is_some_and(|last| *last != series));
        last = Some(series);
        rows.push(row(entry, answers, places));
    }
    let from = if answers.is_some() { "available" } else { "from" };
    let text = table(&["system", "here", "MB", from, "compiled"], &rows);
    let mut lines = text.lines();
    let mut shown: String = lines.next().map_or_else(String::new, |line| format!("{line}\n"));
    for (line, begins) in lines.zip(begins) {
        if begins {
            shown.push('\n');
        }
        shown.push_str(&cut(line));
        shown.push('\n');
    }
    if let Some(answers) = answers {
        shown.push('\n');
        let rows: Vec<Vec<String>> = answers
            .iter()
            .map(|(place, answer)| vec![place.to_string(), cut_to(&answer.to_string(), 76)])
            .collect();
        shown.push_str(&table(&["source", "says"], &rows));
    }
    shown
}

fn row(entry: &Entry, answers: &Answers, places: &Places) -> Vec<String> {
    let here = if fetch::is_cached(entry, &places.cache) { "yes" } else { "" };
    let megabytes = match download_bytes(entry) {
        0 => "?".to_owned(),
        bytes => (bytes.div_ceil(1_000_000)).to_string(),
    };
    let from = match answers {
        None => entry.sources.iter().map(Source::kind).collect::<Vec<_>>().join(", "),
        Some(answers) => match availability(entry, answers, &places.cache) {
            Availability::Here => "here".to_owned(),
            Availability::From(kind) => kind.to_owned(),
            Availability::No(_) => "no".to_owned(),
        },
    };
    let mut compiled = entry.build_words();
    if !entry.tried && !entry.is_own() {
        compiled.push_str(", not tried here");
    }
    if entry.shadows() {
        compiled.push_str(" (yours, in place of the built-in one)");
    } else if entry.is_own() {
        compiled.push_str(" (yours)");
    }
    vec![entry.selector(), here.to_owned(), megabytes, from, compiled]
}

fn cut(line: &str) -> String {
    cut_to(line, WIDTH)
}

/// The first line of a text, at most `width` characters of it.
fn cut_to(text: &str, width: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(width.saturating_sub(3)).collect();
    short.truncate(short.trim_end().len());
    short.push_str("...");
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(cut_to("abcdef", 6), "abcdef");
        assert_eq!(cut_to("abcdefg", 6), "abc...");
        assert_eq!(cut_to("one\ntwo", 6), "one");
    }
}
