//! Limits of systems against what this host has and what their configurations ask for.

use anyhow::{Context as _, Result, ensure};
use rqps_model::variant::written_bytes;
use rqps_model::{Engine, Limits, Malloc, SystemSpec};
use rqps_server::confine;

use crate::Plan;
use crate::plan::descriptors;

/// Refuses limits that this host cannot give, and more clients than it lets rqps connect, with the value
/// and the remedy. `cpus` are those that rqps may use.
pub(crate) fn check(plan: &Plan, cpus: &[usize], host_memory_bytes: u64) -> Result<()> {
    for system in &plan.systems {
        let limits = &system.variant.limits;
        of_host(limits, cpus, host_memory_bytes)
            .and_then(|()| Ok(confine::probe(limits)?))
            .with_context(|| format!("limit {}", system.label))?;
    }
    descriptors::check(plan)
}

fn of_host(limits: &Limits, cpus: &[usize], host_memory_bytes: u64) -> Result<()> {
    if let Some(wanted) = &limits.cpus {
        let beyond = wanted.numbers().iter().find(|cpu| !cpus.contains(cpu));
        let list: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        if let Some(cpu) = beyond {
            anyhow::bail!(
                "cpus = \"{wanted}\": rqps cannot use CPU {cpu} here; choose from {}",
                list.join(", ")
            );
        }
    }
    if let Some(bytes) = limits.memory_bytes {
        ensure!(
            bytes <= host_memory_bytes,
            "memory = \"{}\": this host has {}M; write less, or leave out memory",
            written_bytes(bytes),
            host_memory_bytes >> 20
        );
    }
    Ok(())
}

/// The CPUs for a system: its own limit, or all that rqps may use.
pub(crate) fn cpus_of(system: &SystemSpec, usable: &[usize]) -> Vec<usize> {
    let limit = system.variant.limits.cpus.as_ref();
    limit.map_or_else(|| usable.to_vec(), |cpus| cpus.numbers().to_vec())
}

/// The fewest CPUs that any system of the plan has: what placement is decided by, so that it is the
/// same for all of them.
pub(crate) fn narrowest(plan: &Plan, usable: &[usize]) -> Vec<usize> {
    let all = plan.systems.iter().map(|system| cpus_of(system, usable));
    all.min_by_key(Vec::len).unwrap_or_else(|| usable.to_vec())
}

/// What a server with a limit takes at least beside its cache, bytes, and a quarter of the cache for
/// what describes it (pages' headers, hash tables) and a start that is larger than the steady state.
/// MySQL 8.0 without its performance schema takes about 250 MB; the profiles' least sizes leave
/// more, but a limit is the user's to draw.
const BESIDE_LIMITED: u64 = 128 << 20;

/// Refuses a configuration whose caches do not fit into the limit of its system: the profile
/// `io-bound` follows the data, and a user's own sizes follow nothing.
pub(crate) fn fits(spec: &SystemSpec, memory_bytes: u64, cache_bytes: u64) -> Result<()> {
    let needed = cache_bytes.saturating_add(cache_bytes / 4).saturating_add(BESIDE_LIMITED);
    ensure!(
        needed <= memory_bytes,
        "memory = \"{}\": the caches of {} take \"{}\" with config {:?} and its tables, the whole \
         server about \"{}\"; write more memory, smaller caches in options, or smaller tables",
        written_bytes(memory_bytes),
        spec.label,
        written_bytes(cache_bytes),
        spec.config,
        written_bytes(needed.next_multiple_of(1 << 20)),
    );
    Ok(())
}

/// Connections of rqps's own beside the clients, and those that PostgreSQL keeps for superusers.
const BESIDE_CLIENTS: u64 = 8;

/// Refuses more clients than a configuration lets connect.
pub(crate) fn admits_clients(plan: &Plan, spec: &SystemSpec, allowed: u64) -> Result<()> {
    let clients = descriptors::most_clients(plan);
    let needed = clients + BESIDE_CLIENTS;
    ensure!(
        needed <= allowed,
        "max_connections = {allowed}: the plan has {clients} connections to {}, and rqps needs {BESIDE_CLIENTS} \
         more; write options = {{ max_connections = {needed} }}, or fewer clients",
        spec.label,
    );
    Ok(())
}

/// How many times its caches MyRocks may take with glibc's malloc, of which it has each block. Seen with MariaDB
/// 10.11.19: killed at 521 MB with caches of 184 MB (at most 300 MB with jemalloc), and 1054 MB with a pool of 64 MB
/// and a block cache of 256 MB (488 MB).
const SCATTERED: u64 = 3;

/// A sentence where a limit may not hold what malloc makes of MyRocks's caches.
pub(crate) fn may_outgrow(
    spec: &SystemSpec,
    memory_bytes: u64,
    cache_bytes: u64,
) -> Option<String> {
    let is_glibc = matches!(spec.variant.malloc, Malloc::Build | Malloc::System);
    let may_need = cache_bytes.saturating_mul(SCATTERED).saturating_add(BESIDE_LIMITED);
    let is_told = spec.engine == Engine::Rocksdb && is_glibc && may_need > memory_bytes;
    is_told.then(|| {
        format!(
            "memory = \"{}\" may not be enough: with glibc's malloc MyRocks can take {SCATTERED} times its caches, \
             which are \"{}\"; write more memory, smaller caches in options, or malloc = \"jemalloc\", which needs \
             far less",
            written_bytes(memory_bytes),
            written_bytes(cache_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use rqps_model::{Dbms, Version};
    use rqps_server::Places;
    use rqps_server::profile::{Rendered, cache_bytes};

    use super::*;
    use crate::PlanFile;
    use crate::plan::SuiteWork;
    use crate::system::installation::render_config;

    fn plan(systems: &[&str]) -> Plan {
        let systems: Vec<String> = systems
            .iter()
            .enumerate()
            .map(|(n, keys)| {
                format!("[[system]]\nlabel = 's{n}'\ndbms = 'postgres'\nversion = '17.4'\n{keys}\n")
            })
            .collect();
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        PlanFile::parse(&systems.concat(), "test").unwrap().resolve("test", &catalogue).unwrap()
    }

    #[test]
    fn what_the_host_does_not_have_is_refused() {
        let refusal = |keys: &str| {
            let error = check(&plan(&["", keys]), &[0, 1], 8 << 30).unwrap_err();
            format!("{error:#}")
        };
        assert_eq!(
            refusal("cpus = '1-2'"),
            "limit s1: cpus = \"1-2\": rqps cannot use CPU 2 here; choose from 0, 1"
        );
        assert_eq!(
            refusal("memory = '9G'"),
            "limit s1: memory = \"9G\": this host has 8192M; write less, or leave out memory"
        );
        check(&plan(&["", ""]), &[0, 1], 8 << 30).unwrap();
        let mut many = plan(&["", ""]);
        if let SuiteWork::File { args, .. } = &mut many.suites[0].work {
            // More than any kernel gives a process unless it is told to: proc(5), fs.nr_open.
            args.clients = vec![1 << 30];
        }
        let error = check(&many, &[0, 1], 8 << 30).unwrap_err().to_string();
        assert!(error.contains("raise the hard limit (ulimit -Hn 4294967424)"), "{error}");
    }

    /// The configuration of a MariaDB with these keys, and what it tells of itself.
    fn rendered(keys: &str, rows: u64) -> Result<Rendered> {
        let text = format!(
            "[[system]]\nlabel = 's'\ndbms = 'mariadb'\nversion = '10.11.19'\n{keys}\n\
             [[suite]]\nname = 'own'\ntables = 1\nrows = {rows}\n"
        );
        let catalogue = rqps_server::Catalogue::builtin()?;
        let plan = PlanFile::parse(&text, "test")?.resolve("test", &catalogue)?;
        let here = std::env::temp_dir();
        let (cache, data, sockets) = (here.clone(), here.clone(), here);
        let places = Places { cache, data, sockets, notes: Vec::new() };
        let version: Version = "10.11.19".parse()?;
        render_config(&plan, &plan.systems[0], &version, &places)
    }

    /// The caches of that configuration, MiB.
    fn caches(keys: &str, rows: u64) -> Result<u64> {
        Ok(cache_bytes(Dbms::Mariadb, &rendered(keys, rows)?)? >> 20)
    }

    #[test]
    fn caches_that_follow_the_data_must_fit_the_limit() {
        let limited = "config = 'io-bound'\nmemory = '1G'";
        assert!(caches(limited, 10_000_000).unwrap() < 512);
        let error = caches(limited, 200_000_000).unwrap_err().to_string();
        expect_test::expect![[r#"memory = "1G": the caches of s take "5696M" with config "io-bound" and its tables, the whole server about "7248M"; write more memory, smaller caches in options, or smaller tables"#]].assert_eq(&error);
        assert!(caches("config = 'io-bound'", 200_000_000).unwrap() > 1024);
    }

    #[test]
    fn memtables_and_own_sizes_count() {
        let own = |bytes: &str| {
            let size = "innodb_buffer_pool_size";
            caches(&format!("memory = '1G'\noptions = {{ {size} = '{bytes}' }}"), 1000)
        };
        assert_eq!(own("700M").unwrap(), 700);
        assert!(own("800M").unwrap_err().to_string().contains("take \"800M\""));
        let memtable = |bytes: &str| {
            let option = "'rocksdb_default_cf_options.write_buffer_size'";
            let keys = "engine = 'rocksdb'\nmemory = '1G'";
            caches(&format!("{keys}\noptions = {{ {option} = '{bytes}' }}"), 1000)
        };
        assert!(memtable("64M").is_ok());
        assert!(memtable("512M").unwrap_err().to_string().contains("memory = \"1G\""));
    }

    #[test]
    fn a_limit_that_myrocks_may_outgrow_with_the_malloc_of_glibc_is_told() {
        let notes = |keys: &str| {
            let limited = format!("config = 'io-bound'\nmemory = '512M'\n{keys}");
            rendered(&limited, 6_000_000).unwrap().notes.join("; ")
        };
        expect_test::expect![[r#"memory = "512M" may not be enough: with glibc's malloc MyRocks can take 3 times its caches, which are "184M"; write more memory, smaller caches in options, or malloc = "jemalloc", which needs far less"#]].assert_eq(&notes("engine = 'rocksdb'"));
        assert_eq!(notes("engine = 'rocksdb'\nmalloc = 'jemalloc'"), "");
        assert_eq!(notes("malloc = 'system'"), "");
    }

    #[test]
    fn more_clients_than_may_connect_are_refused_with_what_they_need() {
        let with = |clients: u32, keys: &str| {
            rendered(&format!("{keys}\n[[suite]]\nname = 'a'\nclients = [1, {clients}]"), 1000)
        };
        assert!(with(504, "").is_ok());
        let error = with(505, "").unwrap_err().to_string();
        expect_test::expect![[r#"max_connections = 512: the plan has 505 connections to s, and rqps needs 8 more; write options = { max_connections = 513 }, or fewer clients"#]].assert_eq(&error);
        assert!(with(505, "options = { max_connections = 513 }").is_ok());
        assert!(with(100, "options = { max-connections = 107 }").is_err());
    }

    #[test]
    fn placement_is_decided_by_the_system_with_the_fewest_cpus() {
        let plan = plan(&["cpus = '2-5'", "", "cpus = '3'"]);
        assert_eq!(narrowest(&plan, &[0, 1, 2, 3, 4, 5]), [3]);
        assert_eq!(cpus_of(&plan.systems[0], &[0, 1, 2, 3, 4, 5]), [2, 3, 4, 5]);
        assert_eq!(cpus_of(&plan.systems[1], &[0, 1]), [0, 1]);
    }
}
