//! Statements of a plan for a server that rqps starts: they go through the same table as options.

use rqps_model::Dbms;

use super::table::{Found, Treatment, table};
use super::{Setting, Written, classify};
use crate::Error;
use crate::guest::statement;
use crate::instance::DATABASE;

/// Words before the name of a setting of the whole server, in lower case.
const SETS: &[&str] =
    &["set global ", "set @@global.", "set persist ", "set @@persist.", "alter system set "];

/// Words before the name of an extension.
const CREATES_EXTENSION: &[&str] = &["create extension if not exists ", "create extension "];

/// Refuses a statement that could make a server of rqps touch what is not its own.
///
/// # Errors
/// [`Error::RefusedOption`] with the statement.
pub fn check_statement(dbms: Dbms, sql: &str) -> Result<(), Error> {
    let plain = sql.trim().trim_end_matches(';').trim();
    let after = |words: &[&str]| {
        let begins =
            |word: &&&str| plain.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word));
        words.iter().find(begins).map(|word| plain[word.len()..].trim())
    };
    if let Some(assignment) = after(SETS) {
        return check_assignment(dbms, sql, assignment);
    }
    if dbms == Dbms::Postgres
        && let Some(name) = after(CREATES_EXTENSION)
    {
        return check_extension(sql, name);
    }
    let schema = if dbms == Dbms::Postgres { "public" } else { DATABASE };
    statement::judge(dbms, sql, Some(schema)).map_err(|why| refusal(sql, why))
}

fn refusal(sql: &str, detail: String) -> Error {
    Error::RefusedOption {
        place: "statement of the plan".to_owned(),
        written: sql.to_owned(),
        detail,
        remedy: "leave it out".to_owned(),
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
    let value =
        if is_to { &value[3..] } else { value.trim_start_matches(':').trim_start_matches('=') };
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
fn check_extension(sql: &str, name: &str) -> Result<(), Error> {
    let name = name.trim_matches('"');
    let resolved = table(Dbms::Postgres)?.resolve(Dbms::Postgres, "shared_preload_libraries");
    let Found::Rule(rule) = resolved.found else { return Ok(()) };
    let is_allowed =
        rule.treatment == Treatment::Libraries && rule.allowed.iter().any(|a| a == name);
    if is_allowed { Ok(()) } else { Err(refusal(sql, rule.why.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_is_refused() {
        for (dbms, sql) in [
            (Dbms::Mysql, "SET GLOBAL general_log_file = '/prod/x'"),
            (Dbms::Mysql, "set @@global.slow_query_log_file='/prod/x'"),
            (Dbms::Mysql, "SET GLOBAL sync_binlog = 0, GLOBAL event_scheduler = 1"),
            (Dbms::Mysql, "SET PERSIST innodb_tmpdir = '/prod'"),
            (Dbms::Mysql, "set session autocommit = 0, global general_log_file = '/x'"),
            (Dbms::Mysql, "SET GLOBAL general_log_file = 0x2F70726F642F78"),
            (Dbms::Mysql, "SET GLOBAL `event_scheduler` = 1"),
            (Dbms::Mysql, "SET GLOBAL general_log_file = '\\x'"),
            (Dbms::Mysql, "SELECT c FROM sbtest1 /*!99999 ' */ INTO OUTFILE '/x' /*!99999 ' */"),
            (Dbms::Mysql, "SELECT c FROM sbtest1 WHERE c = '\\' INTO OUTFILE '/x' -- '"),
            (Dbms::Postgres, "ALTER SYSTEM SET \"archive_mode\" = on"),
            (Dbms::Postgres, "SELECT \"lo_export\"(1, '/prod/x')"),
            (Dbms::Postgres, "SELECT U&\"lo\\005fexport\"(1, '/prod/x')"),
            (Dbms::Postgres, "SELECT pg_drop_replication_slot('prod')"),
            (Dbms::Postgres, "SET standard_conforming_strings = off"),
            (Dbms::Postgres, "SELECT '\\' || '; copy (select 1) to program $q$x$q$; --'"),
            (Dbms::Postgres, "UPDATE pg_proc SET proname = 'x' WHERE proname = 'lo_export'"),
            (Dbms::Mysql, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'"),
            (Dbms::Mysql, "SET GLOBAL general_log_file = @x"),
            (Dbms::Mysql, "CREATE TABLE f (a int) ENGINE=FEDERATED CONNECTION='mysql:x'"),
            (Dbms::Mysql, "CREATE TABLE f (a int) engine connect"),
            (Dbms::Mysql, "SELECT 1 --\u{1}x\n INTO OUTFILE '/x'"),
            (Dbms::Postgres, "SELECT query_to_xml('select 1', true, true, '')"),
            (Dbms::Mysql, "CHANGE MASTER TO MASTER_HOST = '10.0.0.1'"),
            (Dbms::Mysql, "START SLAVE"),
            (Dbms::Mysql, "INSTALL PLUGIN x SONAME 'x.so'"),
            (Dbms::Mysql, "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'"),
            (Dbms::Mysql, "SELECT * FROM sbtest1 INTO OUTFILE '/prod/x'"),
            (Dbms::Mysql, "SELECT LOAD_FILE('/etc/passwd')"),
            (Dbms::Mysql, "CREATE TABLE t (a int) DATA DIRECTORY = '/prod'"),
            (Dbms::Mysql, "/*!50000 PURGE BINARY LOGS TO 'x' */"),
            (Dbms::Mysql, "DELETE FROM mysql.user"),
            (Dbms::Postgres, "ALTER SYSTEM SET archive_command = 'cp %p /x'"),
            (Dbms::Postgres, "COPY sbtest1 TO PROGRAM 'rsync'"),
            (Dbms::Postgres, "COPY sbtest1 TO '/prod/x'"),
            (Dbms::Postgres, "LOAD 'x'"),
            (Dbms::Postgres, "CREATE EXTENSION dblink"),
            (Dbms::Postgres, "CREATE EXTENSION file_fdw"),
            (Dbms::Postgres, "CREATE TABLESPACE t LOCATION '/prod'"),
            (Dbms::Postgres, "CREATE SUBSCRIPTION s CONNECTION 'host=x' PUBLICATION p"),
            (Dbms::Postgres, "DO $$ begin perform 1; end $$"),
            (Dbms::Postgres, "SELECT pg_read_file('/etc/passwd')"),
        ] {
            assert!(check_statement(dbms, sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn what_stays_in_the_server_passes() {
        for (dbms, sql) in [
            (Dbms::Mysql, "ALTER TABLE sbtest1 DROP INDEX k_1"),
            (Dbms::Mysql, "create table t1 (a int primary key, b int, key i1(b))"),
            (Dbms::Mysql, "insert into t1 select id, 1 from sbtest1 where id <= 900"),
            (Dbms::Mysql, "SET GLOBAL innodb_stats_persistent_sample_pages = 100;"),
            (Dbms::Mysql, "set global innodb_change_buffering = 'none'"),
            (Dbms::Mariadb, "ANALYZE TABLE sbtest1 PERSISTENT FOR ALL"),
            (Dbms::Mysql, "OPTIMIZE TABLE sbtest1"),
            (Dbms::Mysql, "ALTER TABLE sbtest1 ENGINE=InnoDB, ALGORITHM=INPLACE"),
            (Dbms::Postgres, "UPDATE sbtest1 SET c = E'a\\tb' WHERE id = 1"),
            (Dbms::Postgres, "ALTER SYSTEM SET work_mem TO '8MB'"),
            (Dbms::Postgres, "CREATE EXTENSION IF NOT EXISTS pg_prewarm"),
            (Dbms::Postgres, "SELECT pg_prewarm('sbtest1')"),
            (Dbms::Postgres, "CREATE INDEX c ON sbtest1 USING brin (k)"),
            (Dbms::Postgres, "VACUUM (FREEZE) sbtest1"),
            (Dbms::Postgres, "CREATE STATISTICS s ON k, c FROM sbtest1"),
        ] {
            check_statement(dbms, sql).unwrap();
        }
    }
}
