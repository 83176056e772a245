//! MariaDB's SQL: what differs from MySQL's.

use rqps_model::Compression;

use rqps_vector::Distance;

use super::{Dialect, OwnText, VectorDialect, mysql};
use crate::vector::Index;

pub(super) const DIALECT: Dialect = Dialect {
    create_table: |table| mysql::create_table(table, &compression(table.compression)),
    create_insert_table: |table| mysql::create_insert_table(table, &compression(table.compression)),
    own_text: OwnText::Mariadb,
    vectors: Some(&VECTORS),
    ..mysql::DIALECT
};

fn compression(compression: Compression) -> String {
    match compression {
        // The algorithm is the server's, innodb_compression_algorithm.
        Compression::Page(_) => " PAGE_COMPRESSED = 1".to_owned(),
        other => mysql::compression(other),
    }
}

/// Vectors since 11.7.
const VECTORS: VectorDialect = VectorDialect {
    create_table: |table, dimension| {
        vec![format!(
            "CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, v VECTOR({dimension}) NOT NULL) ENGINE = InnoDB"
        )]
    },
    distance: |distance| match distance {
        Distance::Euclidean => Some("VEC_DISTANCE_EUCLIDEAN(v, {})"),
        Distance::Cosine => Some("VEC_DISTANCE_COSINE(v, {})"),
        Distance::InnerProduct => None,
    },
    create_index: |name, table, index, distance| match index {
        Index::Hnsw { m, .. } => Some(format!(
            "ALTER TABLE {table} ADD VECTOR INDEX {name} (v) M={m} DISTANCE={distance}"
        )),
        Index::Ivfflat { .. } => None,
    },
    before_index: |name, table, _| vec![format!("ALTER TABLE {table} DROP INDEX IF EXISTS {name}")],
    session: |searched| match searched {
        Some((_, effort)) => vec![format!("SET SESSION mhnsw_ef_search = {effort}")],
        None => Vec::new(),
    },
    without_index: |name| format!(" IGNORE INDEX ({name})"),
};
