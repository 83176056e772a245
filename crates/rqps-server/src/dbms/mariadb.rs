//! MariaDB: what differs from MySQL.

use std::collections::BTreeMap;
use std::path::Path;

use rqps_client::Connection;
use rqps_model::{Codec, SettingOrigin, Version};

use super::driver::{Driver, ExplainDriver, OriginsQuestion, OwnServer, VersionWords};
use super::mysql::{self, Making};
use super::numbers_of;
use super::own_guard::{Location, OwnGuard};
use crate::Error;
use crate::answer::query;
use crate::instance::Instance;
use crate::watch::Watch;

pub(super) const DRIVER: Driver = Driver {
    recognise,
    origins,
    table_bytes,
    thread_sql: |id| {
        Some(format!("select TID from information_schema.processlist where ID = {id}"))
    },
    explain: Ok(ExplainDriver {
        why_not: |_, _| None,
        ask: |_, connection, question, asked| {
            mysql::ask_with("EXPLAIN", connection, question, asked)
        },
        prepared_statements: None,
        may_refuse_prepared: true,
    }),
    page_codecs,
    has_one_page_codec: true,
    own_guard: OwnGuard {
        location: Location::MysqlVariables,
        has_binary_logs: true,
        reset_names_logs_since: None,
    },
    own: Some(OwnServer { initialise, ..mysql::OWN }),
    ..mysql::DRIVER
};

/// The scripts of all versions: the performance and sys schemas come and go.
const SCRIPTS: &[&str] = &[
    "system_tables",
    "performance_tables",
    "system_tables_data",
    "fill_help_tables",
    "maria_add_gis_sp_bootstrap",
    "sys_schema",
];

fn initialise(instance: &Instance, watch: &mut Watch<'_>) -> Result<(), Error> {
    let others_go = if instance.setup().installed.version.at_least(&[10, 4]) {
        // The scripts make root@HOSTNAME as well, which only the table itself knows.
        &[
            "DELETE FROM mysql.global_priv WHERE User IN ('', 'root');",
            "DELETE FROM mysql.proxies_priv;",
        ]
    } else {
        mysql::OTHERS_GO
    };
    mysql::initialise_by(Making { scripts: Some(SCRIPTS), others_go }, instance, watch)
}

/// It has its name in its version or in the comment on it.
fn recognise(words: &VersionWords) -> Option<String> {
    let VersionWords { greeting, version, comment } = words;
    let texts = [greeting, version, comment];
    let is_it = texts.iter().any(|text| text.to_ascii_lowercase().contains("mariadb"));
    is_it.then(|| numbers_of(version))
}

fn origins(
    asked: OriginsQuestion<'_>,
    connection: &mut dyn Connection,
) -> BTreeMap<String, SettingOrigin> {
    let sql = "select variable_name, global_value_origin, default_value \
               from information_schema.system_variables";
    let has_table = asked.version.is_some_and(|version| version.at_least(&[10, 1]));
    mysql::origins_by(has_table.then_some(sql), asked, connection)
}

/// 10.1 has no such column; 10.2 shows files as they were when they were made.
fn table_bytes(
    version: &Version,
    data_dir: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<Option<u64>, Error> {
    let view = version.at_least(&[10, 3]).then_some("innodb_sys_tablespaces");
    mysql::bytes_of_files(view, data_dir, connection)
}

/// zlib is always there; the others when the build, or since 10.7 a loaded plugin, brings them.
fn page_codecs(version: &Version, connection: &mut dyn Connection) -> Result<Vec<Codec>, Error> {
    if !version.at_least(&[10, 1]) {
        return Ok(Vec::new());
    }
    let sql = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_have_lz4', 'Innodb_have_snappy')";
    let result = query(connection, sql, sql)?;
    let mut codecs = vec![Codec::Zlib];
    for row in result.rows {
        let mut texts = row.into_iter().flatten();
        match (texts.next().as_deref(), texts.next().as_deref()) {
            (Some("Innodb_have_lz4"), Some("ON")) => codecs.push(Codec::Lz4),
            (Some("Innodb_have_snappy"), Some("ON")) => codecs.push(Codec::Snappy),
            _ => {}
        }
    }
    Ok(codecs)
}
