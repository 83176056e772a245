//! Settling, threads, settings and sizes on real servers with some data.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rqps_client::Connection;
use rqps_model::{Dbms, Transport};
use rqps_server::{
    Freezer, Instance, RunningServer, connect, facts, guest, process, settle, threads,
};

use crate::bench::{chain, for_each_of, for_each_server, watched};

/// Rows of the table.
const ROWS: u64 = 40_000;

fn load(dbms: Dbms, connection: &mut dyn Connection) {
    let engine = if dbms.is_mysql_family() { " engine=innodb" } else { "" };
    let sql = format!("create table sbtest1 (id int primary key, k int, c varchar(120)){engine}");
    connection.query(&sql).unwrap();
    connection.query("create index k on sbtest1 (k)").unwrap();
    for start in (0..ROWS).step_by(10_000) {
        let rows: Vec<String> = (start..start + 10_000)
            .map(|i| format!("({i},{},'{:0>100}')", i * 7919 % ROWS, i))
            .collect();
        connection.query(&format!("insert into sbtest1 values {}", rows.join(","))).unwrap();
    }
    connection.query("update sbtest1 set k = k + 1").unwrap();
    connection.query("delete from sbtest1 where id % 4 = 0").unwrap();
}

#[test]
#[ignore = "make test-all: real servers"]
fn settling_leaves_nothing_to_do_and_no_trace() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let mut connection = server.connect().unwrap();
        load(dbms, connection.as_mut());
        let row_bytes = 100 * ROWS * 3 / 4;
        let size = |connection: &mut dyn Connection| {
            facts::database_bytes(dbms, server.version(), Some(server.data_dir()), connection)
        };
        // Without statistics and whatever is still to be flushed.
        let bytes = size(connection.as_mut()).unwrap().unwrap();
        assert!((row_bytes..10 * row_bytes).contains(&bytes), "{bytes}");
        let before = facts::effective_settings(dbms, connection.as_mut()).unwrap();
        let settled =
            watched(|w| server.settle(ROWS, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
        eprintln!("{settled:?}");
        assert!(settled.at_rest(), "{settled:?}");
        assert!(!settled.detail.iter().any(|line| line.contains("not done")), "{settled:?}");
        let mut after = facts::effective_settings(dbms, connection.as_mut()).unwrap();
        // These change by themselves.
        let volatile = |name: &str| {
            ["timestamp", "gtid", "last", "rand", "pseudo", "identity"]
                .iter()
                .any(|v| name.contains(v))
        };
        after.retain(|name, value| before.get(name) != Some(value) && !volatile(name));
        assert!(after.is_empty(), "settling left settings changed: {after:?}");
        let bytes = size(connection.as_mut()).unwrap().unwrap();
        assert!((row_bytes..10 * row_bytes).contains(&bytes), "{bytes}");
        connection_facts(&server, connection.as_mut());
        if dbms.is_mysql_family() {
            every_option_took_effect(&instance.setup().config.text, &before);
        }
        if dbms.is_mysql_family() {
            let logs = connection.query("SHOW BINARY LOGS").unwrap();
            assert_eq!(logs.rows.len(), 1, "{logs:?}");
        }
        drop(server);
        instance.remove().unwrap();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn settling_somebody_elses_server_leaves_its_logs_and_needs_no_privileges() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let mut admin = server.connect().unwrap();
        load(dbms, admin.as_mut());
        let mysql = dbms.is_mysql_family();
        let make_owner: &[&str] = if mysql {
            &[
                "create user owner@localhost identified by 'x'",
                "grant all on rqps.* to owner@localhost",
                "flush logs",
            ]
        } else {
            &["create role owner login password 'x'", "alter table sbtest1 owner to owner"]
        };
        for sql in make_owner {
            admin.query(sql).unwrap_or_else(|e| panic!("{sql}: {}", chain(&e)));
        }
        let mut endpoint = server.endpoint(Transport::Socket);
        endpoint.user = "owner".to_owned();
        endpoint.password = rqps_client::Password("x".to_owned());
        let scope = guest::scope(dbms, "rqps_00000000", false);
        let target = settle::Target { dbms, version: server.version(), scope, data_dir: None };
        let settle = |connection: &mut dyn Connection| {
            watched(|w| settle::settle(&target, connection, ROWS, w))
                .unwrap_or_else(|e| panic!("{}", chain(&e)))
        };
        // Once with all privileges, once with those of a database's owner.
        settle(admin.as_mut());
        let settled = settle(connect(dbms, &endpoint).unwrap().as_mut());
        let refused = if mysql { "history list length: not readable" } else { "CHECKPOINT: not" };
        assert!(settled.left.iter().any(|left| left.starts_with(refused)), "{settled:?}");
        if mysql {
            let logs = admin.query("SHOW BINARY LOGS").unwrap();
            assert!(logs.rows.len() > 1, "binary logs were dropped: {logs:?}");
        }
        drop(server);
        instance.remove().unwrap();
    });
}

/// Old servers ignore some malformed values without a word.
fn every_option_took_effect(config: &str, settings: &BTreeMap<String, String>) {
    let plain = |value: &str| match value.to_ascii_lowercase().as_str() {
        "on" => "1".to_owned(),
        "off" => "0".to_owned(),
        "none" => "none".to_owned(),
        text => match text.split_at(text.len().saturating_sub(1)) {
            (number, "m") => (number.parse::<u64>().unwrap() << 20).to_string(),
            (number, "g") => (number.parse::<u64>().unwrap() << 30).to_string(),
            _ => {
                // A list of modes comes back in the server's order; a number with decimals.
                let mut words: Vec<&str> = text.trim_end_matches(".000000").split(',').collect();
                words.sort_unstable();
                words.join(",")
            }
        },
    };
    let mut n_compared = 0;
    for (name, value) in config.lines().filter_map(|line| line.split_once('=')) {
        // These have no variable of their own name, or one that says something else; a buffer pool
        // as small as here has a single instance in later versions.
        let other = ["character_set_client_handshake", "log_bin", "innodb_buffer_pool_instances"];
        if other.contains(&name) {
            continue;
        }
        if let Some(got) = settings.get(name) {
            assert_eq!(plain(got), plain(value), "{name}");
            n_compared += 1;
        }
    }
    assert!(n_compared > 20, "{n_compared}");
}

/// The profile's promises, as the server and the session see them.
fn connection_facts(server: &RunningServer, connection: &mut dyn Connection) {
    let dbms = server.dbms();
    let settings = facts::effective_settings(dbms, connection).unwrap();
    let session = facts::session_facts(dbms, connection).unwrap();
    assert_eq!(session["transport"], "socket");
    eprintln!("{session:?}");
    let promised: &[(&str, &str)] = if dbms.is_mysql_family() {
        assert_eq!(session["transaction_isolation"], "REPEATABLE-READ");
        assert_eq!(session["character_set_client"], "latin1", "{session:?}");
        assert_eq!(session["character_set_database"], "latin1", "{session:?}");
        // A build without TLS (5.5.9) has no such status.
        assert_eq!(session.get("Ssl_cipher").map_or("", String::as_str), "");
        &[
            ("log_bin", "ON"),
            ("sync_binlog", "0"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("performance_schema", "OFF"),
            ("innodb_adaptive_hash_index", "OFF"),
            ("bind_address", "127.0.0.1"),
        ]
    } else {
        assert_eq!(session["lc_collate"], "C");
        &[("synchronous_commit", "off"), ("fsync", "on"), ("data_checksums", "off"), ("ssl", "off")]
    };
    for (name, value) in promised {
        // 5.5 and MariaDB before 10.2 do not show the address.
        let got = settings.get(*name).map_or(*value, String::as_str);
        assert_eq!(got, *value, "{name}");
    }
    for line in server.log_since_start().lines().filter(|line| line.contains("[Warning]")) {
        eprintln!("{line}");
    }
    let warnings = rqps_server::log_text::adjusted_values(&server.log_since_start());
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// The hardest case for the way that does not ask the server: old threads from its cache, threads
/// that start and end meanwhile, others that never rest.
#[test]
#[ignore = "make test-all: real servers"]
fn the_thread_is_found_by_its_work_in_a_busy_server_with_a_thread_cache() {
    for_each_server(|bench, dbms, version| {
        if !dbms.is_mysql_family() {
            return;
        }
        let cached = [("thread_cache_size", "8")];
        let setup = bench.setup(bench.installed(dbms, version), "cached", &cached);
        let instance = watched(|w| Instance::create(setup, w)).unwrap();
        let server = watched(|w| instance.start(None, w)).unwrap();
        let endpoint = server.endpoint(Transport::Socket);
        // Leaves some threads in the cache.
        drop((0..4).map(|_| server.connect().unwrap()).collect::<Vec<_>>());
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut busy = connect(dbms, &endpoint).unwrap();
                while !over.load(Ordering::Relaxed) {
                    busy.query("select 1").unwrap();
                }
            });
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let mut short = connect(dbms, &endpoint).unwrap();
                    short.query("select benchmark(10000, 1 + 1)").unwrap();
                }
            });
            // Ends the others also when this one fails.
            let _ended = Ended(&over);
            for _ in 0..16 {
                let mut connection = connect(dbms, &endpoint).unwrap();
                let tid = threads::by_work(server.pid(), connection.as_mut());
                let tid = tid.unwrap_or_else(|e| panic!("{}", chain(&e)));
                let id = connection.session().connection_id;
                let sql = "select TID from information_schema.processlist where ID = ";
                if dbms == Dbms::Mariadb {
                    let told = connection.query(&format!("{sql}{id}")).unwrap();
                    assert_eq!(told.scalar(), Some(tid.to_string().as_str()));
                }
                // Whatever it is called, it is the one that works now.
                let start = cpu_ns(tid);
                connection.query("select benchmark(1000000, 1 + 1)").unwrap();
                assert!(cpu_ns(tid) - start > 1_000_000, "{tid} did little");
            }
        });
        drop(server);
        instance.remove().unwrap();
    });
}

struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn cpu_ns(tid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{tid}/schedstat")).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "make test-all: real servers"]
fn the_thread_behind_a_connection_is_found_every_time() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let mut found = Vec::new();
        let mut connections = Vec::new();
        for i in 0..8 {
            let mut connection = connect(
                dbms,
                &server.endpoint(if i % 2 == 0 { Transport::Socket } else { Transport::Tcp }),
            )
            .unwrap();
            let tid = server.thread_of(connection.as_mut()).unwrap();
            assert!(!found.contains(&tid), "{tid} is said to serve two of {found:?}");
            found.push(tid);
            connections.push(connection);
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let cpus = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
        let cpu = cpus.trim().parse::<rqps_model::CpuSet>().unwrap().numbers()[0];
        // Asked again, the same; and it is that thread that does the work.
        for (connection, tid) in connections.iter_mut().zip(&found) {
            assert_eq!(server.thread_of(connection.as_mut()).unwrap(), *tid);
            let start = cpu_ns(*tid);
            for _ in 0..200 {
                connection.query("select 1").unwrap();
            }
            let ns = cpu_ns(*tid) - start;
            assert!(ns > 500_000, "{tid} did little: {ns} ns");
            threads::pin_thread(*tid, &[cpu]).unwrap();
        }
        threads::pin_all(&server.processes(), &[cpu]).unwrap();
        assert_eq!(process::tree(server.pid()).first(), Some(&server.pid()));
        drop(connections);
        assert!(server.stop(Duration::from_secs(60)).is_ok());
        instance.remove().unwrap();
    });
}

/// Before 5.6 MySQL gives an idle connection up whose wait was interrupted ten times.
#[test]
#[ignore = "make test-all: real servers"]
fn an_idle_connection_outlives_many_stops() {
    for_each_of("mysql@5.5.34", &|_| true, |bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let mut connection = server.connect().unwrap();
        connection.query("select 1").unwrap();
        let mut freezer = Freezer::new(server.pid());
        #[expect(clippy::disallowed_methods, reason = "the server's wait must begin each time")]
        let pause = || std::thread::sleep(Duration::from_millis(10));
        for _ in 0..30 {
            freezer.freeze().unwrap();
            pause();
            freezer.thaw();
            pause();
        }
        let answer = connection.query("select 1");
        assert!(answer.is_ok(), "{dbms} {version}: {answer:?}");
        drop(connection);
        assert!(server.stop(Duration::from_secs(60)).is_ok());
        instance.remove().unwrap();
    });
}
