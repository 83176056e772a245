//! `rqps gate` as CI has it: exit codes, what is on which stream, files.

use std::fs;

use rqps_model::{RunStatus, StepOutcome};

use crate::bench::Bench;
use crate::stored::{run, store};

const SAME: (&str, &[u32]) = ("scan", &[5_000, 5_010]);
const SLOWER: (&str, &[u32]) = ("point-query", &[20_000, 18_000]);

#[test]
fn nothing_slower_ends_with_0() {
    let bench = Bench::new();
    store(&bench, &run(1, &["17.4", "18.0"], &[SAME]));
    let said = bench.run(&["gate"]);
    assert_eq!((said.code(), said.stderr.as_str()), (0, ""));
    assert!(
        said.stdout.starts_with(
            "passed: no step of pg180.small was found to be slower than pg174.small by 5% or more, of 1 step"
        ),
        "{}",
        said.stdout
    );
}

#[test]
fn a_slower_step_ends_with_1_unless_that_much_is_allowed() {
    let bench = Bench::new();
    store(&bench, &run(1, &["17.4", "18.0"], &[SAME, SLOWER]));
    let said = bench.run(&["gate", "--junit", "rqps.xml", "--format", "markdown"]);
    assert_eq!((said.code(), said.stderr.as_str()), (1, ""));
    assert!(said.stdout.starts_with("### rqps gate: slower\n"), "{}", said.stdout);
    let xml = fs::read_to_string(bench.path("rqps.xml")).unwrap();
    assert!(xml.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{xml}");
    assert_eq!(bench.run(&["gate", "--max-slowdown", "15%"]).code(), 0);
    assert_eq!(bench.run(&["gate", "--steps", "sc*"]).code(), 0);
    assert_eq!(bench.run(&["gate", "--steps", "scan,point-query"]).code(), 1);
    let json: serde_json::Value =
        serde_json::from_str(&bench.run(&["gate", "--format", "json"]).stdout).unwrap();
    assert_eq!((&json["result"], &json["n_slower"]), (&"slower".into(), &1.into()));
}

#[test]
fn what_cannot_be_judged_ends_with_2_and_says_what_to_do() {
    let bench = Bench::new();
    let said = bench.run(&["gate"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("no results in"), "{}", said.stderr);
    let ends = |args: &[&str], words: &[&str]| {
        let said = bench.run(args);
        assert_eq!(said.code(), 2, "{args:?}: {}", said.stdout);
        assert!(words.iter().all(|word| said.stderr.contains(word)), "{args:?}: {}", said.stderr);
        said
    };
    store(&bench, &run(1, &["17.4"], &[("scan", &[5_000])]));
    ends(&["gate"], &["has no candidate", "--base SYSTEM --vs SYSTEM"]);
    ends(
        &["gate", "--steps", "nosuch"],
        &["--steps \"nosuch\": no step of this name", "write one of scan"],
    );
    ends(&["gate", "--max-slowdown", "lots"], &["--max-slowdown \"lots\" is not a percentage"]);
    ends(&["gate", "nosuch"], &["no run matches \"nosuch\""]);
    let mut failed = run(2, &["17.4", "18.0"], &[SAME, SLOWER]);
    failed.steps[0].systems[1].outcome = StepOutcome::Failed { reason: "it broke".to_owned() };
    store(&bench, &failed);
    let said = ends(&["gate"], &["error: scan: failed on pg180.small: it broke"]);
    assert!(
        said.stdout.contains("point-query") && said.stdout.contains("slower"),
        "{}",
        said.stdout
    );
    let mut open = run(3, &["17.4", "18.0"], &[SAME]);
    open.status = RunStatus::Interrupted;
    store(&bench, &open);
    ends(&["gate"], &["not finished (interrupted)", "rqps run nightly.toml", "--allow-unfinished"]);
    assert_eq!(bench.run(&["gate", "--allow-unfinished"]).code(), 0);
}

/// The file of the job before would be read as this one's.
#[test]
fn without_a_judgement_the_file_says_so() {
    let bench = Bench::new();
    let red = |args: &[&str], words: &str| {
        fs::write(bench.path("rqps.xml"), "<testsuites><!-- green --></testsuites>").unwrap();
        let args = [&["gate", "--junit", "rqps.xml"], args].concat();
        let said = bench.run(&args);
        assert_eq!(said.code(), 2, "{args:?}: {}", said.stdout);
        let xml = fs::read_to_string(bench.path("rqps.xml")).unwrap();
        assert!(xml.contains("errors=\"1\"") && xml.contains(words), "{args:?}: {xml}");
        assert!(said.stderr.contains(words), "{args:?}: {}", said.stderr);
    };
    red(&[], "no results in");
    red(&["--catalogue", "nosuch.toml"], "read catalogue nosuch.toml");
    store(&bench, &run(1, &["17.4"], &[("scan", &[5_000])]));
    red(&["nosuch"], "no run matches");
    red(&[], "has no candidate");
    red(&["--steps", "nosuch"], "no step of this name");
    let mut open = run(2, &["17.4", "18.0"], &[SAME]);
    open.status = RunStatus::Interrupted;
    open.steps[0].systems[1].outcome = StepOutcome::Pending;
    open.steps[0].systems[1].slices.clear();
    store(&bench, &open);
    red(&["--allow-unfinished"], "was reached");
}

/// What the null client's rates are is chance; that answer and exit code agree is not.
#[test]
fn a_run_of_the_null_client_against_itself() {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        "base = 'null'\n[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'again'\n\
         [[suite]]\nrows = 1000\nsteps = ['point-query', 'update-index']\n[suite.seconds]\n\
         read = 0.02\nwrite = 0.02\nwarm_up = 0.002\nfixed_at_most = 0.02\n\
         [schedule]\nslice = '20ms'\nslices = 2\n",
    );
    assert_eq!(bench.run(&["run", "plan.toml", "--no-html"]).code(), 0);
    let said = bench.run(&["gate", "--max-slowdown", "50%", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    // The load is one of them.
    assert_eq!(json["results"].as_array().unwrap().len(), 3);
    let code = if json["n_slower"] == 0 { 0 } else { 1 };
    assert_eq!((said.code(), said.stderr.as_str()), (code, ""), "{}", said.stdout);
}
