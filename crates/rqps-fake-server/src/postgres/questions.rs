//! What rqps asks a PostgreSQL besides statements on the tables.

use std::sync::atomic::Ordering;

use super::explain::explain;
use crate::answer::{Answer, Failure, Rows};
use crate::question::{Question, first_word, trimmed};
use crate::server::{Server, Session};
use crate::settings::{Setting, Source};

const EXPLAIN: &str = "explain (costs off, format json) ";

/// Answers a statement.
pub(crate) fn answer(server: &Server, session: &mut Session, sql: &str) -> Result<Answer, Failure> {
    let sql = trimmed(sql);
    let lower = sql.to_ascii_lowercase();
    let (word, rest) = first_word(&lower);
    let question = Question { sql, rest };
    match word {
        "select" => select(server, session, &question),
        "show" => {
            let settings = server.settings();
            let setting = settings.get(rest).ok_or_else(|| Failure::lacks(rest))?;
            Ok(Answer::one(rest, setting.value.clone()))
        }
        "set" => Ok(Answer::Done("SET", 0)),
        "vacuum" => {
            let name = rest.rsplit('.').next().unwrap_or_default();
            if server.store.has(name) {
                Ok(Answer::Done("VACUUM", 0))
            } else {
                Err(Failure::no_table(name))
            }
        }
        "checkpoint" => Ok(Answer::Done("CHECKPOINT", 0)),
        "prepare" => {
            let name = rest.split([' ', '(']).next().unwrap_or_default().to_owned();
            // Not in the lower case: values may be texts.
            let at = lower.find(" as ").ok_or_else(|| Failure::unknown(sql))?;
            let text = sql.get(at + 4..).unwrap_or_default().to_owned();
            session.prepared.insert(name, text);
            Ok(Answer::Done("PREPARE", 0))
        }
        "deallocate" => {
            session.prepared.remove(rest);
            Ok(Answer::Done("DEALLOCATE", 0))
        }
        "explain" if lower.starts_with(EXPLAIN) => {
            let question = sql.get(EXPLAIN.len()..).unwrap_or_default();
            let executed = lower.get(EXPLAIN.len()..).and_then(|q| q.strip_prefix("execute "));
            match executed {
                Some(name) => {
                    let name = name.split([' ', '(']).next().unwrap_or_default();
                    let text = session.prepared.get(name).ok_or_else(|| Failure::unknown(sql))?;
                    explain(text)
                }
                None => explain(question),
            }
        }
        _ => Err(Failure::unknown(sql)),
    }
}

fn select(server: &Server, session: &Session, question: &Question<'_>) -> Result<Answer, Failure> {
    let Question { sql, rest } = *question;
    let has = |words: &str| rest.contains(words);
    if rest == "1" {
        return Ok(Answer::one("?column?", "1"));
    }
    if rest == "version()" {
        let version = &server.version;
        let text = format!(
            "PostgreSQL {version} on x86_64-pc-linux-gnu, compiled by fake (for tests) 1.0, 64-bit"
        );
        return Ok(Answer::one("version", text));
    }
    if has("sum(n_dead_tup)::bigint") {
        return Ok(table_state(server));
    }
    if has("pg_relation_filepath") {
        return Ok(Answer::none(&["pg_relation_filepath"]));
    }
    if has("pg_backend_pid()") {
        return Ok(Answer::one("pg_backend_pid", session.tid.to_string()));
    }
    if has("setval(") {
        return Ok(Answer::one("setval", "1"));
    }
    if has("from pg_prepared_statements") {
        let columns = ["name", "statement", "generic", "custom"].map(str::to_owned).to_vec();
        let mut rows = Vec::new();
        for (name, text) in &session.prepared {
            rows.push(vec![Some(name.clone()), Some(text.clone()), None, None]);
        }
        return Ok(Answer::Rows(Rows { columns, rows }));
    }
    if has("from pg_settings") {
        return settings(server, question);
    }
    if has("from pg_database d") {
        let row = vec![Some("C".to_owned()), Some("c".to_owned()), None];
        let columns = ["datcollate", "datlocprovider", "datlocale"].map(str::to_owned);
        return Ok(Answer::Rows(Rows { columns: columns.to_vec(), rows: vec![row] }));
    }
    if has("pg_total_relation_size") {
        let bytes: u64 = server.store.sizes().iter().map(|(_, bytes)| bytes).sum();
        return Ok(Answer::one("bytes", bytes.to_string()));
    }
    if has("from pg_class c") && has("quote_ident(c.relname)") {
        let row = |(name, _): (String, u64)| vec![format!("public.{name}")];
        return Ok(Answer::rows(&["name"], server.store.sizes().into_iter().map(row).collect()));
    }
    if has("from pg_config") {
        let rows = vec![vec!["CONFIGURE", "'--fake'"], vec!["CFLAGS", "-O2"]];
        return Ok(Answer::rows(&["name", "setting"], rows));
    }
    if has("from pg_control_system") {
        return Ok(Answer::one("?column?", format!("7 {}", std::process::id())));
    }
    if has("from pg_am") {
        return Ok(Answer::one("amname", "heap"));
    }
    if has("from pg_stat_activity where query like 'autovacuum: %'") {
        return Ok(Answer::one("count", "0"));
    }
    if has("from pg_stat_user_tables") {
        return Ok(Answer::one("coalesce", "0"));
    }
    let n = server.n_answered.load(Ordering::Relaxed).to_string();
    if has("from pg_stat_database") {
        let columns = ["datid", "xact_commit", "tup_returned", "tup_fetched"];
        return Ok(Answer::rows(&columns, vec![vec!["1".to_owned(), n.clone(), n.clone(), n]]));
    }
    if has("from pg_stat_bgwriter") {
        return Ok(Answer::one("buffers_alloc", n));
    }
    if has("from pg_stat_") {
        return Err(Failure::lacks("such view"));
    }
    Err(Failure::unknown(sql))
}

/// Rows, dead rows, updates, HOT updates, autovacuums, bytes of tables and indexes, age of the oldest snapshot.
fn table_state(server: &Server) -> Answer {
    let sizes = server.store.sizes();
    let bytes: u64 = sizes.iter().map(|(_, bytes)| bytes).sum();
    let values = [server.store.n_rows(), server.faults.dead_rows(), 0, 0, 0, bytes, 0, 0];
    let columns = ["live", "dead", "updates", "hot", "autovacuums", "tables", "indexes", "age"];
    Answer::rows(&columns, vec![values.iter().map(u64::to_string).collect()])
}

/// The questions to `pg_settings`, which differ in their columns.
fn settings(server: &Server, question: &Question<'_>) -> Result<Answer, Failure> {
    let Question { sql, rest } = *question;
    let all = server.settings();
    let names: Vec<&str> = sql.split('\'').skip(1).step_by(2).collect();
    let row: fn(&String, &Setting) -> Vec<String> = if rest.starts_with("set_config(") {
        return Ok(Answer::none(&["set_config"]));
    } else if rest.starts_with("name, case when name in") {
        |name, setting| vec![name.clone(), setting.value.clone(), String::new()]
    } else if rest.starts_with("name, source, boot_val, unit") {
        |name, setting| {
            let source = match setting.source {
                Source::Default => "default",
                Source::Config => "configuration file",
                Source::CommandLine => "command line",
            };
            vec![name.clone(), source.to_owned(), setting.default.clone(), String::new()]
        }
    } else if rest.starts_with("name, case name when") {
        |name, setting| vec![name.clone(), setting.value.clone()]
    } else {
        return Err(Failure::unknown(sql));
    };
    let is_all = !rest.contains("where name in");
    let wanted = all.iter().filter(|(name, _)| is_all || names.contains(&name.as_str()));
    let rows: Vec<Vec<String>> = wanted.map(|(name, setting)| row(name, setting)).collect();
    let columns = ["name", "setting", "default", "unit"];
    let n = rows.first().map_or(2, Vec::len);
    Ok(Answer::rows(&columns[..n], rows))
}
