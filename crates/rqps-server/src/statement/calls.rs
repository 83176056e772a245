//! Functions that statements call: those of a list alone.
//!
//! A name before a bracket is a call, unless its position in the statement says that it is a keyword, or the name of a
//! table, an index or a column.

use rqps_model::Dbms;

use super::token::{Token, Tokens};
use super::{OF_ROWS, Place, words_of};

/// The functions that may be called, on any server and on those of rqps.
const FUNCTIONS: &str = include_str!("functions.txt");
const FUNCTIONS_OWN: &str = include_str!("functions_own.txt");

/// Words before a bracket that are no function.
const KEYWORDS: &str = include_str!("keywords.txt");

/// Words before a name that a bracket follows, where the name is a table's or an alias.
const BEFORE_NAMES: &[&str] = &["into", "as", "with", "recursive", "insert", "replace", "ignore"];

/// The same in definitions, also of an index or a constraint.
const BEFORE_DEFINED: &[&str] = &[
    "table",
    "exists",
    "references",
    "key",
    "index",
    "unique",
    "fulltext",
    "spatial",
    "view",
    "constraint",
    "statistics",
    "partition",
];

/// Words before the columns of an index, or before its name.
const BEFORE_COLUMNS: &[&str] = &["key", "index", "unique"];

/// Access methods of indexes, which stand before a bracket after USING.
const ACCESS_METHODS: &[&str] =
    &["btree", "hash", "gist", "gin", "brin", "spgist", "rtree", "hnsw", "ivfflat"];

/// Refuses calls of functions that are on no list.
pub(super) fn check(dbms: Dbms, tokens: &Tokens, place: Place<'_>) -> Result<(), String> {
    let statement = Statement { dbms, tokens, columns_of_index: columns_of_index(tokens) };
    for at in (0..tokens.len()).filter(|at| tokens.is(at + 1, '(')) {
        let Some(name) = tokens.name(at) else { continue };
        let name = name.to_ascii_lowercase();
        let is_known = words_of(FUNCTIONS).any(|known| known == name)
            || (place.is_own() && words_of(FUNCTIONS_OWN).any(|known| known == name));
        if !is_known && !statement.is_name(at, &name) {
            return Err(format!("{name}() is not among the functions that statements may call"));
        }
    }
    Ok(())
}

/// The position of the bracket with the columns in `CREATE [UNIQUE] INDEX [CONCURRENTLY] [IF NOT EXISTS] [NAME]
/// [USING METHOD] ON [ONLY] TABLE [USING METHOD] (`.
pub(super) fn columns_of_index(tokens: &Tokens) -> Option<usize> {
    let mut at = 1;
    let skip = |at: &mut usize, words: &[&str]| {
        let is_there = words.iter().enumerate().all(|(nth, word)| tokens.word(*at + nth) == *word);
        *at += if is_there { words.len() } else { 0 };
        is_there
    };
    if tokens.word(0) != "create" {
        return None;
    }
    for kind in ["unique", "fulltext", "spatial"] {
        if skip(&mut at, &[kind]) {
            break;
        }
    }
    if !skip(&mut at, &["index"]) {
        return None;
    }
    skip(&mut at, &["concurrently"]);
    skip(&mut at, &["if", "not", "exists"]);
    if !matches!(tokens.word(at), "on" | "using") {
        tokens.name(at)?;
        at += 1;
    }
    if skip(&mut at, &["using"]) {
        at += 1;
    }
    if !skip(&mut at, &["on"]) {
        return None;
    }
    skip(&mut at, &["only"]);
    tokens.name(at)?;
    // A schema may stand before the table's name.
    at += if tokens.is(at + 1, '.') { 3 } else { 1 };
    if skip(&mut at, &["using"]) {
        at += 1;
    }
    tokens.is(at, '(').then_some(at)
}

struct Statement<'a> {
    dbms: Dbms,
    tokens: &'a Tokens,
    columns_of_index: Option<usize>,
}

impl Statement<'_> {
    /// Whether what stands before the bracket at `at + 1` is no function.
    fn is_name(&self, at: usize, name: &str) -> bool {
        let (first, before) = (self.tokens.word(0), self.tokens.word_before(at));
        let is_bare = matches!(self.tokens.get(at), Some(Token::Word(_)));
        let is_definition = !OF_ROWS.contains(&first);
        BEFORE_NAMES.contains(&before)
            || (is_definition && BEFORE_DEFINED.contains(&before))
            || (is_bare && words_of(KEYWORDS).any(|keyword| keyword == name))
            || (before == "using" && ACCESS_METHODS.contains(&name))
            || self.columns_of_index == Some(at + 1)
            || if self.dbms.is_postgres_family() {
                // VACUUM t (a); TABLESAMPLE SYSTEM (10).
                matches!(first, "vacuum" | "analyze") || before == "tablesample"
            } else {
                is_definition && self.is_prefix(at)
            }
    }

    /// Whether it is a column with a length, as in `KEY k (c(10))`. An expression has brackets around it there.
    fn is_prefix(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let has_length = tokens.get(at + 2) == Some(&Token::Number) && tokens.is(at + 3, ')');
        let is_of_list = tokens.is_before(at, '(') || tokens.is_before(at, ',');
        has_length && is_of_list && self.opening_of(at).is_some_and(|open| self.has_columns(open))
    }

    /// The bracket around a position.
    fn opening_of(&self, at: usize) -> Option<usize> {
        (0..at)
            .rev()
            .find(|&open| self.tokens.is(open, '(') && self.tokens.after_bracket(open) > at)
    }

    /// Whether the columns of an index stand in a bracket.
    fn has_columns(&self, open: usize) -> bool {
        let before = |n: usize| open.checked_sub(n).map_or("", |at| self.tokens.word(at));
        let is_behind_name = open.checked_sub(1).is_some_and(|at| self.tokens.name(at).is_some());
        self.columns_of_index == Some(open)
            || BEFORE_COLUMNS.contains(&before(1))
            || (is_behind_name && BEFORE_COLUMNS.contains(&before(2)))
    }
}
