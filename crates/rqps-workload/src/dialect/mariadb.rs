//! MariaDB's SQL: what differs from MySQL's.

use rqps_model::Compression;

use super::{Dialect, OwnText, mysql};

pub(super) const DIALECT: Dialect = Dialect {
    create_table: |table| mysql::create_table(table, &compression(table.compression)),
    create_insert_table: |table| mysql::create_insert_table(table, &compression(table.compression)),
    own_text: OwnText::Mariadb,
    ..mysql::DIALECT
};

fn compression(compression: Compression) -> String {
    match compression {
        // The algorithm is the server's, innodb_compression_algorithm.
        Compression::Page(_) => " PAGE_COMPRESSED = 1".to_owned(),
        other => mysql::compression(other),
    }
}
