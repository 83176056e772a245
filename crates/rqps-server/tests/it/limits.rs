//! Allocators and limits of real servers: in force, recorded, refused where they cannot be.

use std::fs;
use std::time::Duration;

use rqps_model::{Dbms, Limits, Malloc};
use rqps_server::{Allocator, Catalogue, Error, Instance, RunningServer, Setup, confine};

use crate::bench::{Bench, chain, for_each_server, watched};

fn create(bench: &Bench, dbms: Dbms, version: &str, change: impl FnOnce(&mut Setup)) -> Instance {
    let mut setup = bench.setup(bench.installed(dbms, version), "limits", &[]);
    change(&mut setup);
    watched(|w| Instance::create(setup, w)).unwrap_or_else(|e| panic!("{}", chain(&e)))
}

fn start(instance: &Instance) -> RunningServer {
    watched(|w| instance.start(None, w)).unwrap_or_else(|e| panic!("{}", chain(&e)))
}

#[test]
#[ignore = "make test-all: real servers"]
fn an_allocator_is_in_every_process_and_recorded() {
    for_each_server(|bench, dbms, version| {
        let catalogue = Catalogue::builtin().unwrap();
        for (malloc, soname) in
            [(Malloc::Jemalloc, "/libjemalloc.so."), (Malloc::Tcmalloc, "/libtcmalloc_minimal.so.")]
        {
            let got = watched(|w| Allocator::ensure(&catalogue, malloc, &bench.places.cache, w));
            let allocator = match got {
                Ok(allocator) => allocator,
                // A host without apt; the message must say what to do.
                Err(error @ Error::Library { .. }) => {
                    eprintln!("{malloc}: {error}");
                    assert!(error.to_string().contains("install it yourself: "), "{error}");
                    continue;
                }
                Err(error) => panic!("{}", chain(&error)),
            };
            let instance = create(bench, dbms, version, |setup| setup.allocator = allocator);
            let server = start(&instance);
            // PostgreSQL's backends are processes of their own.
            let connection = server.connect().unwrap();
            let pids = server.processes();
            let mut n = 0;
            for pid in pids {
                let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
                // A process that has ended since, or is ending, has none.
                if maps.contains('/') {
                    assert!(maps.contains(soname), "{malloc} is not in process {pid}");
                    n += 1;
                }
            }
            assert!(n > if dbms == Dbms::Postgres { 2 } else { 0 }, "{n} processes");
            drop(connection);
            let told = &server.process_facts()["malloc"];
            assert!(told.starts_with(&format!("{malloc} (lib")), "{told}");
            drop(server);
            instance.remove().unwrap();
        }
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn an_allocator_that_is_not_there_stops_the_start() {
    for_each_server(|bench, dbms, version| {
        let instance = create(bench, dbms, version, |setup| {
            // What the dynamic linker cannot load it skips, with a line on stderr.
            let path = setup.dir.join("libjemalloc.so.2");
            setup.allocator = Allocator::of_file(Malloc::Jemalloc, path);
        });
        let error = watched(|w| instance.start(None, w)).unwrap_err();
        let text = chain(&error);
        assert!(matches!(error, Error::Allocator { .. }), "{text}");
        assert!(text.contains("does not run with malloc = \"jemalloc\": process"), "{text}");
        assert!(text.contains("its allocator is the C library's own"), "{text}");
        instance.remove().unwrap();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn limits_hold_all_of_a_server_and_go_with_it() {
    for_each_server(|bench, dbms, version| {
        let usable = fs::read_to_string("/proc/self/status").unwrap();
        let list = usable.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
        let cpu: String = list.trim().chars().take_while(char::is_ascii_digit).collect();
        let mut limits = Limits { memory_bytes: Some(700 << 20), cpus: Some(cpu.parse().unwrap()) };
        if let Err(error) = confine::probe(&limits) {
            eprintln!("without a memory limit: {error}");
            assert!(error.to_string().contains("or leave out memory"), "{error}");
            limits.memory_bytes = None;
        }
        let instance = create(bench, dbms, version, |setup| setup.limits = limits.clone());
        let server = start(&instance);
        let mut connection = server.connect().unwrap();
        connection.query("select 1").unwrap();
        for tid in server.processes().iter().flat_map(|pid| rqps_server::threads::tasks(*pid)) {
            let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
            let allowed = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:"));
            assert_eq!(allowed.map_or(cpu.as_str(), str::trim), cpu, "thread {tid}");
        }
        let facts = server.process_facts();
        assert!(facts["cpus"].starts_with(&format!("{cpu} (affinity")), "{facts:?}");
        let group = group_of(server.pid());
        if limits.memory_bytes.is_some() {
            assert!(facts["memory_limit"].starts_with("700M (cgroup v"), "{facts:?}");
            assert!(group.contains("/rqps."), "{group}");
            for pid in server.processes() {
                // A backend that has just ended is in no group any more.
                let there = group_of(pid);
                let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                let dead = stat.is_empty() || stat.contains(") Z ");
                assert!(dead || there == group, "process {pid}: {there}");
            }
        }
        drop(connection);
        server.stop(Duration::from_secs(60)).unwrap();
        let tag = group.rsplit('/').next().unwrap();
        assert!(!tag.starts_with("rqps.") || !exists_somewhere(tag), "{group} was left");
        instance.remove().unwrap();
    });
}

/// The line of /proc/PID/cgroup with a group of ours.
fn group_of(pid: i32) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let of_memory = |line: &&str| line.contains("/rqps.") && !line.contains(":cpuset:");
    text.lines().find(of_memory).unwrap_or_default().to_owned()
}

/// Whether a group of this name is left below rqps's own or those above it.
fn exists_somewhere(name: &str) -> bool {
    fn below(dir: &std::path::Path, name: &str, depth: u32) -> bool {
        fs::read_dir(dir).into_iter().flatten().flatten().any(|entry| {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            is_dir
                && (entry.file_name().to_string_lossy() == name
                    || (depth > 0 && below(&entry.path(), name, depth - 1)))
        })
    }
    below(std::path::Path::new("/sys/fs/cgroup"), name, 6)
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_server_that_needs_more_memory_than_it_may_have_says_so() {
    for_each_server(|bench, dbms, version| {
        let limits = Limits { memory_bytes: Some(8 << 20), cpus: None };
        if let Err(error) = confine::probe(&limits) {
            eprintln!("not tested, as memory cannot be limited here: {error}");
            return;
        }
        let instance = create(bench, dbms, version, |setup| setup.limits = limits);
        let error = watched(|w| instance.start(None, w)).unwrap_err();
        let text = chain(&error);
        assert!(matches!(error, Error::StartFailed { .. }), "{text}");
        assert!(text.contains("for lack of memory (memory = \"8M\"); write more memory"), "{text}");
        instance.remove().unwrap();
    });
}
