//! What the data of filled tables depend on.

use std::collections::BTreeMap;

use rqps_model::{SystemSpec, Transport};
use rqps_server::profile::Rendered;
use rqps_server::{Identity, Installed};
use rqps_workload::LoadSpec;
use serde::{Deserialize, Serialize};

/// Everything that the data of filled tables depend on. Data are copied only if all of it is equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablesKey {
    /// Version of rqps.
    pub rqps: String,
    /// `mysql`, `mariadb` or `postgres`.
    pub dbms: String,
    /// The server's version.
    pub version: String,
    /// Where the server came from: coordinates and checksum, or the directory.
    pub origin: String,
    /// How it was built, with its build id or the checksum of its program.
    pub build: BTreeMap<String, String>,
    /// Id of the user that it runs as.
    pub user: u32,
    /// Whether certificates lie beside the data.
    pub has_tls: bool,
    /// The tables' engine.
    pub engine: String,
    /// Their compression.
    pub compression: String,
    /// Number of tables.
    pub tables: u32,
    /// Rows of each.
    pub rows: u64,
    /// A plain index on id in place of the primary key.
    pub secondary: bool,
    /// Distribution of column k.
    pub distribution: String,
    /// Seed of the rows, in decimal: TOML has no numbers so large.
    pub seed: String,
    /// Statements and first rows of the first table.
    pub sample: Vec<String>,
    /// Statements that are run on the filled tables.
    pub sql_after_load: Vec<String>,
    /// Whether the server settles after the load.
    pub settles: bool,
    /// Arguments of initdb.
    pub initdb_arguments: Vec<String>,
    /// The configuration file.
    pub config: String,
}

/// What a key is made of.
pub(crate) struct Ingredients<'a> {
    pub(crate) rqps_version: &'a str,
    pub(crate) installed: &'a Installed,
    pub(crate) identity: &'a Identity,
    pub(crate) spec: &'a SystemSpec,
    pub(crate) config: &'a Rendered,
    pub(crate) load: &'a LoadSpec,
    pub(crate) settles: bool,
}

impl TablesKey {
    pub(crate) fn of(from: &Ingredients<'_>) -> Self {
        let Ingredients { installed, spec, load, config, .. } = from;
        Self {
            rqps: from.rqps_version.to_owned(),
            dbms: installed.dbms.to_string(),
            version: installed.version.to_string(),
            origin: installed.origin.clone(),
            build: installed.build_facts(),
            user: from.identity.uid.as_raw(),
            has_tls: spec.transport == Transport::Tls,
            engine: spec.engine.to_string(),
            compression: spec.variant.compression.to_string(),
            tables: load.tables,
            rows: load.rows,
            secondary: load.secondary,
            distribution: load.distribution.to_string(),
            seed: load.seed.to_string(),
            sample: load.sample(),
            sql_after_load: spec.variant.sql_after_load.clone(),
            settles: from.settles,
            initdb_arguments: config.initdb_arguments.clone(),
            config: config.text.clone(),
        }
    }
}
