//! A process of its own that ends servers when rqps has died while they were stopped.
//!
//! The kernel sends a server its death signal when rqps ends, but a process that is stopped acts on
//! SIGKILL alone, and PostgreSQL gets a gentler signal so that it releases its shared memory. The
//! watchdog hears of rqps's end by the end of its input, which no way of dying can avoid.
//!
//! ```text
//! hold ROOT SIGNAL PID:STARTED PID:STARTED ...   a tree to end, in place of what was said of ROOT
//! release ROOT                                   it has ended, or is no longer stopped
//! ```
//!
//! It says `ready` before it is told of anything, and is started again when it has ended before rqps.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr as _;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::freeze::Freezer;
use crate::process::{StartedProcess, Stat, descendants, describe_end, stat};
use crate::watch::pause;
use crate::{pidfd, secrets};

/// How long a server may take to end by its death signal before all of it is killed.
const END_WITHIN: Duration = Duration::from_secs(5);

/// What the watchdog says when it listens.
const READY: &str = "ready";

/// How long it may take to say so: far longer than a program takes to start on a busy host.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// rqps's side of the watchdog.
#[derive(Debug)]
pub struct Watchdog {
    command: Command,
    child: Child,
    /// Absent only while it is being dropped.
    input: Option<ChildStdin>,
    told: BTreeMap<i32, String>,
}

impl Watchdog {
    /// Starts the watchdog. `command` is rqps with the arguments that make it call [`watch`]. Returns when it
    /// listens.
    ///
    /// # Errors
    /// When it cannot be started, or ends or says nothing in place of [`READY`].
    pub fn start(mut command: Command) -> io::Result<Self> {
        // In a group of its own: what a terminal sends to rqps is not for it. Without the streams of
        // rqps: who waits for their end waits for rqps.
        command.process_group(0).current_dir("/");
        secrets::keep_from(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (child, input) = spawn_ready(&mut command)?;
        Ok(Self { command, child, input: Some(input), told: BTreeMap::new() })
    }

    /// Registers a process tree: before it is stopped, and again after its processes changed.
    ///
    /// # Errors
    /// When the watchdog is gone and cannot be started again.
    pub fn hold(&mut self, freezer: &Freezer, death: Signal) -> io::Result<()> {
        if self.child.try_wait()?.is_some() {
            self.revive()?;
        }
        let mut line = format!("hold {} {}", freezer.root(), death.as_str());
        for StartedProcess { pid, started } in freezer.members() {
            line.push_str(&format!(" {pid}:{started}"));
        }
        if self.told.get(&freezer.root()) == Some(&line) {
            return Ok(());
        }
        let said = self.say(&line);
        self.told.insert(freezer.root(), line);
        // It may have ended since it was looked at.
        said.or_else(|_| self.revive())
    }

    /// Starts another one in place of one that has ended, and tells it all that the other was told.
    fn revive(&mut self) -> io::Result<()> {
        drop(self.input.take());
        let _ = self.child.kill();
        self.child.wait()?;
        let (child, input) = spawn_ready(&mut self.command)?;
        (self.child, self.input) = (child, Some(input));
        for line in self.told.values().cloned().collect::<Vec<_>>() {
            self.say(&line)?;
        }
        Ok(())
    }

    /// Removes a tree from the watchdog.
    ///
    /// # Errors
    /// When the watchdog is gone.
    pub fn release(&mut self, root: i32) -> io::Result<()> {
        if self.told.remove(&root).is_none() {
            return Ok(());
        }
        self.say(&format!("release {root}"))
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        let gone = || io::Error::other("the watchdog process is gone");
        let input = self.input.as_mut().ok_or_else(gone)?;
        // One write: a line is whole or not there.
        input.write_all(format!("{line}\n").as_bytes())
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        for root in std::mem::take(&mut self.told).into_keys() {
            let _ = self.say(&format!("release {root}"));
        }
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Spawns it and waits until it says that it listens.
fn spawn_ready(command: &mut Command) -> io::Result<(Child, ChildStdin)> {
    let mut child = command.spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (say, said) = channel();
    // A pipe has no timed read. The thread ends with that line, at the latest with the process.
    std::thread::Builder::new().spawn(move || say.send(await_ready(output)))?;
    let said = said.recv_timeout(READY_WITHIN).unwrap_or_else(|_| Some(String::new()));
    if let (Some(input), None) = (input, &said) {
        return Ok((child, input));
    }
    let _ = child.kill();
    let (said, end) = (said.unwrap_or_default(), describe_end(child.wait()?));
    Err(io::Error::other(format!("it said {said:?} in place of {READY:?}; {end}")))
}

/// Reads until it says that it is ready; gives what it said in place of that.
fn await_ready(output: Option<ChildStdout>) -> Option<String> {
    let mut said = String::new();
    for line in output.map(|output| BufReader::new(output).lines()).into_iter().flatten() {
        match line {
            Ok(line) if line == READY => return None,
            Ok(line) => said.push_str(&format!("{line}\n")),
            Err(_) => break,
        }
    }
    Some(said)
}

/// A tree that is to end with rqps.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    death: Signal,
    members: Vec<StartedProcess>,
}

/// The watchdog process: says that it is ready, listens until its input ends, then ends the trees that it
/// holds.
///
/// # Errors
/// When its input cannot be read; what it holds is ended then, too. When nobody hears that it is ready.
pub fn watch(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    output.write_all(format!("{READY}\n").as_bytes()).and_then(|()| output.flush())?;
    drop(output);
    let mut held = BTreeMap::new();
    let mut result = Ok(());
    for line in input.lines() {
        match line {
            Ok(line) => take(&line, &mut held),
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    end_all(&held);
    result
}

/// Acts on a line. One that makes no sense is the torn last one of an rqps that died: passed over.
fn take(line: &str, held: &mut BTreeMap<i32, Held>) {
    let mut words = line.split(' ');
    let (verb, root) = (words.next(), words.next().and_then(|word| word.parse::<i32>().ok()));
    match (verb, root) {
        (Some("release"), Some(root)) => {
            held.remove(&root);
        }
        (Some("hold"), Some(root)) => {
            let Some(death) = words.next().and_then(|word| Signal::from_str(word).ok()) else {
                return;
            };
            let member = |word: &str| {
                let (pid, started) = word.split_once(':')?;
                Some(StartedProcess { pid: pid.parse().ok()?, started: started.parse().ok()? })
            };
            held.insert(root, Held { death, members: words.filter_map(member).collect() });
        }
        _ => {}
    }
}

/// Lets every tree run and end by its own signal, and kills what remains of it after a while.
fn end_all(held: &BTreeMap<i32, Held>) {
    let mut all: Vec<StartedProcess> = Vec::new();
    for (&root, tree) in held {
        all.extend(ask_to_end(root, tree.death, &tree.members));
    }
    kill_what_stays(&all);
}

/// The same for one tree of these processes.
pub(crate) fn end_tree(root: i32, death: Signal, members: &[StartedProcess]) {
    kill_what_stays(&ask_to_end(root, death, members));
}

/// Sends a tree its signal and lets it run to hear it; gives those that were there.
fn ask_to_end(root: i32, death: Signal, members: &[StartedProcess]) -> Vec<StartedProcess> {
    // Nobody is to be taken for somebody else who has the same id by now.
    let mut there: Vec<StartedProcess> = members.iter().copied().filter(|m| is_there(*m)).collect();
    if there.iter().any(|process| process.pid == root) {
        there.extend(descendants(root));
        if let Some(first) = there.iter().find(|process| process.pid == root) {
            pidfd::send(*first, death);
        }
    }
    for process in &there {
        pidfd::send(*process, Signal::SIGCONT);
    }
    there
}

fn kill_what_stays(all: &[StartedProcess]) {
    let since = Instant::now();
    while all.iter().any(|m| is_there(*m)) {
        if since.elapsed() > END_WITHIN {
            for member in all.iter().filter(|m| is_there(**m)) {
                pidfd::send(*member, Signal::SIGKILL);
            }
            return;
        }
        pause(Duration::from_millis(10));
    }
}

/// Whether this very process is there and has not ended.
fn is_there(process: StartedProcess) -> bool {
    let is_same = |now: &Stat| now.started == process.started;
    stat(process.pid).is_some_and(|now| is_same(&now) && !matches!(now.state, 'Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    use super::*;

    #[test]
    fn lines_by_hand() {
        let mut held = BTreeMap::new();
        for line in ["hold 7 SIGQUIT 7:100 9:120", "hold 8 SIGKILL", "nonsense", "hold 9", ""] {
            take(line, &mut held);
        }
        assert_eq!(held.keys().copied().collect::<Vec<_>>(), [7, 8]);
        let members =
            [(7, 100), (9, 120)].map(|(pid, started)| StartedProcess { pid, started }).to_vec();
        assert_eq!(held[&7], Held { death: Signal::SIGQUIT, members });
        take("release 7", &mut held);
        assert_eq!(held.len(), 1);
    }

    #[test]
    fn another_process_with_the_same_id_is_left_alone() {
        let me = i32::try_from(std::process::id()).unwrap();
        let started = stat(me).unwrap().started;
        let process = StartedProcess { pid: me, started };
        assert!(is_there(process));
        assert!(!is_there(StartedProcess { started: started + 1, ..process }));
        // Had it taken this process for a held one, the test would end here.
        let mut said = Vec::new();
        watch(format!("hold {me} SIGKILL {me}:{}\n", started + 1).as_bytes(), &mut said).unwrap();
        assert_eq!(said, b"ready\n");
    }

    /// A stand-in that writes down what it is told, and the end of its input.
    fn stand_in(notes: &std::path::Path) -> Command {
        let mut command = Command::new("sh");
        let script = r#"echo ready; while read -r line; do echo "$line" >> "$0"; done"#;
        command.args(["-c", script]).arg(notes);
        command
    }

    fn until(what: &str, done: impl Fn() -> bool) {
        let since = Instant::now();
        while !done() {
            assert!(since.elapsed() < Duration::from_secs(60), "{what}");
            pause(Duration::from_millis(2));
        }
    }

    #[test]
    fn one_that_was_killed_is_replaced_and_told_all() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join("notes");
        let lines = || std::fs::read_to_string(&notes).unwrap_or_default();
        let mut watchdog = Watchdog::start(stand_in(&notes)).unwrap();
        let me = Freezer::new(std::process::id().cast_signed());
        watchdog.hold(&me, Signal::SIGQUIT).unwrap();
        until("not told", || lines().lines().count() == 1);
        let first = lines();
        assert!(first.starts_with(&format!("hold {} SIGQUIT ", me.root())), "{first}");
        let pid = watchdog.child.id();
        kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
        // What is known is not said again, but by one that has to hear it.
        until("never noticed", || stat(pid.cast_signed()).is_none_or(|s| s.state == 'Z'));
        watchdog.hold(&me, Signal::SIGQUIT).unwrap();
        assert_ne!(watchdog.child.id(), pid);
        until("not told", || lines().lines().count() >= 2);
        assert_eq!(lines().lines().next(), lines().lines().nth(1));
        drop(watchdog);
        assert!(lines().ends_with(&format!("release {}\n", me.root())), "{}", lines());
    }

    #[test]
    fn one_that_is_never_ready_is_an_error() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo error: no HOME; exit 2"]);
        let error = Watchdog::start(command).unwrap_err().to_string();
        let words = "it said \"error: no HOME\\n\" in place of \"ready\"; it ";
        assert!(error.starts_with(words), "{error}");
    }
}
