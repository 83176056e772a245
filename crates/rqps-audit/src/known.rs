//! The settings that are known, as data: `settings.toml`, read once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rqps_model::{Dbms, Family};
use serde::Deserialize;

use super::Severity;

/// How a setting's values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// As they stand, numbers as numbers.
    #[default]
    Text,
    /// Bytes, with or without a unit.
    Bytes,
    /// ON, 1, yes, or the opposite.
    Switch,
    /// `a=on,b=off`.
    Flags,
    /// Words in any order.
    List,
}

/// What is known of some settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingRule {
    #[serde(default)]
    pub mysql: Vec<String>,
    #[serde(default)]
    pub postgres: Vec<String>,
    #[serde(default)]
    pub session: Vec<String>,
    /// What part of the server they are about: `memory`.
    pub group: String,
    #[serde(default)]
    pub kind: Kind,
    /// What a difference can move: `reads`, `all`; nothing when empty.
    pub affects: Vec<String>,
    /// What a server does that has no such setting.
    pub absent: Option<String>,
    /// Other words for a value.
    #[serde(default)]
    pub says: BTreeMap<String, String>,
    /// A switch without which they have no effect.
    pub needs: Option<String>,
    /// How much a difference within a family weighs; notable where it is not said.
    pub severity: Option<Severity>,
    /// How much one between families weighs at most.
    pub across: Option<Severity>,
    /// Numbers that are nearer to one another than this ratio make a minor difference.
    pub ratio: Option<f64>,
    /// Values that come to the same.
    #[serde(default)]
    pub alike: Vec<Vec<String>>,
    /// The values that make a difference severe; one between two others is notable at most.
    #[serde(default)]
    pub with: Vec<String>,
    /// What they do, in a sentence.
    pub why: String,
}

/// The whole list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    instance: Vec<String>,
    idle: Vec<String>,
    known: Vec<SettingRule>,
    #[serde(skip)]
    names: OnceLock<BTreeMap<Family, Names>>,
}

/// Where names of a family stand: in the list, and in their line.
#[derive(Debug, Default)]
struct Names {
    /// Those written in full.
    whole: BTreeMap<String, (usize, usize)>,
    /// Patterns, and names beside them, in the order of the list.
    patterns: Vec<(String, (usize, usize))>,
}

impl Names {
    fn from_rows(lines: impl Iterator<Item = (usize, Vec<String>)>) -> Self {
        let mut names = Self::default();
        for (at, line) in lines {
            for (place, words) in line.into_iter().enumerate() {
                for word in words.split('|').map(str::to_owned) {
                    if words.contains('*') {
                        names.patterns.push((word, (at, place)));
                    } else {
                        names.whole.entry(word).or_insert((at, place));
                    }
                }
            }
        }
        names
    }

    fn find(&self, name: &str) -> Option<(usize, usize, bool)> {
        if let Some((at, place)) = self.whole.get(name) {
            return Some((*at, *place, true));
        }
        let (_, (at, place)) = self.patterns.iter().find(|(pattern, _)| fits(pattern, name))?;
        Some((*at, *place, false))
    }
}

/// A setting of the list.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// What is known of it.
    pub known: &'a SettingRule,
    /// The same for all names of one setting, in the order of the list.
    pub key: Key,
}

/// Tells settings apart whatever they are called: place in the list, place in its line, and the name
/// itself where a pattern stands for many.
pub(crate) type Key = (usize, usize, String);

/// The built-in list; a test holds that it can be read.
pub(crate) fn list() -> &'static List {
    static LIST: OnceLock<List> = OnceLock::new();
    LIST.get_or_init(|| toml::from_str(include_str!("settings.toml")).unwrap_or_default())
}

impl List {
    /// All of them, in the order of the file.
    pub(crate) fn rules(&self) -> &[SettingRule] {
        &self.known
    }

    /// Whether a setting only says where or what an instance is.
    pub(crate) fn is_of_the_instance(&self, name: &str) -> bool {
        any_fits(&self.instance, name)
    }

    /// Whether a setting belongs to a part that a benchmark does not use.
    pub(crate) fn is_idle(&self, name: &str) -> bool {
        any_fits(&self.idle, name)
    }

    /// What is known of a fact of the session.
    pub(crate) fn session(&self, name: &str) -> Option<(usize, &SettingRule)> {
        self.known.iter().enumerate().find(|(_, known)| any_fits(&known.session, name))
    }

    /// The setting that a name of a family is; a name written in full comes before a pattern.
    pub(crate) fn find(&self, dbms: Dbms, name: &str) -> Option<Found<'_>> {
        let names = self.names.get_or_init(|| {
            let of_family = |family| {
                let lines = self.known.iter().map(|row| row.names_in(family).to_vec());
                (family, Names::from_rows(lines.enumerate()))
            };
            Family::ALL.into_iter().map(of_family).collect()
        });
        let names = names.get(&dbms.family())?;
        let (at, place, is_whole) = names.find(name)?;
        let own = if is_whole { String::new() } else { name.to_owned() };
        Some(Found { known: &self.known[at], key: (at, place, own) })
    }
}

impl SettingRule {
    /// Its names in the column of a family.
    fn names_in(&self, family: Family) -> &[String] {
        match family {
            Family::Mysql => &self.mysql,
            Family::Postgres => &self.postgres,
            Family::Null => &[],
        }
    }

    /// Whether a family can have the setting at all.
    pub(crate) fn is_of(&self, dbms: Dbms) -> bool {
        !self.names_in(dbms.family()).is_empty()
    }
}

fn any_fits(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, name))
}

/// Whether a name is what a pattern says, in which one star stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_list_is_whole() {
        let list: List = toml::from_str(include_str!("settings.toml")).unwrap();
        assert!(list.known.len() > 100);
        let words = BTreeSet::from(
            ["all", "connects", "loads", "reads", "scans", "writes"].map(str::to_owned),
        );
        let mut seen = BTreeSet::new();
        for known in &list.known {
            let why = &known.why;
            assert!(why.len() > 10 && !why.ends_with('.'), "{why:?} ends without a full stop");
            assert!(known.affects.iter().all(|word| words.contains(word)), "{:?}", known.affects);
            assert!(known.severity.is_none() || !known.affects.is_empty(), "{why} weighs nothing");
            assert!(known.ratio.is_none_or(|ratio| ratio > 1.0), "{why}");
            let all = [("m", &known.mysql), ("p", &known.postgres), ("s", &known.session)];
            assert!(all.iter().any(|(_, names)| !names.is_empty()), "{why:?} is about nothing");
            for (family, names) in all {
                for name in names.iter().flat_map(|names| names.split('|')) {
                    assert!(seen.insert((family, name.to_owned())), "{name} is there twice");
                    let hidden = list.is_of_the_instance(name) || list.is_idle(name);
                    assert!(family == "s" || !hidden, "{name} is known and hidden");
                }
            }
        }
    }

    #[test]
    fn names_find_their_setting() {
        let key = |dbms, name: &str| list().find(dbms, name).map(|found| found.key);
        let old = key(Dbms::Mysql, "tx_isolation");
        assert!(old.is_some());
        assert_eq!(old, key(Dbms::Mariadb, "transaction_isolation"));
        let pool = key(Dbms::Mysql, "innodb_buffer_pool_size");
        assert_eq!(pool, key(Dbms::Postgres, "shared_buffers"));
        assert_ne!(key(Dbms::Postgres, "enable_sort"), key(Dbms::Postgres, "enable_material"));
        assert_ne!(
            key(Dbms::Mysql, "innodb_io_capacity"),
            key(Dbms::Mysql, "innodb_io_capacity_max")
        );
        // One that has a line of its own is not that of a pattern.
        assert_ne!(
            key(Dbms::Postgres, "autovacuum").unwrap().0,
            key(Dbms::Postgres, "autovacuum_naptime").unwrap().0
        );
        assert_eq!(key(Dbms::Postgres, "innodb_io_capacity"), None);
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("ssl_*", "ssl_ca") && fits("*_dir", "tmp_dir") && fits("a", "a"));
        assert!(!fits("ssl_*", "ssl") && !fits("*_dir", "dirs") && !fits("ab*ba", "aba"));
        assert!(list().is_of_the_instance("datadir") && !list().is_of_the_instance("sync_binlog"));
    }
}
