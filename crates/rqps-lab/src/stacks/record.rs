//! One extra slice of one system: perf, the looks at its threads and the hardware counters around it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rqps_load::{Edge, Order, Stop};
use rqps_model::{Sample, Usage};
use rqps_sample::{End, WaitSampler, Waits};
use rqps_server::process;
use rqps_server::symbols::Symbols;
use rqps_stacks::profile::{CpuSampling, Facts, NotHad, StackProfile, Unwind, WaitSampling};
use rqps_stacks::{Counter, Script};

use super::ability::Ability;
use super::perf::{Counting, How, Recorder, read};
use super::temp::TempDir;
use crate::event::Listener;
use crate::measure::{Bench, Manned, pace, run_slice, unix_ms};
use crate::steps::PlannedStep;

/// What is recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// What perf can do here.
    pub(super) ability: Result<&'a Ability, &'a NotHad>,
    /// How stacks are found.
    pub(super) unwind: Unwind,
    /// How long.
    pub(super) time: Duration,
    /// The seed of the extra slice.
    pub(super) seed: u64,
}

/// What is in one extra slice, before it is read.
pub(super) struct Recorded {
    facts: Facts,
    /// perf's file, how stacks were found, what perf cost, ns.
    cpu: Option<(PathBuf, How, u64)>,
    waits: Waits,
    server: i32,
    dir: TempDir,
}

/// Runs an extra slice and records it. What cannot be recorded is told in the facts.
pub(super) fn extra_slice(
    (bench, server): (&Bench<'_>, i32),
    (planned, manned): (&PlannedStep, &mut Manned),
    wanted: Wanted<'_>,
    temp: &Path,
    listen: &mut Listener<'_>,
) -> Result<Recorded> {
    let dir = TempDir::create(temp)?;
    let processes = process::tree(server);
    let mut missing = Vec::new();
    let (mut recorder, mut counting) = (None, None);
    match wanted.ability {
        Ok(ability) => {
            missing.extend(ability.missing.iter().cloned());
            let how = How { event: ability.event, unwind: wanted.unwind };
            recorder = Some((Recorder::start(how, &processes, dir.path())?, how));
            if ability.has_counters {
                counting = Some(Counting::start(ability.event, &processes, dir.path())?);
            }
        }
        Err(not_had) => missing.push(not_had.clone()),
    }
    let serving: BTreeSet<i32> = manned.serving.iter().copied().collect();
    // PostgreSQL's threads are processes: others may come and go.
    let is_tree = processes.len() > 1;
    let tree = move || if is_tree { process::tree(server) } else { vec![server] };
    let waits = WaitSampler::start(tree, serving)?;
    if let Some((recorder, _)) = &mut recorder {
        recorder.enable()?;
    }
    let order = Order { pace: pace(planned), stop: Stop::Time(wanted.time), seed: wanted.seed };
    let start_unix_ms = unix_ms();
    let (mut first, mut last) = (None, None);
    let mut edge = |edge| match edge {
        Edge::Start => first = Some(bench.samples.brief(End::Start)),
        Edge::End => last = Some(bench.samples.brief(End::Finish)),
    };
    let tally = run_slice(&mut manned.crew, &order, (bench, None), &mut edge, listen);
    let waits = waits.finish()?;
    let cpu = recorder.map(|(recorder, how)| Ok::<_, anyhow::Error>((recorder.finish()?, how)));
    let counters: Vec<Counter> = counting.map_or(Ok(Vec::new()), Counting::finish)?;
    let tally = tally?;
    let cpu = cpu.transpose()?.map(|((data, cost_ns), how)| (data, how, cost_ns));
    let usage = Usage::between(&taken(first)?, &taken(last)?);
    let facts = Facts {
        start_unix_ms,
        duration_ns: tally.duration_ns(),
        n_operations: tally.n_operations,
        server_cpu_ns: usage.server.map_or(0, |server| server.cpu_total_ns),
        cpu: None,
        waits: None,
        counters,
        missing,
    };
    Ok(Recorded { facts, cpu, waits, server, dir })
}

fn taken(sample: Option<Result<Sample, rqps_sample::Error>>) -> Result<Sample> {
    sample.context("an end was not reached")?.context("sample the ends of an extra slice")
}

impl Recorded {
    /// What share of the stacks reaches its entry; `None` where none was recorded.
    pub(super) fn complete_share(&self, context: &crate::Context) -> Result<Option<f64>> {
        let Some((data, ..)) = &self.cpu else { return Ok(None) };
        Ok(read(data, self.dir.path(), &context.interrupt)?.complete_share())
    }

    /// The stack profile, with functions found.
    pub(super) fn profile(
        self,
        (step_idx, system_idx): (usize, usize),
        context: &crate::Context,
    ) -> Result<StackProfile> {
        let Self { mut facts, cpu, waits, server, dir } = self;
        let mut script = Script::default();
        if let Some((data, how, cost_ns)) = cpu {
            script = read(&data, dir.path(), &context.interrupt)?;
            let program = format!("/proc/{server}/exe");
            // Links of /proc lead to the program even when its file was replaced.
            let path = std::fs::read_link(&program).unwrap_or_else(|_| program.into());
            let symbols = Symbols::of(&path);
            facts.cpu = Some(CpuSampling {
                event: how.event.to_owned(),
                unwind: how.unwind,
                frequency_hz: how.frequency_hz(),
                n_samples: script.n_samples,
                period_ns: script.period_ns,
                n_user: script.n_user,
                n_complete: script.n_complete,
                n_frames: script.n_frames,
                n_unknown: script.n_unknown,
                is_stripped: symbols.as_ref().is_ok_and(Symbols::is_stripped),
                symbols: symbols.map_or_else(|e| format!("not known ({e})"), |s| s.to_string()),
                cost_ns,
            });
        }
        facts.waits = Some(WaitSampling {
            n_looks: waits.n_looks,
            n_threads: waits.n_threads,
            cost_ns: waits.cost_ns,
            has_places: waits.has_places,
            has_calls: waits.has_calls,
            has_kinds: waits.has_kinds,
        });
        Ok(StackProfile { step_idx, system_idx, facts, stacks: script.stacks, waits: waits.stacks })
    }
}
