//! MySQL's SQL.

use rqps_client::Protocol;
use rqps_model::{Compression, Engine};

use super::{Dialect, InsertTable, OwnText, SysbenchTable};

pub(super) const DIALECT: Dialect = Dialect {
    create_table: |table| create_table(table, &compression(table.compression)),
    finish_table: |_, _| Vec::new(),
    create_insert_table: |table| create_insert_table(table, &compression(table.compression)),
    reset_sequence: |_| None,
    count_indexes: |table, indexes| {
        format!(
            "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE \
             table_schema = DATABASE() AND table_name = '{table}' AND index_name IN ('{}')",
            indexes.join("', '")
        )
    },
    // InnoDB's ALTER TABLE does; MyRocks makes one after the other.
    makes_indexes_at_once: |engine| engine == Engine::Innodb,
    force_index: |index| format!(" FORCE INDEX ({index})"),
    delete_oldest: |table, oldest| format!("DELETE FROM {table} WHERE {oldest}"),
    time_parameter: "?",
    // The first read makes the snapshot, which is the transaction's in REPEATABLE READ whatever the server's default is.
    begin_snapshot: &["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION"],
    insert_queries: Protocol::Text,
    // MySQL 5.6, 8.0 and MariaDB 10.2 refuse to prepare BEGIN (1295), MariaDB 11.4 does not: all of them get text alike.
    prepares_brackets: false,
    own_text: OwnText::None,
    vectors: None,
};

pub(super) fn create_table(table: &SysbenchTable<'_>, compression: &str) -> String {
    let SysbenchTable { name, columns, .. } = table;
    // AUTO_INCREMENT demands an index on the column from the start.
    let key = if table.is_secondary { "KEY xid (id)" } else { "PRIMARY KEY (id)" };
    let engine = table.engine.sql_name();
    format!(
        "CREATE TABLE {name} (id INTEGER NOT NULL AUTO_INCREMENT, {columns}, {key}) \
         ENGINE = {engine}{compression}"
    )
}

pub(super) fn create_insert_table(table: &InsertTable<'_>, compression: &str) -> Vec<String> {
    let mut partitions: Vec<String> = Vec::new();
    for (idx, to) in table.bounds.iter().enumerate() {
        let to = to.map_or("MAXVALUE".to_owned(), |bound| format!("({bound})"));
        partitions.push(format!("PARTITION p{idx} VALUES LESS THAN {to}"));
    }
    let by = if partitions.is_empty() {
        String::new()
    } else {
        format!(" PARTITION BY RANGE (transactionid) ({})", partitions.join(", "))
    };
    vec![format!(
        "CREATE TABLE {} (transactionid bigint NOT NULL AUTO_INCREMENT, {}, \
         PRIMARY KEY (transactionid)) ENGINE = {}{compression}{by}",
        table.name,
        InsertTable::columns("datetime"),
        table.engine.sql_name(),
    )]
}

/// What a table's definition says of its compression. RocksDB's is the column family's.
pub(super) fn compression(compression: Compression) -> String {
    match compression {
        Compression::None | Compression::Levels { .. } => String::new(),
        Compression::Row => " ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 8".to_owned(),
        Compression::Page(codec) => format!(" COMPRESSION = '{}'", codec.name()),
    }
}
