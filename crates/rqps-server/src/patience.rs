//! How long rqps waits for a server before it says that the server hangs, is stopped, refuses or is gone.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// The factors that a user may set.
const FACTORS: RangeInclusive<f64> = 0.01..=100.0;

/// Rows a second that a statement over whole tables gets through at the very least: indexes are made at tens
/// of thousands by sorting, and at some hundreds where old servers insert row by row into one that does not fit
/// into memory.
const ROWS_PER_S_AT_LEAST: u64 = 500;

/// A factor on all times after which rqps gives up on a server. It does not change measured times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    factor: f64,
}

/// A word that is not a factor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no factor for time limits (expected a number from 0.01 to 100, such as 2)")]
pub struct PatienceError {
    /// The word.
    pub word: String,
}

impl Default for Patience {
    fn default() -> Self {
        Self { factor: 1.0 }
    }
}

impl FromStr for Patience {
    type Err = PatienceError;

    fn from_str(word: &str) -> Result<Self, PatienceError> {
        let factor = word.trim().parse().ok().filter(|factor| FACTORS.contains(factor));
        factor.map(|factor| Self { factor }).ok_or_else(|| PatienceError { word: word.to_owned() })
    }
}

impl Patience {
    /// A time for an ordinary host, scaled for this one.
    #[must_use]
    pub fn times(self, time: Duration) -> Duration {
        time.mul_f64(self.factor)
    }

    fn seconds(self, seconds: u64) -> Duration {
        self.times(Duration::from_secs(seconds))
    }

    /// Time for one attempt to connect, on loopback or a socket.
    #[must_use]
    pub fn connect(self) -> Duration {
        self.seconds(10)
    }

    /// How long a server may take to answer the simplest question before it counts as gone.
    #[must_use]
    pub fn answer(self) -> Duration {
        self.seconds(60)
    }

    /// How long a server may take for any other statement.
    #[must_use]
    pub fn question(self) -> Duration {
        self.seconds(600)
    }

    /// How long a statement may take that goes through `n_rows` rows, such as one that makes an index. A
    /// server that deadlocks or hangs over it does not hold up the run for ever.
    #[must_use]
    pub fn through_rows(self, n_rows: u64) -> Duration {
        self.question() + self.seconds(n_rows / ROWS_PER_S_AT_LEAST)
    }

    /// Pause between two questions to a server that works on something long.
    #[must_use]
    pub fn ask_again(self) -> Duration {
        self.seconds(20)
    }

    /// How long a server that no longer answers may take to end: its exit status says how. The same holds for
    /// its other processes after its first has ended.
    #[must_use]
    pub fn die(self) -> Duration {
        self.seconds(10)
    }

    /// How long a server may refuse connections before it counts as gone.
    #[must_use]
    pub fn refuse(self) -> Duration {
        self.seconds(2)
    }

    /// How long a server may take to stop, with a checkpoint of a full buffer pool.
    #[must_use]
    pub fn stop(self) -> Duration {
        self.seconds(120)
    }

    /// Wait for another rqps after which the user gets a message: that rqps may measure for hours.
    #[must_use]
    pub fn tell(self) -> Duration {
        self.seconds(5)
    }

    /// Wait for a lock on the store after which the user gets a message, and an interrupt ends the wait.
    #[must_use]
    pub fn locked(self) -> Duration {
        self.seconds(30)
    }

    /// How often a stopped process is looked for: all processes of the host are gone through, which takes a
    /// millisecond or two.
    pub(crate) fn look(self) -> Duration {
        self.seconds(5)
    }

    /// How long a program may take that makes a data directory.
    pub(crate) fn initialise(self) -> Duration {
        self.seconds(300)
    }

    /// Longest time from start to the first answer.
    pub(crate) fn ready(self) -> Duration {
        self.seconds(120)
    }

    /// The same on data that an earlier server has left: one that was killed goes through its log first.
    pub(crate) fn recover(self) -> Duration {
        self.seconds(1800)
    }

    /// How long servers that were killed may take to end.
    pub(crate) fn end(self) -> Duration {
        self.seconds(60)
    }

    /// How long a lock on a schema is asked for again, after the session that had it was lost: the server may
    /// not know that yet.
    pub(crate) fn hold(self) -> Duration {
        self.seconds(10)
    }

    /// How long the drop of an earlier run's schema waits for sessions that still use a table.
    pub(crate) fn sweep(self) -> Duration {
        self.seconds(5)
    }

    /// The same for the run's own schema.
    pub(crate) fn leave(self) -> Duration {
        self.seconds(60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_a_number_from_a_hundredth_to_a_hundred() {
        let seconds = |word: &str| word.parse().map(|p: Patience| p.answer().as_secs_f64());
        assert_eq!(Patience::default().answer(), Duration::from_secs(60));
        assert_eq!(
            [seconds("1"), seconds("0.01"), seconds("100")],
            [Ok(60.0), Ok(0.6), Ok(6000.0)]
        );
        for word in ["", "0", "0.009", "-1", "101", "inf", "NaN", "2x", "1,5"] {
            let error = seconds(word).unwrap_err().to_string();
            let words = format!("{word:?} is no factor for time limits (expected a number");
            assert!(error.starts_with(&words), "{error}");
        }
    }

    #[test]
    fn statements_over_tables_have_as_long_as_these_are_large() {
        let patience = Patience::default();
        let hours = |n_rows| patience.through_rows(n_rows).as_secs() / 3600;
        assert_eq!(patience.through_rows(10).as_secs(), 600);
        assert_eq!((hours(10_000_000), hours(1_000_000_000)), (5, 555));
    }
}
