//! What becomes of each option: `mysql.toml` and `postgres.toml`, beside the names of all options.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rqps_model::Dbms;
use serde::Deserialize;

use crate::Error;
use crate::dbms::server_files::{ConfigFormat, config_format};

/// Treatment of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// The value is passed on, whatever it looks like.
    Keep,
    /// rqps sets the option on the command line of every server.
    Ours,
    /// A file that the server writes: its name alone is kept, so that it lies in the data directory.
    File,
    /// A directory that the server writes to: excluded, so that the server uses its data directory.
    Directory,
    /// A list of data files with sizes: the names alone are kept.
    DataFiles,
    /// Libraries to load: those of a list are kept.
    Libraries,
    /// Left out, with a warning. `off` says what happens if it is off.
    Drop,
    /// An error. `off` says what happens if it is off.
    Refuse,
}

/// What becomes of an option to drop or refuse where it is off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OffValue {
    /// Left out without a word: it is off in every server that nobody switches it on in.
    #[default]
    LeaveOut,
    /// Kept where the server has the option: some version has it on unless it is switched off.
    Keep,
    /// The same as where it is on.
    AsOn,
}

/// Options that are treated alike for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    treatment: Treatment,
    why: String,
    options: Vec<String>,
    #[serde(default)]
    off: OffValue,
    /// Libraries that may be loaded.
    #[serde(default)]
    allowed: Vec<String>,
}

/// The groups of a family and the names of all its options.
#[derive(Debug)]
pub(super) struct Table {
    groups: Vec<Group>,
    /// Names that stand in a group, and which.
    exact: BTreeMap<String, usize>,
    /// Beginnings of names (`wsrep_` of `wsrep_*`) that stand in a group, and which; longest first.
    beginnings: Vec<(String, usize)>,
    /// Names of options of any version, also of those in no group.
    known: BTreeSet<&'static str>,
}

/// What the table says of an option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule<'t> {
    pub(super) treatment: Treatment,
    pub(super) why: &'t str,
    pub(super) off: OffValue,
    pub(super) allowed: &'t [String],
}

/// An option as the table has it.
#[derive(Debug)]
pub(super) struct Resolved<'t> {
    /// Its name without prefixes, in lower case, with underscores.
    pub(super) name: String,
    /// Whether its last prefix switches it off: `skip_`, `disable_`. Servers go by the last one.
    pub(super) is_negated: bool,
    pub(super) found: Found<'t>,
}

/// What is known of a name.
#[derive(Debug)]
pub(super) enum Found<'t> {
    /// It stands in a group.
    Rule(Rule<'t>),
    /// It is an option in no group: its values name nothing.
    Known,
    /// The server may take it for this option, whose name it begins.
    Abbreviation(&'t str),
    /// A point stands in the name, and the server may take what stands behind for this option.
    BehindPoint(String),
    /// A variable of a component, extension or application that rqps does not load: it has a point.
    Foreign,
    /// No version that is known has it.
    Unknown,
}

/// Prefixes of MySQL's options (manual, "Program Option Modifiers"); `autoset` is MariaDB's.
const PREFIXES: &[(&str, bool)] = &[
    ("loose_", false),
    ("skip_", true),
    ("disable_", true),
    ("enable_", false),
    ("maximum_", false),
    ("autoset_", false),
];

/// Variables that each key cache of MySQL's family has (manual, "Multiple Key Caches"): `hot.key_buffer_size`.
const KEY_CACHE: &[&str] = &[
    "key_buffer_size",
    "key_cache_age_threshold",
    "key_cache_block_size",
    "key_cache_division_limit",
    "key_cache_file_hash_size",
    "key_cache_segments",
];

/// The option and the part that a name means, when it means a part: RocksDB takes the settings of a column family as
/// one option, and plans write `rocksdb_default_cf_options.write_buffer_size`.
pub(crate) fn part_of(name: &str) -> Option<(&str, &str)> {
    let is_whole =
        |name: &str| name.to_ascii_lowercase().replace('-', "_").ends_with("_cf_options");
    name.split_once('.').filter(|(whole, _)| is_whole(whole))
}

/// The table of a DBMS.
///
/// # Errors
/// [`Error::Unsupported`] for a DBMS that rqps does not start, or when the built-in table is wrong.
pub(super) fn table(dbms: Dbms) -> Result<&'static Table, Error> {
    static TABLES: [OnceLock<Result<Table, String>>; Dbms::ALL.len()] =
        [const { OnceLock::new() }; Dbms::ALL.len()];
    let format = config_format(dbms)?;
    let parse = || Table::parse(format.rules, format.known_options);
    TABLES[dbms as usize].get_or_init(parse).as_ref().map_err(|detail| Error::Data {
        what: format!("the table of options of {}", dbms.name()),
        detail: detail.clone(),
    })
}

/// Treatment of an option; `None` without a rule.
///
/// # Errors
/// [`Error::Unsupported`] for a DBMS that rqps does not start, or when the built-in table is wrong.
pub fn treatment(dbms: Dbms, option: &str) -> Result<Option<Treatment>, Error> {
    Ok(match table(dbms)?.resolve(config_format(dbms)?, option).found {
        Found::Rule(rule) => Some(rule.treatment),
        Found::Known
        | Found::Abbreviation(_)
        | Found::BehindPoint(_)
        | Found::Foreign
        | Found::Unknown => None,
    })
}

/// Why a library of an extension may not be loaded; `None` for those that may.
pub(crate) fn refused_library(dbms: Dbms, library: &str) -> Result<Option<&'static str>, Error> {
    let resolved = table(dbms)?.resolve(config_format(dbms)?, "shared_preload_libraries");
    let Found::Rule(rule) = resolved.found else { return Ok(None) };
    let is_allowed =
        rule.treatment == Treatment::Libraries && rule.allowed.iter().any(|name| name == library);
    Ok((!is_allowed).then_some(rule.why))
}

impl Table {
    fn parse(groups: &str, known: &'static str) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Groups {
            group: Vec<Group>,
        }
        let Groups { group: groups } = toml::from_str(groups).map_err(|e| e.to_string())?;
        let (mut exact, mut beginnings) = (BTreeMap::new(), Vec::new());
        for (idx, group) in groups.iter().enumerate() {
            if group.why.trim().is_empty() {
                return Err(format!("group {idx} has no reason"));
            }
            for option in &group.options {
                if let Some(beginning) = option.strip_suffix('*') {
                    beginnings.push((beginning.to_owned(), idx));
                } else if exact.insert(option.clone(), idx).is_some() {
                    return Err(format!("{option} stands in two groups"));
                }
            }
        }
        beginnings.sort_by_key(|(beginning, _)| std::cmp::Reverse(beginning.len()));
        let lines = known.lines().map(str::trim);
        let known = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        Ok(Self { groups, exact, beginnings, known })
    }

    fn rule(&self, name: &str) -> Option<Rule<'_>> {
        let by_beginning = || {
            let found = self.beginnings.iter().find(|(beginning, _)| name.starts_with(beginning));
            found.map(|(_, idx)| idx)
        };
        let group = &self.groups[*self.exact.get(name).or_else(by_beginning)?];
        let Group { treatment, why, off, allowed, .. } = group;
        Some(Rule { treatment: *treatment, why, off: *off, allowed })
    }

    /// Finds an option by its name as written.
    pub(super) fn resolve(&self, format: &ConfigFormat, written: &str) -> Resolved<'_> {
        let name = written.trim().to_ascii_lowercase();
        if !format.has_name_modifiers {
            let unknown = || if self.is_foreign(&name) { Found::Foreign } else { Found::Unknown };
            let found = self.find(&name).unwrap_or_else(unknown);
            return Resolved { name, is_negated: false, found };
        }
        let mut resolved = self.resolve_prefixed(name.replace('-', "_"));
        if let (Found::Unknown, Some((before, behind))) =
            (&resolved.found, resolved.name.rsplit_once('.'))
        {
            resolved.found = self.find_behind_point(before, behind);
        }
        resolved
    }

    /// Finds an option of MySQL's family, with prefixes or without.
    fn resolve_prefixed(&self, mut name: String) -> Resolved<'_> {
        let mut is_negated = false;
        while self.find(&name).is_none() {
            // `skip_grant_tab` is no negation of an option `grant_tab`.
            if let Some(found) = self.abbreviated(&name) {
                return Resolved { name, is_negated, found };
            }
            let rest = |(prefix, negates): &(&str, bool)| {
                Some((name.strip_prefix(prefix)?.to_owned(), *negates))
            };
            let Some((rest, negates)) = PREFIXES.iter().find_map(rest) else { break };
            is_negated = negates;
            name = rest;
        }
        let found = self.find(&name).unwrap_or(Found::Unknown);
        Resolved { name, is_negated, found }
    }

    /// Finds what a server may take `before.behind` for. It takes all before a point for the name of a key cache,
    /// whatever option stands behind (`check_struct_option` of my_getopt.c).
    fn find_behind_point(&self, before: &str, behind: &str) -> Found<'_> {
        let is_one_name = !before.is_empty() && !before.contains('.');
        if is_one_name && KEY_CACHE.contains(&behind) {
            return Found::Known;
        }
        let option = self.resolve_prefixed(behind.to_owned());
        match option.found {
            Found::Unknown => Found::Foreign,
            _ => Found::BehindPoint(option.name),
        }
    }

    /// Whether a parameter of PostgreSQL has a point behind the name of what rqps does not load.
    fn is_foreign(&self, name: &str) -> bool {
        let loads = |extension: &str| {
            let libraries = self.rule("shared_preload_libraries");
            libraries.is_some_and(|rule| rule.allowed.iter().any(|name| name == extension))
        };
        name.split_once('.').is_some_and(|(extension, _)| !loads(extension))
    }

    fn find(&self, name: &str) -> Option<Found<'_>> {
        let known = || self.known.contains(name).then_some(Found::Known);
        self.rule(name).map(Found::Rule).or_else(known)
    }

    /// The option whose name a name begins: MySQL's family takes the beginning for the whole.
    fn abbreviated(&self, name: &str) -> Option<Found<'_>> {
        let is_prefix = PREFIXES.iter().any(|(prefix, _)| prefix.starts_with(name));
        if name.is_empty() || is_prefix {
            return None;
        }
        let leads_out = |idx: &usize| self.groups[*idx].treatment != Treatment::Keep;
        let exact = self.exact.iter().filter(|(_, idx)| leads_out(idx)).map(|(option, _)| option);
        let beginnings = self.beginnings.iter();
        let beginnings = beginnings.filter(|(_, idx)| leads_out(idx)).map(|(text, _)| text);
        let option = exact.chain(beginnings).find(|option| option.starts_with(name))?;
        Some(Found::Abbreviation(option))
    }
}

#[cfg(test)]
mod tests;
