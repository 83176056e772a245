//! The tables of the Insert Benchmark: their SQL for each DBMS.

use rqps_model::{Compression, Dbms, Engine};

use super::InsertArgs;
use crate::dialect::{InsertTable, dialect};

/// How the tables are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The server's family.
    pub dbms: Dbms,
    /// The tables' engine, on the MySQL side.
    pub engine: Engine,
    /// Their compression, as far as the table's own definition decides it.
    pub compression: Compression,
    /// Whether several clients insert into each table.
    pub is_shared: bool,
    /// Partitions of each table by transactionid; 0 for none.
    pub partitions: u32,
    /// Rows that a table has at its largest, which the partitions divide.
    pub rows: u64,
}

/// The secondary indexes: name and columns.
const INDEXES: [(&str, &str); 3] = [
    ("marketsegment", "productid, customerid, price"),
    ("registersegment", "cashregisterid, customerid, price"),
    ("pdc", "price, dateandtime, customerid"),
];

impl Schema {
    /// The tables of a run with these arguments.
    #[must_use]
    pub fn new(args: &InsertArgs, dbms: Dbms, engine: Engine, compression: Compression) -> Self {
        let rows = args.rows + args.rows_later;
        let is_shared = args.shared_table && args.clients > 1;
        Self { dbms, engine, compression, is_shared, partitions: args.partitions, rows }
    }

    /// The name of a table (from 1).
    #[must_use]
    pub fn table(number: u32) -> String {
        format!("pi{number}")
    }

    /// The statements that make a table without its secondary indexes.
    #[must_use]
    pub fn create_table_sql(&self, number: u32) -> Vec<String> {
        let (name, bounds) = (Self::table(number), self.bounds());
        (dialect(self.dbms).create_insert_table)(&InsertTable {
            name: &name,
            is_shared: self.is_shared,
            bounds: &bounds,
            engine: self.engine,
            compression: self.compression,
        })
    }

    /// The statement that sets the next id of a table to that after its last; `None` where it is always that.
    #[must_use]
    pub fn reset_sequence_sql(dbms: Dbms, number: u32) -> Option<String> {
        (dialect(dbms).reset_sequence)(&Self::table(number))
    }

    /// Upper bounds of the partitions, none for the last one: what is inserted later is there.
    fn bounds(&self) -> Vec<Option<u64>> {
        let n = u64::from(self.partitions);
        (1..=n).map(|i| (i < n).then(|| self.rows * i / n + 1)).collect()
    }

    /// The statements that create a table's secondary indexes, each of which may take long. InnoDB
    /// makes all in one pass over the table, MyRocks and PostgreSQL one after the other.
    #[must_use]
    pub fn index_sql(&self, number: u32) -> Vec<String> {
        let table = Self::table(number);
        if (dialect(self.dbms).makes_indexes_at_once)(self.engine) {
            let indexes =
                INDEXES.map(|(name, columns)| format!("ADD INDEX {table}_{name} ({columns})"));
            return vec![format!("ALTER TABLE {table} {}", indexes.join(", "))];
        }
        INDEXES
            .iter()
            .map(|(name, columns)| format!("CREATE INDEX {table}_{name} ON {table} ({columns})"))
            .collect()
    }

    /// The names of a table's secondary indexes.
    #[must_use]
    pub fn index_names(number: u32) -> Vec<String> {
        let table = Self::table(number);
        INDEXES.iter().map(|(name, _)| format!("{table}_{name}")).collect()
    }

    /// The range query over the index of this place, with its placeholder; every kind reads nothing
    /// but the index.
    #[must_use]
    pub(crate) fn range_sql(&self, number: u32, index: usize) -> String {
        let (name, columns) = INDEXES[index];
        let first = columns.split(',').next().unwrap_or_default();
        // Registers are queried by what is above a value, the others from it on.
        let compare = if name == "registersegment" { ">" } else { ">=" };
        let table = Self::table(number);
        let force = (dialect(self.dbms).force_index)(&format!("{table}_{name}"));
        format!(
            "SELECT {columns} FROM {table}{force} WHERE {first} {compare} ? ORDER BY {columns} LIMIT 10"
        )
    }

    /// The query for ten rows by their ids.
    #[must_use]
    pub(crate) fn point_sql(number: u32) -> String {
        let table = Self::table(number);
        let list = ["?"; 10].join(", ");
        format!(
            "SELECT transactionid, productid, data FROM {table} WHERE transactionid IN ({list})"
        )
    }

    /// The statement that deletes the `n` oldest rows from an id on.
    #[must_use]
    pub(crate) fn delete_sql(&self, number: u32, n: u32) -> String {
        let table = Self::table(number);
        let oldest = format!("transactionid >= ? ORDER BY transactionid ASC LIMIT {n}");
        (dialect(self.dbms).delete_oldest)(&table, &oldest)
    }

    /// The query for a table's smallest and largest id.
    #[must_use]
    pub fn ids_sql(number: u32) -> String {
        let table = Self::table(number);
        format!("SELECT MIN(transactionid), MAX(transactionid) FROM {table}")
    }

    /// The query for a table's number of rows.
    #[must_use]
    pub fn count_sql(number: u32) -> String {
        format!("SELECT COUNT(*) FROM {}", Self::table(number))
    }

    /// The query for how many of its secondary indexes a table has.
    #[must_use]
    pub fn count_indexes_sql(dbms: Dbms, number: u32) -> String {
        (dialect(dbms).count_indexes)(&Self::table(number), &Self::index_names(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(dbms: Dbms, engine: Engine, partitions: u32) -> Schema {
        Schema {
            dbms,
            engine,
            compression: Compression::None,
            is_shared: false,
            partitions,
            rows: 900,
        }
    }

    #[test]
    fn tables_of_every_family() {
        let mysql = schema(Dbms::Mysql, Engine::Innodb, 0);
        expect_test::expect![[r#"CREATE TABLE pi1 (transactionid bigint NOT NULL AUTO_INCREMENT, dateandtime datetime, cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, data varchar(4000), PRIMARY KEY (transactionid)) ENGINE = InnoDB"#]]
            .assert_eq(&mysql.create_table_sql(1).join(";\n"));
        expect_test::expect![[r#"ALTER TABLE pi1 ADD INDEX pi1_marketsegment (productid, customerid, price), ADD INDEX pi1_registersegment (cashregisterid, customerid, price), ADD INDEX pi1_pdc (price, dateandtime, customerid)"#]]
            .assert_eq(&mysql.index_sql(1).join(";\n"));
        let parted = schema(Dbms::Mysql, Engine::Innodb, 3).create_table_sql(1).join(";\n");
        assert!(parted.ends_with(
            "PARTITION BY RANGE (transactionid) (PARTITION p0 VALUES LESS THAN (301), PARTITION p1 \
             VALUES LESS THAN (601), PARTITION p2 VALUES LESS THAN MAXVALUE)"
        ));
        let postgres = schema(Dbms::Postgres, Engine::Heap, 2);
        expect_test::expect![[r#"
            CREATE TABLE pi2 (transactionid bigserial PRIMARY KEY, dateandtime timestamp without time zone, cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, data varchar(4000)) PARTITION BY RANGE (transactionid);
            ALTER SEQUENCE pi2_transactionid_seq CACHE 1000;
            CREATE TABLE pi2_p0 PARTITION OF pi2 FOR VALUES FROM (MINVALUE) TO (451);
            CREATE TABLE pi2_p1 PARTITION OF pi2 FOR VALUES FROM (451) TO (MAXVALUE)"#]]
            .assert_eq(&postgres.create_table_sql(2).join(";\n"));
        assert_eq!(postgres.index_sql(2).len(), 3);
        assert_eq!(schema(Dbms::Mariadb, Engine::Rocksdb, 0).index_sql(1).len(), 3);
    }

    #[test]
    fn queries_and_deletes() {
        let mysql = schema(Dbms::Mysql, Engine::Innodb, 0);
        let postgres = schema(Dbms::Postgres, Engine::Heap, 0);
        expect_test::expect![[r#"
            SELECT productid, customerid, price FROM pi1 FORCE INDEX (pi1_marketsegment) WHERE productid >= ? ORDER BY productid, customerid, price LIMIT 10
            SELECT cashregisterid, customerid, price FROM pi1 WHERE cashregisterid > ? ORDER BY cashregisterid, customerid, price LIMIT 10
            SELECT price, dateandtime, customerid FROM pi1 WHERE price >= ? ORDER BY price, dateandtime, customerid LIMIT 10
            DELETE FROM pi1 WHERE transactionid >= ? ORDER BY transactionid ASC LIMIT 50
            DELETE FROM pi1 WHERE transactionid IN (SELECT transactionid FROM pi1 WHERE transactionid >= ? ORDER BY transactionid ASC LIMIT 50)
            SELECT transactionid, productid, data FROM pi1 WHERE transactionid IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"#]]
            .assert_eq(&[
                mysql.range_sql(1, 0),
                postgres.range_sql(1, 1),
                postgres.range_sql(1, 2),
                mysql.delete_sql(1, 50),
                postgres.delete_sql(1, 50),
                Schema::point_sql(1),
            ].join("\n"));
    }
}
