//! PostgreSQL.

mod build;
mod counters;
pub(crate) mod explain;
mod facts;
mod files;
pub(super) mod guest;
mod process;
mod settle;
mod table_state;

use nix::sys::signal::Signal;

use super::driver::{Driver, ExplainDriver, OwnServer};
use super::numbers_of;
use super::own_guard::{Location, OwnGuard};

pub(super) const DRIVER: Driver = Driver {
    recognise: |words| words.version.strip_prefix("PostgreSQL ").map(numbers_of),
    tells_version_at_login: true,
    keep_session_sql: facts::keep_session_sql,
    settings: facts::settings,
    session: facts::session,
    origins: build::origins,
    build: build::build,
    own_schema: "public",
    tables: facts::tables,
    table_bytes: facts::table_bytes,
    thread_sql: |_| Some("select pg_backend_pid()".to_owned()),
    has_process_per_connection: true,
    // A process: some 2 to 8 MB of its own (catalogue caches, plans, page tables of the shared buffers), and 4 MB of
    // `work_mem`.
    connection_bytes: 12 << 20,
    counters: counters::VIEWS,
    explain: Ok(ExplainDriver {
        why_not: |_, _| None,
        ask: explain::ask,
        prepared_statements: Some(explain::prepared_statements),
        may_refuse_prepared: false,
    }),
    settle: settle::settle,
    debt: facts::debt,
    table_state: table_state::table_state,
    durability: |_, is_full| {
        vec![("fsync", "on"), ("synchronous_commit", if is_full { "on" } else { "off" })]
    },
    page_codecs: |_, _| Ok(Vec::new()),
    has_one_page_codec: false,
    part_of_file: files::part_of,
    guest: guest::GUEST,
    own_guard: OwnGuard {
        location: Location::DataDirectory("show data_directory"),
        has_binary_logs: false,
        reset_names_logs_since: None,
    },
    own: Some(OWN),
};

const OWN: OwnServer = OwnServer {
    initialise: process::initialise,
    write_config: process::write_config,
    start_command: process::start_command,
    socket_path: process::socket_path,
    finish_start: None,
    // "Fast shutdown".
    stop_signal: Signal::SIGINT,
    // "Immediate shutdown": the postmaster takes its children with it.
    kill_signal: Signal::SIGQUIT,
};
