//! What the library in a slowed server counts: read while a run measures, kept as a table, read again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};

/// How far two readings are apart.
const INTERVAL: Duration = Duration::from_millis(100);

/// The table's columns.
const HEADER: &str = "unix_ms,system,commands,own_ns,burnt_ns";

/// Counts of one server since its library's file was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    /// Commands that clients sent.
    pub(super) commands: u64,
    /// CPU of the threads that serve clients, without what was burnt, nanoseconds.
    pub(super) own_ns: u64,
    /// CPU burnt on purpose, nanoseconds.
    pub(super) burnt_ns: u64,
}

impl Counts {
    /// Length of the library's file: `struct counts` of `slow.c`.
    pub(super) const BYTES: u64 = 24;

    /// Reads the library's file.
    pub(super) fn read(file: &File) -> io::Result<Self> {
        let number = |at: u64| {
            let mut word = [0; 8];
            file.read_exact_at(&mut word, at).map(|()| u64::from_ne_bytes(word))
        };
        Ok(Self { commands: number(0)?, own_ns: number(8)?, burnt_ns: number(16)? })
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            commands: self.commands.saturating_sub(earlier.commands),
            own_ns: self.own_ns.saturating_sub(earlier.own_ns),
            burnt_ns: self.burnt_ns.saturating_sub(earlier.burnt_ns),
        }
    }

    /// The sum of both.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            commands: self.commands + other.commands,
            own_ns: self.own_ns + other.own_ns,
            burnt_ns: self.burnt_ns + other.burnt_ns,
        }
    }
}

/// A server whose counts are recorded.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) label: String,
    pub(super) file: File,
}

/// A thread that writes counts into a table as long as this is there.
#[derive(Debug)]
pub(super) struct Recorder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Recorder {
    /// Begins a table of its own for runs of the plan `name`.
    pub(super) fn start(results: &Path, name: &str, counters: Vec<Counter>) -> Result<Self> {
        let dir = dir_of(results);
        fs::create_dir_all(&dir)?;
        let path = dir.join(format!("{name}@{}.csv", unix_ms()));
        let mut table = File::create(&path).context("make the table of counts")?;
        writeln!(table, "{HEADER}")?;
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || record(table, &counters, &is_stopped));
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Ends the table.
    pub(super) fn finish(mut self) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().context("the recorder has ended")?;
        let recorded = thread.join().map_err(|_| anyhow!("the recorder of counts panicked"))?;
        recorded.context("record counts")
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Writes a row for each server that did something since the last reading.
fn record(mut table: File, counters: &[Counter], stop: &AtomicBool) -> io::Result<()> {
    let mut last = vec![None; counters.len()];
    loop {
        let is_last = stop.load(Ordering::Relaxed);
        let mut rows = String::new();
        for (counter, last) in counters.iter().zip(&mut last) {
            let counts = Counts::read(&counter.file)?;
            if *last != Some(counts) {
                let Counts { commands, own_ns, burnt_ns } = counts;
                let (now, label) = (unix_ms(), &counter.label);
                rows.push_str(&format!("{now},{label},{commands},{own_ns},{burnt_ns}\n"));
                *last = Some(counts);
            }
        }
        table.write_all(rows.as_bytes())?;
        if is_last {
            return Ok(());
        }
        std::thread::park_timeout(INTERVAL);
    }
}

/// Milliseconds since 1970.
fn unix_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

/// Where the tables lie.
fn dir_of(results: &Path) -> PathBuf {
    results.join("counts")
}

/// One reading of a server's counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    unix_ms: i64,
    counts: Counts,
}

/// The readings of one table, by the system's label, in order of time.
type Table = BTreeMap<String, Vec<Reading>>;

/// All counts of the runs of a plan.
#[derive(Debug, Default)]
pub(super) struct Log {
    tables: Vec<Table>,
}

impl Log {
    /// Reads the tables of the plan `name`; none is fine.
    pub(super) fn read(results: &Path, name: &str) -> Result<Self> {
        let dir = dir_of(results);
        let mut log = Self::default();
        if !dir.is_dir() {
            return Ok(log);
        }
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if stem.rsplit_once('@').is_some_and(|(plan, _)| plan == name) {
                let text = fs::read_to_string(&path)?;
                log.tables
                    .push(parse(&text).with_context(|| format!("{} is no table", path.display()))?);
            }
        }
        Ok(log)
    }

    /// What a system counted from one moment to another, milliseconds since 1970; absent where no table
    /// has both. A moment may be off by the time between two readings.
    pub(super) fn between(&self, label: &str, from_ms: i64, to_ms: i64) -> Option<Counts> {
        self.tables.iter().find_map(|table| {
            let readings = table.get(label)?;
            let at = |ms: i64| {
                let n = readings.partition_point(|reading| reading.unix_ms <= ms);
                readings.get(n.checked_sub(1)?)
            };
            let is_over = readings.last()?.unix_ms >= from_ms;
            let counts = at(to_ms)?.counts.since(at(from_ms)?.counts);
            (is_over && counts.commands > 0).then_some(counts)
        })
    }
}

/// The readings of a table; a last line that was not written in full is left out.
fn parse(text: &str) -> Option<Table> {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    if lines.next() != Some(HEADER) {
        return None;
    }
    let mut table = Table::new();
    for line in lines {
        let mut words = line.split(',');
        let unix_ms = words.next()?.parse().ok()?;
        let label = words.next()?.to_owned();
        let mut number = || words.next()?.parse().ok();
        let counts = Counts { commands: number()?, own_ns: number()?, burnt_ns: number()? };
        table.entry(label).or_default().push(Reading { unix_ms, counts });
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        Log { tables: vec![parse(text).unwrap()] }
    }

    #[test]
    fn counts_between_two_moments_are_a_difference_of_readings() {
        let log = log("unix_ms,system,commands,own_ns,burnt_ns\n\
                       1000,a,10,100,1\n1050,b,7,70,7\n1100,a,30,300,3\n1200,a,60,700,7\n1300,a,6");
        let counts = log.between("a", 1010, 1250).unwrap();
        assert_eq!(counts, Counts { commands: 50, own_ns: 600, burnt_ns: 6 });
        // Nothing was counted; before the first reading; another system.
        assert_eq!(log.between("a", 1100, 1150), None);
        assert_eq!(log.between("a", 900, 1150), None);
        assert_eq!(log.between("c", 1000, 1200), None);
    }

    #[test]
    fn what_is_recorded_is_read_again() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("shared");
        let numbers: [u64; 3] = [3, 0x0102_0304_0506_0708, 2];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        fs::write(&file, bytes).unwrap();
        let counter = Counter { label: "a".to_owned(), file: File::open(&file).unwrap() };
        Recorder::start(temp.path(), "plan", vec![counter]).unwrap().finish().unwrap();
        let log = Log::read(temp.path(), "plan").unwrap();
        let readings = &log.tables[0]["a"];
        let expected = Counts { commands: 3, own_ns: 0x0102_0304_0506_0708, burnt_ns: 2 };
        assert_eq!(readings.iter().map(|r| r.counts).collect::<Vec<_>>(), [expected]);
        assert!(Log::read(temp.path(), "pla").unwrap().tables.is_empty());
    }
}
