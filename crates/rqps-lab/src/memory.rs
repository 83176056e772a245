//! Whether the servers that are up together fit into this host's memory, and each into its limit.

use anyhow::{Context as _, Result, bail, ensure};
use rqps_model::variant::written_bytes;
use rqps_model::{Label, Schedule, SystemSource, SystemSpec, Version};
use rqps_server::Places;
use rqps_server::profile::cache_bytes;

use crate::Plan;
use crate::event::Listener;
use crate::installation::{Installation, places, render_config};
use crate::run::Context;

/// What a server takes beside its cache, bytes: code, connections, dictionaries. MySQL 8.0 with
/// nothing cached takes about 400 MB, the others less.
const BESIDE_CACHE: u64 = 400 << 20;

/// Starts of the servers where systems that do not fit together are measured one after the other: the
/// fewest that tell a difference of the servers from one of their starts and times.
const STARTS: u32 = 3;

/// A system and its caches, bytes.
type Need = (Label, u64);

/// The plan as it can be carried out on this host: systems that take turns and do not fit into memory
/// together are measured one after the other instead, each on several starts; with a sentence that
/// says so.
///
/// # Errors
/// When a configuration cannot be had, or one system does not fit by itself.
pub(crate) fn fitted(
    plan: Plan,
    context: &Context,
    listen: &mut Listener<'_>,
) -> Result<(Plan, Option<String>)> {
    if !plan.schedule.is_interleaved() || plan.systems_up() < 2 {
        return Ok((plan, None));
    }
    let mut needs = Vec::new();
    for idx in 0..plan.systems.len() {
        let Some((version, places)) = version_of(&plan, idx, context, listen)? else { continue };
        let spec = &plan.systems[idx];
        let config = render_config((&plan, spec), &version, &places)?;
        needs.push((spec.label.clone(), cache_bytes(spec.dbms, &config)));
    }
    let memory = rqps_sample::host_info(&context.results)?.memory_bytes;
    by_restart(plan, &needs, memory)
}

/// The version that a system of the plan will run, without fetching it; `None` for one that rqps does
/// not run.
fn version_of(
    plan: &Plan,
    idx: usize,
    context: &Context,
    listen: &mut Listener<'_>,
) -> Result<Option<(Version, Places)>> {
    let spec = &plan.systems[idx];
    let version = match &spec.source {
        SystemSource::Catalogue { version, build } => {
            context.catalogue.find(spec.dbms, version, build.as_deref())?.version.clone()
        }
        SystemSource::Basedir { .. } => {
            let installation = Installation::of(plan, idx, context, listen);
            match installation.with_context(|| format!("get {}", spec.label))? {
                Installation::Local(installed, ..) => installed.version,
                Installation::External(_) | Installation::Null => return Ok(None),
            }
        }
        SystemSource::External { .. } | SystemSource::Builtin => return Ok(None),
    };
    Ok(Some((version, places(context)?)))
}

fn by_restart(plan: Plan, needs: &[Need], memory: u64) -> Result<(Plan, Option<String>)> {
    let sum: u64 = needs
        .iter()
        .fold(0, |sum, (_, cache)| sum.saturating_add(*cache).saturating_add(BESIDE_CACHE));
    if sum <= memory {
        return Ok((plan, None));
    }
    if let Some((label, cache)) =
        needs.iter().find(|(_, cache)| cache.saturating_add(BESIDE_CACHE) > memory)
    {
        bail!(
            "{label} does not fit into memory: caches of {} MB and {} MB for the server beside them, of \
             {} MB; make its caches smaller",
            cache >> 20,
            BESIDE_CACHE >> 20,
            memory >> 20
        );
    }
    let starts = plan.starts.max(STARTS);
    let parts: Vec<String> =
        needs.iter().map(|(label, cache)| format!("{label} {} MB", cache >> 20)).collect();
    let sentence = format!(
        "the systems do not fit into memory together (caches of {}, {} MB for each server beside them, of \
         {} MB): they are measured one after the other, on {starts} starts of each in an order drawn \
         anew; smaller caches would let them take turns",
        parts.join(", "),
        BESIDE_CACHE >> 20,
        memory >> 20
    );
    let schedule = Schedule::Sequential { slices: plan.schedule.slices() };
    Ok((Plan { schedule, starts, is_by_restart: true, ..plan }, Some(sentence)))
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
    fn systems_that_do_not_fit_together_are_measured_by_restart() {
        let text = "[[system]]\nlabel = 'a'\ndbms = 'postgres'\nversion = '17.4'\n\
                    [[system]]\nlabel = 'b'\ndbms = 'postgres'\nversion = '17.4'\n\
                    [schedule]\nbudget = '60s'\nprecision = '1%'\n";
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = || PlanFile::parse(text, "test").unwrap().resolve("test", &catalogue).unwrap();
        let needs = |mb: [u64; 2]| {
            [(Label("a".to_owned()), mb[0] << 20), (Label("b".to_owned()), mb[1] << 20)]
        };
        let (fits, sentence) = by_restart(plan(), &needs([600, 600]), 2 << 30).unwrap();
        assert_eq!((fits, sentence), (plan(), None));
        let (fits, sentence) = by_restart(plan(), &needs([700, 700]), 2 << 30).unwrap();
        assert_eq!((fits.schedule.is_interleaved(), fits.starts), (false, 3));
        expect_test::expect![[r#"the systems do not fit into memory together (caches of a 700 MB, b 700 MB, 400 MB for each server beside them, of 2048 MB): they are measured one after the other, on 3 starts of each in an order drawn anew; smaller caches would let them take turns"#]].assert_eq(&sentence.unwrap());
        // What is stored says what was carried out, and a plan that asks for more starts has them.
        assert!(fits.to_toml().contains("mode = \"sequential\""));
        let more = Plan { starts: 5, ..plan() };
        assert_eq!(by_restart(more, &needs([700, 700]), 2 << 30).unwrap().0.starts, 5);
        let error = by_restart(plan(), &needs([700, 1700]), 2 << 30).unwrap_err().to_string();
        assert!(error.starts_with("b does not fit into memory: caches of 1700 MB"), "{error}");
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
