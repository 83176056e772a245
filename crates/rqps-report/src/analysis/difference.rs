//! How the systems of a run differ in what they ran with, beyond their versions.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::RunSystem;

use crate::many::{MANY, by_value};
use crate::words::clip;

/// Columns that a sentence gives to a value; tables have it in full.
const VALUE_COLUMNS: usize = 24;

/// One setting whose value is not the same on all systems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The server's own name of it, or the name of the session's fact.
    pub name: String,
    /// Its value per system, in the order of the run; absent where the system has no such setting.
    pub values: Vec<Option<String>>,
}

impl Difference {
    /// `session charset: latin1 / utf8mb4`, values in the order of the systems, each cut to a few
    /// words; of many systems by value.
    pub(crate) fn sentence(&self, what: &str) -> String {
        let value = |v: &Option<String>| {
            v.as_deref().map_or_else(|| "absent".to_owned(), |text| clip(text, VALUE_COLUMNS))
        };
        let values: Vec<String> = self.values.iter().map(value).collect();
        let values = if values.len() > MANY + 1 { by_value(&values) } else { values.join(" / ") };
        format!("{what} {}: {values}", clip(&self.name, 2 * VALUE_COLUMNS))
    }
}

impl Difference {
    /// Whether it only says in which directory an instance lives: every value is an absolute path.
    fn is_path(&self) -> bool {
        self.values.iter().flatten().all(|value| value.starts_with('/'))
    }
}

/// All differences between the systems of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// Facts of the benchmark's own sessions: TLS, charset, isolation. A difference here means that
    /// the systems did not do the same work.
    pub session: Vec<Difference>,
    /// Facts of the servers' processes: allocator, limits, direct IO.
    pub process: Vec<Difference>,
    /// Options that the plan set.
    pub options: Vec<Difference>,
    /// Settings that all systems have, with different values.
    pub settings: Vec<Difference>,
    /// Settings that some systems do not have.
    pub partial: Vec<Difference>,
    /// Settings left out because they only say where an instance lives or what it is.
    pub n_left_out: usize,
}

/// Settings that differ between any two instances of the same server: addresses, identities,
/// versions. Names from the manuals of MySQL 8.0, MariaDB 11.4 and PostgreSQL 17.
const OF_THE_INSTANCE: [&str; 24] = [
    "basedir",
    "datadir",
    "data_directory",
    "config_file",
    "hba_file",
    "ident_file",
    "external_pid_file",
    "hostname",
    "license",
    "listen_addresses",
    "mysqlx_port",
    "pid_file",
    "plugin_dir",
    "port",
    "pseudo_thread_id",
    "report_host",
    "report_port",
    "server_uid",
    "server_uuid",
    "server_version",
    "server_version_num",
    "socket",
    "timestamp",
    "unix_socket_directories",
];

fn is_of_the_instance(name: &str) -> bool {
    OF_THE_INSTANCE.contains(&name)
        || name.starts_with("version")
        || name.ends_with("_dir")
        || name.ends_with("_file")
        || name.ends_with("_socket")
}

impl Differences {
    /// Compares what the systems ran with.
    #[must_use]
    pub fn between(systems: &[RunSystem]) -> Self {
        let all = |facts: fn(&RunSystem) -> &BTreeMap<String, String>| {
            systems.iter().map(facts).collect::<Vec<_>>()
        };
        let mut settings = differing(&all(|s| &s.settings), false);
        // Logging in happens before anything is measured; a fact that only some versions have is a
        // difference of versions, not of what the sessions were told to do.
        let (login, session): (Vec<Difference>, Vec<Difference>) =
            differing(&all(|s| &s.session), false)
                .into_iter()
                .filter(|d| d.values.iter().all(Option::is_some))
                .partition(|d| d.name == "auth");
        settings.extend(login);
        let n_asked = systems.iter().filter(|s| !s.settings.is_empty()).count();
        let n_all = settings.len();
        let told: Vec<Difference> =
            settings.into_iter().filter(|d| !is_of_the_instance(&d.name) && !d.is_path()).collect();
        let n_left_out = n_all - told.len();
        let (settings, partial) = told
            .into_iter()
            .partition(|d| d.values.iter().filter(|v| v.is_some()).count() >= n_asked);
        Self {
            session,
            process: differing(&all(|s| &s.process), false)
                .into_iter()
                .filter(|d| !d.is_path())
                .collect(),
            options: differing(&all(|s| &s.spec.options), true),
            settings,
            partial,
            n_left_out,
        }
    }

    /// Whether the systems differ in nothing that reports list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.session.is_empty()
            && self.process.is_empty()
            && self.options.is_empty()
            && self.settings.is_empty()
            && self.partial.is_empty()
    }
}

/// The facts whose values differ. A system without any fact was never asked, unless the facts come
/// from the plan: then an absent option is a difference too.
fn differing(facts: &[&BTreeMap<String, String>], from_plan: bool) -> Vec<Difference> {
    let names: BTreeSet<&String> = facts.iter().flat_map(|f| f.keys()).collect();
    let differs = |name: &String| {
        let mut asked = facts.iter().filter(|f| from_plan || !f.is_empty()).map(|f| f.get(name));
        let first = asked.next();
        asked.any(|value| !first.is_some_and(|first| same(first, value)))
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

/// Whether two values say the same: `ON` and `on`, `90` and `90.000000`.
fn same(a: Option<&String>, b: Option<&String>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a.is_none() && b.is_none() };
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    // Versions write one number in several ways; the values themselves are exact.
    matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a.total_cmp(&b).is_eq())
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
