//! Statements of a plan or a suite that rqps sends to somebody else's server: those that can reach its own schema
//! alone.
//!
//! A list says what is allowed, so that a statement that nobody thought of is refused. A qualified name is
//! allowed where its first part is rqps's schema, or a table or alias that the statement itself introduces.

mod token;
mod words;

use std::collections::BTreeSet;

use rqps_model::Dbms;

use crate::{Error, Refusal};
use token::{Token, tokens};
use words::{
    AFTER_TABLES, ALLOWED, ALLOWED_CALLS, BEFORE_OTHER_UPDATE, BEFORE_TABLES,
    BEFORE_TABLES_OR_CALLS, ENGINES, NEEDS_TABLE, OPTIONS, QUERIES, READING, REFUSED,
    REFUSED_CALLS, REFUSED_TO_SET,
};

/// Refuses a statement that could reach beyond `schema`, the one of rqps; beyond every schema but the session's
/// where its name is not known yet.
///
/// # Errors
/// [`Refusal::NotForGuests`].
pub fn check(dbms: Dbms, sql: &str, schema: Option<&str>) -> Result<(), Error> {
    judge(dbms, sql, schema)
        .map_err(|why| Refusal::NotForGuests { sql: sql.to_owned(), why }.into())
}

/// Why a statement could reach beyond `schema`.
pub(crate) fn judge(dbms: Dbms, sql: &str, schema: Option<&str>) -> Result<(), String> {
    let tokens = tokens(dbms, sql)?;
    let words: Vec<Option<String>> = tokens.iter().map(Token::word).collect();
    let word = |at: usize| words.get(at).and_then(Option::as_deref);
    let first = word(0).unwrap_or_default();
    let Some((_, then)) = ALLOWED.iter().find(|(allowed, _)| *allowed == first) else {
        return Err(format!(
            "it begins with {first:?}; only statements on tables of the benchmark are sent there"
        ));
    };
    // CREATE OR REPLACE.
    let kind = if word(1) == Some("or") { 3 } else { 1 };
    let second = word(kind).unwrap_or_default();
    if !then.is_empty() && !then.contains(&second) {
        let both = format!("{first} {second}").to_uppercase();
        return Err(format!("{both} reaches beyond the tables of the benchmark"));
    }
    if NEEDS_TABLE.contains(&first) && !tokens.iter().skip(1).any(names_table) {
        return Err(format!("{} without a table goes through all tables", first.to_uppercase()));
    }
    if tokens.iter().any(|token| matches!(token, Token::Quoted(name) if name.contains('\\'))) {
        return Err("it has a backslash in a name; write the name as it is".to_owned());
    }
    if let Some(engine) =
        tokens.iter().enumerate().find_map(|(at, _)| foreign_engine(&tokens[at..]))
    {
        return Err(format!("engine {engine} may read and write elsewhere"));
    }
    let is_catalog = |token: &Token| {
        token.name().is_some_and(|name| name.to_ascii_lowercase().starts_with("pg_"))
    };
    let calls = |at: usize| tokens.get(at + 1) == Some(&Token::Open);
    if dbms == Dbms::Postgres
        && !READING.contains(&first)
        && tokens.iter().enumerate().any(|(at, token)| is_catalog(token) && !calls(at))
    {
        return Err("it may change the catalog".to_owned());
    }
    if let Some(name) = tokens.windows(2).find_map(refused_call) {
        return Err(format!("{name}() reaches beyond the tables of the benchmark"));
    }
    let refused = |(at, token): (usize, &Token)| {
        let name = token.word()?;
        let is_column =
            at > 0 && tokens[at - 1] == Token::Dot && tokens.get(at + 1) != Some(&Token::Open);
        let is_refused = REFUSED.contains(&name.as_str())
            || (first == "set" && REFUSED_TO_SET.contains(&name.as_str()));
        (is_refused && !is_column).then_some(name)
    };
    if let Some(word) = tokens.iter().enumerate().find_map(refused) {
        return Err(format!("{} reaches beyond the tables of the benchmark", word.to_uppercase()));
    }
    if let Some(at) = tokens.iter().position(|token| *token == Token::Semicolon)
        && at + 1 < tokens.len()
    {
        return Err("it is more than one statement; write each as a text of its own".to_owned());
    }
    check_names(&tokens, first, schema)
}

/// The engine of `ENGINE = X` that is on no list.
fn foreign_engine(tokens: &[Token]) -> Option<String> {
    let [Token::Word(word), rest @ ..] = tokens else { return None };
    let name = match rest {
        [Token::Other, name, ..] | [name, ..] => name.name()?,
        [] => return None,
    };
    let is_engine = word.eq_ignore_ascii_case("engine");
    (is_engine && !ENGINES.contains(&name.to_ascii_lowercase().as_str())).then(|| name.to_owned())
}

/// The name of a function that is called and refused, in quotes or not.
fn refused_call(pair: &[Token]) -> Option<String> {
    let [token, Token::Open] = pair else { return None };
    let name = token.name()?.to_ascii_lowercase();
    let is_refused = REFUSED_CALLS.iter().any(|beginning| name.starts_with(beginning));
    (is_refused && !ALLOWED_CALLS.contains(&name.as_str())).then_some(name)
}

/// Whether a token can be the name of a table after VACUUM or ANALYZE, whose options are words.
fn names_table(token: &Token) -> bool {
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
