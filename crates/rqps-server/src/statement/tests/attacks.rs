//! What is refused on somebody else's server, and words of the reason. Each attack that was found stands here.

use super::guest::why;
use super::*;

/// What is refused, and words of the reason.
const LEAVES_THE_SCHEMA: &[(&str, &[&str])] = &[
    (
        "as a schema is",
        &[
            "SELECT * FROM later.orders",
            "SELECT * FROM \"later\".\"orders\"",
            "SELECT * FROM sbtest1 a, later.orders",
            "SELECT * FROM sbtest1 AS later, later.orders",
            "SELECT * FROM sbtest1 a JOIN sbtest2 b ON a.id = b.id, later.orders",
            "SELECT * FROM (later.orders)",
            "SELECT substring(NEXT VALUE FOR later.s, 1) FROM sbtest1 later",
            "SELECT (SELECT max(id) FROM later.orders)",
            "SELECT later.orders.id FROM sbtest1",
            "INSERT INTO later.orders VALUES (1)",
            "INSERT later.orders VALUES (1)",
            "REPLACE later.orders VALUES (1)",
            "UPDATE later.orders SET v = 1",
            "DELETE FROM later.orders",
            "DELETE later.orders FROM later.orders",
            "UPDATE sbtest1 a JOIN sbtest1 b ON a.id=b.id STRAIGHT_JOIN later.users later SET later.k=1",
            "UPDATE sbtest1 later STRAIGHT_JOIN later.users SET k=1",
            "SELECT 1 FROM sbtest1 WHERE id IN ((SELECT 1) UNION SELECT id FROM later.users later)",
            "SELECT substring((SELECT 1) UNION SELECT id FROM later.users) FROM sbtest1 later",
            "SELECT 1 FROM sbtest1 later JOIN t1 b ON @where, later.users u",
            "SELECT 1 FROM sbtest1 later JOIN t1 b ON @limit, later.users u",
            "SELECT 1 FROM sbtest1 offset, later.users later",
            "SELECT 1 FROM sbtest1 window, later.users later",
            "SELECT 1 FROM sbtest1 AS returning, later.users later",
            "SELECT 1 FROM sbtest1 later JOIN t1 b ON duplicate, later.users u",
            "SELECT @@global.x FROM sbtest1 global",
            "SELECT (SELECT 1 FROM t1 later JOIN t2 b ON percentile_disc(0.5) WITHIN GROUP (ORDER BY k) > 0, \
             later.users u) FROM sbtest1",
        ],
    ),
    (
        "no table or alias",
        &["SELECT later.c FROM sbtest1", "DELETE FROM sbtest1 WHERE later.c = 1"],
    ),
    (
        "only in FOR",
        &[
            "SELECT 1 FROM sbtest1 later USE INDEX FOR ORDER BY (k_1), later.users u",
            "SELECT 1 FROM sbtest1 later FOR SYSTEM_TIME ALL, later.users u",
            "SELECT NEXT VALUE FOR later.s",
            "SELECT c FROM sbtest1 AS later ORDER BY PREVIOUS VALUE FOR later.s",
            "UPDATE sbtest1 SET k = 1 ORDER BY NEXT VALUE FOR later.s",
        ],
    ),
    (
        "not between names",
        &[
            "SELECT 1 FROM .users",
            "SELECT 1 FROM later . users",
            "SELECT 1 FROM later /* */.users",
            "SELECT (t).x FROM sbtest1 t",
            "SELECT 1 FROM later. users",
        ],
    ),
    ("is not among the functions", &["SELECT sys_exec('x')", "SELECT load_file('/x') FROM t1"]),
    (
        "the server's own",
        &[
            "SELECT user FROM mysql",
            "SELECT 1 FROM sbtest1 AS information_schema",
            "SELECT 1 FROM pg_database FOR SHARE",
            "SELECT * FROM pg_hba_file_rules",
            "SELECT 1 FROM sbtest1 a, pg_authid",
            "ALTER TABLE pg_class ADD x int",
        ],
    ),
    (
        "rqps's own",
        &[
            "DELETE FROM rqps_made_this",
            "SELECT * FROM \"rqps_settings\"",
            "ALTER TABLE RQPS_made_this ADD x int",
            "SELECT c FROM rqps_00c0ffee.sbtest1",
        ],
    ),
    (
        "to a server given by its address rqps sends",
        &[
            "TRUNCATE shop.orders",
            "TRUNCATE TABLE sbtest1",
            "TRUNCATE sbtest1 CASCADE",
            "DROP TABLE sbtest1",
            "DROP TABLE sbtest1 CASCADE",
            "CREATE TABLE t (a int)",
            "CREATE TABLE t LIKE shop.orders",
            "CREATE TABLE m (id int) COMMENT \"shop\" UNION=(shop.log) INSERT_METHOD=LAST",
            "CREATE TABLE t (id int PRIMARY KEY AUTO_INCREMENT) AUTO_INCREMENT=1 ENGINE=CONNECT",
            "CREATE OR REPLACE VIEW v AS SELECT s.k FROM sbtest1 s",
            "CREATE MATERIALIZED VIEW v AS SELECT 1",
            "CREATE OR REPLACE SPATIAL REFERENCE SYSTEM 1 NAME 'x' DEFINITION 'y'",
            "CREATE OR REPLACE INDEX i ON sbtest1 (k)",
            "EXPLAIN ANALYZE FOR DATABASE shop SELECT 1",
            "EXPLAIN SELECT 1",
            "VALUES (1)",
            "TABLE users",
            "USE shop",
            "DROP DATABASE shop",
            "CREATE DATABASE shop2",
            "CREATE USER a",
            "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t",
            "CREATE OR REPLACE FUNCTION f() RETURNS int RETURN 1",
            "GRANT ALL ON x TO a",
            "RESET MASTER",
            "PURGE BINARY LOGS TO 'x'",
            "FLUSH TABLES",
            "LOAD DATA INFILE '/etc/passwd' INTO TABLE sbtest1",
            "CALL shop.p()",
            "KILL 1",
            "SHUTDOWN",
            "RENAME TABLE sbtest1 TO shop.x",
            "COMMIT RELEASE",
            "COMMIT PREPARED 'x'",
            "BEGIN NOT ATOMIC DELETE FROM x",
            "XA COMMIT 'x'",
            "LOCK TABLES sbtest1 WRITE",
            "CHECK TABLE sbtest1",
            "COMMENT ON TABLE sbtest1 IS 'x'",
            "",
        ],
    ),
    (
        "ALTER TABLE ...",
        &[
            "ALTER TABLE sbtest1 RENAME TO t2",
            "ALTER TABLE sbtest1 EXCHANGE PARTITION p WITH TABLE orders",
            "ALTER TABLE sbtest1 OWNER TO a",
            "ALTER TABLE sbtest1 SET SCHEMA public",
            "ALTER TABLE sbtest1 ADD COLUMN a int, INHERIT users",
            "ALTER TABLE sbtest1 ATTACH PARTITION p DEFAULT",
            "ALTER TABLE sbtest1 DISCARD TABLESPACE",
            "ALTER TABLE sbtest1 CONNECTION='mysql://x'",
        ],
    ),
    (
        "reaches beyond",
        &[
            "ALTER TABLE sbtest1 ENGINE=FEDERATED",
            "ALTER TABLE sbtest1 ENGINE='CONNECT'",
            "ALTER TABLE sbtest1 ENGINE=\"CONNECT\"",
            "ALTER TABLE sbtest1 ENGINE MERGE",
            "ALTER TABLE sbtest1 ENGINE=InnoDB CONNECTION='mysql://x'",
            "ALTER TABLE sbtest1 ENGINE=InnoDB DATA DIRECTORY='/x'",
            "CREATE INDEX i ON sbtest1 (k) TABLESPACE x",
        ],
    ),
    ("names other tables", &["ALTER TABLE shop ENGINE=InnoDB UNION=(users)"]),
    (
        "INTO is allowed",
        &["SELECT c INTO OUTFILE '/tmp/x' FROM sbtest1", "SELECT k INTO t FROM sbtest1"],
    ),
    (
        "without a schema",
        &[
            "CREATE INDEX i ON shop.orders (v)",
            "DROP INDEX i ON shop.orders",
            "ALTER TABLE shop ADD k int REFERENCES shop.users (id)",
        ],
    ),
    (
        "is allowed only at the beginning",
        &[
            "WITH x AS (DELETE FROM sbtest1 RETURNING id) SELECT x.id FROM x",
            "WITH x AS (SELECT 1) DELETE FROM sbtest1",
            "WITH x AS (SELECT 1) UPDATE sbtest1 SET k = 1",
            "INSERT INTO t1 WITH x AS (DELETE FROM sbtest1 RETURNING id) SELECT id FROM x",
        ],
    ),
    (
        "CASCADE would drop",
        &["ALTER TABLE sbtest1 DROP COLUMN k CASCADE", "DROP INDEX k_1 CASCADE"],
    ),
    (
        "space after",
        &[
            "SELECT 1.FROM users",
            "ALTER TABLE sbtest1 AUTO_INCREMENT=1.5e1ENGINE=CONNECT",
            "CREATE INDEX i ON sbtest1 (k) WHERE k > 1.TABLESPACE x",
            "SELECT 1e5.users",
            "SELECT 1'x'",
            "SELECT 1..2",
            "SELECT {table}FROM users",
            "SELECT x{table} FROM users",
        ],
    ),
    ("alone are written in braces", &["SELECT {x id}FROM shop.users shop FOR UPDATE"]),
    ("more than one statement", &["SELECT 1; DROP DATABASE shop"]),
    ("is not closed", &["SELECT 'open", "SELECT \"open"]),
    (
        "letters, digits",
        &["SELECT 1 FROM \"#mysql50#shop\"", "SELECT 1 FROM \"shop@x\"", "SELECT \"\""],
    ),
    ("backslash", &["SELECT 'a\\' FROM x --'", "SELECT 'a\\\\_'", "SELECT 'a\\n'"]),
    ("outside of a string", &["SELECT \\N", "SELECT \u{e9} FROM sbtest1", "SELECT 1 /* \u{e9} */"]),
    ("has the character", &["SELECT 1 --\r; DROP DATABASE x", "SELECT 'a\u{0}'"]),
    ("a hint in it", &["SELECT /*+ SET_VAR(sql_mode = '') */ 1", "SELECT /*+ Set(x 1) */ 1"]),
];

/// Statements that pass, and those that are refused for another reason.
fn unlike(dbms: Dbms, groups: &[(&str, &[&str])]) -> Vec<String> {
    let mut unlike = Vec::new();
    for (words, all) in groups {
        for sql in *all {
            let why = why(dbms, sql).unwrap_or_else(|| "passes".to_owned());
            if !why.contains(words) {
                unlike.push(format!("{dbms:?}: {sql}: {why}"));
            }
        }
    }
    unlike
}

#[test]
fn statements_that_leave_the_schema_are_refused() {
    let unlike = [Dbms::Mysql, Dbms::Postgres].map(|dbms| unlike(dbms, LEAVES_THE_SCHEMA)).concat();
    assert!(unlike.is_empty(), "{unlike:#?}");
}

const OF_MYSQL: &[(&str, &[&str])] = &[
    ("may execute", &["/*!50000 DELETE FROM shop.orders */", "/*M! DELETE FROM shop.orders */"]),
    ("letters, digits", &["SELECT 1 FROM `#mysql50#shop`.orders", "SELECT 1 FROM `#mysql50#shop`"]),
    (
        "rqps sends",
        &[
            "ANALYZE FORMAT=JSON SELECT 1",
            "ANALYZE DELETE FROM sbtest1",
            "ANALYZE TABLE",
            "VACUUM sbtest1",
            "OPTIMIZE TABLE sbtest1 shop",
        ],
    ),
    (
        "is not among the functions",
        &["ALTER TABLE t ADD UNIQUE ((f(10)))", "ALTER TABLE t ADD KEY k ((f(10)))"],
    ),
    (
        "is not among the settings",
        &[
            "SET GLOBAL innodb_io_capacity = 1",
            "SET @@global.innodb_io_capacity = 1",
            "SET PERSIST innodb_io_capacity = 1",
            "SET PASSWORD = 'x'",
            "SET ROLE x",
            "SET gtid_domain_id = 7",
            "SET gtid_seq_no = 7",
            "SET server_id = 7",
            "SET SESSION skip_replication = 1",
            "SET pseudo_thread_id = 7",
            "SET binlog_format = 'STATEMENT'",
            "SET sql_log_bin = 0",
            "SET foreign_key_checks = 0",
            "SET wait_timeout = 1",
            "SET NAMES gbk",
            "SET @x = 1",
            "SET STATEMENT max_statement_time=0 FOR DROP DATABASE x",
        ],
    ),
    ("more than one plain", &["SET sort_buffer_size = 1, GLOBAL general_log = 1"]),
    (
        "is a schema of the server",
        &["SELECT shop.c FROM sbtest1 AS shop", "SELECT 1 FROM t1 `SHOP`"],
    ),
];

const OF_POSTGRES: &[(&str, &[&str])] = &[
    (
        "as a schema is",
        &[
            "SELECT * FROM sbtest1 set, later.users later FOR UPDATE",
            "SELECT * FROM sbtest1 values, later.users later",
            "INSERT INTO sbtest1 SELECT 1 FROM t1 values (a, b), later.users later",
            "SELECT * FROM (WITH set AS (SELECT 1) SELECT 1 FROM set set, later.users later) later",
            "UPDATE sbtest1 SET k = 1 FROM t1 set, later.users later",
            "SELECT 1 FROM sbtest1 later JOIN t1 b ON conflict, later.users u",
            "SELECT 'x'::later.t FROM sbtest1 later",
            "SELECT later.t 'x' FROM sbtest1 later",
            "SELECT c COLLATE later.x FROM sbtest1 later",
            "SELECT CAST(c AS later.x) FROM sbtest1 later",
            "SELECT * FROM LATERAL ROWS FROM (later.md5(1)) later",
        ],
    ),
    (
        "is not among the functions",
        &[
            "SELECT set_config('search_path', 'public', false)",
            "SELECT pg_table_size('public.orders')",
            "SELECT pg_prewarm('public.orders')",
            "SELECT nextval('public.s')",
            "SELECT lo_export(1, '/x') FROM sbtest1",
            "SELECT \"lo_export\"(1, '/x')",
            "SELECT 1 OPERATOR(+) 2",
            "DELETE FROM sbtest1 USING t1 a JOIN t1 b ON lo_unlink(1) = 0",
            "CREATE INDEX i ON sbtest1 (lo_unlink(1))",
            "CREATE INDEX i ON sbtest1 (k) WHERE lo_unlink(1) = 0",
            "ALTER TABLE sbtest1 ADD CHECK (lo_unlink(1) = 0)",
            "ALTER TABLE sbtest1 ALTER k TYPE int USING lo_unlink(1)",
            "SELECT 1 FROM sbtest1 a JOIN t1 b ON pg_reload_conf()",
        ],
    ),
    (
        "rqps sends",
        &[
            "CREATE TABLE x AS WITH m AS (DELETE FROM one USING one a JOIN one b ON lo_unlink(1)=0 \
             RETURNING 1) TABLE m",
            "ALTER SYSTEM SET fsync = off",
            "COPY sbtest1 TO PROGRAM 'sh'",
            "VACUUM",
            "VACUUM FULL",
            "VACUUM ANALYSE",
            "VACUUM FULL ANALYSE",
            "VACUUM (ANALYZE)",
            "VACUUM (SKIP_DATABASE_STATS)",
            "VACUUM (BUFFER_USAGE_LIMIT '1MB')",
            "VACUUM sbtest1 CASCADE",
            "CHECKPOINT",
            "ANALYZE",
            "ANALYSE VERBOSE",
            "REINDEX DATABASE shop",
            "REINDEX TABLE sbtest1",
            "CLUSTER",
            "DO $$ begin end $$",
            "MERGE INTO public.orders USING sbtest1 ON true WHEN MATCHED THEN DELETE",
            "CREATE EXTENSION dblink",
            "PREPARE TRANSACTION 'x'",
            "/* /* */ DROP TABLE x */ DROP SCHEMA public",
            "LISTEN x",
        ],
    ),
    (
        "is not among the settings",
        &[
            "SET search_path TO public",
            "SET log_statement = 'all'",
            "SET ROLE x",
            "SET SESSION AUTHORIZATION x",
            "SET idle_session_timeout = 1",
            "SET jit_dump_bitcode = on",
            "SET default_transaction_read_only = on",
            "SET auto_explain.log_min_duration = 0",
            "SET session_replication_role = replica",
        ],
    ),
    (
        "for the call",
        &[
            "SELECT f.lo_unlink FROM unnest(ARRAY[16384::oid]) f",
            "SELECT f.pg_read_file FROM unnest(ARRAY['/x']) AS f",
            "SELECT unnest.lo_import FROM unnest(ARRAY['/x'])",
            "SELECT f.lo_unlink FROM sbtest1 t JOIN unnest(ARRAY[1::oid]) f ON true",
            "SELECT f.lo_import FROM ROWS FROM (lower('/x')) f",
            "SELECT f.lo_import FROM sbtest1 t, lower(t.c) f",
            "SELECT lo_unlink.lo_unlink FROM unnest(ARRAY[1::oid]) AS lo_unlink (x)",
            "SELECT lo_import.lo_import FROM jsonb_array_elements_text('[1]') lo_import",
            "SELECT f.lo_unlink FROM unnest(ARRAY[1::oid]) AS f (\"LO_UNLINK\")",
            "SELECT (SELECT f.lo_unlink FROM unnest(ARRAY[1::oid]) f) FROM (SELECT 1) AS f (lo_unlink)",
            "SELECT btrim.lo_import FROM (SELECT '/x' AS btrim) AS a, btrim(btrim)",
            "DELETE FROM sbtest1 t USING unnest(ARRAY[1::oid]) f WHERE f.lo_unlink = t.k",
        ],
    ),
    (
        "no certain name",
        &[
            "SELECT f.nextval FROM cast('shop.s' AS regclass) f",
            "SELECT (SELECT text.lo_import FROM cast('/x' AS text)) FROM sbtest1 text",
            "SELECT btrim.lo_import FROM sbtest1 btrim, LATERAL trim('/x')",
            "SELECT f.lo_import FROM current_user f",
            "SELECT f.lo_import FROM ROWS FROM (current_user) f",
        ],
    ),
    ("Unicode escapes", &["SELECT U&\"lo!005fexport\" UESCAPE '!' (1, '/x')"]),
];

#[test]
fn statements_of_one_dbms_that_leave_the_schema_are_refused() {
    let unlike = [
        unlike(Dbms::Mysql, OF_MYSQL),
        unlike(Dbms::Mariadb, OF_MYSQL),
        unlike(Dbms::Postgres, OF_POSTGRES),
    ];
    assert!(unlike.concat().is_empty(), "{unlike:#?}");
}
