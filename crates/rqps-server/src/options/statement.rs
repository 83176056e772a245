//! Statements of a plan for a server that rqps starts: they go through the same table as options.

use rqps_model::Dbms;

use super::table::{Found, Treatment, table};
use super::{Setting, Written, classify};
use crate::Error;
use crate::guest::statement::{self, Place};
use crate::instance::DATABASE;

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

/// Refuses a statement that could make a server of rqps touch what is not its own.
///
/// # Errors
/// [`Error::RefusedOption`] with the statement.
pub fn check_statement(dbms: Dbms, sql: &str) -> Result<(), Error> {
    let plain = one_line(sql);
    if let Some(assignment) = after(&plain, SETS_ALL) {
        return check_assignment(dbms, sql, assignment);
    }
    if dbms == Dbms::Postgres
        && let Some(name) = after(&plain, CREATES_EXTENSION)
    {
        return check_extension(sql, name);
    }
    let schema = if dbms == Dbms::Postgres { "public" } else { DATABASE };
    statement::judge(dbms, sql, Place::Own(schema)).map_err(|why| refusal(sql, why))
}

/// Why a SET of a session may not be sent: it is more than one plain value, or leads further than the session.
pub(crate) fn check_session_setting(dbms: Dbms, sql: &str) -> Result<(), String> {
    let plain = one_line(sql);
    let isolation =
        ["set transaction isolation level ", "set session transaction isolation level "];
    if let Some(level) = after(&plain, &isolation) {
        let is_level = level.bytes().all(|b| b.is_ascii_alphabetic() || b == b' ');
        return if is_level { Ok(()) } else { Err("write the level alone".to_owned()) };
    }
    let assignment = after(&plain, SETS_SESSION).unwrap_or_default();
    let name = assignment.split([' ', '=', ':']).next().unwrap_or_default().to_ascii_lowercase();
    // MySQL has a scope before the point; PostgreSQL's extensions have their name there.
    if NOT_OF_SESSION.contains(&name.as_str())
        || (dbms != Dbms::Postgres && name.contains('.'))
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

fn refusal(sql: &str, detail: String) -> Error {
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

    const LEADS_OUT: &[(Dbms, &str)] = &[
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
        (Dbms::Mariadb, "SET STATEMENT max_statement_time=0 FOR DROP DATABASE x"),
        (Dbms::Mariadb, "SET STATEMENT a=1 FOR EXECUTE IMMEDIATE 'x'"),
        (Dbms::Mysql, "SET RESOURCE GROUP g FOR 5"),
        (Dbms::Mysql, "SET NAMES gbk"),
        (Dbms::Mysql, "SET @@session.innodb_tmpdir = '/prod'"),
        (Dbms::Mysql, "SET innodb_tmpdir = '/prod'"),
        (Dbms::Mysql, "SET @@global.sync_binlog = 1, @@global.general_log_file = '/x'"),
        (Dbms::Mysql, "SET `sql_log_bin` = 0"),
        (Dbms::Mysql, "SET default_storage_engine = MRG_MYISAM"),
        (Dbms::Mysql, "SET PASSWORD = 'x'"),
        (Dbms::Mysql, "SET SESSION TRANSACTION READ ONLY"),
        (Dbms::Mysql, "SET @x = 1, @\"a\\\" = 1, GLOBAL general_log = 1 -- \" = 1"),
        (Dbms::Mysql, "CREATE TABLE t (a int) ENGINE='CONNECT' FILE_NAME='/x'"),
        (Dbms::Postgres, "SET \"search_path\" TO public"),
        (Dbms::Postgres, "SET client_encoding = 'GBK'"),
        (Dbms::Postgres, "SET SESSION AUTHORIZATION x"),
        (Dbms::Postgres, "SELECT U&\"lo!005fexport\" UESCAPE '!' (1, '/x')"),
        (Dbms::Postgres, "SELECT u&\"lo!005fexport\" (1, '/x')"),
        (Dbms::Postgres, "SELECT 1 --\r; COPY (SELECT 'x') TO PROGRAM 'x' --"),
        (Dbms::Postgres, "SELECT '\u{20ac}'"),
        (Dbms::Postgres, "UPDATE sbtest1 SET c = E'a\\tb' WHERE id = 1"),
        (Dbms::Postgres, "SELECT brin_summarize_new_values('b')"),
        (Dbms::Postgres, "DELETE FROM sbtest1 USING lo_unlink(1)"),
        (Dbms::Postgres, "ROLLBACK PREPARED 'x'"),
        (Dbms::Postgres, "COMMIT PREPARED 'x'"),
        (Dbms::Postgres, "COMMENT ON DATABASE site IS 'x'"),
        (Dbms::Postgres, "EXPLAIN (ANALYZE) UPDATE pg_database SET datconnlimit = 0"),
        (Dbms::Mysql, "CREATE VIEW v AS SELECT 1 FROM sbtest1 a JOIN sbtest1 b ON load_file('/x')"),
        (Dbms::Mariadb, "ANALYZE FORMAT=JSON SELECT load_file('/x') FROM sbtest1"),
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
    ];

    #[test]
    fn what_leads_out_is_refused() {
        for (dbms, sql) in LEADS_OUT {
            assert!(check_statement(*dbms, sql).is_err(), "{sql}");
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
            (Dbms::Mariadb, "ANALYZE TABLE sbtest1 PERSISTENT FOR COLUMNS (k) INDEXES (k_1)"),
            (Dbms::Postgres, "ANALYZE sbtest1 (k, c)"),
            (Dbms::Mysql, "OPTIMIZE TABLE sbtest1"),
            (Dbms::Mysql, "ALTER TABLE sbtest1 ENGINE=InnoDB, ALGORITHM=INPLACE"),
            (Dbms::Mysql, "set  session sort_buffer_size = 1000000"),
            (Dbms::Mysql, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"),
            (Dbms::Postgres, "SET work_mem TO '8MB'"),
            (Dbms::Postgres, "CHECKPOINT"),
            (Dbms::Postgres, "VACUUM ANALYZE"),
            (Dbms::Postgres, "REINDEX (VERBOSE) TABLE sbtest1"),
            (Dbms::Postgres, "CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM sbtest1"),
            (Dbms::Postgres, "INSERT INTO t1 SELECT i, md5(i::text) FROM generate_series(1, 10) i"),
            (
                Dbms::Mysql,
                "CREATE TABLE t1 (a varchar(10) DEFAULT 'x', KEY k1 (a), CHECK (a <> 'y'))",
            ),
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
