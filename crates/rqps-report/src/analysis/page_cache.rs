//! Systems that were meant to read from storage and read from the page cache instead.

use rqps_model::{Dbms, Engine, RunSystem, SystemSource};

use crate::words::{list_in_short, one_line};

/// The profile whose caches are far smaller than the data.
const IO_BOUND: &str = "io-bound";

/// A sentence on IO-bound systems whose reads the page cache answers, as nothing bounds it: their
/// figures are those of memory, above all beside systems that read past it.
pub(super) fn warning(systems: &[RunSystem]) -> Option<String> {
    let io_bound = || systems.iter().filter(|s| is_ours(s) && s.spec.config == IO_BOUND);
    let labels = |wanted: &dyn Fn(&RunSystem) -> bool| -> Vec<String> {
        let wanted = io_bound().filter(|s| wanted(s));
        wanted.map(|s| one_line(s.spec.label.as_str())).collect()
    };
    let from_memory =
        |s: &RunSystem| s.spec.variant.limits.memory_bytes.is_none() && reads_through_page_cache(s);
    let cached = labels(&from_memory);
    if cached.is_empty() {
        return None;
    }
    let (verb, them) = if cached.len() == 1 { ("reads", "it") } else { ("read", "them") };
    let past = labels(&|s| !reads_through_page_cache(s));
    let unlike = if past.is_empty() {
        String::new()
    } else {
        let verb = if past.len() == 1 { "reads" } else { "read" };
        format!(
            " {} {verb} past the page cache, from storage: ratios between them compare memory with \
             storage.",
            list_in_short(&past)
        )
    };
    Some(format!(
        "{} {verb} through the page cache, which no limit bounds: what the server's own cache lacks \
         came from memory and not from storage, so this is no IO-bound measurement. Give {them} \
         `memory`, or direct IO.{unlike}",
        list_in_short(&cached)
    ))
}

fn is_ours(system: &RunSystem) -> bool {
    !matches!(system.spec.source, SystemSource::External { .. } | SystemSource::Builtin)
}

/// Whether reads of data files go through the page cache, by the settings that were in effect.
fn reads_through_page_cache(system: &RunSystem) -> bool {
    let setting = |name: &str| system.settings.get(name).map(|value| value.to_ascii_lowercase());
    if system.process.get("direct_io").is_some_and(|text| text.starts_with("refused")) {
        return true;
    }
    match (system.spec.dbms, system.spec.engine) {
        (Dbms::Postgres, _) => !setting("debug_io_direct").is_some_and(|v| v.contains("data")),
        (_, Engine::Rocksdb) => setting("rocksdb_use_direct_reads").is_some_and(|v| v != "on"),
        _ => setting("innodb_flush_method").is_some_and(|v| !v.starts_with("o_direct")),
    }
}
