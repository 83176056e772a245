//! What a server is and who set what: facts of its build, and where its settings' values come from.
//!
//! A server that does not tell, or does not tell this user, leaves facts out; that is no error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rqps_client::{Connection, ResultSet};
use rqps_model::{Dbms, SettingOrigin, SettingSource, Version};

use crate::compiled::{optimisation, put};
use crate::facts::postgres_value;
use crate::idle::POSTGRES_SETTING;
use crate::profile::is_on_command_line;

/// The rows of a query; none when the server refuses it.
fn rows(connection: &mut dyn Connection, sql: &str) -> Vec<Vec<String>> {
    let ResultSet { rows, .. } = connection.query(sql).unwrap_or_default();
    rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect()
}

/// Where the values of the settings come from. `configured` names what the configuration of a server
/// of our own sets; absent for somebody else's.
pub fn origins(
    dbms: Dbms,
    version: Option<&Version>,
    connection: &mut dyn Connection,
    configured: Option<&BTreeSet<String>>,
) -> BTreeMap<String, SettingOrigin> {
    let at_least = |numbers: &[u32]| version.is_some_and(|v| v.at_least(numbers));
    let mut origins: BTreeMap<String, SettingOrigin> = match dbms {
        Dbms::Postgres => {
            let sql = "select name, source, boot_val, unit from pg_settings";
            rows(connection, sql).into_iter().filter_map(|row| postgres_origin(&row)).collect()
        }
        // In 8.0 the table is there without the instrumentation too.
        Dbms::Mysql if at_least(&[8, 0]) => {
            let sql = "select variable_name, variable_source, null \
                       from performance_schema.variables_info";
            rows(connection, sql).into_iter().filter_map(|row| mysql_origin(&row)).collect()
        }
        Dbms::Mariadb if at_least(&[10, 1]) => {
            let sql = "select variable_name, global_value_origin, default_value \
                       from information_schema.system_variables";
            rows(connection, sql).into_iter().filter_map(|row| mysql_origin(&row)).collect()
        }
        Dbms::Mysql | Dbms::Mariadb | Dbms::Null => BTreeMap::new(),
    };
    let Some(configured) = configured else { return origins };
    if origins.is_empty() && dbms.is_mysql_family() {
        // 5.x does not tell, but nobody besides rqps configures it.
        for row in rows(connection, "SHOW GLOBAL VARIABLES") {
            let Some(name) = row.into_iter().next() else { continue };
            let source = match &name {
                name if configured.contains(name) => SettingSource::Config,
                name if is_on_command_line(dbms, name) => SettingSource::CommandLine,
                _ => SettingSource::Default,
            };
            origins.insert(name, SettingOrigin { source, default: None });
        }
    }
    for (name, origin) in &mut origins {
        if origin.source == SettingSource::Config && !configured.contains(name) {
            // MariaDB before 10.3 calls the command line configuration too; initdb writes some
            // settings into the configuration file, by nobody's choice.
            let is_ours = dbms.is_mysql_family() && is_on_command_line(dbms, name);
            origin.source = if is_ours { SettingSource::CommandLine } else { SettingSource::Other };
        }
    }
    origins
}

fn postgres_origin(row: &[String]) -> Option<(String, SettingOrigin)> {
    let [name, source, boot_value, unit] = row else { return None };
    let source = match source.as_str() {
        "default" => SettingSource::Default,
        "configuration file" => SettingSource::Config,
        "command line" => SettingSource::CommandLine,
        "override" => SettingSource::Computed,
        // Lifted on this connection, where somebody had set it.
        "session" if name == POSTGRES_SETTING => SettingSource::Config,
        _ => SettingSource::Other,
    };
    let default = Some(postgres_value(boot_value, unit));
    Some((name.clone(), SettingOrigin { source, default }))
}

fn mysql_origin(row: &[String]) -> Option<(String, SettingOrigin)> {
    let [name, source, default] = row else { return None };
    let source = match source.as_str() {
        "COMPILED" | "COMPILE-TIME" => SettingSource::Default,
        "GLOBAL" | "SERVER" | "EXPLICIT" | "EXTRA" | "MYSQL_USER" | "LOGIN" | "PERSISTED"
        | "CONFIG" => SettingSource::Config,
        "COMMAND_LINE" | "COMMAND-LINE" => SettingSource::CommandLine,
        "AUTO" => SettingSource::Computed,
        _ => SettingSource::Other,
    };
    let default = (!default.is_empty()).then(|| default.clone());
    Some((name.to_ascii_lowercase(), SettingOrigin { source, default }))
}

/// The fact that no two servers share which run at one time.
const RUNNING_SERVER: &str = "running_server";

/// What PostgreSQL says of it: copies of one data directory have one identifier, and start at their own times.
const RUNNING_POSTGRES: &str = "select system_identifier::text || ' ' || \
    extract(epoch from pg_postmaster_start_time())::text from pg_control_system()";

/// Facts of the running program: version, platform, compiler, debug and assertions, engines.
pub fn build_facts(
    dbms: Dbms,
    connection: &mut dyn Connection,
    version_text: &str,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let setting = |name: &str| settings.get(name).map_or("", String::as_str);
    match dbms {
        Dbms::Mysql | Dbms::Mariadb => {
            facts = mysql_facts(version_text, settings);
            let engines: Vec<String> = rows(connection, "SHOW ENGINES")
                .into_iter()
                .filter(|row| row.get(1).is_some_and(|s| s == "YES" || s == "DEFAULT"))
                .filter_map(|row| row.into_iter().next())
                .collect();
            put(&mut facts, "engines", &sorted(engines));
            let plugins = engine_plugins(Path::new(setting("plugin_dir")));
            put(&mut facts, "engine_plugins", &plugins);
            let place = ["server_uuid", "hostname", "port", "datadir"].map(setting);
            put(&mut facts, RUNNING_SERVER, place.join(" ").trim());
        }
        Dbms::Postgres => {
            facts = postgres_facts(version_text);
            put(&mut facts, "assertions", setting("debug_assertions"));
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
            let own = rows(connection, RUNNING_POSTGRES).into_iter().flatten().next();
            put(&mut facts, RUNNING_SERVER, &own.unwrap_or_default());
        }
        Dbms::Null => {}
    }
    facts
}

fn sorted(mut names: Vec<String>) -> String {
    names.sort_by_key(|name| name.to_ascii_lowercase());
    names.join(", ")
}

/// The storage engines that lie beside a server as plugins, loaded or not: `rocksdb, spider`.
fn engine_plugins(dir: &Path) -> String {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = files.filter_map(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        let engine = name.strip_prefix("ha_")?.strip_suffix(".so")?.to_owned();
        // MySQL's archives hold engines of its tests.
        (!engine.starts_with("example") && !engine.starts_with("mock")).then_some(engine)
    });
    sorted(names.collect())
}

/// What MySQL and MariaDB say in their variables. Builds with the debugging library say so in the
/// version's suffix, and have a variable for it; sanitizers are in the suffix too.
fn mysql_facts(
    version_text: &str,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let setting = |name: &str| settings.get(name).map_or("", String::as_str);
    let mut facts = BTreeMap::new();
    put(&mut facts, "comment", setting("version_comment"));
    let platform =
        format!("{} {}", setting("version_compile_os"), setting("version_compile_machine"));
    put(&mut facts, "platform", platform.trim());
    put(&mut facts, "revision", setting("version_source_revision"));
    put(&mut facts, "build_id", setting("build_id"));
    put(&mut facts, "tls_library", setting("version_ssl_library"));
    let suffix = version_text.to_ascii_lowercase();
    let is_debug = suffix.contains("-debug")
        || ["debug", "debug_dbug"].iter().any(|name| settings.contains_key(*name));
    put(&mut facts, "debug", if is_debug { "on" } else { "off" });
    let sanitizers = ["asan", "ubsan", "msan", "tsan", "valgrind"];
    let named: Vec<&str> =
        sanitizers.into_iter().filter(|s| suffix.contains(&format!("-{s}"))).collect();
    put(&mut facts, "sanitizer", &named.join(", "));
    facts
}

/// `PostgreSQL 17.4 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit`.
fn postgres_facts(version_text: &str) -> BTreeMap<String, String> {
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
    fn debug_builds_are_known() {
        let debug = |version: &str, settings: &[(&str, &str)]| {
            mysql_facts(version, &map(settings))["debug"].clone()
        };
        assert_eq!(debug("8.0.33", &[]), "off");
        assert_eq!(debug("8.0.33-debug", &[]), "on");
        assert_eq!(debug("10.11.5-MariaDB-debug-log", &[]), "on");
        assert_eq!(debug("5.6.14-log", &[("debug", "d:t")]), "on");
        assert_eq!(mysql_facts("8.0.33-asan", &map(&[]))["sanitizer"], "asan");
    }

    #[test]
    fn what_postgres_says_of_its_compiler() {
        let text = "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by \
                    gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit";
        let wanted = [
            ("compiler", "gcc (Debian 12.2.0-14+deb12u1) 12.2.0"),
            ("platform", "x86_64-pc-linux-gnu"),
        ];
        assert_eq!(postgres_facts(text), map(&wanted));
        assert_eq!(postgres_facts("something else"), map(&[]));
    }

    #[test]
    fn sources_by_each_server_s_word() {
        let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let of = |name: &str, source, default: Option<&str>| {
            Some((name.to_owned(), SettingOrigin { source, default: default.map(str::to_owned) }))
        };
        assert_eq!(
            mysql_origin(&row(&["SYNC_BINLOG", "CONFIG", "0"])),
            of("sync_binlog", SettingSource::Config, Some("0"))
        );
        assert_eq!(
            mysql_origin(&row(&["port", "COMMAND_LINE", ""])),
            of("port", SettingSource::CommandLine, None)
        );
        assert_eq!(
            postgres_origin(&row(&["shared_buffers", "configuration file", "16384", "8kB"])),
            of("shared_buffers", SettingSource::Config, Some("128MB"))
        );
        // Lifted for the connection that asks.
        assert_eq!(
            postgres_origin(&row(&["idle_session_timeout", "session", "0", "ms"])),
            of("idle_session_timeout", SettingSource::Config, Some("0"))
        );
        assert_eq!(mysql_origin(&row(&["x"])), None);
    }
}
