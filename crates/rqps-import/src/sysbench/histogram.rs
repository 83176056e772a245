//! Histograms of response times as a slice has them.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

use crate::number::ns_of_ms;

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
