//! What a run tells of itself while it goes: one small file beside its artifacts, for other processes.
//!
//! ```text
//!   artifacts/RUN/live     rqps-live LENGTH CRC32 (hexadecimal), a line; then LENGTH bytes of JSON
//! ```
//!
//! It is written over in place: renaming a new file onto it would have ext4 write it out each time
//! (auto_da_alloc), beside what is measured. Readers tell by the checksum that they saw all of one
//! writing. What was measured is in the store; losing this file loses nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::store::Store;

/// The most that is written, bytes: some hundred systems.
const MAX_BYTES: usize = 64 << 10;

/// How often a reader looks again that came upon a writing half done: that takes microseconds.
const N_LOOKS: usize = 5;

/// What the file begins with.
const MAGIC: &str = "rqps-live";

/// Current state of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// The process that carries it out.
    pub pid: u32,
    /// When this attempt at the run began, milliseconds since 1970.
    pub began_unix_ms: i64,
    /// When this was written, milliseconds since 1970.
    pub written_unix_ms: i64,
    /// Number of writes so far.
    pub n_written: u64,
    /// Steps on systems in all.
    pub n_steps: u64,
    /// Those done when the current step began.
    pub n_done: u64,
    /// What is under way, in words: `load my8033: 1000 of 2000 rows`.
    pub doing: String,
    /// The step under way; absent before the first.
    pub step: Option<LiveStep>,
    /// Finished steps of this attempt whose time is planned.
    pub timed: Spent,
    /// Finished steps of this attempt with a fixed amount of work.
    pub guessed: Spent,
    /// Planned time of the timed steps after the current one, milliseconds.
    pub left_timed_ms: u64,
    /// Guessed time of the later steps with a fixed amount of work, milliseconds.
    pub left_guessed_ms: u64,
    /// Finished starts of servers of this attempt. This and the following fields are missing in files of
    /// earlier versions.
    #[serde(default)]
    pub starts: Changes,
    /// Finished stops of servers of this attempt.
    #[serde(default)]
    pub stops: Changes,
    /// Starts still to come, including the current one.
    #[serde(default)]
    pub left_starts: u64,
    /// Stops still to come, including the current one and those of running servers.
    #[serde(default)]
    pub left_stops: u64,
    /// The start or stop under way; no step is under way then.
    #[serde(default)]
    pub change: Option<Change>,
}

/// Starts or stops of servers, each with the time until the next one or a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// How many.
    pub n: u64,
    /// Their time together, milliseconds.
    pub took_ms: u64,
}

/// A start or stop of a server that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When it began, milliseconds since 1970.
    pub began_unix_ms: i64,
    /// Whether it is a stop.
    pub is_stop: bool,
}

/// Planned and actual time of steps, without starts and stops of servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Planned time, milliseconds.
    pub planned_ms: u64,
    /// Actual time, milliseconds.
    pub took_ms: u64,
}

/// A step under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveStep {
    /// Its index in the run.
    pub step_idx: usize,
    /// Systems that are measured now.
    pub systems: Vec<usize>,
    /// When it began, milliseconds since 1970.
    pub began_unix_ms: i64,
    /// Longest planned time, milliseconds.
    pub expected_ms: u64,
    /// Whether the time is a guess, as for a fixed amount of work.
    pub is_guess: bool,
    /// The block or slice under way, from 0; absent in a warm-up or a load.
    pub block: Option<u32>,
    /// Blocks or slices of the step, at most.
    pub n_blocks: u32,
    /// Rounds of the block so far; 0 where systems are not interleaved.
    pub n_rounds: u32,
    /// Current rates of the systems.
    pub rates: Vec<LiveRate>,
}

/// Current rate of a system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveRate {
    /// The system, by its index in the run.
    pub system_idx: usize,
    /// Measured time of the block or slice so far, milliseconds.
    pub elapsed_ms: u64,
    /// Queries per second; of the Insert Benchmark, operations.
    pub per_s: f64,
}

/// The file of a run under way; removed when this is dropped.
#[derive(Debug)]
pub struct LiveFile {
    file: File,
    path: PathBuf,
}

impl LiveFile {
    /// Replaces the state in the file.
    ///
    /// # Errors
    /// When it cannot be written, or is too long.
    pub fn write(&self, live: &Live) -> io::Result<()> {
        let text = text_of(live)?;
        self.file.write_all_at(text.as_bytes(), 0)
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        // One that stays says nothing, as nobody holds its run.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store {
    /// Creates the file for the state of a run.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create_live_file(&self, run_id: &str) -> Result<LiveFile, Error> {
        let path = self.live_path(run_id)?;
        let failed = |source| Error::File { action: "create", path: path.clone(), source };
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path);
        Ok(LiveFile { file: file.map_err(failed)?, path: path.clone() })
    }

    /// The last state of a run; `None` without one. [`Store::is_held`] says whether the run is still under
    /// way.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read_live(&self, run_id: &str) -> Result<Option<Live>, Error> {
        let path = self.artifact_path(run_id)?.join("live");
        let failed = |source| Error::File { action: "read", path: path.clone(), source };
        for _ in 0..N_LOOKS {
            let mut text = Vec::new();
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(failed(error)),
            };
            let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
            file.take(limit).read_to_end(&mut text).map_err(failed)?;
            if let Some(live) = live_of(&text) {
                return Ok(Some(live));
            }
        }
        Ok(None)
    }

    fn live_path(&self, run_id: &str) -> Result<PathBuf, Error> {
        Ok(self.artifact_dir(run_id)?.join("live"))
    }
}

fn text_of(live: &Live) -> io::Result<String> {
    let json = serde_json::to_string(live)?;
    let text =
        format!("{MAGIC} {:x} {:08x}\n{json}\n", json.len(), crc32fast::hash(json.as_bytes()));
    if text.len() > MAX_BYTES { Err(ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

/// What a text says that is one writing and no part of another; what follows it is older.
fn live_of(text: &[u8]) -> Option<Live> {
    let head_end = text.iter().position(|&byte| byte == b'\n')?;
    let head = std::str::from_utf8(text.get(..head_end)?).ok()?;
    let mut words = head.split(' ');
    if words.next() != Some(MAGIC) {
        return None;
    }
    let length = usize::from_str_radix(words.next()?, 16).ok()?;
    let checksum = u32::from_str_radix(words.next()?, 16).ok()?;
    let json = text.get(head_end + 1..)?.get(..length)?;
    if crc32fast::hash(json) != checksum {
        return None;
    }
    serde_json::from_slice(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(doing: &str) -> Live {
        let rates = vec![LiveRate { system_idx: 1, elapsed_ms: 20, per_s: 12_345.678 }];
        let step = LiveStep { step_idx: 7, systems: vec![0, 1], rates, ..LiveStep::default() };
        Live { doing: doing.to_owned(), step: Some(step), ..Live::default() }
    }

    #[test]
    fn what_was_written_is_read_and_goes_with_the_writer() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(temp.path()).unwrap();
        assert_eq!(store.read_live("r1").unwrap(), None);
        let file = store.create_live_file("r1").unwrap();
        assert_eq!(store.read_live("r1").unwrap(), None, "nothing is written yet");
        // The second is shorter: what is left of the first does no harm.
        for text in ["block 12 of a long step's name", "stop"] {
            file.write(&live(text)).unwrap();
            assert_eq!(store.read_live("r1").unwrap(), Some(live(text)));
        }
        assert!(file.write(&live(&"x".repeat(MAX_BYTES))).is_err());
        assert_eq!(store.read_live("r1").unwrap(), Some(live("stop")));
        drop(file);
        assert_eq!(store.read_live("r1").unwrap(), None);
        assert!(store.read_live("../r1").is_err());
    }

    #[test]
    fn parts_of_two_writings_are_none() {
        let (old, new) = (text_of(&live("settle")).unwrap(), text_of(&live("starts")).unwrap());
        assert_eq!(old.len(), new.len());
        let whole: Vec<usize> = (0..=new.len())
            .filter(|&cut| live_of(format!("{}{}", &new[..cut], &old[cut..]).as_bytes()).is_some())
            .collect();
        assert!(live_of(old.as_bytes()).is_some());
        let differs = old.bytes().zip(new.bytes()).map(|(a, b)| a != b).collect::<Vec<_>>();
        let (first, last) =
            (differs.iter().position(|&d| d).unwrap(), differs.iter().rposition(|&d| d).unwrap());
        assert!(whole.iter().all(|&cut| cut <= first || cut > last), "{whole:?}");
        for cut in 0..new.len() - 1 {
            assert_eq!(live_of(&new.as_bytes()[..cut]), None, "{cut}");
        }
    }
}
