//! Long work tells how far it is and can be stopped: the one place of this crate that waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Error;

/// Progress of some work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// An archive is on its way.
    Fetching {
        /// The server: `mysql-8.0.33`.
        name: &'a str,
        /// Bytes so far.
        bytes: u64,
        /// Bytes in all, as the catalogue has it.
        total: u64,
    },
    /// An archive is being unpacked.
    Unpacking {
        /// The server.
        name: &'a str,
        /// Bytes written so far.
        bytes: u64,
        /// Bytes in all, roughly.
        total: u64,
    },
    /// Waiting for a server: `MySQL 8.0.33 starts`, `dirty pages: 1200`.
    Waiting {
        /// For what.
        what: &'a str,
    },
    /// A note for the user: a place or setting other than the one asked for.
    Note {
        /// The sentence.
        text: &'a str,
    },
}

/// Reports progress, and can stop the work.
pub struct Watch<'a> {
    /// Set by another thread (or a signal handler) to stop the work with [`Error::Interrupted`].
    pub stop: &'a AtomicBool,
    /// Gets the progress, a few times a second.
    pub report: &'a mut dyn FnMut(Progress<'_>),
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("stop", self.stop).finish_non_exhaustive()
    }
}

impl Watch<'_> {
    /// Fails when the work should stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&self, doing: &str) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted { doing: doing.to_owned() });
        }
        Ok(())
    }

    /// Calls `probe` every `every` until it gives a value or `limit` has passed (then `None`).
    ///
    /// # Errors
    /// What `probe` says, and [`Error::Interrupted`].
    pub fn poll<T>(
        &mut self,
        doing: &str,
        limit: Duration,
        every: Duration,
        mut probe: impl FnMut(&mut Self) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let start = Instant::now();
        loop {
            self.check(doing)?;
            if let Some(value) = probe(self)? {
                return Ok(Some(value));
            }
            if start.elapsed() >= limit {
                return Ok(None);
            }
            pause(every);
        }
    }
}

/// Waits a moment between two looks at something that cannot be waited for in the kernel.
#[expect(clippy::disallowed_methods, reason = "polling: there is no event to wait for")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(20);
    const EVERY: Duration = Duration::from_millis(1);

    #[test]
    fn polls_until_there_is_a_value_the_limit_or_a_stop() {
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let mut n = 0;
        let got = watch.poll("count", LIMIT, EVERY, |_| {
            n += 1;
            Ok((n == 3).then_some(n))
        });
        assert_eq!(got.unwrap(), Some(3));
        assert_eq!(watch.poll("wait", LIMIT, EVERY, |_| Ok(None::<()>)).unwrap(), None);
        stop.store(true, Ordering::Relaxed);
        let error = watch.poll("sleep", LIMIT, EVERY, |_| Ok(None::<()>)).unwrap_err();
        assert_eq!(error.to_string(), "interrupted while sleep");
    }
}
