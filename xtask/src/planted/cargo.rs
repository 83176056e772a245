//! Runs cargo in the tree that has a bug, and says which test failed first.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How often it is seen whether cargo has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Lines of what cargo said that are told of a build that failed.
const TOLD_LINES: usize = 12;

/// What tests made of a bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All passed.
    Passed,
    /// The first test that failed.
    Failed(String),
    /// A program of tests ended before it told which failed; the last that was told.
    Died(String),
    /// They did not end.
    Hung,
}

/// Cargo in a tree, with a target directory of its own.
#[derive(Debug)]
pub(super) struct Cargo {
    pub(super) tree: PathBuf,
    pub(super) target: PathBuf,
}

impl Cargo {
    /// Builds the tests of what `what` selects.
    ///
    /// # Errors
    /// With the first error that cargo told, and what follows it.
    pub(super) fn build(&self, what: &[&str]) -> Result<()> {
        let (status, said) = self.run(&[&["--no-run"], what].concat(), Duration::MAX)?;
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let errors: Vec<&str> =
            said.lines().skip_while(|line| !line.starts_with("error")).take(TOLD_LINES).collect();
        bail!("{}", errors.join("\n"))
    }

    /// Runs the tests of what `what` selects, until one program of them has failed: all, or one of this name. The
    /// list of bugs is no longer that of the tree, so that its own test is skipped.
    pub(super) fn test(
        &self,
        what: &[&str],
        name: Option<&str>,
        within: Duration,
    ) -> Result<Outcome> {
        let which: Vec<&str> = match name {
            Some(name) => vec!["--", "--exact", name],
            None => vec!["--", "--skip", "planted::"],
        };
        let (status, said) = self.run(&[what, &which].concat(), within)?;
        Ok(match status {
            None => Outcome::Hung,
            Some(status) if status.success() => Outcome::Passed,
            Some(status) => match first_failed(&said) {
                Some(test) => Outcome::Failed(test.to_owned()),
                None => {
                    let is_built = said.lines().any(|line| line.starts_with("running "));
                    let last = said.lines().rfind(|line| !line.trim().is_empty());
                    let last = last.unwrap_or_default();
                    anyhow::ensure!(is_built, "cargo ended with {status}: {last}");
                    Outcome::Died(last.to_owned())
                }
            },
        })
    }

    /// What cargo said, and how it ended; no status where that took too long.
    fn run(&self, args: &[&str], within: Duration) -> Result<(Option<ExitStatus>, String)> {
        fs::create_dir_all(&self.target).context("make the target directory")?;
        let log = self.target.with_extension("log");
        let out = File::create(&log).with_context(|| format!("write {}", log.display()))?;
        let mut cargo = Command::new(env!("CARGO"))
            .args(["test", "--quiet", "--locked"])
            .args(args)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            // Debug tables double what is written, and nobody debugs this.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env_remove("UPDATE_EXPECT")
            .stdin(Stdio::null())
            .stderr(out.try_clone().context("share the log")?)
            .stdout(out)
            .spawn()
            .context("run cargo")?;
        let began = Instant::now();
        let status = loop {
            if let Some(status) = cargo.try_wait().context("wait for cargo")? {
                break Some(status);
            }
            if began.elapsed() > within {
                end_tree(cargo.id());
                cargo.wait().context("wait for cargo")?;
                break None;
            }
            #[expect(clippy::disallowed_methods, reason = "cargo takes minutes")]
            std::thread::sleep(LOOK_EVERY);
        };
        let said = fs::read(&log).with_context(|| format!("read {}", log.display()))?;
        Ok((status, String::from_utf8_lossy(&said).into_owned()))
    }
}

/// The first test that libtest tells of as failed: `---- NAME stdout ----`, or the first of its list where none of
/// them wrote anything.
fn first_failed(said: &str) -> Option<&str> {
    let listed = || {
        let (_, list) = said.rsplit_once("\nfailures:\n")?;
        list.lines().find_map(|line| line.strip_prefix("    "))
    };
    said.lines().find_map(name_of).or_else(listed)
}

/// The test whose output a line announces.
fn name_of(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// Ends a process and all that it started, the children first seen first.
fn end_tree(root: u32) {
    let mut all = vec![root];
    let mut at = 0;
    while let Some(&parent) = all.get(at) {
        all.extend(children(parent));
        at += 1;
    }
    for pid in all {
        if let Ok(pid) = i32::try_from(pid) {
            // Fails where it has ended by itself.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// The children of all threads of a process.
fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("task"));
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).ok();
    let texts: Vec<String> = tasks.into_iter().flatten().flatten().filter_map(of_task).collect();
    texts.iter().flat_map(|text| text.split_whitespace()).filter_map(|n| n.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failed_test_is_named() {
        let said = "running 3 tests\n.F\nfailures:\n\n---- a::b stdout ----\nthread 'a::b' panicked\n\n\
                    ---- c stdout ----\n\nfailures:\n    a::b\n    c\n\ntest result: FAILED.\n";
        assert_eq!(first_failed(said), Some("a::b"));
        assert_eq!(
            first_failed("x\nfailures:\n\nfailures:\n    c::d\n\ntest result"),
            Some("c::d")
        );
        assert_eq!(first_failed("running 1 test\n.\ntest result: ok.\n"), None);
    }

    #[test]
    fn what_hangs_is_ended_with_its_children() {
        let mut shell = Command::new("sh").args(["-c", "sleep 600 & wait"]).spawn().unwrap();
        let began = Instant::now();
        let child = loop {
            if let Some(child) = children(shell.id()).first() {
                break *child;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "the shell starts nothing");
            std::thread::yield_now();
        };
        end_tree(shell.id());
        shell.wait().unwrap();
        let is_gone = || {
            let stat = fs::read_to_string(format!("/proc/{child}/stat"));
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        while !is_gone() {
            assert!(began.elapsed() < Duration::from_secs(60), "its child goes on");
            std::thread::yield_now();
        }
    }
}
