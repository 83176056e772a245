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
    ("begin", &["", "work", "transaction"]),
    ("start", &["transaction"]),
    ("commit", &["", "work", "transaction"]),
    ("rollback", &["", "work", "transaction"]),
    ("set", &[]),
    ("create", CREATED),
    ("alter", &["table", "index", "view", "materialized", "sequence", "statistics"]),
    ("drop", &["table", "index", "view", "materialized", "sequence", "statistics"]),
    ("truncate", &[]),
    ("analyze", &[]),
    ("optimize", &[]),
    ("vacuum", &[]),
    ("reindex", &["table", "index"]),
    ("cluster", &[]),
    ("check", &["table"]),
    ("comment", &["on"]),
    ("refresh", &["materialized"]),
];

/// What COMMENT ON may be about.
pub(super) const COMMENTED: &[&str] =
    &["table", "column", "index", "view", "materialized", "sequence", "statistics"];

/// First words that a server of rqps takes as well, where somebody else's does not: they go through all tables.
pub(super) const ALLOWED_ON_OWN: &[&str] = &["checkpoint"];

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
    "materialized",
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

/// First words of statements that only read, unless one of [`WRITING`] is in them.
pub(super) const READING: &[&str] = &["select", "values", "explain", "with"];

/// Words of statements that write.
pub(super) const WRITING: &[&str] =
    &["insert", "update", "delete", "merge", "replace", "into", "truncate"];

/// First words of statements that go through every table of a database where they name none.
pub(super) const NEEDS_TABLE: &[&str] = &["vacuum", "analyze", "cluster"];

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

/// Words before a bracket that are no function: parts of statements, and types.
pub(super) const BEFORE_BRACKETS: &[&str] = &[
    "all",
    "and",
    "any",
    "array",
    "as",
    "between",
    "bigint",
    "binary",
    "bit",
    "blob",
    "by",
    "case",
    "char",
    "character",
    "check",
    "columns",
    "conflict",
    "cube",
    "datetime",
    "decimal",
    "default",
    "distinct",
    "double",
    "else",
    "enum",
    "except",
    "exists",
    "explain",
    "filter",
    "float",
    "from",
    "fulltext",
    "group",
    "having",
    "identity",
    "in",
    "include",
    "index",
    "indexes",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "key",
    "lateral",
    "like",
    "limit",
    "list",
    "mediumint",
    "not",
    "numeric",
    "nvarchar",
    "offset",
    "on",
    "or",
    "order",
    "over",
    "partition",
    "primary",
    "range",
    "real",
    "reindex",
    "returning",
    "rollup",
    "select",
    "set",
    "sets",
    "smallint",
    "some",
    "spatial",
    "subpartition",
    "table",
    "text",
    "than",
    "then",
    "time",
    "timestamp",
    "tinyint",
    "union",
    "unique",
    "using",
    "vacuum",
    "analyze",
    "values",
    "varbinary",
    "varchar",
    "varying",
    "vector",
    "halfvec",
    "when",
    "where",
    "window",
    "with",
    "within",
    "year",
];

/// Words before a name that a bracket follows, where the name is a table's, an index's or an alias, and no function's.
pub(super) const BEFORE_NAMES: &[&str] = &[
    "into",
    "table",
    "exists",
    "references",
    "key",
    "index",
    "unique",
    "fulltext",
    "spatial",
    "view",
    "as",
    "partition",
    "constraint",
    "with",
    "recursive",
    "insert",
    "ignore",
];

/// Access methods of indexes, which stand before a bracket after USING.
pub(super) const ACCESS_METHODS: &[&str] =
    &["btree", "hash", "gist", "gin", "brin", "spgist", "rtree", "hnsw", "ivfflat"];
