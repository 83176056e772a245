//! Two systems on one step: what is true of them, and what a report says.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_explain::{Kind, TimePart};
use rqps_model::{Estimate, Metric, Run, StepKind, Verdict};

use super::added::Added;
use super::counts::Log;
use super::slowed::Slowdown;

/// What is true of a slowed system against the base.
///
/// CPU that is burnt in an operation adds as much to its time as to its CPU: clients are a closed loop, and send when
/// they have their answer. CPU that others take from client and server is no part of the time
/// here, as they take it from what is burnt in the same proportion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Truth {
    /// CPU added to an operation, microseconds.
    pub(super) added_us: f64,
    /// The time of an operation on the base over that with the CPU added: rQPS.
    pub(super) rqps: f64,
    /// Server CPU per operation over the base's.
    pub(super) cpu_ratio: f64,
}

impl Truth {
    /// Of equal systems.
    const EQUAL: Self = Self { added_us: 0.0, rqps: 1.0, cpu_ratio: 1.0 };

    /// Of a system that burns `added_us` in each operation.
    fn of(added_us: f64, base: &BaseOperation) -> Self {
        Self {
            added_us,
            rqps: base.time_us / (base.time_us + added_us),
            cpu_ratio: 1.0 + added_us / base.cpu_us,
        }
    }
}

/// An operation on the base, as rqps measures it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BaseOperation {
    /// Its time without CPU that others took, microseconds.
    time_us: f64,
    /// Its server CPU, microseconds.
    cpu_us: f64,
    /// That of the threads that serve clients; absent where these are not known.
    served_us: Option<f64>,
}

impl BaseOperation {
    fn of(step: &StepAnalysis<'_>) -> Option<Self> {
        let [base, cell] = &step.cells[..] else { return None };
        let split = cell.split()?;
        let slices = &step.step.systems[0].slices;
        let served_ns: Option<u64> = slices.iter().map(|s| s.usage.waits.served_cpu_ns).sum();
        let n_operations: u64 = slices.iter().map(|s| s.n_operations).sum();
        Some(Self {
            time_us: split.total.base - split.part(TimePart::Taken)?.base,
            cpu_us: base.per_operation(Metric::ServerCpu)?,
            served_us: served_ns.map(|ns| ns as f64 / 1e3 / n_operations as f64),
        })
    }
}

/// What the libraries saw of a slowed system and its base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    /// CPU burnt over the CPU of the threads' own work.
    pub(super) share: f64,
    /// By how much all CPU per command is higher than on the base, microseconds: what was burnt, and what
    /// the starts of both servers drew.
    pub(super) rise_us: f64,
    /// rQPS, if that was added in place of what was burnt.
    pub(super) rqps: f64,
    /// CPU per command on the base over the CPU per operation that rqps measured of the threads
    /// that serve clients. The library sees the run-in of each slice too, in which caches are cold.
    pub(super) of_served_cpu: Option<f64>,
    /// Commands that the library counted over operations that rqps counted.
    pub(super) commands_per_operation: Option<f64>,
}

/// A step on two systems.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) dbms: String,
    pub(super) step: String,
    pub(super) kind: StepKind,
    /// The share of its own CPU that the second system burns, basis points; 0 for equal systems.
    pub(super) slowdown_bp: u32,
    pub(super) truth: Truth,
    pub(super) seen: Option<Seen>,
    /// Server CPU of an operation on the base, microseconds.
    pub(super) base_cpu_us: f64,
    pub(super) rqps: Option<Estimate>,
    pub(super) cpu_ratio: Option<Estimate>,
    pub(super) verdict: Option<Verdict>,
    /// On which side of 1 the rQPS lies beyond chance, whatever the bound.
    pub(super) direction: Option<Ordering>,
    /// The cause that the report names; absent without a verdict of slower or faster.
    pub(super) cause: Option<Kind>,
}

impl Pair {
    /// Whether an interval of rQPS holds the true one; absent without an interval.
    pub(super) fn rqps_holds(&self) -> Option<bool> {
        holds(self.rqps, self.truth.rqps)
    }

    /// By how much server CPU per operation was found to be higher, microseconds.
    pub(super) fn found_us(&self) -> Option<f64> {
        Some((self.cpu_ratio?.point - 1.0) * self.base_cpu_us)
    }

    /// Whether an interval of the ratio of server CPU holds the true one; absent without an interval.
    pub(super) fn cpu_holds(&self) -> Option<bool> {
        holds(self.cpu_ratio, self.truth.cpu_ratio)
    }

    /// Whether an interval of rQPS holds that of the rise which the libraries saw; absent without an interval
    /// or libraries.
    pub(super) fn seen_rqps_holds(&self) -> Option<bool> {
        holds(self.rqps, self.seen?.rqps)
    }

    /// The same of the ratio of server CPU.
    pub(super) fn seen_cpu_holds(&self) -> Option<bool> {
        holds(self.cpu_ratio, 1.0 + self.seen?.rise_us / self.base_cpu_us)
    }
}

fn holds(estimate: Option<Estimate>, truth: f64) -> Option<bool> {
    let (low, high) = estimate?.interval?;
    Some((low..=high).contains(&truth))
}

/// Judges the pairs of a run: slowed systems with the base, and each two of those that nothing slows. Each pair
/// has an analysis of its own, so that what differs does not make verdicts easier on what does not.
///
/// # Errors
/// Where the counts of a slowed system are missing.
pub(super) fn judge(run: &Run, log: &Log, slowdowns: &[Slowdown], bound: f64) -> Result<Vec<Pair>> {
    let slowdown_of = |idx: usize| {
        let label = &run.systems[idx].spec.label.0;
        slowdowns.iter().find(|slowdown| slowdown.label == *label && slowdown.bp > 0)
    };
    let (slowed, equal): (Vec<usize>, Vec<usize>) =
        (0..run.systems.len()).partition(|idx| slowdown_of(*idx).is_some());
    let mut pairs = Vec::new();
    for (at, &base) in equal.iter().enumerate() {
        for &twin in &equal[at + 1..] {
            pairs.extend(judge_two(run, [base, twin], bound, None)?);
        }
    }
    for idx in slowed {
        let bp = slowdown_of(idx).map_or(0, |slowdown| slowdown.bp);
        let base = Added::of_steps(log, run, run.base)?;
        let slowed = Slowed { bp, base, added: Added::of_steps(log, run, idx)? };
        pairs.extend(judge_two(run, [run.base, idx], bound, Some(&slowed))?);
    }
    Ok(pairs)
}

/// What is known of a slowed system and its base from outside, by the step's name.
struct Slowed {
    bp: u32,
    base: BTreeMap<String, Added>,
    added: BTreeMap<String, Added>,
}

impl Slowed {
    /// What is true on a step and what the libraries saw; `None` where that is not known.
    fn on(&self, step: &StepAnalysis<'_>) -> Option<(Truth, Seen)> {
        let name = &step.step.info.name;
        let (base, slowed) = (self.base.get(name)?, self.added.get(name)?);
        let operation = BaseOperation::of(step)?;
        let of_served_cpu = operation.served_us.map(|served_us| base.seen_us() / served_us);
        // Of the commands that rqps counted, those of the run-in left out.
        let counted = |us: f64| us / of_served_cpu.unwrap_or(1.0);
        let truth = Truth::of(counted(slowed.us()), &operation);
        let rise_us = counted(slowed.seen_us() - base.seen_us());
        let seen = Seen {
            share: slowed.share(),
            rise_us,
            rqps: Truth::of(rise_us, &operation).rqps,
            of_served_cpu,
            commands_per_operation: slowed.commands_per_operation(),
        };
        Some((truth, seen))
    }
}

fn judge_two(
    run: &Run,
    both: [usize; 2],
    bound: f64,
    slowed: Option<&Slowed>,
) -> Result<Vec<Pair>> {
    let alone = alone(run, both);
    let analysis = Analysis::of(&alone, bound);
    let steps = analysis.steps.iter().filter(|step| step.is_compared());
    steps.map(|step| judge_step(run, step, slowed)).collect()
}

fn judge_step(run: &Run, step: &StepAnalysis<'_>, slowed: Option<&Slowed>) -> Result<Pair> {
    let name = &step.step.info.name;
    let [base, cell] = &step.cells[..] else { bail!("a pair has two systems") };
    let base_cpu_us = base.per_operation(Metric::ServerCpu);
    let on_step = |slowed: &Slowed| {
        slowed.on(step).with_context(|| format!("{}: too little is known of {name}", run.id))
    };
    let known = slowed.map(on_step).transpose()?;
    Ok(Pair {
        dbms: run.systems[run.base].spec.dbms.to_string(),
        step: name.clone(),
        kind: step.step.info.kind,
        slowdown_bp: slowed.map_or(0, |slowed| slowed.bp),
        truth: known.map_or(Truth::EQUAL, |(truth, _)| truth),
        seen: known.map(|(_, seen)| seen),
        base_cpu_us: base_cpu_us.with_context(|| format!("{name} has no server CPU"))?,
        rqps: cell.rqps(),
        cpu_ratio: cell.server_cpu_ratio(),
        verdict: cell.verdict(),
        direction: cell.direction(),
        cause: cell.cause().map(|cause| cause.kind),
    })
}

/// The run with two of its systems alone, the first of them as the base.
fn alone(run: &Run, both: [usize; 2]) -> Run {
    let mut alone = run.clone();
    alone.base = 0;
    alone.systems = both.map(|i| run.systems[i].clone()).to_vec();
    for (step, whole) in alone.steps.iter_mut().zip(&run.steps) {
        step.systems = both.map(|i| whole.systems[i].clone()).to_vec();
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_that_is_added_makes_an_operation_longer() {
        let base = BaseOperation { time_us: 100.0, cpu_us: 60.0, served_us: None };
        let truth = Truth::of(6.0, &base);
        assert!((truth.rqps - 100.0 / 106.0).abs() < 1e-12);
        assert!((truth.cpu_ratio - 1.1).abs() < 1e-12);
    }

    #[test]
    fn an_interval_holds_its_ends() {
        let estimate = Estimate { point: 0.95, interval: Some((0.94, 0.96)), n: 8 };
        assert_eq!(holds(Some(estimate), 0.96), Some(true));
        assert_eq!(holds(Some(estimate), 0.93), Some(false));
        assert_eq!(holds(Some(Estimate::single(0.95)), 0.95), None);
    }
}
