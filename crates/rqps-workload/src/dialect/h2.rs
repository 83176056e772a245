//! H2's SQL: what differs from PostgreSQL's.

use super::{Dialect, InsertTable, SysbenchTable, postgres};

pub(super) const DIALECT: Dialect = Dialect {
    finish_table,
    begin_snapshot: &[
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "BEGIN",
    ],
    create_insert_table,
    reset_sequence: |table| {
        Some(format!(
            "ALTER TABLE {table} ALTER COLUMN transactionid RESTART WITH \
             (SELECT COALESCE(MAX(transactionid), 0) + 1 FROM {table})"
        ))
    },
    vectors: None,
    ..postgres::DIALECT
};

fn finish_table(table: &SysbenchTable<'_>, rows: u64) -> Vec<String> {
    let SysbenchTable { name, number, .. } = table;
    let next = rows + 1;
    let mut all = vec![format!("ALTER TABLE {name} ALTER COLUMN id RESTART WITH {next}")];
    if table.is_secondary {
        all.push(format!("CREATE INDEX xid_{number} ON {name} (id)"));
    }
    all
}

fn create_insert_table(table: &InsertTable<'_>) -> Vec<String> {
    let columns = InsertTable::columns("timestamp without time zone");
    vec![format!("CREATE TABLE {} (transactionid bigserial PRIMARY KEY, {columns})", table.name)]
}
