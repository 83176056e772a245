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

/// Populates with so many clients; returns the rows of each table by id, and the statements.
fn load(spec: &LoadSpec, clients: u32) -> (BTreeMap<String, String>, Vec<String>) {
    let mut rows = BTreeMap::new();
    let mut sent = Vec::new();
    let cut = LoadCut::of(spec.tables, spec.rows, clients);
    for part in spec.split(cut) {
        let mut connection = Recorder::server();
        let inserts = part.inserts.clone();
        let mut loader = Loader::new(spec, cut, part);
        for _ in inserts {
            let n_told = Worker::<Recorder>::operations_per_statement(&loader);
            loader.event(&mut connection, &mut |_| {}).unwrap();
            let sql = connection.log.last().unwrap();
            let (head, values) = sql.split_once(" VALUES ").unwrap();
            let all: Vec<&str> = values.trim_matches(['(', ')']).split("),(").collect();
            assert_eq!(all.len() as u64, n_told);
            for row in all {
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
    for clients in [2, 3, 5, 16] {
        assert_eq!(load(&spec, clients).0, alone, "{clients} clients");
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
fn statements_have_at_most_half_a_megabyte_and_equally_many_rows() {
    let (rows, sent) = load(&spec(Dbms::Mysql, 1, 100_000), 1);
    assert_eq!(rows.len(), 100_000);
    let sizes: Vec<u64> = sent.iter().map(|sql| sql.len() as u64).collect();
    assert!(sizes.iter().all(|&bytes| bytes <= INSERT_BYTES), "{sizes:?}");
    assert!(sizes.iter().all(|&bytes| bytes > INSERT_BYTES / 2), "{sizes:?}");
}

/// Each connection sends as many INSERTs of every block as the others.
#[test]
fn blocks_are_of_equal_work() {
    for (tables, rows, clients, n_blocks) in [
        (1, 100_000, 1, 20),
        (1, 100_000, 4, 20),
        (8, 10_000_000, 3, 20),
        (3, 1_000_000, 16, 20),
        // Blocks of few rows would be INSERTs of few rows.
        (1, 10_000, 1, 20),
        (1, 5000, 1, 10),
        (2, 3000, 4, 3),
        (1, 10, 3, 1),
        (1, 1, 64, 1),
        (1, 2_147_483_647, 1, 20),
    ] {
        let cut = LoadCut::of(tables, rows, clients);
        assert_eq!(cut.n_blocks, n_blocks, "{cut:?}");
        let of_loader = cut.inserts_per_table / cut.loaders_per_table;
        assert_eq!(of_loader * cut.loaders_per_table, cut.inserts_per_table, "{cut:?}");
        assert_eq!(of_loader % u64::from(n_blocks), 0, "{cut:?}");
        let rows_of_insert = rows.div_ceil(cut.inserts_per_table);
        assert!(rows >= cut.inserts_per_table, "{cut:?} has INSERTs without rows");
        assert!(rows_of_insert * ROW_BYTES <= INSERT_BYTES, "{cut:?}");
    }
}

#[test]
fn work_is_split_evenly_and_completely() {
    for (tables, rows, clients, n_parts) in
        [(1, 10, 3, 3), (4, 100, 2, 4), (4, 100, 6, 4), (2, 1, 8, 2), (3, 5000, 6, 6)]
    {
        let spec = spec(Dbms::Mysql, tables, rows);
        let cut = LoadCut::of(tables, rows, clients);
        let parts = spec.split(cut);
        assert_eq!(parts.len(), n_parts, "{parts:?}");
        for table in 1..=tables {
            let mut next = 0;
            for part in parts.iter().filter(|part| part.table == table) {
                assert_eq!(part.inserts.start, next);
                assert!(part.inserts.end > next, "{parts:?}");
                next = part.inserts.end;
            }
            assert_eq!(next, cut.inserts_per_table);
        }
    }
}

/// Connections that fill one table in bulk write the same files.
#[test]
fn no_table_of_a_bulk_load_is_split() {
    let spec = spec(Dbms::Mariadb, 2, 4000);
    let in_bulk = LoadSpec { engine: Engine::Rocksdb, ..spec.clone() };
    let cut = LoadCut::of(2, 4000, 16);
    let whole = |table| TablePart { table, inserts: 0..cut.inserts_per_table };
    assert_eq!(in_bulk.split(cut), [whole(1), whole(2)]);
    // Rows in another order than that of their key are not loaded in bulk.
    assert_eq!(LoadSpec { secondary: true, ..in_bulk.clone() }.split(cut).len(), 16);
    let mut connection = Recorder::server();
    let mut loader = Loader::new(&in_bulk, cut, whole(1));
    for _ in 0..cut.inserts_per_table {
        loader.event(&mut connection, &mut |_| {}).unwrap();
    }
    let is_set = |sql: &&String| sql.starts_with("SET");
    assert_eq!(connection.log.iter().filter(is_set).count(), 2);
    assert_eq!(connection.log.first().unwrap(), "SET SESSION rocksdb_bulk_load = 1");
    assert_eq!(connection.log.last().unwrap(), "SET SESSION rocksdb_bulk_load = 0");
}

/// Of an INSERT that failed nothing is in the table.
#[test]
fn an_insert_that_failed_is_sent_again() {
    let error =
        ServerError { errno: 1213, sqlstate: String::new(), message: String::new(), notes: None };
    let spec = spec(Dbms::Mysql, 1, 4000);
    let cut = LoadCut::of(1, 4000, 1);
    let mut loader = Loader::new(&spec, cut, spec.split(cut).remove(0));
    let mut connection = Recorder { failures: vec![error], ..Recorder::server() };
    assert!(loader.event(&mut connection, &mut |_| {}).is_err());
    loader.event(&mut connection, &mut |_| {}).unwrap();
    loader.event(&mut connection, &mut |_| {}).unwrap();
    assert_eq!(connection.log[0], connection.log[1]);
    assert_ne!(connection.log[1], connection.log[2]);
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
        let cut = LoadCut::of(1, 10, 1);
        let mut loader = Loader::new(&spec, cut, spec.split(cut).remove(0));
        loader.event(&mut connection, &mut |_| {}).unwrap();
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
