//! Systems under test: which server, from where, with which engine, configuration and transport.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{UnknownWord, Variant, Version};

/// The database server's family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dbms {
    /// MySQL, and builds of it by others.
    Mysql,
    /// MariaDB.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// The client's own stand-in that answers at once; measures rqps itself.
    Null,
}

impl Dbms {
    /// The engine of its tables where nobody asks for another.
    #[must_use]
    pub fn default_engine(self) -> Engine {
        match self {
            Self::Postgres => Engine::Heap,
            Self::Mysql | Self::Mariadb | Self::Null => Engine::Innodb,
        }
    }

    /// The two letters that begin a label: `my`, `ma`, `pg`.
    #[must_use]
    pub fn letters(self) -> &'static str {
        match self {
            Self::Mysql => "my",
            Self::Mariadb => "ma",
            Self::Postgres => "pg",
            Self::Null => "null",
        }
    }

    /// The name that users of it write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql => "MySQL",
            Self::Mariadb => "MariaDB",
            Self::Postgres => "PostgreSQL",
            Self::Null => "null",
        }
    }

    /// Whether it speaks MySQL's protocol.
    #[must_use]
    pub fn is_mysql_family(self) -> bool {
        matches!(self, Self::Mysql | Self::Mariadb)
    }
}

impl FromStr for Dbms {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "mysql" | "my" => Ok(Self::Mysql),
            "mariadb" | "ma" => Ok(Self::Mariadb),
            "postgres" | "postgresql" | "pg" => Ok(Self::Postgres),
            "null" => Ok(Self::Null),
            _ => Err(UnknownWord {
                what: "dbms",
                value: text.to_owned(),
                known: "mysql, mariadb, postgres, null",
            }),
        }
    }
}

impl fmt::Display for Dbms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mysql => "mysql",
            Self::Mariadb => "mariadb",
            Self::Postgres => "postgres",
            Self::Null => "null",
        })
    }
}

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

/// How the benchmark's connections reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A unix socket; the default, as the field does it.
    #[default]
    Socket,
    /// TCP on loopback, without TLS.
    Tcp,
    /// TCP on loopback with TLS.
    Tls,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Socket => "socket",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
        })
    }
}

/// Where a system's server comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "from")]
pub enum SystemSource {
    /// A version of the catalogue, fetched and run by rqps.
    Catalogue {
        /// The version that the catalogue lists.
        version: Version,
        /// Which build of it: `debian`; the catalogue's first one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<String>,
    },
    /// A server installed or built by the user in this directory; run by rqps.
    Basedir {
        /// The directory that holds `bin/` or `usr/sbin/`.
        path: PathBuf,
    },
    /// A server that runs already and is neither started nor stopped by rqps.
    External {
        /// Its address without the password: `mysql://user@host:3306/db`.
        dsn: String,
    },
    /// A part of rqps itself: the null client.
    Builtin,
    /// Another tool's results, which tell no more than its label: neither engine nor transport nor
    /// settings are known.
    Imported,
}

/// A short name for a system, as the field writes them: `my5614.small`, `pg174.small`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(pub String);

impl Label {
    /// The label that the field's scheme gives: letters, version without dots, build,
    /// configuration.
    ///
    /// MySQL's three numbers are written as they are (5.6.14 is `5614`), with a second and third
    /// number of two digits from MariaDB 10 on (`110405`); PostgreSQL's as they are (`174`).
    #[must_use]
    pub fn of(dbms: Dbms, version: &Version, build: Option<&str>, config: &str) -> Self {
        use fmt::Write as _;
        let mut text = dbms.letters().to_owned();
        for (i, number) in version.numbers.iter().enumerate() {
            let wide = dbms == Dbms::Mariadb && i > 0;
            let _ = if wide { write!(text, "{number:02}") } else { write!(text, "{number}") };
        }
        text.push_str(&version.pre);
        if let Some(build) = build {
            text.push('_');
            text.push_str(build);
        }
        if !config.is_empty() {
            text.push('.');
            text.push_str(config);
        }
        Self(text)
    }

    /// The label's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A system as the plan asks for it, before anything is fetched or started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemSpec {
    /// Its short, unique name.
    pub label: Label,
    /// The server's family.
    pub dbms: Dbms,
    /// Where the server comes from.
    pub source: SystemSource,
    /// The tables' storage engine.
    pub engine: Engine,
    /// A built-in profile's name, or the path of a configuration file.
    pub config: String,
    /// Single options on top of the configuration, by the server's own names.
    pub options: BTreeMap<String, String>,
    /// How connections reach it.
    pub transport: Transport,
    /// Allocator, durability, compression, limits.
    #[serde(default)]
    pub variant: Variant,
}

impl SystemSpec {
    /// A system with the configuration `small` and the defaults of everything else.
    #[must_use]
    pub fn new(label: Label, dbms: Dbms, source: SystemSource) -> Self {
        Self {
            label,
            dbms,
            source,
            engine: dbms.default_engine(),
            config: "small".to_owned(),
            options: BTreeMap::new(),
            transport: Transport::default(),
            variant: Variant::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_field() {
        let label = |dbms, text: &str| Label::of(dbms, &text.parse().unwrap(), None, "small").0;
        assert_eq!(label(Dbms::Mysql, "5.6.14"), "my5614.small");
        assert_eq!(label(Dbms::Mysql, "8.0.33"), "my8033.small");
        assert_eq!(label(Dbms::Mariadb, "11.4.5"), "ma110405.small");
        assert_eq!(label(Dbms::Postgres, "17.4"), "pg174.small");
        assert_eq!(label(Dbms::Postgres, "19rc1"), "pg19rc1.small");
        let version = "18.6".parse().unwrap();
        let debian = Label::of(Dbms::Postgres, &version, Some("debian"), "small");
        assert_eq!(debian.as_str(), "pg186_debian.small");
    }
}
