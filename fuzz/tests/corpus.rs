//! Every target takes its corpus without a panic.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rqps_fuzz::TARGETS;

/// The files of a directory of this crate.
fn files(dir: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_target_takes_its_corpus() {
    for target in TARGETS {
        let inputs = files(&format!("corpus/{}", target.name));
        assert!(!inputs.is_empty(), "{}", target.name);
        for path in inputs {
            (target.read)(&fs::read(path).unwrap());
        }
    }
}

#[test]
fn every_target_has_a_program_a_corpus_and_a_dictionary() {
    let stems = |dir: &str| {
        let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
        files(dir).into_iter().map(stem).collect::<BTreeSet<_>>()
    };
    let names = BTreeSet::from(TARGETS.map(|target| target.name.to_owned()));
    for dir in ["fuzz_targets", "corpus", "dictionaries"] {
        assert_eq!(stems(dir), names, "{dir}");
    }
}
