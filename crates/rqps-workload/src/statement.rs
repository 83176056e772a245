//! Statements of a suite: SQL with placeholders, what goes into them, and how many rows they give.

use rqps_model::Dbms;
use serde::{Deserialize, Serialize};

use crate::dialect::{OwnText, dialect};

/// The value of a statement's parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// A fresh id.
    #[serde(rename = "id")]
    Id,
    /// The id drawn last in this event, in the table drawn last.
    #[serde(rename = "same-id")]
    SameId,
    /// The last row of a range of n rows that begins at the id drawn last.
    #[serde(rename = "id+n-1")]
    IdPlusNLess1,
    /// The id drawn last plus n.
    #[serde(rename = "id+n")]
    IdPlusN,
    /// n fresh ids, for a list.
    #[serde(rename = "ids")]
    Ids,
    /// The same n adjacent ids every time, from rows/2+1 on, for a list.
    #[serde(rename = "hot-ids")]
    HotIds,
    /// A fresh value of column k.
    #[serde(rename = "k")]
    K,
    /// The value of k drawn last plus n.
    #[serde(rename = "k+n")]
    KPlusN,
    /// n fresh values of column k, for a list.
    #[serde(rename = "ks")]
    Ks,
    /// A fresh string for column c.
    #[serde(rename = "c")]
    C,
    /// A fresh string for column pad.
    #[serde(rename = "pad")]
    Pad,
}

impl Source {
    /// Every source with its name in a suite file and its meaning, for documentation.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::Id, "id", "a fresh id, 1 to rows, by the step's distribution"),
        (Self::SameId, "same-id", "the id drawn last in the event, in the same table"),
        (Self::IdPlusNLess1, "id+n-1", "the id drawn last plus n-1"),
        (Self::IdPlusN, "id+n", "the id drawn last plus n"),
        (Self::Ids, "ids", "n fresh ids, for `{list}`"),
        (
            Self::HotIds,
            "hot-ids",
            "n adjacent ids from rows/2+1 on, the same every time, for `{list}`",
        ),
        (Self::K, "k", "a fresh value of k, 1 to rows, by the step's distribution"),
        (Self::KPlusN, "k+n", "the value of k drawn last plus n"),
        (Self::Ks, "ks", "n fresh values of k, for `{list}`"),
        (Self::C, "c", "a fresh c: 10 groups of 11 random digits joined by `-`"),
        (Self::Pad, "pad", "a fresh pad: 5 such groups"),
    ];

    /// Its name in a suite file.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(one, ..)| *one == self).map_or("", |(_, name, _)| name)
    }

    /// Whether it fills a `{list}` instead of one `?`.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Self::Ids | Self::HotIds | Self::Ks)
    }

    /// Whether it needs the step's n.
    #[must_use]
    pub fn needs_n(self) -> bool {
        self.is_list() || matches!(self, Self::IdPlusNLess1 | Self::IdPlusN | Self::KPlusN)
    }
}

/// How many rows a statement gives on a table from which no row was deleted: rows received for
/// SELECT, rows changed for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expect {
    /// None.
    #[serde(rename = "0")]
    None,
    /// Exactly one.
    #[serde(rename = "1")]
    One,
    /// The whole range of ids; fewer only where it reaches beyond the last row.
    #[serde(rename = "range")]
    Range,
    /// 1 to n: an in-list in which ids may repeat.
    #[serde(rename = "1..n")]
    OneToN,
    /// Any number.
    #[serde(rename = "any")]
    Any,
}

impl Expect {
    /// Its name in a suite file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "0",
            Self::One => "1",
            Self::Range => "range",
            Self::OneToN => "1..n",
            Self::Any => "any",
        }
    }
}

/// The table of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableChoice {
    /// One drawn uniformly each time.
    #[default]
    Random,
    /// Always the client's own: client i (from 0) has table (i mod tables) + 1.
    Client,
}

/// The kind of a statement, read from its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// SELECT.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl Verb {
    /// The verb of a statement; `None` when it is another one.
    #[must_use]
    pub fn of(sql: &str) -> Option<Self> {
        let word = sql.split_whitespace().next()?.to_ascii_uppercase();
        match word.as_str() {
            "SELECT" => Some(Self::Select),
            "INSERT" => Some(Self::Insert),
            "UPDATE" => Some(Self::Update),
            "DELETE" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// A statement of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its name in the suite.
    pub name: String,
    /// SQL with `{table}`, `{list}` and `?`.
    pub sql: String,
    /// SQL for PostgreSQL where it differs.
    pub sql_postgres: Option<String>,
    /// SQL for MariaDB where it differs.
    pub sql_mariadb: Option<String>,
    /// What kind it is.
    pub verb: Verb,
    /// The values of its placeholders, in order.
    pub params: Vec<Source>,
    /// How many rows it gives.
    pub expect: Expect,
    /// Its table.
    pub table: TableChoice,
    /// Whether it is always sent as text.
    pub always_text: bool,
}

impl Statement {
    /// The SQL for a DBMS; the null client gets MySQL's.
    #[must_use]
    pub fn sql_for(&self, dbms: Dbms) -> &str {
        let own = match dialect(dbms).own_text {
            OwnText::Mariadb => self.sql_mariadb.as_deref(),
            OwnText::Postgres => self.sql_postgres.as_deref(),
            OwnText::None => None,
        };
        own.unwrap_or(&self.sql)
    }

    /// Whether it needs the step's n.
    #[must_use]
    pub fn needs_n(&self) -> bool {
        self.expect == Expect::OneToN || self.params.iter().any(|source| source.needs_n())
    }

    /// The number of ids that its range or list has, where it has one, for the step's n.
    #[must_use]
    pub fn n_ids(&self, n: u32) -> Option<u64> {
        let n = u64::from(n);
        self.params.iter().find_map(|source| match source {
            Source::IdPlusNLess1 | Source::HotIds | Source::Ids => Some(n),
            Source::IdPlusN => Some(n + 1),
            _ => None,
        })
    }
}

/// The name of table `number` (from 1): `sbtest1`.
#[must_use]
pub fn table_name(number: u32) -> String {
    format!("sbtest{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_listed_under_the_name_that_files_use() {
        #[derive(Deserialize)]
        struct One {
            source: Source,
        }
        for (source, name, _) in Source::ALL {
            let one: One = toml::from_str(&format!("source = {name:?}")).unwrap();
            assert_eq!(one.source, source);
            assert_eq!(source.name(), name);
        }
    }

    #[test]
    fn verbs_are_read_from_the_first_word() {
        assert_eq!(Verb::of(" select 1"), Some(Verb::Select));
        assert_eq!(Verb::of("UPDATE t"), Some(Verb::Update));
        assert_eq!(Verb::of("TRUNCATE t"), None);
        assert_eq!(Verb::of(""), None);
    }
}
