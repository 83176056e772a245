//! Tables that an earlier run filled, copied in place of filling them.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::bench::{Bench, for_one_server};
use crate::fake::{for_each_family, write_plan};

/// Two systems of which each step is long enough to be met; `suite` and `schedule` are more lines.
fn plan(dbms: &str, version: &str, suite: &str, schedule: &str) -> String {
    let system = |label: &str| {
        format!("[[system]]\nlabel = '{label}'\ndbms = '{dbms}'\nversion = '{version}'\n")
    };
    format!(
        "name = 'reused'\n{}{}[[suite]]\nreuse_tables = true\nclients = [1]\n\
         steps = ['point-query.pre', 'update-index']\n{suite}\n\
         seconds = {{ read = 0.2, write = 0.2, warm_up = 0.02, fixed_at_most = 0.1 }}\n\
         [schedule]\nslices = 2\n{schedule}\n",
        system("a"),
        system("b")
    )
}

const SUITE: &str = "rows = 2_000";
const ONE_START: &str = "starts = 1";

/// Fills and stores the tables of a plan; gives the run.
fn first_run(bench: &Bench) -> Value {
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(n_loads(&run), 2, "{}", said.stderr);
    assert_eq!(kinds(&run), Vec::<String>::new());
    run
}

/// How many systems have filled their tables.
fn n_loads(run: &Value) -> usize {
    let load = &run["steps"][0];
    assert_eq!(load["info"]["name"], "load");
    let systems = load["systems"].as_array().unwrap();
    assert!(systems.iter().all(|system| system["outcome"]["outcome"] == "done"), "{load}");
    systems.iter().filter(|system| !system["slices"].as_array().unwrap().is_empty()).count()
}

/// The kinds of the warnings of a run.
fn kinds(run: &Value) -> Vec<String> {
    let warnings = run["warnings"].as_array().into_iter().flatten();
    warnings.map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
}

/// The directories in the store: the fake servers of a plan are two.
fn stored(bench: &Bench) -> [PathBuf; 2] {
    let found = bench.json(&["tables", "list", "--json"]);
    let dirs = found.as_array().unwrap().iter();
    let dirs: Vec<_> = dirs.map(|one| PathBuf::from(one["directory"].as_str().unwrap())).collect();
    dirs.try_into().unwrap()
}

#[test]
fn a_second_run_copies_the_tables() {
    for_each_family(|dbms, version| {
        for schedule in ["mode = 'interleaved'\nstarts = 2", "mode = 'sequential'\nstarts = 1"] {
            let bench = Bench::new();
            let _trees = write_plan(&bench, &plan(dbms, version, SUITE, schedule));
            let first = first_run(&bench);
            assert!(stored(&bench).iter().all(|dir| dir.join("tables.toml").is_file()));
            let said = bench.run(&["run", "plan.toml", "--no-html"]);
            assert_eq!(said.code(), 0, "{}", said.stderr);
            let second = bench.latest();
            assert_eq!(n_loads(&second), 0);
            assert_eq!(kinds(&second), ["tables-reused", "tables-reused"]);
            assert_eq!(second["warnings"][0]["run"], first["id"]);
            let sizes = |run: &Value| run["steps"][0]["systems"][0]["database_bytes"].clone();
            assert_eq!(sizes(&second), sizes(&first));
            let report = bench
                .output(&["report", "--full"])
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            let words =
                format!("copies of tables that run {} filled", first["id"].as_str().unwrap());
            assert!(report.contains(&words), "{report}");
            assert!(!report.contains("Not reached on"), "{report}");
            let csv = bench.output(&["report", "--format", "csv"]);
            assert_eq!(csv.matches(",tables-reused,").count(), 4, "{csv}");
            for run in [first, second] {
                bench.assert_tidy(run["id"].as_str().unwrap());
            }
        }
    });
}

#[test]
fn other_rows_seeds_and_settings_are_other_tables() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &plan("postgres", "11.22", SUITE, ONE_START));
    first_run(&bench);
    let text = fs::read_to_string(bench.path("plan.toml")).unwrap();
    for (is, other, n_filled) in [
        (SUITE, "rows = 2_001", 2),
        (ONE_START, "starts = 1\nseed = 7", 2),
        // Of the second system alone.
        ("[[suite]]", "options = { work_mem = '5MB' }\n[[suite]]", 1),
        (ONE_START, "starts = 2", 0),
    ] {
        bench.write("plan.toml", &text.replace(is, other));
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert_eq!(n_loads(&bench.latest()), n_filled, "{other}");
    }
}

#[test]
fn a_copy_that_lacks_a_file_or_rows_is_refused_and_filled_again() {
    let bench = Bench::new();
    let _trees =
        write_plan(&bench, &plan("mariadb", "10.2.11", SUITE, "mode = 'interleaved'\nstarts = 2"));
    first_run(&bench);
    let table = |bench: &Bench| {
        let [dir, _] = stored(bench);
        let data = dir.join("instance/data/rqps/sbtest1.ibd");
        assert!(data.is_file(), "{}", data.display());
        data
    };
    // Seen by the list of files; then, as there are as many bytes, by the rows.
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let blank = |bytes: Vec<u8>| vec![0; bytes.len()];
    for (damage, words) in [(&cut as &dyn Fn(Vec<u8>) -> Vec<u8>, " bytes and had "), (&blank, "")]
    {
        let path = table(&bench);
        let bytes = damage(fs::read(&path).unwrap());
        fs::write(&path, bytes).unwrap();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert!(said.stderr.contains("stored tables are not used"), "{}", said.stderr);
        assert!(said.stderr.contains(words), "{}", said.stderr);
        let run = bench.latest();
        assert!(n_loads(&run) > 0, "{}", said.stderr);
        let slices = run["steps"].to_string();
        assert!(!slices.contains("\"resumed\"") && !slices.contains("started-again"), "{slices}");
        // What was filled in its place is stored again.
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!((said.code(), n_loads(&bench.latest())), (0, 0), "{}", said.stderr);
    }
}

#[test]
fn a_run_that_cannot_store_its_tables_goes_on_and_says_so() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &plan("postgres", "11.22", SUITE, ONE_START));
    first_run(&bench);
    let [dir, other] = stored(&bench);
    let lock = fs::File::open(format!("{}.lock", dir.display())).unwrap();
    let lock = Flock::lock(lock, FlockArg::LockExclusive).unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(n_loads(&run), 1);
    let mut all = kinds(&run);
    all.sort();
    assert_eq!(all, ["stored-tables-not-used", "tables-not-stored", "tables-reused"]);
    drop(lock);
    let name = dir.file_name().unwrap().to_str().unwrap();
    assert!(bench.output(&["tables", "list"]).contains(name));
    assert_eq!(bench.output(&["tables", "rm", name]), format!("removed {name}\n"));
    assert!(!dir.exists() && other.exists());
    bench.output(&["tables", "rm", "--all"]);
    assert!(bench.output(&["tables", "list"]).starts_with("no stored tables"));
}

#[test]
fn a_run_that_is_interrupted_or_killed_resumes_on_its_copies() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &plan("postgres", "11.22", SUITE, "starts = 2"));
    for signal in [Signal::SIGKILL, Signal::SIGINT] {
        let mut running = bench.spawn(&["run", "plan.toml"]);
        let id = running.run_id();
        running.await_line("start 2 of 4 of the servers");
        running.await_line("point-query.pre");
        running.signal(signal);
        running.finish();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert!(!said.stderr.contains("filled again"), "{}", said.stderr);
        let run = bench.latest();
        assert_eq!((run["id"].as_str(), &run["status"]), (Some(&*id), &"finished".into()));
        bench.assert_tidy(&id);
    }
    assert_eq!(n_loads(&bench.latest()), 0, "the second run found the tables of the first");
}

/// Killed between the two moves of storing, a run has neither its tables nor whole ones in the store.
#[test]
fn what_is_on_its_way_into_the_store_is_not_used() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &plan("postgres", "11.22", SUITE, ONE_START));
    first_run(&bench);
    let [dir, _] = stored(&bench);
    let new = PathBuf::from(format!("{}.new", dir.display()));
    fs::rename(&dir, &new).unwrap();
    assert!(bench.output(&["tables", "list"]).contains("incomplete"));
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!((said.code(), n_loads(&bench.latest())), (0, 1), "{}", said.stderr);
    assert!(dir.is_dir() && !new.exists());
}

#[test]
fn a_real_server_starts_on_a_copy_in_seconds() {
    for_one_server(|dbms, version| {
        let bench = Bench::new();
        bench.write(
            "plan.toml",
            &plan(dbms, version, "rows = 50_000", "mode = 'interleaved'\nstarts = 1"),
        );
        first_run(&bench);
        let begin = Instant::now();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        eprintln!("{dbms}@{version}: second run {:?}", begin.elapsed());
        let run = bench.latest();
        assert_eq!((n_loads(&run), kinds(&run).len()), (0, 2), "{}", said.stderr);
        assert_eq!(kinds(&run), ["tables-reused", "tables-reused"]);
        bench.assert_tidy(run["id"].as_str().unwrap());
    });
}
