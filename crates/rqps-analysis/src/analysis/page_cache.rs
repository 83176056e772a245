//! Systems that were meant to read from storage and read from the page cache instead.

use rqps_model::{DIRECT_IO, DIRECT_IO_REFUSED, Engine, RunSystem, SystemSource, WarningKind};

use super::of_systems::systems_with;

/// The profile whose caches are far smaller than the data.
const IO_BOUND: &str = "io-bound";

/// IO-bound systems whose reads the page cache answers, as nothing bounds it: their figures are those of memory,
/// above all beside systems that read past it.
pub(super) fn warning(all: &[RunSystem]) -> Option<WarningKind> {
    let is_io_bound = |s: &RunSystem| is_ours(s) && s.spec.config == IO_BOUND;
    let is_cached =
        |s: &RunSystem| s.spec.variant.limits.memory_bytes.is_none() && reads_through_page_cache(s);
    let systems = systems_with(all, |s| is_io_bound(s) && is_cached(s));
    let past = systems_with(all, |s| is_io_bound(s) && !reads_through_page_cache(s));
    (!systems.is_empty()).then_some(WarningKind::PageCache { systems, past })
}

fn is_ours(system: &RunSystem) -> bool {
    !matches!(system.spec.source, SystemSource::External { .. } | SystemSource::Builtin)
}

/// Whether reads of data files go through the page cache, by the settings that were in effect.
fn reads_through_page_cache(system: &RunSystem) -> bool {
    let setting = |name: &str| system.settings.get(name).map(|value| value.to_ascii_lowercase());
    if system.process.get(DIRECT_IO).is_some_and(|text| text == DIRECT_IO_REFUSED) {
        return true;
    }
    match system.spec.engine {
        Engine::Heap => !setting("debug_io_direct").is_some_and(|v| v.contains("data")),
        Engine::Rocksdb => setting("rocksdb_use_direct_reads").is_some_and(|v| v != "on"),
        Engine::Innodb => {
            setting("innodb_flush_method").is_some_and(|v| !v.starts_with("o_direct"))
        }
    }
}
