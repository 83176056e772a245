//! Response times of a cell: the slices' histograms merged, and the percentiles that have enough
//! responses.

use hdrhistogram::Histogram;
use rqps_model::histogram::decode;
use rqps_model::{Slice, StatedResponse};

/// The percentiles that reports list.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Percentiles of response times that are compared.
pub const COMPARED: [f64; 3] = [50.0, 95.0, 99.0];

/// Responses that must lie beyond a percentile for it to be shown: with fewer it is an accident of
/// single responses.
pub const MIN_BEYOND: f64 = 10.0;

/// The same for clients that start at a set rate: their times count from the intended starts, so that
/// every start that was due in a stall holds a part of it. One of them is no accident.
pub const MIN_BEYOND_AT_RATE: f64 = 1.0;

/// The field's buckets of response times: name and upper end, nanoseconds. Each holds what is longer
/// than the one before it; the last, `gt`, has no end.
pub const BUCKETS: [(&str, u64); 10] = [
    ("256us", 256_000),
    ("1ms", 1_000_000),
    ("4ms", 4_000_000),
    ("16ms", 16_000_000),
    ("64ms", 64_000_000),
    ("256ms", 256_000_000),
    ("1s", 1_000_000_000),
    ("4s", 4_000_000_000),
    ("16s", 16_000_000_000),
    ("gt", u64::MAX),
];

/// Response times of events, nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseTimes {
    /// Responses.
    pub n: u64,
    /// Shortest.
    pub min_ns: Option<u64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Longest.
    pub max_ns: u64,
    /// The value at each of [`PERCENTILES`]; absent where fewer than [`MIN_BEYOND`] lie beyond it.
    pub percentiles_ns: [Option<u64>; PERCENTILES.len()],
    /// Responses in each of [`BUCKETS`].
    pub buckets: [u64; BUCKETS.len()],
}

impl ResponseTimes {
    /// A time by which the unit of a table is chosen: the mean, where it is known.
    #[must_use]
    pub fn typical_ns(&self) -> f64 {
        self.mean_ns.unwrap_or(self.max_ns as f64)
    }

    /// Responses in each of [`BUCKETS`], percent of all.
    #[must_use]
    pub fn bucket_pcts(&self) -> [f64; BUCKETS.len()] {
        self.buckets.map(|n| n as f64 * 100.0 / self.n.max(1) as f64)
    }

    /// The value at one of [`PERCENTILES`]; `None` where too few responses lie beyond it.
    #[must_use]
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        let idx = PERCENTILES.iter().position(|p| (p - percentile).abs() < 1e-9)?;
        self.percentiles_ns[idx]
    }
}

/// The response times of some slices.
#[derive(Debug)]
pub(crate) struct Read {
    /// Of each slice; absent where it has no readable histogram, or an empty one.
    pub(crate) blocks: Vec<Option<BlockTimes>>,
    /// Of all slices together; absent when a slice has no readable histogram, so that percentiles never
    /// stand for a part of the slices. An imported file may state them.
    pub(crate) all: Option<ResponseTimes>,
}

/// Reads the histograms of slices, each once.
pub(crate) fn read(slices: &[Slice]) -> Read {
    let mut all = Histogram::<u64>::new(3).ok();
    let mut blocks = Vec::with_capacity(slices.len());
    for slice in slices {
        let one = decode(&slice.response_times);
        blocks.push(one.as_ref().filter(|one| !one.is_empty()).map(BlockTimes::of_histogram));
        let both = all.take().zip(one);
        all = both.and_then(|(mut all, one)| all.add(&one).ok().map(|()| all));
    }
    let all = all.filter(|all| !all.is_empty());
    let all = all.map(|all| of_histogram(&all, MIN_BEYOND)).or_else(|| stated(slices));
    Read { blocks, all }
}

/// What an imported file states of them: the percentiles that it has, of those that reports list.
fn stated(slices: &[Slice]) -> Option<ResponseTimes> {
    let [Slice { stated: Some(stated), .. }] = slices else { return None };
    stated.response.as_ref().map(of_stated)
}

/// What an imported file states, without what it does not.
pub(crate) fn of_stated(response: &StatedResponse) -> ResponseTimes {
    let of = |p: f64| {
        let found = response.percentiles_ns.iter().find(|(known, _)| (known - p).abs() < 1e-9);
        found.map(|(_, ns)| *ns)
    };
    ResponseTimes {
        n: response.n,
        min_ns: response.min_ns,
        mean_ns: response.mean_ns,
        max_ns: response.max_ns,
        percentiles_ns: PERCENTILES.map(of),
        buckets: response.buckets.unwrap_or_default(),
    }
}

/// The same of encoded histograms; a percentile is there where `min_beyond` responses lie beyond it.
pub(crate) fn merged_from<'a>(
    histograms: impl IntoIterator<Item = &'a [u8]>,
    min_beyond: f64,
) -> Option<ResponseTimes> {
    sum(histograms).map(|all| of_histogram(&all, min_beyond))
}

fn of_histogram(all: &Histogram<u64>, min_beyond: f64) -> ResponseTimes {
    let n = all.len();
    let percentile = |p: f64| {
        let n_beyond = n as f64 * (100.0 - p) / 100.0;
        // 100 - 99.9 is a little below 0.1 in binary.
        (n_beyond >= min_beyond - 1e-6).then(|| all.value_at_percentile(p))
    };
    ResponseTimes {
        n,
        min_ns: Some(all.min()),
        mean_ns: Some(all.mean()),
        max_ns: all.max(),
        percentiles_ns: PERCENTILES.map(percentile),
        buckets: buckets(all),
    }
}

/// Percentiles of one block's response times, of those that are compared.
#[derive(Debug)]
pub(crate) struct BlockTimes {
    /// Responses.
    pub(crate) n: u64,
    /// The value at each of [`COMPARED`], nanoseconds.
    pub(crate) percentiles_ns: [f64; COMPARED.len()],
}

impl BlockTimes {
    fn of_histogram(all: &Histogram<u64>) -> Self {
        let percentiles_ns = COMPARED.map(|p| all.value_at_percentile(p) as f64);
        Self { n: all.len(), percentiles_ns }
    }
}

/// Responses that a block needs for a percentile below 100: ten beyond it, as in a table.
pub(crate) fn needed(percentile: f64) -> u64 {
    let mut n: u64 = 10;
    while n as f64 * (100.0 - percentile) / 100.0 < MIN_BEYOND - 1e-6 {
        n += 10;
    }
    n
}

/// The value that 99% of the values in encoded histograms are at most; `None` where one is missing or
/// cannot be read, or there is no value.
pub(crate) fn p99<'a>(histograms: impl IntoIterator<Item = &'a [u8]>) -> Option<u64> {
    sum(histograms).map(|all| all.value_at_percentile(99.0))
}

/// The histograms added up; `None` where one cannot be read, or all are empty.
fn sum<'a>(histograms: impl IntoIterator<Item = &'a [u8]>) -> Option<Histogram<u64>> {
    let mut all = Histogram::<u64>::new(3).ok()?;
    for bytes in histograms {
        all.add(&decode(bytes)?).ok()?;
    }
    (!all.is_empty()).then_some(all)
}

/// A value counts as the lowest that its histogram cannot tell from it.
fn buckets(all: &Histogram<u64>) -> [u64; BUCKETS.len()] {
    let mut counts = [0; BUCKETS.len()];
    for value in all.iter_recorded() {
        let ns = all.lowest_equivalent(value.value_iterated_to());
        let idx = BUCKETS.iter().position(|(_, end)| ns <= *end).unwrap_or(BUCKETS.len() - 1);
        counts[idx] += value.count_at_value();
    }
    counts
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
            start: 0,
            load: 0,
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
            warnings: Vec::new(),
            streams: Vec::new(),
            whole_operations: None,
            counters: std::collections::BTreeMap::new(),
            stated: None,
        }
    }

    #[test]
    fn slices_are_merged_and_thin_tails_left_out() {
        let slices =
            [slice((1..=5000).map(|i| i * 1000)), slice((5001..=10_000).map(|i| i * 1000))];
        let times = read(&slices).all.unwrap();
        assert_eq!((times.n, times.min_ns), (10_000, Some(1000)));
        let near = |p: usize, ns: f64| {
            let got = times.percentiles_ns[p].unwrap() as f64;
            assert!((got / ns - 1.0).abs() < 2e-3, "{got} for {ns}");
        };
        near(0, 5e6);
        near(3, 9.9e6);
        // Exactly ten of 10000 responses lie beyond 99.9%, one beyond 99.99%.
        near(4, 9.99e6);
        assert_eq!(times.percentiles_ns[5], None);
        assert!((times.mean_ns.unwrap() / 5.0005e6 - 1.0).abs() < 2e-3);
    }

    #[test]
    fn buckets_hold_what_is_at_most_their_end() {
        let times = [1, 256_000, 257_000, 1_000_000, 4_100_000, 15_900_000_000, 17_000_000_000];
        let times = read(&[slice(times.into_iter())]).all.unwrap();
        assert_eq!(times.buckets, [2, 2, 0, 1, 0, 0, 0, 0, 1, 1]);
        assert!((times.bucket_pcts().iter().sum::<f64>() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_set_rate_shows_thinner_tails() {
        let bytes = slice((1..=1000).map(|i| i * 1000)).response_times;
        let p999 = |least| merged_from([bytes.as_slice()], least).unwrap().percentile_ns(99.9);
        assert_eq!(p999(MIN_BEYOND), None);
        assert!(p999(MIN_BEYOND_AT_RATE).is_some());
        assert!((p99([bytes.as_slice()]).unwrap() as f64 / 990_000.0 - 1.0).abs() < 2e-3);
        assert_eq!(p99([&[][..]]), None);
        let mut lost = slice([1000].into_iter());
        lost.response_times.clear();
        let read = read(&[slice((1..=1000).map(|i| i * 1000)), lost]);
        let block = read.blocks[0].as_ref().unwrap();
        assert!(block.n == 1000 && (block.percentiles_ns[0] / 500_000.0 - 1.0).abs() < 2e-3);
        assert!(read.blocks[1].is_none() && read.all.is_none());
        assert_eq!([50.0, 95.0, 99.0].map(needed), [20, 200, 1000]);
    }

    #[test]
    fn a_slice_without_histogram_spoils_the_cell() {
        let mut broken = slice([1000].into_iter());
        broken.response_times.truncate(8);
        assert_eq!(read(&[slice([1000].into_iter()), broken]).all, None);
        assert_eq!(read(&[]).all, None);
    }
}
