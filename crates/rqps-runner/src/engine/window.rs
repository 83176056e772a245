//! What is read around a time in which a system is measured: samples at both ends and in between, and the
//! server's own counters.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use rqps_load::Tally;
use rqps_model::{Sample, Slice, Usage, WarningKind};
use rqps_sample::Background;
use rqps_server::counters::Counters;
use rqps_store::unix_ms;

use crate::engine::bench::Bench;
use crate::engine::counted::Counted;

/// A time that has begun on a system. The server must not be stopped as it begins and ends.
pub(crate) struct Window<'a> {
    samples: &'a Background,
    counted: &'a Counted,
    start_unix_ms: i64,
    first: Sample,
    counters: Option<Counters>,
}

/// What was read of a system by the end of a window.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) start_unix_ms: i64,
    pub(crate) usage: Usage,
    pub(crate) samples: Vec<Sample>,
    pub(crate) counters: BTreeMap<String, u64>,
}

impl<'a> Window<'a> {
    pub(crate) fn open(bench: &Bench<'a>) -> Result<Self> {
        Self::open_at(bench, unix_ms())
    }

    /// Opens that of a system of a block. All systems of a block have the same start: they are paired by it.
    pub(crate) fn open_at(bench: &Bench<'a>, start_unix_ms: i64) -> Result<Self> {
        let Bench { samples, counted, .. } = *bench;
        let counters = counted.read();
        // Samples of the time before belong to no window.
        drop(samples.take());
        let first = samples.mark().context("sample the start of a slice")?;
        Ok(Self { samples, counted, start_unix_ms, first, counters })
    }

    pub(crate) fn close(self) -> Result<Seen> {
        let Self { samples, counted, start_unix_ms, first, counters } = self;
        let last = samples.mark().context("sample the end of a slice")?;
        let mut samples = samples.take();
        samples.retain(|s| (first.at_ns..=last.at_ns).contains(&s.at_ns));
        let usage = Usage::between(&first, &last);
        let counters = counted.since(counters.as_ref());
        Ok(Seen { start_unix_ms, usage, samples, counters })
    }
}

/// A slice as it is stored, its `idx`th of a step: what was counted by its clients and read of its system.
pub(crate) fn slice_of(
    tally: &Tally,
    idx: u32,
    seed: u64,
    seen: Seen,
    warnings: Vec<WarningKind>,
) -> Slice {
    Slice {
        idx,
        start: 0,
        load: 0,
        n_rounds: None,
        start_unix_ms: seen.start_unix_ms,
        duration_ns: tally.duration_ns(),
        seed,
        n_events: tally.n_events,
        n_queries: tally.n_queries,
        n_operations: tally.n_operations,
        n_rows: tally.n_rows,
        errors: tally.errors.clone(),
        lateness: tally.lateness,
        windows: tally.windows.clone(),
        series: tally.series.clone(),
        response_times: tally.response_time_bytes(),
        usage: seen.usage,
        samples: seen.samples,
        warnings,
        streams: Vec::new(),
        whole_operations: None,
        counters: seen.counters,
        stated: None,
    }
}
