//! The files of a data directory of MySQL or MariaDB.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::dbms::driver::FilePart;

/// What the files of an InnoDB table and its partitions (`t#P#p0.ibd`) take on disk, bytes of allocated
/// blocks; `None` where it has none below the database's directory.
pub(super) fn innodb_file_bytes(database: &Path, table: &str) -> Option<u64> {
    let entries = fs::read_dir(database).ok()?.flatten();
    let sizes = entries.filter_map(|entry| {
        let name = entry.file_name();
        let table_of_file = name.to_str()?.strip_suffix(".ibd")?.split('#').next()?;
        (table_of_file == table).then(|| entry.metadata().map_or(0, |meta| meta.blocks() * 512))
    });
    sizes.reduce(|sum, bytes| sum + bytes)
}

/// What a file is for, by its path in the data directory. InnoDB has `ib_logfile0` (`ib_logfile101` while they are
/// made again), since MySQL 8.0.30 `#innodb_redo/`; MyRocks writes `#rocksdb/000012.log`, that of Percona
/// `.rocksdb/000012.log`. Binary logs end in a number: `binlog.000001`.
pub(super) fn part_of(inside: &Path) -> FilePart {
    let mut parts = inside.iter().map(|part| part.to_string_lossy());
    let (first, second) = (parts.next().unwrap_or_default(), parts.next());
    let numbered = |name: &str| {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        (6..=10).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_digit())
    };
    match second {
        Some(_) if first == "#innodb_redo" => FilePart::Redo,
        Some(name) if (first == "#rocksdb" || first == ".rocksdb") && name.ends_with(".log") => {
            FilePart::Redo
        }
        None if first.starts_with("ib_logfile") => FilePart::Redo,
        // MariaDB's Aria has a log of its own.
        None if first.starts_with("aria_log.") => FilePart::Redo,
        None if numbered(&first) && !first.contains("relay") => FilePart::Binlog,
        _ => FilePart::Data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn files_are_known_by_their_names() {
        let part = |path: &str| part_of(Path::new(path));
        for redo in [
            "ib_logfile0",
            "ib_logfile101",
            "#innodb_redo/#ib_redo12",
            "#rocksdb/000007.log",
            ".rocksdb/000007.log",
            "aria_log.00000001",
        ] {
            assert_eq!(part(redo), FilePart::Redo, "{redo}");
        }
        for data in [
            "ibdata1",
            "sbtest/sbtest1.ibd",
            "#rocksdb/000012.sst",
            "relay-bin.000001",
            "rqps-bin.index",
            "sbtest/t.000001",
        ] {
            assert_eq!(part(data), FilePart::Data, "{data}");
        }
        assert_eq!(part("rqps-bin.000001"), FilePart::Binlog);
    }
}
