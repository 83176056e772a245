//! What a crew is told to do: pace, end and seed of one slice, as values.

use std::time::Duration;

/// How fast events start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each client starts an event when its last one has ended.
    Closed,
    /// Events start on a fixed clock, spread evenly over the clients; response time counts from
    /// the intended start, so that a stall is seen by every event it delayed.
    Rate {
        /// Events per second of all clients together; above 0.
        events_per_s: f64,
    },
}

/// When a slice ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After this time. An event under way is finished and counted with the time it took.
    Time(Duration),
    /// After this many events, divided over the clients.
    Events(u64),
}

/// One slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    /// How fast events start.
    pub pace: Pace,
    /// When it ends.
    pub stop: Stop,
    /// Seed of the slice; client i draws from stream i.
    pub seed: u64,
}

/// Length of the windows in which operations are counted, nanoseconds: the shortest time over
/// which a rate of a few thousand operations per second is still a number.
pub const WINDOW_NS: u64 = 20_000_000;

/// Longest slice by time for which windows and series have room, seconds: a day. A slice by a
/// number of events has room for ten minutes, goes on counting after that, and adds no windows.
pub(crate) const MAX_SERIES_S: u64 = 86_400;

impl Order {
    /// The stream of client `client_idx`: well separated for neighbouring seeds and clients, by the
    /// finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
    #[must_use]
    pub fn client_seed(&self, client_idx: usize) -> u64 {
        let idx = client_idx as u64 + 1;
        let mut z = self.seed.wrapping_add(idx.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The time in which windows and series are expected, nanoseconds.
    pub(crate) fn expected_ns(&self) -> u64 {
        match self.stop {
            Stop::Time(time) => u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
            Stop::Events(_) => 600_000_000_000,
        }
    }
}
