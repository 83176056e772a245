//! What goes wrong, and what the user is told.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_model::Transport;
use rqps_server::{Error, Instance};

use crate::bench::{chain, for_each_server, watched};

#[test]
fn an_unknown_option_is_named() {
    for_each_server(|bench, dbms, version| {
        let installed = bench.installed(dbms, version);
        let setup = bench.setup(installed, "bad", &[("innodb_no_such_option", "1")]);
        let dir = setup.dir.clone();
        let created = watched(|w| Instance::create(setup, w));
        let error = match created {
            Err(error) => error,
            Ok(instance) => {
                let error = watched(|w| instance.start(None, w)).unwrap_err();
                instance.remove().unwrap();
                error
            }
        };
        let text = chain(&error);
        assert!(
            matches!(&error, Error::UnknownOption { option, .. } if option == "innodb_no_such_option"),
            "{text}"
        );
        let number = version.split_once('+').map_or(version, |(number, _)| number);
        assert!(text.contains(number), "{text}");
        assert!(!dir.exists());
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_port_in_use_is_said_at_once() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Tcp);
        let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = watched(|w| instance.start(Some(port), w)).unwrap_err();
        assert!(matches!(error, Error::PortInUse { port: p } if p == port), "{error}");
        drop(taken);
        let server = watched(|w| instance.start(Some(port), w)).unwrap();
        assert_eq!(server.port(), port);
        drop(server);
        instance.remove().unwrap();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_directory_in_use_or_of_somebody_else_is_left_alone() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let again = watched(|w| Instance::create(instance.setup().clone(), w)).unwrap_err();
        assert!(matches!(again, Error::InUse { .. }), "{again}");
        let mut setup = instance.setup().clone();
        setup.dir = bench.dir("theirs");
        fs::create_dir(&setup.dir).unwrap();
        fs::write(setup.dir.join("ibdata1"), "years of work").unwrap();
        let error = watched(|w| Instance::create(setup.clone(), w)).unwrap_err();
        assert!(matches!(error, Error::NotOurs { .. }), "{error}");
        assert_eq!(fs::read_to_string(setup.dir.join("ibdata1")).unwrap(), "years of work");
        fs::remove_dir_all(&setup.dir).unwrap();
        // Replaced when it is ours and free, and taken up as it is when asked to.
        let setup = instance.setup().clone();
        drop(instance);
        let instance = Instance::open(setup).unwrap();
        let server = watched(|w| instance.start(None, w)).unwrap();
        assert!(matches!(instance.remove(), Err(Error::InUse { .. })));
        let mut setup = bench.setup(bench.installed(dbms, version), "x", &[]);
        drop(server);
        setup.dir = bench.dir(&format!("{dbms}{version}{}", Transport::Socket));
        watched(|w| Instance::create(setup, w)).unwrap().remove().unwrap();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_killed_server_is_seen_and_says_how() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let below = server.processes();
        kill(Pid::from_raw(server.pid()), Signal::SIGKILL).unwrap();
        let start = Instant::now();
        while server.is_alive() {
            assert!(start.elapsed() < Duration::from_secs(60));
        }
        assert_eq!(server.end().unwrap(), "it was killed by signal 9 (SIGKILL)");
        assert!(server.connect().is_err());
        assert!(!server.log_tail(5).is_empty());
        drop(server);
        while below.iter().any(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists()) {
            assert!(start.elapsed() < Duration::from_secs(60), "some of {below:?} are left");
        }
        // It recovers from that.
        let server = watched(|w| instance.start(None, w)).unwrap();
        // One that does not react is killed at the deadline, and that is said.
        for pid in server.processes() {
            // A backend may be ending at this moment.
            let _ = kill(Pid::from_raw(pid), Signal::SIGSTOP);
        }
        let stopped = server.stop(Duration::ZERO).unwrap();
        assert_eq!(stopped.to_string(), "did not stop within 0 s and was killed");
        instance.remove().unwrap();
    });
}

#[test]
fn a_server_that_cannot_start_shows_the_end_of_its_log() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        // The file without which neither family starts.
        for file in ["ibdata1", "global/pg_control"] {
            let _ = fs::remove_file(instance.data_dir().join(file));
            let _ = fs::create_dir(instance.data_dir().join(file));
        }
        let error = watched(|w| instance.start(None, w)).unwrap_err();
        let text = chain(&error);
        assert!(matches!(error, Error::StartFailed { .. }), "{text}");
        assert!(text.contains("ibdata1") || text.contains("pg_control"), "{text}");
        instance.remove().unwrap();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn another_program_says_nothing_of_the_data_that_were_left() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let setup = instance.setup().clone();
        drop(instance);
        let mut replaced = setup.clone();
        replaced.installed.program = "/bin/false".into();
        let instance = Instance::open(replaced).unwrap();
        let error = watched(|w| instance.start(None, w)).unwrap_err();
        let text = chain(&error);
        assert!(matches!(error, Error::NoServer { .. }) && error.spares_data(), "{text}");
        drop(instance);
        let mut other = setup.clone();
        other.installed.version = "1.2.3".parse().unwrap();
        let error = Instance::open(other).unwrap_err();
        assert!(matches!(error, Error::OtherServer { .. }), "{error}");
        let instance = Instance::open(setup).unwrap();
        // The right one on damaged data is another thing.
        for file in ["ibdata1", "global/pg_control"] {
            let _ = fs::remove_file(instance.data_dir().join(file));
            let _ = fs::create_dir(instance.data_dir().join(file));
        }
        let error = watched(|w| instance.start(None, w)).unwrap_err();
        assert!(matches!(error, Error::StartFailed { .. }) && !error.spares_data(), "{error}");
        instance.remove().unwrap();
    });
}
