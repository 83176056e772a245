//! Nothing outlives rqps, however it ends: a second process starts a server and is killed.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rqps_model::{Dbms, Transport};
use rqps_server::{instance, process};

use crate::bench::{Bench, for_each_server, watched};

/// Tells the second process what it is, and which server to start.
const ROLE: &str = "RQPS_IT_START_AND_WAIT";

#[test]
#[ignore = "make test-all: real servers"]
fn servers_die_with_a_killed_rqps() {
    for_each_server(|_, dbms, version| {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "orphans::start_and_wait", "--nocapture"])
            .env(ROLE, format!("{dbms}@{version}"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line =
            lines.find_map(|line| line.unwrap().split_once("SERVER ").map(|l| l.1.to_owned()));
        let line = line.expect("the second process started no server");
        let (pid, dir) = line.split_once(' ').unwrap();
        let pid = pid.parse().unwrap();
        let all = process::tree(pid);
        // Short-lived ones of PostgreSQL may have ended by now, never the server itself.
        assert!(PathBuf::from(format!("/proc/{pid}")).exists(), "{all:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        let start = Instant::now();
        while all.iter().any(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        }) {
            assert!(start.elapsed() < Duration::from_secs(60), "some of {all:?} are left");
        }
        // What it left on disk is known as ours, and free.
        let (dir, sockets) = dir.split_once(' ').unwrap();
        let dir = Path::new(dir);
        instance::clear(dir).unwrap();
        instance::clear_socket(Path::new(sockets), dir);
        let temp = dir.ancestors().nth(2).unwrap().to_owned();
        assert!(temp.to_string_lossy().contains("rqps-it"), "{}", temp.display());
        std::fs::remove_dir_all(temp).unwrap();
    });
}

/// The second process; a test that does nothing otherwise.
#[test]
fn start_and_wait() {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let Ok(role) = std::env::var(ROLE) else { return };
    let (dbms, version) = role.split_once('@').unwrap();
    let dbms: Dbms = dbms.parse().unwrap();
    let bench = Bench::new();
    let instance = bench.instance(dbms, version, Transport::Socket);
    // From a thread that ends: the server must not die with it.
    let server = std::thread::scope(|scope| {
        scope.spawn(|| watched(|w| instance.start(None, w)).unwrap()).join().unwrap()
    });
    server.connect().unwrap();
    assert!(server.is_alive());
    let setup = instance.setup();
    println!("SERVER {} {} {}", server.pid(), setup.dir.display(), setup.sockets.display());
    loop {
        std::thread::park();
    }
}
