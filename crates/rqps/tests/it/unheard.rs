//! Runs of which nobody hears: whose terminal is closed, or whose report has nowhere to go.

use nix::sys::signal::Signal;

use crate::bench::{Bench, assert_complete};

const PLAN: &str = "name = 'unheard'\n[[system]]\ndbms = 'null'\n[[suite]]\nrows = 1000\n\
                    steps = ['point-query', 'range-*']\n\
                    seconds = { read = 0.5, warm_up = 0.01, fixed_at_most = 0.1 }\n\
                    [schedule]\nslices = 2\n";

#[test]
fn a_run_under_nohup_goes_on_when_its_terminal_is_closed() {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    // What nohup does.
    let mut running = bench.spawn_after("trap '' HUP", &["run", "plan.toml", "--no-html"]);
    running.await_line("queries/s");
    running.signal(Signal::SIGHUP);
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_complete(&bench.latest(), 2);
    // Any other run ends by it.
    let mut running = bench.spawn(&["run", "plan.toml", "--new", "--no-html"]);
    running.await_line("queries/s");
    running.signal(Signal::SIGHUP);
    assert_eq!(running.finish().code(), 130);
    assert_eq!(bench.latest()["status"], "interrupted");
}
