//! What is sent to somebody else's server.

use super::*;

pub(super) fn why(dbms: Dbms, sql: &str) -> Option<String> {
    let others = ["shop", "public"].map(str::to_owned);
    judge_guest(dbms, sql, &others).err()
}

const PASS_EVERYWHERE: &[&str] = &[
    "SELECT c FROM {table} WHERE id=?",
    "SELECT t.c, {table}.k FROM {table} AS t JOIN sbtest2 s ON t.id = s.id AND s.k > 1.5",
    "SELECT SUM(k) FROM {table} WHERE id BETWEEN ? AND ? FOR UPDATE",
    "SELECT k, c FROM {table} WHERE k IN ({list})",
    "SELECT EXTRACT(YEAR FROM t.d), '; DROP TABLE mysql.user' FROM t1 t",
    "SELECT 1.5, .5, 1., 2e3, 1e-3 FROM sbtest1",
    "SELECT t.* FROM sbtest1 t WHERE t.c LIKE 'a\\_%'",
    "SELECT c FROM sbtest1 WHERE c = 'Größe'",
    "UPDATE sbtest1 SET c = REPLACE(c, 'a', 'b') WHERE id = 1",
    "DELETE FROM {table} WHERE id=?;",
    "insert into t1 select id, 1 from sbtest1 where id <= 900",
    "INSERT INTO sbtest1 (id, k, c, pad) VALUES (1, 2, 'x', 'y'), (2, 3, 'x', 'y')",
    "CREATE INDEX i2 ON sbtest1 (pad, k)",
    "CREATE UNIQUE INDEX i2 ON sbtest1 (id, k)",
    "DROP INDEX k_1",
    "ALTER TABLE sbtest1 DROP INDEX k_1, ADD COLUMN x varchar(10) DEFAULT 'a'",
    "ALTER TABLE sbtest1 ADD FOREIGN KEY (k) REFERENCES t1 (id) ON DELETE CASCADE",
    "SELECT CONCAT(c, '-', COUNT(*)) FROM sbtest1 GROUP BY c HAVING COUNT(*) > 1",
    "SELECT c FROM sbtest1 WHERE id IN (SELECT k FROM sbtest2) AND (k > 1 OR NOT (k = 3))",
    "SELECT rank() OVER (PARTITION BY t.k, t.c ORDER BY t.id) FROM sbtest1 t",
    "WITH x (k) AS (SELECT k FROM sbtest1) SELECT x.k FROM x FOR UPDATE",
    "SELECT a.k FROM sbtest1 a LEFT JOIN (SELECT k FROM sbtest2) b ON a.k = b.k ORDER BY a.k LIMIT 1",
    "BEGIN",
    "START TRANSACTION READ ONLY",
    "COMMIT",
    "SAVEPOINT a",
    "ROLLBACK TO SAVEPOINT a",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
];

const PASS_ON_MYSQL: &[&str] = &[
    "SELECT b, a FROM t1 FORCE KEY(i1) WHERE b=1 ORDER BY a DESC LIMIT 1 /* mysql.user */",
    "SELECT /*+ NO_INDEX_MERGE(t) */ c FROM sbtest1 t",
    "SELECT SQL_NO_CACHE t.c FROM sbtest1 AS t LOCK IN SHARE MODE",
    "SELECT a.k FROM sbtest1 a STRAIGHT_JOIN sbtest2 b ON a.id = b.id",
    "INSERT INTO {table} (id,k,c,pad) VALUES ({list}) ON DUPLICATE KEY UPDATE {table}.k = 1",
    "INSERT INTO sbtest1 (id) VALUES (1) AS new ON DUPLICATE KEY UPDATE k = new.k, id = new.id",
    "INSERT INTO sbtest1 SELECT a.id FROM t1 a ON DUPLICATE KEY UPDATE k = a.k, c = a.c",
    "INSERT IGNORE INTO sbtest1 (id) VALUES (1)",
    "REPLACE INTO sbtest1 (id) VALUES (1)",
    "UPDATE sbtest1 a, sbtest2 b SET a.k = b.k WHERE a.id = b.id",
    "DELETE a FROM sbtest1 a JOIN sbtest2 b ON a.id = b.id WHERE b.k = 1",
    "CREATE INDEX i2 ON sbtest1 (c(10), k) ALGORITHM=INPLACE",
    "DROP INDEX k_1 ON sbtest1",
    "ALTER TABLE sbtest1 ADD INDEX (c), ENGINE=InnoDB, ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
    "ALTER TABLE sbtest1 ADD UNIQUE KEY u (c(10)), RENAME INDEX k_1 TO k_2",
    "ALTER TABLE sbtest1 PARTITION BY HASH(id) PARTITIONS 4",
    "ANALYZE TABLE sbtest1",
    "ANALYZE TABLE sbtest1 UPDATE HISTOGRAM ON k WITH 100 BUCKETS",
    "ANALYZE TABLE sbtest1 PERSISTENT FOR ALL",
    "OPTIMIZE TABLE sbtest1, sbtest2",
    "SET SESSION sort_buffer_size = 1000000",
    "SET @@session.optimizer_switch = 'mrr=on'",
    "SET NAMES utf8mb4",
    "SET SESSION max_execution_time = 1000",
    "SELECT @x := t.k FROM sbtest1 t",
];

const PASS_ON_POSTGRES: &[&str] = &[
    "VACUUM (FULL, ANALYZE) sbtest1",
    "VACUUM ANALYZE sbtest1 (k), sbtest2",
    "VACUUM FREEZE sbtest1",
    "ANALYZE sbtest1 (k, c)",
    "ANALYSE VERBOSE sbtest1",
    "SELECT $$mysql.user$$ FROM sbtest1",
    "SELECT t.k::text, -t.k FROM sbtest1 t WHERE t.k IS DISTINCT FROM t.id",
    "UPDATE sbtest1 t SET k = s.k FROM sbtest2 s WHERE s.id = t.id RETURNING t.k",
    "INSERT INTO sbtest1 (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET k = excluded.k",
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON ONLY sbtest1 USING brin (k) WITH (fillfactor = 70)",
    "CREATE INDEX ON sbtest1 (lower(c)) INCLUDE (k) WHERE k > 10",
    "ALTER TABLE sbtest1 SET (fillfactor = 70), ALTER COLUMN k SET STATISTICS 1000",
    "ALTER TABLE ONLY sbtest1 SET UNLOGGED",
    "SET work_mem TO '8MB'",
    "SET enable_seqscan = off",
    "SET synchronous_commit = off",
    "SET statement_timeout = '10s'",
    "SET hnsw.ef_search = 100",
    "SET ivfflat.probes TO 10",
    "SELECT g FROM generate_series(1, 10) g",
    "SELECT g.g, h.x, h.y, i.*, generate_series.generate_series FROM generate_series(1, 10) AS g, \
     unnest(ARRAY[1]) WITH ORDINALITY AS h (x, y), generate_series(1, 2) i, generate_series(1, 3)",
    "SELECT e.key, a.value, s.k, t.c FROM jsonb_each('{}') e, jsonb_array_elements('[]') a, \
     LATERAL (SELECT max(k) AS k FROM sbtest2) s JOIN (sbtest1 a JOIN sbtest2 b USING (id)) t ON true",
    "SELECT e.value FROM sbtest1 t, jsonb_each(t.j) e, generate_series(CURRENT_DATE, now(), '1 day') d",
    "INSERT INTO sbtest1 (id) SELECT 1 ON CONFLICT (id) DO UPDATE SET k = sbtest1.k + 1",
    "WITH x (k) AS (SELECT k FROM sbtest1) SELECT x.c, y.j FROM x, generate_series(1, 2) AS y (j)",
];

#[test]
fn statements_on_the_benchmarks_tables_pass() {
    let mut refused = Vec::new();
    for (dbms, own) in [(Dbms::Mysql, PASS_ON_MYSQL), (Dbms::Postgres, PASS_ON_POSTGRES)] {
        for sql in PASS_EVERYWHERE.iter().chain(own) {
            refused.extend(why(dbms, sql).map(|why| format!("{dbms:?}: {sql}: {why}")));
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn columns_named_as_a_schema_of_the_server_pass() {
    let others = ["k", "pad"].map(str::to_owned);
    let sql = "INSERT INTO sbtest1 (id, k, c, pad) VALUES (1, 2, 'x', 'y')";
    assert_eq!(judge_guest(Dbms::Mysql, sql, &others), Ok(()));
}

#[test]
fn a_refusal_names_the_word_and_what_to_write() {
    expect_test::expect![[r#"
        "SELECT * FROM shop.orders" is not sent to a server given by its address: "shop" is before a point, as a schema is; name tables without one, as they lie in rqps's own schema"#]]
    .assert_eq(&check_guest(Dbms::Mysql, "SELECT * FROM shop.orders", &[]).unwrap_err().to_string());
}
