//! Which statements are sent to somebody else's server, and which are not.

use super::*;

fn why(dbms: Dbms, sql: &str) -> Option<String> {
    let others = ["shop", "public", "offset"].map(str::to_owned);
    judge(dbms, sql, Place::Entered { schema: "rqps_00c0ffee", others: &others }).err()
}

#[test]
fn statements_on_the_benchmarks_tables_pass() {
    for sql in [
        "SELECT c FROM {table} WHERE id=?",
        "SELECT t.c, {table}.k FROM {table} AS t JOIN sbtest2 s ON t.id = s.id AND s.k > 1.5",
        "SELECT SUM(k) FROM {table} WHERE id BETWEEN ? AND ? FOR UPDATE",
        "SELECT b, a FROM t1 FORCE KEY(i1) WHERE b=1 ORDER BY a DESC LIMIT 1 /* mysql.user */",
        "SELECT EXTRACT(YEAR FROM t.d), '; DROP TABLE mysql.user' FROM t1 t",
        "SELECT 1.5, .5, 1., 2e3 FROM sbtest1",
        "INSERT INTO {table} (id,k,c,pad) VALUES ({list}) ON DUPLICATE KEY UPDATE {table}.k = 1",
        "UPDATE sbtest1 a, sbtest2 b SET a.k = b.k WHERE a.id = b.id",
        "DELETE FROM {table} WHERE id=?;",
        "create table t1 (a int primary key, b int, key i1(b))",
        "insert into t1 select id, 1 from sbtest1 where id <= 900",
        "CREATE INDEX i2 ON sbtest1 (pad, k)",
        "ALTER TABLE sbtest1 ADD INDEX (c), ENGINE=InnoDB",
        "ANALYZE TABLE sbtest1",
        "SELECT c FROM rqps_00c0ffee.sbtest1",
        "SET SESSION sort_buffer_size = 1000000",
        "SELECT CONCAT(c, '-', COUNT(*)) FROM sbtest1 GROUP BY c HAVING COUNT(*) > 1",
        "SELECT c FROM sbtest1 WHERE id IN (SELECT k FROM sbtest2) AND (k > 1 OR NOT (k = 3))",
        "WITH x AS (SELECT k FROM sbtest1) SELECT x.k FROM x",
        "CREATE OR REPLACE VIEW v AS SELECT s.k FROM sbtest1 s",
    ] {
        assert_eq!(why(Dbms::Mysql, sql), None, "{sql}");
    }
    for sql in ["VACUUM (FULL, ANALYZE) sbtest1", "SELECT $$mysql.user$$ FROM sbtest1"] {
        assert_eq!(why(Dbms::Postgres, sql), None, "{sql}");
    }
}

#[test]
fn statements_that_reach_further_are_refused() {
    for sql in [
        "SELECT * FROM shop.orders",
        "SELECT * FROM `shop` . `orders`",
        "SELECT * FROM sbtest1 a, shop.orders",
        "SELECT * FROM sbtest1 AS shop, shop.orders",
        "SELECT * FROM sbtest1 a JOIN sbtest2 b ON a.id = b.id, shop.orders",
        "SELECT * FROM (shop.orders)",
        "SELECT (SELECT max(id) FROM shop.orders)",
        "SELECT shop.orders.id FROM sbtest1",
        "SELECT shop.delete_all()",
        "INSERT INTO shop.orders VALUES (1)",
        "INSERT shop.orders VALUES (1)",
        "REPLACE shop.orders VALUES (1)",
        "UPDATE shop.orders SET v = 1",
        "DELETE FROM shop.orders",
        "/*!50000 DELETE FROM shop.orders */",
        "/*M! DELETE FROM shop.orders */",
        "TRUNCATE shop.orders",
        "TRUNCATE TABLE shop.orders",
        "DROP TABLE sbtest1, shop.orders",
        "DROP INDEX i ON shop.orders",
        "CREATE INDEX i ON shop.orders (v)",
        "CREATE TABLE t LIKE shop.orders",
        "CREATE TABLE t (a int REFERENCES shop.orders (id))",
        "CREATE TABLE t (a int) ENGINE=MERGE UNION=(shop.a)",
        "ALTER TABLE sbtest1 RENAME TO shop.sbtest1",
        "ALTER TABLE sbtest1 RENAME shop.sbtest1",
        "ALTER TABLE sbtest1 EXCHANGE PARTITION p WITH TABLE shop.orders",
        "SELECT 1; DROP DATABASE shop",
        "USE shop",
        "DROP DATABASE shop",
        "CREATE DATABASE shop2",
        "CREATE USER a",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t",
        "CREATE OR REPLACE FUNCTION f() RETURNS int RETURN 1",
        "GRANT ALL ON *.* TO a",
        "SET GLOBAL innodb_io_capacity = 1",
        "SET @@global.innodb_io_capacity = 1",
        "SET PERSIST innodb_io_capacity = 1",
        "SET PASSWORD = 'x'",
        "RESET MASTER",
        "PURGE BINARY LOGS TO 'x'",
        "FLUSH TABLES",
        "LOAD DATA INFILE '/etc/passwd' INTO TABLE sbtest1",
        "SELECT c INTO OUTFILE '/tmp/x' FROM sbtest1",
        "CALL shop.p()",
        "KILL 1",
        "SHUTDOWN",
        "",
        "SELECT 'open",
        "UPDATE sbtest1 a JOIN sbtest1 b ON a.id=b.id STRAIGHT_JOIN shop.users shop SET shop.k=1",
        "UPDATE sbtest1 AS offset, shop.users AS shop SET shop.name=CHAR(88)",
        "CREATE TABLE m (id int) COMMENT \"shop\" UNION=(shop.log) INSERT_METHOD=LAST",
        "SELECT {x id}FROM shop.users shop FOR UPDATE",
        "SELECT 1 FROM sbtest1 WHERE id IN ((SELECT 1) UNION SELECT id FROM shop.users shop)",
        "SELECT a FROM `SHOP`.users SHOP",
        "SELECT 1e5.users",
        "SELECT sys_exec('x')",
    ] {
        assert!(why(Dbms::Mysql, sql).is_some(), "{sql}");
    }
}

#[test]
fn statements_of_postgresql_that_reach_further_are_refused() {
    for sql in [
        "SELECT * FROM public.orders",
        "SELECT * FROM \"public\".\"orders\"",
        "SET search_path TO public",
        "SELECT set_config('search_path', 'public', false)",
        "SELECT pg_catalog.set_config('search_path', 'public', false)",
        "ALTER TABLE sbtest1 SET SCHEMA public",
        "ALTER SYSTEM SET fsync = off",
        "COPY sbtest1 TO PROGRAM 'sh'",
        "VACUUM",
        "VACUUM FULL",
        "VACUUM (ANALYZE)",
        "VACUUM (SKIP_DATABASE_STATS)",
        "VACUUM (BUFFER_USAGE_LIMIT '1MB')",
        "SELECT * FROM sbtest1 set, public.users public FOR UPDATE",
        "ALTER TABLE sbtest1 ADD COLUMN public int, INHERIT public.users",
        "CHECKPOINT",
        "ANALYZE",
        "REINDEX DATABASE shop",
        "DO $$ begin end $$",
        "WITH x AS (DELETE FROM public.orders RETURNING id) SELECT x.id FROM x",
        "MERGE INTO public.orders USING sbtest1 ON true WHEN MATCHED THEN DELETE",
        "CREATE EXTENSION dblink",
        "/* /* */ DROP TABLE x */ DROP SCHEMA public",
    ] {
        assert!(why(Dbms::Postgres, sql).is_some(), "{sql}");
    }
}

#[test]
fn a_refusal_names_the_word_and_what_to_write() {
    expect_test::expect![[r#"
        "SELECT * FROM shop.orders" is not sent to a server given by its address: "shop" stands before a point like a schema; name tables without one, as they lie in rqps's own schema"#]]
    .assert_eq(&check(Dbms::Mysql, "SELECT * FROM shop.orders", Place::Guest).unwrap_err().to_string());
}
