//! HOT PATH: for how long one answer may take, however many reads it comes in. Budget: a comparison for an
//! answer that fits one read, a clock read for each further one.
//!
//! A socket's timeout is for one read. A server that sends a byte now and then, or rows without end, would
//! never meet it.

use std::io;
use std::time::{Duration, Instant};

/// The time of the answer under way.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    n_reads: u32,
    /// When the second read began: the first is limited by the socket.
    since: Option<Instant>,
}

impl Patience {
    /// An answer begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.n_reads = 0;
    }

    /// To be asked before each read of it.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] when the answer has taken longer than `limit` since its second read.
    #[inline]
    pub(crate) fn before_read(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.n_reads = self.n_reads.saturating_add(1);
        if self.n_reads == 1 { Ok(()) } else { self.look_at_the_clock(limit) }
    }

    fn look_at_the_clock(&mut self, limit: Option<Duration>) -> io::Result<()> {
        let now = Instant::now();
        if self.n_reads == 2 {
            self.since = Some(now);
        }
        let passed = self.since.map_or(Duration::ZERO, |since| now.duration_since(since));
        if limit.is_some_and(|limit| passed > limit) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_many_reads_has_as_long_as_one() {
        let limit = Some(Duration::from_millis(20));
        let mut patience = Patience::default();
        let past = |patience: &mut Patience| {
            patience.since = Instant::now().checked_sub(Duration::from_millis(50));
        };
        for _ in 0..3 {
            patience.begin();
            // One read, however long ago the answer before was.
            past(&mut patience);
            patience.before_read(limit).unwrap();
            patience.before_read(limit).unwrap();
            patience.before_read(limit).unwrap();
            past(&mut patience);
            let error = patience.before_read(limit).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            // Whoever waits for ever does so.
            patience.before_read(None).unwrap();
        }
    }
}
