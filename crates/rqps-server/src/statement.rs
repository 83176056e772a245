//! Statements of a plan or a suite: which of them are sent to a server.
//!
//! Lists say what is allowed, so that what nobody thought of is refused. On a server of rqps a statement may not reach
//! files, other hosts or the whole server. On somebody else's server it may not leave rqps's schema, and the list of
//! its forms is short.

mod calls;
mod guest;
mod names;
mod own;
mod results;
mod setting;
mod token;

use rqps_model::Dbms;

use crate::dbms::driver;
use crate::{Error, Refusal};
use token::Tokens;

/// Refuses a statement that could make rqps's own server use files or hosts that are not its own.
///
/// # Errors
/// [`Error::RefusedOption`] with the statement.
pub fn check_own(dbms: Dbms, sql: &str) -> Result<(), Error> {
    if let Some(verdict) = setting::check_server(dbms, sql) {
        return verdict;
    }
    judge_own(dbms, sql).map_err(|why| setting::refusal(sql, why))
}

/// Refuses a statement that could reach beyond rqps's schema on an external server. `others` are the known
/// names of all other schemas there.
///
/// # Errors
/// [`Refusal::NotForGuests`].
pub fn check_guest(dbms: Dbms, sql: &str, others: &[String]) -> Result<(), Error> {
    judge_guest(dbms, sql, others)
        .map_err(|why| Refusal::NotForGuests { sql: sql.to_owned(), why }.into())
}

/// Where a statement is to be sent.
#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    /// A server of rqps, whose tables lie in this schema.
    Own(&'a str),
    /// Somebody else's server, with these schemas of its own.
    Guest(&'a [String]),
}

impl Place<'_> {
    fn is_own(self) -> bool {
        matches!(self, Self::Own(_))
    }
}

fn judge_own(dbms: Dbms, sql: &str) -> Result<(), String> {
    let place = Place::Own(driver(dbms).own_schema);
    let tokens = Tokens::read(dbms, sql)?;
    own::check(dbms, &tokens)?;
    match tokens.word(0) {
        "set" => setting::check_session(dbms, sql),
        "comment" => Ok(()),
        _ => judge(dbms, &tokens, place),
    }
}

fn judge_guest(dbms: Dbms, sql: &str, others: &[String]) -> Result<(), String> {
    let mut refused = driver(dbms).guest.refused_texts.iter();
    if let Some(text) = refused.find(|text| sql.contains(**text)) {
        return Err(format!("{} reads {text} in its own way; leave it out", dbms.name()));
    }
    let tokens = Tokens::read(dbms, sql)?;
    if tokens.word(0) == "set" {
        return setting::check_guest_session(dbms, sql);
    }
    guest::check(dbms, &tokens)?;
    judge(dbms, &tokens, Place::Guest(others))
}

/// What both places have in common.
fn judge(dbms: Dbms, tokens: &Tokens, place: Place<'_>) -> Result<(), String> {
    check_words(tokens)?;
    calls::check(dbms, tokens, place)?;
    names::check(dbms, tokens, place)
}

/// First words of statements that read and write rows. All others define something.
const OF_ROWS: &[&str] =
    &["select", "insert", "update", "delete", "replace", "with", "values", "explain", "merge"];

/// Words that are refused wherever they stand: they reach files.
const REFUSED: &[&str] = &["outfile", "dumpfile"];

/// The same in definitions: files, other schemas, other hosts.
const REFUSED_IN_DEFINITIONS: &[&str] = &[
    "schema",
    "tablespace",
    "directory",
    "connection",
    "federated",
    "secondary_engine",
    "insert_method",
];

/// Engines whose tables lie in the server alone.
const ENGINES: &[&str] = &[
    "innodb",
    "rocksdb",
    "myisam",
    "aria",
    "memory",
    "heap",
    "blackhole",
    "archive",
    "tokudb",
    "csv",
];

/// Refuses words that reach further, engines that do, and names of rqps's own.
fn check_words(tokens: &Tokens) -> Result<(), String> {
    let defines = !OF_ROWS.contains(&tokens.word(0));
    for (at, word) in tokens.words() {
        let is_refused = REFUSED.contains(&word)
            || (defines && REFUSED_IN_DEFINITIONS.contains(&word))
            || (defines && word == "engine" && is_foreign_engine(tokens, at));
        if is_refused && !tokens.is_before(at, '.') {
            return Err(format!(
                "{} reaches beyond the tables of the benchmark",
                word.to_uppercase()
            ));
        }
    }
    let is_of_rqps = |name: &&str| {
        name.get(..5).is_some_and(|beginning| beginning.eq_ignore_ascii_case("rqps_"))
    };
    if let Some(name) = (0..tokens.len()).filter_map(|at| tokens.name(at)).find(is_of_rqps) {
        return Err(format!("names that begin with rqps_ are rqps's own, as {name}"));
    }
    Ok(())
}

/// Whether `ENGINE = X` names an engine that is on no list. A name in single quotes is a string, which nothing is known
/// of.
fn is_foreign_engine(tokens: &Tokens, at: usize) -> bool {
    let named = if tokens.is(at + 1, '=') { at + 2 } else { at + 1 };
    let name = tokens.name(named).unwrap_or_default();
    !ENGINES.contains(&name.to_ascii_lowercase().as_str())
}

/// The words of a list; lines with # are comments.
fn words_of(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests;
