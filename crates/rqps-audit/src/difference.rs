//! Differences between the systems of a run, beyond their versions.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::RunSystem;

use crate::{Audit, derived, is_hidden, same};
use rqps_text::values::{MANY, by_value};
use rqps_text::words::clip;

/// Columns of a value in a sentence; tables have it in full.
const VALUE_COLUMNS: usize = 24;

/// One setting whose value differs between systems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The server's name of the setting, or the name of the session's fact.
    pub name: String,
    /// Its value per system, in the order of the run; absent where the system has no such setting.
    pub values: Vec<Option<String>>,
}

impl Difference {
    /// `session charset: latin1 / utf8mb4`: short values in the order of the systems. Many systems
    /// are grouped by value.
    pub fn sentence(&self, what: &str) -> String {
        let value = |v: &Option<String>| {
            v.as_deref().map_or_else(|| "absent".to_owned(), |text| clip(text, VALUE_COLUMNS))
        };
        let values: Vec<String> = self.values.iter().map(value).collect();
        let values = if values.len() > MANY + 1 { by_value(&values) } else { values.join(" / ") };
        format!("{what} {}: {values}", clip(&self.name, 2 * VALUE_COLUMNS))
    }

    /// Whether it only says in which directory an instance lives: every value is an absolute path.
    fn is_path(&self) -> bool {
        self.values.iter().flatten().all(|value| value.starts_with('/'))
    }
}

/// All differences between the systems of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// Known differences of settings and sessions, with severity and reason.
    pub audit: Audit,
    /// Facts of the servers' processes: allocator, limits, direct IO.
    pub process: Vec<Difference>,
    /// Options that the plan set.
    pub options: Vec<Difference>,
    /// Settings that all systems have, with different values, as the servers write them.
    pub settings: Vec<Difference>,
    /// Settings that some systems do not have.
    pub partial: Vec<Difference>,
    /// Number of excluded settings: paths, ports, identities and parts that no benchmark uses.
    pub n_left_out: usize,
}

impl Differences {
    /// Compares what the systems ran with.
    #[must_use]
    pub fn between(systems: &[RunSystem]) -> Self {
        let all = |facts: fn(&RunSystem) -> &BTreeMap<String, String>| {
            systems.iter().map(facts).collect::<Vec<_>>()
        };
        let audit = Audit::of(systems);
        let settings = differing(&all(|s| &s.settings), false);
        let n_asked = systems.iter().filter(|s| !s.settings.is_empty()).count();
        let n_all = settings.len();
        let told: Vec<Difference> =
            settings.into_iter().filter(|d| !is_hidden(&d.name) && !d.is_path()).collect();
        let n_left_out = n_all - told.len();
        let (settings, partial) = told
            .into_iter()
            .partition(|d| d.values.iter().filter(|v| v.is_some()).count() >= n_asked);
        let process = differing(&all(|s| &s.process), false)
            .into_iter()
            .filter(|d| !d.is_path() && !derived::is_told(&d.name))
            .collect();
        let options = differing(&all(|s| &s.spec.options), true);
        Self { audit, process, options, settings, partial, n_left_out }
    }

    /// The settings that differ and that the audit does not know.
    pub fn unknown(&self) -> impl Iterator<Item = &Difference> {
        self.settings.iter().filter(|d| !self.audit.known_names.contains(&d.name))
    }
}

/// The facts whose values differ. A system without any fact was never asked, unless the facts come
/// from the plan: then an absent option is a difference too.
fn differing(facts: &[&BTreeMap<String, String>], from_plan: bool) -> Vec<Difference> {
    let names: BTreeSet<&String> = facts.iter().flat_map(|f| f.keys()).collect();
    let differs = |name: &String| {
        let mut asked = facts.iter().filter(|f| from_plan || !f.is_empty()).map(|f| f.get(name));
        let first = asked.next().flatten();
        asked.any(|value| match (first, value) {
            (Some(first), Some(value)) => !same(first, value),
            (first, value) => first.is_some() != value.is_some(),
        })
    };
    names
        .into_iter()
        .filter(|name| differs(name))
        .map(|name| Difference {
            name: name.clone(),
            values: facts.iter().map(|f| f.get(name).cloned()).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn only_what_differs_is_listed() {
        let (a, b) = (facts(&[("x", "1"), ("y", "1")]), facts(&[("x", "1"), ("z", "1")]));
        let names: Vec<String> = differing(&[&a, &b], false).into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["y", "z"]);
    }

    #[test]
    fn ways_to_write_a_value_are_no_difference() {
        let (a, b) = (
            facts(&[("x", "90"), ("y", "ON"), ("z", "4")]),
            facts(&[("x", "90.000000"), ("y", "on"), ("z", "04.1")]),
        );
        let names: Vec<String> = differing(&[&a, &b], false).into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["z"]);
    }

    #[test]
    fn a_system_that_never_started_makes_no_difference() {
        let (a, none) = (facts(&[("x", "1")]), BTreeMap::new());
        assert_eq!(differing(&[&a, &none], false), []);
        assert_eq!(differing(&[&a, &none], true).len(), 1);
    }
}
