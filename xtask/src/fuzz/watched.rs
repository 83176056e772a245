//! A fuzz target as seen from outside: one that hangs is ended, and the input that did it, or that took the
//! process with it, is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// The file with the input that is being tried, in the directory of a target's findings
/// (`fuzz/src/under_way.rs`).
const UNDER_WAY: &str = "under-way";

/// How long one input may take before the target counts as hung. From five seconds on the target itself
/// tells of it, when it comes to its end.
pub(super) const HUNG_AFTER: Duration = Duration::from_secs(60);

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How a target ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Own(ExitStatus),
    /// It was killed, as an input took too long.
    Hung,
}

/// What is known of the input that is being tried.
struct UnderWay {
    number: u64,
    input: Vec<u8>,
}

/// Removes what an earlier run has left, so that it passes for nothing of this one.
pub(super) fn clear(dir: &Path) {
    let _ = fs::remove_file(dir.join(UNDER_WAY));
}

/// Waits for the end of a target whose findings go to `dir`; one that is over the same input for longer
/// than `hung_after` is killed.
pub(super) fn wait(child: &mut Child, dir: &Path, hung_after: Duration) -> Result<End> {
    let (mut number, mut since) = (None, Instant::now());
    loop {
        if let Some(status) = child.try_wait().context("wait for the fuzz target")? {
            return Ok(End::Own(status));
        }
        let now = under_way(dir).map(|under_way| under_way.number);
        if now != number {
            (number, since) = (now, Instant::now());
        }
        if since.elapsed() > hung_after {
            child.kill().and_then(|()| child.wait()).context("end the fuzz target")?;
            return Ok(End::Hung);
        }
        pause();
    }
}

/// Keeps the input that was tried last as a finding; `None` where there is none.
pub(super) fn keep(dir: &Path) -> Result<Option<PathBuf>> {
    let Some(UnderWay { number, input }) = under_way(dir) else { return Ok(None) };
    // Named by its number: the name is no other finding's, which is named by its content.
    let free = |n: &u32| !dir.join(name(number, *n)).exists();
    let path = dir.join(name(number, (0..).find(free).unwrap_or(0)));
    fs::write(&path, input).with_context(|| format!("write {}", path.display()))?;
    Ok(Some(path))
}

fn name(number: u64, n: u32) -> String {
    if n == 0 { format!("found-input-{number}") } else { format!("found-input-{number}-{n}") }
}

fn under_way(dir: &Path) -> Option<UnderWay> {
    let bytes = fs::read(dir.join(UNDER_WAY)).ok()?;
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    Some(UnderWay { number: u64::from_le_bytes(*number), input: rest.get(..length)?.to_vec() })
}

#[expect(clippy::disallowed_methods, reason = "a process has no timed wait")]
fn pause() {
    std::thread::sleep(LOOK_EVERY);
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use super::*;

    fn begun(dir: &Path, number: u64, input: &[u8]) {
        let length = input.len() as u64;
        let header = [number.to_le_bytes(), length.to_le_bytes()].concat();
        // Longer inputs before it leave their end in the file.
        fs::write(dir.join(UNDER_WAY), [header.as_slice(), input, b"older"].concat()).unwrap();
    }

    fn shell(script: &str) -> Child {
        Command::new("sh").args(["-c", script]).spawn().unwrap()
    }

    #[test]
    fn the_input_of_a_target_that_aborts_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        begun(dir.path(), 7, b"bad");
        let mut child = shell("kill -KILL $$");
        let End::Own(status) = wait(&mut child, dir.path(), HUNG_AFTER).unwrap() else {
            panic!("it is said to hang");
        };
        assert_eq!(status.signal(), Some(9));
        let kept = [keep(dir.path()), keep(dir.path())].map(|path| path.unwrap().unwrap());
        assert_ne!(kept[0], kept[1], "a finding of an earlier run is lost");
        for path in kept {
            assert_eq!(fs::read(path).unwrap(), b"bad");
        }
    }

    #[test]
    fn a_target_that_hangs_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        begun(dir.path(), 1, b"");
        let mut child = shell("exec sleep 600");
        let end = wait(&mut child, dir.path(), Duration::from_millis(200)).unwrap();
        assert_eq!(end, End::Hung);
        assert_eq!(child.try_wait().unwrap().and_then(|status| status.signal()), Some(9));
        assert_eq!(fs::read(keep(dir.path()).unwrap().unwrap()).unwrap(), b"");
    }

    #[test]
    fn a_file_that_says_nothing_is_no_input() {
        let dir = tempfile::tempdir().unwrap();
        assert!(keep(dir.path()).unwrap().is_none());
        for bytes in [&b""[..], &[1; 15], &[1; 40]] {
            fs::write(dir.path().join(UNDER_WAY), bytes).unwrap();
            assert!(keep(dir.path()).unwrap().is_none(), "{bytes:?}");
        }
        begun(dir.path(), 1, b"bad");
        clear(dir.path());
        assert!(keep(dir.path()).unwrap().is_none());
    }
}
