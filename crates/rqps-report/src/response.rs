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
        // 100 - 99.9 is a little below 0.1 in binary.
        (n_beyond >= MIN_BEYOND - 1e-6).then(|| all.value_at_percentile(p))
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

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    use super::*;

    fn slice(times_ns: impl Iterator<Item = u64>) -> Slice {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        times_ns.for_each(|ns| histogram.record(ns).unwrap());
        let mut response_times = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut response_times).unwrap();
        Slice {
            idx: 0,
            n_rounds: None,
            start_unix_ms: 0,
            duration_ns: 1,
            seed: 0,
            n_events: 0,
            n_queries: 0,
            n_operations: 0,
            n_rows: 0,
            errors: Vec::new(),
            lateness: None,
            windows: rqps_model::Windows::default(),
            series: Vec::new(),
            response_times,
            usage: rqps_model::Usage::default(),
            samples: Vec::new(),
            marks: Vec::new(),
        }
    }

    #[test]
    fn slices_are_merged_and_thin_tails_left_out() {
        let slices =
            [slice((1..=5000).map(|i| i * 1000)), slice((5001..=10_000).map(|i| i * 1000))];
        let times = merged(&slices).unwrap();
        assert_eq!((times.n, times.min_ns), (10_000, 1000));
        let near = |p: usize, ns: f64| {
            let got = times.percentiles_ns[p].unwrap() as f64;
            assert!((got / ns - 1.0).abs() < 2e-3, "{got} for {ns}");
        };
        near(0, 5e6);
        near(3, 9.9e6);
        // Exactly ten of 10000 responses lie beyond 99.9%, one beyond 99.99%.
        near(4, 9.99e6);
        assert_eq!(times.percentiles_ns[5], None);
        assert!((times.mean_ns / 5.0005e6 - 1.0).abs() < 2e-3);
    }

    #[test]
    fn a_slice_without_histogram_spoils_the_cell() {
        let mut broken = slice([1000].into_iter());
        broken.response_times.truncate(8);
        assert_eq!(merged(&[slice([1000].into_iter()), broken]), None);
        assert_eq!(merged(&[]), None);
    }
}
