//! What differs between one DBMS and another: a table of statements and functions for each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;
use rqps_client::{Connection, ResultSet};
use rqps_model::query_plan::Asked;
use rqps_model::{Codec, Engine, SettingOrigin, TableState, Version};

use super::guest_driver::GuestDriver;
use super::own_guard::OwnGuard;
use crate::Error;
use crate::explain::{PreparedStatement, Question, Reason, Told};
use crate::instance::Instance;
use crate::settle::{Debt, Settled, Tables, Target};
use crate::watch::Watch;

/// Values by the server's own names.
type Values = BTreeMap<String, String>;

/// One DBMS.
pub(crate) struct Driver {
    /// The version that people write, where the words of a server say that it is this DBMS.
    pub(crate) recognise: fn(&VersionWords) -> Option<String>,
    /// Whether the version that it tells at login is its own, and not that of a DBMS that it is compatible with.
    pub(crate) tells_version_at_login: bool,
    /// The statement that lets a session be idle for as long as it likes.
    pub(crate) keep_session_sql: fn() -> Option<String>,
    /// The settings in effect, with units as the server shows them.
    pub(crate) settings: fn(&mut dyn Connection) -> Result<Values, Error>,
    /// The settings of the session that make two sessions differ.
    pub(crate) session: fn(&mut dyn Connection) -> Result<Values, Error>,
    /// Where the values of the settings come from, as far as the server tells.
    pub(crate) origins:
        fn(OriginsQuestion<'_>, &mut dyn Connection) -> BTreeMap<String, SettingOrigin>,
    /// Facts of its build, of a running server's version text and settings.
    pub(crate) build: fn(&mut dyn Connection, &str, &Values) -> Values,
    /// The schema of the benchmark's tables on a server of our own.
    pub(crate) own_schema: &'static str,
    /// The benchmark's tables, as SQL takes their names.
    pub(crate) tables: fn(&mut dyn Connection) -> Result<Vec<String>, Error>,
    /// Bytes of these tables with their indexes; of a data directory that rqps can read, by its files.
    pub(crate) table_bytes:
        fn(&Version, Option<&Path>, &mut dyn Connection) -> Result<Option<u64>, Error>,
    /// The question for the thread or process that serves the connection with an id.
    pub(crate) thread_sql: fn(u64) -> Option<String>,
    /// Whether each connection has a process of its own.
    pub(crate) has_process_per_connection: bool,
    /// What a client's connection takes of a server by its defaults, bytes.
    pub(crate) connection_bytes: u64,
    /// The questions for its own counters.
    pub(crate) counters: &'static [CounterQuestion],
    /// How it is asked for query plans, or why it is not.
    pub(crate) explain: Result<ExplainDriver, &'static str>,
    /// Brings its background work to rest.
    pub(crate) settle: fn(
        &Target<'_>,
        Tables<'_>,
        &mut dyn Connection,
        &mut Watch<'_>,
        &mut Settled,
    ) -> Result<Vec<Debt>, Error>,
    /// Its background work, by name.
    pub(crate) debt: fn(&mut dyn Connection) -> Result<BTreeMap<String, u64>, Error>,
    /// The state of the benchmark's tables, as far as it tells; by its files where their directory is given.
    pub(crate) table_state: fn(Option<&Path>, &mut dyn Connection) -> Result<TableState, Error>,
    /// The settings that decide what a commit waits for, of an engine: fully durable or not.
    pub(crate) durability: fn(Engine, bool) -> Vec<(&'static str, &'static str)>,
    /// The codecs of compression by page.
    pub(crate) page_codecs: fn(&Version, &mut dyn Connection) -> Result<Vec<Codec>, Error>,
    /// Whether all tables that are compressed by page have one codec, which is a setting.
    pub(crate) has_one_page_codec: bool,
    /// What a file of its data directory is for, by the path in it.
    pub(crate) part_of_file: fn(&Path) -> FilePart,
    /// What a guest says to it.
    pub(crate) guest: GuestDriver,
    /// What is asked and sent before logs and tables go on a server of our own.
    pub(crate) own_guard: OwnGuard,
    /// How rqps makes and starts a server of its own; `None` for one that is reached by address alone.
    pub(crate) own: Option<OwnServer>,
}

/// What a server says of its version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct VersionWords {
    /// In its greeting: a proxy may greet with words of its own.
    pub(crate) greeting: String,
    /// By `select version()`.
    pub(crate) version: String,
    /// In `version_comment`, of MySQL's family.
    pub(crate) comment: String,
}

/// Of which settings the origins are asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OriginsQuestion<'a> {
    pub(crate) version: Option<&'a Version>,
    /// What the configuration of a server of our own sets; absent for somebody else's.
    pub(crate) configured: Option<&'a BTreeSet<String>>,
}

/// The fact of a build that no two servers share which run at one time.
pub(crate) const RUNNING_SERVER: &str = "running_server";

/// Counters since a server's start, by its own names; PostgreSQL's with their view:
/// `pg_stat_database.blks_hit`, of `pg_stat_io` with who did it: `pg_stat_io.client.reads`. Bytes of that
/// view have the names of 18 in all versions.
pub type Counters = BTreeMap<String, u64>;

/// A question for counters.
#[derive(Debug)]
pub(crate) struct CounterQuestion {
    /// The view that is asked; empty where it is none.
    pub(crate) view: &'static str,
    /// The statement, of the view.
    pub(crate) sql: fn(&str) -> String,
    /// Reads the answer of the view.
    pub(crate) parse: fn(&str, &ResultSet) -> Counters,
    /// Beginnings of the counters that asking moves.
    pub(crate) moved_by_asking: &'static [&'static str],
}

/// How a server is asked for query plans.
pub(crate) struct ExplainDriver {
    /// Why a version does not explain a statement that writes, or one that reads.
    pub(crate) why_not: fn(Option<&Version>, bool) -> Option<&'static str>,
    /// Asks for the plan of a statement.
    pub(crate) ask: fn(
        Option<&Version>,
        &mut dyn Connection,
        &Question<'_>,
        Asked,
    ) -> Result<Result<Told, Reason>, rqps_client::Error>,
    /// The statements that a session has prepared, where the server lists them.
    pub(crate) prepared_statements: Option<
        fn(
            Option<&Version>,
            &mut dyn Connection,
        ) -> Result<Vec<PreparedStatement>, rqps_client::Error>,
    >,
    /// Whether some versions explain statements as text alone.
    pub(crate) may_refuse_prepared: bool,
}

/// What a file of a data directory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePart {
    /// The redo or write-ahead log.
    Redo,
    /// The binary log.
    Binlog,
    /// All else.
    Data,
}

/// How rqps makes and starts a server of its own.
pub(crate) struct OwnServer {
    /// Makes the data directory, and writes the configuration.
    pub(crate) initialise: fn(&Instance, &mut Watch<'_>) -> Result<(), Error>,
    /// Writes the configuration where the server reads it.
    pub(crate) write_config: fn(&Instance, &str) -> Result<(), Error>,
    /// The command that starts it on a port.
    pub(crate) start_command: fn(&Instance, u16) -> Command,
    /// Its socket, of a port.
    pub(crate) socket_path: fn(&Instance, u16) -> PathBuf,
    /// What is done once it has started.
    pub(crate) finish_start: Option<fn(&mut dyn Connection) -> Result<(), Error>>,
    /// The signal that shuts it down.
    pub(crate) stop_signal: Signal,
    /// The signal that ends it at once with all its processes.
    pub(crate) kill_signal: Signal,
}
