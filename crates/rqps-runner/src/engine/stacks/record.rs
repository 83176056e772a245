//! What is recorded of one system in its extra slices: perf, the looks at its threads and the hardware
//! counters around them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rqps_load::{ClientPoolError, Control, Edge, Order, Tally};
use rqps_model::{Sample, StepIdx, SystemIdx, Usage};
use rqps_sample::{End, WaitSampler, Waits};
use rqps_server::process;
use rqps_server::symbols::Symbols;
use rqps_stacks::profile::{CpuSampling, Facts, NotHad, StackProfile, Unwind, WaitSampling};
use rqps_stacks::{Counter, Script, Stacks};
use rqps_store::scratch::{Scratch, sweep};
use rqps_store::unix_ms;

use super::ability::Ability;
use super::counting::Counting;
use super::perf::{How, Recorder, read};
use crate::engine::bench::Bench;
use crate::engine::clients::StepClients;
use crate::engine::injected_slowdown::InjectedSlowdown;

/// How the name of perf's directory begins.
const PREFIX: &str = "rqps-stacks-";

/// What can be missing, beside the stacks.
const COUNTERS: &str = "hardware counters";
const WAITS: &str = "where threads were";

/// How often perf is started again on a server whose processes come and go.
const MOST_ATTEMPTS: u32 = 5;

/// What is recorded, of all systems alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// What perf can do here.
    pub(crate) ability: Result<&'a Ability, &'a NotHad>,
    /// How stacks are found.
    pub(crate) unwind: Unwind,
    /// How many systems are recorded at once.
    pub(crate) n_systems: usize,
}

/// A system while it is recorded.
pub(super) struct Recording {
    recorder: Option<(Recorder, How)>,
    counting: Option<Counting>,
    waits: Option<WaitSampler>,
    missing: Vec<NotHad>,
    server: i32,
    dir: Scratch,
    start_unix_ms: i64,
    n_operations: u64,
    duration_ns: u64,
    server_cpu_ns: u64,
}

/// What is in the extra slices of one system, before it is read.
pub(crate) struct Recorded {
    facts: Facts,
    /// perf's file, how stacks were found, what perf cost, ns.
    cpu: Option<(PathBuf, How, u64)>,
    /// Absent when the sampler failed.
    waits: Option<Waits>,
    server: i32,
    dir: Scratch,
}

impl Recording {
    /// Gets everything ready to record a server; nothing is recorded yet but what the CPU counts. What
    /// cannot be recorded is told in the facts.
    pub(super) fn start(
        server: i32,
        serving: &[i32],
        wanted: Wanted<'_>,
        temp: &Path,
    ) -> Result<Self> {
        sweep(temp, PREFIX);
        let dir = Scratch::new(temp, PREFIX);
        let dir = dir.with_context(|| format!("make a directory in {}", temp.display()))?;
        let mut missing = Vec::new();
        let (mut recorder, mut counting) = (None, None);
        match wanted.ability {
            Ok(ability) => {
                missing.extend(ability.missing.iter().cloned());
                let how = How { event: ability.event, unwind: wanted.unwind };
                recorder = Some((attach(server, how, dir.path(), wanted.n_systems)?, how));
                if ability.has_counters {
                    let processes = process::tree(server);
                    let started = Counting::start(ability.event, &processes, dir.path());
                    counting = had(started, COUNTERS, &mut missing);
                }
            }
            Err(not_had) => missing.push(not_had.clone()),
        }
        // PostgreSQL's threads are processes: others may come and go.
        let is_tree = process::tree(server).len() > 1;
        let tree = move || if is_tree { process::tree(server) } else { vec![server] };
        let serving: BTreeSet<i32> = serving.iter().copied().collect();
        let started = WaitSampler::start(tree, serving).map_err(anyhow::Error::from);
        let waits = had(started, WAITS, &mut missing);
        Ok(Self {
            recorder,
            counting,
            waits,
            missing,
            server,
            dir,
            start_unix_ms: unix_ms(),
            n_operations: 0,
            duration_ns: 0,
            server_cpu_ns: 0,
        })
    }

    /// perf begins to sample. A server that is stopped uses no CPU, and none is sampled of it.
    pub(super) fn enable(&mut self) -> Result<()> {
        self.start_unix_ms = unix_ms();
        self.recorder.as_mut().map_or(Ok(()), |(recorder, _)| recorder.enable())
    }

    /// A slice of the server, which must not be stopped; gives how long it took, all slices up to now
    /// together, ns. Its threads are looked at while it lasts.
    pub(super) fn slice(
        &mut self,
        clients: &mut StepClients,
        orders: &[Order],
        bench: &Bench<'_>,
        show: &mut dyn FnMut(rqps_load::Live) -> Control,
    ) -> Result<u64> {
        let (mut first, mut last) = (None, None);
        let StepClients { pool, injected_slowdown, .. } = clients;
        let (waits, injected_slowdown) = (&self.waits, injected_slowdown.as_ref());
        let mut edge = |edge| {
            match edge {
                Edge::Start => {
                    first = Some(bench.samples.brief(End::Start));
                    waits.iter().for_each(WaitSampler::go_on);
                }
                Edge::End => {
                    waits.iter().for_each(WaitSampler::pause);
                    last = Some(bench.samples.brief(End::Finish));
                }
            }
            injected_slowdown.iter().for_each(|injected_slowdown| injected_slowdown.edge(edge));
        };
        let result: Result<Vec<Tally>, ClientPoolError> = pool.run_roles(orders, &mut edge, show);
        waits.iter().for_each(WaitSampler::pause);
        let ended = injected_slowdown.map_or(Ok(()), InjectedSlowdown::end);
        // A server that has died is the reason of both, and the clients say so.
        let tallies = result?;
        ended?;
        let tally = tallies.first().context("a step without clients")?;
        let usage = Usage::between(&taken(first)?, &taken(last)?);
        self.n_operations += tally.n_operations;
        self.duration_ns += tally.duration_ns();
        self.server_cpu_ns += usage.server.map_or(0, |server| server.cpu_total_ns);
        Ok(self.duration_ns)
    }

    /// perf samples no more.
    pub(super) fn disable(&mut self) -> Result<()> {
        self.recorder.as_mut().map_or(Ok(()), |(recorder, _)| recorder.disable())
    }

    /// perf counts no more: what the servers do when all run belongs to no slice.
    pub(super) fn stop_counting(&mut self) {
        self.counting.iter_mut().for_each(Counting::stop);
    }

    /// Waits until it does not, for a moment at most.
    pub(super) fn await_counting(&self) {
        self.counting.iter().for_each(Counting::settle);
    }

    /// Ends all that records. What fails beside the stacks is missing, and keeps none of the rest from
    /// being told.
    pub(super) fn finish(self) -> Result<Recorded> {
        let Self { recorder, counting, waits, mut missing, server, dir, .. } = self;
        let waits = waits.and_then(|waits| {
            had(waits.finish().map_err(anyhow::Error::from), WAITS, &mut missing)
        });
        let cpu = match recorder {
            Some((recorder, how)) => {
                let (data, cost_ns) = recorder.finish()?;
                Some((data, how, cost_ns))
            }
            None => None,
        };
        let counters = counting.and_then(|it| had(it.finish(), COUNTERS, &mut missing));
        let counters: Vec<Counter> = counters.unwrap_or_default();
        let facts = Facts {
            start_unix_ms: self.start_unix_ms,
            duration_ns: self.duration_ns,
            n_operations: self.n_operations,
            server_cpu_ns: self.server_cpu_ns,
            cpu: None,
            waits: None,
            counters,
            missing,
        };
        Ok(Recorded { facts, cpu, waits, server, dir })
    }
}

/// Starts perf on a server. One of its processes that ends just then, a worker of autovacuum say, keeps
/// perf from recording any: it is started again on those that are left.
fn attach(server: i32, how: How, dir: &Path, at_once: usize) -> Result<Recorder> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let processes = process::tree(server);
        let started = Recorder::start(how, &processes, dir, at_once);
        let left = process::tree(server);
        let has_lost = processes.iter().any(|pid| !left.contains(pid));
        if started.is_ok() || !has_lost || attempts == MOST_ATTEMPTS {
            return started;
        }
    }
}

/// What was got; where it failed, that is told with what is missing.
fn had<T>(result: Result<T>, what: &str, missing: &mut Vec<NotHad>) -> Option<T> {
    let not_had = |error: anyhow::Error| {
        let (what, reason) = (what.to_owned(), format!("{error:#}"));
        missing.push(NotHad { what, reason, remedy: String::new() });
    };
    result.map_err(not_had).ok()
}

fn taken(sample: Option<Result<Sample, rqps_sample::Error>>) -> Result<Sample> {
    sample.context("an end was not reached")?.context("sample the ends of an extra slice")
}

impl Recorded {
    /// What share of the stacks reaches its entry; `None` where none was recorded.
    pub(crate) fn complete_share(&self, environment: &crate::Environment) -> Result<Option<f64>> {
        let Some((data, ..)) = &self.cpu else { return Ok(None) };
        Ok(read(data, self.dir.path(), &environment.interrupt)?.complete_share())
    }

    /// The stack profile, with functions found.
    pub(crate) fn profile(
        self,
        step: StepIdx,
        system: SystemIdx,
        environment: &crate::Environment,
    ) -> Result<StackProfile> {
        let Self { mut facts, cpu, waits, server, dir } = self;
        let mut script = Script::default();
        if let Some((data, how, cost_ns)) = cpu {
            script = read(&data, dir.path(), &environment.interrupt)?;
            let symbols = Symbols::of_process(server);
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
                symbols: symbols.map_or_else(|e| format!("unknown ({e})"), |s| s.to_string()),
                cost_ns,
            });
        }
        facts.waits = waits.as_ref().map(|waits| WaitSampling {
            n_looks: waits.n_looks,
            n_threads: waits.n_threads,
            cost_ns: waits.cost_ns,
            has_places: waits.has_places,
            has_calls: waits.has_calls,
            has_kinds: waits.has_kinds,
        });
        let waits = waits.map_or_else(Stacks::default, |waits| waits.stacks);
        let (step_idx, system_idx) = (step.0, system.0);
        Ok(StackProfile { step_idx, system_idx, facts, stacks: script.stacks, waits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording without stacks, of this process.
    fn recording(counting: Option<Counting>, dir: Scratch) -> Recording {
        let me = i32::try_from(std::process::id()).unwrap();
        Recording {
            recorder: None,
            counting,
            waits: Some(WaitSampler::start(move || vec![me], BTreeSet::new()).unwrap()),
            missing: Vec::new(),
            server: me,
            dir,
            start_unix_ms: 0,
            n_operations: 1,
            duration_ns: 1,
            server_cpu_ns: 1,
        }
    }

    #[test]
    fn counters_that_fail_take_nothing_else_with_them() {
        let dir = Scratch::new(&std::env::temp_dir(), PREFIX).unwrap();
        let counting = Counting::without_result(dir.path()).unwrap();
        let mut recording = recording(Some(counting), dir);
        recording.stop_counting();
        let recorded = recording.finish().unwrap();
        let missing: Vec<&str> = recorded.facts.missing.iter().map(|m| m.what.as_str()).collect();
        assert_eq!(missing, [COUNTERS]);
        assert!(recorded.waits.is_some() && recorded.facts.counters.is_empty());
    }
}
