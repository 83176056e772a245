//! The kinds of statements that are sent to a server of rqps.

use rqps_model::Dbms;

use super::token::Tokens;

/// First words of statements, and what must follow where not everything may.
const ALLOWED: &[(&str, &[&str])] = &[
    ("select", &[]),
    ("insert", &[]),
    ("update", &[]),
    ("delete", &[]),
    ("replace", &[]),
    ("merge", &["into"]),
    ("with", &[]),
    ("values", &[]),
    ("explain", &[]),
    ("begin", &["", "work", "transaction"]),
    ("start", &["transaction"]),
    ("commit", &["", "work", "transaction"]),
    ("rollback", &["", "work", "transaction"]),
    ("set", &[]),
    ("create", CREATED),
    ("alter", DEFINED),
    ("drop", DEFINED),
    ("rename", &["table"]),
    ("truncate", &[]),
    ("analyze", &[]),
    ("optimize", &[]),
    ("vacuum", &[]),
    ("reindex", &["table", "index"]),
    ("cluster", &[]),
    ("check", &["table"]),
    ("checkpoint", &[""]),
    ("comment", &["on"]),
    ("refresh", &["materialized"]),
];

/// What may be altered and dropped.
const DEFINED: &[&str] =
    &["table", "temporary", "index", "view", "materialized", "sequence", "statistics"];

/// What may be made.
const CREATED: &[&str] = &[
    "table",
    "temporary",
    "temp",
    "unlogged",
    "index",
    "unique",
    "fulltext",
    "spatial",
    "view",
    "materialized",
    "sequence",
    "statistics",
];

/// What COMMENT ON may be about.
const COMMENTED: &[&str] =
    &["table", "column", "index", "view", "materialized", "sequence", "statistics"];

/// First words of statements that only read, unless one of [`WRITING`] is in them.
const READING: &[&str] = &["select", "values", "explain", "with"];

/// Words of statements that write.
const WRITING: &[&str] = &["insert", "update", "delete", "merge", "replace", "into", "truncate"];

/// Refuses statements whose first words are on no list, and writes to the catalog of PostgreSQL.
pub(super) fn check(dbms: Dbms, tokens: &Tokens) -> Result<(), String> {
    let first = tokens.word(0);
    let Some((_, then)) = ALLOWED.iter().find(|(allowed, _)| *allowed == first) else {
        return Err(format!(
            "it begins with {first:?}, and statements on the benchmark's tables do not"
        ));
    };
    // CREATE OR REPLACE; REINDEX (VERBOSE).
    let kind = match tokens.word(1) {
        "or" => 3,
        _ if tokens.is(1, '(') => tokens.after_bracket(1),
        _ => 1,
    };
    let is_known = then.is_empty() || then.contains(&tokens.word(kind));
    let object = tokens.word(kind + 1);
    let is_narrow = match (first, tokens.word(kind)) {
        ("comment", _) => COMMENTED.contains(&object),
        // Not CREATE SPATIAL REFERENCE SYSTEM.
        (_, "unique" | "fulltext" | "spatial") => object == "index",
        _ => true,
    };
    if !is_known || !is_narrow {
        let words: Vec<&str> = (0..kind + 2).map(|at| tokens.word(at)).collect();
        let words = words.join(" ").to_uppercase();
        return Err(format!("{} reaches beyond the tables of the benchmark", words.trim_end()));
    }
    let writes =
        !READING.contains(&first) || tokens.words().any(|(_, word)| WRITING.contains(&word));
    let is_catalog = |at: usize| {
        let name = tokens.name(at).unwrap_or_default();
        name.to_ascii_lowercase().starts_with("pg_") && !tokens.is(at + 1, '(')
    };
    if dbms.is_postgres_family() && writes && (0..tokens.len()).any(is_catalog) {
        return Err("it may change the catalog".to_owned());
    }
    Ok(())
}
