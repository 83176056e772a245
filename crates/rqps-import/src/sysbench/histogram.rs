//! Histograms of response times: whether they are those of the statistics, and as a slice has them.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

use super::agree::{BUCKET_SHARE, Latency, MAX_HISTOGRAM_MS, ROUNDING_MS};
use super::flaw::Flaw;
use crate::number::ns_of_ms;

/// One event of so many may be in the statistics alone, and one of each thread: with `--warmup-time` sysbench 1.1
/// begins to count some microseconds before the histogram.
const SLACK: u64 = 1000;

/// Why a histogram is not that of the statistics: it has more or fewer events, or other times.
pub(super) fn flaw(
    histogram: &[(f64, u64)],
    n_events: u64,
    threads: u32,
    latency: &Latency,
) -> Option<Flaw> {
    let (highest_ms, _) = *histogram.last()?;
    let n = histogram.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
    let slack = n_events / SLACK + u64::from(threads);
    if n.abs_diff(n_events) > slack {
        return Some(Flaw::Histogram { n, n_events });
    }
    let is_other = |low_ms: f64, high_ms: f64, stated_ms: f64| {
        // Longer times are in the last bucket.
        stated_ms < MAX_HISTOGRAM_MS
            && (stated_ms < low_ms * (1.0 - BUCKET_SHARE) - ROUNDING_MS
                || stated_ms > high_ms * (1.0 + BUCKET_SHARE) + ROUNDING_MS)
    };
    let of_percentile = |&(p, stated_ms): &(f64, f64)| {
        let rank = p / 100.0 * n as f64;
        let at = |rank: f64| time_at(histogram, rank);
        let (low_ms, high_ms) = (at(rank - slack as f64 - 0.5), at(rank + slack as f64 + 0.5));
        let what = format!("{p}th percentile");
        is_other(low_ms, high_ms, stated_ms).then(|| Flaw::HistogramTime {
            what,
            ms: at(rank),
            stated_ms,
        })
    };
    // The longest may be among the events that the histogram lacks.
    let max = latency.max.filter(|max| is_other(highest_ms, f64::INFINITY, *max));
    let of_max = max.map(|stated_ms| Flaw::HistogramTime {
        what: "max".to_owned(),
        ms: highest_ms,
        stated_ms,
    });
    latency.percentiles.iter().find_map(of_percentile).or(of_max)
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
