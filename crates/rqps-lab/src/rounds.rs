//! A step on several systems in turns: rounds of short slices, blocks of rounds.
//!
//! ```text
//! round      1                2                3
//! turn   ├─ A ─┤├─ B ─┤   ├─ B ─┤├─ A ─┤   ├─ A ─┤├─ B ─┤
//!
//! a turn: stop the others, go on │ run in │ sample │ ← counted → │ sample
//! ```

mod cut;

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rqps_load::{Control, Crew, CrewError, Edge, Order, Pace, Stop, Tally};
use rqps_model::{Mark, Sample, Slice, Usage};
use rqps_sample::{Background, End};
use rqps_server::counters::Counters;
use rqps_store::unix_ms;

use crate::counted::Counted;
use crate::event::{Event, Listener};
use crate::failure::Broken;
use crate::handicap::Handicap;
use crate::heartbeat::{self, Heartbeat, Verdict};
use crate::marks;
use crate::measure::{Manned, Placed, pace, slice_of, warm_up};
use crate::seed::{self, mix, shuffled};
use crate::shown::Shown;
use crate::steps::PlannedStep;
use crate::waiting::{RAN_ON, Waiting};

pub(crate) use cut::{Cut, There};

/// What runs before each turn and is not counted: processes that were stopped wake up, and CPU
/// caches are filled with what the server before has driven out of them. At least one event, but for
/// systems where one takes longer than a turn: there is nothing to wake up from. At a set rate none, as
/// that would be more than the rate: the time alone.
const RUN_IN: Duration = Duration::from_millis(5);

/// One system of a step.
pub(crate) struct Turn<'a> {
    /// Its place in the run.
    pub(crate) system_idx: usize,
    /// Its clients, connected.
    crew: Crew,
    /// What stops the threads that serve them now and then.
    handicap: Option<Rc<Handicap>>,
    /// Where its threads are.
    placed: Placed,
    /// Its samplers.
    samples: &'a Background,
    /// Reads what it counts itself.
    counted: &'a Counted,
    /// The usual time of an event, where it has been warmed up for the step.
    pub(crate) event: Option<Duration>,
    /// Whether the clock of a set rate has begun.
    is_on_clock: bool,
}

impl<'a> Turn<'a> {
    pub(crate) fn of(
        system_idx: usize,
        manned: Manned,
        (samples, counted): (&'a Background, &'a Counted),
    ) -> Self {
        let Manned { crew, handicap, placed, .. } = manned;
        let handicap = handicap.map(Rc::new);
        let (event, is_on_clock) = (None, false);
        Self { system_idx, crew, handicap, placed, samples, counted, event, is_on_clock }
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
    /// Measures the blocks that are not there; each is handed to `keep` as it ends, one slice for each
    /// system.
    pub(crate) fn run(
        &mut self,
        there: There,
        listen: &mut Listener<'_>,
        keep: &mut dyn FnMut(Vec<(usize, Slice)>) -> Result<Next>,
    ) -> Result<(), Broken> {
        self.warm_up(listen)?;
        let longest = self.turns.iter().filter_map(|turn| turn.event).max();
        self.cut = self.cut.for_events_of(longest.unwrap_or_default());
        let There { mut n_blocks, mut spent } = there;
        let mut heartbeat = Heartbeat::start();
        while !self.cut.is_over(n_blocks, spent) {
            let turns_so_far = self.waiting.turns_so_far();
            heartbeat.begin();
            let mut block = self.block((n_blocks, heartbeat.n_again()), listen)?;
            match heartbeat.verdict() {
                Verdict::Again(seconds) => {
                    self.waiting.put_back(turns_so_far);
                    listen(Event::Note(&heartbeat::told(&self.planned.info.name, seconds)));
                    continue;
                }
                Verdict::Keep(mark) => {
                    block.iter_mut().for_each(|(_, slice)| slice.marks.extend(mark.clone()));
                }
            }
            n_blocks += 1;
            let longest_ns = block.iter().map(|(_, slice)| slice.duration_ns).max();
            spent += Duration::from_nanos(longest_ns.unwrap_or_default());
            // A store that another process has locked makes this one wait.
            self.waiting.thaw();
            if keep(block).map_err(Broken::Run)? == Next::Enough {
                break;
            }
        }
        Ok(())
    }

    /// Warms up the systems that have not been for this step, and sees how long their events take.
    fn warm_up(&mut self, listen: &mut Listener<'_>) -> Result<(), Broken> {
        let Some(order) = warm_up(self.planned, self.seed) else { return Ok(()) };
        for at in 0..self.turns.len() {
            if self.turns[at].event.is_some() {
                continue;
            }
            self.check().map_err(Broken::Run)?;
            self.waiting.only_uncounted(at).map_err(Broken::Run)?;
            let tally = self.crew_run(at, &order, &mut |_| {}, listen)?;
            // Half of them: the first ones find nothing in memory.
            let usual_ns = tally.response_times.value_at_quantile(0.5);
            self.turns[at].event = Some(Duration::from_nanos(usual_ns));
        }
        self.waiting.thaw();
        Ok(())
    }

    /// The systems that have been warmed up, each with the usual time of an event.
    pub(crate) fn events(&self) -> impl Iterator<Item = (usize, Duration)> {
        self.turns.iter().filter_map(|turn| Some((turn.system_idx, turn.event?)))
    }

    fn check(&self) -> Result<()> {
        ensure!(!self.interrupt.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }

    fn block(
        &mut self,
        (block_idx, n_before): (u32, u32),
        listen: &mut Listener<'_>,
    ) -> Result<Vec<(usize, Slice)>, Broken> {
        let seed = seed::of_again(mix(self.seed, u64::from(block_idx) + 1), n_before);
        self.waiting.refresh().map_err(Broken::Run)?;
        let start_unix_ms = unix_ms();
        let mut parts = Vec::new();
        for at in 0..self.turns.len() {
            // One that is stopped does not answer.
            self.waiting.only_uncounted(at).map_err(Broken::Run)?;
            let turn = &self.turns[at];
            turn.placed.renew().map_err(Broken::Run)?;
            let counters = turn.counted.read();
            // Samples of the time before belong to no block.
            drop(turn.samples.take());
            let first = turn.samples.mark().context("sample the start of a block");
            let first = first.map_err(Broken::Run)?;
            let order = Order { pace: pace(self.planned), stop: Stop::Time(self.cut.slice), seed };
            let tally = Tally::empty(&order);
            parts.push(Part { tally, usage: None, first, counters, whole_operations: 0 });
        }
        let enough_ns = self.cut.enough_ns();
        let slice_ns = u64::try_from(self.cut.slice.as_nanos()).unwrap_or(u64::MAX);
        let mut n_rounds = 0;
        let mut shown = Shown::nothing(parts.len());
        while parts.iter().any(|part| part.tally.span_ns < enough_ns) {
            n_rounds += 1;
            let seed = mix(seed, n_rounds);
            for at in shuffled(self.turns.len(), seed) {
                self.check().map_err(Broken::Run)?;
                let part = &mut parts[at];
                // As far as it can be known before: the others may take longer to have their time.
                let after_ns = part.tally.span_ns + slice_ns;
                let order = self.order(at, after_ns >= enough_ns, seed);
                let (tally, usage, n_run_in) = self.turn(at, &order, listen)?;
                part.tally.append(&tally);
                part.whole_operations += n_run_in + tally.n_operations;
                part.usage = Some(part.usage.map_or(usage, |before| before.plus(&usage)));
                if shown.is_due() {
                    self.show(&mut shown, &parts, (block_idx, n_rounds), listen);
                }
            }
        }
        let of = |n_rounds| (seed, block_idx, start_unix_ms, n_rounds);
        let n_rounds = u32::try_from(n_rounds).unwrap_or(u32::MAX);
        let mut block = Vec::new();
        for (at, part) in parts.into_iter().enumerate() {
            self.waiting.only_uncounted(at).map_err(Broken::Run)?;
            let turn = &self.turns[at];
            let slice = self.closed(turn, part, of(n_rounds)).map_err(Broken::Run)?;
            block.push((turn.system_idx, slice));
        }
        Ok(block)
    }

    /// Tells how fast the systems of a block are; nothing is measured meanwhile.
    fn show(
        &self,
        shown: &mut Shown,
        parts: &[Part],
        (block, n_rounds): (u32, u64),
        listen: &mut Listener<'_>,
    ) {
        let counted = |(turn, part): (&Turn<'_>, &Part)| {
            (turn.system_idx, part.tally.n_queries, part.tally.duration_ns())
        };
        let rates = shown.rates(self.turns.iter().zip(parts).map(counted));
        let n_rounds = u32::try_from(n_rounds).unwrap_or(u32::MAX);
        listen(Event::InTurns { block, n_rounds, rates: &rates });
    }

    /// The next turn's. The clock of a set rate goes on from turn to turn: a rate that has less than one
    /// start in a turn is held over many. What is due at the end of a block and has not begun is missed.
    fn order(&mut self, at: usize, is_last: bool, seed: u64) -> Order {
        let pace = match pace(self.planned) {
            Pace::Rate { events_per_s } => {
                let is_first = !std::mem::replace(&mut self.turns[at].is_on_clock, true);
                Pace::Ongoing { events_per_s, turn: rqps_load::Turn { is_first, is_last } }
            }
            pace => pace,
        };
        Order { pace, stop: Stop::Time(self.cut.slice), seed }
    }

    /// What comes before a turn is counted; tells how many operations that were.
    fn run_in(
        &mut self,
        at: usize,
        order: &Order,
        listen: &mut Listener<'_>,
    ) -> Result<u64, Broken> {
        if order.pace != Pace::Closed {
            #[expect(clippy::disallowed_methods, reason = "to let processes wake up is the point")]
            std::thread::sleep(RUN_IN);
        } else if self.turns[at].event.is_none_or(|event| event <= self.cut.slice) {
            let run_in = Order { stop: Stop::Time(RUN_IN), seed: mix(order.seed, 1), ..*order };
            return Ok(self.crew_run(at, &run_in, &mut |_| {}, listen)?.n_operations);
        }
        Ok(0)
    }

    /// One short slice on one system, the others waiting; with the operations before counting began.
    fn turn(
        &mut self,
        at: usize,
        order: &Order,
        listen: &mut Listener<'_>,
    ) -> Result<(Tally, Usage, u64), Broken> {
        self.waiting.only(at).map_err(Broken::Run)?;
        let n_run_in = self.run_in(at, order, listen)?;
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
        let result = self.crew_run(at, order, &mut edge, listen);
        let ended = handicap.map_or(Ok(()), |handicap| handicap.end());
        // A server that has died is the reason of both, and the clients say so.
        let tally = result?;
        ended.map_err(Broken::Run)?;
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
                let system = Some(turn.system_idx);
                listen(Event::Measuring { system, slice: None, elapsed: live.elapsed, qps });
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
        marks.extend(turn.handicap.iter().filter_map(|handicap| handicap.mark()));
        if self.waiting.gave_up() {
            marks.push(Mark::Note { text: RAN_ON.to_owned() });
        }
        let place = (seed, block_idx, start_unix_ms);
        let slice = slice_of(&tally, place, (usage, samples), marks);
        let counters = turn.counted.since(counters.as_ref());
        let whole_operations = Some(whole_operations);
        Ok(Slice { n_rounds: Some(n_rounds), whole_operations, counters, ..slice })
    }
}

#[cfg(test)]
mod tests;
