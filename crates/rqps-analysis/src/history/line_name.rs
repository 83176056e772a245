//! What the systems of one series have in common.

use std::collections::BTreeMap;

use rqps_model::{
    Compression, CpuSet, Dbms, Durability, Engine, Malloc, MemorySize, SystemSource, SystemSpec,
    Transport,
};

/// What a series is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineName {
    /// Systems of one kind, by version.
    Kind(Box<SystemKind>),
    /// One system over time. A system with an injected slowdown is another one.
    Label {
        /// Its label.
        label: String,
        /// The share of the measured time in which it is stopped on purpose, in basis points.
        injected_slowdown_bp: u32,
    },
}

/// What systems of several versions have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemKind {
    /// The DBMS.
    pub dbms: Dbms,
    /// The engine; absent where it is not known, as of imported systems.
    pub engine: Option<Engine>,
    /// The configuration.
    pub config: String,
    /// Options on top of it.
    pub options: BTreeMap<String, String>,
    /// How connections reach the server; absent where it is not known, as of imported systems.
    pub transport: Option<Transport>,
    /// Statements that change its tables once they are filled.
    pub sql_after_load: Vec<String>,
    /// The allocator.
    pub malloc: Malloc,
    /// What a commit waits for.
    pub durability: Durability,
    /// Compression.
    pub compression: Compression,
    /// The CPUs that it is limited to.
    pub cpus: Option<CpuSet>,
    /// The memory that it is limited to.
    pub memory: Option<MemorySize>,
    /// The share of the measured time in which it is stopped on purpose, in basis points.
    pub injected_slowdown_bp: u32,
}

/// What points are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseName {
    /// Name and version of the server: `MySQL 8.0.33`.
    pub server: String,
    /// What it is.
    pub kind: SystemKind,
}

impl SystemKind {
    pub(super) fn of(spec: &SystemSpec) -> Self {
        let variant = &spec.variant;
        Self {
            dbms: spec.dbms,
            engine: (spec.source != SystemSource::Imported).then_some(spec.engine),
            config: spec.config.clone(),
            options: spec.options.clone(),
            transport: (spec.source != SystemSource::Imported).then_some(spec.transport),
            sql_after_load: variant.sql_after_load.clone(),
            malloc: variant.malloc,
            durability: variant.durability,
            compression: variant.compression,
            cpus: variant.limits.cpus.clone(),
            memory: variant.limits.memory_bytes.map(|bytes| MemorySize { bytes }),
            injected_slowdown_bp: variant.injected_slowdown_bp,
        }
    }
}

impl LineName {
    pub(super) fn of_label(spec: &SystemSpec) -> Self {
        Self::Label {
            label: spec.label.0.clone(),
            injected_slowdown_bp: spec.variant.injected_slowdown_bp,
        }
    }
}
