//! Space on file systems: how much is free, how much a tree takes, enough for what comes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rqps_model::Dbms;

use crate::Error;
use crate::free_space::{free_bytes_of, nearest_existing};

/// Bytes that an ordinary user may still write on the file system of `path` (or of its nearest
/// existing parent).
///
/// # Errors
/// When the file system cannot be asked.
pub fn free_bytes(path: &Path) -> Result<u64, Error> {
    let existing = nearest_existing(path);
    free_bytes_of(existing)
        .map_err(|e| Error::io(format!("ask for free space of {}", existing.display()), e))
}

/// Refuses work that would fill the disk: `needed` bytes and 5% of slack must be free.
pub(crate) fn require(path: &Path, needed: u64) -> Result<(), Error> {
    let free = free_bytes(path)?;
    let needed = needed + needed / 20;
    if free < needed {
        return Err(Error::DiskFull {
            path: path.to_owned(),
            needed_mb: needed / 1_000_000,
            free_mb: free / 1_000_000,
        });
    }
    Ok(())
}

/// What a data directory takes on disk, bytes of allocated blocks: sparse files count as what they
/// take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataDirSizes {
    /// All of it.
    pub total: u64,
    /// Redo or write-ahead logs.
    pub redo: u64,
    /// Binary logs.
    pub binlog: u64,
}

/// Sizes of a server's data directory. Files that vanish meanwhile count as nothing: servers delete
/// files.
#[must_use]
pub fn data_dir_sizes(dbms: Dbms, dir: &Path) -> DataDirSizes {
    let mut sizes = DataDirSizes::default();
    add_tree(dbms, dir, Path::new(""), &mut sizes);
    sizes
}

fn add_tree(dbms: Dbms, dir: &Path, inside: &Path, sizes: &mut DataDirSizes) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        let inside = inside.join(entry.file_name());
        if meta.is_dir() {
            add_tree(dbms, &entry.path(), &inside, sizes);
            continue;
        }
        // st_blocks counts units of 512 bytes whatever the file system's own block is: stat(2).
        let bytes = meta.blocks() * 512;
        sizes.total += bytes;
        match part_of(dbms, &inside) {
            Part::Redo => sizes.redo += bytes,
            Part::Binlog => sizes.binlog += bytes,
            Part::Data => {}
        }
    }
}

/// What the files of an InnoDB table and its partitions (`t#P#p0.ibd`) take on disk, bytes of allocated
/// blocks; `None` where it has none below the database's directory.
pub(crate) fn innodb_file_bytes(database: &Path, table: &str) -> Option<u64> {
    let entries = fs::read_dir(database).ok()?.flatten();
    let sizes = entries.filter_map(|entry| {
        let name = entry.file_name();
        let table_of_file = name.to_str()?.strip_suffix(".ibd")?.split('#').next()?;
        (table_of_file == table).then(|| entry.metadata().map_or(0, |meta| meta.blocks() * 512))
    });
    sizes.reduce(|sum, bytes| sum + bytes)
}

/// What a file of a data directory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Redo,
    Binlog,
    Data,
}

/// By a file's path in the data directory. InnoDB has `ib_logfile0` (`ib_logfile101` while they are
/// made anew), since MySQL 8.0.30 `#innodb_redo/`; MyRocks writes `#rocksdb/000012.log`, that of
/// Percona `.rocksdb/000012.log`; PostgreSQL has `pg_wal/`, before 10 `pg_xlog/`. Binary logs end in
/// a number: `binlog.000001`.
fn part_of(dbms: Dbms, inside: &Path) -> Part {
    let mut parts = inside.iter().map(|part| part.to_string_lossy());
    let (first, second) = (parts.next().unwrap_or_default(), parts.next());
    let numbered = |name: &str| {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        (6..=10).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_digit())
    };
    match (dbms, second) {
        (Dbms::Postgres, Some(_)) if first == "pg_wal" || first == "pg_xlog" => Part::Redo,
        (Dbms::Mysql | Dbms::Mariadb, Some(_)) if first == "#innodb_redo" => Part::Redo,
        (Dbms::Mysql | Dbms::Mariadb, Some(name)) if first == "#rocksdb" || first == ".rocksdb" => {
            if name.ends_with(".log") {
                Part::Redo
            } else {
                Part::Data
            }
        }
        (Dbms::Mysql | Dbms::Mariadb, None) if first.starts_with("ib_logfile") => Part::Redo,
        // Aria's own log has a number, too.
        (Dbms::Mariadb, None) if first.starts_with("aria_log.") => Part::Redo,
        (Dbms::Mysql | Dbms::Mariadb, None) if numbered(&first) && !first.contains("relay") => {
            Part::Binlog
        }
        _ => Part::Data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_does_not_fit() {
        let dir = tempfile::tempdir().unwrap();
        require(&dir.path().join("not/there/yet"), 1).unwrap();
        let error = require(dir.path(), u64::MAX / 2).unwrap_err().to_string();
        assert!(error.contains("no space left for") && error.contains("choose another"), "{error}");
    }

    #[test]
    fn a_file_system_that_does_not_count_is_not_full() {
        // procfs has no blocks: statfs(2) gives 0 of 0.
        assert_eq!(free_bytes(Path::new("/proc")).unwrap(), u64::MAX);
    }

    #[test]
    fn a_table_is_its_files_and_those_of_its_partitions() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["t.ibd", "t#P#p0.ibd", "t#p#p1.ibd", "t2.ibd", "t.frm", "t2#P#p0.ibd"] {
            fs::write(dir.path().join(file), vec![1_u8; 100_000]).unwrap();
        }
        let bytes = innodb_file_bytes(dir.path(), "t").unwrap();
        assert!((300_000..400_000).contains(&bytes), "{bytes}");
        assert_eq!(innodb_file_bytes(dir.path(), "u"), None);
        assert_eq!(innodb_file_bytes(&dir.path().join("absent"), "t"), None);
    }

    #[test]
    fn counts_what_files_take() {
        let dir = tempfile::tempdir().unwrap();
        for (file, n) in [("sub/t.ibd", 100_000), ("ib_logfile0", 50_000), ("b.000001", 20_000)] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![1_u8; n]).unwrap();
        }
        let sizes = data_dir_sizes(Dbms::Mysql, dir.path());
        assert!((170_000..300_000).contains(&sizes.total), "{sizes:?}");
        assert!((50_000..90_000).contains(&sizes.redo), "{sizes:?}");
        assert!((20_000..50_000).contains(&sizes.binlog), "{sizes:?}");
        let none = data_dir_sizes(Dbms::Mysql, &dir.path().join("absent"));
        assert_eq!(none, DataDirSizes::default());
    }

    #[test]
    fn files_are_known_by_their_names() {
        let part = |dbms, path: &str| part_of(dbms, Path::new(path));
        for redo in [
            "ib_logfile0",
            "ib_logfile101",
            "#innodb_redo/#ib_redo12",
            "#rocksdb/000007.log",
            ".rocksdb/000007.log",
        ] {
            assert_eq!(part(Dbms::Mysql, redo), Part::Redo, "{redo}");
        }
        for data in ["ibdata1", "sbtest/sbtest1.ibd", "#rocksdb/000012.sst", "relay-bin.000001"] {
            assert_eq!(part(Dbms::Mariadb, data), Part::Data, "{data}");
        }
        assert_eq!(part(Dbms::Mariadb, "rqps-bin.000001"), Part::Binlog);
        assert_eq!(part(Dbms::Mariadb, "aria_log.00000001"), Part::Redo);
        assert_eq!(part(Dbms::Mariadb, "rqps-bin.index"), Part::Data);
        assert_eq!(part(Dbms::Mysql, "sbtest/t.000001"), Part::Data);
        for wal in ["pg_wal/000000010000000000000001", "pg_xlog/000000010000000000000001"] {
            assert_eq!(part(Dbms::Postgres, wal), Part::Redo);
        }
        assert_eq!(part(Dbms::Postgres, "base/16384/2619"), Part::Data);
    }
}
