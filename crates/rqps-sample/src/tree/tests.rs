//! Real processes of this machine: shells that burn CPU, fork and end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::*;
use crate::clock::process_cpu_ns;

/// A shell that is told line by line what to do, and ends with the test.
struct Shell {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start() -> Self {
        let mut child =
            Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Runs commands and waits for the word that they print last.
    fn run(&mut self, commands: &str) -> String {
        writeln!(self.input, "{commands}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns once the process is stopped by a signal.
fn wait_until_stopped(pid: &str) {
    let path = format!("/proc/{pid}/stat");
    while parse_process_stat(&std::fs::read_to_string(&path).unwrap()).unwrap().state != 'T' {
        std::thread::yield_now();
    }
}

fn scratch(has_children_files: bool) -> Scratch {
    Scratch { has_children_files, ..Scratch::new() }
}

/// Both ways of finding children.
const WAYS: [bool; 2] = [true, false];

/// A loop of CPU work that takes some 10 ms and more.
const BURN: &str = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";

#[test]
fn finds_children_and_grandchildren() {
    for way in WAYS {
        let mut shell = Shell::start();
        let mut scratch = scratch(way);
        let mut tree = Tree::open(shell.pid(), &mut scratch).unwrap();
        assert_eq!(tree.read(&mut scratch).unwrap().n_processes, 1);
        // The shell in the middle lives as long as its child, because more is left to do.
        let grandchild = shell.run("sh -c 'sleep 100 & echo $!; wait; true' &");
        let counters = tree.read(&mut scratch).unwrap();
        assert_eq!((counters.n_processes, counters.n_threads), (3, 3), "way {way}");
        assert!(counters.rss_bytes > 0 && counters.minor_faults > 0);
        shell.run(&format!("kill {grandchild}; wait; echo gone"));
        assert_eq!(tree.read(&mut scratch).unwrap().n_processes, 1, "way {way}");
    }
}

#[test]
fn a_child_that_ended_stays_counted() {
    for way in WAYS {
        let mut shell = Shell::start();
        let mut scratch = scratch(way);
        let mut tree = Tree::open(shell.pid(), &mut scratch).unwrap();
        let before = tree.read(&mut scratch).unwrap();
        // The child burns CPU, stops and is seen; then it burns some more and ends.
        let child = shell.run(&format!("sh -c '{BURN}; echo $$; kill -STOP $$; {BURN}' &"));
        wait_until_stopped(&child);
        let alive = tree.read(&mut scratch).unwrap();
        assert_eq!(alive.n_processes, 2);
        let own = process_cpu_ns(shell.pid()).unwrap();
        let child_ns = alive.cpu_total_ns - own;
        assert!(child_ns > 0 && alive.cpu_total_ns > before.cpu_total_ns);
        shell.run("kill -CONT $!; wait; echo ended");
        let after = tree.read(&mut scratch).unwrap();
        assert_eq!(after.n_processes, 1);
        assert!(after.cpu_total_ns >= alive.cpu_total_ns, "{alive:?} {after:?}");
        assert!(after.cpu_user_ns >= alive.cpu_user_ns);
        assert!(after.minor_faults >= alive.minor_faults);
        assert!(after.voluntary_switches >= alive.voluntary_switches);
        // Counted once: not much more than the shell's own use and twice what the child had used.
        let own = process_cpu_ns(shell.pid()).unwrap();
        assert!(after.cpu_total_ns < own + 20 * child_ns, "{own} {child_ns} {after:?}");
    }
}

#[test]
fn a_child_between_two_samples_is_not_lost() {
    let mut shell = Shell::start();
    let mut scratch = scratch(true);
    let mut tree = Tree::open(shell.pid(), &mut scratch).unwrap();
    let before = tree.read(&mut scratch).unwrap();
    let own_before = process_cpu_ns(shell.pid()).unwrap();
    shell.run(&format!("( for i in 1 2 3 4 5 6 7 8 9; do {BURN}; done ); echo ended"));
    let after = tree.read(&mut scratch).unwrap();
    let own = process_cpu_ns(shell.pid()).unwrap() - own_before;
    let all = after.cpu_total_ns - before.cpu_total_ns;
    // 270,000 iterations of a shell's loop take more than two ticks on any machine.
    assert!(all > own, "the tree used {all} ns, the root alone {own} ns");
}

#[test]
fn a_tree_that_ended_keeps_its_counters() {
    let shell = Shell::start();
    let pid = shell.pid();
    let mut scratch = scratch(true);
    let mut tree = Tree::open(pid, &mut scratch).unwrap();
    let before = tree.read(&mut scratch).unwrap();
    drop(shell);
    let after = tree.read(&mut scratch).unwrap();
    assert_eq!((after.n_processes, after.n_threads, after.rss_bytes), (0, 0, 0));
    assert!(after.cpu_total_ns >= before.cpu_total_ns);
    assert!(matches!(Tree::open(pid, &mut scratch), Err(Error::NoProcess { .. })));
}

#[test]
fn threads_are_counted_and_so_are_those_that_end() {
    // This process itself: the test harness has threads of its own.
    let mut scratch = scratch(true);
    let pid = i32::try_from(std::process::id()).unwrap();
    let mut tree = Tree::open(pid, &mut scratch).unwrap();
    let before = tree.read(&mut scratch).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || receiver.recv());
    let during = tree.read(&mut scratch).unwrap();
    assert!(during.n_threads >= 2);
    sender.send(()).unwrap();
    thread.join().unwrap().unwrap();
    let after = tree.read(&mut scratch).unwrap();
    assert!(after.voluntary_switches >= during.voluntary_switches);
    assert!(during.voluntary_switches >= before.voluntary_switches);
}

#[test]
fn no_more_files_stay_open_than_may() {
    let mut shell = Shell::start();
    let children =
        shell.run("all=; for n in 1 2 3 4; do sleep 100 & all=\"$all $!\"; done; echo $all");
    for most_kept in [0, 7] {
        let mut scratch = Scratch { most_kept, ..scratch(true) };
        let mut tree = Tree::open(shell.pid(), &mut scratch).unwrap();
        for _ in 0..2 {
            assert_eq!(tree.read(&mut scratch).unwrap().n_processes, 5);
            let n_kept: usize = tree.processes.iter().map(Process::n_kept).sum();
            assert_eq!(n_kept, most_kept);
        }
    }
    shell.run(&format!("kill {children}; echo"));
}
