//! Whether a step is measured precisely enough: the one statistic that a run asks for; and whether it can
//! be at all.

use anyhow::{Result, bail};
use rqps_model::{Estimate, Schedule, Slice, StepKind, StepOutcome, SystemIdx, SystemStep};
use rqps_stats::precision::{MIN_BLOCKS, is_reached};

use crate::Plan;
use crate::engine::cut::{Cut, TimedCut};
use crate::plan::schedule::SLICE_MS;
use crate::plan::steps::PlannedStep;

/// Fewest blocks of one of several starts before which no width counts.
const BLOCKS_OF_START: u32 = 6;

/// Blocks of a step that has no ratio: an interval of each rate is all that can come of it.
const BLOCKS_ALONE: u32 = 8;

/// Refuses a `precision` that a step has too few blocks for: each takes a slice at least, and no width is
/// believed before the twelfth.
///
/// # Errors
/// Names the step, how it is measured, and what would do.
pub(crate) fn check(plan: &Plan, steps: &[PlannedStep]) -> Result<()> {
    let Schedule::Interleaved { slice_ms, budget_ms, half_width_bp: Some(bp), .. } = plan.schedule
    else {
        return Ok(());
    };
    let least = |planned: &PlannedStep| {
        if plan.systems.len() > 1 { least_blocks(planned.n_shares) } else { BLOCKS_ALONE }
    };
    let is_compared = |planned: &&PlannedStep| planned.info.kind != StepKind::WarmUp;
    // Steps of the Insert Benchmark do not end by it.
    let mut cuts = steps.iter().filter(is_compared).filter_map(|planned| {
        let cut = Cut::of_step(planned, plan.schedule);
        if let Cut::Timed(cut) = cut { Some((planned, cut)) } else { None }
    });
    let is_short = |(planned, cut): &(&PlannedStep, TimedCut)| cut.n_blocks < least(planned);
    let Some((planned, cut)) = cuts.find(is_short) else { return Ok(()) };
    let least = least(planned);
    let most_ms = cut.total.as_millis() / u128::from(least);
    let shorter = format!("slice = \"{most_ms}ms\" or less, or ");
    let can_be_shorter = most_ms >= u128::from(*SLICE_MS.start());
    let n_starts = planned.n_shares;
    let on_each =
        if n_starts > 1 { format!(" on each of {n_starts} starts") } else { String::new() };
    let longer = if budget_ms.is_some() { "a budget" } else { "slices and seconds" };
    bail!(
        "precision = \"{}%\": {} has at most {} blocks in {} s{on_each} with slices of {slice_ms} ms. \
         Precision needs {least} blocks{on_each}. Write {}{longer} of {} s or more, or leave precision out",
        f64::from(bp) / 100.0,
        planned.info.name,
        cut.n_blocks,
        cut.total.as_secs_f64(),
        if can_be_shorter { shorter } else { String::new() },
        f64::from(n_starts) * f64::from(least) * f64::from(slice_ms) / 1e3
    );
}

/// Blocks of one start before which no width counts, of a step that is measured on `n_starts`.
fn least_blocks(n_starts: u32) -> u32 {
    MIN_BLOCKS.div_ceil(n_starts).max(BLOCKS_OF_START)
}

/// The half-width that the blocks of one of `n_starts` are to have, where those of all together are to have
/// `half_width`.
fn width_of_start(half_width: f64, n_starts: u32) -> f64 {
    half_width * f64::from(n_starts).sqrt()
}

/// The rates of a step's blocks on all its systems, in order of time.
pub(crate) struct Figures {
    /// The system that the others are compared with.
    base: usize,
    /// Per system of the step, its place in the run and its rates.
    systems: Vec<(usize, Vec<f64>)>,
    /// Starts of the servers that the step is measured on; the rates are of one.
    n_starts: u32,
}

impl Figures {
    /// With the blocks that there are already of a step that is on its way on the systems `measured`, of all
    /// that a ratio of it may be of. One that was excluded from the run has no part in it, pending as it is:
    /// no block of it will come. One that ended the step before an interruption is the others' partner as long
    /// as they have gone no further. Where the base has ended it, those that are late have no ratio.
    pub(crate) fn of_step(base: usize, systems: &[SystemStep], measured: &[SystemIdx]) -> Self {
        let last = |system: &SystemStep| system.slices.last().map(|s| (s.idx, s.start_unix_ms));
        let is_partner = |system: &SystemStep| {
            let own = last(system);
            own.is_some() && measured.iter().all(|system| last(&systems[system.0]) == own)
        };
        let is_late = systems[base].outcome == StepOutcome::Done;
        let is_of_it = |(idx, system): &(usize, &SystemStep)| match system.outcome {
            StepOutcome::Pending => measured.contains(&SystemIdx(*idx)),
            StepOutcome::Done => !is_late && is_partner(system),
            StepOutcome::Failed { .. } => false,
        };
        let figures = |system: &SystemStep| system.slices.iter().map(Slice::figure).collect();
        let all = systems.iter().enumerate().filter(is_of_it);
        let systems = all.map(|(idx, system)| (idx, figures(system))).collect();
        Self { base, systems, n_starts: 1 }
    }

    /// The same of one of so many starts of the servers that the step is measured on.
    pub(crate) fn of_one_of(self, n_starts: u32) -> Self {
        Self { n_starts, ..self }
    }

    /// Adds a block: a slice for each system.
    pub(crate) fn add(&mut self, block: &[(SystemIdx, Slice)]) {
        for (idx, slice) in block {
            let of_system = self.systems.iter_mut().find(|(other, _)| *other == idx.0);
            if let Some((_, figures)) = of_system {
                figures.push(slice.figure());
            }
        }
    }

    /// Whether no more blocks are wanted: the interval of every candidate's rQPS is narrow enough; or no
    /// ratio can come of them, without a base or a candidate, and there are some.
    pub(crate) fn are_enough(&self, half_width: f64) -> bool {
        let base = self.systems.iter().find(|(idx, _)| *idx == self.base);
        let (Some((_, base)), 2..) = (base, self.systems.len()) else {
            let least = BLOCKS_ALONE as usize;
            return self.systems.iter().all(|(_, figures)| figures.len() >= least);
        };
        let others = self.systems.iter().filter(|(idx, _)| *idx != self.base);
        let ratios: Option<Vec<Estimate>> =
            others.map(|(_, figures)| rqps_stats::paired_ratio(base, figures)).collect();
        let (width, least) =
            (width_of_start(half_width, self.n_starts), least_blocks(self.n_starts));
        ratios.is_some_and(|ratios| is_reached(&ratios, width, least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(n: usize, spread: f64) -> Figures {
        let noisy =
            |i: usize| 100.0 * (1.0 + spread * if i.is_multiple_of(2) { 1.0 } else { -1.0 });
        let steady = vec![100.0; n];
        Figures {
            base: 1,
            systems: vec![(0, (0..n).map(noisy).collect()), (1, steady)],
            n_starts: 1,
        }
    }

    #[test]
    fn narrow_intervals_of_enough_blocks_are_enough() {
        assert!(figures(20, 0.005).are_enough(0.01));
        assert!(!figures(20, 0.1).are_enough(0.01));
        assert!(!figures(11, 0.005).are_enough(0.01));
        // Of several starts each needs less: all together are as precise.
        let of_four = |n, spread| figures(n, spread).of_one_of(4);
        assert!(of_four(6, 0.005).are_enough(0.01) && !of_four(5, 0.005).are_enough(0.01));
        assert!(!figures(12, 0.02).are_enough(0.01) && of_four(12, 0.02).are_enough(0.01));
    }

    #[test]
    fn without_a_partner_some_blocks_are_enough() {
        for base in [0, 1] {
            let alone = |n| {
                let mut alone = figures(n, 0.5);
                alone.systems.truncate(1);
                alone.base = base;
                alone
            };
            assert!(!alone(7).are_enough(0.01));
            assert!(alone(8).are_enough(0.01), "no ratio will ever come of it");
        }
    }

    fn checked(n_systems: u32, schedule: &str) -> Result<()> {
        let system = |n: u32| format!("[[system]]\ndbms = 'null'\nlabel = 's{n}'\n");
        let systems: String = (0..n_systems).map(system).collect();
        let text = format!(
            "{systems}[[suite]]\nsteps = ['point-query', 'update-index']\nclients = [1]\n\
             seconds = {{ read = 2, write = 10 }}\n[schedule]\n{schedule}"
        );
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let file = crate::PlanFile::parse(&text, "test").unwrap();
        let plan = file.resolve("test", &catalogue).unwrap();
        check(&plan, &crate::plan::launches::of_plan(&plan, &[0, 1], true)?)
    }

    #[test]
    fn a_precision_that_no_step_can_come_to_is_refused() {
        let refused = |schedule: &str| checked(2, schedule).unwrap_err().to_string();
        expect_test::expect![[r#"precision = "5%": update-index has at most 10 blocks in 10 s with slices of 1000 ms. Precision needs 12 blocks. Write slice = "833ms" or less, or a budget of 12 s or more, or leave precision out"#]]
            .assert_eq(&refused("slice = '1s'\nbudget = '10s'\nprecision = '5%'"));
        // Each kind of step has its time: the one before it has 20 s.
        expect_test::expect![[r#"precision = "0.5%": point-query has at most 8 blocks in 4 s with slices of 500 ms. Precision needs 12 blocks. Write slice = "333ms" or less, or slices and seconds of 6 s or more, or leave precision out"#]]
            .assert_eq(&refused("slice = '500ms'\nslices = 2\nprecision = '0.5%'"));
        for schedule in [
            "slice = '1s'\nbudget = '12s'\nprecision = '5%'",
            "slice = '833ms'\nbudget = '10s'\nprecision = '5%'",
            "slice = '1s'\nbudget = '10s'",
            "budget = '1s'\nprecision = '1%'",
        ] {
            checked(2, schedule).unwrap();
        }
        // The time is divided among starts, each of which comes to the precision by itself.
        expect_test::expect![[r#"precision = "5%": update-index has at most 5 blocks in 5 s on each of 4 starts with slices of 1000 ms. Precision needs 6 blocks on each of 4 starts. Write slice = "833ms" or less, or a budget of 24 s or more, or leave precision out"#]]
            .assert_eq(&refused("starts = 4\nslice = '1s'\nbudget = '20s'\nprecision = '5%'"));
        checked(2, "starts = 4\nbudget = '60s'\nprecision = '1%'").unwrap();
        checked(2, "starts = 4\nslice = '1s'\nbudget = '24s'\nprecision = '5%'").unwrap();
        // A single system has no ratio, and ends with eight blocks.
        let alone = |budget: &str| {
            let rest = "mode = 'interleaved'\nslice = '1s'\nprecision = '5%'";
            checked(1, &format!("{rest}\nbudget = '{budget}'"))
        };
        assert!(alone("7s").is_err() && alone("8s").is_ok());
    }
}
