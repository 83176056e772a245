//! The guard against servers that say in many ways where they work.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::fake::Fake;

use rqps_model::Dbms;

use super::*;
use crate::dbms::own_scope;
use crate::guest::scope;

/// A run's directory with a data directory, and somebody's beside it.
struct Host {
    top: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("run-0/data")).unwrap();
        fs::create_dir_all(top.path().join("theirs")).unwrap();
        symlink(top.path().join("theirs"), top.path().join("run-0/data/link")).unwrap();
        symlink(top.path().join("run-0"), top.path().join("alias")).unwrap();
        Self { top }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// A server that works in the run's directory but for these variables; `TOP` is the host's directory.
    fn mysql(&self, others: &[(&str, &str)]) -> Fake {
        let data = format!("{}/", self.path("run-0/data").display());
        let mut variables = BTreeMap::from([
            ("datadir", data),
            ("innodb_data_file_path", "ibdata1:12M:autoextend".to_owned()),
            ("innodb_data_home_dir", String::new()),
            ("innodb_log_group_home_dir", "./".to_owned()),
            ("innodb_undo_directory", "./".to_owned()),
            ("log_bin_basename", format!("{}/binlog", self.path("run-0/data").display())),
            ("log_bin_index", "./binlog.index".to_owned()),
        ]);
        let top = self.top.path().display().to_string();
        for (name, value) in others {
            variables.insert(name, value.replace("TOP", &top));
        }
        variables.retain(|_, value| value != "absent");
        // The text of a value may lack letters.
        let rows = variables.keys().map(|name| vec![(*name).to_owned(), "?".to_owned()]);
        let server = Fake::default().answering("SHOW GLOBAL VARIABLES WHERE", rows.collect());
        variables.into_iter().fold(server, |server, (name, value)| {
            let hex = value.bytes().map(|byte| format!("{byte:02X}")).collect();
            server.answering(&format!("SELECT HEX(@@GLOBAL.{name})"), vec![vec![hex]])
        })
    }

    /// What is said of each statement, and which of them were sent.
    fn asked(&self, mut server: Fake) -> (Vec<String>, Vec<String>) {
        let dir = self.path("alias");
        let (scope, version) = (own_scope(Dbms::Mysql, &dir), "8.0.33".parse().unwrap());
        let told = [
            reset_binary_logs(scope, &version, &mut server),
            set_global(scope, ("a", "1"), &mut server),
            drop_table(scope, "sbtest1", &mut server),
        ];
        let top = self.top.path().canonicalize().unwrap().display().to_string();
        let told = told.into_iter().map(|told| match told {
            Ok(()) => "sent".to_owned(),
            Err(error) => error.to_string().replace(&top, "TOP"),
        });
        let is_work = |sql: &String| !sql.starts_with("SHOW");
        (told.collect(), server.asked.into_iter().filter(is_work).collect())
    }
}

#[test]
fn on_a_server_in_the_runs_directory_all_is_sent() {
    let host = Host::new();
    let (told, sent) = host.asked(host.mysql(&[]));
    assert_eq!(told, ["sent"; 3]);
    assert_eq!(sent, ["RESET MASTER", "SET GLOBAL a = 1", "DROP TABLE IF EXISTS sbtest1"]);
}

#[test]
fn paths_are_compared_byte_by_byte() {
    let host = Host::new();
    fs::create_dir(host.path("run-0/rené")).unwrap();
    let at =
        |dir: &str| host.mysql(&[("datadir", dir), ("innodb_undo_directory", "TOP/run-0/rené")]);
    assert_eq!(host.asked(at("TOP/run-0/rené/")).0, ["sent"; 3]);
    let untold = at("TOP/run-0/rené/")
        .answering("SELECT HEX(@@GLOBAL.datadir)", vec![vec!["/x".to_owned()]]);
    let (told, sent) = host.asked(untold);
    assert_eq!(told[0], "RESET MASTER is not sent: the server reports no value of datadir");
    assert_eq!(sent, Vec::<String>::new());
}

#[test]
fn what_lies_elsewhere_is_named_and_nothing_is_sent() {
    let host = Host::new();
    let mut text = String::new();
    for other in [
        ("datadir", "TOP/theirs/"),
        ("datadir", ""),
        ("log_bin_basename", "TOP/theirs/mysql-bin"),
        ("log_bin_basename", "link/mysql-bin"),
        ("log_bin_index", "../../theirs/mysql-bin.index"),
        ("innodb_data_home_dir", "TOP/theirs"),
        ("innodb_data_file_path", "ibdata1:12M;TOP/theirs/ibdata2:12M"),
        ("innodb_log_group_home_dir", "TOP/theirs"),
        ("innodb_undo_directory", "link"),
    ] {
        let (told, sent) = host.asked(host.mysql(&[other]));
        assert!(sent.len() < 3, "{other:?}: {sent:?}");
        let told: Vec<&str> = told.iter().map(|told| told.split(';').next().unwrap()).collect();
        text += &format!("{} = {}\n  {}\n", other.0, other.1, told.join("\n  "));
    }
    let top = host.top.path().display().to_string();
    expect_test::expect_file!["expected.txt"].assert_eq(&text.replace(&top, "TOP"));
}

#[test]
fn a_version_that_tells_no_place_of_its_logs_must_list_files_that_are_there() {
    let host = Host::new();
    let untold = [("log_bin_basename", "absent"), ("log_bin_index", "absent")];
    fs::write(host.path("run-0/data/binlog.000001"), "12345").unwrap();
    let logs = |size: &str| {
        let row = vec!["binlog.000001".to_owned(), size.to_owned()];
        host.mysql(&untold).answering("SHOW BINARY LOGS", vec![row])
    };
    assert_eq!(host.asked(logs("5")).0[0], "sent");
    let (told, sent) = host.asked(logs("6"));
    assert_eq!(
        told[0],
        "RESET MASTER is not sent: TOP/run-0/data has no log binlog.000001 of 6 bytes"
    );
    assert!(!sent.contains(&"RESET MASTER".to_owned()));
    let none = host.mysql(&untold).answering("SHOW BINARY LOGS", Vec::new());
    assert!(host.asked(none).0[0].contains("the server lists no binary logs"));
}

#[test]
fn postgres_is_asked_for_its_data_directory() {
    let host = Host::new();
    let dir = host.path("run-0");
    let scope = own_scope(Dbms::Postgres, &dir);
    let server = |at: &str| {
        let at = host.path(at).display().to_string();
        Fake::default().answering("show data_directory", vec![vec![at]])
    };
    assert!(drop_table(scope, "sbtest1", &mut server("run-0/data")).is_ok());
    let refused = drop_table(scope, "sbtest1", &mut server("theirs"));
    assert!(matches!(refused, Err(Error::Refused(Refusal::OutsideOfRun { .. }))), "{refused:?}");
}

#[test]
fn a_dbms_of_which_nothing_tells_where_it_works_is_sent_nothing() {
    let host = Host::new();
    let dir = host.path("run-0");
    for dbms in [Dbms::H2, Dbms::Null] {
        // It would answer all questions.
        let mut server = host.mysql(&[]);
        let scope = own_scope(dbms, &dir);
        for refused in [
            drop_table(scope, "sbtest1", &mut server),
            set_global(scope, ("a", "1"), &mut server),
            run_of_plan(scope, "ANALYZE TABLE sbtest1", &mut server),
        ] {
            assert!(
                matches!(refused, Err(Error::Refused(Refusal::PlaceUntold { .. }))),
                "{refused:?}"
            );
        }
        assert_eq!(server.asked, Vec::<String>::new());
    }
}

#[test]
fn a_guest_drops_in_its_own_schema_with_the_marker_alone() {
    let marker = |n: &str| Fake::default().answering("select count(*)", vec![vec![n.to_owned()]]);
    let (ours, theirs) =
        (scope(Dbms::Mysql, "rqps_00c0ffee", false), scope(Dbms::Mysql, "shop", false));
    let mut server = marker("1");
    drop_table(ours, "sbtest1", &mut server).unwrap();
    assert_eq!(server.asked.last().unwrap(), "DROP TABLE IF EXISTS `rqps_00c0ffee`.`sbtest1`");
    drop_schema(ours, &mut server).unwrap();
    assert_eq!(server.asked.last().unwrap(), "DROP SCHEMA `rqps_00c0ffee`");
    for (scope, n) in [(ours, "0"), (theirs, "1")] {
        for refused in
            [drop_table(scope, "sbtest1", &mut marker(n)), drop_schema(scope, &mut marker(n))]
        {
            assert!(
                matches!(refused, Err(Error::Refused(Refusal::SchemaNotOurs { .. }))),
                "{refused:?}"
            );
        }
    }
    let version = "8.0.33".parse().unwrap();
    let mut server = marker("1");
    assert!(reset_binary_logs(ours, &version, &mut server).is_err());
    let refused = set_global(ours, ("a", "1"), &mut server);
    assert!(
        matches!(refused, Err(Error::Refused(Refusal::SettingsNotAllowed { .. }))),
        "{refused:?}"
    );
    assert_eq!(server.asked, Vec::<String>::new());
    let allowed = scope(Dbms::Mysql, "rqps_00c0ffee", true);
    set_global(allowed, ("a", "1"), &mut server).unwrap();
}

#[test]
fn nothing_of_somebody_elses_goes_with_a_schema() {
    let scope = scope(Dbms::Postgres, "rqps_00c0ffee", false);
    let mut server = Fake::default()
        .answering("select count(*)", vec![vec!["1".to_owned()]])
        .answering("select 'table '", Vec::new())
        .answering("select string_agg", vec![vec!["rqps_00c0ffee.sbtest1".to_owned()]]);
    drop_schema(scope, &mut server).unwrap();
    assert_eq!(
        server.asked,
        [
            "BEGIN",
            "LOCK TABLE rqps_00c0ffee.sbtest1 IN ACCESS EXCLUSIVE MODE",
            "DROP VIEW rqps_00c0ffee.sbtest1",
            "DROP MATERIALIZED VIEW rqps_00c0ffee.sbtest1",
            "DROP TABLE rqps_00c0ffee.sbtest1",
            "DROP SEQUENCE rqps_00c0ffee.sbtest1",
            "DROP SCHEMA \"rqps_00c0ffee\"",
            "COMMIT",
        ]
    );
}

#[test]
fn tables_with_partitions_of_somebody_elses_stay() {
    let scope = scope(Dbms::Postgres, "rqps_00c0ffee", false);
    let there = || {
        Fake::default()
            .answering("select count(*)", vec![vec!["1".to_owned()]])
            .answering("select 'table '", vec![vec!["table public.p".to_owned()]])
            .answering("select string_agg", vec![vec!["ONLY rqps_00c0ffee.t".to_owned()]])
    };
    let (mut one, mut other) = (there(), there());
    for (refused, asked) in [
        (drop_table(scope, "t", &mut one), &one.asked),
        (drop_schema(scope, &mut other), &other.asked),
    ] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("table public.p depends on it"), "{refused}");
        let lock = "LOCK TABLE ONLY rqps_00c0ffee.t IN ACCESS EXCLUSIVE MODE";
        assert_eq!(*asked, ["BEGIN", lock, "ROLLBACK"]);
    }
}

#[test]
fn a_foreign_key_of_the_owner_keeps_the_schema_and_the_marker_goes_last() {
    let scope = scope(Dbms::Mariadb, "rqps_0000000a", false);
    let one = || vec![vec!["1".to_owned()]];
    let guest = || Fake::default().answering("select count(*)", one());
    let mut server = guest()
        .answering("select distinct concat('table '", vec![vec!["table shop.child".to_owned()]]);
    let said = drop_schema(scope, &mut server).unwrap_err().to_string();
    assert!(said.contains("table shop.child depends on it"), "{said}");
    assert_eq!(server.asked, Vec::<String>::new());
    let mut server = guest().answering("select table_name", vec![vec!["sbtest1".to_owned()]]);
    drop_schema(scope, &mut server).unwrap();
    let sent: Vec<&str> =
        server.asked.iter().map(String::as_str).filter(|sql| sql.starts_with("DROP")).collect();
    assert_eq!(sent, ["DROP TABLE `rqps_0000000a`.`sbtest1`", "DROP SCHEMA `rqps_0000000a`"]);
}

#[test]
fn where_the_server_refuses_what_is_needed_tables_go_one_by_one_and_the_marker_last() {
    let scope = scope(Dbms::H2, "rqps_0000000a", false);
    let mut server =
        Fake::default().answering("select count(*)", vec![vec!["1".to_owned()]]).answering(
            "select table_name",
            vec![vec!["sbtest1".to_owned()], vec!["sbtest2".to_owned()]],
        );
    // A sequence of somebody else's lies there as well.
    let with = |n: &str| vec![vec![n.to_owned()]];
    let mut in_use = server.clone().answering("select (select", with("4"));
    let refused = drop_schema(scope, &mut in_use).unwrap_err().to_string();
    assert!(refused.contains("not a table of rqps"), "{refused}");
    assert_eq!(in_use.asked, Vec::<String>::new());
    server = server.answering("select (select", with("3"));
    drop_schema(scope, &mut server).unwrap();
    assert_eq!(
        server.asked,
        [
            "DROP TABLE \"rqps_0000000a\".\"sbtest1\" RESTRICT",
            "DROP TABLE \"rqps_0000000a\".\"sbtest2\" RESTRICT",
            "DROP TABLE \"rqps_0000000a\".\"rqps_made_this\" RESTRICT",
            "DROP SCHEMA \"rqps_0000000a\" RESTRICT",
        ]
    );
}
