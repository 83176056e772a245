//! What MySQL and MariaDB say of their builds, and where their settings come from.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rqps_client::Connection;
use rqps_model::{Dbms, SettingOrigin, SettingSource};

use crate::answer::rows;
use crate::compiled::{put, sorted};
use crate::dbms::driver::{OriginsQuestion, RUNNING_SERVER};
use crate::profile::is_on_command_line;

/// Where the values of MySQL's settings come from. In 8.0 the table is there without the instrumentation too.
pub(super) fn origins(
    asked: OriginsQuestion<'_>,
    connection: &mut dyn Connection,
) -> BTreeMap<String, SettingOrigin> {
    let sql = "select variable_name, variable_source, null from performance_schema.variables_info";
    let has_table = asked.version.is_some_and(|version| version.at_least(&[8, 0]));
    origins_by(has_table.then_some(sql), asked, connection)
}

/// The same of a table that tells them; `None` where the version has none.
pub(in crate::dbms) fn origins_by(
    sql: Option<&str>,
    asked: OriginsQuestion<'_>,
    connection: &mut dyn Connection,
) -> BTreeMap<String, SettingOrigin> {
    let told = sql.map(|sql| rows(connection, sql)).unwrap_or_default();
    let mut origins: BTreeMap<_, _> = told.into_iter().filter_map(|row| origin(&row)).collect();
    let Some(configured) = asked.configured else { return origins };
    // Options have the same names in both.
    let is_on_command_line = |name: &str| is_on_command_line(Dbms::Mysql, name);
    if origins.is_empty() {
        // 5.x does not tell, but nobody besides rqps configures it.
        for row in rows(connection, "SHOW GLOBAL VARIABLES") {
            let Some(name) = row.into_iter().next() else { continue };
            let source = match &name {
                name if configured.contains(name) => SettingSource::Config,
                name if is_on_command_line(name) => SettingSource::CommandLine,
                _ => SettingSource::Default,
            };
            origins.insert(name, SettingOrigin { source, default: None });
        }
    }
    for (name, origin) in &mut origins {
        // MariaDB before 10.3 calls the command line configuration too.
        let is_config = origin.source == SettingSource::Config && !configured.contains(name);
        if is_config && is_on_command_line(name) {
            origin.source = SettingSource::CommandLine;
        }
    }
    origins
}

fn origin(row: &[String]) -> Option<(String, SettingOrigin)> {
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

/// Facts of the running program: version, platform, debugging, engines.
pub(super) fn build(
    connection: &mut dyn Connection,
    version_text: &str,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let setting = |name: &str| settings.get(name).map_or("", String::as_str);
    let mut facts = of_variables(version_text, settings);
    let engines: Vec<String> = rows(connection, "SHOW ENGINES")
        .into_iter()
        .filter(|row| row.get(1).is_some_and(|s| s == "YES" || s == "DEFAULT"))
        .filter_map(|row| row.into_iter().next())
        .collect();
    put(&mut facts, "engines", &sorted(engines));
    put(&mut facts, "engine_plugins", &engine_plugins(Path::new(setting("plugin_dir"))));
    let place = ["server_uuid", "hostname", "port", "datadir"].map(setting);
    put(&mut facts, RUNNING_SERVER, place.join(" ").trim());
    facts
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
fn of_variables(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn debug_builds_are_known() {
        let debug = |version: &str, settings: &[(&str, &str)]| {
            of_variables(version, &map(settings))["debug"].clone()
        };
        assert_eq!(debug("8.0.33", &[]), "off");
        assert_eq!(debug("8.0.33-debug", &[]), "on");
        assert_eq!(debug("10.11.5-MariaDB-debug-log", &[]), "on");
        assert_eq!(debug("5.6.14-log", &[("debug", "d:t")]), "on");
        assert_eq!(of_variables("8.0.33-asan", &map(&[]))["sanitizer"], "asan");
    }

    #[test]
    fn sources_by_the_servers_word() {
        let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let of = |name: &str, source, default: Option<&str>| {
            Some((name.to_owned(), SettingOrigin { source, default: default.map(str::to_owned) }))
        };
        assert_eq!(
            origin(&row(&["SYNC_BINLOG", "CONFIG", "0"])),
            of("sync_binlog", SettingSource::Config, Some("0"))
        );
        assert_eq!(
            origin(&row(&["port", "COMMAND_LINE", ""])),
            of("port", SettingSource::CommandLine, None)
        );
        assert_eq!(origin(&row(&["x"])), None);
    }
}
