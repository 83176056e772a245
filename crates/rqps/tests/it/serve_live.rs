//! `rqps serve` beside a run: what it tells while the run goes, and how it ends.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::bench::{Bench, Running};
use crate::browser::Served;

/// Two interleaved systems on the null client, a few seconds a step.
const NULL: &str = r#"
name = "followed"
[[system]]
dbms = "null"
[[system]]
dbms = "null"
label = "again"
[[suite]]
rows = 1000
clients = [1]
steps = ["point-query", "update-index"]
seconds = { read = 0.25, write = 0.25, insert = 0.25, warm_up = 0.1, fixed_at_most = 0.1 }
[schedule]
slice = "20ms"
slices = 6
seed = 7
"#;

fn begun(bench: &Bench, plan: &str) -> (Running, String) {
    bench.write("plan.toml", plan);
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    let id = running.run_id();
    (running, id)
}

/// Everything that a stream of a run told, part by part, until the run was over.
fn told(served: &Served, id: &str) -> Vec<Value> {
    let mut followed = served.follow(id);
    let mut all = Vec::new();
    while let Some((name, data)) = followed.next() {
        match name.as_str() {
            "parts" => all.push(serde_json::from_str(&data).unwrap()),
            "over" => return all,
            other => panic!("{other}: {data}"),
        }
    }
    panic!("the stream broke off after {all:?}");
}

fn texts<'t>(told: &'t [Value], part: &str) -> Vec<&'t str> {
    told.iter().filter_map(|parts| parts[part].as_str()).collect()
}

fn assert_followed(told: &[Value], steps: &[&str]) {
    let (said, state, now) = (texts(told, "said"), texts(told, "state"), texts(told, "now"));
    let has = |all: &[&str], word: &str| all.iter().any(|text| text.contains(word));
    for step in steps {
        assert!(has(&said, step), "no {step} in {said:?}");
    }
    assert!(said.last().unwrap().contains("The run finished."), "{said:?}");
    assert!(has(&state, " left</strong>"), "the time that is left: {state:?}");
    assert!(has(&state, "block "), "{state:?}");
    // How fast both systems are, in one moment.
    let both = now.iter().any(|table| {
        let rates = table.split("<td class=\"num now\">").skip(1);
        rates.filter(|cell| cell.starts_with(|c: char| c.is_ascii_digit())).count() == 2
    });
    assert!(both, "{now:?}");
    let narrowing = texts(told, "narrowing");
    assert!(has(&narrowing, "95% interval ["), "{narrowing:?}");
    assert!(has(&narrowing, "<polygon"), "{narrowing:?}");
}

#[test]
fn a_run_is_followed_to_its_end() {
    let bench = Bench::new();
    let served = Served::start(&bench, &[]);
    let (running, id) = begun(&bench, NULL);
    let page = served.get(&format!("/runs/{id}/live")).body;
    assert!(page.contains(&format!("data-events=\"/runs/{id}/events\"")), "{page}");
    assert!(served.get("/").body.contains("under way"));
    let told = told(&served, &id);
    assert_followed(&told, &["point-query", "update-index"]);
    assert_eq!(running.finish().code(), 0);
    let page = served.get(&format!("/runs/{id}/live")).body;
    assert!(page.contains("The run finished.") && !page.contains("data-events"), "{page}");
    let live = bench.path(&format!("rqps-results/artifacts/{id}/live"));
    assert!(!live.exists(), "what a run told of itself goes with it");
}

#[test]
fn several_browsers_and_the_end_of_the_server() {
    let bench = Bench::new();
    let served = Served::start(&bench, &[]);
    let (running, id) = begun(&bench, &NULL.replace("slices = 6", "slices = 200"));
    let mut followed: Vec<_> = (0..5).map(|_| served.follow(&id)).collect();
    for one in &mut followed {
        assert_eq!(one.next().unwrap().0, "parts");
    }
    let most: Vec<_> = (0..11).map(|_| served.follow(&id)).collect();
    let path = format!("/runs/{id}/events");
    assert_eq!(served.get_with(&path, &[]).status, 503, "more than are told at once");
    drop(most);
    served.process.signal(Signal::SIGTERM);
    let since = Instant::now();
    let said = served.process.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(since.elapsed() < Duration::from_secs(60), "it waited for its browsers");
    for one in &mut followed {
        while one.next().is_some() {}
    }
    // The run does not notice.
    running.signal(Signal::SIGINT);
    assert_eq!(running.finish().code(), 130);
}

#[test]
#[ignore = "make test-all: takes long"]
fn a_run_that_was_killed_is_over() {
    let bench = Bench::new();
    let served = Served::start(&bench, &[]);
    let (running, id) = begun(&bench, &NULL.replace("slices = 6", "slices = 200"));
    let mut followed = served.follow(&id);
    while !followed.next().unwrap().1.contains("block ") {}
    running.signal(Signal::SIGKILL);
    running.finish();
    let mut last = String::new();
    while let Some((name, data)) = followed.next() {
        if name == "over" {
            break;
        }
        last = data;
    }
    assert!(last.contains("ended unexpectedly"), "{last}");
    // What it told last stays beside its artifacts, and says nothing any more.
    let page = served.get(&format!("/runs/{id}/live")).body;
    assert!(page.contains("ended unexpectedly") && !page.contains(" left</strong>"), "{page}");
    assert!(served.get("/").body.contains("ended unexpectedly"));
    let sequential = NULL.replace("slice = \"20ms\"\n", "mode = \"sequential\"\n");
    let (running, id) = begun(&bench, &sequential.replace("followed", "one-by-one"));
    let told = told(&served, &id);
    assert!(texts(&told, "said").iter().any(|text| text.contains("update-index")));
    assert_eq!(running.finish().code(), 0);
}

#[test]
#[ignore = "make test-all: real servers"]
fn two_interleaved_servers() {
    let bench = Bench::new();
    let served = Served::start(&bench, &[]);
    let plan = r#"
name = "two servers"
[[system]]
dbms = "mariadb"
version = "10.2.11"
[[system]]
dbms = "postgres"
version = "11.22"
[[suite]]
rows = 10_000
clients = [1]
steps = ["point-query", "update-index"]
seconds = { read = 1, write = 1, insert = 1, warm_up = 0.2, fixed_at_most = 1 }
[schedule]
slices = 6
"#;
    let (running, id) = begun(&bench, plan);
    let told = told(&served, &id);
    assert_followed(&told, &["point-query", "update-index"]);
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let report = served.get(&format!("/runs/{id}"));
    assert!(report.body.contains("pg1122.small"), "the report of both");
    bench.assert_tidy(&id);
}
