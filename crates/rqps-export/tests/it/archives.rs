//! Archives that are whole, and such that are not.

use rqps_export::archive::Extent;
use rqps_export::{Error, archive};
use rqps_store::Store;

use crate::{ID, run_ref, store};

#[test]
fn a_run_comes_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let here = store(&dir.path().join("here"));
    let file = dir.path().join("run.tar.zst");
    assert_eq!(archive::write(&here, &run_ref(), &file, Extent::Whole, "0.1.0").unwrap(), ID);
    // Another run with slices of its own is there already: ids of slices must not meet.
    let there = store(&dir.path().join("there"));
    let mut other = there.select_run(&run_ref()).unwrap();
    there.remove_run(&run_ref()).unwrap();
    "other".clone_into(&mut other.id);
    there.create_run(&other).unwrap();
    assert_eq!(archive::read(&file, &there).unwrap(), ID);
    assert_eq!(there.select_run(&run_ref()).unwrap(), here.select_run(&run_ref()).unwrap());
    assert_eq!(there.select_run(&"other".parse().unwrap()).unwrap(), other);
    assert_eq!(there.list_artifacts(ID).unwrap(), here.list_artifacts(ID).unwrap());
    let own = there.artifact_dir(ID).unwrap();
    let read = |name: &str| std::fs::read_to_string(own.join(name)).unwrap();
    assert_eq!(read("server.log"), "started\n");
    assert_eq!(read("stacks/00-0-cpu.folded"), "main;work 7\n");
    there.integrity_check().unwrap();
    let error = archive::read(&file, &there).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    // Nothing is left of the work.
    let names = |dir: &std::path::Path| -> Vec<String> {
        let all = std::fs::read_dir(dir).unwrap();
        all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    assert!(names(there.dir()).iter().all(|name| !name.starts_with(".archive")));
    assert!(names(dir.path()).iter().all(|name| !name.ends_with("part")));
}

/// What a run that was killed told last is no part of it, and no archive may bring it.
#[test]
fn how_a_run_stands_stays_behind() {
    let dir = tempfile::tempdir().unwrap();
    let here = store(&dir.path().join("here"));
    std::fs::write(here.artifact_dir(ID).unwrap().join("live"), "half a word").unwrap();
    let file = dir.path().join("run.tar.zst");
    archive::write(&here, &run_ref(), &file, Extent::Whole, "0.1.0").unwrap();
    let there = Store::open(&dir.path().join("there")).unwrap();
    assert_eq!(archive::read(&file, &there).unwrap(), ID);
    assert!(!there.artifact_dir(ID).unwrap().join("live").exists());
}

#[test]
fn what_a_killed_import_has_unpacked_goes_with_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let here = store(&dir.path().join("here"));
    let file = dir.path().join("run.tar.zst");
    archive::write(&here, &run_ref(), &file, Extent::Whole, "0.1.0").unwrap();
    let there = Store::open(&dir.path().join("there")).unwrap();
    let left = there.dir().join(".archive-aB3dE6");
    std::fs::create_dir(&left).unwrap();
    let words = "made by rqps for a while, and removed when it is done\n";
    std::fs::write(left.join(".in-use"), words).unwrap();
    std::fs::write(left.join("rqps.db"), "half of it").unwrap();
    assert_eq!(archive::read(&file, &there).unwrap(), ID);
    assert!(!left.exists());
}

/// Read where it lies, in full and small: the same rates, and its files where a store has them.
#[test]
fn an_archive_that_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let here = store(&dir.path().join("here"));
    let temp = dir.path().join("temp");
    std::fs::create_dir(&temp).unwrap();
    // A report that was killed has left what it had unpacked.
    let left = temp.join("rqps-archive-aB3dE6");
    std::fs::create_dir(&left).unwrap();
    let words = "made by rqps for a while, and removed when it is done\n";
    std::fs::write(left.join(".in-use"), words).unwrap();
    for extent in [Extent::Whole, Extent::Small] {
        let file = dir.path().join("run.tar.zst");
        archive::write(&here, &run_ref(), &file, extent, "0.1.0").unwrap();
        let opened = archive::open(&file, &temp).unwrap();
        assert_eq!(opened.run_id(), ID);
        let run = opened.store().select_run(&run_ref()).unwrap();
        assert_eq!(run.steps.len(), here.select_run(&run_ref()).unwrap().steps.len());
        let own = opened.store().artifact_dir(ID).unwrap();
        let read = |name: &str| std::fs::read_to_string(own.join(name)).unwrap();
        assert_eq!(read("server.log"), "started\n");
        assert_eq!(read("stacks/00-0-cpu.folded"), "main;work 7\n");
        drop(opened);
        assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 0, "something is left");
    }
}

/// Cut off anywhere, an archive is refused and leaves nothing behind.
#[test]
fn half_an_archive() {
    let dir = tempfile::tempdir().unwrap();
    let here = store(&dir.path().join("here"));
    let file = dir.path().join("run.tar.zst");
    archive::write(&here, &run_ref(), &file, Extent::Whole, "0.1.0").unwrap();
    let whole = std::fs::read(&file).unwrap();
    let there = Store::open(&dir.path().join("there")).unwrap();
    let part = dir.path().join("part.tar.zst");
    for share in [0, 1, 5, 20, 50, 80, 95, 99] {
        std::fs::write(&part, &whole[..whole.len() * share / 100]).unwrap();
        let error = archive::read(&part, &there).unwrap_err();
        assert!(
            matches!(error, Error::Incomplete { .. } | Error::NotAnArchive { .. }),
            "{share}%: {error}"
        );
        assert!(there.list_runs().unwrap().is_empty(), "{share}%");
        assert!(!there.dir().join("artifacts").join(ID).exists(), "{share}%");
    }
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bent = whole.clone();
        bent[at] ^= 0x10;
        std::fs::write(&part, &bent).unwrap();
        // Some bits of the envelope mean nothing; what comes in is then as it was.
        if archive::read(&part, &there).is_ok() {
            assert_eq!(there.select_run(&run_ref()).unwrap(), here.select_run(&run_ref()).unwrap());
            there.remove_run(&run_ref()).unwrap();
        }
        assert!(there.list_runs().unwrap().is_empty(), "byte {at}");
    }
}

#[test]
fn what_is_no_archive() {
    let dir = tempfile::tempdir().unwrap();
    let there = Store::open(&dir.path().join("there")).unwrap();
    let file = dir.path().join("notes.tar.zst");
    std::fs::write(&file, "hello, this is no archive of anything\n").unwrap();
    let error = archive::read(&file, &there).unwrap_err();
    assert!(matches!(error, Error::NotAnArchive { .. }), "{error}");
    let error = archive::read(&dir.path().join("nowhere"), &there).unwrap_err();
    assert!(matches!(error, Error::File { action: "read", .. }), "{error}");
}
