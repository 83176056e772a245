//! Archives that were put into the cache by hand: good, corrupt, and cut.

use std::io::{Cursor, Write as _};
use std::sync::atomic::AtomicBool;

use sha2::{Digest as _, Sha256};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;
use crate::places::hex;

fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["bin/mysqld", "share/english/errmsg.sys"] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(b"content").unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A catalogue with one server whose archive is `bytes`.
fn catalogue(bytes: &[u8]) -> Catalogue {
    let text = format!(
        r#"
        library = []
        [layout.tree]
        keep = ["bin/", "share/"]
        drop = []
        executable = ["bin/"]
        [[server]]
        dbms = "mysql"
        version = "1.2.3"
        unpacked_mb = 1
        libraries = []
        build = "test"
        compiled = "test"
        [[server.source]]
        from = "maven"
        artifact = "g.roup:artifact:1.2.3:zip"
        sha256 = "{}"
        layout = "tree"
        download_bytes = 100
        "#,
        hex(&Sha256::digest(bytes))
    );
    Catalogue::parse(&text).unwrap()
}

fn run(catalogue: &Catalogue, cache: &Path) -> Result<Installed, Error> {
    let stop = AtomicBool::new(false);
    let mut watch = Watch { stop: &stop, report: &mut |_| {} };
    ensure(catalogue, &catalogue.servers()[0], cache, &mut watch)
}

fn put(cache: &Path, bytes: &[u8]) -> PathBuf {
    fs::create_dir_all(cache.join("downloads")).unwrap();
    let path = cache.join("downloads/artifact-1.2.3.zip");
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn an_archive_put_there_by_hand_is_verified_unpacked_and_removed() {
    let cache = tempfile::tempdir().unwrap();
    let catalogue = catalogue(&archive());
    let entry = &catalogue.servers()[0];
    let path = put(cache.path(), &archive());
    // What an interrupted unpacking left is no prefix.
    let partial = cache.path().join("servers/mysql-1.2.3.partial/bin");
    fs::create_dir_all(&partial).unwrap();
    fs::write(partial.join("mysqld"), b"half").unwrap();
    assert!(!is_cached(entry, cache.path()));
    let installed = run(&catalogue, cache.path()).unwrap();
    assert_eq!(installed.prefix, cache.path().join("servers/mysql-1.2.3"));
    assert_eq!(fs::read(installed.prefix.join("bin/mysqld")).unwrap(), b"content");
    assert!(is_cached(entry, cache.path()) && !path.exists() && !partial.exists());
    // The second time nothing is needed.
    run(&catalogue, cache.path()).unwrap();
    forget(entry, cache.path()).unwrap();
    assert!(!is_cached(entry, cache.path()));
}

#[test]
fn a_corrupt_archive_is_deleted_and_both_sums_are_named() {
    let cache = tempfile::tempdir().unwrap();
    let good = archive();
    let catalogue = catalogue(&good);
    for bad in [&good[..good.len() - 1], b"<html>not found</html>", b""] {
        let path = put(cache.path(), bad);
        let error = run(&catalogue, cache.path()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Checksum { .. }), "{text}");
        assert!(text.contains(&hex(&Sha256::digest(bad))), "{text}");
        assert!(text.contains(&hex(&Sha256::digest(&good))), "{text}");
        assert!(!path.exists() && !is_cached(&catalogue.servers()[0], cache.path()));
    }
}

#[test]
fn a_cut_archive_with_the_right_sum_leaves_no_prefix() {
    let cache = tempfile::tempdir().unwrap();
    let cut = &archive()[..60];
    put(cache.path(), cut);
    let error = run(&catalogue(cut), cache.path()).unwrap_err();
    assert!(matches!(error, Error::CorruptArchive { .. }), "{error}");
    let left: Vec<_> = fs::read_dir(cache.path().join("servers")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
