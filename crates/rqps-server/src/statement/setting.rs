//! SET of a statement, and names of extensions: they go through the same table as options.

use rqps_model::Dbms;

use super::words_of;
use crate::Error;
use crate::options::{Setting, Written, classify, refused_library};

/// What sessions may set on somebody else's server.
const OF_GUESTS: &str = include_str!("guest_settings.txt");

/// Words before the name of a setting of the whole server, in lower case.
const SETS_ALL: &[&str] =
    &["set global ", "set @@global.", "set persist ", "set @@persist.", "alter system set "];

/// The same of the session.
const SETS_SESSION: &[&str] =
    &["set session ", "set local ", "set @@session.", "set @@local.", "set @@", "set "];

/// Settings of a session that decide how statements are read, where names lead, or whether rqps can clean up.
const NOT_OF_SESSION: &[&str] = &[
    "search_path",
    "role",
    "session_authorization",
    "client_encoding",
    "names",
    "standard_conforming_strings",
    "backslash_quote",
    "escape_string_warning",
    "sql_mode",
    "sql_log_bin",
    "sql_log_off",
    "gtid_next",
    "default_storage_engine",
    "storage_engine",
    "default_tmp_storage_engine",
    "enforce_storage_engine",
    "default_transaction_read_only",
    "transaction_read_only",
    "tx_read_only",
    "default_tablespace",
    "temp_tablespaces",
    "default_table_access_method",
    "password",
];

/// Words before the name of an extension.
const CREATES_EXTENSION: &[&str] = &["create extension if not exists ", "create extension "];

/// SET NAMES of the character sets that connections of rqps have.
const NAMES: &[&str] =
    &["set names utf8mb4", "set names 'utf8mb4'", "set names utf8", "set names 'utf8'"];

/// The verdict on a setting of the whole server and on an extension; `None` for other statements.
pub(super) fn check_server(dbms: Dbms, sql: &str) -> Option<Result<(), Error>> {
    let plain = one_line(sql);
    if let Some(assignment) = after(&plain, SETS_ALL) {
        return Some(check_assignment(dbms, sql, assignment));
    }
    let name = after(&plain, CREATES_EXTENSION).filter(|_| dbms.is_postgres_family())?;
    Some(check_extension(dbms, sql, name))
}

/// Why a SET of a session may not be sent: it is more than one plain value, or leads further than the session.
pub(super) fn check_session(dbms: Dbms, sql: &str) -> Result<(), String> {
    let plain = one_line(sql);
    if is_names(&plain) {
        return Ok(());
    }
    let Some(assignment) = assignment_of_session(&plain)? else { return Ok(()) };
    let name = name_of(assignment);
    // MySQL has a scope before the point; PostgreSQL's extensions have their name there.
    if NOT_OF_SESSION.contains(&name.as_str())
        || (!dbms.is_postgres_family() && name.contains('.'))
        || name.starts_with("character_set")
        || name.starts_with("collation")
    {
        return Err(format!("{name} decides how statements are read, or where they lead"));
    }
    check_assignment(dbms, sql, assignment).map_err(|error| match error {
        Error::RefusedOption { detail, .. } => detail,
        other => other.to_string(),
    })
}

/// The same on somebody else's server, where a list says what may be set.
pub(super) fn check_guest_session(dbms: Dbms, sql: &str) -> Result<(), String> {
    let plain = one_line(sql);
    if is_names(&plain) {
        return Ok(());
    }
    let Some(assignment) = assignment_of_session(&plain)? else { return Ok(()) };
    let name = name_of(assignment);
    let section = if dbms.is_postgres_family() { "[postgres]" } else { "[mysql]" };
    let lines = OF_GUESTS.split_once(section).map_or("", |(_, lines)| lines);
    let lines = lines.split('[').next().unwrap_or_default();
    if !words_of(lines).any(|pattern| matches(pattern, &name)) {
        return Err(format!(
            "{name} is not among the settings of a session that change plans, memory, waits and \
             isolation alone; leave it out, or measure a server that rqps starts"
        ));
    }
    check_session(dbms, sql)
}

/// What follows the words of SET; `None` where it sets an isolation level.
fn assignment_of_session(plain: &str) -> Result<Option<&str>, String> {
    let isolation =
        ["set transaction isolation level ", "set session transaction isolation level "];
    let Some(level) = after(plain, &isolation) else {
        return Ok(Some(after(plain, SETS_SESSION).unwrap_or_default()));
    };
    let is_level = level.bytes().all(|b| b.is_ascii_alphabetic() || b == b' ');
    if is_level { Ok(None) } else { Err("write the level alone".to_owned()) }
}

/// SET NAMES of a character set that connections of rqps have.
fn is_names(plain: &str) -> bool {
    NAMES.contains(&plain.to_ascii_lowercase().as_str())
}

/// The name before the value, in lower case.
fn name_of(assignment: &str) -> String {
    assignment.split([' ', '=', ':']).next().unwrap_or_default().to_ascii_lowercase()
}

/// Whether a name is that of a pattern, which may have a star at one end.
fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(beginning)) => name.starts_with(beginning),
        _ => name == pattern,
    }
}

/// A statement with one blank for each of its runs of blanks, and without the semicolon.
fn one_line(sql: &str) -> String {
    let words: Vec<&str> = sql.trim().trim_end_matches(';').split_whitespace().collect();
    words.join(" ")
}

/// What follows one of these beginnings.
fn after<'a>(plain: &'a str, beginnings: &[&str]) -> Option<&'a str> {
    let begins = |word: &&&str| {
        plain.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    beginnings.iter().find(begins).map(|word| plain[word.len()..].trim())
}

pub(super) fn refusal(sql: &str, detail: String) -> Error {
    Error::RefusedOption {
        place: "statement of the plan".to_owned(),
        written: sql.to_owned(),
        detail,
        remedy: "change it or leave it out".to_owned(),
    }
}

/// `NAME = VALUE` or `NAME TO VALUE`: what the table lets through as it is.
fn check_assignment(dbms: Dbms, sql: &str, assignment: &str) -> Result<(), Error> {
    let end = assignment.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(assignment.len());
    let (name, value) = assignment.split_at(end);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(is_plain) {
        let why = "write the name of the setting without quotes and comments";
        return Err(refusal(sql, why.to_owned()));
    }
    let value = value.trim_start();
    let is_to = value.get(..3).is_some_and(|to| to.eq_ignore_ascii_case("to "));
    let assigned =
        if is_to { Some(&value[3..]) } else { value.trim_start_matches(':').strip_prefix('=') };
    let Some(value) = assigned else {
        return Err(refusal(sql, "write it as NAME = VALUE".to_owned()));
    };
    let value = value.trim();
    let inner = value.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let is_one = inner.map_or_else(|| is_plain_value(value), |text| !text.contains(['\'', '\\']));
    if !is_one {
        let why = "it sets more than one plain value; write each setting as a text of its own";
        return Err(refusal(sql, why.to_owned()));
    }
    let value = inner.unwrap_or(value).to_owned();
    let setting = Setting { name: name.to_owned(), value: Some(value), written: Written::Plan };
    let clean = classify(dbms, std::slice::from_ref(&setting))?;
    if clean.changes.is_empty() && !clean.settings.is_empty() {
        return Ok(());
    }
    Err(refusal(sql, format!("{name} could lead out of the run's directory or host")))
}

/// A word or a decimal number: `0x2F` is a text to MySQL.
fn is_plain_value(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
    value.chars().all(is_plain) && !lower.starts_with("0x") && !lower.starts_with("0b")
}

/// The name of an extension whose library may be loaded.
fn check_extension(dbms: Dbms, sql: &str, name: &str) -> Result<(), Error> {
    match refused_library(dbms, name.trim_matches('"'))? {
        None => Ok(()),
        Some(why) => Err(refusal(sql, why.to_owned())),
    }
}
