//! Direct IO: which options ask for it, and whether the data directory's file system does it.
//!
//! A file system without it (ramfs, some network and FUSE ones, tmpfs before Linux 6.6) makes RocksDB
//! and PostgreSQL fail at their start with a bare "Invalid argument"; InnoDB goes on through the page
//! cache after a line in its log, which is another measurement than the one that was asked for.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;
use rqps_model::{DIRECT_IO_REFUSED, Dbms};

use crate::Error;
use crate::dbms::server_files::{DirectReads, config_format};
use crate::profile::Rendered;
use crate::watch::{Progress, Watch};

/// A block: what every device and file system takes, as memory's and the file's alignment (open(2)).
const BLOCK: usize = 4096;

/// An option that asks for direct IO.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wish {
    option: String,
    value: String,
    /// Whether the server goes on without it.
    is_soft: bool,
}

/// Checks a configuration against the directory that the data will be in; gives what is to be
/// recorded, when the configuration says anything of it.
///
/// What a server cannot do without is refused, as is what `options` of the plan ask for. What only
/// the profile asks for, and the server goes on without, is said and recorded.
///
/// # Errors
/// [`Error::Limit`] with the option, the directory and the remedy.
pub fn check(
    dbms: Dbms,
    config: &Rendered,
    dir: &Path,
    watch: &mut Watch<'_>,
) -> Result<Option<String>, Error> {
    decide(dbms, &config.text, &config.options, dir, &probe, watch)
}

/// Whether a server reads its tables through the page cache, by its settings in effect.
#[must_use]
pub fn reads_through_page_cache(dbms: Dbms, settings: &BTreeMap<String, String>) -> bool {
    let Ok(format) = config_format(dbms) else { return false };
    format.page_cache_unless.as_ref().is_some_and(|DirectReads { option, word }| {
        !settings.get(*option).is_some_and(|value| value.contains(word))
    })
}

/// Finds out whether a directory's file system does direct IO.
type Probe<'a> = &'a dyn Fn(&Path) -> io::Result<()>;

/// [`check`] with any way to find out what the file system does.
fn decide(
    dbms: Dbms,
    config: &str,
    options: &BTreeMap<String, String>,
    dir: &Path,
    probe: Probe<'_>,
    watch: &mut Watch<'_>,
) -> Result<Option<String>, Error> {
    let wishes: Vec<Wish> = config.lines().filter_map(|line| wish(dbms, line)).collect();
    if wishes.is_empty() {
        return Ok(None);
    }
    let Err(error) = probe(dir) else { return Ok(Some("works".to_owned())) };
    if error.raw_os_error() != Some(nix::errno::Errno::EINVAL as i32) {
        return Err(Error::write(dir, error));
    }
    let is_of_plan = |wish: &&Wish| {
        !wish.is_soft || options.keys().any(|key| key.replace('-', "_") == wish.option)
    };
    if let Some(Wish { option, value, .. }) = wishes.iter().find(is_of_plan) {
        return Err(Error::Limit {
            what: format!("{option} = {value}"),
            detail: format!(
                "the file system of {} has no direct IO (open with O_DIRECT: {error})",
                dir.display()
            ),
            remedy:
                "name a directory on another file system, such as ext4 or xfs, with --results, \
                     or leave out the option"
                    .to_owned(),
        });
    }
    let text = format!(
        "the file system of {} has no direct IO: {} = {} has no effect, and data files go through \
         the page cache",
        dir.display(),
        wishes[0].option,
        wishes[0].value
    );
    (watch.report)(Progress::Note { text: &text });
    Ok(Some(DIRECT_IO_REFUSED.to_owned()))
}

/// Whether a line of a configuration file asks for direct IO. Names by the manuals of MySQL 8.0,
/// MariaDB 10.11 (`innodb_flush_method`, `rocksdb_use_direct_*`) and PostgreSQL 16 (`debug_io_direct`).
fn wish(dbms: Dbms, line: &str) -> Option<Wish> {
    let (name, value) = line.split_once('=')?;
    let option = name.trim().replace('-', "_").to_ascii_lowercase();
    let value = value.trim().trim_matches(['\'', '"']).to_owned();
    let is_on = matches!(value.to_ascii_lowercase().as_str(), "1" | "on" | "true");
    let (is_wish, is_soft) = match option.as_str() {
        "innodb_flush_method" => (value.to_ascii_uppercase().starts_with("O_DIRECT"), true),
        "rocksdb_use_direct_reads" | "rocksdb_use_direct_io_for_flush_and_compaction" => {
            (is_on, false)
        }
        "debug_io_direct" => (!value.is_empty(), false),
        _ => return None,
    };
    let format = config_format(dbms).ok()?;
    let is_known = format.direct_io_options.contains(&option.as_str());
    (is_wish && is_known).then_some(Wish { option, value, is_soft })
}

/// Writes one block to a file in `dir` without the page cache, and removes the file.
fn probe(dir: &Path) -> io::Result<()> {
    let path = dir.join("rqps-direct-io");
    let result = open_direct(&path, true).and_then(|mut file| {
        let buffer = vec![0_u8; 2 * BLOCK];
        let start = buffer.as_ptr().align_offset(BLOCK);
        file.write_all(buffer.get(start..start + BLOCK).unwrap_or_default())
    });
    let _ = fs::remove_file(&path);
    result
}

fn open_direct(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(create).create_new(create).mode(0o600);
    options.custom_flags(OFlag::O_DIRECT.bits()).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_options_that_ask_for_it() {
        let wished = |dbms, line| wish(dbms, line).map(|w| (w.option, w.is_soft));
        let soft = |name: &str| Some((name.to_owned(), true));
        let hard = |name: &str| Some((name.to_owned(), false));
        let flush = "innodb_flush_method";
        assert_eq!(wished(Dbms::Mysql, "innodb_flush_method=O_DIRECT"), soft(flush));
        assert_eq!(wished(Dbms::Mariadb, "Innodb-Flush-Method = O_DIRECT_NO_FSYNC"), soft(flush));
        assert_eq!(wished(Dbms::Mysql, "innodb_flush_method=fsync"), None);
        let reads = "rocksdb_use_direct_reads";
        assert_eq!(wished(Dbms::Mariadb, "rocksdb_use_direct_reads=ON"), hard(reads));
        assert_eq!(wished(Dbms::Mariadb, "rocksdb_use_direct_reads=0"), None);
        assert_eq!(wished(Dbms::Postgres, "debug_io_direct = 'data,wal'"), hard("debug_io_direct"));
        assert_eq!(wished(Dbms::Postgres, "debug_io_direct = ''"), None);
        assert_eq!(wished(Dbms::Postgres, "innodb_flush_method = 'O_DIRECT'"), None);
        assert_eq!(wished(Dbms::Mysql, "# innodb_flush_method"), None);
    }

    #[test]
    fn what_the_plan_asks_for_is_refused_and_what_the_profile_asks_for_is_said() {
        use std::sync::atomic::AtomicBool;
        let stop = AtomicBool::new(false);
        let refuses: Probe<'_> =
            &|_| Err(io::Error::from_raw_os_error(nix::errno::Errno::EINVAL as i32));
        let works: Probe<'_> = &|_| Ok(());
        let decided = |dbms, config: &str, option: Option<&str>, probe| {
            let options = option.map(|o| (o.to_owned(), String::new())).into_iter().collect();
            let mut notes = Vec::new();
            let mut report = |progress: Progress<'_>| notes.push(format!("{progress:?}"));
            let mut watch = Watch { stop: &stop, report: &mut report };
            let result = decide(dbms, config, &options, Path::new("/d"), probe, &mut watch);
            (result.map_err(|e| e.to_string()), notes.len())
        };
        let innodb = "innodb_flush_method=O_DIRECT\n";
        assert_eq!(decided(Dbms::Mysql, "", None, refuses), (Ok(None), 0));
        let works = decided(Dbms::Mysql, innodb, Some("innodb-flush-method"), works);
        assert_eq!(works, (Ok(Some("works".to_owned())), 0));
        let (soft, n_notes) = decided(Dbms::Mysql, innodb, None, refuses);
        assert_eq!((soft.unwrap().unwrap().as_str(), n_notes), ("refused by the file system", 1));
        for (dbms, config, option) in [
            (Dbms::Mysql, innodb, Some("innodb-flush-method")),
            (Dbms::Mariadb, "rocksdb_use_direct_reads=1\n", None),
            (Dbms::Postgres, "debug_io_direct = 'data'\n", None),
        ] {
            let error = decided(dbms, config, option, refuses).0.unwrap_err();
            assert!(error.contains("the file system of /d has no direct IO"), "{error}");
            assert!(error.contains("with --results, or leave out the option"), "{error}");
        }
    }

    #[test]
    fn postgres_reads_through_the_page_cache_unless_an_option_says_otherwise() {
        let reads = |dbms, value: &str| {
            let settings = BTreeMap::from([("debug_io_direct".to_owned(), value.to_owned())]);
            reads_through_page_cache(dbms, &settings)
        };
        assert!(reads_through_page_cache(Dbms::Postgres, &BTreeMap::new()));
        assert!(reads(Dbms::Postgres, "") && reads(Dbms::Postgres, "wal"));
        assert!(!reads(Dbms::Postgres, "data, wal"));
        assert!(!reads(Dbms::Mysql, "") && !reads(Dbms::Mariadb, "") && !reads(Dbms::H2, ""));
    }

    #[test]
    fn a_file_system_without_it_says_so() {
        // /proc has none, on every kernel.
        let error = open_direct(Path::new("/proc/self/status"), false).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(nix::errno::Errno::EINVAL as i32));
    }

    #[test]
    fn the_probe_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        // Either answer is right: it depends on where temporary files are.
        let _ = probe(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        // A directory that is not there is no file system without direct IO.
        let error = probe(&dir.path().join("absent")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
