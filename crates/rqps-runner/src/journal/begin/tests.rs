//! Runs of a plan in a store of their own, begun by several processes and after changes of the host.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rqps_model::calibration::Best;
use rqps_model::{Host, Schedule};

use super::*;
use crate::plan::launches;
use crate::{PlanFile, on_this_host};

const CPUS: [usize; 2] = [0, 1];

fn context(results: &Path) -> Environment {
    Environment {
        results: results.to_owned(),
        cache: results.join("cache"),
        catalogue: Arc::new(rqps_server::Catalogue::builtin().unwrap()),
        temp: results.to_owned(),
        stopped_by: Arc::default(),
        interrupt: Arc::new(AtomicBool::new(false)),
        command_line: ["rqps", "run", "plan.toml"].map(str::to_owned).to_vec(),
        rqps_version: "0.1.0".to_owned(),
        new_run: false,
        allow_settings: false,
        drawn_seed: 1,
        suspension: crate::Suspension::default(),
        variables: |_| None,
        watchdog: Vec::new(),
        trial: rqps_server::Trial::default(),
        templates: None,
        patience: rqps_server::Patience::default(),
        wait_for_quiet: None,
    }
}

fn plan(schedule: &str) -> Plan {
    let text = format!(
        "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'b'\n\
         [[suite]]\nsteps = ['point-query']\n[schedule]\n{schedule}"
    );
    let catalogue = rqps_server::Catalogue::builtin().unwrap();
    PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap()
}

/// Begins a run as a command does; what it was told beside.
fn begin(plan: &Plan, store: &Store, environment: &Environment) -> Result<(Begun, Vec<String>)> {
    let mut told = Vec::new();
    let mut listen = |event: Event<'_>| {
        if let Event::Note(text) = event {
            told.push(text.to_owned());
        }
    };
    let (plan, decided) = on_this_host(plan.clone(), store, environment, &mut listen)?;
    let planned = launches::of_plan(&plan, &CPUS, true)?;
    let host = rqps_sample::host_info(&environment.results)?;
    let begun = run(
        &plan,
        OnHost { steps: planned, cpus: &CPUS, host: &host },
        store,
        environment,
        &mut listen,
    )?;
    told.extend(decided);
    Ok((begun, told))
}

fn calibration(host: &Host, made_unix_ms: i64, placement: Placement, slice_ms: u32) -> Calibration {
    Calibration {
        made_unix_ms,
        rqps_version: "0.1.0".to_owned(),
        host: host.clone(),
        system: "PostgreSQL 17.4".to_owned(),
        seconds: 10.0,
        trials: Vec::new(),
        best: vec![Best { clients: 64, placement }],
        slice_ms,
        floors: Vec::new(),
        starts: Vec::new(),
        power: Vec::new(),
        n_slices: 0,
        disturbances: Vec::new(),
        narrowest: None,
    }
}

#[test]
fn a_run_resumes_with_its_own_steps_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (store, environment) = (Store::open(dir.path()).unwrap(), context(dir.path()));
    let (Begun { run, steps, .. }, _) = begin(&plan(""), &store, &environment).unwrap();
    assert_eq!(why_not(&run, &steps, &run.host, &environment), None);
    let mut edited = steps.clone();
    let last = edited.len() - 1;
    edited[last].info.what.push_str(" with another n");
    let name = &run.steps[last].info.name;
    assert_eq!(
        why_not(&run, &edited, &run.host, &environment),
        Some(format!("step {name} has changed"))
    );
    let why = why_not(&run, &steps[1..], &run.host, &environment).unwrap();
    let n = steps.len();
    assert_eq!(why, format!("its suite had {n} steps and now has {}", n - 1));
    let mut moved = steps.clone();
    moved[last].placement = Placement::Split;
    let why = why_not(&run, &moved, &run.host, &environment).unwrap();
    let was = run.steps[last].placement;
    assert_eq!(why, format!("the placement of step {name} was {was} and is now split"));
    let newer = Environment { rqps_version: "0.2.0".to_owned(), ..environment };
    let why = why_not(&run, &steps, &run.host, &newer).unwrap();
    assert_eq!(why, "rqps 0.1.0 began it, this is rqps 0.2.0");
}

/// The statements of the steps are the same, and what they are executed with is not.
#[test]
fn a_run_does_not_resume_with_other_parameters() {
    let dir = tempfile::tempdir().unwrap();
    let (store, environment) = (Store::open(dir.path()).unwrap(), context(dir.path()));
    let suite = dir.path().join("mine.toml");
    let write = |parameter: &str| {
        let text = format!(
            "name = \"mine\"\n[[statement]]\nname = \"one\"\nsql = \"SELECT c FROM {{table}} WHERE id=?\"\n\
             params = [\"{parameter}\"]\nexpect = \"any\"\n[[step]]\nfamily = \"load\"\nkind = \"load\"\n\
             [[step]]\nfamily = \"index\"\nkind = \"index\"\n[[step]]\nfamily = \"points\"\nkind = \"read\"\n\
             group = \"point\"\nevent = [\"one\"]\nshort = \"figure\"\n"
        );
        std::fs::write(&suite, text).unwrap();
    };
    let text =
        format!("[[system]]\ndbms = 'null'\n[[suite]]\nkind = {:?}\n", suite.to_str().unwrap());
    let catalogue = rqps_server::Catalogue::builtin().unwrap();
    let plan = PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap();
    write("id");
    let (Begun { run, .. }, _) = begin(&plan, &store, &environment).unwrap();
    let (again, _) = begin(&plan, &store, &environment).unwrap();
    assert_eq!(again.run.id, run.id);
    drop(again);
    write("k");
    let (other, told) = begin(&plan, &store, &environment).unwrap();
    assert_ne!(other.run.id, run.id);
    assert!(told.iter().any(|note| note.contains("its suite file has changed")), "{told:?}");
}

#[test]
fn a_run_resumes_on_its_own_host_alone() {
    let host = Host {
        kernel: "6.1.0-18".to_owned(),
        cpu_model: "a".to_owned(),
        storage: "ext4 on /dev/sda".to_owned(),
        n_cpus: 4,
        memory_bytes: 16 << 30,
        ..Host::default()
    };
    // A kernel keeps some memory for itself.
    let alike = Host { memory_bytes: (16 << 30) - (100 << 20), ..host.clone() };
    assert_eq!(other_host(&host, &alike), None);
    let why = |other: Host| other_host(&host, &other).unwrap();
    let newer = Host { kernel: "6.1.0-20".to_owned(), ..host.clone() };
    assert_eq!(why(newer), "the host's kernel was \"6.1.0-18\" and is now \"6.1.0-20\"");
    let elsewhere = Host { storage: "xfs on /dev/sda".to_owned(), ..host.clone() };
    let words = "the host's storage was \"ext4 on /dev/sd*\" and is now \"xfs on /dev/sd*\"";
    assert_eq!(why(elsewhere), words);
    let renamed = Host { storage: "ext4 on /dev/sdb".to_owned(), ..host.clone() };
    assert_eq!(other_host(&host, &renamed), None);
    let ahead = |kb| Host { read_ahead_kb: Some(kb), ..host.clone() };
    let words = "the host's read-ahead was 128 KB and is now 8192 KB";
    assert_eq!(other_host(&ahead(128), &ahead(8192)).unwrap(), words);
    // A run of before it was recorded.
    assert_eq!((other_host(&host, &ahead(8192)), other_host(&ahead(8192), &host)), (None, None));
    assert_eq!(why(Host { n_cpus: 2, ..host.clone() }), "the host had 4 CPUs and now has 2");
    let smaller = Host { memory_bytes: 8 << 30, ..host.clone() };
    let words = "the host had 16384 MiB of memory and now has 8192 MiB";
    assert_eq!(
        (why(smaller.clone()), other_host(&smaller, &host).is_some()),
        (words.to_owned(), true)
    );
}

#[test]
fn a_calibration_made_meanwhile_is_for_later_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (store, environment) = (Store::open(dir.path()).unwrap(), context(dir.path()));
    let auto = plan("slice = 'auto'\n");
    let host = rqps_sample::host_info(dir.path()).unwrap();
    store.insert_calibration(&calibration(&host, 1, Placement::Free, 50)).unwrap();
    let (begun, _) = begin(&auto, &store, &environment).unwrap();
    let id = begun.run.id.clone();
    drop(begun);
    store.insert_calibration(&calibration(&host, 2, Placement::Split, 250)).unwrap();
    let (begun, told) = begin(&auto, &store, &environment).unwrap();
    assert_eq!((begun.run.id.as_str(), told), (id.as_str(), Vec::new()));
    assert!(begun.steps.iter().all(|step| step.placement == Placement::Free));
    let Schedule::Interleaved { slice_ms, .. } = begun.run.schedule else { panic!() };
    assert_eq!(slice_ms, 50);
    drop(begun);
    // A new run follows it.
    let again = Environment { new_run: true, ..environment.clone() };
    let (begun, _) = begin(&auto, &store, &again).unwrap();
    assert_ne!(begun.run.id, id);
    assert!(begun.steps.iter().all(|step| step.placement == Placement::Split));
    assert!(matches!(begun.run.schedule, Schedule::Interleaved { slice_ms: 250, .. }));
    drop(begun);
    // And what cannot be resumed is told, with the reason.
    let newer = Environment { rqps_version: "0.2.0".to_owned(), ..environment };
    let (begun, told) = begin(&auto, &store, &newer).unwrap();
    assert_eq!(begun.run.n_resumed, 0);
    let words = "cannot be resumed: rqps 0.1.0 began it, this is rqps 0.2.0; a new run begins";
    assert!(told.iter().any(|told| told.contains(words)), "{told:?}");
}

#[test]
fn what_another_process_finished_is_not_taken_up() {
    let dir = tempfile::tempdir().unwrap();
    let (store, environment) = (Store::open(dir.path()).unwrap(), context(dir.path()));
    let plan = plan("");
    let (begun, _) = begin(&plan, &store, &environment).unwrap();
    // Under way: nobody else may.
    let error = begin(&plan, &store, &environment).err().unwrap().to_string();
    assert!(error.contains("is in use by process"), "{error}");
    let id = begun.run.id.clone();
    store.set_run_status(&id, RunStatus::Finished, Some(1)).unwrap();
    drop(begun);
    let (begun, _) = begin(&plan, &store, &environment).unwrap();
    assert_ne!(begun.run.id, id);
}

/// All begin at the same moment, so that ids by the second collide.
#[test]
fn several_processes_that_begin_at_once_have_a_run_each() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    let environment = Environment { new_run: true, ..context(dir.path()) };
    let plan = plan("");
    let all: Vec<Begun> = std::thread::scope(|scope| {
        let begin_one = || begin(&plan, &Store::open(dir.path()).unwrap(), &environment).unwrap().0;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(begin_one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut ids: Vec<&str> = all.iter().map(|begun| begun.run.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

/// Of one second and one name. A run that is about to be stored keeps its id.
#[test]
fn imports_have_ids_of_their_own_and_leave_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let (begun, _) = begin(&plan(""), &store, &context(dir.path())).unwrap();
    let imported = Run { started_unix_ms: 0, name: "a".to_owned(), ..begun.run.clone() };
    let held = store.lock_run("19700101-000000-a-2").unwrap();
    let before = std::fs::read_dir(dir.path().join("artifacts")).unwrap().count();
    let all: Vec<String> = std::thread::scope(|scope| {
        let import = || {
            let runs = vec![imported.clone(), imported.clone()];
            keep_imported(runs, &Store::open(dir.path()).unwrap()).unwrap()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(import)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut ids: Vec<&str> = all.iter().map(String::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 8);
    assert!(!ids.contains(&"19700101-000000-a-2"), "{ids:?}");
    assert_eq!(std::fs::read_dir(dir.path().join("artifacts")).unwrap().count(), before);
    drop(held);
    assert_eq!(keep_imported(Vec::new(), &store).unwrap(), Vec::<String>::new());
}
