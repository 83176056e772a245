//! Names of the series of a history, and conditions of its points.

use rqps_analysis::history::{
    BaseName, LeftOut, LineName, Series, SliceOrder, Surrounding, Surroundings, SystemKind,
};
use rqps_analysis::join::Machine;
use rqps_model::{Compression, Durability, Malloc, Transport};
use rqps_text::number::{bytes, count, exact_percent, kb};
use rqps_text::words::{list_in_short, one_line};

use crate::conditions;

/// The systems of a series: `MySQL, innodb, small`, or their label.
#[must_use]
pub fn line(series: &Series) -> String {
    match &series.line {
        LineName::Kind(kind) => one_line(&with_details(kind.dbms.name().to_owned(), kind)),
        LineName::Label { label, injected_slowdown_bp } => {
            let label = std::iter::once(label.clone());
            let words: Vec<String> =
                label.chain(injected_slowdown(*injected_slowdown_bp)).collect();
            one_line(&words.join(", "))
        }
    }
}

/// A server and what tells its series apart: `MySQL 8.0.33, innodb, small`.
pub(super) fn server(server: &str, line: &LineName) -> String {
    match line {
        LineName::Kind(kind) => one_line(&with_details(server.to_owned(), kind)),
        LineName::Label { label, .. } => one_line(&format!("{server} ({label})")),
    }
}

/// The base of a series: `MySQL 5.6.14, innodb, small`.
#[must_use]
pub fn base(BaseName { server, kind }: &BaseName) -> String {
    one_line(&with_details(server.clone(), kind))
}

/// `MySQL, innodb, small, innodb_flush_method=fsync, jemalloc`: what is not the default is named.
fn with_details(server: String, kind: &SystemKind) -> String {
    let SystemKind { dbms: _, engine, config, options, malloc, durability, .. } = kind;
    let SystemKind { compression, cpus, memory, injected_slowdown_bp, .. } = kind;
    let SystemKind { transport, sql_after_load, .. } = kind;
    let mut words = vec![server];
    words.extend(engine.as_ref().map(ToString::to_string));
    words.push(config.clone());
    words.extend(options.iter().map(|(name, value)| format!("{name}={value}")));
    let is_usual = |transport: &Transport| *transport == Transport::default();
    words.extend(transport.filter(|own| !is_usual(own)).map(|own| own.to_string()));
    words.extend(sql_after_load.iter().cloned());
    if *malloc != Malloc::default() {
        words.push(malloc.to_string());
    }
    if *durability != Durability::default() {
        words.push(format!("durability {durability}"));
    }
    if *compression != Compression::default() {
        words.push(format!("compression {compression}"));
    }
    words.extend(cpus.as_ref().map(|cpus| format!("CPUs {cpus}")));
    words.extend(memory.map(|size| format!("memory {}", bytes(size.bytes))));
    words.extend(injected_slowdown(*injected_slowdown_bp));
    words.join(", ")
}

fn injected_slowdown(basis_points: u32) -> Option<String> {
    let share = f64::from(basis_points) / 1e4;
    (share > 0.0).then(|| format!("injected slowdown {}", exact_percent(share)))
}

/// The excluded steps or systems; empty for a whole run.
#[must_use]
pub fn what(left_out: &LeftOut) -> String {
    let what: Vec<String> = left_out.what.iter().map(|name| one_line(name)).collect();
    list_in_short(&what)
}

/// The order of a run's slices; empty where it is not known.
#[must_use]
pub fn schedule(surroundings: &Surroundings) -> String {
    let Some(SliceOrder { slice_ms, n_starts }) = surroundings.schedule else {
        return String::new();
    };
    let order = match slice_ms {
        None => "one system after the other".to_owned(),
        Some(ms) => format!("slices of {ms} ms"),
    };
    let n_starts = usize::try_from(n_starts).unwrap_or(usize::MAX);
    if n_starts > 1 { format!("{order}, {}", count(n_starts, "start")) } else { order }
}

/// One thing that a point was measured under.
pub(super) fn surrounding(surroundings: &Surroundings, what: Surrounding) -> String {
    let host = &surroundings.host;
    match what {
        Surrounding::Kernel => host.kernel.clone(),
        Surrounding::Distribution => host.os.clone(),
        Surrounding::Schedule => schedule(surroundings),
        Surrounding::Memory => bytes(host.memory_bytes),
        Surrounding::Storage => host.storage_kind(),
        Surrounding::ReadAhead => host.read_ahead_kb.map(kb).unwrap_or_default(),
        Surrounding::Host => conditions::machine(&Machine::of(host)),
    }
}
