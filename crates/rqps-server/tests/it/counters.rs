//! What real servers count of known work, and what they say compares strings.

use std::time::{Duration, Instant};

use rqps_model::{Dbms, Transport, Version};
use rqps_server::counters::Probe;
use rqps_server::{connect, facts};

use crate::bench::{for_each_server, watched};

/// Queries for one row each.
const QUERIES: u64 = 200;

/// Counters that a version must have, and why a missing one would not be noticed: reports skip what
/// is absent.
fn expected(dbms: Dbms, version: &Version) -> Vec<&'static str> {
    if dbms != Dbms::Postgres {
        let all = rqps_explain::work::names();
        return all
            .filter(|n| ["Handler_", "Innodb_", "Created_"].iter().any(|p| n.starts_with(p)))
            .collect();
    }
    let mut names = vec![
        "pg_stat_database.tup_returned",
        "pg_stat_database.blks_hit",
        "pg_stat_database.blks_read",
        "pg_stat_database.temp_files",
        "pg_stat_bgwriter.buffers_clean",
    ];
    // Where each was moved from one view to another.
    let moved: [(u32, &[&str], &[&str]); 4] = [
        (14, &[], &["pg_stat_wal.wal_bytes"]),
        (
            16,
            &[],
            &[
                "pg_stat_io.client.hits",
                "pg_stat_io.other.hits",
                "pg_stat_io.client.read_bytes",
                "pg_stat_io.other.read_bytes",
                "pg_stat_io.client.extend_bytes",
                "pg_stat_io.other.extend_bytes",
                "pg_stat_io.client.fsyncs",
                "pg_stat_io.other.fsyncs",
            ],
        ),
        (
            17,
            &["pg_stat_bgwriter.buffers_checkpoint", "pg_stat_bgwriter.buffers_backend"],
            &["pg_stat_checkpointer.buffers_written", "pg_stat_io.client.writes"],
        ),
        (18, &[], &["pg_stat_io.wal.writes", "pg_stat_io.wal.fsyncs"]),
    ];
    for (first, before, since) in moved {
        names.extend(if version.at_least(&[first]) { since } else { before });
    }
    if version.at_least(&[14]) && !version.at_least(&[18]) {
        names.extend(["pg_stat_wal.wal_write", "pg_stat_wal.wal_sync"]);
    }
    names
}

#[test]
#[ignore = "make test-all: real servers"]
fn every_server_counts_what_is_done() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let endpoint = server.endpoint(Transport::Socket);
        let mut connection = server.connect().unwrap();
        let engine = if dbms.is_mysql_family() { " engine=innodb" } else { "" };
        let sql = format!("create table sbtest1 (id int primary key, k int){engine}");
        connection.query(&sql).unwrap();
        let rows: Vec<String> = (0..QUERIES).map(|id| format!("({id},1)")).collect();
        connection.query(&format!("insert into sbtest1 values {}", rows.join(","))).unwrap();
        if dbms == Dbms::Postgres {
            connection.query("set enable_seqscan = off").unwrap();
        }
        let mut probe = Probe::open(dbms, &endpoint, Duration::from_secs(60)).unwrap();
        let first = probe.read().unwrap();
        let missing: Vec<&str> = expected(dbms, server.version())
            .into_iter()
            .filter(|name| !first.contains_key(*name))
            .collect();
        assert!(missing.is_empty(), "{dbms} {version} does not tell {missing:?}");
        for id in 0..QUERIES {
            connection.query(&format!("select k from sbtest1 where id = {id}")).unwrap();
        }
        // PostgreSQL tells others what a connection did when it ends, if not within a second.
        drop(connection);
        let name = if dbms == Dbms::Postgres {
            "pg_stat_database.tup_returned"
        } else {
            "Handler_read_key"
        };
        let until = Instant::now() + Duration::from_secs(30);
        let counted = loop {
            let last = probe.read().unwrap();
            let counted = probe.between(&first, &last);
            if counted[name] >= QUERIES || Instant::now() > until {
                break counted;
            }
            #[expect(clippy::disallowed_methods, reason = "the server tells it in its own time")]
            std::thread::sleep(Duration::from_millis(100));
        };
        assert!(counted[name] >= QUERIES, "{name}: {counted:?}");
        drop(server);
        instance.remove().unwrap();
    });
}

/// The columns that say it came with 15 and were renamed by 17.
#[test]
#[ignore = "make test-all: real servers"]
fn a_database_compared_by_another_library_says_so() {
    for_each_server(|bench, dbms, version| {
        if dbms != Dbms::Postgres {
            return;
        }
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let mut connection = server.connect().unwrap();
        let mut cases = vec![("", "C")];
        let has = |major| server.version().at_least(&[major]);
        // Not every build has ICU; since 17 all have a comparison of their own.
        if has(15) {
            cases.push(("locale_provider icu icu_locale 'de-DE'", "C (icu de-DE)"));
        }
        if has(17) {
            cases.push(("locale_provider builtin builtin_locale 'C.UTF-8'", "C (builtin C.UTF-8)"));
        }
        for (idx, (provider, words)) in cases.into_iter().enumerate() {
            let sql = format!(
                "create database other{idx} template template0 encoding 'UTF8' lc_collate 'C' \
                 lc_ctype 'C' {provider}"
            );
            match connection.query(&sql) {
                Ok(_) => {}
                // Not supported by this build.
                Err(rqps_client::Error::Server(e)) if e.sqlstate == "0A000" => continue,
                Err(e) => panic!("{dbms} {version}: {sql}: {e}"),
            }
            let mut endpoint = server.endpoint(Transport::Socket);
            endpoint.database = format!("other{idx}");
            let mut other = connect(dbms, &endpoint).unwrap();
            let session = facts::session_facts(dbms, other.as_mut()).unwrap();
            assert_eq!(session["lc_collate"], words, "{dbms} {version}");
        }
        drop(connection);
        drop(server);
        instance.remove().unwrap();
    });
}
