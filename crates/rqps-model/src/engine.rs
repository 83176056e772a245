//! Storage engines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UnknownWord;

/// The storage engine of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// InnoDB, a clustered B-tree (MySQL, MariaDB).
    Innodb,
    /// MyRocks, an LSM tree (MariaDB, Percona Server, Meta's MySQL).
    Rocksdb,
    /// PostgreSQL's own heap tables.
    Heap,
}

impl Engine {
    /// What `CREATE TABLE ... ENGINE =` takes on the MySQL side.
    #[must_use]
    pub fn sql_name(self) -> &'static str {
        match self {
            Self::Innodb => "InnoDB",
            Self::Rocksdb => "ROCKSDB",
            Self::Heap => "heap",
        }
    }
}

impl FromStr for Engine {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "innodb" => Ok(Self::Innodb),
            "rocksdb" | "myrocks" => Ok(Self::Rocksdb),
            "heap" => Ok(Self::Heap),
            _ => Err(UnknownWord {
                what: "engine",
                value: text.to_owned(),
                known: "innodb, rocksdb, heap",
            }),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Innodb => "innodb",
            Self::Rocksdb => "rocksdb",
            Self::Heap => "heap",
        })
    }
}
