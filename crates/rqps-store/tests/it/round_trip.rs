//! What is stored is what is selected, to the last bit.

use proptest::prelude::*;
use rqps_model::{ProcessCounters, Role, Run, RunStep, Slice, StepKind, Stream, Usage};
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

/// What is left of a run in a small copy that keeps the server's counters whose names have an even length.
fn shrink(run: &mut Run) {
    for step in &mut run.steps {
        let is_plain = matches!(step.info.kind, StepKind::Read | StepKind::Write)
            && step.systems.iter().flat_map(|system| &system.slices).all(|s| s.streams.is_empty());
        for system in &mut step.systems {
            let n = system.slices.len();
            for (slice, at) in system.slices.iter_mut().zip(1..) {
                slice.samples.clear();
                if is_plain && slice.n_rounds.is_some() {
                    slice.series.clear();
                }
                slice.counters.retain(|name, _| is_kept(name));
                forget(&mut slice.usage, at == n);
            }
        }
    }
    let histograms: [fn(&mut Stream) -> &mut Vec<u8>; 3] =
        [|it| &mut it.response_times, |it| &mut it.delays, |it| &mut it.own_delays];
    for (of, system_idx) in joined(run) {
        let steps = run.steps.iter_mut().enumerate().filter(|(at, _)| of.contains(at));
        let systems = steps.filter_map(|(_, step)| step.systems.get_mut(system_idx));
        let mut slices: Vec<&mut Slice> = systems.flat_map(|system| &mut system.slices).collect();
        gather(slices.iter_mut().map(|slice| &mut slice.response_times).collect());
        for (role, of) in Role::ALL.into_iter().flat_map(|role| histograms.map(|of| (role, of))) {
            let streams = slices.iter_mut().flat_map(|slice| &mut slice.streams);
            gather(streams.filter(|stream| stream.role == role).map(of).collect());
        }
    }
}

fn is_kept(counter: &str) -> bool {
    counter.len().is_multiple_of(2)
}

/// What no report reads; resident memory is read of a step's last slice.
fn forget(usage: &mut Usage, is_last: bool) {
    let host = &mut usage.host;
    (host.procs_running, host.procs_blocked, host.memory_available_bytes) = (0, 0, 0);
    (host.swap_in_pages, host.swap_out_pages) = (0, 0);
    if let Some(server) = &mut usage.server {
        (server.n_processes, server.n_threads) = (0, 0);
        if !is_last {
            server.rss_bytes = 0;
        }
    }
    usage.client = ProcessCounters {
        cpu_user_ns: usage.client.cpu_user_ns,
        cpu_total_ns: usage.client.cpu_total_ns,
        ..ProcessCounters::default()
    };
    if let Some(storage) = &mut usage.storage {
        storage.busy_ns = 0;
    }
}

/// The steps that reports join, by their place in the run, with each system.
fn joined(run: &Run) -> Vec<(Vec<usize>, usize)> {
    let mut groups: Vec<(_, Vec<usize>)> = Vec::new();
    for (at, step) in run.steps.iter().enumerate() {
        let name = step.info.name.as_str();
        let of = |step: &RunStep| (step.info.name == name, step.clients, step.start);
        let nth = run.steps[..at].iter().filter(|&other| of(other) == of(step)).count();
        let key = (name, step.clients, nth);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, steps)) => steps.push(at),
            None => groups.push((key, vec![at])),
        }
    }
    let n_systems = run.systems.len();
    let each = |(_, of): (_, Vec<usize>)| (0..n_systems).map(move |idx| (of.clone(), idx));
    groups.into_iter().flat_map(each).collect()
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
        // The steps on another start of the servers.
        let mut again = run.steps.clone();
        again.iter_mut().for_each(|step| step.start = step.start.wrapping_add(1));
        run.steps.extend(again);
        let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let [from, whole, small] = [0, 1, 2].map(|at| Store::open(dirs[at].path()).unwrap());
        from.create_run(&run).unwrap();
        whole.take_run(&from, &run.id).unwrap();
        prop_assert_eq!(select(&whole, &run.id), run.clone());
        let gather = |all: &[&[u8]]| {
            (all.len() > 1).then(|| Gathered { all: all.concat(), empty: vec![0xee] })
        };
        let slices = run.steps.iter().flat_map(|step| &step.systems).flat_map(|s| &s.slices);
        let names = slices.flat_map(|slice| slice.counters.keys()).filter(|name| is_kept(name));
        let names: Vec<String> = names.cloned().collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        small.take_small_run(&from, &run.id, &gather, &names).unwrap();
        shrink(&mut run);
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
