//! Histograms of response times: whether they are those of the statistics, and as a slice has them.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

use super::agree::{BUCKET_SHARE, Latency, MAX_HISTOGRAM_MS};
use super::flaw::Flaw;
use crate::number::ns_of_ms;

/// One event of so many may be in the statistics alone, and one of each thread: with `--warmup-time` sysbench 1.1
/// begins to count some microseconds before the histogram.
const SLACK: u64 = 1000;

/// A time by the histogram, and between which times the statistics may have it, milliseconds.
#[derive(Debug, Clone, Copy)]
struct OwnTime {
    ms: f64,
    low_ms: f64,
    high_ms: f64,
}

impl OwnTime {
    /// Whether the statistics have another time, beyond their last digit. Times above the last bucket are in it.
    fn flaw(self, what: &str, stated_ms: Option<f64>, rounding_ms: f64) -> Option<Flaw> {
        let Self { ms, low_ms, high_ms } = self;
        let stated_ms = stated_ms.filter(|ms| *ms < MAX_HISTOGRAM_MS)?;
        let is_other = stated_ms < low_ms * (1.0 - BUCKET_SHARE) - rounding_ms
            || stated_ms > high_ms * (1.0 + BUCKET_SHARE) + rounding_ms;
        is_other.then(|| Flaw::HistogramTime { what: what.to_owned(), ms, stated_ms })
    }
}

/// What a histogram is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statistics<'l> {
    pub(super) n_events: u64,
    pub(super) threads: u32,
    pub(super) latency: &'l Latency,
    /// Whether some of its events may be others, even if both have as many: after a warm-up, and where the last
    /// events did not end.
    pub(super) may_have_others: bool,
}

/// Why a histogram is not that of the statistics: it has more or fewer events, or other times.
pub(super) fn flaw(histogram: &[(f64, u64)], statistics: Statistics<'_>) -> Option<Flaw> {
    let Statistics { n_events, threads, latency, may_have_others } = statistics;
    let filled = || histogram.iter().filter(|(_, n)| *n > 0).map(|(ms, _)| *ms);
    let (lowest_ms, highest_ms) = filled().next().zip(filled().next_back())?;
    let n = histogram.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
    let slack = n_events / SLACK + u64::from(threads);
    if n.abs_diff(n_events) > slack {
        return Some(Flaw::Histogram { n, n_events });
    }
    let rounding_ms = latency.rounding_both_ms();
    let of_percentile = |&(p, stated_ms): &(f64, f64)| {
        let rank = p / 100.0 * n as f64;
        let at = |rank: f64| time_at(histogram, rank);
        let (low_ms, high_ms) = (at(rank - slack as f64 - 0.5), at(rank + slack as f64 + 0.5));
        OwnTime { ms: at(rank), low_ms, high_ms }.flaw(
            &format!("{p}th percentile"),
            Some(stated_ms),
            rounding_ms,
        )
    };
    // The shortest and the longest may be among the events that the histogram lacks.
    let n_others = if may_have_others || n != n_events { slack } else { 0 };
    let fastest_ms = if n_others == 0 { lowest_ms } else { 0.0 };
    let slowest_ms = if n_others == 0 { highest_ms } else { f64::INFINITY };
    let min = OwnTime { ms: lowest_ms, low_ms: fastest_ms, high_ms: lowest_ms };
    let max = OwnTime { ms: highest_ms, low_ms: highest_ms, high_ms: slowest_ms };
    let percentile = latency.percentiles.iter().find_map(of_percentile);
    percentile
        .or_else(|| max.flaw("max", latency.max, rounding_ms))
        .or_else(|| min.flaw("min", latency.min, rounding_ms))
        .or_else(|| mean(histogram, latency.max, n_others).flaw("avg", latency.avg, rounding_ms))
}

/// The mean. Of events that are not those of the histogram some took the longest time, others nearly none.
fn mean(histogram: &[(f64, u64)], max_ms: Option<f64>, n_others: u64) -> OwnTime {
    let n: u64 = histogram.iter().map(|(_, n)| n).sum();
    let (n, n_others) = (n as f64, n_others as f64);
    let ms = histogram.iter().map(|(ms, n)| ms * *n as f64).sum::<f64>() / n;
    let highest_ms = histogram.last().map_or(0.0, |(ms, _)| *ms);
    // Times above the last bucket are in it.
    let is_bounded = max_ms.is_some_and(|max_ms| max_ms < MAX_HISTOGRAM_MS);
    let by_others_ms = |ms: f64| ms * n_others / n;
    OwnTime {
        ms,
        low_ms: ms - by_others_ms(highest_ms),
        high_ms: max_ms
            .filter(|_| is_bounded)
            .map_or(f64::INFINITY, |max_ms| ms + by_others_ms(max_ms)),
    }
}

/// The bucket with the event of a rank, from 1.
fn time_at(histogram: &[(f64, u64)], rank: f64) -> f64 {
    let mut n = 0_u64;
    let found = histogram.iter().find(|(_, own)| {
        n = n.saturating_add(*own);
        n as f64 >= rank
    });
    found.or(histogram.last()).map_or(0.0, |(ms, _)| *ms)
}

/// Values in milliseconds with their counts as an HDR histogram, V2 format, deflated; empty where there is
/// none. sysbench's values are the upper ends of buckets 1.8% apart.
pub(super) fn encoded(histogram: &[(f64, u64)]) -> Vec<u8> {
    let encode = || -> Option<Vec<u8>> {
        let mut all = Histogram::<u64>::new(3).ok()?;
        for &(ms, n) in histogram {
            all.record_n(ns_of_ms(ms), n).ok()?;
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&all, &mut bytes).ok()?;
        Some(bytes)
    };
    if histogram.is_empty() { Vec::new() } else { encode().unwrap_or_default() }
}
