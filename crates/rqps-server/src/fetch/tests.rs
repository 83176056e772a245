//! Archives that were put into the cache by hand: good, corrupt, and cut.

use std::io::{Cursor, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

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
    Catalogue::parse(&catalogue_text(bytes)).unwrap()
}

fn catalogue_text(bytes: &[u8]) -> String {
    format!(
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
    )
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
    // Another layout of the same archive is another prefix.
    let mut text = catalogue_text(&archive());
    text = text.replace("\"share/\"]", "\"share/\", \"lib/\"]");
    let other = Catalogue::parse(&text).unwrap();
    assert!(!is_cached(&other.servers()[0], cache.path()));
    // Neither it nor nothing takes the place of what is in use.
    put(cache.path(), &archive());
    let stop = AtomicBool::new(false);
    let mut waited = Vec::new();
    let mut report = |progress: Progress<'_>| {
        if let Progress::Waiting { what } = progress {
            waited.push(what.to_owned());
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut watch = Watch { stop: &stop, report: &mut report };
    let error = ensure(&other, &other.servers()[0], cache.path(), &mut watch).unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert!(matches!(forget(entry, cache.path(), &mut watch), Err(Error::Interrupted { .. })));
    assert!(waited[0].contains("the server to be replaced"), "{waited:?}");
    assert!(is_cached(entry, cache.path()) && installed.program.is_file());
    drop(installed);
    let installed = run(&other, cache.path()).unwrap();
    assert!(is_cached(&other.servers()[0], cache.path()) && !is_cached(entry, cache.path()));
    drop(installed);
    let stop = AtomicBool::new(false);
    let mut watch = Watch { stop: &stop, report: &mut |_| {} };
    forget(entry, cache.path(), &mut watch).unwrap();
    assert!(!cache.path().join("servers/mysql-1.2.3").exists());
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

#[test]
fn sources_are_tried_in_order_and_each_failure_is_told() {
    let cache = tempfile::tempdir().unwrap();
    let good = archive();
    let own = cache.path().join("mine.zip");
    let source = |name: &str, checksum: &str| {
        format!(
            "[[server.source]]\nfrom = \"file\"\npath = \"{}/{name}\"\nlayout = \"tree\"\n\
             checksum = \"sha256:{checksum}\"\n",
            cache.path().display()
        )
    };
    let zeros = "0".repeat(64);
    let sum = hex(&Sha256::digest(&good));
    // The Maven source goes: what it says depends on the host.
    let text = catalogue_text(&good);
    let server = &text[..text.find("[[server.source]]").unwrap()];
    let parse = |sources: &[String]| {
        Catalogue::parse(&format!("{server}\n{}", sources.join("\n"))).unwrap()
    };
    fs::write(&own, &good).unwrap();
    let bad = parse(&[source("absent.zip", &sum), source("mine.zip", &zeros)]);
    let text = run(&bad, cache.path()).unwrap_err().to_string();
    let text = text.replace(&cache.path().display().to_string(), "DIR").replace(&sum, "SUM");
    expect_test::expect![[r#"
        mysql-1.2.3 is not available from any of its 2 sources:
          file: DIR/absent.zip does not exist; correct `path` in the catalogue, or put the archive there
          file: DIR/mine.zip is corrupt: its SHA-256 is SUM, the catalogue says 0000000000000000000000000000000000000000000000000000000000000000; it is not the archive of the catalogue; correct `path` or `checksum` there"#]].assert_eq(&text);
    // A file of the user's is never deleted, neither when it is wrong nor when it was used.
    assert!(own.is_file());
    let good = parse(&[source("absent.zip", &sum), source("mine.zip", &sum)]);
    run(&good, cache.path()).unwrap();
    assert!(own.is_file() && is_cached(&good.servers()[0], cache.path()));
}

/// What an archive without a checksum is, is what it was when the catalogue was read: the program of one is never
/// taken for that of another.
#[test]
fn an_archive_that_is_replaced_meanwhile_makes_no_server() {
    let cache = tempfile::tempdir().unwrap();
    let own = cache.path().join("mine.zip");
    let text = catalogue_text(&[]);
    let server = &text[..text.find("[[server.source]]").unwrap()];
    let source = format!(
        "[[server.source]]\nfrom = \"file\"\npath = \"{}\"\nlayout = \"tree\"\n",
        own.display()
    );
    let read = || Catalogue::parse(&format!("{server}\n{source}")).unwrap();
    fs::write(&own, archive()).unwrap();
    let before = read();
    fs::remove_file(&own).unwrap();
    fs::write(&own, [archive(), vec![0]].concat()).unwrap();
    let error = run(&before, cache.path()).unwrap_err();
    assert!(matches!(error, Error::FileChanged { .. }), "{error}");
    assert_eq!(fs::read_dir(cache.path().join("servers")).unwrap().count(), 0);
    // The next command takes it as what it is, for as long as its catalogue is the one that it read.
    fs::write(&own, archive()).unwrap();
    let now = read();
    run(&now, cache.path()).unwrap();
    fs::write(&own, [archive(), vec![0]].concat()).unwrap();
    assert!(is_cached(&now.servers()[0], cache.path()));
    assert!(!is_cached(&read().servers()[0], cache.path()));
}

#[test]
fn a_server_for_another_machine_is_refused_before_anything_is_fetched() {
    let cache = tempfile::tempdir().unwrap();
    let text = catalogue_text(&archive()).replace("build =", "arch = \"vax\"\nbuild =");
    let error = run(&Catalogue::parse(&text).unwrap(), cache.path()).unwrap_err().to_string();
    assert!(error.starts_with("mysql-1.2.3 is for vax, this machine is "), "{error}");
}

#[test]
fn what_is_wrong_in_the_cache_is_told_with_the_remedy() {
    use std::os::unix::fs::PermissionsExt as _;
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let catalogue = catalogue(&archive());
    let entry = &catalogue.servers()[0];
    put(cache.path(), &archive());
    let installed = run(&catalogue, cache.path()).unwrap();
    let found = || {
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let scratch = cache.path().join("scratch");
        findings(&catalogue, cache.path(), &scratch, &mut watch).unwrap().join("\n")
    };
    // Put there by another process: this one forks beside, and what it has open to write cannot be run.
    let put_program = |text: &str| {
        let from = cache.path().join("script");
        fs::write(&from, text).unwrap();
        let mut install = std::process::Command::new("install");
        let done = install.args(["-m", "755"]).args([&from, &installed.program]).status();
        assert!(done.unwrap().success());
        fs::remove_file(from).unwrap();
    };
    // A program without a loader cannot be executed at all.
    put_program("#!/no/such/loader\n");
    assert!(found().contains("bin/mysqld cannot be run: No such file or directory"), "{}", found());
    put_program("#!/bin/sh\necho 'mysqld  Ver 1.2.3 for Linux'\n");
    assert_eq!(found(), "");
    // One that was moved with the C library that came with it is not there for a run.
    let lib = installed.prefix.join("usr/lib/x86_64-linux-gnu");
    fs::create_dir_all(&lib).unwrap();
    fs::write(lib.join("ld-linux-x86-64.so.2"), b"elf").unwrap();
    fs::copy(std::env::current_exe().unwrap(), &installed.program).unwrap();
    assert!(!is_cached(entry, cache.path()));
    let told = found();
    assert!(told.contains("mysql-1.2.3 in ") && told.contains("was moved or copied"), "{told}");
    assert!(told.contains("`rqps servers fetch mysql@1.2.3` fetches it again"), "{told}");
}
