//! A log as a slice: its counts, and what it states of rates and response times.

use rqps_model::{ErrorCount, SeriesPoint, Slice, Stated, StatedResponse, WarningKind};

use super::agree::Latency;
use super::flaw::Flaw;
use super::histogram;
use super::log::Log;
use crate::number::{ns_of_ms, whole};
use crate::sheet;

/// Longest interval that is laid out second by second: longer ones tell nothing of seconds.
const MAX_INTERVAL_S: u64 = 3600;

impl Log {
    /// The log as a slice: its counts, and what it states of rates and response times.
    #[must_use]
    pub fn to_slice(&self) -> Slice {
        let (n_events, _) = self.events.unwrap_or_default();
        let (n_queries, qps) = self.queries.unwrap_or_default();
        let has = |is_one: fn(&Flaw) -> bool| self.flaws.iter().any(is_one);
        let has_no_times =
            has(|flaw| matches!(flaw, Flaw::MeanTime { .. } | Flaw::ThreadTimes { .. }));
        let has_no_histogram = has_no_times
            || has(|flaw| matches!(flaw, Flaw::Histogram { .. } | Flaw::HistogramTime { .. }));
        let response = self.latency.stated(n_events).filter(|_| !has_no_times);
        let histogram = if has_no_histogram { &[][..] } else { &self.histogram };
        // An event of either is begun again; one with a new connection counts as a reconnect alone.
        let error = |code: &str, n: Option<u64>| {
            Some(ErrorCount { code: code.to_owned(), n: n.filter(|n| *n > 0)? })
        };
        Slice {
            duration_ns: self.seconds.map_or(0, |s| whole(s * 1e9)),
            n_events,
            n_queries,
            n_operations: n_queries,
            errors: [error("ignored", self.ignored_errors), error("reconnect", self.reconnects)]
                .into_iter()
                .flatten()
                .collect(),
            series: self.series(),
            response_times: histogram::encoded(histogram),
            warnings: self
                .flaws
                .iter()
                .map(|flaw| WarningKind::ImportedFault { text: flaw.to_string() })
                .collect(),
            ..sheet::slice(Stated { figure: Some(qps), response, ..Stated::default() })
        }
    }

    /// A point per second: every second of a longer interval has its mean. Response times of seconds are
    /// not known. Intervals without queries, as 0.5 prints them, have no points.
    fn series(&self) -> Vec<SeriesPoint> {
        let small = |rate: f64| u32::try_from(whole(rate)).unwrap_or(u32::MAX);
        let mut points = Vec::new();
        let mut from = 0;
        for interval in &self.intervals {
            let Some(qps) = interval.qps else { return Vec::new() };
            let seconds = interval.at_s.saturating_sub(from);
            if seconds == 0 || seconds > MAX_INTERVAL_S {
                return Vec::new();
            }
            let point = SeriesPoint {
                queries: small(qps),
                events: small(interval.tps),
                errors: small(interval.errors_per_s + interval.reconnects_per_s),
                ..SeriesPoint::default()
            };
            points.extend((0..seconds).map(|_| point));
            from = interval.at_s;
        }
        points
    }
}

impl Latency {
    /// The same in nanoseconds; `None` without a mean. Without an event sysbench prints 0.00, which is no time.
    fn stated(&self, n: u64) -> Option<StatedResponse> {
        if n == 0 {
            return None;
        }
        let ms = |value: Option<f64>| value.map_or(0, ns_of_ms);
        Some(StatedResponse {
            n,
            min_ns: Some(ms(self.min)),
            mean_ns: Some(self.avg? * 1e6),
            max_ns: ms(self.max),
            percentiles_ns: self.percentiles.iter().map(|(p, v)| (*p, ns_of_ms(*v))).collect(),
            buckets: None,
        })
    }
}
