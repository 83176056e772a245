//! MySQL, and builds of it by others.

mod build;
pub(crate) mod changes;
mod counters;
pub(crate) mod explain;
mod facts;
mod files;
mod guest;
mod process;
mod rocksdb;
mod settle;
mod table_state;

use nix::sys::signal::Signal;
use rqps_model::{Codec, Engine};

use super::driver::{Driver, ExplainDriver, OwnServer};
use super::numbers_of;
use super::own_guard::{Location, OwnGuard};
use crate::instance::DATABASE;
pub(super) use build::origins_by;
pub(super) use explain::ask_with;
pub(super) use facts::bytes_of_files;
pub(super) use process::{Making, OTHERS_GO, initialise_by};

pub(super) const DRIVER: Driver = Driver {
    recognise: |words| Some(numbers_of(&words.version)),
    tells_version_at_login: true,
    keep_session_sql: facts::keep_session_sql,
    settings: facts::settings,
    session: facts::session,
    origins: build::origins,
    build: build::build,
    own_schema: DATABASE,
    tables: facts::tables,
    table_bytes: facts::table_bytes,
    thread_sql: |id| {
        Some(format!(
            "select THREAD_OS_ID from performance_schema.threads where PROCESSLIST_ID = {id}"
        ))
    },
    has_process_per_connection: false,
    // A stack of up to 1 MB (8.0.27 and later) and a sort buffer of up to 2 MB (MariaDB). Buffers to read, join and
    // write the binary log take 0.6 MB, and prepared statements some.
    connection_bytes: 4 << 20,
    counters: &[counters::STATUS_QUESTION],
    explain: Ok(EXPLAIN),
    settle: settle::settle,
    debt: facts::debt,
    table_state: table_state::table_state,
    durability,
    // Built in since 5.7.8; zstd is for the protocol and dumps alone.
    page_codecs: |version, _| {
        Ok(if version.at_least(&[5, 7, 8]) { vec![Codec::Zlib, Codec::Lz4] } else { Vec::new() })
    },
    has_one_page_codec: false,
    part_of_file: files::part_of,
    guest: guest::GUEST,
    own_guard: OwnGuard {
        location: Location::MysqlVariables,
        has_binary_logs: true,
        reset_names_logs_since: Some(&[8, 4]),
    },
    own: Some(OWN),
};

const EXPLAIN: ExplainDriver = ExplainDriver {
    why_not: explain::why_not,
    ask: explain::ask,
    prepared_statements: None,
    may_refuse_prepared: true,
};

pub(super) const OWN: OwnServer = OwnServer {
    initialise: process::initialise,
    write_config: process::write_config,
    start_command: process::start_command,
    socket_path: process::socket_path,
    finish_start: Some(process::align_database),
    // The SHUTDOWN statement in all versions.
    stop_signal: Signal::SIGTERM,
    kill_signal: Signal::SIGKILL,
};

/// Written at commit and synced once a second, or synced at commit.
fn durability(engine: Engine, is_full: bool) -> Vec<(&'static str, &'static str)> {
    let at_commit = if is_full { "1" } else { "2" };
    let mut list = vec![
        ("log_bin", "ON"),
        ("sync_binlog", if is_full { "1" } else { "0" }),
        ("innodb_flush_log_at_trx_commit", at_commit),
    ];
    if engine == Engine::Rocksdb {
        list.push(("rocksdb_flush_log_at_trx_commit", at_commit));
    }
    list
}
