//! Caches of real servers: as large as the profiles ask for, in every version.

use rqps_model::Dbms;
use rqps_server::profile::{check_caches, render};
use rqps_server::{Config, Error, Instance, Setup, Sizing, facts};

use crate::bench::{Bench, chain, for_each_server, watched};

/// What a server with this configuration says of its caches.
fn checked(
    bench: &Bench,
    dbms: Dbms,
    version: &str,
    config: &Config,
    sizing: Sizing,
) -> Result<Vec<String>, Error> {
    let installed = bench.installed(dbms, version);
    let rendered = render(dbms, &installed.version, config, sizing).unwrap();
    let setup = bench.setup(installed, "caches", &[]);
    let setup = Setup { config: rendered.clone(), ..setup };
    let instance =
        watched(|w| Instance::create(setup, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
    let server = watched(|w| instance.start(None, w)).unwrap_or_else(|e| panic!("{}", chain(&e)));
    let mut connection = server.connect().unwrap();
    let effective = facts::effective_settings(dbms, connection.as_mut()).unwrap();
    for name in ["innodb_buffer_pool_size", "innodb_buffer_pool_chunk_size", "shared_buffers"] {
        if let Some(value) = effective.get(name) {
            eprintln!("{version} {}: {name} = {value}", config.base);
        }
    }
    drop(connection);
    drop(server);
    instance.remove().unwrap();
    check_caches(version, dbms, config, &rendered, &effective)
}

#[test]
#[ignore = "make test-all: real servers"]
fn caches_are_as_large_as_profiles_ask_for_in_every_version() {
    for_each_server(|bench, dbms, version| {
        let engine = dbms.default_engine();
        // 1152M and 136M: neither is a multiple of 128M times four instances.
        let sizes = |data_mib: Option<u64>| Sizing {
            memory_bytes: 4608 << 20,
            systems_up: 1,
            data_bytes: data_mib.map(|mib| mib << 20),
        };
        for (base, sizing) in [("small", sizes(None)), ("io-bound", sizes(Some(8 * 136)))] {
            let config = Config::of(base, engine);
            let notes = checked(bench, dbms, version, &config, sizing);
            let notes = notes.unwrap_or_else(|e| panic!("{base}: {}", chain(&e)));
            assert_eq!(notes, Vec::<String>::new());
        }
        // What a server makes larger is noticed.
        let chunks =
            version.split('.').next().and_then(|n| n.parse().ok()).is_some_and(|n: u32| n >= 8);
        if dbms == Dbms::Mysql && chunks {
            let mut config = Config::of("small", engine);
            let (option, value) = ("innodb_buffer_pool_chunk_size", "128M");
            config.options.insert(option.to_owned(), value.to_owned());
            let error = checked(bench, dbms, version, &config, sizes(None)).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("innodb_buffer_pool_size is 1536M and not 1152M"), "{text}");
        }
    });
}
