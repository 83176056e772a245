//! Durability: the settings that decide what a commit waits for, and whether a server runs with them.

use std::collections::BTreeMap;

use rqps_model::{Dbms, Durability, Engine};

use crate::Error;
use crate::dbms::driver;
use crate::profile::{Config, same};

/// The settings of a durability, with names and values as the server shows them.
#[must_use]
pub fn settings(
    dbms: Dbms,
    engine: Engine,
    durability: Durability,
) -> Vec<(&'static str, &'static str)> {
    (driver(dbms).durability)(engine, durability == Durability::Full)
}

/// Compares a server's settings with those of its durability. Differences that come from an option or file of
/// the user are notes; all others are errors.
///
/// # Errors
/// [`Error::NotAsMeant`].
pub fn check(
    server: &str,
    dbms: Dbms,
    config: &Config,
    effective: &BTreeMap<String, String>,
) -> Result<Vec<String>, Error> {
    let durability = config.durability;
    let mut notes = Vec::new();
    for (name, meant) in settings(dbms, config.engine, durability) {
        let Some(value) = effective.get(name).filter(|value| *value != meant) else { continue };
        let note = if config.options.keys().any(|key| concerns(key, name)) {
            format!(
                "options of the plan set {name} to {value}; durability = \"{durability}\" would set {meant}"
            )
        } else if config.is_builtin() {
            return Err(Error::NotAsMeant {
                server: server.to_owned(),
                found: format!("{name} is {value}, not {meant}"),
                meant: format!("durability = \"{durability}\""),
            });
        } else {
            format!(
                "{name} is {value}, from {} or the server's default; durability = \"{durability}\" \
                 would set {meant}, but does not change a file of your own",
                config.base
            )
        };
        notes.push(note);
    }
    Ok(notes)
}

/// Whether an option sets a variable: by its name, or as `skip_log_bin` or `loose_log_bin`.
fn concerns(option: &str, name: &str) -> bool {
    let option = option.replace('-', "_").to_ascii_lowercase();
    let prefixes = ["skip_", "disable_", "loose_"];
    let bare = prefixes.iter().find_map(|prefix| option.strip_prefix(prefix)).unwrap_or(&option);
    same(bare, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(
        durability: Durability,
        (base, options): (&str, &[(&str, &str)]),
        effective: &[(&str, &str)],
    ) -> Result<Vec<String>, String> {
        let own = |list: &[(&str, &str)]| {
            list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let config =
            Config { durability, options: own(options), ..Config::of(base, Engine::Rocksdb) };
        check("MariaDB 10.11.19", Dbms::Mariadb, &config, &own(effective))
            .map_err(|e| e.to_string())
    }

    const RELAXED: &[(&str, &str)] = &[
        ("log_bin", "ON"),
        ("sync_binlog", "0"),
        ("innodb_flush_log_at_trx_commit", "2"),
        ("rocksdb_flush_log_at_trx_commit", "2"),
    ];

    #[test]
    fn a_server_that_is_not_as_durable_as_meant_is_an_error() {
        assert_eq!(checked(Durability::Relaxed, ("small", &[]), RELAXED), Ok(Vec::new()));
        assert_eq!(
            checked(Durability::Full, ("small", &[]), RELAXED).unwrap_err(),
            "MariaDB 10.11.19 does not run as planned: sync_binlog is 0, not 1; expected \
             durability = \"full\""
        );
    }

    #[test]
    fn what_the_user_set_is_told() {
        let options: &[(&str, &str)] = &[("sync-binlog", "100"), ("skip_log_bin", "1")];
        let mut effective = RELAXED.to_vec();
        effective[0].1 = "OFF";
        effective[1].1 = "100";
        let notes = checked(Durability::Relaxed, ("small", options), &effective).unwrap();
        assert_eq!(notes.len(), 2);
        assert_eq!(
            notes[1],
            "options of the plan set sync_binlog to 100; durability = \"relaxed\" would set 0"
        );
        let notes = checked(Durability::Full, ("/etc/my.cnf", &[]), RELAXED).unwrap();
        assert!(notes[0].starts_with("sync_binlog is 0, from /etc/my.cnf or "), "{notes:?}");
    }
}
