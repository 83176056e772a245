//! Response times of a cell: the slices' histograms merged, and the percentiles they can carry.

use std::io::Cursor;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use rqps_model::Slice;

/// The percentiles that reports list.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Responses that must lie beyond a percentile for it to be shown: with fewer it is an accident of
/// single responses.
pub const MIN_BEYOND: f64 = 10.0;

/// Response times of events, nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseTimes {
    /// Responses.
    pub n: u64,
    /// Shortest.
    pub min_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Longest.
    pub max_ns: u64,
    /// The value at each of [`PERCENTILES`]; absent where fewer than [`MIN_BEYOND`] lie beyond it.
    pub percentiles_ns: [Option<u64>; PERCENTILES.len()],
}

/// The response times of all slices together; `None` when a slice has no readable histogram, so
/// that percentiles never stand for a part of the slices.
pub(crate) fn merged(slices: &[Slice]) -> Option<ResponseTimes> {
    let mut all = Histogram::<u64>::new(3).ok()?;
    for slice in slices {
        let histogram: Histogram<u64> =
            Deserializer::new().deserialize(&mut Cursor::new(&slice.response_times)).ok()?;
        all.add(&histogram).ok()?;
    }
    if all.is_empty() {
        return None;
    }
    let n = all.len();
    let percentile = |p: f64| {
        let n_beyond = n as f64 * (100.0 - p) / 100.0;
        (n_beyond >= MIN_BEYOND).then(|| all.value_at_percentile(p))
    };
    Some(ResponseTimes {
        n,
        min_ns: all.min(),
        mean_ns: all.mean(),
        max_ns: all.max(),
        percentiles_ns: PERCENTILES.map(percentile),
    })
}

/// The unit for a table whose smallest time is `smallest_ns`: its name and length in nanoseconds.
pub(crate) fn unit(smallest_ns: f64) -> (&'static str, f64) {
    if smallest_ns < 1e6 {
        ("us", 1e3)
    } else if smallest_ns < 1e9 {
        ("ms", 1e6)
    } else {
        ("s", 1e9)
    }
}

/// A percentile's heading: `p99.9`.
pub(crate) fn heading(percentile: f64) -> String {
    format!("p{percentile}")
}
