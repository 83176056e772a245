//! perf as a process: told by two pipes when to sample, ended by a signal, its file read by itself.
//!
//! It is started before the extra slice and samples between [`Recorder::enable`] and
//! [`Recorder::finish`] alone. Its stacks are of the server's processes and of those they start.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::{geteuid, mkfifo};
use rqps_sample::clock::process_cpu_ns;
use rqps_server::process::{self, Process};
use rqps_server::{Identity, threads};
use rqps_stacks::profile::Unwind;
use rqps_stacks::{Script, ScriptReader};

use super::ability::perf;

/// How long perf may take to attach to all threads of a server, or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it may take to find the functions of all samples: unwind tables cost milliseconds a stack.
const READ_WITHIN: Duration = Duration::from_secs(600);

/// Bytes of the stack that are copied for a sample. Of MySQL 8.0.33 at a point query, 16 KB hold 87% of
/// the stacks whole (of 5.6.14 all); perf takes up to 64 KB.
const STACK_BYTES: u32 = 32_768;

/// Fewest and most copied stacks per second of CPU time, and how many a second are aimed at when all
/// CPUs are busy: some 60 MB/s.
const COPIES_HZ: (u32, u32, u32) = (99, 499, 1994);

/// The same of chains of frame pointers, which are some hundred bytes each: what perf writes and reads of
/// them stays some 10 MB/s.
const CHAINS_HZ: (u32, u32, u32) = (199, 1999, 15_992);

/// Pages of the buffer between kernel and perf for each CPU, as root, who has no limit on them: 8 MB,
/// half a second of copied stacks.
const BUFFER_PAGES: u32 = 2048;

/// Pages that an ordinary user may have for each CPU, and the fewest of a recording: two copied stacks.
const PAGES_OF_USER: u32 = 128;
const LEAST_PAGES: u32 = 16;

/// perf opens an event for each thread and CPU, unless it is not to follow new threads.
const MOST_EVENTS: usize = 4000;

/// How CPU time is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct How {
    pub(super) event: &'static str,
    pub(super) unwind: Unwind,
}

impl How {
    /// Samples per second of CPU time: not a divisor of the timers that servers work by. Copies of
    /// stacks are large, and so there are fewer.
    pub(super) fn frequency_hz(self) -> u32 {
        self.frequency_on(std::thread::available_parallelism().map_or(1, usize::from))
    }

    fn frequency_on(self, n_cpus: usize) -> u32 {
        let (least, most, all) = match self.unwind {
            Unwind::FramePointer => CHAINS_HZ,
            Unwind::Dwarf => COPIES_HZ,
        };
        let n_cpus = u32::try_from(n_cpus.max(1)).unwrap_or(u32::MAX);
        (all / n_cpus).clamp(least, most)
    }

    fn call_graph(self) -> String {
        match self.unwind {
            Unwind::FramePointer => "fp".to_owned(),
            Unwind::Dwarf => format!("dwarf,{STACK_BYTES}"),
        }
    }
}

/// perf while it records a server.
pub(super) struct Recorder {
    process: Process,
    control: File,
    answers: File,
    data: PathBuf,
    said: PathBuf,
    cost_before_ns: u64,
    /// The CPU time that it took while it sampled, once it has ended that.
    cost_ns: Option<u64>,
}

impl Recorder {
    /// Starts perf on the server's processes, with its files in `dir`, one of `at_once` that record at the
    /// same time; it does not sample yet. It overwrites the files of an earlier attempt.
    pub(super) fn start(how: How, processes: &[i32], dir: &Path, at_once: usize) -> Result<Self> {
        let (control, answers) = (dir.join("control"), dir.join("answers"));
        for path in [&control, &answers] {
            let _ = fs::remove_file(path);
            mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).context("create a pipe for perf")?;
        }
        let (data, said) = (dir.join("perf.data"), dir.join("perf.txt"));
        let mut command = perf();
        command.args(["record", "--no-buildid", "--no-buildid-cache", "--delay=-1"]);
        command.arg("--output").arg(&data);
        command.args(["--event", how.event, "--call-graph", &how.call_graph()]);
        command.args(["--freq", &how.frequency_hz().to_string()]);
        command.arg(format!("--control=fifo:{},{}", control.display(), answers.display()));
        let n_threads: usize = processes.iter().map(|pid| threads::tasks(*pid).len()).sum();
        let n_cpus = std::thread::available_parallelism().map_or(1, usize::from);
        if n_threads.saturating_mul(n_cpus) > MOST_EVENTS {
            command.arg("--no-inherit");
        }
        let pages = if geteuid().is_root() { BUFFER_PAGES } else { pages_of_each(at_once) };
        command.args(["--mmap-pages", &pages.to_string()]);
        let ids: Vec<String> = processes.iter().map(ToString::to_string).collect();
        command.args(["--pid", &ids.join(",")]);
        let process = spawn(command, &said)?;
        let open = |path: &Path| {
            let mut options = OpenOptions::new();
            // Open for both, so that nobody waits for the other's end to be there.
            options.read(true).write(true).custom_flags(nix::libc::O_NONBLOCK);
            options.open(path).with_context(|| format!("open {}", path.display()))
        };
        let (control, answers) = (open(&control)?, open(&answers)?);
        let (cost_before_ns, cost_ns) = (0, None);
        let mut recorder = Self { process, control, answers, data, said, cost_before_ns, cost_ns };
        // An answer to a command that changes nothing says that it is attached.
        recorder.tell("disable")?;
        Ok(recorder)
    }

    /// Begins to sample.
    pub(super) fn enable(&mut self) -> Result<()> {
        self.cost_before_ns = process_cpu_ns(self.process.pid()).unwrap_or(0);
        self.tell("enable")
    }

    /// Samples no more.
    pub(super) fn disable(&mut self) -> Result<()> {
        self.tell("disable")?;
        let cost_ns = process_cpu_ns(self.process.pid()).unwrap_or(0);
        self.cost_ns = Some(cost_ns.saturating_sub(self.cost_before_ns));
        Ok(())
    }

    /// Ends it; gives the recording and the CPU time that perf took while it sampled, ns.
    pub(super) fn finish(mut self) -> Result<(PathBuf, u64)> {
        if self.cost_ns.is_none() {
            self.disable()?;
        }
        end(&self.process, &self.said)?;
        Ok((self.data, self.cost_ns.unwrap_or(0)))
    }

    /// Gives a command and waits for the answer.
    fn tell(&mut self, command: &str) -> Result<()> {
        self.control
            .write_all(format!("{command}\n").as_bytes())
            .with_context(|| format!("send {command} to perf"))?;
        let since = Instant::now();
        let mut answer = [0_u8; 64];
        while since.elapsed() < PATIENCE {
            match self.answers.read(&mut answer) {
                Ok(n) if n > 0 => return Ok(()),
                Err(e) if e.kind() != ErrorKind::WouldBlock => {
                    return Err(e).context("read perf's answer");
                }
                _ => {}
            }
            if self.process.ended()?.is_some() {
                bail!("perf ended: {}", last_words(&self.said));
            }
            pause();
        }
        bail!("perf does not answer: {}", last_words(&self.said))
    }
}

/// Reads a recording: perf finds the functions, which takes a while.
pub(super) fn read(data: &Path, dir: &Path, interrupt: &AtomicBool) -> Result<Script> {
    let (out, said) = (dir.join("script.txt"), dir.join("script-said.txt"));
    let mut command = perf();
    command.args(["script", "--no-inline", "--fields", "tid,period,ip,sym,dso", "--input"]);
    command.arg(data);
    command.stdout(File::create(&out).context("create a file for perf's output")?);
    let process = spawn(command, &said)?;
    let since = Instant::now();
    while process.ended()?.is_none() {
        if interrupt.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        if since.elapsed() > READ_WITHIN {
            bail!("perf took longer than {} s to read its recording", READ_WITHIN.as_secs());
        }
        pause();
    }
    if process.ended()?.is_some_and(|status| !status.success()) {
        bail!("perf cannot read its recording: {}", last_words(&said));
    }
    parse(BufReader::new(File::open(&out).context("open perf's output")?))
}

/// What `perf script` wrote, a line at a time: of many samples it is larger than perf's own file.
fn parse(mut from: impl BufRead) -> Result<Script> {
    let (mut reader, mut line) = (ScriptReader::default(), Vec::new());
    while from.read_until(b'\n', &mut line).context("read perf's output")? > 0 {
        let text = String::from_utf8_lossy(&line);
        reader.line(text.trim_end_matches(['\n', '\r']))?;
        line.clear();
    }
    Ok(reader.end())
}

/// Pages of the buffer of each of `at_once` recordings of an ordinary user, who may have 516 KB for each
/// CPU in all (kernel.perf_event_mlock_kb): perf takes powers of two, and a page beside them.
fn pages_of_each(at_once: usize) -> u32 {
    let share = PAGES_OF_USER / u32::try_from(at_once.max(1)).unwrap_or(u32::MAX);
    1 << share.max(LEAST_PAGES).ilog2()
}

/// Starts perf as who runs rqps: it ends with it.
pub(super) fn spawn(mut command: Command, said: &Path) -> Result<Process> {
    command.stderr(File::create(said).context("create a file for perf's messages")?);
    let me = Identity { switch: false, ..Identity::for_servers()? };
    process::spawn(command, &me, Signal::SIGKILL).context("start perf")
}

/// Asks perf to end and waits until its file is whole.
pub(super) fn end(process: &Process, said: &Path) -> Result<()> {
    process.signal(Signal::SIGINT).context("end perf")?;
    await_end(process, said)
}

/// Waits until the file of a perf that was asked to end is whole.
pub(super) fn await_end(process: &Process, said: &Path) -> Result<()> {
    if process.wait(PATIENCE)?.is_none() {
        bail!("perf did not end: {}", last_words(said));
    }
    Ok(())
}

/// The last lines of what perf said.
fn last_words(said: &Path) -> String {
    let text = fs::read(said).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(4)..];
    if last.is_empty() { "no message".to_owned() } else { last.join(" ") }
}

#[expect(clippy::disallowed_methods, reason = "a process and a pipe of perf have no timed wait")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::stacks::ability;

    /// A child that works without end; in the shell's own loop, so that it is one process.
    fn worker() -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]);
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        process::spawn(command, &me, Signal::SIGKILL).unwrap()
    }

    #[test]
    fn a_process_at_work_is_recorded_between_enable_and_finish() {
        let ability = match ability::look() {
            Ok(ability) => ability,
            Err(missing) => {
                eprintln!("skipped: {} ({})", missing.reason, missing.remedy);
                return;
            }
        };
        let worker = worker();
        for unwind in [Unwind::FramePointer, Unwind::Dwarf] {
            let dir = tempfile::tempdir().unwrap();
            let how = How { event: ability.event, unwind };
            let mut recorder = Recorder::start(how, &[worker.pid()], dir.path(), 1).unwrap();
            let before_ns = process_cpu_ns(worker.pid()).unwrap();
            recorder.enable().unwrap();
            #[expect(clippy::disallowed_methods, reason = "there must be something to record")]
            std::thread::sleep(Duration::from_millis(500));
            let (data, _) = recorder.finish().unwrap();
            let used_ns = process_cpu_ns(worker.pid()).unwrap() - before_ns;
            let script = read(&data, dir.path(), &AtomicBool::new(false)).unwrap();
            assert!(script.n_samples > 0 && script.n_threads == 1, "{script:?}");
            let period_ns = script.period_ns / script.n_samples;
            assert_eq!(period_ns, 1_000_000_000 / u64::from(how.frequency_hz()));
            // perf cannot see more than was used; a busy host makes it see less.
            assert!(script.period_ns < used_ns * 2, "{} of {used_ns}", script.period_ns);
        }
    }

    #[test]
    fn many_cpus_are_sampled_more_seldom_each() {
        let of = |unwind, n_cpus| How { event: "cpu-clock", unwind }.frequency_on(n_cpus);
        assert_eq!([1, 8, 16, 200].map(|n| of(Unwind::FramePointer, n)), [1999, 1999, 999, 199]);
        assert_eq!([1, 4, 8, 200].map(|n| of(Unwind::Dwarf, n)), [499, 498, 249, 99]);
    }

    #[test]
    fn a_recording_is_read_by_lines_of_any_bytes() {
        let text =
            b"  1  5 \r\n\t 55 a\xff (/bin/x)\n\t 56 main (/bin/x)\n\n  2  5 \n\t 56 main (/bin/x)";
        let script = parse(BufReader::with_capacity(3, &text[..])).unwrap();
        assert_eq!((script.n_samples, script.period_ns, script.n_threads), (2, 10, 2));
        assert!(script.stacks.to_string().contains("main;a\u{fffd} 1"), "{}", script.stacks);
        let error = parse(&b"\n\t55 main (/bin/x)\n"[..]).unwrap_err();
        assert!(error.to_string().starts_with("line 2 "), "{error}");
    }

    #[test]
    fn recordings_at_once_share_what_an_ordinary_user_may_have() {
        assert_eq!([1, 2, 3, 5, 100].map(pages_of_each), [128, 64, 32, 16, 16]);
    }

    #[test]
    fn a_process_that_is_not_there_is_told_in_perfs_words() {
        if ability::look().is_err() {
            eprintln!("skipped: no perf");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let how = How { event: "cpu-clock", unwind: Unwind::FramePointer };
        let error = Recorder::start(how, &[i32::MAX], dir.path(), 1).map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with("perf ended: "), "{error}");
    }
}
