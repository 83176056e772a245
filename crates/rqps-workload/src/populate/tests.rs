//! What is sent to fill tables, and that it does not depend on who sends it.

use std::collections::BTreeMap;

use expect_test::expect;
use rqps_client::ServerError;

use super::*;
use crate::Size;
use crate::fake::Recorder;

fn spec(dbms: Dbms, tables: u32, rows: u64) -> LoadSpec {
    let args = SuiteArgs { tables, rows, ..Size::Tiny.args() };
    let engine = dbms.default_engine();
    LoadSpec::new(&args, dbms, engine, 7)
}

/// Populates with so many loaders; returns the rows of each table by id, and the statements.
fn load(spec: &LoadSpec, n_loaders: u32) -> (BTreeMap<String, String>, Vec<String>) {
    let mut rows = BTreeMap::new();
    let mut sent = Vec::new();
    for parts in spec.split(n_loaders) {
        let mut connection = Recorder::server();
        let mut n_rows = 0;
        for part in &parts {
            populate_table_part(&mut connection, spec, part, &mut |n| {
                n_rows += n;
                true
            })
            .unwrap();
        }
        let expected: u64 = parts.iter().map(|part| part.ids.end() - part.ids.start() + 1).sum();
        assert_eq!(n_rows, expected);
        for sql in &connection.log {
            let (head, values) = sql.split_once(" VALUES ").unwrap();
            for row in values.trim_matches(['(', ')']).split("),(") {
                let id = row.split(',').next().unwrap();
                assert_eq!(rows.insert(format!("{head} {id}"), row.to_owned()), None, "{id}");
            }
        }
        sent.append(&mut connection.log);
    }
    (rows, sent)
}

#[test]
fn rows_are_the_same_whoever_loads_them() {
    let spec = spec(Dbms::Mysql, 2, 3000);
    let (alone, _) = load(&spec, 1);
    assert_eq!(alone.len(), 6000);
    for n_loaders in [2, 3, 5, 16] {
        assert_eq!(load(&spec, n_loaders).0, alone, "{n_loaders} loaders");
    }
    let other_seed = LoadSpec { seed: 8, ..spec.clone() };
    assert_ne!(load(&other_seed, 1).0, alone);
    let (postgres, _) = load(&LoadSpec { dbms: Dbms::Postgres, ..spec }, 1);
    assert_eq!(postgres, alone);
}

#[test]
fn a_row_never_changes_between_versions() {
    let (rows, _) = load(&spec(Dbms::Mysql, 2, 2), 1);
    let text: Vec<String> = rows.iter().map(|(key, row)| format!("{key}: {row}\n")).collect();
    expect![[r#"
        INSERT INTO sbtest1 (id,k,c,pad) 1: 1,2,'07441438360-24333825485-22548964679-18199156307-97072560017-55871373509-46271866586-93021837287-49390967583-09714605316','70090010836-31227570904-78463521258-04137940778-80708274845'
        INSERT INTO sbtest1 (id,k,c,pad) 2: 2,1,'18241502413-91000832401-95298659624-63794386517-22961016840-19523712017-11296170345-43010903970-26796735915-91162667464','18131074101-63472031330-74879395270-86976982473-26104661768'
        INSERT INTO sbtest2 (id,k,c,pad) 1: 1,2,'62415561784-25325415675-28102744561-58062469635-38458049108-97463320441-13277523153-06969918518-91249290703-49198792136','36557558344-34796244412-43643859499-98147112989-41539457806'
        INSERT INTO sbtest2 (id,k,c,pad) 2: 2,2,'07995892680-25333781937-83891630598-06600054698-72745307132-16582940499-31736936292-05544196176-56937143055-01274905960','87716336587-01138692710-74752190368-83318707628-75421914170'
    "#]].assert_eq(&text.concat());
}

#[test]
fn statements_stay_near_half_a_megabyte() {
    let (rows, sent) = load(&spec(Dbms::Mysql, 1, 10_000), 1);
    assert_eq!(rows.len(), 10_000);
    let sizes: Vec<usize> = sent.iter().map(String::len).collect();
    assert!(sizes.iter().all(|&bytes| bytes <= INSERT_BYTES), "{sizes:?}");
    assert!(sizes[..sizes.len() - 1].iter().all(|&bytes| bytes > INSERT_BYTES - 2 * ROW_BYTES));
}

#[test]
fn work_is_split_evenly_and_completely() {
    for (tables, rows, n_loaders) in [(1, 10, 3), (4, 100, 2), (4, 100, 6), (2, 1, 8), (3, 5, 1)] {
        let spec = spec(Dbms::Mysql, tables, rows);
        let loaders = spec.split(n_loaders);
        assert!(loaders.len() <= n_loaders as usize, "{loaders:?}");
        assert!(loaders.iter().all(|parts| !parts.is_empty()), "{loaders:?}");
        for table in 1..=tables {
            let mut next = 1;
            for part in loaders.iter().flatten().filter(|part| part.table == table) {
                assert_eq!(*part.ids.start(), next);
                assert!(part.ids.end() >= part.ids.start());
                next = part.ids.end() + 1;
            }
            assert_eq!(next, rows + 1);
        }
    }
}

/// Connections that fill one table in bulk write the same files.
#[test]
fn no_table_of_a_bulk_load_is_split() {
    let spec = spec(Dbms::Mariadb, 2, 100);
    let in_bulk = LoadSpec { engine: Engine::Rocksdb, ..spec.clone() };
    let whole = |table| vec![TablePart { table, ids: 1..=100 }];
    assert_eq!(in_bulk.split(16), [whole(1), whole(2)]);
    assert_eq!(in_bulk.split(1), [[whole(1), whole(2)].concat()]);
    // Rows in another order than that of their key are not loaded in bulk.
    assert_eq!(LoadSpec { secondary: true, ..in_bulk }.split(4).len(), 4);
}

#[test]
fn deadlocks_are_retried_and_other_errors_are_not() {
    let error =
        |errno| ServerError { errno, sqlstate: String::new(), message: String::new(), notes: None };
    let spec = spec(Dbms::Mysql, 1, 10);
    let part = TablePart { table: 1, ids: 1..=10 };
    let mut connection = Recorder { failures: vec![error(1213); 3], ..Recorder::server() };
    populate_table_part(&mut connection, &spec, &part, &mut |_| true).unwrap();
    assert_eq!(connection.log.len(), 4);
    let mut connection = Recorder { failures: vec![error(1114)], ..Recorder::server() };
    assert!(populate_table_part(&mut connection, &spec, &part, &mut |_| true).is_err());
    assert_eq!(connection.log.len(), 1);
    let mut connection = Recorder { failures: vec![error(1205); 30], ..Recorder::server() };
    assert!(populate_table_part(&mut connection, &spec, &part, &mut |_| true).is_err());
    assert_eq!(connection.log.len(), 10);
}

#[test]
fn tables_are_made_alike_on_every_dbms() {
    let mut text = String::new();
    for (dbms, engine, secondary) in [
        (Dbms::Mysql, Engine::Innodb, false),
        (Dbms::Mariadb, Engine::Rocksdb, true),
        (Dbms::Postgres, Engine::Heap, false),
        (Dbms::Postgres, Engine::Heap, true),
    ] {
        let spec = LoadSpec { engine, secondary, ..spec(dbms, 1, 1000) };
        text += &format!("-- {dbms} {engine} secondary={secondary}\n");
        text += &format!("{}\n", spec.create_table_sql(1));
        for sql in spec.finish_table_sql(1) {
            text += &format!("{sql}\n");
        }
        text += &format!("{}\n", count_sql(1));
    }
    expect![[r#"
        -- mysql innodb secondary=false
        CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = InnoDB
        CREATE INDEX k_1 ON sbtest1 (k)
        SELECT COUNT(*) FROM sbtest1
        -- mariadb rocksdb secondary=true
        CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, KEY xid (id)) ENGINE = ROCKSDB
        CREATE INDEX k_1 ON sbtest1 (k)
        SELECT COUNT(*) FROM sbtest1
        -- postgres heap secondary=false
        CREATE TABLE sbtest1 (id SERIAL, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))
        SELECT setval(pg_get_serial_sequence('sbtest1', 'id'), 1000)
        CREATE INDEX k_1 ON sbtest1 (k)
        SELECT COUNT(*) FROM sbtest1
        -- postgres heap secondary=true
        CREATE TABLE sbtest1 (id SERIAL, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL)
        SELECT setval(pg_get_serial_sequence('sbtest1', 'id'), 1000)
        CREATE INDEX xid_1 ON sbtest1 (id)
        CREATE INDEX k_1 ON sbtest1 (k)
        SELECT COUNT(*) FROM sbtest1
    "#]].assert_eq(&text);
}

#[test]
fn tables_say_their_compression_where_it_is_theirs() {
    let end = |dbms, engine, compression: &str| {
        let spec =
            LoadSpec { engine, ..spec(dbms, 1, 10) }.compressed(compression.parse().unwrap());
        let sql = spec.create_table_sql(1);
        sql.split_once(" ENGINE = ").unwrap().1.to_owned()
    };
    for (dbms, compression, expected) in [
        (Dbms::Mysql, "none", "InnoDB"),
        (Dbms::Mysql, "row", "InnoDB ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 8"),
        (Dbms::Mysql, "page-lz4", "InnoDB COMPRESSION = 'lz4'"),
        (Dbms::Mariadb, "page-lz4", "InnoDB PAGE_COMPRESSED = 1"),
    ] {
        assert_eq!(end(dbms, Engine::Innodb, compression), expected);
    }
    assert_eq!(end(Dbms::Mariadb, Engine::Rocksdb, "lz4+zstd"), "ROCKSDB");
}

#[test]
fn myrocks_is_loaded_in_bulk_when_rows_come_in_order_of_the_key() {
    let sent = |engine, secondary| {
        let spec = LoadSpec { engine, secondary, ..spec(Dbms::Mariadb, 1, 10) };
        let mut connection = Recorder::server();
        let part = TablePart { table: 1, ids: 1..=10 };
        populate_table_part(&mut connection, &spec, &part, &mut |_| true).unwrap();
        let heads = connection.log.iter().map(|sql| sql.split(" (").next().unwrap().to_owned());
        heads.collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        sent(Engine::Rocksdb, false),
        "SET SESSION rocksdb_bulk_load = 1; INSERT INTO sbtest1; SET SESSION rocksdb_bulk_load = 0"
    );
    assert_eq!(sent(Engine::Rocksdb, true), "INSERT INTO sbtest1");
    assert_eq!(sent(Engine::Innodb, false), "INSERT INTO sbtest1");
}
