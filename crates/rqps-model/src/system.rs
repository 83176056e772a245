//! Systems under test: which server, from where, with which engine, configuration and transport.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Dbms, Engine, SourceBuild, SourceOrigin, Variant, Version};

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
    /// A server that rqps builds from source, and runs.
    Built(SourceBuild),
    /// A server that runs already and is neither started nor stopped by rqps.
    External {
        /// Its address without the password: `mysql://user@host:3306/db`.
        dsn: String,
    },
    /// A part of rqps itself: the null client.
    Builtin,
    /// Another tool's results. Only the label is known, not engine, transport or settings.
    Imported,
}

impl SystemSource {
    /// Whether two systems run the same server, as far as the plan tells. A commit is the same wherever its repository
    /// lies, and whichever branch named it.
    #[must_use]
    pub fn is_same_server(&self, other: &Self) -> bool {
        let (Self::Built(own), Self::Built(others)) = (self, other) else { return self == other };
        let hash = |build: &SourceBuild| match &build.origin {
            SourceOrigin::Commit { hash, .. } => hash.clone(),
            SourceOrigin::Directory { .. } => None,
        };
        match (hash(own), hash(others)) {
            (Some(a), Some(b)) => {
                let origin = own.origin.clone();
                a == b && *own == SourceBuild { origin, ..others.clone() }
            }
            _ => own == others,
        }
    }
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
            let wide = dbms.facts().label_pads_numbers && i > 0;
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
    /// Its DBMS.
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
    /// Whether it is the base again, as a separate server: its difference is noise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_null_arm: bool,
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
            is_null_arm: false,
        }
    }

    /// Whether two systems are the same in the plan, except for label, version and build.
    #[must_use]
    pub fn is_of_kind(&self, other: &Self) -> bool {
        let Self {
            label: _,
            dbms,
            source: _,
            engine,
            config,
            options,
            transport,
            variant,
            is_null_arm: _,
        } = self;
        (*dbms, *engine, config, options)
            == (other.dbms, other.engine, &other.config, &other.options)
            && (transport, variant) == (&other.transport, &other.variant)
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
