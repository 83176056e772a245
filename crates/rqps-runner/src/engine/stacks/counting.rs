//! perf while it counts events of the CPU: begun before the slices, ended with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::sys::signal::Signal;
use rqps_server::process::Process;
use rqps_stacks::Counter;
use rqps_stacks::counter_text::{EVENTS, parse_counters};

use super::ability::perf;
use super::perf::{await_end, end, spawn};

/// How long a perf that counts may take to end before the servers run again.
const MOMENT: Duration = Duration::from_secs(1);

/// perf while it counts events of the CPU.
pub(super) struct Counting {
    process: Process,
    /// Whether it was asked to end.
    is_stopped: bool,
    out: PathBuf,
    said: PathBuf,
}

impl Counting {
    /// Begins to count on the server's processes.
    pub(super) fn start(event: &str, processes: &[i32], dir: &Path) -> Result<Self> {
        let (out, said) = (dir.join("stat.txt"), dir.join("stat-said.txt"));
        // User code alone where the kernel's may not be seen, as for the stacks.
        let modifier = if event.ends_with(":u") { ":u" } else { "" };
        let events: Vec<String> = EVENTS.iter().map(|name| format!("{name}{modifier}")).collect();
        let ids: Vec<String> = processes.iter().map(ToString::to_string).collect();
        let mut command = perf();
        command.args(["stat", "-x,", "--event", &events.join(","), "--pid", &ids.join(",")]);
        command.arg("--output").arg(&out);
        let process = spawn(command, &said)?;
        Ok(Self { process, is_stopped: false, out, said })
    }

    /// Asks it to end, at which it counts no more. Where that fails it is asked once more.
    pub(super) fn stop(&mut self) {
        self.is_stopped = self.process.signal(Signal::SIGINT).is_ok();
    }

    /// Waits for a moment until it has ended: it counts until it gets a CPU.
    pub(super) fn settle(&self) {
        if self.is_stopped {
            // What it had to say is read when it is finished.
            let _ = self.process.wait(MOMENT);
        }
    }

    /// Ends it; gives the counters.
    pub(super) fn finish(self) -> Result<Vec<Counter>> {
        if self.is_stopped {
            await_end(&self.process, &self.said)?;
        } else {
            end(&self.process, &self.said)?;
        }
        let text = fs::read_to_string(&self.out).context("read perf's counters")?;
        Ok(parse_counters(&text)?)
    }

    /// One that ends at once and writes nothing.
    #[cfg(test)]
    pub(super) fn without_result(dir: &Path) -> Result<Self> {
        let (out, said) = (dir.join("stat.txt"), dir.join("stat-said.txt"));
        let process = spawn(std::process::Command::new("true"), &said)?;
        Ok(Self { process, is_stopped: false, out, said })
    }
}
