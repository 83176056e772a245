//! A step on one system or several: blocks of slices, in rounds of one slice of each system.
//!
//! ```text
//! round      1                2                3
//! slice  ├─ A ─┤├─ B ─┤   ├─ B ─┤├─ A ─┤   ├─ A ─┤├─ B ─┤
//!
//! a slice: stop the others, go on │ run in │ sample │ ← counted → │ sample
//! ```

mod even_out;
mod lane;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rqps_load::{Control, Edge, Live, Order, Pace, PlaceInBlock, Stop, Tally};
use rqps_model::{Sample, Usage, WarningKind};
use rqps_sample::End;
use rqps_store::unix_ms;

use crate::engine::clients::warm_up;
use crate::engine::cut::{ALONE, Cut, Done};
use crate::engine::heartbeat::{self, Heartbeat, Verdict};
use crate::engine::observer::{Block, Next, Observer};
use crate::engine::shown::Shown;
use crate::engine::waiting::Waiting;
use crate::event::{Event, Nth};
use crate::failure::Broken;
use crate::plan::seed::{self, mix, shuffled};
use crate::plan::steps::{Job, PlannedStep};

pub(crate) use lane::Lane;
use lane::{BlockId, LaneBlock};

/// What runs before each slice of an interleaved step and is not counted: processes that were stopped wake up, and
/// CPU caches are filled with what the server before has driven out of them. At least one event, except on
/// systems where one takes longer than a slice: there is nothing to wake up from. At a set rate none, as
/// that would be more than the rate: the time alone.
const RUN_IN: Duration = Duration::from_millis(2);

/// A step under way.
pub(crate) struct Blocks<'a, 'b> {
    /// The systems that are measured, in the order of those that wait.
    pub(crate) lanes: Vec<Lane<'a>>,
    pub(crate) waiting: &'b mut Waiting,
    pub(crate) planned: &'b PlannedStep,
    pub(crate) cut: Cut,
    /// The seed of this attempt at the step, the same for every system.
    pub(crate) seed: u64,
    pub(crate) interrupt: &'b AtomicBool,
}

/// A slice of a system, in its place.
#[derive(Debug, Clone, Copy)]
struct At {
    lane: usize,
    block: u32,
    stop: Stop,
    /// Its place among those of its system that share a clock.
    place: PlaceInBlock,
    seed: u64,
}

/// What was counted and used in a slice.
struct Measured {
    tallies: Vec<Tally>,
    usage: Usage,
    /// Operations before counting began.
    n_run_in: u64,
}

impl Blocks<'_, '_> {
    /// Measures the blocks that are not done; each is handed to `observer` as it ends.
    pub(crate) fn run(&mut self, done: Done, observer: &mut dyn Observer) -> Result<(), Broken> {
        let begun = Instant::now();
        let result = self.run_blocks(done, observer);
        if let Err(Broken::System(failed, _)) = &result {
            // The others go on with other clients. One of them that fails here fails there, too.
            let _ = self.even_out(Some(*failed), begun.elapsed(), observer);
        }
        result
    }

    fn run_blocks(&mut self, done: Done, observer: &mut dyn Observer) -> Result<(), Broken> {
        self.warm_up(observer)?;
        let longest = self.lanes.iter().filter_map(|lane| lane.usual_event).max();
        if let (Cut::Timed(cut), Some(longest)) = (&mut self.cut, longest) {
            *cut = cut.for_events_of(longest);
        }
        let first_block = done.n_blocks;
        let mut done = done;
        let mut heartbeat = Heartbeat::start();
        while !self.cut.is_over(done) {
            let slices_so_far = self.waiting.slices_so_far();
            heartbeat.begin();
            let id = BlockId {
                idx: done.n_blocks,
                is_first: done.n_blocks == first_block,
                n_before: heartbeat.n_again(),
            };
            let mut block = self.block(id, observer)?;
            // Rows that were inserted stay: such a block is not measured once more.
            let verdict = match self.planned.job {
                Job::File { .. } | Job::Vector { .. } if !self.planned.fills() => {
                    heartbeat.verdict()
                }
                _ => Verdict::Keep(heartbeat.warning()),
            };
            match verdict {
                Verdict::Again(seconds) => {
                    self.waiting.put_back(slices_so_far);
                    let told = heartbeat::told(&self.planned.info.name, seconds);
                    observer.tell(Event::Note(&told));
                    continue;
                }
                Verdict::Keep(warning) => {
                    block.iter_mut().for_each(|(_, slice)| slice.warnings.extend(warning.clone()));
                }
            }
            done.n_blocks += 1;
            let longest_ns = block.iter().map(|(_, slice)| slice.duration_ns).max();
            let longest = Duration::from_nanos(longest_ns.unwrap_or_default());
            done.spent += longest;
            // A store that another process has locked makes this one wait.
            self.waiting.thaw();
            // What was measured is stored, whatever fails afterwards.
            let next = observer.keep(block).map_err(Broken::Unattributed)?;
            self.even_out(None, longest, observer)?;
            if next == Next::Enough {
                break;
            }
        }
        Ok(())
    }

    /// Warms up the systems that have not been for this step, and sees how long their events take.
    fn warm_up(&mut self, observer: &mut dyn Observer) -> Result<(), Broken> {
        let Some(order) = warm_up(self.planned, self.seed) else { return Ok(()) };
        let mut longest = Duration::ZERO;
        for at in 0..self.lanes.len() {
            if self.lanes[at].usual_event.is_some() {
                continue;
            }
            self.check().map_err(Broken::Run)?;
            self.waiting.only_uncounted(at).map_err(Broken::Unattributed)?;
            let tallies = self.run_clients(at, None, &[order], &mut |_| {}, observer)?;
            // Half of them: the first ones find nothing in memory.
            let usual_ns = tallies.first().map(|tally| tally.response_times.value_at_quantile(0.5));
            self.lanes[at].usual_event = usual_ns.map(Duration::from_nanos);
            longest =
                longest.max(Duration::from_nanos(tallies.first().map_or(0, |tally| tally.span_ns)));
        }
        self.waiting.thaw();
        self.even_out(None, longest, observer)
    }

    fn check(&self) -> Result<()> {
        ensure!(!self.interrupt.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }

    fn block(&mut self, id: BlockId, observer: &mut dyn Observer) -> Result<Block, Broken> {
        let seed = seed::of_again(mix(self.seed, u64::from(id.idx) + 1), id.n_before);
        self.waiting.refresh().map_err(Broken::Unattributed)?;
        let start_unix_ms = unix_ms();
        let mut parts = Vec::new();
        for at in 0..self.lanes.len() {
            // One that is stopped does not answer.
            self.waiting.only_uncounted(at).map_err(Broken::Unattributed)?;
            let empty = self.lanes[at].clients.orders(self.cut.stop(id.idx, 0), ALONE, seed);
            let lane = &self.lanes[at];
            let opened = LaneBlock::open(lane, &empty, start_unix_ms);
            parts.push(opened.map_err(|error| Broken::System(lane.system, error))?);
        }
        let mut n_rounds: u32 = 0;
        let mut shown = Shown::nothing(parts.len());
        let least_ns =
            |parts: &[LaneBlock<'_>]| parts.iter().map(LaneBlock::span_ns).min().unwrap_or(0);
        while !self.cut.has_all(id.idx, n_rounds, least_ns(&parts)) {
            let seed = self.seed_of_round(seed, n_rounds);
            for lane in shuffled(self.lanes.len(), seed) {
                self.check().map_err(Broken::Run)?;
                let place = self.place_of_slice(lane, id, n_rounds, parts[lane].span_ns());
                let stop = self.cut.stop(id.idx, n_rounds);
                let measured =
                    self.slice(At { lane, block: id.idx, stop, place, seed }, observer)?;
                let is_whole_block =
                    matches!(&self.cut, Cut::Counted(cut) if cut.slices_of(id.idx) == 1);
                parts[lane].add(measured, is_whole_block);
                if shown.is_due() {
                    let rates = shown.rates(self.lanes.iter().zip(&parts).map(|(l, p)| l.shown(p)));
                    let (block, n_rounds) = (self.nth(id.idx), n_rounds + 1);
                    observer.tell(Event::Interleaved { block, n_rounds, rates: &rates });
                }
            }
            n_rounds += 1;
        }
        let is_timed = matches!(self.cut, Cut::Timed(_));
        let n_rounds = (is_timed || self.lanes.len() > 1).then_some(n_rounds);
        let mut block = Block::new();
        for (at, part) in parts.into_iter().enumerate() {
            self.waiting.only_uncounted(at).map_err(Broken::Unattributed)?;
            let lane = &self.lanes[at];
            let whole_operations = is_timed.then_some(part.whole_operations);
            let closed = part.close(lane, id.idx, seed, self.planned.clients);
            let mut slice = closed.map_err(|error| Broken::System(lane.system, error))?;
            (slice.n_rounds, slice.whole_operations) = (n_rounds, whole_operations);
            if self.waiting.gave_up() {
                slice.warnings.push(WarningKind::WaitingNotStopped);
            }
            block.push((lane.system, slice));
        }
        Ok(block)
    }

    /// A block among those of the step.
    fn nth(&self, idx: u32) -> Nth {
        Nth { idx, n: self.cut.n_blocks() }
    }

    /// The seed of a round of a block with seed `seed`. A slice that is a whole block by itself has the block's.
    fn seed_of_round(&self, seed: u64, nth: u32) -> u64 {
        match &self.cut {
            Cut::Counted(cut) if !cut.keeps_clock => seed,
            _ => mix(seed, u64::from(nth) + 1),
        }
    }

    /// The place of a slice on its system's clock. The clock of a set rate goes on from slice to slice: a rate that
    /// has less than one start in a slice is held over many. What is due at the end of a block of time and has
    /// not begun is missed.
    fn place_of_slice(&mut self, lane: usize, id: BlockId, nth: u32, span_ns: u64) -> PlaceInBlock {
        match &self.cut {
            Cut::Timed(cut) => {
                // As far as it can be known before: the others may take longer to have their time.
                let slice_ns = u64::try_from(cut.slice.as_nanos()).unwrap_or(u64::MAX);
                let is_last = span_ns.saturating_add(slice_ns) >= cut.enough_ns();
                let is_first = !std::mem::replace(&mut self.lanes[lane].is_on_clock, true);
                PlaceInBlock { is_first, is_last }
            }
            Cut::Counted(cut) if cut.keeps_clock => {
                let ends_block = nth + 1 == cut.slices_of(id.idx);
                let is_last = ends_block && id.idx + 1 == cut.n_blocks;
                PlaceInBlock { is_first: id.is_first && nth == 0, is_last }
            }
            Cut::Counted(_) => ALONE,
        }
    }

    /// One slice on one system, the others waiting.
    fn slice(&mut self, at: At, observer: &mut dyn Observer) -> Result<Measured, Broken> {
        self.waiting.only(at.lane).map_err(Broken::Unattributed)?;
        let n_run_in = self.run_in(at, observer)?;
        let orders = self.lanes[at.lane].clients.orders(at.stop, at.place, at.seed);
        let samples = self.lanes[at.lane].bench.samples;
        let (mut first, mut last) = (None, None);
        let mut edge = |edge| match edge {
            Edge::Start => first = Some(samples.brief(End::Start)),
            Edge::End => last = Some(samples.brief(End::Finish)),
        };
        let block = Some(self.nth(at.block));
        let result = self.run_clients(at.lane, block, &orders, &mut edge, observer);
        let Lane { system, clients, .. } = &self.lanes[at.lane];
        let failed = |error| Broken::System(*system, error);
        let ended = clients.end_injected_slowdown();
        // A server that has died is the reason of both, and the clients say so.
        let tallies = result?;
        ended.map_err(failed)?;
        let taken = |sample: Option<Result<Sample, _>>| -> Result<Sample> {
            sample.context("an end was not reached")?.context("sample the ends of a slice")
        };
        let first = taken(first).map_err(failed)?;
        let last = taken(last).map_err(failed)?;
        Ok(Measured { tallies, usage: Usage::between(&first, &last), n_run_in })
    }

    /// What comes before a slice is counted; tells how many operations that were.
    fn run_in(&mut self, at: At, observer: &mut dyn Observer) -> Result<u64, Broken> {
        let Cut::Timed(cut) = self.cut else { return Ok(0) };
        let lane = &self.lanes[at.lane];
        if !lane.clients.is_closed() {
            #[expect(clippy::disallowed_methods, reason = "to let processes wake up is the point")]
            std::thread::sleep(RUN_IN);
        } else if lane.usual_event.is_none_or(|event| event <= cut.slice) {
            let order =
                Order { pace: Pace::Closed, stop: Stop::Time(RUN_IN), seed: mix(at.seed, 1) };
            let tallies = self.run_clients(at.lane, None, &[order], &mut |_| {}, observer)?;
            return Ok(tallies.first().map_or(0, |tally| tally.n_operations));
        }
        Ok(0)
    }

    /// Runs a system's clients, with its injected slowdown where what they do is counted.
    fn run_clients(
        &mut self,
        lane: usize,
        block: Option<Nth>,
        orders: &[Order],
        edge: &mut dyn FnMut(Edge),
        observer: &mut dyn Observer,
    ) -> Result<Vec<Tally>, Broken> {
        // In short slices an event may be longer than the time since it was shown last.
        let is_timed = matches!(self.cut, Cut::Timed(_));
        let Self { lanes, waiting, interrupt, .. } = self;
        let Lane { system, clients, .. } = &mut lanes[lane];
        let (system, injected_slowdown) =
            (*system, clients.injected_slowdown.as_ref().filter(|_| block.is_some()));
        let mut both = |at| {
            edge(at);
            injected_slowdown.iter().for_each(|injected_slowdown| injected_slowdown.edge(at));
        };
        let mut before: Option<Live> = None;
        let result = clients.pool.run_roles(orders, &mut both, &mut |live| {
            waiting.look_at_the_clock();
            let (from_s, from_n) =
                before.map_or((0.0, 0), |b| (b.elapsed.as_secs_f64(), b.n_queries));
            let passed_s = live.elapsed.as_secs_f64() - from_s;
            if passed_s > 0.0 {
                let qps = live.n_queries.saturating_sub(from_n) as f64 / passed_s;
                let (system, elapsed) = (Some(system.0), live.elapsed);
                observer.tell(Event::Measuring { system, slice: block, elapsed, qps });
            }
            before = Some(live).filter(|_| !is_timed);
            if interrupt.load(Ordering::Relaxed) { Control::Stop } else { Control::Go }
        });
        result.map_err(|error| Broken::of_clients(system, error))
    }
}

#[cfg(test)]
mod tests;
