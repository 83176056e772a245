//! What is stopped does not outlive rqps either: a second process stops a tree and is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rqps_server::{Freezer, Identity, Watchdog, process, watchdog};

/// Tells a process started from this binary what it is: `rqps` or `watchdog`.
const ROLE: &str = "RQPS_IT_STOPPED_ORPHANS";

fn second_process(role: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("stopped_orphans::{test}");
    command.args(["--exact", &name, "--nocapture"]).env(ROLE, role);
    command
}

fn is_role(role: &str) -> bool {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    std::env::var(ROLE).is_ok_and(|value| value == role)
}

/// The state letter of a process that is there and has not ended.
fn state(pid: i32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next().filter(|state| *state != 'Z')
}

fn until(what: &str, done: impl Fn() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_stopped_tree_ends_with_a_killed_rqps() {
    let mut child =
        second_process("rqps", "stop_a_tree_and_wait").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.find_map(|line| line.unwrap().split_once("TREE ").map(|l| l.1.to_owned()));
    let line = line.expect("the second process stopped no tree");
    let all: Vec<i32> = line.split(' ').map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(all.len(), 3);
    until("not all are stopped", || all.iter().all(|&pid| state(pid) == Some('T')));
    child.kill().unwrap();
    child.wait().unwrap();
    until("some are left", || all.iter().all(|&pid| state(pid).is_none()));
}

/// The second process; a test that does nothing otherwise.
#[test]
fn stop_a_tree_and_wait() {
    if !is_role("rqps") {
        return;
    }
    let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
    let mut command = Command::new("sh");
    command.args(["-c", "setsid sleep 600 & sleep 601 & wait"]);
    // As PostgreSQL's: a signal that a stopped process does not act on.
    let server = process::spawn(command, &me, Signal::SIGQUIT).unwrap();
    until("no children", || process::tree(server.pid()).len() == 3);
    let mut watchdog = Watchdog::start(second_process("watchdog", "be_the_watchdog")).unwrap();
    let mut freezer = Freezer::new(server.pid());
    watchdog.hold(&freezer, Signal::SIGQUIT).unwrap();
    freezer.freeze().unwrap();
    let all: Vec<String> = process::tree(server.pid()).iter().map(ToString::to_string).collect();
    println!("TREE {}", all.join(" "));
    loop {
        std::thread::park();
    }
}

/// The watchdog of the second process; a test that does nothing otherwise.
#[test]
fn be_the_watchdog() {
    if is_role("watchdog") {
        // The harness may have begun a line.
        println!();
        watchdog::watch(std::io::stdin().lock(), std::io::stdout()).unwrap();
    }
}
