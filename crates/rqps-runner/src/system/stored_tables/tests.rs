//! What the store finds, refuses and leaves alone.

use std::os::unix::fs::symlink;

use super::*;

fn key() -> TablesKey {
    TablesKey {
        rqps: "1.0".to_owned(),
        dbms: "mysql".to_owned(),
        version: "8.0.33".to_owned(),
        origin: "somewhere".to_owned(),
        build: BTreeMap::from([("compiled".to_owned(), "gcc".to_owned())]),
        user: 7,
        has_tls: false,
        engine: "innodb".to_owned(),
        compression: "none".to_owned(),
        tables: 2,
        rows: 10,
        secondary: false,
        distribution: "uniform".to_owned(),
        seed: u64::MAX.to_string(),
        sample: vec!["CREATE TABLE \"a\"\n(id)".to_owned()],
        sql_after_load: Vec::new(),
        settles: true,
        initdb_arguments: Vec::new(),
        config: "[mysqld]\nport='1'\n".to_owned(),
    }
}

/// Tables in a store without an instance's own files.
fn stored(store: &TablesStore, key: &TablesKey) -> PathBuf {
    let dir = store.dir(key);
    fs::create_dir_all(dir.join("instance/data")).unwrap();
    fs::write(dir.join("instance/data/t.ibd"), "rows").unwrap();
    let files = instance::file_sizes(&dir.join(INSTANCE)).unwrap();
    let sizes = vec![Sizes { database_bytes: Some(1), ..Sizes::default() }, Sizes::default()];
    let tables =
        StoredTables { run: "r".to_owned(), filled_unix_ms: 5, sizes, key: key.clone(), files };
    write_entry(&dir, &tables).unwrap();
    assert_eq!(store.find(key), Found::Tables(Box::new(tables)));
    dir
}

#[test]
fn a_key_is_compared_in_full() {
    let top = tempfile::tempdir().unwrap();
    let store = TablesStore { root: top.path().join(ROOT) };
    assert_eq!(store.find(&key()), Found::Nothing);
    let dir = stored(&store, &key());
    // As with two keys of one hash.
    let other = TablesKey { config: String::new(), ..key() };
    fs::rename(&dir, store.dir(&other)).unwrap();
    assert_eq!(store.find(&other), Found::Nothing);
}

#[test]
fn files_that_are_not_as_they_were_stored_are_named() {
    let top = tempfile::tempdir().unwrap();
    let store = TablesStore { root: top.path().join(ROOT) };
    let dir = stored(&store, &key());
    let found = || match store.find(&key()) {
        Found::Broken(why) => why,
        other => panic!("{other:?}"),
    };
    let file = dir.join("instance/data/t.ibd");
    fs::write(&file, "row").unwrap();
    assert!(found().ends_with("data/t.ibd has 3 bytes and had 4"), "{}", found());
    fs::remove_file(&file).unwrap();
    assert!(found().ends_with("data/t.ibd is missing"), "{}", found());
    fs::write(&file, "rows").unwrap();
    symlink("/etc/passwd", dir.join("instance/data/link")).unwrap();
    assert!(found().ends_with("data/link was not stored"), "{}", found());
    fs::write(dir.join(ENTRY), "run = ").unwrap();
    assert!(found().contains("read ") && found().contains(ENTRY), "{}", found());
}

#[test]
fn somebody_s_files_in_the_store_stay() {
    let top = tempfile::tempdir().unwrap();
    let store = TablesStore { root: top.path().join(ROOT) };
    let dir = stored(&store, &key());
    let error = store.remove(&key()).unwrap_err();
    assert!(format!("{error:#}").contains("files that rqps did not create"), "{error:#}");
    assert_eq!(fs::read_to_string(dir.join("instance/data/t.ibd")).unwrap(), "rows");
}
