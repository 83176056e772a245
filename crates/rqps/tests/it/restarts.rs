//! Runs on several starts of the servers, on the null client.

use serde_json::Value;

use crate::bench::{Bench, assert_complete};

const PLAN: &str = "
    [[system]]
    dbms = 'null'
    [[system]]
    dbms = 'null'
    label = 'second'
    [[system]]
    dbms = 'null'
    label = 'third'
    [[suite]]
    rows = 100
    steps = ['point-query']
    clients = [1]
    seconds = { read = 0.05, warm_up = 0.001, fixed_at_most = 0.01 }
    [schedule]
    mode = 'sequential'
    slices = 1
    restarts = 4
    seed = 7
";

#[test]
fn systems_come_in_another_order_on_each_start() {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 1);
    let steps = run["steps"].as_array().unwrap().iter();
    let orders: Vec<Vec<usize>> =
        steps.filter(|step| step["info"]["name"] == "point-query").map(order).collect();
    assert_eq!(orders.len(), 4);
    assert!(orders.iter().any(|order| *order != orders[0]), "{orders:?}");
}

/// The systems of a step by the start of their slices.
fn order(step: &Value) -> Vec<usize> {
    let systems = step["systems"].as_array().unwrap().iter().enumerate();
    let mut starts: Vec<(i64, usize)> = systems
        .map(|(idx, system)| (system["slices"][0]["start_unix_ms"].as_i64().unwrap(), idx))
        .collect();
    starts.sort_unstable();
    starts.into_iter().map(|(_, idx)| idx).collect()
}
