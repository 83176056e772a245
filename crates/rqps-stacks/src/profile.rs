//! The stack profile of one step on one system, recorded in extra slices, with its quality.

use serde::{Deserialize, Serialize};

use crate::{Counter, Stacks};

/// Share of the stacks that must reach their entry for inner frames to be believed.
pub const COMPLETE_ENOUGH: f64 = 0.8;

/// How far the shares of CPU time that samples stand for may be apart, relative to the larger, for two
/// systems to be compared by function where what is missing cannot be added.
pub const SHARES_ALIKE: f64 = 0.05;

/// perf's event of which a server's own clock counts the same time: user code and the kernel's part.
const WHOLE_CLOCK: &str = "cpu-clock";

/// The kind of connection threads.
pub const SERVING: &str = "serving clients";

/// The kind of the others.
pub const BACKGROUND: &str = "background";

/// The kind of all threads, where connection threads are not known.
pub const ALL: &str = "any";

/// The place of a thread that is on a CPU or waits for one.
pub const RUNNING: &str = "running or runnable";

/// Stacks of one step on one system.
#[derive(Debug, Clone, PartialEq)]
pub struct StackProfile {
    /// The step's place in its run.
    pub step_idx: usize,
    /// The system's place in its run.
    pub system_idx: usize,
    /// How it was recorded.
    pub facts: Facts,
    /// Stacks by CPU time; empty when CPU time was not sampled.
    pub stacks: Stacks,
    /// Stacks by thread state: kind of thread, state, system call, place in the kernel. Empty when thread
    /// states were not sampled.
    pub waits: Stacks,
}

/// Facts of a stack profile. None is part of any rate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// When the extra slices began, milliseconds since 1970.
    pub start_unix_ms: i64,
    /// How long they took, ns.
    pub duration_ns: u64,
    /// Operations in them.
    pub n_operations: u64,
    /// CPU time of the server in them by its own clock, ns.
    pub server_cpu_ns: u64,
    /// How CPU time was sampled; absent when it was not.
    pub cpu: Option<CpuSampling>,
    /// How threads were looked at; absent when they were not.
    pub waits: Option<WaitSampling>,
    /// Hardware counters; empty where there are none.
    pub counters: Vec<Counter>,
    /// What could not be recorded.
    pub missing: Vec<NotHad>,
}

/// Something that this host or user cannot record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotHad {
    /// What: `stacks`, `hardware counters`.
    pub what: String,
    /// Why not.
    pub reason: String,
    /// The command that helps; empty without one.
    pub remedy: String,
}

/// How stacks were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unwind {
    /// By the chain of frame pointers.
    FramePointer,
    /// From copies of the stack and the unwind tables of the program.
    Dwarf,
}

impl Unwind {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::FramePointer => "frame pointers",
            Self::Dwarf => "unwind tables",
        }
    }
}

/// How the CPU time of a server was sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuSampling {
    /// perf's event: `cpu-clock`, or `cpu-clock:u` where the kernel's part may not be seen.
    pub event: String,
    /// How stacks were found.
    pub unwind: Unwind,
    /// Samples per second of CPU time.
    pub frequency_hz: u32,
    /// Samples.
    pub n_samples: u64,
    /// The time that they stand for, ns.
    pub period_ns: u64,
    /// Samples with user code.
    pub n_user: u64,
    /// Of these, those whose stack reaches its entry.
    pub n_complete: u64,
    /// Frames of user code.
    pub n_frames: u64,
    /// Of these, those without a name.
    pub n_unknown: u64,
    /// What the server's program has of symbols: `.symtab`, `debug file`, `none: it is stripped`.
    pub symbols: String,
    /// Whether the program's own symbols were stripped.
    pub is_stripped: bool,
    /// CPU time of perf itself while it recorded, ns.
    pub cost_ns: u64,
}

/// How the states of threads were sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitSampling {
    /// How often all threads were looked at.
    pub n_looks: u64,
    /// Threads, at most.
    pub n_threads: u32,
    /// CPU time of the sampler, ns.
    pub cost_ns: u64,
    /// Whether the kernel reported where a thread waits (`wchan`, `stack`).
    pub has_places: bool,
    /// Whether the kernel reported system calls.
    pub has_calls: bool,
    /// Whether connection threads are distinguished from the others.
    pub has_kinds: bool,
}

/// Stacks with the time that one sample stands for.
#[derive(Debug, Clone, Copy)]
pub struct Sampled<'a> {
    /// The stacks.
    pub stacks: &'a Stacks,
    /// Microseconds per operation of one sample.
    pub us_per_sample: f64,
}

impl StackProfile {
    /// CPU time by stack; `None` when nothing was sampled or nothing was done.
    ///
    /// All samples together stand for what the server used by its own clock, where both count the same:
    /// samples that perf lost would else be a difference between systems.
    #[must_use]
    pub fn cpu(&self) -> Option<Sampled<'_>> {
        let cpu = self.facts.cpu.as_ref().filter(|cpu| cpu.n_samples > 0)?;
        let n = (self.facts.n_operations > 0).then_some(self.facts.n_operations as f64)?;
        let all_ns = if self.is_scaled() { self.facts.server_cpu_ns } else { cpu.period_ns };
        let us = all_ns as f64 / 1e3 / cpu.n_samples as f64;
        Some(Sampled { stacks: &self.stacks, us_per_sample: us / n })
    }

    /// CPU time per operation that the samples stand for by their periods, µs: without what was lost.
    #[must_use]
    pub fn sampled_us(&self) -> Option<f64> {
        let n = self.facts.n_operations;
        let cpu = self.facts.cpu.as_ref().filter(|cpu| cpu.n_samples > 0)?;
        (n > 0).then(|| cpu.period_ns as f64 / 1e3 / n as f64)
    }

    /// Whether the samples are scaled to the server's own clock.
    fn is_scaled(&self) -> bool {
        let is_whole = self.facts.cpu.as_ref().is_some_and(|cpu| cpu.event == WHOLE_CLOCK);
        is_whole && self.facts.server_cpu_ns > 0
    }

    /// The shares of CPU time that the samples of two systems stand for, where they are too different to
    /// compare functions: some time is in the one and not in the other. 0 where it is not known.
    #[must_use]
    pub fn unlike_shares(&self, other: &Self) -> Option<[f64; 2]> {
        if self.is_scaled() && other.is_scaled() {
            return None;
        }
        let shares = [self, other].map(|side| side.sampled_share().unwrap_or(0.0));
        let [less, more] = [shares[0].min(shares[1]), shares[0].max(shares[1])];
        (more - less > SHARES_ALIKE * more).then_some(shares)
    }

    /// Time of threads by where they were; `None` when they were not looked at.
    #[must_use]
    pub fn waits(&self) -> Option<Sampled<'_>> {
        let waits = self.facts.waits.as_ref().filter(|waits| waits.n_looks > 0)?;
        let n = (self.facts.n_operations > 0).then_some(self.facts.n_operations as f64)?;
        let us = self.facts.duration_ns as f64 / 1e3 / waits.n_looks as f64;
        Some(Sampled { stacks: &self.waits, us_per_sample: us / n })
    }

    /// CPU time per operation of the server by its own clock, µs.
    #[must_use]
    pub fn clock_us(&self) -> Option<f64> {
        let n = self.facts.n_operations;
        (n > 0).then(|| self.facts.server_cpu_ns as f64 / 1e3 / n as f64)
    }

    /// The share of the server's CPU time that the samples stand for; 1 when they missed nothing.
    #[must_use]
    pub fn sampled_share(&self) -> Option<f64> {
        let cpu = self.facts.cpu.as_ref()?;
        let clock_ns = self.facts.server_cpu_ns;
        (clock_ns > 0).then(|| cpu.period_ns as f64 / clock_ns as f64)
    }
}

impl CpuSampling {
    /// Share of the stacks that reach their entry; `None` without any.
    #[must_use]
    pub fn complete_share(&self) -> Option<f64> {
        (self.n_user > 0).then(|| self.n_complete as f64 / self.n_user as f64)
    }

    /// Share of the frames without a name; `None` without any.
    #[must_use]
    pub fn unknown_share(&self) -> Option<f64> {
        (self.n_frames > 0).then(|| self.n_unknown as f64 / self.n_frames as f64)
    }
}

impl Sampled<'_> {
    /// Microseconds per operation of all stacks.
    #[must_use]
    pub fn total_us(&self) -> f64 {
        self.stacks.n_samples() as f64 * self.us_per_sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_microseconds_per_operation() {
        let stacks = Stacks::parse("main;a 30\nmain;b 10\n").unwrap();
        let cpu = CpuSampling {
            event: "cpu-clock".to_owned(),
            unwind: Unwind::Dwarf,
            frequency_hz: 1000,
            n_samples: 40,
            period_ns: 40_000_000,
            n_user: 40,
            n_complete: 38,
            n_frames: 80,
            n_unknown: 8,
            symbols: ".symtab".to_owned(),
            is_stripped: false,
            cost_ns: 0,
        };
        assert_eq!((cpu.complete_share(), cpu.unknown_share()), (Some(0.95), Some(0.1)));
        let facts = Facts {
            duration_ns: 100_000_000,
            n_operations: 1000,
            server_cpu_ns: 50_000_000,
            cpu: Some(cpu),
            waits: Some(WaitSampling {
                n_looks: 5,
                n_threads: 2,
                cost_ns: 0,
                has_places: true,
                has_calls: true,
                has_kinds: true,
            }),
            ..Facts::default()
        };
        let waits = Stacks::parse("client threads;running 4\nclient threads;waiting 1\n").unwrap();
        let profile = StackProfile { step_idx: 0, system_idx: 0, facts, stacks, waits };
        // 40 samples of 50 ms of CPU over 1000 operations: what 10 lost ones stood for is in them.
        assert!((profile.cpu().unwrap().total_us() - 50.0).abs() < 1e-9);
        assert_eq!(profile.sampled_us(), Some(40.0));
        // One thread, always looked at: the wall clock of 100 ms.
        assert!((profile.waits().unwrap().total_us() - 100.0).abs() < 1e-9);
        assert_eq!((profile.clock_us(), profile.sampled_share()), (Some(50.0), Some(0.8)));
        let with = |event: &str, period_ns: u64| {
            let cpu = profile.facts.cpu.clone().unwrap();
            let cpu = Some(CpuSampling { event: event.to_owned(), period_ns, ..cpu });
            StackProfile { facts: Facts { cpu, ..profile.facts.clone() }, ..profile.clone() }
        };
        // What the kernel's part would be is not in samples of user code, and lost ones are not known.
        let user = with("cpu-clock:u", 40_000_000);
        assert!((user.cpu().unwrap().total_us() - 40.0).abs() < 1e-9);
        assert_eq!(user.unlike_shares(&with("cpu-clock:u", 39_000_000)), None);
        assert_eq!(user.unlike_shares(&with("cpu-clock:u", 30_000_000)), Some([0.8, 0.6]));
        assert_eq!(with("cpu-clock:u", 30_000_000).unlike_shares(&profile), Some([0.6, 0.8]));
        assert_eq!(profile.unlike_shares(&with("cpu-clock", 10_000_000)), None);
        let idle = Facts { n_operations: 0, ..profile.facts.clone() };
        assert!(StackProfile { facts: idle, ..profile }.cpu().is_none());
    }
}
