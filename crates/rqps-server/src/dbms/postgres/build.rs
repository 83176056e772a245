//! What PostgreSQL says of its build, and where its settings come from.

use std::collections::BTreeMap;

use rqps_client::Connection;
use rqps_model::{SettingOrigin, SettingSource};

use super::facts::{IDLE_SETTING, with_unit};
use crate::answer::rows;
use crate::compiled::{optimisation, put, sorted};
use crate::dbms::driver::{OriginsQuestion, RUNNING_SERVER};

/// Where the values of the settings come from.
pub(super) fn origins(
    _: OriginsQuestion<'_>,
    connection: &mut dyn Connection,
) -> BTreeMap<String, SettingOrigin> {
    let sql = "select name, source, boot_val, unit from pg_settings";
    rows(connection, sql).into_iter().filter_map(|row| origin(&row)).collect()
}

fn origin(row: &[String]) -> Option<(String, SettingOrigin)> {
    let [name, source, boot_value, unit] = row else { return None };
    let source = match source.as_str() {
        "default" => SettingSource::Default,
        "configuration file" => SettingSource::Config,
        "command line" => SettingSource::CommandLine,
        "override" => SettingSource::Computed,
        // Lifted on this connection, where somebody had set it.
        "session" if name == IDLE_SETTING => SettingSource::Config,
        _ => SettingSource::Other,
    };
    let default = Some(with_unit(boot_value, unit));
    Some((name.clone(), SettingOrigin { source, default }))
}

/// Copies of one data directory have one identifier, and start at their own times.
const RUNNING: &str = "select system_identifier::text || ' ' || \
    extract(epoch from pg_postmaster_start_time())::text from pg_control_system()";

/// Facts of the running program: platform, compiler, assertions, table access methods.
pub(super) fn build(
    connection: &mut dyn Connection,
    version_text: &str,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut facts = of_version(version_text);
    put(&mut facts, "assertions", settings.get("debug_assertions").map_or("", String::as_str));
    for row in rows(connection, "select name, setting from pg_config") {
        let [name, value] = row.as_slice() else { continue };
        match name.as_str() {
            "CONFIGURE" => put(&mut facts, "configure", value.trim()),
            "CFLAGS" => {
                put(&mut facts, "cflags", value.trim());
                put(&mut facts, "optimisation", optimisation(value));
            }
            _ => {}
        }
    }
    // Before 12 there is the heap alone, and no column that says what a method is for.
    let methods = rows(connection, "select amname from pg_am where amtype = 't'");
    let methods: Vec<String> = methods.into_iter().flatten().collect();
    let engines = if methods.is_empty() { "heap".to_owned() } else { sorted(methods) };
    put(&mut facts, "engines", &engines);
    let own = rows(connection, RUNNING).into_iter().flatten().next();
    put(&mut facts, RUNNING_SERVER, &own.unwrap_or_default());
    facts
}

/// `PostgreSQL 17.4 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit`.
fn of_version(version_text: &str) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    if let Some((before, after)) = version_text.split_once(", compiled by ") {
        put(&mut facts, "platform", before.split_once(" on ").map_or("", |(_, on)| on));
        put(&mut facts, "compiler", after.rsplit_once(", ").map_or(after, |(by, _)| by));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn what_postgres_says_of_its_compiler() {
        let text = "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by \
                    gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit";
        let wanted = [
            ("compiler", "gcc (Debian 12.2.0-14+deb12u1) 12.2.0"),
            ("platform", "x86_64-pc-linux-gnu"),
        ];
        assert_eq!(of_version(text), map(&wanted));
        assert_eq!(of_version("something else"), map(&[]));
    }

    #[test]
    fn sources_by_the_servers_word() {
        let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let of = |name: &str, source, default: Option<&str>| {
            Some((name.to_owned(), SettingOrigin { source, default: default.map(str::to_owned) }))
        };
        assert_eq!(
            origin(&row(&["shared_buffers", "configuration file", "16384", "8kB"])),
            of("shared_buffers", SettingSource::Config, Some("128MB"))
        );
        // Lifted for the connection that asks.
        assert_eq!(
            origin(&row(&["idle_session_timeout", "session", "0", "ms"])),
            of("idle_session_timeout", SettingSource::Config, Some("0"))
        );
    }
}
