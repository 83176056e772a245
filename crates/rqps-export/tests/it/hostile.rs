//! Archives made up to write elsewhere or to bring something along.

use std::path::Path;

use rqps_export::{Error, archive};
use rqps_store::Store;
use sha2::{Digest as _, Sha256};

use crate::{ID, store};

/// A file of an archive: its name, its kind and its bytes.
type File<'a> = (&'a str, tar::EntryType, &'a [u8]);

/// An archive with these files and a manifest that names them.
fn made_up(path: &Path, files: &[File<'_>]) {
    let entries: Vec<String> = files
        .iter()
        .map(|(name, _, bytes)| {
            let digest = Sha256::digest(bytes);
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!(r#"{{"name": "{name}", "bytes": {}, "sha256": "{hex}"}}"#, bytes.len())
        })
        .collect();
    let manifest = format!(
        r#"{{"format": 1, "run_id": "{ID}", "rqps_version": "0", "files": [{}]}}"#,
        entries.join(", ")
    );
    let out = std::fs::File::create(path).unwrap();
    let mut tar = tar::Builder::new(zstd::Encoder::new(out, 1).unwrap());
    let first: File<'_> = ("manifest.json", tar::EntryType::Regular, manifest.as_bytes());
    for (name, kind, bytes) in std::iter::once(&first).chain(files) {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        // The library itself refuses such names where it writes.
        let field = &mut header.as_mut_bytes()[..100];
        field[..name.len()].copy_from_slice(name.as_bytes());
        if *kind == tar::EntryType::Symlink {
            header.set_link_name("/etc").unwrap();
        }
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

/// The database of a run by itself, after `change`.
fn database(dir: &Path, change: &str) -> Vec<u8> {
    let here = store(&dir.join("own"));
    let path = here.path().to_path_buf();
    here.close_into_one_file().unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(change).unwrap();
    drop(connection);
    std::fs::read(path).unwrap()
}

fn refusal(files: &[File<'_>], dir: &Path) -> Error {
    let there = Store::open(&dir.join("there")).unwrap();
    let path = dir.join("made-up.tar.zst");
    made_up(&path, files);
    let error = archive::read(&path, &there).unwrap_err();
    assert!(there.list_runs().unwrap().is_empty());
    assert!(!there.dir().join("artifacts").join(ID).exists());
    error
}

#[test]
fn no_name_leads_out_of_the_archive() {
    let dir = tempfile::tempdir().unwrap();
    let good = database(dir.path(), "");
    let regular = tar::EntryType::Regular;
    for name in [
        "../evil",
        "/tmp/rqps-evil",
        "artifacts/../../evil",
        "artifacts/./evil",
        "artifacts//evil",
        "elsewhere/evil",
        "artifacts/",
        // Of a run that is worked on, not of what was measured.
        "artifacts/lock",
        "artifacts/live",
        "artifacts/live/evil",
    ] {
        let files = [("rqps.db", regular, good.as_slice()), (name, regular, b"evil".as_slice())];
        let error = refusal(&files, dir.path());
        assert!(matches!(error, Error::Damaged { .. }), "{name}: {error}");
        assert!(!dir.path().join("evil").exists() && !Path::new("/tmp/rqps-evil").exists());
    }
}

#[test]
fn only_plain_files_come_in() {
    let dir = tempfile::tempdir().unwrap();
    let good = database(dir.path(), "");
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory] {
        let files = [
            ("rqps.db", tar::EntryType::Regular, good.as_slice()),
            ("artifacts/link", kind, b"".as_slice()),
        ];
        let error = refusal(&files, dir.path());
        assert!(matches!(error, Error::Damaged { .. }), "{kind:?}: {error}");
    }
}

/// A store that brings a trigger, a view or another table would act when it is read.
#[test]
fn a_store_with_more_than_ours() {
    for change in [
        "CREATE TRIGGER more AFTER INSERT ON run BEGIN SELECT 1; END;",
        "CREATE VIEW more AS SELECT * FROM run;",
        "CREATE TABLE more (x TEXT);",
        "PRAGMA application_id = 7;",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let bytes = database(dir.path(), change);
        let files = [("rqps.db", tar::EntryType::Regular, bytes.as_slice())];
        let error = refusal(&files, dir.path());
        assert!(
            matches!(error, Error::Store(rqps_store::Error::NotOurs { .. })),
            "{change}: {error}"
        );
    }
    for change in ["PRAGMA user_version = 3;", "PRAGMA user_version = 99;"] {
        let dir = tempfile::tempdir().unwrap();
        let bytes = database(dir.path(), change);
        let error = refusal(&[("rqps.db", tar::EntryType::Regular, bytes.as_slice())], dir.path());
        assert!(matches!(error, Error::Store(rqps_store::Error::OtherSchema { .. })), "{error}");
    }
}

/// The manifest's run must be the only one of the store.
#[test]
fn a_store_of_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = database(
        dir.path(),
        "UPDATE run SET name = 'x'; PRAGMA foreign_keys = OFF; UPDATE run SET run_id = 'y';",
    );
    let error = refusal(&[("rqps.db", tar::EntryType::Regular, bytes.as_slice())], dir.path());
    assert!(matches!(error, Error::Store(_) | Error::NotAnArchive { .. }), "{error}");
}

/// One run that cannot be read would keep lists and histories of all from being made.
#[test]
fn a_run_that_cannot_be_read() {
    for change in [
        "UPDATE run SET schedule = '{}';",
        "UPDATE run SET seed = 'seven';",
        "UPDATE step SET kind = 'dance';",
        "UPDATE step SET n_clients = -1;",
        "UPDATE run SET base_system_idx = 99;",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let bytes = database(dir.path(), change);
        let regular = tar::EntryType::Regular;
        let error = refusal(&[("rqps.db", regular, bytes.as_slice())], dir.path());
        assert!(matches!(error, Error::Store(_)), "{change}: {error}");
    }
    // Nor one whose stacks cannot be.
    let dir = tempfile::tempdir().unwrap();
    let facts =
        "INSERT INTO stack_profile (run_id, step_idx, system_idx, start_unix_ms, duration_ns,
                   n_operations, server_cpu_ns, facts)
                 SELECT run_id, 0, 0, 0, 1, 1, 1, '{}' FROM run";
    let bytes = database(dir.path(), facts);
    let files = [("rqps.db", tar::EntryType::Regular, bytes.as_slice())];
    let error = refusal(&files, dir.path());
    assert!(error.to_string().contains("read the stack profiles"), "{error}");
}

/// The archive of `manifest` with what `more` adds to it.
fn with_manifest(path: &Path, manifest: &str, more: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = Vec::new();
    {
        let mut tar = tar::Builder::new(&mut bytes);
        let mut header = tar::Header::new_gnu();
        header.set_path("manifest.json").unwrap();
        header.set_size(manifest.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, manifest.as_bytes()).unwrap();
    }
    // Without the empty blocks at its end.
    bytes.truncate(bytes.len() - 1024);
    more(&mut bytes);
    std::fs::write(path, zstd::encode_all(bytes.as_slice(), 1).unwrap()).unwrap();
}

#[test]
fn what_expands_without_end_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let there = Store::open(&dir.path().join("there")).unwrap();
    let path = dir.path().join("bomb.tar.zst");
    let zero = "0".repeat(64);
    let manifest = |bytes: u64| {
        format!(
            r#"{{"format": 1, "run_id": "{ID}", "rqps_version": "0",
                "files": [{{"name": "rqps.db", "bytes": {bytes}, "sha256": "{zero}"}}]}}"#
        )
    };
    let header = |kind, bytes: u64| {
        let mut header = tar::Header::new_gnu();
        header.set_path("rqps.db").unwrap();
        header.set_entry_type(kind);
        header.set_size(bytes);
        header.set_cksum();
        header
    };
    // It says so itself.
    with_manifest(&path, &manifest(1 << 50), |_| {});
    let error = archive::read(&path, &there).unwrap_err().to_string();
    assert!(error.contains("would expand to 1125899906842624"), "{error}");
    // A file larger than it says, and one whose name has no end.
    for kind in [tar::EntryType::Regular, tar::EntryType::GNULongName] {
        with_manifest(&path, &manifest(10), |bytes| {
            bytes.extend(header(kind, 64 << 20).as_bytes());
            bytes.resize(bytes.len() + (64 << 20), b'a');
        });
        let error = archive::read(&path, &there).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("more than its manifest says"), "{error}");
    }
    // What files may take, names and other headers may not.
    for kind in [tar::EntryType::GNULongName, tar::EntryType::GNULongLink, tar::EntryType::XHeader]
    {
        with_manifest(&path, &manifest(64 << 20), |bytes| {
            bytes.extend(header(kind, 1 << 20).as_bytes());
            bytes.resize(bytes.len() + (1 << 20), b'a');
            bytes.extend(header(tar::EntryType::Regular, 0).as_bytes());
        });
        let error = archive::read(&path, &there).unwrap_err();
        assert!(error.to_string().contains("more than its manifest says"), "{kind:?}: {error}");
    }
    // Files may take some GiB, the store may not.
    with_manifest(&path, &manifest(2 << 30), |_| {});
    let error = archive::read(&path, &there).unwrap_err().to_string();
    assert!(error.contains("its rqps.db and stacks would have 2147483648 bytes"), "{error}");
    assert!(there.list_runs().unwrap().is_empty());
}
