//! InnoDB's compression on real servers: what each supports is had, the rest is refused with a list.

use rqps_client::Connection;
use rqps_model::{Compression, Dbms, Engine, Transport};
use rqps_server::compression::{Subject, prepare, verify};
use rqps_server::{Config, Instance, RunningServer, facts};

use crate::bench::{chain, for_each_server, watched};

/// Bytes of a table of rows that compress well, made with this compression.
fn load(server: &RunningServer, compression: Compression, connection: &mut dyn Connection) -> u64 {
    let suffix = match compression {
        Compression::Row => " row_format=compressed key_block_size=8".to_owned(),
        Compression::Page(_) if server.dbms() == Dbms::Mariadb => " page_compressed=1".to_owned(),
        Compression::Page(codec) => format!(" compression='{}'", codec.name()),
        _ => String::new(),
    };
    connection.query("drop table if exists sbtest1").unwrap();
    let sql =
        format!("create table sbtest1 (id int primary key, c char(200)) engine=innodb{suffix}");
    connection.query(&sql).unwrap();
    for start in (0..40_000).step_by(10_000) {
        let rows: Vec<String> =
            (start..start + 10_000).map(|i| format!("({i},'{:0>190}')", i * 7919)).collect();
        connection.query(&format!("insert into sbtest1 values {}", rows.join(","))).unwrap();
    }
    watched(|w| server.settle(40_000, w)).unwrap();
    let dir = Some(server.data_dir());
    facts::database_bytes(server.dbms(), server.version(), dir, connection).unwrap().unwrap()
}

#[test]
#[ignore = "make test-all: real servers"]
fn innodb_compresses_what_it_can_and_refuses_the_rest() {
    for_each_server(|bench, dbms, version| {
        if !dbms.is_mysql_family() {
            return;
        }
        let installed = bench.installed(dbms, version);
        let config =
            Config { compression: Compression::Row, ..Config::of("small", Engine::Innodb) };
        let setup = bench.setup_with(installed, &format!("zip{dbms}{version}"), config, &[]);
        let instance =
            watched(|w| Instance::create(setup, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
        let server =
            watched(|w| instance.start(None, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
        assert_eq!(instance.setup().transport, Transport::Socket);
        let mut connection = server.connect().unwrap();
        let connection = connection.as_mut();
        let subject = Subject {
            dbms,
            version: server.version(),
            server: server.name(),
            engine: Engine::Innodb,
            scope: server.scope(),
        };
        let plain = load(&server, Compression::None, connection);
        let tables = ["sbtest1".to_owned()];
        verify(subject, Compression::None, &tables, connection).unwrap();
        assert!(verify(subject, Compression::Row, &tables, connection).is_err());
        let mut refused = Vec::new();
        for words in ["row", "page-zlib", "page-lz4", "page-snappy", "page-zstd"] {
            let compression: Compression = words.parse().unwrap();
            match prepare(subject, compression, connection) {
                Ok(()) => {
                    let bytes = load(&server, compression, connection);
                    verify(subject, compression, &tables, connection).unwrap();
                    assert!(
                        verify(subject, compression, &["absent".to_owned()], connection).is_err()
                    );
                    eprintln!("{words}: {bytes} bytes instead of {plain}");
                    // The holes of pages and the smaller blocks of rows, with the files' free ends.
                    let most = plain * 3 / 4;
                    assert!(bytes <= most, "{words}: {bytes} bytes instead of {plain}");
                }
                Err(error) => refused.push(error.to_string()),
            }
        }
        // Nobody has zstd here, everybody has rows.
        let last = refused.last().unwrap();
        eprintln!("{last}");
        assert!(last.contains(
            "compression = \"page-zstd\" of engine innodb: this build supports none, row"
        ));
        drop(server);
        instance.remove().unwrap();
    });
}
