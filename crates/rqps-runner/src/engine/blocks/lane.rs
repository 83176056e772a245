//! One system of a step, and what it has of a block so far.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rqps_load::{Order, Tally};
use rqps_model::{Slice, Stream, SystemIdx, Usage};

use super::Measured;
use crate::engine::bench::Bench;
use crate::engine::clients::{RoleSpec, StepClients};
use crate::engine::injected_slowdown::InjectedSlowdown;
use crate::engine::warnings;
use crate::engine::window::{Seen, Window, slice_of};

/// One system of a step.
pub(crate) struct Lane<'a> {
    pub(crate) system: SystemIdx,
    pub(crate) clients: StepClients,
    pub(crate) bench: Bench<'a>,
    /// The usual time of an event, where it has been warmed up for the step.
    pub(crate) usual_event: Option<Duration>,
    /// Whether the clock of a set rate has begun.
    pub(super) is_on_clock: bool,
}

/// Which block is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockId {
    pub(super) idx: u32,
    /// Nothing of the step came before it on these connections.
    pub(super) is_first: bool,
    /// How often it was measured before and is not kept.
    pub(super) n_before: u32,
}

/// What a system has of a block so far.
pub(super) struct LaneBlock<'a> {
    window: Window<'a>,
    /// One for each role.
    tallies: Vec<Tally>,
    usage: Option<Usage>,
    /// Operations up to now, those before counting began in each slice included.
    pub(super) whole_operations: u64,
}

impl<'a> Lane<'a> {
    pub(crate) fn new(system: SystemIdx, clients: StepClients, bench: Bench<'a>) -> Self {
        Self { system, clients, bench, usual_event: None, is_on_clock: false }
    }

    /// Events of the client that has had the fewest since the step began.
    pub(super) fn least_events(&self) -> u64 {
        self.clients.pool.events_of_stream().iter().copied().min().unwrap_or(0)
    }

    /// Events of all clients since the step began, those that are not counted included.
    pub(crate) fn n_events(&self) -> u64 {
        self.clients.pool.events_of_stream().iter().sum()
    }

    /// What is shown of it during a block: the queries and the time up to now. Of loads and the Insert Benchmark,
    /// operations.
    pub(super) fn shown(&self, part: &LaneBlock<'_>) -> (usize, u64, u64) {
        let Some(first) = part.tallies.first() else { return (self.system.0, 0, 0) };
        let has_roles = self.clients.roles.iter().any(|spec| spec.role.is_some());
        let n = if has_roles { first.n_operations } else { first.n_queries };
        (self.system.0, n, first.duration_ns())
    }
}

impl<'a> LaneBlock<'a> {
    /// Begins a block; `orders` are those of any of its slices.
    pub(super) fn open(lane: &Lane<'a>, orders: &[Order], start_unix_ms: i64) -> Result<Self> {
        lane.clients.placed.renew()?;
        let window = Window::open_at(&lane.bench, start_unix_ms)?;
        let tallies = orders.iter().map(Tally::empty).collect();
        Ok(Self { window, tallies, usage: None, whole_operations: 0 })
    }

    /// Measured time up to now.
    pub(super) fn span_ns(&self) -> u64 {
        self.tallies.first().map_or(0, |tally| tally.span_ns)
    }

    /// Adds a slice. One that is the whole block keeps its own clock: seconds and windows are those of the rate's.
    pub(super) fn add(&mut self, measured: Measured, is_whole_block: bool) {
        let Measured { tallies, usage, n_run_in } = measured;
        self.whole_operations += n_run_in + tallies.first().map_or(0, |tally| tally.n_operations);
        self.usage = Some(self.usage.map_or(usage, |before| before.plus(&usage)));
        if is_whole_block {
            self.tallies = tallies;
        } else {
            self.tallies.iter_mut().zip(&tallies).for_each(|(sum, tally)| sum.append(tally));
        }
    }

    /// The block as it is stored.
    pub(super) fn close(self, lane: &Lane<'_>, idx: u32, seed: u64, clients: u32) -> Result<Slice> {
        let Self { window, tallies, usage, .. } = self;
        let seen = window.close()?;
        let usage = usage.unwrap_or_default().with_rest_of(&seen.usage);
        let (main, others) = tallies.split_first().context("a step without clients")?;
        let all: Vec<&Tally> = tallies.iter().collect();
        let mut warnings = warnings::of_slice(&all, &usage, clients.max(lane.clients.n_clients()));
        warnings
            .extend(lane.clients.injected_slowdown.iter().filter_map(InjectedSlowdown::warning));
        let streams = lane.clients.roles.iter().skip(1).zip(others);
        let streams = streams.filter_map(|(spec, tally)| stream_of(spec, tally)).collect();
        let slice = slice_of(main, idx, seed, Seen { usage, ..seen }, warnings);
        Ok(Slice { streams, ..slice })
    }
}

fn stream_of(spec: &RoleSpec, tally: &Tally) -> Option<Stream> {
    Some(Stream {
        role: spec.role?,
        clients: spec.clients,
        target_per_s: spec.rows_per_s,
        duration_ns: tally.duration_ns(),
        n_events: tally.n_events,
        n_queries: tally.n_queries,
        n_operations: tally.n_operations,
        lateness: tally.lateness,
        delays: tally.delay_bytes(),
        own_delays: tally.own_delay_bytes(),
        series: tally.series.clone(),
        errors: tally.errors.clone(),
        response_times: tally.response_time_bytes(),
    })
}
