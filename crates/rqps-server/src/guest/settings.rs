//! Settings of somebody else's server that rqps changes for a while, by consent. Meanwhile their values lie in rqps's
//! schema: should rqps be killed, the next one restores them.

use rqps_client::Connection;

use super::marker::table_of;
use super::{marker, schemas};
use crate::dbms::guest_driver::GuestDriver;
use crate::dbms::mysql::changes::{ROCKSDB_OPTIONS, changed_settings};
use crate::destructive::{Scope, drop_table, set_global};
use crate::{Error, Refusal};

/// The table of what is changed at the moment.
const TABLE: &str = "rqps_settings";

/// A setting for as long as rqps needs another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) name: String,
    /// What the owner has.
    pub(crate) owners: String,
    /// What rqps sets. With any other value somebody has changed it since, or restarted the server.
    pub(crate) ours: String,
}

/// Claims the server's settings for this rqps, before their values are read. False where another rqps has claimed
/// them, or where this one could not restore them before. Of two that claim at once at most one gets them.
pub(crate) fn claim(scope: Scope<'_>, connection: &mut dyn Connection) -> Result<bool, Error> {
    let Scope::Guest { schema, driver, .. } = scope else { return Ok(true) };
    if marker::has_table(driver, schema, TABLE, connection)? {
        return Ok(false);
    }
    let table = table_of(driver, schema, TABLE);
    let text = "varchar(4000) NOT NULL";
    let create = format!(
        "CREATE TABLE {table} (nth integer NOT NULL PRIMARY KEY, name varchar(64) NOT NULL, \
         owners {text}, ours {text})"
    );
    connection.query(&create).map_err(|e| Error::client("record settings", e))?;
    for other in schemas(driver, connection)? {
        if other != schema && marker::has_table(driver, &other, TABLE, connection)? {
            forget(scope, connection)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes the owner's values down before they are changed, in the order in which they are to be restored.
pub(crate) fn write_down(
    scope: Scope<'_>,
    changes: &[Changed],
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let Scope::Guest { schema, driver, .. } = scope else { return Ok(()) };
    let table = table_of(driver, schema, TABLE);
    for (nth, Changed { name, owners, ours }) in changes.iter().enumerate() {
        let (owners, ours) = (literal(owners), literal(ours));
        let insert = format!("INSERT INTO {table} VALUES ({nth}, '{name}', {owners}, {ours})");
        connection.query(&insert).map_err(|e| Error::client("record settings", e))?;
    }
    Ok(())
}

/// Forgets them when they are restored.
pub(crate) fn forget(scope: Scope<'_>, connection: &mut dyn Connection) -> Result<(), Error> {
    if scope.is_own() { Ok(()) } else { drop_table(scope, TABLE, connection) }
}

/// Restores what is written down in a schema, and gives the names of what was restored. A setting that has another
/// value than rqps gave it stays.
///
/// # Errors
/// [`Refusal::SettingsLeft`] where there is something to restore and the user has not consented.
pub(super) fn restore(
    scope: Scope<'_>,
    connection: &mut dyn Connection,
) -> Result<Vec<String>, Error> {
    let Scope::Guest { schema, driver, .. } = scope else { return Ok(Vec::new()) };
    let mut restored = Vec::new();
    for Changed { name, owners, ours } in read(driver, schema, connection)? {
        let sql = format!("select @@global.{name}");
        let now = connection.query(&sql).map_err(|e| Error::client(sql.clone(), e))?;
        let now = now.scalar().unwrap_or_default();
        if is_same(now, &ours) && !is_same(now, &owners) {
            if !scope.allows_settings() {
                let schema = schema.to_owned();
                return Err(Refusal::SettingsLeft { schema, setting: name }.into());
            }
            set_global(scope, (&name, &value(&owners)), connection)?;
            if !restored.contains(&name) {
                restored.push(name);
            }
        }
    }
    Ok(restored)
}

fn read(
    driver: &GuestDriver,
    schema: &str,
    connection: &mut dyn Connection,
) -> Result<Vec<Changed>, Error> {
    if !driver.changes_settings || !marker::has_table(driver, schema, TABLE, connection)? {
        return Ok(Vec::new());
    }
    let sql =
        format!("select name, owners, ours from {} order by nth", table_of(driver, schema, TABLE));
    let result = match connection.query(&sql) {
        Ok(result) => result,
        // It was forgotten meanwhile, or is not this user's.
        Err(rqps_client::Error::Server(_)) => return Ok(Vec::new()),
        Err(e) => return Err(Error::client("read the settings that were changed", e)),
    };
    let changed = |row: Vec<Option<String>>| {
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        Some(Changed { name: texts.next()?, owners: texts.next()?, ours: texts.next()? })
    };
    // Whoever may make a schema with such a name could have written anything there.
    Ok(result.rows.into_iter().filter_map(changed).filter(is_of_settling).collect())
}

/// Whether it is a change that settling makes: one of its settings, and values as these have.
fn is_of_settling(changed: &Changed) -> bool {
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let is_options =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_={};.-".contains(&b));
    let values = [changed.owners.as_str(), changed.ours.as_str()];
    if changed.name == ROCKSDB_OPTIONS {
        return values.iter().all(|value| is_options(value));
    }
    changed_settings().any(|name| name == changed.name)
        && values.iter().all(|value| is_number(value))
}

/// Whether the server's value is the one that was set: it writes numbers with digits of its own.
pub(crate) fn is_same(now: &str, set: &str) -> bool {
    match (now.parse::<f64>(), set.parse::<f64>()) {
        (Ok(now), Ok(set)) => (now - set).abs() < 1e-6,
        _ => now == set,
    }
}

/// A value as SET takes it.
pub(crate) fn value(text: &str) -> String {
    if text.parse::<f64>().is_ok() { text.to_owned() } else { literal(text) }
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_compared_as_the_server_writes_it() {
        assert!(is_same("0.000000", "0") && is_same("40000", "40000"));
        assert!(!is_same("75.000000", "0") && !is_same("", "default={a=1}"));
        assert!(is_same("default={a=1}", "default={a=1}"));
    }

    #[test]
    fn only_what_settling_changes_is_restored() {
        let changed = |name: &str, owners: &str, ours: &str| {
            let [name, owners, ours] = [name, owners, ours].map(str::to_owned);
            is_of_settling(&Changed { name, owners, ours })
        };
        assert!(changed("innodb_io_capacity", "200", "20000"));
        assert!(changed("rocksdb_update_cf_options", "", "default={a=1}"));
        assert!(!changed("general_log_file", "1", "2"));
        assert!(!changed("innodb_io_capacity", "'/x'", "200"));
        assert!(!changed("rocksdb_update_cf_options", "", "default={a='x'}"));
    }

    #[test]
    fn numbers_are_set_as_numbers() {
        assert_eq!(value("75.000000"), "75.000000");
        assert_eq!(value("default={a=1}"), "'default={a=1}'");
        assert_eq!(value("it's"), "'it''s'");
    }
}
