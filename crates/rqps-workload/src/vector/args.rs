//! Arguments of the vector suite.

use std::time::Duration;

use rqps_vector::{Distance, Files, Generated};

use crate::{MAX_CLIENTS, Size, SuiteError};

/// Links of a node that both DBMS take: pgvector 2 to 100, MariaDB 3 to 200.
const LINKS: std::ops::RangeInclusive<u32> = 3..=100;

/// Candidates of a search that both DBMS take.
const EFFORTS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Lists of an IVFFlat index.
const LISTS: std::ops::RangeInclusive<u32> = 1..=32_768;

/// Nearest neighbours of a query.
const NEIGHBOURS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Where the vectors come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// They are read.
    Files(Files),
    /// They are drawn.
    Generated(Generated),
}

/// An index, and the efforts with which it is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Index {
    /// A graph of neighbours in layers (Y. A. Malkov and D. A. Yashunin, 2016).
    Hnsw {
        /// Links of a node.
        m: u32,
        /// Candidates of an insert; MariaDB has none.
        ef_construction: u32,
        /// Candidates of a search.
        ef_search: Vec<u32>,
    },
    /// Lists by nearest centres, which are searched one by one.
    Ivfflat {
        /// How many lists.
        lists: u32,
        /// How many of them are searched.
        probes: Vec<u32>,
    },
}

impl Index {
    /// Its name in steps: `m=16`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Hnsw { m, .. } => format!("m={m}"),
            Self::Ivfflat { lists, .. } => format!("lists={lists}"),
        }
    }

    /// The efforts with which it is searched, each with its name.
    #[must_use]
    pub fn efforts(&self) -> Vec<(u32, String)> {
        let (name, efforts) = match self {
            Self::Hnsw { ef_search, .. } => ("ef", ef_search),
            Self::Ivfflat { probes, .. } => ("probes", probes),
        };
        efforts.iter().map(|effort| (*effort, format!("{name}={effort}"))).collect()
    }

    /// The candidates of an insert that pgvector takes for so many links, unless others are given: 64, but at least twice
    /// as many as there are links.
    #[must_use]
    pub fn usual_ef_construction(m: u32) -> u32 {
        64.max(2 * m)
    }
}

/// The arguments of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorArgs {
    /// Where the vectors come from.
    pub source: Source,
    /// The first vectors that are taken of files; 0 takes all.
    pub vectors: usize,
    /// The first queries that are taken of files; 0 takes all.
    pub queries: usize,
    /// The distance by which they are searched, in place of that of the files.
    pub distance: Option<Distance>,
    /// Nearest neighbours that a query asks for.
    pub k: u32,
    /// The indexes, made one after the other.
    pub indexes: Vec<Index>,
    /// Numbers of searching clients.
    pub clients: Vec<u32>,
    /// How long each search takes.
    pub read: Duration,
    /// The warm-up before it.
    pub warm_up: Duration,
}

impl VectorArgs {
    /// Rows of the table, where that is known before the files are read.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let n = match &self.source {
            Source::Generated(generated) => generated.vectors,
            Source::Files(_) => self.vectors,
        };
        n as u64
    }

    /// Tables: one for each index.
    #[must_use]
    pub fn tables(&self) -> u32 {
        u32::try_from(self.indexes.len()).unwrap_or(u32::MAX)
    }

    /// Approximate size of the tables and their indexes, bytes: an index has the vectors once more. `of_file` is the size
    /// of the file of the vectors, whose number is not known before it is read.
    #[must_use]
    pub fn data_bytes(&self, of_file: u64) -> u64 {
        let of_table = match &self.source {
            Source::Generated(drawn) => (drawn.vectors * drawn.dimension * 4) as u64,
            Source::Files(_) => of_file,
        };
        of_table.saturating_mul(2).saturating_mul(u64::from(self.tables()))
    }

    /// Checks what can be checked without the vectors.
    ///
    /// # Errors
    /// The first argument that is not possible, and what is.
    pub fn check(&self) -> Result<(), SuiteError> {
        let refuse =
            |key, value: String, remedy: String| Err(SuiteError::Argument { key, value, remedy });
        let range = |range: &std::ops::RangeInclusive<u32>| {
            format!("give {} to {}", range.start(), range.end())
        };
        let mut numbers = vec![("k", self.k, NEIGHBOURS)];
        for index in &self.indexes {
            match index {
                Index::Hnsw { m, ef_construction, ef_search } => {
                    numbers.extend([
                        ("m", *m, LINKS),
                        ("ef_construction", *ef_construction, 4..=1000),
                    ]);
                    numbers.extend(ef_search.iter().map(|effort| ("ef_search", *effort, EFFORTS)));
                    if *ef_construction < 2 * m {
                        let remedy = format!("give at least twice m = {m}");
                        return refuse("ef_construction", ef_construction.to_string(), remedy);
                    }
                }
                Index::Ivfflat { lists, probes } => {
                    numbers.push(("lists", *lists, LISTS));
                    numbers.extend(probes.iter().map(|effort| ("probes", *effort, 1..=*lists)));
                }
            }
            if index.efforts().is_empty() {
                return refuse("ef_search", "[]".to_owned(), "give at least one number".to_owned());
            }
        }
        for (key, value, allowed) in numbers {
            if !allowed.contains(&value) {
                return refuse(key, value.to_string(), range(&allowed));
            }
        }
        if self.indexes.is_empty() {
            return refuse(
                "m",
                "[]".to_owned(),
                "give at least one number of links, or lists".to_owned(),
            );
        }
        if self.clients.is_empty() {
            return refuse(
                "clients",
                "[]".to_owned(),
                "give at least one number of clients".to_owned(),
            );
        }
        if let Some(clients) = self.clients.iter().find(|n| !(1..=MAX_CLIENTS).contains(*n)) {
            let remedy = format!("give numbers from 1 to {MAX_CLIENTS}");
            return refuse("clients", clients.to_string(), remedy);
        }
        if self.read.is_zero() {
            return refuse("seconds.read", "0".to_owned(), "give a time above zero".to_owned());
        }
        Ok(())
    }
}

/// The suite's arguments by size.
pub trait VectorSize {
    /// The arguments of this size, for one client.
    fn vector_args(self) -> VectorArgs;
}

impl VectorSize for Size {
    fn vector_args(self) -> VectorArgs {
        let (vectors, dimension, read_s) = match self {
            Self::Tiny => (5_000, 64, 1),
            Self::Small => (50_000, 128, 5),
            Self::Medium => (500_000, 256, 10),
        };
        let m = 16;
        let index = Index::Hnsw {
            m,
            ef_construction: Index::usual_ef_construction(m),
            ef_search: vec![10, 20, 40, 80, 160, 320],
        };
        VectorArgs {
            source: Source::Generated(Generated { vectors, dimension, ..Generated::default() }),
            vectors: 0,
            queries: 0,
            distance: None,
            k: 10,
            indexes: vec![index],
            clients: vec![1],
            read: Duration::from_secs(read_s),
            warm_up: Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_possible() {
        for size in [Size::Tiny, Size::Small, Size::Medium] {
            size.vector_args().check().unwrap();
        }
    }

    #[test]
    fn impossible_arguments_are_named_with_what_is_possible() {
        let said = |change: fn(&mut VectorArgs)| {
            let mut args = Size::Tiny.vector_args();
            change(&mut args);
            args.check().unwrap_err().to_string()
        };
        let hnsw = |m, ef_construction, ef_search: &[u32]| {
            vec![Index::Hnsw { m, ef_construction, ef_search: ef_search.to_vec() }]
        };
        assert_eq!(said(|a| a.k = 0), "k = 0: give 1 to 1000");
        assert_eq!(
            said(|a| a.indexes.clear()),
            "m = []: give at least one number of links, or lists"
        );
        assert_eq!(said(|a| a.clients = vec![0]), "clients = 0: give numbers from 1 to 4096");
        let mut args = Size::Tiny.vector_args();
        for (indexes, wanted) in [
            (hnsw(200, 500, &[10]), "m = 200: give 3 to 100"),
            (hnsw(16, 20, &[10]), "ef_construction = 20: give at least twice m = 16"),
            (hnsw(16, 64, &[0]), "ef_search = 0: give 1 to 1000"),
            (hnsw(16, 64, &[]), "ef_search = []: give at least one number"),
            (vec![Index::Ivfflat { lists: 10, probes: vec![11] }], "probes = 11: give 1 to 10"),
        ] {
            args.indexes = indexes;
            assert_eq!(args.check().unwrap_err().to_string(), wanted);
        }
    }
}
