//! `rqps builds`: the servers that rqps built from source.

use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::{Context as _, Result};
use rqps_build::{StoredBuild, list, log_of, remove};
use rqps_text::number::{bytes, utc};
use serde_json::json;

use crate::Surroundings;
use crate::args::BuildsCommand;
use crate::output::{print, say, table};

/// Digits of a key that are shown.
const SHOWN: usize = 12;

/// Carries out `rqps builds ...`.
pub(crate) fn run(command: &BuildsCommand, around: &Surroundings) -> Result<()> {
    let cache = rqps_runner::places(&around.environment())?.cache;
    match command {
        BuildsCommand::List { json } => {
            let found = list(&cache);
            match (json, found.is_empty()) {
                (true, _) => print_json(&found),
                (false, true) => {
                    print("no builds: a system with repo and commit, or with source, is built\n")
                }
                (false, false) => {
                    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
                    print(&table(
                        &["key", "server", "commit", "built with", "size", "last used"],
                        &rows,
                    ))
                }
            }
        }
        BuildsCommand::Rm { keys, all } => {
            let found = if *all { list(&cache) } else { Vec::new() };
            for key in keys.iter().cloned().chain(found.into_iter().map(|build| build.key)) {
                let freed = remove(&cache, &key)?;
                say(&format!("removed {key}, {}\n", bytes(freed)))?;
            }
            Ok(())
        }
        BuildsCommand::Log { key } => print_log(&cache, key),
    }
}

fn print_log(cache: &Path, key: &str) -> Result<()> {
    let path = log_of(cache, key)?;
    let text = std::fs::read(&path).with_context(|| format!("read the log {}", path.display()))?;
    print(&String::from_utf8_lossy(&text))
}

fn row(build: &StoredBuild) -> Vec<String> {
    let key = build.key.chars().take(SHOWN).collect();
    let (size, used) = (bytes(build.bytes), utc(used_ms(build)));
    let Some(record) = &build.record else {
        return vec![key, "unfinished".to_owned(), String::new(), String::new(), size, used];
    };
    let commit = record.commit.as_ref().map_or("none", |commit| commit.short());
    let changed = if record.is_dirty { ", changed" } else { "" };
    let lto = if record.lto { " lto" } else { "" };
    vec![
        key,
        format!("{} {}", record.dbms.name(), record.version),
        format!("{commit}{changed}"),
        format!("{} {}{lto}", record.recipe, record.cflags),
        size,
        used,
    ]
}

fn used_ms(build: &StoredBuild) -> i64 {
    let since = build.used.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn print_json(found: &[StoredBuild]) -> Result<()> {
    let one = |build: &StoredBuild| {
        json!({
            "key": build.key, "bytes": build.bytes, "last_used_unix_ms": used_ms(build),
            "build": build.record,
        })
    };
    let all: Vec<serde_json::Value> = found.iter().map(one).collect();
    let text = serde_json::to_string_pretty(&all).context("write the list as JSON")?;
    print(&format!("{text}\n"))
}
