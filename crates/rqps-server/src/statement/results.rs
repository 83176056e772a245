//! Functions that stand among the tables of PostgreSQL: `FROM unnest(...) f`.
//!
//! Where the result of a function has no column `x`, PostgreSQL takes `f.x` for the call `x(f)`. That calls any function
//! of one argument, without a bracket behind its name.

use super::token::Tokens;

/// Functions that are called without brackets, all reserved words.
const WITHOUT_BRACKETS: &[&str] = &[
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "system_user",
    "user",
];

/// Functions whose results PostgreSQL names otherwise than they are written. Old versions do so to those without
/// brackets as well.
const OTHERWISE_NAMED: &[&str] = &["cast", "collation", "extract", "treat", "trim"];

/// Words before a bracket among tables that hold no arguments of a function.
const BEFORE_TABLES: &[&str] = &["from", "join", "lateral", "only", "using"];

/// What JSON functions call their columns; no function has such a name.
const OF_JSON: &[&str] = &["key", "value"];

/// The result of a function, by the name that it has in the statement.
#[derive(Debug)]
pub(super) struct FunctionResult {
    /// In lower case.
    name: String,
    /// As they are written.
    columns: Vec<String>,
}

impl FunctionResult {
    /// The result whose name stands at a position among tables, if it is one.
    pub(super) fn read(tokens: &Tokens, at: usize) -> Option<Self> {
        let name = tokens.name(at)?;
        let is_behind_as = tokens.word_before(at) == "as";
        let before = at.checked_sub(if is_behind_as { 2 } else { 1 })?;
        let columns = if let Some(function) = function_before(tokens, before) {
            if tokens.is(at + 1, '(') {
                names_in_bracket(tokens, at + 1)
            } else {
                columns_without_list(function, name)
            }
        } else if begins_table(tokens, at) && tokens.is(at + 1, '(') {
            columns_without_list(name, name)
        } else {
            return None;
        };
        Some(Self { name: name.to_ascii_lowercase(), columns })
    }

    /// Whether a column of this name would be taken for a call.
    pub(super) fn calls(&self, name: &str, column: &str) -> bool {
        let is_star = column.is_empty();
        self.name == name && !is_star && !self.columns.iter().any(|own| own == column)
    }
}

/// Whether the bracket at a position among tables holds arguments or columns, not tables.
pub(super) fn has_arguments(tokens: &Tokens, open: usize) -> bool {
    let before = open.checked_sub(1);
    before.is_some_and(|before| tokens.name(before).is_some())
        && !BEFORE_TABLES.contains(&tokens.word_before(open))
}

/// Whether a function that stands at a position among tables has another name there than it is written with.
pub(super) fn is_otherwise_named(tokens: &Tokens, at: usize) -> bool {
    let word = tokens.word(at);
    begins_table(tokens, at)
        && (WITHOUT_BRACKETS.contains(&word)
            || (tokens.is(at + 1, '(') && OTHERWISE_NAMED.contains(&word))
            || (word == "collation" && tokens.word(at + 1) == "for"))
}

/// The function whose call ends at a position.
fn function_before(tokens: &Tokens, end: usize) -> Option<&str> {
    let opens = |open: &usize| tokens.is(*open, '(') && tokens.after_bracket(*open) == end + 1;
    let open = (0..end).rev().find(opens).filter(|_| tokens.is(end, ')'))?;
    let before = open.checked_sub(1)?;
    let name = tokens.name(before)?;
    // ROWS FROM (f(...)).
    let is_rows = tokens.word(before) == "from" && tokens.word_before(before) == "rows";
    let is_of_tables = BEFORE_TABLES.contains(&tokens.word(before)) && !is_rows;
    // JSON_TABLE names its columns in its bracket, and its result is a row.
    (!is_of_tables && tokens.word(before) != "json_table").then_some(name)
}

/// Whether a table or a function begins at a position among tables.
fn begins_table(tokens: &Tokens, at: usize) -> bool {
    BEFORE_TABLES.contains(&tokens.word_before(at))
        || tokens.is_before(at, ',')
        || tokens.is_before(at, '(')
}

/// The columns of a result with a name alone: one with that name, except of JSON functions.
fn columns_without_list(function: &str, name: &str) -> Vec<String> {
    if function.starts_with("json") {
        OF_JSON.iter().map(|&column| column.to_owned()).collect()
    } else {
        vec![name.to_owned()]
    }
}

/// The first name of each part between commas.
fn names_in_bracket(tokens: &Tokens, open: usize) -> Vec<String> {
    if !tokens.is(open, '(') {
        return Vec::new();
    }
    let begins = |at: &usize| tokens.is_before(*at, '(') || tokens.is_before(*at, ',');
    let names = (open + 1..tokens.after_bracket(open)).filter(begins);
    names.filter_map(|at| tokens.name(at)).map(str::to_owned).collect()
}
