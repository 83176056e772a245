//! The files of PostgreSQL's data directory.

use std::path::Path;

use crate::dbms::driver::FilePart;

/// What a file is for, by its path in the data directory: the log lies in `pg_wal/`, before 10 in `pg_xlog/`.
pub(super) fn part_of(inside: &Path) -> FilePart {
    let mut parts = inside.iter();
    let is_wal = parts.next().is_some_and(|first| first == "pg_wal" || first == "pg_xlog");
    if is_wal && parts.next().is_some() { FilePart::Redo } else { FilePart::Data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_directories() {
        let part = |path: &str| part_of(Path::new(path));
        for wal in ["pg_wal/000000010000000000000001", "pg_xlog/000000010000000000000001"] {
            assert_eq!(part(wal), FilePart::Redo);
        }
        assert_eq!(part("base/16384/2619"), FilePart::Data);
        assert_eq!(part("pg_wal"), FilePart::Data);
    }
}
