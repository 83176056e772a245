//! A user's configuration against each of the two protections alone: what is classified without the kernel's wall,
//! and the wall around a file that reaches the server as it stands.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rqps_model::Dbms;
use rqps_server::trial::{Trial, Walls};
use rqps_server::{Config, Identity, Instance, wall};

use crate::bench::{Bench, for_each_server, watched};

/// Places that belong to somebody else, open to everybody.
fn outside(dir: &Path) -> PathBuf {
    let place = dir.join("outside");
    for name in ["binlog", "redo", "data", "archive"] {
        fs::create_dir_all(place.join(name)).unwrap();
    }
    for name in
        ["binlog/bin.000001", "binlog/bin.index", "redo/ib_logfile0", "data/PG_VERSION", "pid"]
    {
        fs::write(place.join(name), "theirs").unwrap();
        fs::set_permissions(place.join(name), fs::Permissions::from_mode(0o666)).unwrap();
    }
    for dir in ["", "binlog", "redo", "data", "archive"] {
        fs::set_permissions(place.join(dir), fs::Permissions::from_mode(0o777)).unwrap();
    }
    place
}

fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

/// A configuration that names these places, and works where nothing keeps the server from them.
fn hostile(dbms: Dbms, place: &Path) -> String {
    let place = place.display();
    if dbms == Dbms::Postgres {
        return format!(
            "shared_buffers = 32MB\narchive_mode = on\narchive_command = 'cp %p {place}/archive/%f'\n\
             external_pid_file = '{place}/pid'\n"
        );
    }
    format!(
        "[mysqld]\ninnodb_buffer_pool_size = 32M\nlog-bin = {place}/binlog/bin\nserver_id = 1\n\
         slow_query_log = 1\nslow_query_log_file = {place}/slow.log\ngeneral_log = 1\n\
         general_log_file = {place}/general.log\n"
    )
}

/// Starts a server, writes to it, settles and stops it; whether it came up.
fn live(bench: &Bench, dbms: Dbms, version: &str, trial: Trial, place: &Path) -> bool {
    let file = bench.dir("given.conf");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, hostile(dbms, place)).unwrap();
    let base = file.to_str().unwrap();
    let engine = dbms.default_engine();
    let mut setup =
        bench.setup_with(bench.installed(dbms, version), "own", Config::of(base, engine), &[]);
    setup.trial = trial;
    if trial.is_verbatim {
        setup.config.take_verbatim(dbms, base).unwrap();
    }
    let Ok(instance) = watched(|watch| Instance::create(setup, watch)) else { return false };
    let Ok(server) = watched(|watch| instance.start(None, watch)) else {
        instance.remove().unwrap();
        return false;
    };
    let mut admin = server.connect().unwrap();
    admin.query("create table t (a int primary key)").unwrap();
    admin.query("insert into t values (1)").unwrap();
    if dbms == Dbms::Postgres {
        // The archiver takes a segment that is full.
        admin.query("select pg_switch_wal()").unwrap();
    }
    // As the file stands, the binary logs lie outside, and nothing resets them.
    let settled = watched(|watch| server.settle(1, watch));
    let is_outside = trial.is_verbatim && dbms.is_mysql_family();
    assert_eq!(settled.is_err(), is_outside, "{settled:?}");
    drop(admin);
    server.stop(Duration::from_secs(60)).unwrap();
    instance.remove().unwrap();
    true
}

#[test]
fn the_table_alone_keeps_servers_from_what_is_not_theirs() {
    for_each_server(|bench, dbms, version| {
        let place = outside(&bench.places.data);
        let before = contents(&place);
        let trial = Trial { walls: Walls::Nothing, is_verbatim: false };
        assert!(live(bench, dbms, version, trial, &place));
        assert_eq!(contents(&place), before);
    });
}

#[test]
fn the_wall_alone_keeps_servers_from_what_is_not_theirs() {
    let found = wall::probe(&Identity::for_servers().unwrap(), Walls::Any);
    assert!(found.holds(), "no wall on this host: {found}");
    for_each_server(|bench, dbms, version| {
        let place = outside(&bench.places.data);
        let before = contents(&place);
        live(bench, dbms, version, Trial { walls: Walls::Any, is_verbatim: true }, &place);
        assert_eq!(contents(&place), before);
        // Without either, the same file does harm: the test sees it.
        live(bench, dbms, version, Trial { walls: Walls::Nothing, is_verbatim: true }, &place);
        assert_ne!(contents(&place), before);
    });
}
