//! `rqps tables`: the store of filled tables.

use anyhow::{Context as _, Result};
use rqps_runner::stored_tables::{StoredDir, list, remove};
use rqps_text::number::{bytes, utc};
use serde_json::json;

use crate::Surroundings;
use crate::args::TablesCommand;
use crate::output::{print, say, table};

/// Carries out `rqps tables ...`.
pub(crate) fn run(command: &TablesCommand, around: &Surroundings) -> Result<()> {
    let environment = around.environment();
    let found = list(&environment);
    match command {
        TablesCommand::List { json: true } => print_json(&found),
        TablesCommand::List { json: false } if found.is_empty() => {
            print("no stored tables: a run with reuse_tables = true stores the tables it fills\n")
        }
        TablesCommand::List { json: false } => {
            let rows: Vec<Vec<String>> = found.iter().map(row).collect();
            print(&table(&["name", "tables", "size", "filled", "by run"], &rows))
        }
        TablesCommand::Rm { names, all } => {
            let all = found.into_iter().filter(|_| *all).map(|one| one.name);
            for name in names.iter().cloned().chain(all) {
                remove(&environment, &name)?;
                say(&format!("removed {name}\n"))?;
            }
            Ok(())
        }
    }
}

fn row(one: &StoredDir) -> Vec<String> {
    let Some(tables) = &one.tables else {
        let rest = ["incomplete", "", "", ""].map(str::to_owned);
        return [one.name.clone()].into_iter().chain(rest).collect();
    };
    let key = &tables.key;
    let on_disk = tables.sizes.last().and_then(|sizes| sizes.data_dir_bytes);
    vec![
        one.name.clone(),
        format!("{} of {} rows", key.tables, key.rows),
        bytes(on_disk.unwrap_or_else(|| tables.files.values().sum())),
        utc(tables.filled_unix_ms),
        tables.run.clone(),
    ]
}

fn print_json(found: &[StoredDir]) -> Result<()> {
    let all: Vec<serde_json::Value> = found
        .iter()
        .map(|one| {
            let dir = one.dir.display().to_string();
            json!({ "name": one.name, "directory": dir, "tables": one.tables })
        })
        .collect();
    let text = serde_json::to_string_pretty(&all).context("write the list as JSON")?;
    print(&format!("{text}\n"))
}
