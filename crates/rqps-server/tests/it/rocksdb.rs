//! MyRocks on real servers: loaded, configured, compressed, settled, and its sizes told right.

use std::time::Duration;

use rqps_client::Connection;
use rqps_model::{Compression, Dbms, Durability, Engine};
use rqps_server::compression::{self, Subject};
use rqps_server::{Config, Instance, RunningServer, durability, engine, facts, lsm};

use crate::bench::{Bench, chain, for_each_server_with, watched};

/// The smallest with the engine.
const DEFAULT: &str = "mariadb@10.11.19";

const ROWS: u64 = 40_000;

fn config(compression: &str, durability: Durability) -> Config {
    let compression = compression.parse().unwrap();
    Config { compression, durability, ..Config::of("io-bound", Engine::Rocksdb) }
}

fn started(bench: &Bench, dbms: Dbms, version: &str, config: Config) -> (Instance, RunningServer) {
    let installed = bench.installed(dbms, version);
    installed.require_engine(Engine::Rocksdb, &[]).unwrap();
    let setup = bench.setup_with(installed, &format!("rocks{dbms}{version}"), config, &[]);
    let instance =
        watched(|w| Instance::create(setup, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
    let server = watched(|w| instance.start(None, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
    (instance, server)
}

/// Rows of digits, half of them by a bulk load and half through memtables, one index.
fn load(connection: &mut dyn Connection) {
    let sql =
        "create table sbtest1 (id int primary key, k int not null, c varchar(120)) engine=rocksdb";
    connection.query(sql).unwrap();
    for (bulk, from) in [("1", 0), ("0", ROWS / 2)] {
        connection.query(&format!("set session rocksdb_bulk_load = {bulk}")).unwrap();
        for start in (from..from + ROWS / 2).step_by(10_000) {
            let rows: Vec<String> = (start..start + 10_000)
                .map(|i| format!("({i},{},'{}')", i * 7919 % ROWS, digits(i)))
                .collect();
            connection.query(&format!("insert into sbtest1 values {}", rows.join(","))).unwrap();
        }
    }
    connection.query("create index k on sbtest1 (k)").unwrap();
    connection.query("update sbtest1 set k = k + 1").unwrap();
}

/// A hundred digits that no dictionary knows.
fn digits(seed: u64) -> String {
    let mut state = seed + 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + u8::try_from((state >> 33) % 10).unwrap())
    };
    (0..100).map(|_| next()).collect()
}

#[test]
#[ignore = "make test-all: real servers"]
fn compressed_tables_take_less_and_settle_as_they_were_meant() {
    for_each_server_with(Engine::Rocksdb, DEFAULT, |bench, dbms, version| {
        let mut sizes = Vec::new();
        for (words, durability, codec) in
            [("none", Durability::Relaxed, "NoCompression"), ("lz4+zstd", Durability::Full, "ZSTD")]
        {
            let config = config(words, durability);
            let (instance, server) = started(bench, dbms, version, config.clone());
            let mut connection = server.connect().unwrap();
            let connection = connection.as_mut();
            let name = server.name();
            engine::require_loaded(name, Engine::Rocksdb, "", connection).unwrap();
            let subject = Subject {
                dbms,
                version: server.version(),
                server: name,
                engine: Engine::Rocksdb,
                scope: server.scope(),
            };
            compression::prepare(subject, config.compression, connection).unwrap();
            let before = facts::effective_settings(dbms, connection).unwrap();
            let notes = durability::check(name, dbms, &config, &before).unwrap();
            assert!(notes.is_empty(), "{notes:?}");
            assert_eq!(before["rocksdb_use_direct_reads"], "ON");
            load(connection);
            let tables = ["sbtest1".to_owned()];
            compression::verify(subject, config.compression, &tables, connection).unwrap();
            // What is told of other meanings is no help when they are not told.
            let other: Compression = "snappy+zlib".parse().unwrap();
            assert!(compression::verify(subject, other, &tables, connection).is_err());

            let settled = watched(|w| server.settle(ROWS, w)).unwrap();
            eprintln!("{settled:?}");
            assert!(settled.at_rest(), "{settled:?}");
            assert!(!settled.detail.iter().any(|line| line.contains("not done")), "{settled:?}");
            let after = facts::effective_settings(dbms, connection).unwrap();
            for (name, value) in before.iter().filter(|(name, _)| name.starts_with("rocksdb")) {
                assert_eq!(after.get(name), Some(value), "{name}");
            }
            let state = lsm::State::read(connection).unwrap();
            eprintln!("{}", state.to_json_line("test", 1));
            assert!(state.levels.iter().all(|l| l.level != "L0"), "{state:?}");
            assert_eq!((state.compaction_debt_bytes, state.pending), (0, 0), "{state:?}");
            let codecs: Vec<&str> = state.data_bytes_by_codec.keys().map(String::as_str).collect();
            assert_eq!(codecs, [codec]);
            let bytes =
                facts::database_bytes(dbms, server.version(), None, connection).unwrap().unwrap();
            let files = sst_bytes(&server);
            assert!(bytes <= files && bytes > files * 9 / 10, "{bytes} of {files} in files");
            sizes.push(bytes);
            assert!(server.stop(Duration::from_secs(60)).is_ok());
            instance.remove().unwrap();
        }
        assert!(sizes[1] < sizes[0] * 3 / 4, "zstd does not make digits smaller: {sizes:?}");
    });
}

fn sst_bytes(server: &RunningServer) -> u64 {
    let entries = std::fs::read_dir(server.data_dir().join("#rocksdb")).unwrap().flatten();
    let sst = entries.filter(|e| e.path().extension().is_some_and(|end| end == "sst"));
    sst.map(|e| e.metadata().unwrap().len()).sum()
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_plugin_that_does_not_load_is_said_with_its_own_words() {
    for_each_server_with(Engine::Rocksdb, DEFAULT, |bench, dbms, version| {
        let mut config = config("none", Durability::Relaxed);
        let part = "rocksdb_default_cf_options.bottommost_compression".to_owned();
        config.options.insert(part.clone(), "kFoo".to_owned());
        let installed = bench.installed(dbms, version);
        let setup = bench.setup_with(installed, "rocksbad", config, &[(&part, "kFoo")]);
        let instance = watched(|w| Instance::create(setup, w)).unwrap();
        let server = watched(|w| instance.start(None, w)).unwrap();
        let mut connection = server.connect().unwrap();
        let log = server.log_since_start();
        let error =
            engine::require_loaded(server.name(), Engine::Rocksdb, &log, connection.as_mut());
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("does not support engine = \"rocksdb\": its plugin was not loaded"),
            "{text}"
        );
        assert!(text.contains("bottommost_compression=kFoo"), "{text}");
        drop(server);
        instance.remove().unwrap();
    });
}
