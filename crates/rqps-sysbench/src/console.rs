//! Where texts go: standard output with sysbench's prefixes, each kind at its verbosity.

use std::io::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How important a text is; the number is the verbosity from which it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The command cannot go on.
    Fatal = 0,
    /// A script did something that has no effect.
    Alert = 1,
    /// The output proper.
    Notice = 3,
    /// What happens.
    Info = 4,
    /// What happens, in detail.
    Debug = 5,
}

/// The two streams that a command may write to.
pub type Stream = Box<dyn Write + Send>;

/// Writes texts; clones write to the same streams.
#[derive(Clone)]
pub(crate) struct Console {
    streams: Arc<Mutex<Streams>>,
    verbosity: Arc<AtomicI64>,
}

/// The streams, and what was last logged.
struct Streams {
    out: Stream,
    err: Stream,
    /// The last message with its prefix.
    last: String,
    /// How often it was logged again.
    n_repeated: u64,
}

impl Streams {
    // With standard output gone there is nobody left to tell.
    fn write(&mut self, bytes: &[u8]) {
        let _ = self.out.write_all(bytes).and_then(|()| self.out.flush());
    }

    /// Tells how often the last message was logged again.
    fn end_repetition(&mut self) {
        let n = std::mem::take(&mut self.n_repeated);
        if n > 0 {
            self.write(format!("(last message repeated {n} times)\n").as_bytes());
        }
        self.last.clear();
    }
}

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").field("verbosity", &self.verbosity).finish_non_exhaustive()
    }
}

impl Console {
    /// A console that prints what is at sysbench's default verbosity.
    pub(crate) fn new(out: Stream, err: Stream) -> Self {
        Self {
            streams: Arc::new(Mutex::new(Streams { out, err, last: String::new(), n_repeated: 0 })),
            verbosity: Arc::new(AtomicI64::new(Level::Notice as i64)),
        }
    }

    /// Prints from now on what is important enough for `verbosity`.
    pub(crate) fn set_verbosity(&self, verbosity: i64) {
        self.verbosity.store(verbosity, Ordering::Relaxed);
    }

    /// Whether texts of this level are printed.
    pub(crate) fn prints(&self, level: Level) -> bool {
        level as i64 <= self.verbosity.load(Ordering::Relaxed)
    }

    /// Prints text as it is, at the level of the output proper.
    pub(crate) fn say(&self, text: &str) {
        if self.prints(Level::Notice) {
            let mut streams = self.lock();
            streams.end_repetition();
            streams.write(text.as_bytes());
        }
    }

    /// Prints a line with the prefix of its level. One that is the same as the last is counted in its place, as
    /// sysbench does it; the count is printed before the next other text.
    pub(crate) fn log(&self, level: Level, text: &str) {
        if !self.prints(level) {
            return;
        }
        let prefix = match level {
            Level::Fatal => "FATAL: ",
            Level::Alert => "ALERT: ",
            Level::Notice | Level::Info => "",
            Level::Debug => "DEBUG: ",
        };
        let line = format!("{prefix}{text}\n");
        let mut streams = self.lock();
        if streams.last == line {
            streams.n_repeated += 1;
            return;
        }
        streams.end_repetition();
        streams.write(line.as_bytes());
        streams.last = line;
    }

    /// Prints text whatever the verbosity: what a script prints itself.
    pub(crate) fn write(&self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    /// Prints bytes whatever the verbosity.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) {
        self.lock().write(bytes);
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a line on standard error.
    pub(crate) fn complain(&self, text: &str) {
        let err = &mut self.lock().err;
        let _ = writeln!(err, "{text}").and_then(|()| err.flush());
    }

    /// From now on everything but [`Self::result`] goes to standard error.
    pub(crate) fn set_aside(&self) {
        let Streams { out, err, .. } = &mut *self.lock();
        std::mem::swap(out, err);
    }

    /// Prints a result after [`Self::set_aside`]: to standard output.
    pub(crate) fn result(&self, text: &str) {
        self.complain(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_message_that_is_repeated_is_counted() {
        let kept = Kept::default();
        let console = Console::new(Box::new(kept.clone()), Box::new(std::io::sink()));
        for _ in 0..3 {
            console.log(Level::Alert, "a");
        }
        // What a script prints does not end a repetition, nor does a message that is not printed.
        console.write("script\n");
        console.log(Level::Debug, "unseen");
        console.log(Level::Fatal, "a");
        console.log(Level::Fatal, "a");
        console.say("text\n");
        console.log(Level::Fatal, "a");
        let said = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let repeated = |n| format!("(last message repeated {n} times)\n");
        let expected =
            ["ALERT: a\nscript\n", &repeated(2), "FATAL: a\n", &repeated(1), "text\nFATAL: a\n"];
        assert_eq!(said, expected.concat());
    }
}
