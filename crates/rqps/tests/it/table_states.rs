//! Tables that steps read have had the same writes on all systems, or the report says in what they differ.

use rqps_fake_server::{Fault, When};
use serde_json::Value;

use crate::bench::{Bench, for_one_server};
use crate::fake::write_plan;

fn plan(version: &str, second: &str) -> String {
    let system = format!("[[system]]\ndbms = 'postgres'\nversion = '{version}'\n");
    format!(
        "name = 'table_states'\n{system}{system}label = 'second'\n{second}\n\
         [[suite]]\nrows = 10_000\nclients = [2]\nsteps = ['update-index', 'hot-points']\n\
         [suite.seconds]\nread = 0.2\nwrite = 0.4\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nmode = 'interleaved'\nstarts = 2\nslices = 2\nseed = 7\n"
    )
}

/// A fact of the tables on both systems, for each start of a step.
fn facts(run: &Value, step: &str, fact: &str) -> Vec<[u64; 2]> {
    let steps = run["steps"].as_array().unwrap().iter();
    let own = steps.filter(|known| known["info"]["name"].as_str().unwrap().starts_with(step));
    let of = |step: &Value, idx: usize| {
        let state = &step["systems"][idx]["table_state"];
        state[fact].as_u64().unwrap_or_else(|| panic!("no {fact} in {state}"))
    };
    own.map(|step| [0, 1].map(|idx| of(step, idx))).collect()
}

/// Counted events of a step on a system, all starts together.
fn counted(run: &Value, step: &str, system: usize) -> u64 {
    let steps = run["steps"].as_array().unwrap().iter();
    let own = steps.filter(|known| known["info"]["name"] == step);
    let slices = own.flat_map(|step| step["systems"][system]["slices"].as_array().unwrap());
    slices.map(|slice| slice["n_events"].as_u64().unwrap()).sum()
}

/// After a write step on a slowed system and one that is not.
fn assert_equal_writes(run: &Value) {
    let writes = facts(run, "update-index", "writes");
    assert_eq!(writes.len(), 2);
    assert!(writes.iter().all(|[base, slowed]| base == slowed && *base > 100), "{writes:?}");
    let [base, slowed] = [0, 1].map(|system| counted(run, "update-index", system));
    assert!(slowed < base, "the step is cut by time: {base} {slowed}");
}

#[test]
fn a_slowed_system_has_as_many_writes_as_the_base() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &plan("11.22", "injected_slowdown = 30"));
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_equal_writes(&bench.latest());
    let report = bench.output(&["report", "--full"]);
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!report.contains("write events"), "{report}");
}

#[test]
fn a_difference_of_dead_rows_is_named() {
    let bench = Bench::new();
    let mut trees = write_plan(&bench, &plan("11.22", ""));
    trees[1].fail(When::Now, Fault::DeadRows(4321)).unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let words = "dead rows 4321, base 0, on 2 starts";
    let report = bench.output(&["report", "--summary"]);
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains(words), "{report}");
    assert_eq!(facts(&bench.latest(), "hot-points", "dead-rows"), [[0, 4321]; 2]);
}

#[test]
#[ignore = "make test-all: real servers"]
fn real_tables_have_had_as_many_updates() {
    for_one_server(|_, version| {
        let bench = Bench::new();
        bench.write("plan.toml", &plan(version, "injected_slowdown = 30"));
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_equal_writes(&run);
        let updates = facts(&run, "hot-points", "updates");
        let last = updates.last().unwrap();
        let writes: u64 = facts(&run, "update-index", "writes").iter().map(|[own, _]| own).sum();
        assert_eq!(*last, [writes; 2]);
        assert_eq!(facts(&run, "hot-points", "index-levels").len(), 2);
    });
}
