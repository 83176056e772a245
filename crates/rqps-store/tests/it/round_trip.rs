//! What is stored is what is selected, to the last bit.

use proptest::prelude::*;
use rqps_model::{Role, Run, Slice, Stream};
use rqps_store::{Gathered, RunRef, Store};

use crate::generate::{self, Draw};

fn without_slices(run: &Run) -> Run {
    let mut empty = run.clone();
    for system in empty.steps.iter_mut().flat_map(|step| &mut step.systems) {
        system.slices.clear();
    }
    empty
}

fn select(store: &Store, id: &str) -> Run {
    store.select_run(&RunRef::Id(id.to_owned())).unwrap()
}

/// What is left of slices in a small copy.
fn shrink(slices: &mut [Slice]) {
    slices.iter_mut().for_each(|slice| slice.samples.clear());
    gather(slices.iter_mut().map(|slice| &mut slice.response_times).collect());
    let histograms: [fn(&mut Stream) -> &mut Vec<u8>; 3] =
        [|it| &mut it.response_times, |it| &mut it.delays, |it| &mut it.own_delays];
    for (role, of) in Role::ALL.into_iter().flat_map(|role| histograms.map(|of| (role, of))) {
        let streams = slices.iter_mut().flat_map(|slice| &mut slice.streams);
        gather(streams.filter(|stream| stream.role == role).map(of).collect());
    }
}

/// All histograms in the first one; they stand for themselves here, one behind the other.
fn gather(mut histograms: Vec<&mut Vec<u8>>) {
    if histograms.len() > 1 {
        let all = histograms.iter().flat_map(|one| one.iter().copied()).collect();
        histograms.iter_mut().for_each(|one| **one = vec![0xee]);
        *histograms[0] = all;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// As a run is measured: first without slices, then slice by slice, in any order of steps.
    #[test]
    fn slice_by_slice(seed in any::<u64>()) {
        let run = generate::run(&mut Draw(seed));
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.create_run(&without_slices(&run)).unwrap();
        prop_assert_eq!(select(&store, &run.id), without_slices(&run));
        for (step_idx, step) in run.steps.iter().enumerate().rev() {
            for (system_idx, system) in step.systems.iter().enumerate() {
                for slice in &system.slices {
                    store.insert_slice(&run.id, step_idx, system_idx, slice).unwrap();
                }
            }
        }
        prop_assert_eq!(select(&store, &run.id), run.clone());
        // And from a new connection, as a report reads it.
        let again = Store::open_existing(dir.path()).unwrap();
        prop_assert_eq!(select(&again, &run.id), run);
        again.integrity_check().unwrap();
    }

    /// Into another store, in full and small.
    #[test]
    fn from_store_to_store(seed in any::<u64>()) {
        let mut run = generate::run(&mut Draw(seed));
        let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let [from, whole, small] = [0, 1, 2].map(|at| Store::open(dirs[at].path()).unwrap());
        from.create_run(&run).unwrap();
        whole.take_run(&from, &run.id).unwrap();
        prop_assert_eq!(select(&whole, &run.id), run.clone());
        let gather = |all: &[&[u8]]| {
            (all.len() > 1).then(|| Gathered { all: all.concat(), empty: vec![0xee] })
        };
        small.take_small_run(&from, &run.id, &gather).unwrap();
        run.steps.iter_mut().flat_map(|step| &mut step.systems).for_each(|s| shrink(&mut s.slices));
        prop_assert_eq!(select(&small, &run.id), run);
    }

    /// As a run is imported: at once.
    #[test]
    fn at_once(seed in any::<u64>()) {
        let run = generate::run(&mut Draw(seed));
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.create_run(&run).unwrap();
        prop_assert_eq!(select(&store, &run.id), run);
    }
}

/// Counters end at 2^63 - 1: 292 years of nanoseconds. Beyond, nothing is stored at all.
#[test]
fn what_does_not_fit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let mut slice = generate::slice(&mut Draw(7), 0);
    slice.samples.resize_with(2, Default::default);
    slice.samples[1].client.read_bytes = u64::MAX;
    let error = store.insert_slice("r1", 0, 0, &slice).unwrap_err();
    assert!(error.to_string().starts_with("cannot store slice 0 of step 0 on system 0 of run r1"));
    assert!(select(&store, "r1").steps[0].systems[0].slices.is_empty());
}
