//! The tables of the vector suite, their indexes and searches: their SQL for each DBMS.
//!
//! Each index has a table of its own with all vectors: MariaDB has one index of vectors per table, and all searches find
//! their index whenever they are measured.

use rqps_model::Dbms;
use rqps_vector::{DataSet, Distance};

use super::Index;
use super::encode::literal;
use crate::dialect::{VectorDialect, dialect};

/// The name of the index of a table.
fn index_of(table: &str) -> String {
    format!("{table}_v")
}

/// How the tables are made and searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorSchema {
    /// The server's DBMS.
    pub dbms: Dbms,
    /// Rows of each table.
    pub rows: u64,
    /// Components of a vector.
    pub dimension: usize,
    /// The distance.
    pub distance: Distance,
    /// Nearest neighbours of a query.
    pub k: u32,
}

impl VectorSchema {
    /// The table of a set.
    #[must_use]
    pub fn new(dbms: Dbms, set: &DataSet, k: u32) -> Self {
        let (rows, dimension) = (set.vectors.len() as u64, set.vectors.dimension());
        Self { dbms, rows, dimension, distance: set.distance, k }
    }

    /// The name of a table (from 1).
    #[must_use]
    pub fn table(number: u32) -> String {
        format!("vectors{number}")
    }

    /// Why a DBMS cannot do this, and what to do; `None` where it can.
    #[must_use]
    pub fn obstacle(
        dbms: Dbms,
        distance: Distance,
        index: &Index,
    ) -> Option<(String, &'static str)> {
        let Some(dialect) = dialect(dbms).vectors else {
            let what = format!("{dbms} has no index of vectors");
            return Some((what, "measure MariaDB since 11.8 and PostgreSQL with pgvector"));
        };
        if (dialect.distance)(distance).is_none() {
            let what = format!("{dbms} has no distance {distance}");
            return Some((what, "write distance = \"euclidean\" or \"cosine\""));
        }
        let none = (dialect.create_index)("i", "t", index, distance).is_none();
        let told = || {
            (
                format!("{dbms} has no IVFFlat index"),
                "leave lists out, or give them a plan of their own",
            )
        };
        none.then(told)
    }

    fn dialect(&self) -> Option<&'static VectorDialect> {
        dialect(self.dbms).vectors
    }

    /// The statements that make a table, without its index.
    #[must_use]
    pub fn create_table_sql(&self, number: u32) -> Vec<String> {
        let table = Self::table(number);
        self.dialect()
            .map_or_else(Vec::new, |dialect| (dialect.create_table)(&table, self.dimension))
    }

    /// The statement that inserts so many rows into a table.
    #[must_use]
    pub(super) fn insert_sql(number: u32, n_rows: usize) -> String {
        format!(
            "INSERT INTO {} (id, v) VALUES {}",
            Self::table(number),
            vec!["(?, ?)"; n_rows].join(", ")
        )
    }

    /// What is done before an index is created on a table: an index that is there goes, and one thread builds.
    #[must_use]
    pub fn before_index_sql(&self, number: u32) -> Vec<String> {
        let table = Self::table(number);
        let bytes = self.rows.saturating_mul(4 * self.dimension as u64);
        let name = index_of(&table);
        self.dialect().map_or_else(Vec::new, |dialect| (dialect.before_index)(&name, &table, bytes))
    }

    /// The statement that creates the index of a table.
    #[must_use]
    pub fn create_index_sql(&self, number: u32, index: &Index) -> Option<String> {
        let table = Self::table(number);
        (self.dialect()?.create_index)(&index_of(&table), &table, index, self.distance)
    }

    /// What a session is set to before it searches an index with an effort; without an index, all vectors are looked at.
    #[must_use]
    pub fn session_sql(&self, searched: Option<(&Index, u32)>) -> Vec<String> {
        self.dialect().map_or_else(Vec::new, |dialect| (dialect.session)(searched))
    }

    /// The query of a table for the nearest neighbours, with a placeholder for the vector.
    #[must_use]
    pub fn search_sql(&self, number: u32, is_exact: bool) -> String {
        self.search(number, is_exact, "?")
    }

    /// The same for one vector.
    #[must_use]
    pub fn search_sql_of(&self, number: u32, is_exact: bool, vector: &[f32]) -> String {
        self.search(number, is_exact, &literal(self.dbms, vector))
    }

    fn search(&self, number: u32, is_exact: bool, vector: &str) -> String {
        let table = Self::table(number);
        let (mut distance, mut hint) = ("v = {}", String::new());
        if let Some(dialect) = self.dialect() {
            distance = (dialect.distance)(self.distance).unwrap_or(distance);
            hint = if is_exact { (dialect.without_index)(&index_of(&table)) } else { hint };
        }
        let distance = distance.replace("{}", vector);
        format!("SELECT id FROM {table}{hint} ORDER BY {distance} LIMIT {}", self.k)
    }

    /// The query for the number of rows of a table.
    #[must_use]
    pub fn count_sql(number: u32) -> String {
        format!("SELECT COUNT(*) FROM {}", Self::table(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(dbms: Dbms) -> VectorSchema {
        VectorSchema { dbms, rows: 1_000_000, dimension: 300, distance: Distance::Euclidean, k: 10 }
    }

    fn hnsw() -> Index {
        Index::Hnsw { m: 16, ef_construction: 64, ef_search: vec![40] }
    }

    fn all_sql(dbms: Dbms, index: &Index) -> String {
        let schema = schema(dbms);
        let mut all = schema.create_table_sql(1);
        all.push(VectorSchema::insert_sql(1, 2));
        all.extend(schema.before_index_sql(1));
        all.extend(schema.create_index_sql(1, index));
        all.extend(schema.session_sql(Some((index, 40))));
        all.push(schema.search_sql(1, false));
        all.extend(schema.session_sql(None));
        all.push(schema.search_sql_of(1, true, &[1.0, 2.0, 0.5]));
        all.join("\n")
    }

    #[test]
    fn statements_of_mariadb() {
        expect_test::expect![[r#"
            CREATE TABLE vectors1 (id INTEGER NOT NULL PRIMARY KEY, v VECTOR(300) NOT NULL) ENGINE = InnoDB
            INSERT INTO vectors1 (id, v) VALUES (?, ?), (?, ?)
            ALTER TABLE vectors1 DROP INDEX IF EXISTS vectors1_v
            ALTER TABLE vectors1 ADD VECTOR INDEX vectors1_v (v) M=16 DISTANCE=euclidean
            SET SESSION mhnsw_ef_search = 40
            SELECT id FROM vectors1 ORDER BY VEC_DISTANCE_EUCLIDEAN(v, ?) LIMIT 10
            SELECT id FROM vectors1 IGNORE INDEX (vectors1_v) ORDER BY VEC_DISTANCE_EUCLIDEAN(v, X'0000803F000000400000003F') LIMIT 10"#]].assert_eq(&all_sql(Dbms::Mariadb, &hnsw()));
    }

    #[test]
    fn statements_of_pgvector() {
        expect_test::expect![[r#"
            CREATE EXTENSION IF NOT EXISTS vector
            CREATE TABLE vectors1 (id integer PRIMARY KEY, v vector(300) NOT NULL)
            ALTER TABLE vectors1 ALTER COLUMN v SET STORAGE PLAIN
            INSERT INTO vectors1 (id, v) VALUES (?, ?), (?, ?)
            SET maintenance_work_mem = '2464MB'
            SET max_parallel_maintenance_workers = 0
            DROP INDEX IF EXISTS vectors1_v
            CREATE INDEX vectors1_v ON vectors1 USING hnsw (v vector_l2_ops) WITH (m = 16, ef_construction = 64)
            SET hnsw.ef_search = 40
            SELECT id FROM vectors1 ORDER BY v <-> ? LIMIT 10
            SET enable_indexscan = off
            SELECT id FROM vectors1 ORDER BY v <-> '[1,2,0.5]' LIMIT 10"#]].assert_eq(&all_sql(Dbms::Postgres, &hnsw()));
        let lists = Index::Ivfflat { lists: 100, probes: vec![5] };
        expect_test::expect![[r#"
            CREATE EXTENSION IF NOT EXISTS vector
            CREATE TABLE vectors1 (id integer PRIMARY KEY, v vector(300) NOT NULL)
            ALTER TABLE vectors1 ALTER COLUMN v SET STORAGE PLAIN
            INSERT INTO vectors1 (id, v) VALUES (?, ?), (?, ?)
            SET maintenance_work_mem = '2464MB'
            SET max_parallel_maintenance_workers = 0
            DROP INDEX IF EXISTS vectors1_v
            CREATE INDEX vectors1_v ON vectors1 USING ivfflat (v vector_l2_ops) WITH (lists = 100)
            SET ivfflat.probes = 40
            SELECT id FROM vectors1 ORDER BY v <-> ? LIMIT 10
            SET enable_indexscan = off
            SELECT id FROM vectors1 ORDER BY v <-> '[1,2,0.5]' LIMIT 10"#]]
        .assert_eq(&all_sql(Dbms::Postgres, &lists));
    }

    #[test]
    fn what_a_server_lacks_is_told() {
        let said = |dbms, distance, index: &Index| VectorSchema::obstacle(dbms, distance, index);
        let lists = Index::Ivfflat { lists: 100, probes: vec![5] };
        assert_eq!(said(Dbms::Mariadb, Distance::Cosine, &hnsw()), None);
        assert_eq!(said(Dbms::Postgres, Distance::InnerProduct, &lists), None);
        let (told, _) = said(Dbms::Mariadb, Distance::InnerProduct, &hnsw()).unwrap();
        assert!(told.contains("no distance inner-product"), "{told}");
        let (told, _) = said(Dbms::Mariadb, Distance::Euclidean, &lists).unwrap();
        assert!(told.contains("no IVFFlat index"), "{told}");
        assert!(said(Dbms::Mysql, Distance::Euclidean, &hnsw()).is_some());
    }
}
