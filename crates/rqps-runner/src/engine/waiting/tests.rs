//! On real processes, with a watchdog that writes down what it is told.

use std::path::Path;
use std::process::Child;

use rqps_server::process::tree;

use super::*;

/// A stand-in for a server: a shell with a child.
struct Server(Child);

impl Server {
    fn start() -> Self {
        let server = Self(Command::new("sh").args(["-c", "sleep 600 & wait"]).spawn().unwrap());
        until("no child", || tree(server.pid()).len() == 2);
        server
    }

    fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    fn is_stopped(&self) -> bool {
        tree(self.pid()).into_iter().all(|pid| state(pid) == Some('T'))
    }

    fn goes_on(&self) -> bool {
        tree(self.pid()).into_iter().all(|pid| state(pid) != Some('T'))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for pid in tree(self.pid()) {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

fn state(pid: i32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

fn pause(ms: u64) {
    #[expect(clippy::disallowed_methods, reason = "a slice takes its time")]
    std::thread::sleep(Duration::from_millis(ms));
}

fn until(what: &str, done: impl Fn() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        pause(2);
    }
}

/// The watchdog's notes, and servers that wait.
fn waiting(servers: &[&Server], notes: &Path, at_most: Duration) -> Waiting {
    let script = r#"echo ready; while read -r line; do echo "$line" >> "$0"; done"#;
    let notes = notes.to_str().unwrap();
    let environment = Environment::of_test(&["sh", "-c", script, notes]);
    let freezer = |server: &&Server| Some((Freezer::new(server.pid()), Signal::SIGKILL));
    let freezers = servers.iter().map(freezer).collect();
    let mut waiting = Waiting::new(freezers, false, &environment).unwrap();
    waiting.at_most = at_most;
    waiting
}

fn with_two(at_most: Duration, test: impl FnOnce(&Server, &Server, Waiting, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes");
    let (a, b) = (Server::start(), Server::start());
    let waiting = waiting(&[&a, &b], &notes, at_most);
    test(&a, &b, waiting, &notes);
}

#[test]
fn all_but_one_are_stopped_and_known_to_the_watchdog() {
    with_two(STOPPED_AT_MOST, |a, b, mut waiting, notes| {
        // Nobody has asked for a look at their processes.
        waiting.only(0).unwrap();
        until("not stopped", || b.is_stopped() && a.goes_on());
        until("not told", || {
            let told = std::fs::read_to_string(notes).unwrap_or_default();
            [a, b].iter().all(|server| told.contains(&format!("hold {} ", server.pid())))
        });
        waiting.only(1).unwrap();
        until("not the other way round", || a.is_stopped() && b.goes_on());
        waiting.thaw();
        until("still stopped", || a.goes_on() && b.goes_on());
        waiting.only(1).unwrap();
        until("not stopped again", || a.is_stopped());
        drop(waiting);
        until("still stopped", || a.goes_on() && b.goes_on());
    });
}

#[test]
fn a_panic_lets_all_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes");
    let all = [Server::start(), Server::start(), Server::start()];
    let mut waiting = waiting(&[&all[0], &all[1], &all[2]], &notes, STOPPED_AT_MOST);
    let pids: Vec<i32> = all.iter().map(Server::pid).collect();
    let thread = std::thread::spawn(move || {
        waiting.only(1).unwrap();
        let is_stopped = |pid: i32| tree(pid).into_iter().all(|pid| state(pid) == Some('T'));
        until("not stopped", || is_stopped(pids[0]) && is_stopped(pids[2]));
        panic!("a bug of the test's own");
    });
    assert!(thread.join().is_err());
    until("still stopped", || all.iter().all(Server::goes_on));
}

#[test]
fn servers_breathe_where_slices_add_up() {
    let limit = Duration::from_secs(2);
    with_two(limit, |_, b, mut waiting, _| {
        for _ in 0..10 {
            waiting.only(0).unwrap();
            assert!(waiting.longest_stop() < limit, "{:?}", waiting.longest_stop());
            until("not stopped", || b.is_stopped());
            pause(300);
        }
        assert!(!waiting.gave_up());
    });
}

#[test]
fn a_warm_up_that_takes_too_long_is_no_reason_to_give_up() {
    with_two(Duration::from_millis(50), |_, b, mut waiting, _| {
        waiting.only_uncounted(0).unwrap();
        until("not stopped", || b.is_stopped());
        pause(100);
        waiting.look_at_the_clock();
        until("still stopped", || b.goes_on());
        assert!(!waiting.gave_up());
        waiting.only(0).unwrap();
        until("not stopped after a warm-up", || b.is_stopped());
        pause(100);
        waiting.look_at_the_clock();
        until("stopped for longer than may be", || b.goes_on());
        assert!(waiting.gave_up());
        waiting.only(0).unwrap();
        assert!(b.goes_on());
    });
}

#[test]
fn a_slice_in_which_nobody_ran_is_no_reason_to_give_up() {
    with_two(Duration::from_millis(50), |_, b, mut waiting, _| {
        let known = waiting.slices_so_far();
        waiting.only(0).unwrap();
        until("not stopped", || b.is_stopped());
        pause(100);
        waiting.look_at_the_clock();
        assert!(waiting.gave_up());
        waiting.put_back(known);
        assert!(!waiting.gave_up());
        waiting.only(0).unwrap();
        until("not stopped afterwards", || b.is_stopped());
    });
}

#[test]
fn a_watchdog_that_was_killed_is_replaced() {
    with_two(STOPPED_AT_MOST, |a, _, mut waiting, notes| {
        let told = || std::fs::read_to_string(notes).unwrap_or_default();
        let line = format!("hold {} ", a.pid());
        until("not told", || told().contains(&line));
        std::fs::remove_file(notes).unwrap();
        // The one child of this process that has the notes' path in its command line.
        let path = notes.to_str().unwrap();
        let is_watchdog = |pid: &i32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(path)
        };
        let all = tree(std::process::id().cast_signed());
        let pid = all.into_iter().find(is_watchdog).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL).unwrap();
        until("not killed", || state(pid).is_none_or(|state| state == 'Z'));
        waiting.refresh().unwrap();
        until("the new one was not told", || told().contains(&line));
    });
}
