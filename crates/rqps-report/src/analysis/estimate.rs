//! The figure of a step on one system, and ratios between two, with their intervals.
//!
//! Slices of equal time have figures of equal weight. Blocks of equal work do not: theirs are ratios
//! of totals ([`rqps_stats::totals`]), in which a stall counts as long as it took.

use rqps_model::run::SystemStep;
use rqps_model::{Estimate, Metric, RunStep, Slice, StepKind};
use rqps_stats::resolution;
use rqps_stats::totals::{self, Part};

/// The figure: the mean over the slices; of blocks of equal work, operations of all over time of all.
pub(super) fn figure(step: &RunStep, system: &SystemStep) -> Option<Estimate> {
    let rates: Vec<Part> = system.slices.iter().map(rate).collect();
    let estimate = if step.info.has_blocks_of_work() {
        totals::total(&rates)
    } else {
        rqps_stats::mean(&rates.iter().map(Part::ratio).collect::<Vec<_>>())
    };
    estimate.map(|estimate| rqps_stats::resolved(estimate, one_operation(system)))
}

/// One step on base and candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    base: &'a SystemStep,
    candidate: &'a SystemStep,
    /// Whether block i of one was measured in turns with block i of the other.
    in_turns: bool,
    /// Whether ratios are those of totals.
    of_totals: bool,
}

impl<'a> Pair<'a> {
    /// The step on systems `base` and `candidate` of the run, by index; `in_turns` when these two took
    /// turns in all but loads and the creation of indexes.
    pub(super) fn of(
        step: &'a RunStep,
        (base, candidate): (usize, usize),
        in_turns: bool,
    ) -> Option<Self> {
        let alone = matches!(step.info.kind, StepKind::Load | StepKind::Index);
        Some(Self {
            base: step.systems.get(base)?,
            candidate: step.systems.get(candidate)?,
            in_turns: in_turns && !alone,
            of_totals: step.info.has_blocks_of_work(),
        })
    }

    /// Figure of the candidate / figure of the base.
    pub(super) fn rqps(&self) -> Option<Estimate> {
        let one = resolution::of_ratio(one_operation(self.base), one_operation(self.candidate));
        self.ratio(|slice| Some(rate(slice))).map(|r| rqps_stats::resolved(r, one))
    }

    /// Server CPU per operation of the candidate / that of the base.
    pub(super) fn server_cpu(&self) -> Option<Estimate> {
        self.ratio(server_cpu)
    }

    /// The ratio of a value of the slices: of blocks that were measured in turns by their pairs, else
    /// of two samples. `None` when a slice lacks the value.
    fn ratio(&self, value: impl Fn(&Slice) -> Option<Part>) -> Option<Estimate> {
        if self.in_turns {
            // A block has no partner when its system was measured without the other.
            let pairs = self.base.slices.iter().filter_map(|b| {
                let c = self.candidate.slices.iter().find(|c| c.idx == b.idx)?;
                Some(value(b).zip(value(c)))
            });
            let pairs: Option<Vec<(Part, Part)>> = pairs.collect();
            let (b, c): (Vec<Part>, Vec<Part>) = pairs?.into_iter().unzip();
            let tested = if self.of_totals {
                totals::paired_test(&b, &c)
            } else {
                rqps_stats::paired_test(&self.figures(&b)?, &self.figures(&c)?)
            };
            return tested.map(|tested| tested.estimate);
        }
        let all = |system: &SystemStep| -> Option<Vec<f64>> {
            let parts: Option<Vec<Part>> = system.slices.iter().map(&value).collect();
            self.figures(&parts?)
        };
        rqps_stats::ratio(&all(self.base)?, &all(self.candidate)?)
    }

    fn figures(&self, parts: &[Part]) -> Option<Vec<f64>> {
        if self.of_totals {
            return totals::figures(parts);
        }
        Some(parts.iter().map(Part::ratio).collect())
    }
}

/// Operations per second; 0 when no time passed.
fn rate(slice: &Slice) -> Part {
    match slice.duration_ns {
        0 => Part { amount: 0.0, per: 1.0 },
        ns => Part { amount: slice.n_operations as f64 * 1e9, per: ns as f64 },
    }
}

/// CPU of the server per operation: what it used in all is the metric for a single operation.
fn server_cpu(slice: &Slice) -> Option<Part> {
    let amount = Metric::ServerCpu.value(&slice.usage, 1)?;
    (slice.n_operations > 0).then_some(Part { amount, per: slice.n_operations as f64 })
}

/// What a single operation is of a slice's, at the worst.
fn one_operation(system: &SystemStep) -> f64 {
    resolution::of_counts(system.slices.iter().map(|s| s.n_operations))
}
