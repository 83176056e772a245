//! Statements of a plan or a suite: those that can reach the benchmark's tables alone.
//!
//! Lists say what is allowed, statements and functions alike, so that what nobody thought of is refused. A qualified
//! name is allowed where its first part is rqps's schema, or a table or alias that the statement itself introduces.

mod token;
mod words;

use std::collections::BTreeSet;

use rqps_model::Dbms;

use crate::options::check_session_setting;
use crate::{Error, Refusal};
use token::{Token, tokens};
use words::{
    ACCESS_METHODS, AFTER_TABLES, ALLOWED, ALLOWED_ON_OWN, BEFORE_BRACKETS, BEFORE_NAMES,
    BEFORE_OTHER_UPDATE, BEFORE_TABLES, BEFORE_TABLES_OR_CALLS, COMMENTED, ENGINES, NEEDS_TABLE,
    QUERIES, READING, REFUSED, WRITING,
};

/// The functions that may be called; a line with # is a comment.
const FUNCTIONS: &str = include_str!("statement/functions.txt");

/// Where a statement is to be sent.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A server of rqps, in this schema.
    Own(&'a str),
    /// Somebody else's server, not entered yet.
    Guest,
    /// Somebody else's server.
    Entered {
        /// The schema of rqps.
        schema: &'a str,
        /// The names of all others.
        others: &'a [String],
    },
}

impl<'a> Place<'a> {
    fn schema(self) -> Option<&'a str> {
        match self {
            Self::Own(schema) | Self::Entered { schema, .. } => Some(schema),
            Self::Guest => None,
        }
    }

    fn is_own(self) -> bool {
        matches!(self, Self::Own(_))
    }

    /// Whether a name is another schema's on the server.
    fn is_other_schema(self, name: &str) -> bool {
        let Self::Entered { others, .. } = self else { return false };
        others.iter().any(|other| other.eq_ignore_ascii_case(name))
    }
}

/// Refuses a statement for somebody else's server that could reach beyond the schema of rqps.
///
/// # Errors
/// [`Refusal::NotForGuests`].
pub fn check(dbms: Dbms, sql: &str, place: Place<'_>) -> Result<(), Error> {
    judge(dbms, sql, place).map_err(|why| Refusal::NotForGuests { sql: sql.to_owned(), why }.into())
}

/// Why a statement could reach further than it may.
pub(crate) fn judge(dbms: Dbms, sql: &str, place: Place<'_>) -> Result<(), String> {
    let tokens = tokens(dbms, sql)?;
    if let Some(at) = tokens.iter().position(|token| *token == Token::Semicolon)
        && at + 1 < tokens.len()
    {
        return Err("it is more than one statement; write each as a text of its own".to_owned());
    }
    let tokens: Vec<Token> =
        tokens.into_iter().filter(|token| *token != Token::Semicolon).collect();
    let first = check_kind(&tokens, place)?;
    if first == "set" {
        return check_session_setting(dbms, sql);
    }
    if let Some(engine) =
        tokens.iter().enumerate().find_map(|(at, _)| foreign_engine(&tokens[at..]))
    {
        return Err(format!("engine {engine} may read and write elsewhere"));
    }
    check_words(dbms, &tokens, &first)?;
    if let Some(name) = (0..tokens.len()).find_map(|at| unknown_call(dbms, &tokens, at, &first)) {
        return Err(format!("{name}() is not among the functions that statements may call"));
    }
    check_schemas(&tokens, place)?;
    check_names(&tokens, &first, place.schema())
}

/// The statement's first word, where it and what follows are on the list.
fn check_kind(tokens: &[Token], place: Place<'_>) -> Result<String, String> {
    let word = |at: usize| tokens.get(at).and_then(Token::word).unwrap_or_default();
    let first = word(0);
    if place.is_own() && ALLOWED_ON_OWN.contains(&first.as_str()) {
        return Ok(first);
    }
    let Some((_, then)) = ALLOWED.iter().find(|(allowed, _)| *allowed == first) else {
        return Err(format!(
            "it begins with {first:?}, and statements on the benchmark's tables do not"
        ));
    };
    // CREATE OR REPLACE; REINDEX (VERBOSE).
    let kind = match tokens.get(1) {
        Some(Token::Open) => after_bracket(tokens, 1),
        Some(_) if word(1) == "or" => 3,
        _ => 1,
    };
    let second = word(kind);
    let is_known = then.is_empty() || then.contains(&second.as_str());
    let is_of_table = first != "comment" || COMMENTED.contains(&word(kind + 1).as_str());
    if !is_known || !is_of_table {
        let words: Vec<String> = tokens.iter().take(kind + 2).filter_map(Token::word).collect();
        let words = words.join(" ").to_uppercase();
        return Err(format!("{words} reaches beyond the tables of the benchmark"));
    }
    let named = tokens.get(kind..).unwrap_or_default();
    if !place.is_own() && NEEDS_TABLE.contains(&first.as_str()) && !named.iter().any(names_table) {
        return Err(format!("{} without a table goes through all tables", first.to_uppercase()));
    }
    Ok(first)
}

/// The place behind the bracket that opens at `at`.
fn after_bracket(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}

/// Refuses words that reach further wherever they stand, and writes to the catalog.
fn check_words(dbms: Dbms, tokens: &[Token], first: &str) -> Result<(), String> {
    let refused = |(at, token): (usize, &Token)| {
        let name = token.word()?;
        let is_column =
            at > 0 && tokens[at - 1] == Token::Dot && tokens.get(at + 1) != Some(&Token::Open);
        (REFUSED.contains(&name.as_str()) && !is_column).then_some(name)
    };
    if let Some(word) = tokens.iter().enumerate().find_map(refused) {
        return Err(format!("{} reaches beyond the tables of the benchmark", word.to_uppercase()));
    }
    let is_catalog = |(at, token): (usize, &Token)| {
        let is_one = token.name().is_some_and(|name| name.to_ascii_lowercase().starts_with("pg_"));
        is_one && tokens.get(at + 1) != Some(&Token::Open)
    };
    let writes = !READING.contains(&first)
        || tokens.iter().filter_map(Token::word).any(|word| WRITING.contains(&word.as_str()));
    if dbms == Dbms::Postgres && writes && tokens.iter().enumerate().any(is_catalog) {
        return Err("it may change the catalog".to_owned());
    }
    Ok(())
}

/// The engine of `ENGINE = X` that is on no list.
fn foreign_engine(tokens: &[Token]) -> Option<String> {
    let [Token::Word(word), rest @ ..] = tokens else { return None };
    if !word.eq_ignore_ascii_case("engine") {
        return None;
    }
    let ([Token::Other, named, ..] | [named, ..]) = rest else { return None };
    // A name in single quotes is a string, which nothing is known of.
    let name = named.name().unwrap_or("in quotes");
    (!ENGINES.contains(&name.to_ascii_lowercase().as_str())).then(|| name.to_owned())
}

/// The name before the bracket at `at + 1`, in quotes or not, where it is a function that nobody knows.
fn unknown_call(dbms: Dbms, tokens: &[Token], at: usize, first: &str) -> Option<String> {
    let name = tokens[at].name()?.to_ascii_lowercase();
    let is_bare = matches!(tokens[at], Token::Word(_));
    if tokens.get(at + 1) != Some(&Token::Open) || (is_bare && name.starts_with('{')) {
        return None;
    }
    let before = at.checked_sub(1).and_then(|at| tokens[at].word()).unwrap_or_default();
    let before = before.as_str();
    // In a view's query a condition follows ON.
    let is_query = tokens[..at].iter().filter_map(Token::word).any(|word| word == "select");
    let is_index = matches!(first, "create" | "alter") && before == "on" && !is_query;
    let is_name = BEFORE_NAMES.contains(&before)
        || is_index
        || (before == "using" && ACCESS_METHODS.contains(&name.as_str()))
        || (dbms == Dbms::Postgres && matches!(first, "vacuum" | "analyze"))
        || (is_bare && BEFORE_BRACKETS.contains(&name.as_str()));
    let mut lines = FUNCTIONS.lines().filter(|line| !line.starts_with('#'));
    let is_known = lines.any(|line| line.split_whitespace().any(|known| known == name));
    (!is_name && !is_known).then_some(name)
}

/// Refuses a point behind the name of another schema of the server, whatever stands around it, and a point that no name
/// stands before.
fn check_schemas(tokens: &[Token], place: Place<'_>) -> Result<(), String> {
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == Token::Dot) {
        let before = at.checked_sub(1).and_then(|at| tokens[at].name());
        match before {
            Some(name) if place.is_other_schema(name) => {
                return Err(format!(
                    "{name} is a schema of the server; use another name for a table or an alias"
                ));
            }
            None if tokens.get(at + 1).is_some_and(|token| token.name().is_some()) => {
                return Err("a point stands before a name and behind none".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a token can be the name of a table after VACUUM or ANALYZE, whose options without brackets are words.
fn names_table(token: &Token) -> bool {
    const OPTIONS: &[&str] =
        &["analyze", "full", "freeze", "verbose", "table", "local", "no_write_to_binlog"];
    token.name().is_some_and(|name| !OPTIONS.contains(&name.to_ascii_lowercase().as_str()))
}

/// A level of brackets.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    /// Whether names here are of tables.
    is_of_tables: bool,
    /// Whether they are again after a comma.
    is_list: bool,
    /// Whether it is a query, so that FROM is followed by tables: not so in EXTRACT(YEAR FROM t.d).
    is_query: bool,
}

impl Level {
    fn set(&mut self, is_of_tables: bool) {
        (self.is_of_tables, self.is_list) = (is_of_tables, is_of_tables);
    }
}

/// Refuses qualified names whose first part is another schema's, or may be.
fn check_names(tokens: &[Token], first: &str, schema: Option<&str>) -> Result<(), String> {
    let is = |at: usize, wanted: &Token| tokens.get(at) == Some(wanted);
    let dot = |at: usize| is(at, &Token::Dot);
    let after_dot = |at: usize| at > 0 && dot(at - 1);
    let alone: BTreeSet<String> = (0..tokens.len())
        .filter(|&at| !dot(at + 1) && !after_dot(at))
        .filter_map(|at| tokens[at].name())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut levels = vec![Level { is_query: true, ..Level::default() }];
    for (at, token) in tokens.iter().enumerate() {
        let depth = levels.len() - 1;
        match token {
            Token::Open => {
                let inner = tokens.get(at + 1).and_then(Token::word);
                let begins = inner.is_some_and(|word| QUERIES.contains(&word.as_str()));
                let is_list = levels[depth].is_of_tables && !begins;
                let is_query = begins || is_list;
                levels.push(Level { is_of_tables: is_list, is_list, is_query });
            }
            Token::Close if depth > 0 => {
                levels.pop();
            }
            Token::Comma => levels[depth].is_of_tables = levels[depth].is_list,
            _ if after_dot(at) => {}
            _ if dot(at + 1) => {
                let Some(name) = token.name() else { continue };
                let is_known = alone.contains(&name.to_ascii_lowercase());
                let is_call = is(at + 3, &Token::Open);
                let is_long = dot(at + 3);
                let is_ours = schema.is_some_and(|schema| schema == name);
                if !is_ours && (levels[depth].is_of_tables || is_long || is_call || !is_known) {
                    return Err(format!(
                        "{name:?} stands before a point like a schema; name tables without one, as they \
                         lie in rqps's own schema"
                    ));
                }
            }
            _ => {
                let Some(word) = token.word() else { continue };
                let before = at.checked_sub(1).and_then(|at| tokens[at].word());
                let before = before.as_deref().unwrap_or_default();
                let (word, level) = (word.as_str(), &mut levels[depth]);
                if BEFORE_TABLES.contains(&word) {
                    let is_other = match word {
                        "from" => before == "distinct" || !level.is_query,
                        "update" => BEFORE_OTHER_UPDATE.contains(&before),
                        _ => false,
                    };
                    if !is_other {
                        level.set(true);
                    }
                } else if BEFORE_TABLES_OR_CALLS.contains(&word) {
                    if !is(at + 1, &Token::Open) {
                        level.set(true);
                    }
                } else if word == "like" {
                    level.is_of_tables |= first == "create";
                } else if word == "on" {
                    // CREATE INDEX i ON t; in a join a condition follows, and a comma ends it.
                    level.is_of_tables = matches!(first, "create" | "drop" | "comment");
                } else if AFTER_TABLES.contains(&word) {
                    level.set(false);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
