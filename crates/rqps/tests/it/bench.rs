//! What the tests stand on: a directory that goes, the binary in it, and processes that can be found.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_server::{Wishes, instance, places};
use serde_json::Value;

pub(crate) use crate::processes::{parent, processes};
use crate::redact::redact;

/// Longest wait for anything: a download on a slow line included. Reached only by what hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(900);

/// A directory of a test, in which the binary runs.
pub(crate) struct Bench {
    temp: tempfile::TempDir,
    /// Whether each server makes its data directory itself.
    makes_data: bool,
    /// The factor on the times for which servers are waited for.
    patience: &'static str,
}

/// What a command that ended said.
pub(crate) struct Said {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command under way.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    pub(crate) stderr: String,
}

/// Where data directories are kept that the binary has made. Another build makes its own.
fn templates() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let built = fs::metadata(env!("CARGO_BIN_EXE_rqps")).unwrap().modified().unwrap();
        let built = built.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("templates");
        let dir = all.join(built.to_string());
        for other in fs::read_dir(&all).into_iter().flatten().flatten() {
            if other.path() != dir {
                let _ = fs::remove_dir_all(other.path());
            }
        }
        dir
    })
}

impl Bench {
    /// A directory that any user can enter, so that the servers' data lie below it.
    pub(crate) fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tempfile::Builder::new().prefix("rqps-it").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self { temp, makes_data: false, patience: "1" }
    }

    /// One in which no data directory is a copy.
    pub(crate) fn that_makes_data() -> Self {
        let mut bench = Self::new();
        bench.makes_data = true;
        bench
    }

    /// The same where servers are waited for a twentieth of the usual times: fake ones need no more.
    pub(crate) fn impatient() -> Self {
        let mut bench = Self::new();
        bench.patience = "0.05";
        bench
    }

    pub(crate) fn dir(&self) -> &Path {
        self.temp.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes a file that nobody else may read.
    pub(crate) fn write_private(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rqps"));
        self.surround(command.args(args));
        command
    }

    /// The directory and environment of a command.
    fn surround<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        if !self.makes_data {
            command.env("RQPS_TEMPLATES", templates());
        }
        command
            .current_dir(self.dir())
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .env("RQPS_PATIENCE", self.patience)
            // Not the developer's own servers.
            .env("XDG_CONFIG_HOME", self.path("config"))
            .stdin(Stdio::null())
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        said(self.command(args).output().unwrap())
    }

    /// Runs a command to its end in another environment.
    pub(crate) fn run_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Said {
        said(self.command(args).envs(environment.iter().copied()).output().unwrap())
    }

    /// Runs a command to its end after a command of the shell, such as one that sets a limit.
    pub(crate) fn run_after(&self, shell: &str, args: &[&str]) -> Said {
        said(self.command_after(shell, args).output().unwrap())
    }

    fn command_after(&self, shell: &str, args: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell} && exec \"$0\" \"$@\"")]);
        self.surround(command.arg(env!("CARGO_BIN_EXE_rqps")).args(args));
        command
    }

    /// Runs a command with text on its standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Said {
        self.write("stdin", input);
        let stdin = fs::File::open(self.path("stdin")).unwrap();
        said(self.command(args).stdin(stdin).output().unwrap())
    }

    /// Starts a command and reads what it says on standard error.
    pub(crate) fn spawn(&self, args: &[&str]) -> Running {
        self.spawn_with_input(args, Stdio::null())
    }

    /// The same with something on its standard input.
    pub(crate) fn spawn_with_input(&self, args: &[&str], input: impl Into<Stdio>) -> Running {
        let mut command = self.command(args);
        command.stdin(input);
        Self::watched(command)
    }

    /// Starts a command after a command of the shell, such as one that ignores a signal.
    pub(crate) fn spawn_after(&self, shell: &str, args: &[&str]) -> Running {
        Self::watched(self.command_after(shell, args))
    }

    fn watched(mut command: Command) -> Running {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Running { child, lines, stderr: String::new() }
    }

    /// Runs a command that must succeed, and gives its standard output.
    pub(crate) fn output(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.code(), 0, "{args:?}: {}", said.stderr);
        said.stdout
    }

    /// Runs a command that must succeed and say JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.output(args)).unwrap()
    }

    /// What the store holds of the latest run.
    pub(crate) fn latest(&self) -> Value {
        self.json(&["runs", "show", "--json"])
    }

    /// A text without what differs from one run, host or day to the next.
    pub(crate) fn redact(&self, text: &str) -> String {
        redact(text, self.dir())
    }

    /// The processes of this bench whose command line or working directory names `word`. Tests run side
    /// by side, and runs that begin in the same second under one name have one id.
    pub(crate) fn processes_of(&self, word: &str) -> Vec<i32> {
        let dir = self.dir().to_string_lossy();
        processes(|text| text.contains(word) && text.contains(&*dir))
    }

    /// The one process that has `word` in its command line, and above it none that has: a server by its
    /// run's id. A process of PostgreSQL's that was just forked has the command line of the first.
    pub(crate) fn process_of(&self, word: &str) -> i32 {
        let named = |pid: &i32| {
            let cmdline = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&cmdline).contains(word)
        };
        let all: Vec<i32> = self.processes_of(word).into_iter().filter(named).collect();
        let is_below = |pid: i32| parent(pid).is_none_or(|above| all.contains(&above));
        let first: Vec<i32> = all.iter().copied().filter(|&pid| !is_below(pid)).collect();
        assert_eq!(first.len(), 1, "{all:?} of {word}");
        first[0]
    }

    /// Nothing of a run is left: no process, no data but those stored for later runs.
    pub(crate) fn assert_tidy(&self, run_id: &str) {
        assert_eq!(self.processes_of(run_id), Vec::<i32>::new(), "processes of {run_id}");
        let data = fs::read_dir(self.path("rqps-results/data")).unwrap();
        let left = data.map(|e| e.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name != "tables").collect();
        assert!(left.is_empty(), "{left:?} is left of the data");
    }

    /// What the markers of a run's data directories say.
    fn markers(&self, run_id: &str) -> Vec<String> {
        let Ok(dirs) = fs::read_dir(self.path("rqps-results/data")) else { return Vec::new() };
        let markers = dirs.map(|dir| dir.unwrap().path().join("rqps-instance.json"));
        let of_run = markers.filter(|path| path.to_string_lossy().contains(run_id));
        of_run.map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
    }

    /// Whether the tables of a run are filled.
    pub(crate) fn has_tables(&self, run_id: &str) -> bool {
        let texts = self.markers(run_id);
        !texts.is_empty() && texts.iter().all(|text| text.contains("\"load="))
    }

    /// Nothing of a run is at work, and data are there for the next attempt.
    pub(crate) fn assert_left(&self, run_id: &str) {
        assert_eq!(self.processes_of(run_id), Vec::<i32>::new(), "processes of {run_id}");
        let texts = self.markers(run_id);
        assert!(!texts.is_empty(), "no data are left");
        assert!(texts.iter().all(|text| text.contains("\"load=")), "{texts:?}");
    }

    /// Waits until no process names `word` any more.
    pub(crate) fn await_no_process(&self, word: &str) {
        let since = Instant::now();
        loop {
            let left = self.processes_of(word);
            if left.is_empty() {
                return;
            }
            assert!(since.elapsed() < DEADLINE, "{left:?} of {word} are left");
            pause();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "polling: there is no event to wait for")]
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

#[expect(clippy::disallowed_methods, reason = "the moment is what is tried")]
pub(crate) fn pause_for(time: Duration) {
    std::thread::sleep(time);
}

fn said(output: std::process::Output) -> Said {
    Said {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Said {
    /// The exit code; a signal counts as 128 and its number.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }
}

impl Running {
    /// Reads lines until one has `word` in it.
    pub(crate) fn await_line(&mut self, word: &str) -> String {
        loop {
            let line = match self.lines.recv_timeout(DEADLINE) {
                Ok(line) => line,
                Err(error) => panic!("no line with {word:?}: {error}; so far:\n{}", self.stderr),
            };
            self.stderr.push_str(&line);
            self.stderr.push('\n');
            if line.contains(word) {
                return line;
            }
        }
    }

    /// The id of its run, once it has one.
    pub(crate) fn run_id(&mut self) -> String {
        let line = self.await_line(" run ");
        line.split(" run ").nth(1).unwrap().split([' ', ':']).next().unwrap().to_owned()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Said {
        loop {
            match self.lines.recv_timeout(DEADLINE) {
                Ok(line) => self.stderr = format!("{}{line}\n", self.stderr),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it hangs after:\n{}", self.stderr),
            }
        }
        let status = self.child.wait().unwrap();
        let mut stdout = String::new();
        if let Some(mut pipe) = self.child.stdout.take() {
            pipe.read_to_string(&mut stdout).unwrap();
        }
        Said { status, stdout, stderr: std::mem::take(&mut self.stderr) }
    }
}

impl Drop for Bench {
    /// Data of a killed run go with the directory; the sockets of its servers lie elsewhere.
    fn drop(&mut self) {
        let data = self.path("rqps-results/data");
        let wishes = Wishes { cache: &data, data: &data, temp: self.dir() };
        for dir in fs::read_dir(&data).into_iter().flatten().flatten() {
            for sockets in places::existing_sockets(&wishes) {
                instance::clear_socket(&sockets, &dir.path());
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only a test that failed leaves one.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The slices of one system's step as `(idx, seed)`, in order.
pub(crate) fn slices(step: &Value, system: usize) -> Vec<(u64, u64)> {
    let slices = step["systems"][system]["slices"].as_array().unwrap();
    slices.iter().map(|s| (s["idx"].as_u64().unwrap(), s["seed"].as_u64().unwrap())).collect()
}

/// Whether every step has `n` slices on every system, each once. Warm-ups and the indexes of a suite have one, loads as
/// many as their rows make.
pub(crate) fn assert_complete(run: &Value, n: usize) {
    assert_eq!(run["status"], "finished");
    for step in run["steps"].as_array().unwrap() {
        let name = step["info"]["name"].as_str().unwrap();
        let kind = step["info"]["kind"].as_str().unwrap();
        for (system, state) in step["systems"].as_array().unwrap().iter().enumerate() {
            assert_eq!(state["outcome"]["outcome"], "done", "{name}: {}", state["outcome"]);
            let slices = slices(step, system);
            let idxs: Vec<u64> = slices.iter().map(|s| s.0).collect();
            let n = match kind {
                "load" => idxs.len().max(1),
                "index" | "warm-up" => 1,
                _ => n,
            };
            let wanted: Vec<u64> = (0..n as u64).collect();
            assert_eq!(idxs, wanted, "slices of {name} on system {system}");
        }
    }
}

/// The steps with slices that have a warning of a kind.
pub(crate) fn warned(run: &Value, kind: &str) -> Vec<String> {
    let steps = run["steps"].as_array().unwrap().iter();
    let has = |step: &&Value| {
        let systems = step["systems"].as_array().unwrap().iter();
        systems
            .flat_map(|system| system["slices"].as_array().unwrap())
            .flat_map(|slice| slice["warnings"].as_array().unwrap())
            .any(|warning| warning["kind"] == kind)
    };
    steps.filter(has).map(|s| s["info"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Runs a test on each server that was chosen, as DBMS and version.
pub(crate) fn for_each_server(test: impl Fn(&str, &str)) {
    on_servers("postgres@11.22 mariadb@10.2.11", test);
}

/// The same where one real server is enough unless others are chosen: fake ones have shown the rest.
pub(crate) fn for_one_server(test: impl Fn(&str, &str)) {
    on_servers("postgres@11.22", test);
}

fn on_servers(default: &str, test: impl Fn(&str, &str)) {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let chosen = std::env::var("RQPS_TEST_SERVERS").unwrap_or_default();
    let chosen = if chosen.is_empty() { default } else { &chosen };
    for name in chosen.split_whitespace() {
        eprintln!("server {name}");
        let (dbms, version) = name.split_once('@').unwrap();
        test(dbms, version);
    }
}
