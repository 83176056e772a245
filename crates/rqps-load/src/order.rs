//! Orders for a client pool: pace, end and seed of one slice, as values.

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
    /// As [`Pace::Rate`], on a clock that continues from slice to slice while the client pool runs nothing
    /// else: events that one slice does not reach are due at the beginning of the next.
    Ongoing {
        /// Events per second of all clients together; above 0.
        events_per_s: f64,
        /// Which slice of them it is.
        place: PlaceInBlock,
    },
}

/// The place of a slice among those that share a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceInBlock {
    /// The clock begins here.
    pub is_first: bool,
    /// Events still due at the end are dropped.
    pub is_last: bool,
}

impl Pace {
    /// Events per second, where they are set.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Rate { events_per_s } | Self::Ongoing { events_per_s, .. } => Some(events_per_s),
        }
    }

    /// Whether the clock goes on from the slice before.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Ongoing { place: PlaceInBlock { is_first: false, .. }, .. })
    }

    /// Whether what is due at the slice's end is left to the next one.
    pub(crate) fn leaves_to_next(self) -> bool {
        matches!(self, Self::Ongoing { place: PlaceInBlock { is_last: false, .. }, .. })
    }
}

/// When a slice ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After this time. An event under way is finished and counted with the time it took.
    Time(Duration),
    /// After this many events, divided over the clients.
    Events(u64),
    /// After the events from one number to another of a whole, which is divided over the clients: the
    /// parts of a client add up to its part of the whole.
    Part {
        /// Events of the parts before.
        from: u64,
        /// Events with this part.
        to: u64,
    },
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
            Stop::Events(_) | Stop::Part { .. } => 600_000_000_000,
        }
    }
}
