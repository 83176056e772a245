//! Servers that somebody stops: their run ends them, and starts them again.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_fake_server::{Fault, When};

use crate::bench::{Bench, Said};
use crate::failed_servers::{SECOND_STEP, failed, plan, server_of, short_plan};
use crate::fake::{for_each_family, write_plan};

#[test]
fn a_server_that_somebody_stops_is_ended_and_started_again() {
    for_each_family(|dbms, version| {
        let bench = Bench::impatient();
        let mut trees = write_plan(&bench, &short_plan(&[("a", dbms, version)], "sequential"));
        let when = When::Text(20, SECOND_STEP.to_owned());
        trees[0].fail(when, Fault::Die(Signal::SIGSTOP)).unwrap();
        check_stop(&bench, &bench.run(&["run", "plan.toml", "--no-html"]), "1.5");
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_real_server_that_somebody_stops_is_ended_and_started_again() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[("a", "postgres", "11.22")], "sequential"));
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("queries/s");
    let pid = server_of(&bench, &running, &id, 0);
    // With all that serve connections: PostgreSQL's go on without the first.
    for pid in bench.processes_of(&format!("{id}-0/")).into_iter().filter(|p| *p != running.pid()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGSTOP);
    }
    check_stop(&bench, &running.finish(), "30");
    assert!(state(pid).is_none_or(|state| state == 'Z'), "{pid} is still there");
}

/// The server of the only system was stopped by a signal, for so long.
fn check_stop(bench: &Bench, said: &Said, seconds: &str) {
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["status"], "finished");
    let [(_, 0, reason)] = &failed(&run)[..] else { panic!("{run}") };
    let words = format!("was stopped for {seconds} s by a signal that rqps did not send");
    assert!(reason.contains(&words), "{reason}");
    bench.assert_tidy(run["id"].as_str().unwrap());
}

fn state(pid: i32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}
