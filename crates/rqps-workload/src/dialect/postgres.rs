//! PostgreSQL's SQL.

use rqps_client::Protocol;

use rqps_vector::Distance;

use super::{Dialect, InsertTable, OwnText, SysbenchTable, VectorDialect};
use crate::vector::Index;

pub(super) const DIALECT: Dialect = Dialect {
    create_table,
    finish_table,
    create_insert_table,
    reset_sequence: |table| Some(reset_sequence(table)),
    count_indexes: |table, indexes| {
        format!(
            "SELECT COUNT(DISTINCT indexname) FROM pg_indexes WHERE tablename = '{table}' AND \
             indexname IN ('{}')",
            indexes.join("', '")
        )
    },
    makes_indexes_at_once: |_| false,
    force_index: |_| String::new(),
    delete_oldest: |table, oldest| {
        format!(
            "DELETE FROM {table} WHERE transactionid IN (SELECT transactionid FROM {table} WHERE {oldest})"
        )
    },
    // A parameter is text there, which a column of times does not take by itself.
    time_parameter: "CAST(? AS timestamp)",
    begin_snapshot: &["START TRANSACTION ISOLATION LEVEL REPEATABLE READ"],
    insert_queries: Protocol::Prepared,
    prepares_brackets: true,
    own_text: OwnText::Postgres,
    vectors: Some(&VECTORS),
};

fn create_table(table: &SysbenchTable<'_>) -> String {
    let SysbenchTable { name, columns, .. } = table;
    let key = if table.is_secondary { "" } else { ", PRIMARY KEY (id)" };
    format!("CREATE TABLE {name} (id SERIAL, {columns}{key})")
}

fn finish_table(table: &SysbenchTable<'_>, rows: u64) -> Vec<String> {
    let SysbenchTable { name, number, .. } = table;
    // Ids were written out, so the sequence has not moved.
    let mut all = vec![format!("SELECT setval(pg_get_serial_sequence('{name}', 'id'), {rows})")];
    if table.is_secondary {
        all.push(format!("CREATE INDEX xid_{number} ON {name} (id)"));
    }
    all
}

fn create_insert_table(table: &InsertTable<'_>) -> Vec<String> {
    let InsertTable { name, bounds, .. } = table;
    let by = if bounds.is_empty() { "" } else { " PARTITION BY RANGE (transactionid)" };
    let mut all = vec![
        format!(
            "CREATE TABLE {name} (transactionid bigserial PRIMARY KEY, {}){by}",
            InsertTable::columns("timestamp without time zone")
        ),
        // Sessions draw ids by the thousand, so that they do not meet at the sequence. Of a shared table each would
        // leave holes, and point queries would miss their rows.
        format!(
            "ALTER SEQUENCE {name}_transactionid_seq CACHE {}",
            if table.is_shared { 1 } else { 1000 }
        ),
    ];
    let mut from = "MINVALUE".to_owned();
    for (idx, to) in bounds.iter().enumerate() {
        let to = to.map_or("MAXVALUE".to_owned(), |bound| bound.to_string());
        all.push(format!(
            "CREATE TABLE {name}_p{idx} PARTITION OF {name} FOR VALUES FROM ({from}) TO ({to})"
        ));
        from = to;
    }
    all
}

/// A session draws ids by the thousand and loses those that it has not used: without this every step would leave a hole.
fn reset_sequence(name: &str) -> String {
    format!(
        "SELECT setval('{name}_transactionid_seq', (SELECT COALESCE(MAX(transactionid), 1) FROM \
         {name}), (SELECT COUNT(*) > 0 FROM (SELECT 1 FROM {name} LIMIT 1) AS t))"
    )
}

/// Components of a vector that fits into a page beside its row. Larger ones are stored elsewhere.
const MOST_IN_PAGE: usize = 2000;

/// Memory to build an index at most, MB: other systems need some, too.
const MOST_TO_BUILD_MB: u64 = 4096;

/// pgvector.
const VECTORS: VectorDialect = VectorDialect {
    create_table: |table, dimension| {
        let mut all = vec![
            "CREATE EXTENSION IF NOT EXISTS vector".to_owned(),
            format!(
                "CREATE TABLE {table} (id integer PRIMARY KEY, v vector({dimension}) NOT NULL)"
            ),
        ];
        // As ann-benchmarks has it: in the row, without compression.
        if dimension <= MOST_IN_PAGE {
            all.push(format!("ALTER TABLE {table} ALTER COLUMN v SET STORAGE PLAIN"));
        }
        all
    },
    distance: |distance| {
        Some(match distance {
            Distance::Euclidean => "v <-> {}",
            Distance::Cosine => "v <=> {}",
            Distance::InnerProduct => "v <#> {}",
        })
    },
    create_index: |name, table, index, distance| {
        let operators = match distance {
            Distance::Euclidean => "vector_l2_ops",
            Distance::Cosine => "vector_cosine_ops",
            Distance::InnerProduct => "vector_ip_ops",
        };
        let (kind, options) = match index {
            Index::Hnsw { m, ef_construction, .. } => {
                ("hnsw", format!("m = {m}, ef_construction = {ef_construction}"))
            }
            Index::Ivfflat { lists, .. } => ("ivfflat", format!("lists = {lists}")),
        };
        Some(format!(
            "CREATE INDEX {name} ON {table} USING {kind} (v {operators}) WITH ({options})"
        ))
    },
    before_index: |name, _, bytes| {
        // pgvector builds a graph in memory as long as it fits, and many times more slowly then.
        let megabytes = (2 * bytes / 1_000_000 + 64).min(MOST_TO_BUILD_MB);
        vec![
            format!("SET maintenance_work_mem = '{megabytes}MB'"),
            "SET max_parallel_maintenance_workers = 0".to_owned(),
            format!("DROP INDEX IF EXISTS {name}"),
        ]
    },
    session: |searched| match searched {
        Some((Index::Hnsw { .. }, effort)) => vec![format!("SET hnsw.ef_search = {effort}")],
        Some((Index::Ivfflat { .. }, effort)) => vec![format!("SET ivfflat.probes = {effort}")],
        None => vec!["SET enable_indexscan = off".to_owned()],
    },
    without_index: |_| String::new(),
};
