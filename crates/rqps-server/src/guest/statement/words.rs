//! The words by which statements are judged. It is long, as each is a list.

/// First words of statements, and what must follow where not everything may.
pub(super) const ALLOWED: &[(&str, &[&str])] = &[
    ("select", &[]),
    ("insert", &[]),
    ("update", &[]),
    ("delete", &[]),
    ("replace", &[]),
    ("with", &[]),
    ("values", &[]),
    ("explain", &[]),
    ("begin", &[]),
    ("start", &["transaction"]),
    ("commit", &[]),
    ("rollback", &[]),
    ("set", &[]),
    ("create", CREATED),
    ("alter", &["table", "index", "view", "sequence", "statistics"]),
    ("drop", &["table", "index", "view", "sequence", "statistics"]),
    ("truncate", &[]),
    ("analyze", &[]),
    ("optimize", &[]),
    ("vacuum", &[]),
    ("reindex", &["table", "index"]),
    ("cluster", &[]),
    ("check", &["table"]),
    ("comment", &[]),
];

/// What may be made.
pub(super) const CREATED: &[&str] = &[
    "table",
    "temporary",
    "temp",
    "unlogged",
    "index",
    "unique",
    "fulltext",
    "spatial",
    "view",
    "sequence",
    "statistics",
];

/// Words that are refused wherever they stand: they reach files, other schemas, or the whole server.
pub(super) const REFUSED: &[&str] = &[
    "outfile",
    "dumpfile",
    "infile",
    "schema",
    "tablespace",
    "directory",
    "set_config",
    "program",
    "connection",
    "federated",
];

/// Engines whose tables lie in the server alone.
pub(super) const ENGINES: &[&str] = &[
    "innodb",
    "rocksdb",
    "myisam",
    "aria",
    "memory",
    "heap",
    "blackhole",
    "archive",
    "tokudb",
    "csv",
];

/// First words of statements that only read.
pub(super) const READING: &[&str] = &["select", "values", "explain"];

/// Beginnings of the names of functions that are refused: they reach files, other sessions, other hosts or the whole
/// server, or take names of tables as texts.
pub(super) const REFUSED_CALLS: &[&str] = &[
    "pg_",
    "lo_",
    "loread",
    "lowrite",
    "dblink",
    "setval",
    "nextval",
    "currval",
    "release_",
    "get_lock",
    "load_file",
    "set_config",
    "query_to_",
    "table_to_",
    "schema_to_",
    "database_to_",
    "cursor_to_",
    "ts_stat",
    "ts_rewrite",
    "group_replication_",
    "asynchronous_connection_",
    "source_pos_wait",
    "master_",
    "wsrep_",
    "audit_",
    "keyring_",
    "sys_exec",
    "sys_eval",
    "spider_",
    "mysql_firewall_",
    "version_tokens_",
    "service_",
];

/// Functions that are allowed all the same: they read sizes, wait, or warm caches.
pub(super) const ALLOWED_CALLS: &[&str] = &[
    "pg_prewarm",
    "pg_sleep",
    "pg_relation_size",
    "pg_total_relation_size",
    "pg_table_size",
    "pg_indexes_size",
    "pg_column_size",
    "pg_typeof",
];

/// Words that are refused after SET.
pub(super) const REFUSED_TO_SET: &[&str] = &[
    "global",
    "persist",
    "persist_only",
    "password",
    "role",
    "authorization",
    "search_path",
    "sql_log_bin",
    "sql_mode",
    "standard_conforming_strings",
    "backslash_quote",
    "session_authorization",
];

/// First words of statements that go through every table of a database where they name none.
pub(super) const NEEDS_TABLE: &[&str] = &["vacuum", "analyze", "cluster"];

/// Words of such statements that are no table's name.
pub(super) const OPTIONS: &[&str] = &[
    "analyze",
    "full",
    "freeze",
    "verbose",
    "table",
    "local",
    "no_write_to_binlog",
    "on",
    "off",
    "true",
    "false",
    "auto",
    "index_cleanup",
    "truncate",
    "parallel",
    "skip_locked",
    "process_toast",
    "disable_page_skipping",
];

/// Words after which names of tables stand.
pub(super) const BEFORE_TABLES: &[&str] = &[
    "from",
    "join",
    "into",
    "table",
    "tables",
    "update",
    "using",
    "references",
    "only",
    "view",
    "index",
    "sequence",
    "statistics",
    "inherits",
    "rename",
    "to",
    "partition",
    "vacuum",
    "optimize",
    "cluster",
];

/// The same where no bracket follows, which makes them functions.
pub(super) const BEFORE_TABLES_OR_CALLS: &[&str] =
    &["insert", "replace", "delete", "truncate", "analyze"];

/// Words before `update` that make it a part of something else.
pub(super) const BEFORE_OTHER_UPDATE: &[&str] = &["key", "for", "do", "on"];

/// Words after which names of tables no longer stand.
pub(super) const AFTER_TABLES: &[&str] = &[
    "where",
    "set",
    "group",
    "order",
    "having",
    "limit",
    "select",
    "values",
    "for",
    "union",
    "window",
    "returning",
    "fetch",
    "offset",
];

/// First words of a query in brackets.
pub(super) const QUERIES: &[&str] =
    &["select", "with", "values", "table", "insert", "update", "delete"];
