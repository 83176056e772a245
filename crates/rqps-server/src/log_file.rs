//! A server's log as a file, read in parts: one that says the same a million times is larger than memory.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use nix::fcntl::OFlag;

use crate::log_text::says_disk_full;
use crate::plain;

/// How much of either end of a log is read, bytes: what explains a failure stands in the first lines after a
/// start or in the last ones.
const END_BYTES: u64 = 1 << 20;

/// Stands for omitted text.
const LEFT_OUT: &str = "...\n";

/// What a log says from `offset` on, in whole lines: all of it, or its first and its last megabyte. Nothing
/// where it cannot be read.
pub(crate) fn ends(log: &Path, offset: u64) -> String {
    let read = || -> io::Result<String> {
        let (mut file, len) = open(log)?;
        if len.saturating_sub(offset) <= 2 * END_BYTES {
            return Ok(lossy(&part(&mut file, offset..len)?));
        }
        let mut first = part(&mut file, offset..offset + END_BYTES)?;
        let end = first.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        first.truncate(end);
        Ok(lossy(&first) + LEFT_OUT + &last(&mut file, offset..len)?)
    };
    read().unwrap_or_default()
}

/// Its last megabyte from `offset` on, in whole lines; nothing where it cannot be read.
pub(crate) fn end(log: &Path, offset: u64) -> String {
    let read = || -> io::Result<String> {
        let (mut file, len) = open(log)?;
        last(&mut file, offset..len)
    };
    read().unwrap_or_default()
}

/// How long it is now, bytes; 0 where there is none.
pub(crate) fn len(log: &Path) -> u64 {
    open(log).map_or(0, |(_, len)| len)
}

/// Whether the end of it, from `offset` on, says that there was no space left.
pub(crate) fn says_full(log: &Path, offset: u64) -> bool {
    says_disk_full(&end(log, offset))
}

/// A log and its length.
fn open(log: &Path) -> io::Result<(File, u64)> {
    let file = plain::open(log.parent().unwrap_or(log), log, OFlag::O_RDONLY)?;
    let len = file.metadata()?.len();
    Ok((file, len))
}

/// The lines that begin in the last megabyte of the part between two offsets.
fn last(file: &mut File, offsets: Range<u64>) -> io::Result<String> {
    let cut = offsets.end.saturating_sub(END_BYTES);
    if cut <= offsets.start {
        return Ok(lossy(&part(file, offsets)?));
    }
    let bytes = part(file, cut..offsets.end)?;
    // Without a single end of a line it is the end of one.
    let begin = bytes.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    Ok(lossy(&bytes[begin..]))
}

fn part(file: &mut File, offsets: Range<u64>) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offsets.start))?;
    let mut bytes = Vec::new();
    file.take(offsets.end.saturating_sub(offsets.start)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn log(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.log");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    #[test]
    fn a_short_log_is_read_from_where_it_is_asked_for() {
        let (_dir, path) = log("before\nready\nbye\n");
        assert_eq!(ends(&path, 0), "before\nready\nbye\n");
        assert_eq!(ends(&path, 7), "ready\nbye\n");
        assert_eq!(end(&path, 7), "ready\nbye\n");
        assert_eq!((ends(&path, 99), len(&path)), (String::new(), 17));
        let none = path.with_extension("none");
        let nothing = (String::new(), String::new(), 0);
        assert_eq!((ends(&none, 0), end(&none, 0), len(&none)), nothing);
    }

    #[test]
    fn of_a_long_log_both_ends_are_read_in_whole_lines() {
        let noise = "[Warning] aborted connection 12345\n".repeat(200_000);
        let (_dir, path) = log(&format!("before\nstarts\n{noise}[ERROR] gone\n"));
        let text = ends(&path, 7);
        assert!(text.len() <= 2 << 20, "{} bytes", text.len());
        assert!(text.starts_with("starts\n") && text.ends_with("\n[ERROR] gone\n"));
        let odd = ["starts", "...", "[ERROR] gone", "[Warning] aborted connection 12345"];
        assert!(text.lines().all(|line| odd.contains(&line)));
        assert_eq!(text.matches(LEFT_OUT).count(), 1);
        let last = end(&path, 7);
        assert!(last.len() <= 1 << 20 && last.starts_with("[Warning] "));
        assert!(last.ends_with("\n[ERROR] gone\n"));
    }

    #[test]
    fn a_full_disk_is_told_by_what_was_logged_last() {
        let full = "ERROR:  could not extend file: No space left on device\n";
        let (_dir, path) = log(full);
        assert!(says_full(&path, 0));
        assert!(!says_full(&path, len(&path)), "what was said before has been judged");
        fs::write(&path, full.to_owned() + &"LOG:  all is well\n".repeat(100_000)).unwrap();
        assert!(!says_full(&path, 0), "it was long ago");
    }
}
