//! A step on several systems in turns: rounds of short slices, blocks of rounds.
//!
//! ```text
//! round      1                2                3
//! turn   ├─ A ─┤├─ B ─┤   ├─ B ─┤├─ A ─┤   ├─ A ─┤├─ B ─┤
//!
//! a turn: stop the others, go on │ run in │ sample │ ← counted → │ sample
//! ```

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rqps_load::{Control, Crew, CrewError, Edge, Order, Stop, Tally};
use rqps_model::{Mark, Sample, Slice, Usage};
use rqps_sample::{Background, End};
use rqps_server::counters::Counters;

use crate::counted::Counted;
use crate::event::{Event, Listener};
use crate::handicap::Handicap;
use crate::marks;
use crate::measure::{mix, pace, slice_of, unix_ms, warm_up};
use crate::steps::PlannedStep;
use crate::waiting::Waiting;

/// What runs before each turn and is not counted: processes that were stopped wake up, and CPU
/// caches are filled with what the server before has driven out of them. At least one event.
const RUN_IN: Duration = Duration::from_millis(5);

/// How often progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(500);

/// Measured time of a block on each system, where the step's time gives enough of them: long enough
/// that blocks are nearly independent.
const BLOCK: Duration = Duration::from_secs(2);

/// Fewest and most blocks of a step: with fewer than 8 the quantile of t widens the interval, beyond
/// 40 it no longer narrows it.
const N_BLOCKS: (u32, u32) = (8, 40);

/// Fewest blocks of a step that can end before its time: the rule asks for 12 before it believes a
/// width, and blocks may not grow with the time that is allowed.
const N_BLOCKS_TO_END: u32 = 20;

/// One system of a step.
pub(crate) struct Turn<'a> {
    /// Its place in the run.
    pub(crate) system_idx: usize,
    /// Its clients, connected.
    pub(crate) crew: Crew,
    /// What stops the threads that serve them now and then.
    pub(crate) handicap: Option<Rc<Handicap>>,
    /// Its samplers.
    pub(crate) samples: &'a Background,
    /// Reads what it counts itself.
    pub(crate) counted: &'a Counted,
}

/// How a step is cut into blocks and turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Length of a turn.
    pub(crate) slice: Duration,
    /// Measured time of a block on each system.
    pub(crate) block: Duration,
    /// Blocks in all.
    pub(crate) n_blocks: u32,
}

impl Cut {
    /// For a step that is measured for `total` on each system, in turns of `slice`; `may_end` when it
    /// can end before.
    pub(crate) fn of(total: Duration, slice: Duration, may_end: bool) -> Self {
        let (least, most) = if may_end { (N_BLOCKS_TO_END, u32::MAX) } else { N_BLOCKS };
        let by_time = u32::try_from(total.as_millis() / BLOCK.as_millis()).unwrap_or(u32::MAX);
        let turns = u32::try_from(total.as_nanos() / slice.as_nanos().max(1)).unwrap_or(u32::MAX);
        let n_blocks = by_time.clamp(least, most).min(turns).max(1);
        Self { slice, block: total / n_blocks, n_blocks }
    }
}

/// What comes after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another block, where the step has one left.
    Block,
    /// Nothing: the step is as precise as it is to be.
    Enough,
}

/// Why the rounds of a step ended before its last block.
#[derive(Debug)]
pub(crate) enum Broken {
    /// A system failed.
    System(usize, anyhow::Error),
    /// The run cannot go on: interrupted, or a store that cannot be written.
    Run(anyhow::Error),
}

/// A step under way.
pub(crate) struct Rounds<'a, 'b> {
    pub(crate) turns: Vec<Turn<'a>>,
    pub(crate) waiting: &'b mut Waiting,
    pub(crate) planned: &'b PlannedStep,
    pub(crate) cut: Cut,
    /// The seed of this step and number of clients, the same for every system.
    pub(crate) seed: u64,
    pub(crate) interrupt: &'b AtomicBool,
}

/// What a system has of a block so far.
struct Part {
    tally: Tally,
    usage: Option<Usage>,
    first: Sample,
    /// What it had counted itself when the block began.
    counters: Option<Counters>,
    /// Operations up to now, those before counting began in each turn included.
    whole_operations: u64,
}

impl Rounds<'_, '_> {
    /// Measures the blocks from `from` on; each is handed to `keep` as it ends, one slice for each
    /// system.
    pub(crate) fn run(
        &mut self,
        from: u32,
        listen: &mut Listener<'_>,
        keep: &mut dyn FnMut(Vec<(usize, Slice)>) -> Result<Next>,
    ) -> Result<(), Broken> {
        self.waiting.refresh().map_err(Broken::Run)?;
        if let Some(order) = warm_up(self.planned, self.seed) {
            for at in 0..self.turns.len() {
                self.check().map_err(Broken::Run)?;
                self.waiting.only(at).map_err(Broken::Run)?;
                self.crew_run(at, &order, &mut |_| {}, listen)?;
            }
        }
        for block_idx in from..self.cut.n_blocks {
            let block = self.block(block_idx, listen)?;
            if keep(block).map_err(Broken::Run)? == Next::Enough {
                break;
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        ensure!(!self.interrupt.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }

    fn block(
        &mut self,
        block_idx: u32,
        listen: &mut Listener<'_>,
    ) -> Result<Vec<(usize, Slice)>, Broken> {
        let seed = mix(self.seed, u64::from(block_idx) + 1);
        self.waiting.refresh().map_err(Broken::Run)?;
        let start_unix_ms = unix_ms();
        let mut parts = Vec::new();
        for at in 0..self.turns.len() {
            // One that is stopped does not answer.
            self.waiting.only(at).map_err(Broken::Run)?;
            let turn = &self.turns[at];
            let counters = turn.counted.read();
            // Samples of the time before belong to no block.
            drop(turn.samples.take());
            let first = turn.samples.mark().context("sample the start of a block");
            let first = first.map_err(Broken::Run)?;
            let tally = Tally::empty(&self.order(seed));
            parts.push(Part { tally, usage: None, first, counters, whole_operations: 0 });
        }
        let enough = u64::try_from((self.cut.block - self.cut.slice / 2).as_nanos());
        let enough = enough.unwrap_or(u64::MAX);
        let mut n_rounds = 0;
        let mut shown = Instant::now();
        while parts.iter().any(|part| part.tally.duration_ns() < enough) {
            n_rounds += 1;
            let seed = mix(seed, n_rounds);
            for at in shuffled(self.turns.len(), seed) {
                self.check().map_err(Broken::Run)?;
                let (tally, usage, n_run_in) = self.turn(at, seed, listen)?;
                let part = &mut parts[at];
                part.tally.append(&tally);
                part.whole_operations += n_run_in + tally.n_operations;
                part.usage = Some(part.usage.map_or(usage, |before| before.plus(&usage)));
                if shown.elapsed() > SHOW_EVERY {
                    shown = Instant::now();
                    let elapsed = Duration::from_nanos(part.tally.duration_ns());
                    let qps = tally.n_queries as f64 * 1e9 / tally.duration_ns().max(1) as f64;
                    listen(Event::Measuring { slice: Some(block_idx), elapsed, qps });
                }
            }
        }
        let of = |n_rounds| (seed, block_idx, start_unix_ms, n_rounds);
        let n_rounds = u32::try_from(n_rounds).unwrap_or(u32::MAX);
        let mut block = Vec::new();
        for (at, part) in parts.into_iter().enumerate() {
            self.waiting.only(at).map_err(Broken::Run)?;
            let turn = &self.turns[at];
            let slice = self.closed(turn, part, of(n_rounds)).map_err(Broken::Run)?;
            block.push((turn.system_idx, slice));
        }
        Ok(block)
    }

    fn order(&self, seed: u64) -> Order {
        Order { pace: pace(self.planned), stop: Stop::Time(self.cut.slice), seed }
    }

    /// One short slice on one system, the others waiting; with the operations before counting began.
    fn turn(
        &mut self,
        at: usize,
        seed: u64,
        listen: &mut Listener<'_>,
    ) -> Result<(Tally, Usage, u64), Broken> {
        self.waiting.only(at).map_err(Broken::Run)?;
        let order = self.order(seed);
        let run_in = Order { stop: Stop::Time(RUN_IN), seed: mix(seed, 1), ..order };
        let n_run_in = self.crew_run(at, &run_in, &mut |_| {}, listen)?.n_operations;
        let samples = self.turns[at].samples;
        let handicap = self.turns[at].handicap.clone();
        let (mut first, mut last) = (None, None);
        let mut edge = |edge| {
            match edge {
                Edge::Start => first = Some(samples.brief(End::Start)),
                Edge::End => last = Some(samples.brief(End::Finish)),
            }
            handicap.iter().for_each(|handicap| handicap.edge(edge));
        };
        let result = self.crew_run(at, &order, &mut edge, listen);
        handicap.map_or(Ok(()), |handicap| handicap.end()).map_err(Broken::Run)?;
        let tally = result?;
        let taken = |sample: Option<Result<Sample, _>>| -> Result<Sample> {
            sample.context("an end was not reached")?.context("sample the ends of a turn")
        };
        let first = taken(first).map_err(Broken::Run)?;
        let last = taken(last).map_err(Broken::Run)?;
        Ok((tally, Usage::between(&first, &last), n_run_in))
    }

    fn crew_run(
        &mut self,
        at: usize,
        order: &Order,
        edge: &mut dyn FnMut(Edge),
        listen: &mut Listener<'_>,
    ) -> Result<Tally, Broken> {
        let Self { turns, waiting, interrupt, .. } = self;
        let turn = &mut turns[at];
        let result = turn.crew.run(order, edge, &mut |live| {
            waiting.look_at_the_clock();
            let passed_s = live.elapsed.as_secs_f64();
            if passed_s > 0.0 {
                let qps = live.n_queries as f64 / passed_s;
                listen(Event::Measuring { slice: None, elapsed: live.elapsed, qps });
            }
            if interrupt.load(Ordering::Relaxed) { Control::Stop } else { Control::Go }
        });
        result.map_err(|error| match error {
            CrewError::Stopped => Broken::Run(error.into()),
            other => Broken::System(turn.system_idx, other.into()),
        })
    }

    /// A block of one system, ready to be stored.
    fn closed(
        &self,
        turn: &Turn<'_>,
        part: Part,
        (seed, block_idx, start_unix_ms, n_rounds): (u64, u32, i64, u32),
    ) -> Result<Slice> {
        let Part { tally, usage, first, counters, whole_operations } = part;
        let last = turn.samples.mark().context("sample the end of a block")?;
        let mut samples = turn.samples.take();
        samples.retain(|s| (first.at_ns..=last.at_ns).contains(&s.at_ns));
        let usage = usage.unwrap_or_default().with_rest_of(&Usage::between(&first, &last));
        let mut marks = marks::of_slice(&[&tally], &usage, self.planned.clients);
        if self.waiting.gave_up() {
            let text = "turns took so long that the servers that waited were not stopped";
            marks.push(Mark::Note { text: text.to_owned() });
        }
        let place = (seed, block_idx, start_unix_ms);
        let slice = slice_of(&tally, place, (usage, samples), marks);
        let counters = turn.counted.since(counters.as_ref());
        let whole_operations = Some(whole_operations);
        Ok(Slice { n_rounds: Some(n_rounds), whole_operations, counters, ..slice })
    }
}

/// The numbers below `n` in an order drawn from `seed` (Fisher and Yates).
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        let drawn = mix(seed, last as u64 + 2) % (last as u64 + 1);
        order.swap(last, usize::try_from(drawn).unwrap_or(0));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(total_ms: u64, slice_ms: u64) -> (u128, u32) {
        cut_to(total_ms, slice_ms, false)
    }

    fn cut_to(total_ms: u64, slice_ms: u64, may_end: bool) -> (u128, u32) {
        let ms = Duration::from_millis;
        let cut = Cut::of(ms(total_ms), ms(slice_ms), may_end);
        (cut.block.as_millis(), cut.n_blocks)
    }

    #[test]
    fn steps_are_cut_into_eight_to_forty_blocks() {
        assert_eq!(cut(9_000, 100), (1125, 8));
        assert_eq!(cut(60_000, 100), (2000, 30));
        assert_eq!(cut(600_000, 100), (15_000, 40));
        // A step too short for eight blocks of a turn each.
        assert_eq!(cut(300, 100), (100, 3));
        assert_eq!(cut(10, 100), (10, 1));
        // A step that may end earlier has blocks that do not grow with its time.
        assert_eq!(cut_to(600_000, 100, true), (2000, 300));
        assert_eq!(cut_to(10_000, 100, true), (500, 20));
    }

    #[test]
    fn every_order_is_drawn_about_as_often() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *seen.entry(shuffled(3, mix(seed, 1))).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
    }
}
