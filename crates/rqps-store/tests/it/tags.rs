//! Runs in outline, tags and notes, and what is told of who works on a run.

use rqps_model::{Block, RunStatus, StepOutcome};
use rqps_store::{Error, RunRef, Store, Tag};

use crate::generate::{self, Draw};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("results")).unwrap();
    for id in ["r1", "r2"] {
        store.create_run(&generate::plain_run(id)).unwrap();
    }
    (dir, store)
}

#[test]
fn tags_and_notes_come_and_go() {
    let (_dir, store) = store();
    let tag = |text: &str| text.parse::<Tag>();
    for text in ["slow", "release", "slow"] {
        store.add_tag("r1", &tag(text).unwrap()).unwrap();
    }
    assert_eq!(store.list_tags("r1").unwrap(), ["release", "slow"]);
    assert_eq!(store.list_tags("r2").unwrap(), Vec::<String>::new());
    let briefs = store.list_briefly().unwrap();
    let of = |id: &str| briefs.iter().find(|brief| brief.id == id).unwrap().tags.clone();
    assert_eq!((of("r1").len(), of("r2").len()), (2, 0));
    store.remove_tag("r1", &tag("slow").unwrap()).unwrap();
    store.remove_tag("r1", &tag("never-there").unwrap()).unwrap();
    assert_eq!(store.list_tags("r1").unwrap(), ["release"]);
    for bad in ["", " ", "two words", "a,b", "line\nbreak", &"x".repeat(65)] {
        assert!(matches!(tag(bad), Err(Error::BadTag { .. })), "{bad:?}");
    }
    assert!(store.add_tag("nosuch", &tag("x").unwrap()).is_err());
    for n in 0..49 {
        store.add_tag("r1", &tag(&format!("t{n}")).unwrap()).unwrap();
    }
    let error = store.add_tag("r1", &tag("one-more").unwrap()).unwrap_err();
    assert!(matches!(error, Error::TooManyTags { .. }), "{error}");
    store.add_tag("r1", &tag("release").unwrap()).unwrap();

    assert_eq!(store.select_note("r1").unwrap(), None);
    store.set_note("r1", " a new disk\nsince Monday\n").unwrap();
    assert_eq!(store.select_note("r1").unwrap().as_deref(), Some("a new disk\nsince Monday"));
    assert!(matches!(store.set_note("r1", &"x".repeat(4001)), Err(Error::NoteTooLong { .. })));
    store.set_note("r1", "").unwrap();
    assert_eq!(store.select_note("r1").unwrap(), None);
    // They go with their run.
    store.set_note("r1", "x").unwrap();
    store.set_run_status("r1", RunStatus::Finished, Some(1)).unwrap();
    drop(store.artifact_dir("r1").unwrap());
    store.remove_run(&RunRef::Id("r1".to_owned())).unwrap();
    assert_eq!(store.select_note("r1").unwrap(), None);
    store.integrity_check().unwrap();
}

#[test]
fn an_outline_is_the_run_without_its_slices() {
    let (_dir, store) = store();
    let slice = generate::slice(&mut Draw(3), 0);
    store.insert_slice("r1", 1, 0, &slice).unwrap();
    let whole = store.select_run(&RunRef::Id("r1".to_owned())).unwrap();
    let outline = store.select_outline(&RunRef::Id("r1".to_owned())).unwrap();
    let labels: Vec<_> = whole.systems.iter().map(|system| system.spec.label.clone()).collect();
    assert_eq!(outline.brief.systems, labels);
    assert_eq!((outline.brief.base, outline.brief.n_steps), (whole.base, 4));
    assert_eq!(outline.schedule, whole.schedule);
    let infos: Vec<_> = whole.steps.iter().map(|step| &step.info).collect();
    assert_eq!(outline.steps.iter().map(|step| &step.info).collect::<Vec<_>>(), infos);
    assert_eq!(outline.steps[1].n_slices, [1, 0]);
    assert!(outline.steps[1].outcomes.iter().all(|outcome| *outcome == StepOutcome::Pending));
    let blocks = store.select_blocks("r1", 1, 2).unwrap();
    assert_eq!((blocks[0].len(), blocks[1].len()), (1, 0));
    assert!((blocks[0][0].figure() - slice.figure()).abs() <= 1e-9 * slice.figure());
    assert_eq!(store.select_status("r1").unwrap(), RunStatus::Running);
    let wanted = whole.steps[1].info.name.clone();
    let some = store.select_steps_of_run("r1", &|info| info.name == wanted).unwrap();
    assert!(some.steps.iter().all(|step| step.info.name == wanted) && !some.steps.is_empty());
    let kept = &some.steps.last().unwrap().systems[0].slices[0];
    assert!(kept.samples.is_empty() && kept.n_operations == slice.n_operations);
    assert!(store.list_steps().unwrap().iter().any(|info| info.name == wanted));
}

#[test]
fn blocks_are_the_slices_without_what_was_recorded_in_detail() {
    let (_dir, store) = store();
    let mut draw = Draw(9);
    let mut slices: Vec<_> = (0..12).map(|idx| generate::slice(&mut draw, idx)).collect();
    for slice in &mut slices {
        // A number that is written as JSON may lose its last digit.
        slice.stated = None;
        store.insert_slice("r1", 1, 0, slice).unwrap();
    }
    let wanted: Vec<Block> = slices.iter().map(Block::from).collect();
    assert!(wanted.iter().any(|block| block.inserts.is_some() && block.n_due > 0));
    assert_eq!(store.select_blocks("r1", 1, 1).unwrap(), [wanted]);
}

#[test]
fn who_looks_does_not_hold() {
    let (_dir, store) = store();
    assert!(!store.is_held("r1").unwrap(), "nobody ever did");
    let lock = store.lock_run("r1").unwrap();
    assert!(store.is_held("r1").unwrap() && store.is_held("r1").unwrap());
    assert!(!store.is_held("r2").unwrap());
    drop(lock);
    assert!(!store.is_held("r1").unwrap());
    drop(store.lock_run("r1").unwrap());
    assert!(store.is_held("../r1").is_err());
}
