//! Fuzz targets: one function for each kind of text and bytes that rqps reads from somebody else.
//!
//! A target returns whatever its input is. A panic is a finding.
#![expect(clippy::panic, reason = "how a finding is told")]

mod imports;
mod text;
mod wire;

/// A target by its name, which is that of its program, its corpus and its dictionary.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Reads one input.
    pub read: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 6] = [
    Target { name: "imports", read: imports },
    Target { name: "mysql", read: mysql },
    Target { name: "perf", read: perf },
    Target { name: "plans", read: plans },
    Target { name: "postgres", read: postgres },
    Target { name: "proc", read: proc },
];

/// Other tools' results.
pub fn imports(input: &[u8]) {
    imports::read(&String::from_utf8_lossy(input));
}

/// What a MySQL server sends.
pub fn mysql(input: &[u8]) {
    wire::mysql(input);
}

/// What perf prints.
pub fn perf(input: &[u8]) {
    text::perf(&String::from_utf8_lossy(input));
}

/// Plans and suites.
pub fn plans(input: &[u8]) {
    text::plans(&String::from_utf8_lossy(input));
}

/// What a PostgreSQL server sends.
pub fn postgres(input: &[u8]) {
    wire::postgres(input);
}

/// `/proc` and `/sys`.
pub fn proc(input: &[u8]) {
    text::proc(&String::from_utf8_lossy(input));
}
