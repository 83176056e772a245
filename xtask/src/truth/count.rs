//! What verdicts said where the truth is known.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rqps_analysis::Analysis;
use rqps_model::{Run, StepKind, Verdict};

use crate::bench_client::median;

/// Verdicts of one system, over steps and runs.
#[derive(Debug, Clone, Default)]
struct Said {
    n_pairs: usize,
    slower: usize,
    faster: usize,
    same: usize,
    unclear: usize,
    /// Below and above 1 beyond chance, whatever the bound.
    below: usize,
    above: usize,
    /// Without a verdict; no part of the pairs.
    none: usize,
    /// rQPS.
    ratios: Vec<f64>,
    /// Intervals of rQPS, and those of them that hold the true ratio.
    intervals: usize,
    hold: usize,
    /// Half-widths of steps that read and of those that write, as shares.
    reads: Vec<f64>,
    writes: Vec<f64>,
}

/// Verdicts by the slowdown of the system that they are of, in percent.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    by_slowdown_bp: BTreeMap<u32, Said>,
    n_runs: usize,
    hosts: BTreeSet<String>,
}

/// Of pairs of the same server, the share that may be called slower or faster.
const MOST_FALSE: f64 = 0.01;

/// Of pairs with a slowdown in basis points, the share that must be called slower.
const LEAST_FOUND: [(u32, f64); 2] = [(500, 0.90), (1000, 0.98)];

/// The share of 95% intervals that must hold the true ratio.
const LEAST_HELD: f64 = 0.93;

/// Half-width after a minute, median over steps that read and over those that write, as shares.
const MOST_WIDTH: [f64; 2] = [0.01, 0.03];

/// What there must be.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    /// Step pairs of the smallest slowdown, which is none where a server is there twice.
    pub(super) n_pairs: usize,
    /// Slowdowns that were asked for, percent.
    pub(super) slowdowns: &'a [f64],
    /// Whether a step was measured for at least a minute on each system.
    pub(super) has_a_minute: bool,
}

impl Counts {
    /// Adds a run. Each pair is judged in a report of its own, so that what differs
    /// does not make verdicts easier on what does not.
    pub(super) fn count(&mut self, run: &Run, bound: f64) {
        let host = &run.host;
        self.n_runs += 1;
        self.hosts.insert(format!(
            "rqps {}, {} CPUs {}, kernel {}",
            run.rqps_version, host.n_cpus, host.cpu_model, host.kernel
        ));
        for [base, idx] in pairs(run) {
            let slowdown = run.systems[idx].spec.variant.injected_slowdown_bp;
            let pair = pair(run, [base, idx]);
            let analysis = Analysis::of(&pair, bound);
            let said = self.by_slowdown_bp.entry(slowdown).or_default();
            for step in analysis.steps.iter().filter(|step| step.is_compared()) {
                let cell = &step.cells[1];
                said.n_pairs += usize::from(cell.verdict().is_some());
                said.below += usize::from(cell.direction() == Some(Ordering::Less));
                said.above += usize::from(cell.direction() == Some(Ordering::Greater));
                match cell.verdict() {
                    Some(Verdict::Slower) => said.slower += 1,
                    Some(Verdict::Faster) => said.faster += 1,
                    Some(Verdict::Same) => said.same += 1,
                    Some(Verdict::Unclear) => said.unclear += 1,
                    None => said.none += 1,
                }
                let Some(rqps) = &cell.rqps() else { continue };
                said.ratios.push(rqps.point);
                let truth = 1.0 - f64::from(slowdown) / 1e4;
                said.intervals += usize::from(rqps.interval.is_some());
                said.hold += usize::from(
                    rqps.interval.is_some_and(|(low, high)| (low..=high).contains(&truth)),
                );
                let widths = match step.step.info.kind {
                    StepKind::Read => &mut said.reads,
                    _ => &mut said.writes,
                };
                widths.extend(rqps.half_width());
            }
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.hosts.extend(other.hosts.iter().cloned());
        self.n_runs += other.n_runs;
        for (slowdown, said) in &other.by_slowdown_bp {
            let Said {
                n_pairs,
                slower,
                faster,
                same,
                unclear,
                below,
                above,
                none,
                ratios,
                intervals,
                hold,
                reads,
                writes,
            } = said;
            let sum = self.by_slowdown_bp.entry(*slowdown).or_default();
            sum.n_pairs += n_pairs;
            sum.slower += slower;
            sum.faster += faster;
            sum.same += same;
            sum.unclear += unclear;
            sum.below += below;
            sum.above += above;
            sum.none += none;
            sum.ratios.extend(ratios);
            sum.intervals += intervals;
            sum.hold += hold;
            sum.reads.extend(reads);
            sum.writes.extend(writes);
        }
    }

    /// Step pairs of the smallest slowdown, which is none where a server is there twice.
    pub(super) fn n_pairs(&self) -> usize {
        self.by_slowdown_bp.first_key_value().map_or(0, |(_, said)| said.n_pairs)
    }

    pub(super) fn n_runs(&self) -> usize {
        self.n_runs
    }

    pub(super) fn host(&self) -> String {
        self.hosts.iter().cloned().collect::<Vec<_>>().join("; ")
    }

    pub(super) fn table(&self) -> String {
        let mut text =
            "| slowed by | step pairs | slower | faster | same | unclear | below 1 beyond chance \
             | above | no verdict | rQPS, median | intervals that hold the truth | half-width, read | write |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|"
                .to_owned();
        for (slowdown, said) in &self.by_slowdown_bp {
            let share = |n: usize| format!("{n} ({:.1}%)", percent(n, said.n_pairs));
            let width = |values: &[f64]| match values {
                [] => "-".to_owned(),
                some => format!("{:.2}%", median(some.to_vec()) * 100.0),
            };
            let ratio = match said.ratios.as_slice() {
                [] => "-".to_owned(),
                some => format!("{:.3}", median(some.to_vec())),
            };
            let _ = write!(
                text,
                "\n| {}% | {} | {} | {} | {} | {} | {} | {} | {} | {ratio} | {:.1}% | {} | {} |",
                f64::from(*slowdown) / 100.0,
                said.n_pairs,
                share(said.slower),
                share(said.faster),
                share(said.same),
                share(said.unclear),
                share(said.below),
                share(said.above),
                said.none,
                percent(said.hold, said.intervals),
                width(&said.reads),
                width(&said.writes)
            );
        }
        text
    }

    /// What is short of what is wanted.
    pub(super) fn short_of(&self, wanted: &Wanted<'_>) -> Vec<String> {
        let mut short = Vec::new();
        if self.hosts.len() > 1 {
            short.push("runs of several hosts or versions: give another --results".to_owned());
        }
        if self.n_pairs() < wanted.n_pairs {
            short.push(format!("{} of {} step pairs", self.n_pairs(), wanted.n_pairs));
        }
        let has = |percent: &f64| {
            self.by_slowdown_bp.keys().any(|bp| (f64::from(*bp) / 100.0 - percent).abs() < 0.005)
        };
        for percent in wanted.slowdowns.iter().filter(|percent| !has(percent)) {
            short.push(format!("nothing measured with a slowdown of {percent}%"));
        }
        if wanted.has_a_minute {
            // A slowdown makes an interval of a ratio no wider.
            let all = |of: fn(&Said) -> &Vec<f64>| -> Vec<f64> {
                self.by_slowdown_bp.values().flat_map(of).copied().collect()
            };
            let kinds = [("read", all(|said| &said.reads)), ("write", all(|said| &said.writes))];
            for ((kind, widths), most) in kinds.into_iter().zip(MOST_WIDTH) {
                let is_empty = widths.is_empty();
                let width = if is_empty { 0.0 } else { median(widths) };
                if is_empty || width > most {
                    short.push(format!(
                        "half-width of {kind} steps {:.2}%, not {:.0}%",
                        width * 100.0,
                        most * 100.0
                    ));
                }
            }
        }
        for (slowdown, said) in &self.by_slowdown_bp {
            if said.none > 0 {
                short.push(format!("{} steps without a verdict", said.none));
            }
            let n = said.n_pairs.max(1) as f64;
            let differ = said.slower + said.faster;
            if *slowdown == 0 && differ as f64 / n > MOST_FALSE {
                short.push(format!("{differ} false verdicts of {} pairs", said.n_pairs));
            }
            if said.intervals > 0 && (said.hold as f64) < LEAST_HELD * said.intervals as f64 {
                short.push(format!(
                    "{:.1}% of {} intervals of {}% hold the truth, not {:.0}%",
                    percent(said.hold, said.intervals),
                    said.intervals,
                    f64::from(*slowdown) / 100.0,
                    LEAST_HELD * 100.0
                ));
            }
            let wanted = LEAST_FOUND.iter().find(|(bp, _)| bp == slowdown);
            if let Some((_, least)) = wanted
                && (said.slower as f64) / n < *least
            {
                short.push(format!(
                    "{}% slower found in {:.1}% of pairs of {}%",
                    f64::from(*slowdown) / 100.0,
                    percent(said.slower, said.n_pairs),
                    least * 100.0
                ));
            }
        }
        short
    }
}

fn percent(n: usize, of: usize) -> f64 {
    n as f64 * 100.0 / of.max(1) as f64
}

/// The systems to compare: slowed ones with the base, and each two of those that nothing slows.
fn pairs(run: &Run) -> Vec<[usize; 2]> {
    let is_slowed = |idx: &usize| run.systems[*idx].spec.variant.injected_slowdown_bp > 0;
    let all = 0..run.systems.len();
    let (slowed, alike): (Vec<usize>, Vec<usize>) = all.partition(is_slowed);
    let slowed = slowed.into_iter().map(|idx| [run.base, idx]);
    let twins = alike
        .iter()
        .enumerate()
        .flat_map(|(at, &base)| alike[at + 1..].iter().map(move |&twin| [base, twin]));
    twins.chain(slowed).collect()
}

/// The run with two of its systems alone, the first of them as the base.
fn pair(run: &Run, both: [usize; 2]) -> Run {
    let mut pair = run.clone();
    pair.base = 0;
    pair.systems = both.map(|i| run.systems[i].clone()).to_vec();
    for (step, whole) in pair.steps.iter_mut().zip(&run.steps) {
        step.systems = both.map(|i| whole.systems[i].clone()).to_vec();
    }
    pair
}
