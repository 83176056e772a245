//! From nothing to a server, its use over all transports, and back to nothing.

use std::time::Duration;

use rqps_model::{Dbms, Engine, Transport};
use rqps_server::{Stopped, connect, connect_to_keep};

use crate::bench::{chain, for_each_server, watched};

const STOP: Duration = Duration::from_secs(60);

#[test]
fn a_server_lives_and_leaves_nothing() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server =
            watched(|w| instance.start(None, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
        let pid = server.pid();
        assert!(server.is_alive() && server.socket().as_os_str().len() < 100);
        for transport in [Transport::Socket, Transport::Tcp] {
            let mut connection = connect(dbms, &server.endpoint(transport)).unwrap();
            let text = connection.query("select version()").unwrap();
            let number = version.split_once('+').map_or(version, |(number, _)| number);
            assert!(text.scalar().unwrap().contains(number), "{text:?}");
            let session = connection.session();
            assert_eq!(session.transport, transport.to_string());
            assert_eq!(session.tls, "");
        }
        // Encryption was not asked for, and is not on offer.
        assert!(connect(dbms, &server.endpoint(Transport::Tls)).is_err());
        // Nobody gets in without the password.
        for user in ["root", "postgres", "rqps", ""] {
            let mut endpoint = server.endpoint(Transport::Tcp);
            endpoint.password.0.clear();
            user.clone_into(&mut endpoint.user);
            assert!(connect(dbms, &endpoint).is_err(), "{user} gets in");
        }
        if dbms.is_mysql_family() {
            let sql = "select distinct user from mysql.user where user in ('', 'root', 'rqps')";
            let users = server.connect().unwrap().query(sql).unwrap();
            assert_eq!(users.rows, [[Some("rqps".to_owned())]]);
        }
        runs_as_it_should(pid, bench.identity.uid.as_raw());
        let sizes = server.data_dir_sizes();
        assert!(sizes.total > 1_000_000 && sizes.redo > 0, "{sizes:?}");
        // Every profile has a binary log where there is such a thing.
        assert_eq!(sizes.binlog > 0, server.dbms().is_mysql_family(), "{sizes:?}");
        assert!(sizes.redo + sizes.binlog < sizes.total, "{sizes:?}");
        assert_eq!(server.stop(STOP).unwrap(), Stopped::Clean);

        // Data survive a restart.
        let server = watched(|w| instance.start(None, w)).unwrap();
        server.connect().unwrap().query("create table t (i int)").unwrap();
        assert_eq!(server.stop(STOP).unwrap(), Stopped::Clean);
        let server = watched(|w| instance.start(None, w)).unwrap();
        server.connect().unwrap().query("select * from t").unwrap();
        let socket = server.socket().to_owned();
        drop(server);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
        assert!(!socket.exists());
        let dir = instance.setup().dir.clone();
        instance.remove().unwrap();
        assert!(!dir.exists());
    });
}

/// As the right user, and in a process group of its own.
fn runs_as_it_should(pid: i32, uid: u32) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
    assert_eq!(line.split_whitespace().nth(1).unwrap(), uid.to_string());
    let groups = status.lines().find(|line| line.starts_with("Groups:")).unwrap();
    if uid != 0 && nix::unistd::geteuid().is_root() {
        assert!(groups.split_whitespace().count() <= 2, "{groups}");
    }
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_connection_that_is_kept_outlasts_the_limit_of_idle_ones() {
    for_each_server(|bench, dbms, version| {
        let limit: &[(&str, &str)] =
            if dbms.is_mysql_family() { &[("wait_timeout", "1")] } else { &[] };
        let name = format!("{dbms}{version}idle");
        let setup = bench.setup(bench.installed(dbms, version), &name, limit);
        let instance = watched(|w| rqps_server::Instance::create(setup, w))
            .unwrap_or_else(|e| panic!("{}", chain(&e)));
        let server = watched(|w| instance.start(None, w)).unwrap();
        let endpoint = server.endpoint(Transport::Socket);
        let mut usual = connect(dbms, &endpoint).unwrap();
        let mut kept = connect_to_keep(dbms, &endpoint).unwrap();
        pause(Duration::from_secs(4));
        assert_eq!(kept.query("select 1").unwrap().scalar(), Some("1"));
        // PostgreSQL has no limit, unless told, and none at all before 14.
        assert_eq!(usual.query("select 1").is_err(), dbms.is_mysql_family());
        assert_eq!(server.stop(STOP).unwrap(), Stopped::Clean);
        instance.remove().unwrap();
    });
}

#[expect(clippy::disallowed_methods, reason = "to leave connections alone is the point")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[test]
#[ignore = "make test-all: real servers"]
fn tls_is_had_or_refused_in_words() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Tls);
        match watched(|w| instance.start(None, w)) {
            Ok(server) => {
                let connection = connect(dbms, &server.endpoint(Transport::Tls)).unwrap();
                let session = connection.session();
                assert!(session.tls.starts_with("TLSv1."), "{session:?}");
                assert_eq!(server.stop(STOP).unwrap(), Stopped::Clean);
            }
            // Before TLS 1.2 was usual, MySQL and MariaDB were built with less.
            Err(error) => {
                assert_ne!(dbms, Dbms::Postgres, "{}", chain(&error));
                let text = chain(&error);
                assert!(text.contains("does not support transport = \"tls\""), "{text}");
                eprintln!("{text}");
            }
        }
        instance.remove().unwrap();
    });
}

#[test]
fn engines_of_the_catalogue_are_there() {
    for_each_server(|bench, dbms, version| {
        let installed = bench.installed(dbms, version);
        for engine in installed.engines.clone() {
            assert_eq!(engine, Engine::Rocksdb);
            let name = format!("{dbms}{version}rocksdb");
            // Not `INSTALL SONAME`: 10.11.19 dies of it.
            let options = [("plugin-load-add", "ha_rocksdb")];
            let setup = bench.setup(installed.clone(), &name, &options);
            let instance = watched(|w| rqps_server::Instance::create(setup, w))
                .unwrap_or_else(|e| panic!("{}", chain(&e)));
            let server =
                watched(|w| instance.start(None, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
            let mut connection = server.connect().unwrap();
            connection.query("create table t (i int primary key) engine=rocksdb").unwrap();
            connection.query("insert into t values (1), (2)").unwrap();
            let sql = "select engine from information_schema.tables where table_name = 't'";
            assert_eq!(connection.query(sql).unwrap().scalar(), Some("ROCKSDB"));
            assert_eq!(connection.query("select count(*) from t").unwrap().scalar(), Some("2"));
            assert_eq!(server.stop(STOP).unwrap(), Stopped::Clean);
            instance.remove().unwrap();
        }
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn three_at_once() {
    for_each_server(|bench, dbms, version| {
        let installed = bench.installed(dbms, version);
        let servers: Vec<_> = ["a", "b", "c"]
            .iter()
            .map(|name| {
                let setup = bench.setup(installed.clone(), &format!("{dbms}{version}{name}"), &[]);
                let instance = watched(|w| rqps_server::Instance::create(setup, w)).unwrap();
                let server = watched(|w| instance.start(None, w)).unwrap();
                (instance, server)
            })
            .collect();
        for (i, (_, server)) in servers.iter().enumerate() {
            let mut connection = server.connect().unwrap();
            connection.query(&format!("create table t{i} (i int)")).unwrap();
        }
        for (instance, server) in servers {
            assert_eq!(server.stop(STOP).unwrap(), Stopped::Clean);
            instance.remove().unwrap();
        }
    });
}
