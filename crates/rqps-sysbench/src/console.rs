//! Where texts go: standard output with sysbench's prefixes, each kind at its verbosity.

use std::io::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    streams: Arc<Mutex<(Stream, Stream)>>,
    verbosity: Arc<AtomicI64>,
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
            streams: Arc::new(Mutex::new((out, err))),
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
            self.write(text);
        }
    }

    /// Prints a line with the prefix of its level.
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
        self.write(&format!("{prefix}{text}\n"));
    }

    /// Prints text whatever the verbosity: what a script prints itself.
    pub(crate) fn write(&self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    /// Prints bytes whatever the verbosity.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        // With standard output gone there is nobody left to tell.
        let _ = streams.0.write_all(bytes).and_then(|()| streams.0.flush());
    }

    /// Prints a line on standard error.
    pub(crate) fn complain(&self, text: &str) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(streams.1, "{text}").and_then(|()| streams.1.flush());
    }

    /// From now on everything but [`Self::result`] goes to standard error.
    pub(crate) fn set_aside(&self) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let (out, err) = &mut *streams;
        std::mem::swap(out, err);
    }

    /// Prints a result after [`Self::set_aside`]: to standard output.
    pub(crate) fn result(&self, text: &str) {
        self.complain(text);
    }
}
