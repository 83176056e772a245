//! `rqps calibrate` on the null client: what it stores, and what plans and reports make of it.

use crate::bench::Bench;

#[test]
fn a_calibration_is_stored_and_used() {
    let bench = Bench::new();
    let found = bench.json(&["calibrate", "null", "--seconds", "0.2", "--json"]);
    let trials = found["trials"].as_array().unwrap();
    let (n_clients, n_trials) = (found["best"].as_array().unwrap().len(), trials.len());
    // Each number of clients in each placement, with three lengths of turns and without any.
    assert!(n_trials == n_clients * 12 || n_trials == n_clients * 8, "{n_trials}");
    for trial in trials {
        assert!(trial["figure_per_s"].as_f64().unwrap() > 0.0, "{trial}");
        assert_eq!(trial["located"][0]["location"], "average", "{trial}");
    }
    assert_eq!(found["floors"].as_array().unwrap().len(), 2 * n_clients);
    assert_eq!(found["power"].as_array().unwrap().len(), 0);
    assert_eq!(found["system"], "the null client");

    bench.write(
        "plan.toml",
        "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'again'\n\
         [[suite]]\nrows = 1000\nsteps = ['point-query']\nclients = [1]\n\
         [suite.seconds]\nread = 0.1\nwarm_up = 0.01\nfixed_at_most = 0.01\n\
         [schedule]\nmode = 'interleaved'\nslice = 'auto'\nslices = 1\n",
    );
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Calibrated on "), "{text}");
    let words = "with the null client on one start of each server: A/A differs by";
    assert!(text.contains(words), "{text}");
    let run = bench.latest();
    assert_eq!(run["schedule"]["slice_ms"], found["slice_ms"]);
    assert_eq!(run["calibration"]["made_unix_ms"], found["made_unix_ms"]);
    let steps = run["steps"].as_array().unwrap();
    let read = steps.iter().find(|step| step["info"]["name"] == "point-query").unwrap();
    assert_eq!(read["placement"], found["best"][0]["placement"]);
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let bench = Bench::new();
    for (args, words) in [
        (vec!["calibrate", "null", "--seconds", "0"], "--seconds 0 is out of range; give 0.2"),
        (vec!["calibrate", "mysql://u@h/d"], "starts its server itself; name DBMS@VERSION"),
        (vec!["calibrate", "mysql"], "is not DBMS@VERSION"),
    ] {
        let said = bench.run(&args);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains(words), "no {words:?} in {}", said.stderr);
    }
}
