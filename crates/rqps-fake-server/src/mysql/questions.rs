//! What rqps asks a server of MySQL's family besides statements on the tables.

use std::sync::atomic::Ordering;

use super::explain::explain;
use crate::Family;
use crate::answer::{Answer, Failure};
use crate::question::{Question, first_word, trimmed};
use crate::server::{Server, Session};
use crate::settings::{Setting, Settings, Source, shown_by_mysql};

/// The version as the greeting has it.
pub(super) fn greeted_version(server: &Server) -> String {
    match server.family {
        Family::Mariadb => format!("5.5.5-{}-MariaDB-log", server.version),
        Family::Mysql | Family::Postgres => server.version.clone(),
    }
}

/// Answers a statement.
pub(crate) fn answer(server: &Server, session: &mut Session, sql: &str) -> Result<Answer, Failure> {
    let sql = trimmed(sql);
    let lower = sql.to_ascii_lowercase();
    let (word, rest) = first_word(&lower);
    let question = Question { sql, rest };
    match word {
        "select" => select(server, session, &question),
        "show" => show(server, &question),
        "set" => set(server, &question),
        "explain" => explain(sql.get("explain ".len()..).unwrap_or_default()),
        "analyze" => {
            let row = vec!["rqps.t", "analyze", "status", "OK"];
            Ok(Answer::rows(&["Table", "Op", "Msg_type", "Msg_text"], vec![row]))
        }
        "reset" | "alter" | "flush" => Ok(Answer::Done("", 0)),
        "prepare" => {
            let (name, text) = quoted_part(sql).ok_or_else(|| Failure::unknown(sql))?;
            session.prepared.insert(name, text);
            Ok(Answer::Done("", 0))
        }
        "execute" => {
            let name = rest.split_whitespace().next().unwrap_or_default();
            let text = session.prepared.get(name).cloned();
            let text = text.ok_or_else(|| Failure::unknown(sql))?;
            answer(server, session, &text)
        }
        "deallocate" => Ok(Answer::Done("", 0)),
        _ => Err(Failure::unknown(sql)),
    }
}

/// The name and the text of `PREPARE name FROM 'text'`.
fn quoted_part(sql: &str) -> Option<(String, String)> {
    let name = sql.split_whitespace().nth(1)?.to_ascii_lowercase();
    let (_, text) = sql.split_once('\'')?;
    Some((name, text.strip_suffix('\'')?.replace("''", "'")))
}

/// Names in apostrophes.
fn quoted(sql: &str) -> Vec<&str> {
    sql.split('\'').skip(1).step_by(2).collect()
}

fn select(server: &Server, session: &Session, question: &Question<'_>) -> Result<Answer, Failure> {
    let Question { sql, rest } = *question;
    if rest.starts_with("@@") || rest.starts_with("hex(@@") {
        return variables(&server.settings(), sql);
    }
    let has = |words: &str| rest.contains(words);
    let sizes = || server.store.sizes().into_iter();
    if rest == "1" {
        return Ok(Answer::one("1", "1"));
    }
    if has("version()") {
        let suffix = if server.family == Family::Mariadb { "-MariaDB-log" } else { "" };
        return Ok(Answer::one("version()", format!("{}{suffix}", server.version)));
    }
    if has("connection_id()") {
        return Ok(Answer::one("connection_id()", session.id.to_string()));
    }
    if has("information_schema.processlist") && server.family == Family::Mariadb {
        return Ok(Answer::one("TID", session.tid.to_string()));
    }
    if has("information_schema.system_variables") && server.family == Family::Mariadb {
        return Ok(origins(&server.settings()));
    }
    if has("information_schema.tables") {
        if has("engine = 'rocksdb'") {
            return Ok(Answer::one("count", "0"));
        }
        if rest.starts_with("engine, table_name") {
            let row = |(name, bytes): (String, u64)| {
                vec!["InnoDB".to_owned(), name, bytes.to_string(), "rqps".to_owned()]
            };
            return Ok(Answer::rows(
                &["engine", "table", "bytes", "db"],
                sizes().map(row).collect(),
            ));
        }
        if rest.starts_with("table_name, concat(row_format") {
            let row = |(name, _)| vec![name, "Dynamic|".to_owned()];
            return Ok(Answer::rows(&["table_name", "how"], sizes().map(row).collect()));
        }
        if rest.starts_with("table_name from") {
            return Ok(Answer::rows(
                &["table_name"],
                sizes().map(|(name, _)| vec![name]).collect(),
            ));
        }
    }
    if has("performance_schema.") {
        return Err(Failure::lacks("performance_schema"));
    }
    Err(Failure::unknown(sql))
}

/// `select @@a, @@b` and `select hex(@@global.a)`.
fn variables(settings: &Settings, sql: &str) -> Result<Answer, Failure> {
    let mut row = Vec::new();
    for part in sql.get("select ".len()..).unwrap_or_default().split(',') {
        let part = part.trim().to_ascii_lowercase();
        let is_hex = part.starts_with("hex(");
        let name = part.trim_start_matches("hex(").trim_end_matches(')');
        let name = name.trim_start_matches("@@").trim_start_matches("global.");
        let found = settings.get(name.trim_start_matches("session."));
        let value = found.map(|setting| setting.value.clone());
        let value = value.ok_or_else(|| Failure::lacks(&format!("variable {name}")))?;
        let switch = match value.as_str() {
            "ON" => "1".to_owned(),
            "OFF" => "0".to_owned(),
            _ => value.clone(),
        };
        let hex = || value.bytes().map(|b| format!("{b:02X}")).collect();
        row.push(if is_hex { hex() } else { switch });
    }
    let names: Vec<&str> = row.iter().map(|_| "value").collect();
    Ok(Answer::rows(&names, vec![row]))
}

fn origins(settings: &Settings) -> Answer {
    let row = |(name, setting): (&String, &Setting)| {
        let source = match setting.source {
            Source::Default => "COMPILE-TIME",
            Source::Config => "CONFIG",
            Source::CommandLine => "COMMAND-LINE",
        };
        vec![name.to_ascii_uppercase(), source.to_owned(), setting.default.clone()]
    };
    Answer::rows(&["name", "source", "default"], settings.iter().map(row).collect())
}

fn show(server: &Server, question: &Question<'_>) -> Result<Answer, Failure> {
    let Question { sql, rest } = *question;
    let columns = ["Variable_name", "Value"];
    let is_wanted = |name: &str| {
        let names = quoted(sql);
        names.is_empty() || names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))
    };
    let what = rest.trim_start_matches("global ").trim_start_matches("session ");
    if what.starts_with("variables") {
        let settings = server.settings();
        let rows = settings.iter().filter(|(name, _)| is_wanted(name));
        let rows = rows.map(|(name, setting)| vec![name.clone(), setting.value.clone()]);
        return Ok(Answer::rows(&columns, rows.collect()));
    }
    if what.starts_with("status") {
        let rows = status(server).into_iter().filter(|(name, _)| is_wanted(name));
        let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
        return Ok(Answer::rows(&columns, rows.collect()));
    }
    if what == "engines" {
        let row = vec!["InnoDB", "DEFAULT", "of the fake server"];
        return Ok(Answer::rows(&["Engine", "Support", "Comment"], vec![row]));
    }
    if what == "engine innodb status" {
        let row = vec!["InnoDB", "", "TRANSACTIONS\nHistory list length 0\n"];
        return Ok(Answer::rows(&["Type", "Name", "Status"], vec![row]));
    }
    Err(Failure::unknown(sql))
}

fn status(server: &Server) -> Vec<(&'static str, String)> {
    let n = server.n_answered.load(Ordering::Relaxed);
    let counted = |name| (name, n.to_string());
    vec![
        ("Compression", "OFF".to_owned()),
        ("Innodb_buffer_pool_pages_dirty", "0".to_owned()),
        ("Innodb_have_lz4", "OFF".to_owned()),
        ("Innodb_have_snappy", "OFF".to_owned()),
        ("Ssl_cipher", String::new()),
        ("Ssl_version", String::new()),
        counted("Com_commit"),
        counted("Handler_commit"),
        counted("Handler_read_key"),
        counted("Innodb_buffer_pool_read_requests"),
    ]
}

/// What is set is kept where it is of the whole server, and forgotten where it is of a connection.
fn set(server: &Server, question: &Question<'_>) -> Result<Answer, Failure> {
    let Question { sql, rest } = *question;
    if let Some(assignment) = rest.strip_prefix("global ") {
        let (name, value) = assignment.split_once('=').ok_or_else(|| Failure::unknown(sql))?;
        let (name, value) = (name.trim(), value.trim().trim_matches('\''));
        let value = shown_by_mysql(name, value);
        let mut settings = server.settings();
        let Some(setting) = settings.get_mut(name) else {
            return Err(Failure::lacks(&format!("variable {name}")));
        };
        setting.value = value;
        return Ok(Answer::Done("", 0));
    }
    let known = ["session ", "autocommit", "@", "names "];
    if known.iter().any(|start| rest.starts_with(start)) {
        return Ok(Answer::Done("", 0));
    }
    Err(Failure::unknown(sql))
}
