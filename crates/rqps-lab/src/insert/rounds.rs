//! A step of the Insert Benchmark on one system or on several in turns.

use std::ops::Range;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, anyhow};
use rqps_load::{Control, CrewError, Edge, Tally};
use rqps_model::{Mark, Sample, Slice, Stream, Usage};
use rqps_sample::{Background, End};
use rqps_server::counters::Counters;
use rqps_store::unix_ms;
use rqps_workload::insert::Work;

use super::clients::{Clients, RoleSpec, open};
use super::cut::Cut;
use crate::counted::Counted;
use crate::event::Event;
use crate::failure::Broken;
use crate::guard::Guards;
use crate::handicap::Handicap;
use crate::heartbeat::Heartbeat;
use crate::marks;
use crate::measure::slice_of;
use crate::run::Lab;
use crate::seed::{self, mix, shuffled};
use crate::shown::Shown;
use crate::system::Up;
use crate::waiting::{Brake, RAN_ON, Waiting};

/// A turn by itself.
const ALONE: rqps_load::Turn = rqps_load::Turn { is_first: true, is_last: true };

/// A block of a step.
#[derive(Clone, Copy)]
struct At {
    /// Of the step.
    seed: u64,
    block_idx: u32,
    /// Nothing of the step came before it on these connections.
    is_first: bool,
}

/// One system of a step.
struct Turn<'a> {
    system_idx: usize,
    clients: Clients,
    samples: &'a Background,
    counted: &'a Counted,
}

/// What a system has of a block so far: a tally for each role.
struct Part {
    tallies: Vec<Tally>,
    usage: Option<Usage>,
    first: Sample,
    /// What it had counted itself when the block began.
    counters: Option<Counters>,
}

impl Lab<'_> {
    /// Measures the blocks of a step, each on all members in turns.
    pub(super) fn insert_rounds(
        &mut self,
        step_idx: usize,
        members: &mut [(usize, &mut Up)],
        (store, others): (bool, Vec<Brake>),
    ) -> Result<(), Broken> {
        let Some((step, args)) = self.insert_job(step_idx) else {
            return Err(Broken::Run(anyhow!("not a step of the Insert Benchmark")));
        };
        // What an attempt that was broken off has inserted is not inserted again.
        let attempt = members.iter().map(|(idx, _)| self.attempt(*idx, step_idx)).max();
        let of_step = seed::of_step(self.run.seed, step_idx);
        let seed = seed::of_attempt(of_step, attempt.unwrap_or(0));
        let cut = Cut::of(&step, &args, self.plan.schedule);
        // An interrupted step goes on after the blocks that there are.
        let n_there = |idx: usize| self.run.steps[step_idx].systems[idx].slices.len();
        let there = members.iter().map(|(idx, _)| n_there(*idx)).max().unwrap_or(0);
        let there = u32::try_from(there).unwrap_or(u32::MAX);
        // A load that was interrupted begins with empty tables again: its first blocks are done anew, and
        // what is stored of them stays.
        let from = if store && step.work != Work::Load { there } else { 0 };
        if from >= cut.n_blocks {
            members
                .iter()
                .for_each(|(idx, _)| self.was_measured(*idx, step_idx, super::interrupted));
            return Ok(());
        }
        let schemas: Vec<_> = members.iter().map(|(idx, _)| self.schema(*idx, &args)).collect();
        let mut turns = Vec::new();
        for ((idx, up), schema) in members.iter().zip(&schemas) {
            let bench = up.bench(&self.cpus, &self.context.interrupt);
            let planned = &self.steps[step_idx];
            let job = (&step, &args);
            let clients = open(&bench, planned, job, schema, seed)
                .map_err(|error| Broken::System(*idx, error))?;
            let (samples, counted) = (up.samples(), up.counted());
            turns.push(Turn { system_idx: *idx, clients, samples, counted });
        }
        let freezers = members.iter().map(|(_, up)| up.freezer()).chain(others).collect();
        let is_slowed = members.iter().any(|(_, up)| up.is_slowed());
        let mut waiting = Waiting::new(freezers, is_slowed, self.context).map_err(Broken::Run)?;
        let parts = (from..cut.n_blocks, store.then_some(there), seed);
        let result = self.insert_blocks(step_idx, (&mut turns, &mut waiting), &cut, parts);
        if waiting.gave_up() {
            let step = &self.steps[step_idx].info.name;
            (self.listen)(Event::Note(&format!("{step}: {RAN_ON}")));
        }
        // The clients end here, so that nothing is inserted while rows are counted.
        let ended: Vec<_> = turns.into_iter().map(|turn| (turn.system_idx, turn.clients)).collect();
        if let Err(broken) = result {
            waiting.thaw();
            // What the others did before one failed stays in their tables.
            for (idx, clients) in ended {
                drop(clients.crew);
                self.states[idx]
                    .tables
                    .exchange(&args, clients.pairs.iter().map(|pair| pair.rows()));
            }
            return Err(broken);
        }
        if store {
            members.iter().for_each(|(idx, _)| self.states[*idx].caution.measured = Some(step_idx));
        }
        // What fails on one system is told when all were looked at.
        let mut failed = None;
        let mut all_pairs = Vec::new();
        for (at, (idx, clients)) in ended.into_iter().enumerate() {
            // What is left to do is read at once, with the others stopped, who have as much left.
            waiting.only(at).map_err(Broken::Run)?;
            all_pairs.push((idx, clients.pairs));
            drop(clients.crew);
            if store {
                match members[at].1.debt() {
                    Ok(debt) => self.run.steps[step_idx].systems[idx].debt = debt,
                    Err(error) => failed = failed.or(Some(Broken::System(idx, error))),
                }
            }
        }
        drop(waiting);
        for ((idx, pairs), (_, up)) in all_pairs.into_iter().zip(members.iter_mut()) {
            match self.check_insert(step_idx, idx, up, &pairs) {
                Ok(checks) if store => self.run.steps[step_idx].systems[idx].checks = checks,
                Ok(_) => {}
                Err(error) => failed = failed.or(Some(Broken::System(idx, error))),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Measures `blocks`. With `there`, those from that on are stored as they end; without, none is.
    fn insert_blocks(
        &mut self,
        step_idx: usize,
        (turns, waiting): (&mut [Turn<'_>], &mut Waiting),
        cut: &Cut,
        (blocks, there, seed): (Range<u32>, Option<u32>, u64),
    ) -> Result<(), Broken> {
        let marks: Vec<Vec<Mark>> =
            turns.iter().map(|turn| self.marks_of(turn.system_idx, step_idx)).collect();
        let (mut guards, heartbeat) = (Guards::new(), Heartbeat::start());
        for block_idx in blocks.clone() {
            let at = At { seed, block_idx, is_first: block_idx == blocks.start };
            let both = (&mut *turns, &mut *waiting);
            heartbeat.begin();
            let mut block = self.insert_block(step_idx, both, cut, at)?;
            if there.is_none_or(|there| block_idx < there) {
                continue;
            }
            guards.look(&mut block);
            // Rows that were inserted stay: such a block is not measured once more.
            let paused = heartbeat.mark();
            for ((_, slice), marks) in block.iter_mut().zip(&marks) {
                slice.marks.extend(paused.clone());
                slice.marks.extend(marks.iter().cloned());
            }
            let refs: Vec<(usize, &Slice)> = block.iter().map(|(idx, s)| (*idx, s)).collect();
            // A store that another process has locked makes this one wait.
            waiting.thaw();
            let stored = self.store.insert_block(&self.run.id, step_idx, &refs);
            stored.map_err(|error| Broken::Run(error.into()))?;
            for (idx, slice) in block {
                self.run.steps[step_idx].systems[idx].slices.push(slice);
            }
        }
        Ok(())
    }

    fn insert_block(
        &mut self,
        step_idx: usize,
        (turns, waiting): (&mut [Turn<'_>], &mut Waiting),
        cut: &Cut,
        at: At,
    ) -> Result<Vec<(usize, Slice)>, Broken> {
        let At { block_idx, is_first, .. } = at;
        let seed = mix(at.seed, u64::from(block_idx) + 1);
        waiting.refresh().map_err(Broken::Run)?;
        let start_unix_ms = unix_ms();
        let mut parts = Vec::new();
        for (at, turn) in turns.iter_mut().enumerate() {
            // One that is stopped does not answer.
            waiting.only_uncounted(at).map_err(Broken::Run)?;
            turn.clients.placed.renew().map_err(Broken::Run)?;
            let counters = turn.counted.read();
            // Samples of the time before belong to no block.
            drop(turn.samples.take());
            let first = turn.samples.mark().context("sample the start of a block");
            let orders = turn.clients.orders(cut.stop(block_idx, 0), ALONE, seed);
            parts.push(Part {
                tallies: orders.iter().map(Tally::empty).collect(),
                usage: None,
                first: first.map_err(Broken::Run)?,
                counters,
            });
        }
        let mut shown = Shown::nothing(parts.len());
        let n_turns = cut.turns_of(block_idx);
        for n in 0..n_turns {
            let seed = mix(seed, u64::from(n) + 1);
            for at in shuffled(turns.len(), seed) {
                self.check_interrupt().map_err(Broken::Run)?;
                waiting.only(at).map_err(Broken::Run)?;
                let ends_block = n + 1 == n_turns;
                let turn = rqps_load::Turn {
                    is_first: is_first && n == 0,
                    is_last: block_idx + 1 == cut.n_blocks && ends_block,
                };
                let of = (block_idx, (cut.stop(block_idx, n), turn, seed));
                let (tallies, usage) = self.insert_turn(&mut turns[at], of, waiting)?;
                let part = &mut parts[at];
                for (sum, tally) in part.tallies.iter_mut().zip(&tallies) {
                    if n_turns == 1 {
                        // Its seconds and windows are those of the clock.
                        sum.clone_from(tally);
                    } else {
                        sum.append(tally);
                    }
                }
                part.usage = Some(part.usage.map_or(usage, |before| before.plus(&usage)));
                if shown.is_due() {
                    let counted = |(turn, part): (&Turn<'_>, &Part)| {
                        let counted = |tally: &Tally| (tally.n_operations, tally.duration_ns());
                        let (n, ns) = part.tallies.first().map_or((0, 0), counted);
                        (turn.system_idx, n, ns)
                    };
                    let rates = shown.rates(turns.iter().zip(&parts).map(counted));
                    let (block, n_rounds) = (block_idx, n + 1);
                    (self.listen)(Event::InTurns { block, n_rounds, rates: &rates });
                }
            }
        }
        let clients = self.steps[step_idx].clients;
        let n_rounds = turns.len() > 1;
        let mut block = Vec::new();
        for (at, (turn, part)) in turns.iter().zip(parts).enumerate() {
            waiting.only_uncounted(at).map_err(Broken::Run)?;
            let place = (seed, block_idx, start_unix_ms);
            let mut slice = closed(turn, part, clients, place).map_err(Broken::Run)?;
            if waiting.gave_up() {
                slice.marks.push(Mark::Note { text: RAN_ON.to_owned() });
            }
            let n_rounds = n_rounds.then_some(cut.turns_of(block_idx));
            block.push((turn.system_idx, Slice { n_rounds, ..slice }));
        }
        Ok(block)
    }

    /// One turn on one system, the others waiting.
    fn insert_turn(
        &mut self,
        turn: &mut Turn<'_>,
        (block_idx, of): (u32, (rqps_load::Stop, rqps_load::Turn, u64)),
        waiting: &mut Waiting,
    ) -> Result<(Vec<Tally>, Usage), Broken> {
        let (stop, place, seed) = of;
        let orders = turn.clients.orders(stop, place, seed);
        let (mut first, mut last) = (None, None);
        let (samples, system) = (turn.samples, Some(turn.system_idx));
        let Clients { crew, handicap, .. } = &mut turn.clients;
        let mut edge = |edge| {
            match edge {
                Edge::Start => first = Some(samples.brief(End::Start)),
                Edge::End => last = Some(samples.brief(End::Finish)),
            }
            handicap.iter().for_each(|handicap| handicap.edge(edge));
        };
        let (interrupt, listen) = (&self.context.interrupt, &mut *self.listen);
        let result = crew.run_roles(&orders, &mut edge, &mut |live| {
            waiting.look_at_the_clock();
            let passed_s = live.elapsed.as_secs_f64();
            if passed_s > 0.0 {
                let qps = live.n_queries as f64 / passed_s;
                let slice = Some(block_idx);
                listen(Event::Measuring { system, slice, elapsed: live.elapsed, qps });
            }
            if interrupt.load(Ordering::Relaxed) { Control::Stop } else { Control::Go }
        });
        let ended = handicap.as_ref().map_or(Ok(()), Handicap::end);
        // A server that has died is the reason of both, and the clients say so.
        let tallies = result.map_err(|error| match error {
            CrewError::Stopped => Broken::Run(error.into()),
            other => Broken::System(turn.system_idx, other.into()),
        })?;
        ended.map_err(Broken::Run)?;
        let taken = |sample: Option<Result<Sample, _>>| -> Result<Sample> {
            sample.context("an end was not reached")?.context("sample the ends of a turn")
        };
        let first = taken(first).map_err(Broken::Run)?;
        let last = taken(last).map_err(Broken::Run)?;
        Ok((tallies, Usage::between(&first, &last)))
    }
}

/// A block of one system, ready to be stored.
fn closed(turn: &Turn<'_>, part: Part, clients: u32, place: (u64, u32, i64)) -> Result<Slice> {
    let Part { tallies, usage, first, counters } = part;
    let last = turn.samples.mark().context("sample the end of a block")?;
    let mut samples = turn.samples.take();
    samples.retain(|s| (first.at_ns..=last.at_ns).contains(&s.at_ns));
    let usage = usage.unwrap_or_default().with_rest_of(&Usage::between(&first, &last));
    let mut tallies = tallies.into_iter();
    let main = tallies.next().context("a step without clients")?;
    let roles: u32 = turn.clients.roles.iter().map(|spec| spec.clients).sum();
    let others: Vec<Tally> = tallies.collect();
    let all: Vec<&Tally> = std::iter::once(&main).chain(&others).collect();
    let mut marks = marks::of_slice(&all, &usage, clients.max(roles));
    marks.extend(turn.clients.handicap.iter().filter_map(Handicap::mark));
    let streams = turn.clients.roles.iter().skip(1).zip(&others);
    let streams = streams.map(|(spec, tally)| stream_of(spec, tally)).collect();
    let slice = slice_of(&main, place, (usage, samples), marks);
    Ok(Slice { streams, counters: turn.counted.since(counters.as_ref()), ..slice })
}

fn stream_of(spec: &RoleSpec, tally: &Tally) -> Stream {
    Stream {
        role: spec.role,
        clients: spec.clients,
        target_per_s: spec.target_per_s,
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
    }
}
