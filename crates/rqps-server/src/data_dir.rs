//! What a server's data directory takes on disk.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rqps_model::Dbms;

use crate::dbms::driver;
use crate::dbms::driver::FilePart;

/// Disk space of a data directory, bytes of allocated blocks: a sparse file counts its blocks only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataDirSizes {
    /// All of it.
    pub total: u64,
    /// Redo or write-ahead logs.
    pub redo: u64,
    /// Binary logs.
    pub binlog: u64,
}

/// Disk space of a server's data directory. Files that vanish meanwhile count as 0.
#[must_use]
pub fn data_dir_sizes(dbms: Dbms, dir: &Path) -> DataDirSizes {
    let mut sizes = DataDirSizes::default();
    add_tree(driver(dbms).part_of_file, dir, Path::new(""), &mut sizes);
    sizes
}

fn add_tree(part_of: fn(&Path) -> FilePart, dir: &Path, inside: &Path, sizes: &mut DataDirSizes) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        let inside = inside.join(entry.file_name());
        if meta.is_dir() {
            add_tree(part_of, &entry.path(), &inside, sizes);
            continue;
        }
        // st_blocks counts units of 512 bytes whatever the file system's own block is: stat(2).
        let bytes = meta.blocks() * 512;
        sizes.total += bytes;
        match part_of(&inside) {
            FilePart::Redo => sizes.redo += bytes,
            FilePart::Binlog => sizes.binlog += bytes,
            FilePart::Data => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
