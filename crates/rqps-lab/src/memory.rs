//! Whether the servers that are up together fit into this host's memory, and each into its limit.

use anyhow::{Result, bail, ensure};
use rqps_model::SystemSpec;
use rqps_model::variant::written_bytes;
use rqps_server::profile::cache_bytes;

use crate::Plan;
use crate::installation::{Installation, render_config};

/// What a server takes beside its cache, bytes: code, connections, dictionaries. MySQL 8.0 with
/// nothing cached takes about 400 MB, the others less.
const BESIDE_CACHE: u64 = 400 << 20;

/// Refuses systems whose caches do not fit into memory together.
pub(crate) fn check(plan: &Plan, ready: &[&(usize, Installation)]) -> Result<()> {
    let mut sum = 0_u64;
    let mut memory = u64::MAX;
    let mut parts = Vec::new();
    for (idx, installation) in ready {
        let Installation::Local(installed, _, _, places) = installation else { continue };
        let spec = &plan.systems[*idx];
        let config = render_config((plan, spec), &installed.version, places)?;
        memory = rqps_sample::host_info(&places.data)?.memory_bytes;
        let cache = cache_bytes(spec.dbms, &config);
        sum = sum.saturating_add(cache).saturating_add(BESIDE_CACHE);
        parts.push(format!("{} {} MB", spec.label, cache >> 20));
    }
    if sum > memory {
        bail!(
            "the systems do not fit into memory together: caches of {} and {} MB for each server \
             beside them, of {} MB; write mode = \"sequential\" below [schedule] (--schedule \
             sequential), or make the caches smaller",
            parts.join(", "),
            BESIDE_CACHE >> 20,
            memory >> 20
        );
    }
    Ok(())
}

/// What a server with a limit takes at least beside its cache, bytes, and a quarter of the cache for
/// what describes it (pages' headers, hash tables) and a start that is larger than the steady state.
/// MySQL 8.0 without its performance schema takes about 250 MB; the profiles' least sizes leave
/// more, but a limit is the user's to draw.
const BESIDE_LIMITED: u64 = 128 << 20;

/// Refuses a configuration whose caches do not fit into the limit of its system: the profile
/// `io-bound` follows the data, and a user's own sizes follow nothing.
pub(crate) fn fits_limit(spec: &SystemSpec, memory_bytes: u64, cache_bytes: u64) -> Result<()> {
    let needed = cache_bytes.saturating_add(cache_bytes / 4).saturating_add(BESIDE_LIMITED);
    ensure!(
        needed <= memory_bytes,
        "memory = \"{}\": the caches of {} take \"{}\" with config {:?} and its tables, and the \
         server about \"{}\"; write more memory, smaller caches in options, or smaller tables",
        written_bytes(memory_bytes),
        spec.label,
        written_bytes(cache_bytes),
        spec.config,
        written_bytes(needed.next_multiple_of(1 << 20)),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use rqps_model::{Dbms, Version};
    use rqps_server::Places;

    use super::*;
    use crate::PlanFile;

    fn rendered(keys: &str, rows: u64) -> Result<u64> {
        let text = format!(
            "[[system]]\nlabel = 's'\ndbms = 'mariadb'\nversion = '10.11.19'\n{keys}\n\
             [[suite]]\ntables = 1\nrows = {rows}\n"
        );
        let catalogue = rqps_server::Catalogue::builtin()?;
        let plan = PlanFile::parse(&text, "test")?.resolve("test", &catalogue)?;
        let here = std::env::temp_dir();
        let (cache, data, sockets) = (here.clone(), here.clone(), here);
        let places = Places { cache, data, sockets, notes: Vec::new() };
        let version: Version = "10.11.19".parse()?;
        let config = render_config((&plan, &plan.systems[0]), &version, &places)?;
        Ok(cache_bytes(Dbms::Mariadb, &config) >> 20)
    }

    #[test]
    fn caches_that_follow_the_data_must_fit_the_limit() {
        let limited = "config = 'io-bound'\nmemory = '1G'";
        assert!(rendered(limited, 10_000_000).unwrap() < 512);
        let error = rendered(limited, 200_000_000).unwrap_err().to_string();
        expect_test::expect![[r#"memory = "1G": the caches of s take "5696M" with config "io-bound" and its tables, and the server about "7248M"; write more memory, smaller caches in options, or smaller tables"#]].assert_eq(&error);
        assert!(rendered("config = 'io-bound'", 200_000_000).unwrap() > 1024);
    }

    #[test]
    fn memtables_and_own_sizes_count() {
        let own = |bytes: &str| {
            let size = "innodb_buffer_pool_size";
            rendered(&format!("memory = '1G'\noptions = {{ {size} = '{bytes}' }}"), 1000)
        };
        assert_eq!(own("700M").unwrap(), 700);
        assert!(own("800M").unwrap_err().to_string().contains("take \"800M\""));
        let memtable = |bytes: &str| {
            let option = "'rocksdb_default_cf_options.write_buffer_size'";
            let keys = "engine = 'rocksdb'\nmemory = '1G'";
            rendered(&format!("{keys}\noptions = {{ {option} = '{bytes}' }}"), 1000)
        };
        assert!(memtable("64M").is_ok());
        assert!(memtable("512M").unwrap_err().to_string().contains("memory = \"1G\""));
    }
}
