//! The DBMS that rqps knows: their names, and whose protocol and SQL they speak.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Engine, UnknownWord};

/// A database management system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dbms {
    /// MySQL, and builds of it by others.
    Mysql,
    /// MariaDB.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// H2 by PostgreSQL's protocol.
    H2,
    /// The null client: the client answers itself at once; measures rqps.
    Null,
}

/// Whose protocol and SQL a DBMS speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// MySQL's.
    Mysql,
    /// PostgreSQL's.
    Postgres,
    /// None: the null client.
    Null,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mysql, Self::Postgres, Self::Null];

    /// The servers that gave the protocol its name.
    #[must_use]
    pub fn servers(self) -> &'static str {
        match self {
            Self::Mysql => "MySQL and MariaDB",
            Self::Postgres => "PostgreSQL",
            Self::Null => "none",
        }
    }
}

/// What is known of a DBMS without asking a server.
#[derive(Debug)]
pub(crate) struct DbmsFacts {
    /// Its name in plans, addresses and stored runs, and other names that a user may write.
    words: &'static [&'static str],
    /// The letters that begin a label, as the field writes them.
    letters: &'static str,
    /// The name that its users write.
    name: &'static str,
    family: Family,
    /// Whether a server stands behind it.
    is_server: bool,
    /// The engines that its tables can have, the default first.
    engines: &'static [Engine],
    /// The port of an address that names none.
    default_port: u16,
    /// Whether labels write the second and third number of a version with two digits.
    pub(crate) label_pads_numbers: bool,
}

const MYSQL: DbmsFacts = DbmsFacts {
    words: &["mysql", "my"],
    letters: "my",
    name: "MySQL",
    family: Family::Mysql,
    is_server: true,
    engines: &[Engine::Innodb, Engine::Rocksdb],
    default_port: 3306,
    label_pads_numbers: false,
};

const MARIADB: DbmsFacts = DbmsFacts {
    words: &["mariadb", "ma"],
    letters: "ma",
    name: "MariaDB",
    label_pads_numbers: true,
    ..MYSQL
};

const POSTGRES: DbmsFacts = DbmsFacts {
    words: &["postgres", "postgresql", "pg"],
    letters: "pg",
    name: "PostgreSQL",
    family: Family::Postgres,
    is_server: true,
    engines: &[Engine::Heap],
    default_port: 5432,
    label_pads_numbers: false,
};

const H2: DbmsFacts =
    DbmsFacts { words: &["h2"], letters: "h2_", name: "H2", default_port: 5435, ..POSTGRES };

const NULL: DbmsFacts = DbmsFacts {
    words: &["null"],
    letters: "null",
    name: "null",
    family: Family::Null,
    is_server: false,
    engines: &[Engine::Innodb, Engine::Rocksdb],
    default_port: 0,
    label_pads_numbers: false,
};

/// The words that a message offers in place of an unknown one: the servers that rqps starts.
const KNOWN_WORDS: &str = "mysql, mariadb, postgres";

impl Dbms {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mysql, Self::Mariadb, Self::Postgres, Self::H2, Self::Null];

    pub(crate) fn facts(self) -> &'static DbmsFacts {
        match self {
            Self::Mysql => &MYSQL,
            Self::Mariadb => &MARIADB,
            Self::Postgres => &POSTGRES,
            Self::H2 => &H2,
            Self::Null => &NULL,
        }
    }

    /// Whose protocol and SQL it speaks.
    #[must_use]
    pub fn family(self) -> Family {
        self.facts().family
    }

    /// Whether it speaks MySQL's protocol and SQL.
    #[must_use]
    pub fn is_mysql_family(self) -> bool {
        self.family() == Family::Mysql
    }

    /// Whether it speaks PostgreSQL's protocol and SQL.
    #[must_use]
    pub fn is_postgres_family(self) -> bool {
        self.family() == Family::Postgres
    }

    /// Whether a server stands behind it: all but the null client.
    #[must_use]
    pub fn is_server(self) -> bool {
        self.facts().is_server
    }

    /// The engines that its tables can have, the default first.
    #[must_use]
    pub fn engines(self) -> &'static [Engine] {
        self.facts().engines
    }

    /// The default engine of its tables.
    #[must_use]
    pub fn default_engine(self) -> Engine {
        self.engines()[0]
    }

    /// The port of an address that names none.
    #[must_use]
    pub fn default_port(self) -> u16 {
        self.facts().default_port
    }

    /// The letters that begin a label: `my`, `ma`, `pg`.
    #[must_use]
    pub fn letters(self) -> &'static str {
        self.facts().letters
    }

    /// The name that users of it write.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }
}

impl FromStr for Dbms {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.into_iter().find(|dbms| dbms.facts().words.contains(&text));
        found.ok_or_else(|| UnknownWord {
            what: "dbms",
            value: text.to_owned(),
            known: KNOWN_WORDS,
        })
    }
}

impl fmt::Display for Dbms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().words.first().unwrap_or(&self.facts().name))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    #[test]
    fn every_dbms_is_found_by_its_words_and_stored_under_the_first() {
        for dbms in Dbms::ALL {
            for word in dbms.facts().words {
                assert_eq!(word.parse(), Ok(dbms));
            }
            let name = dbms.to_string();
            let stored = Dbms::deserialize(StrDeserializer::<Error>::new(&name));
            assert_eq!(stored, Ok(dbms));
        }
        assert!(KNOWN_WORDS.split(", ").all(|word| word.parse::<Dbms>().is_ok()));
        assert!("oracle".parse::<Dbms>().unwrap_err().to_string().contains("oracle"));
    }
}
