//! Whole runs: false differences among many steps, and what stopping by width does.

use rqps_model::Verdict;
use rqps_stats::fdr::{DEFAULT_Q, decisions};
use rqps_stats::precision::{MIN_BLOCKS, More, blocks_to_settle, is_reached};
use rqps_stats::random::Random;
use rqps_stats::{DEFAULT_BOUND, Tested, of_log_ratios, paired_test, verdict};

use crate::simulate::{Shape, blocks};
use crate::{assert_documented, percent};

/// How the blocks of both sides of an A/A run are drawn.
#[derive(Clone, Copy)]
enum Noise {
    /// The log ratio has this shape; the worst case, in which one side alone is hit.
    Ratio(Shape),
    /// Each side is hit by itself by this shape, as a host does.
    Sides(Shape),
    /// Three steps in four are calm (0.5%) and one is not (10%); on each the two sides differ by what
    /// their starts drew, 1%.
    Starts,
}

fn step(n: usize, noise: Noise, at: usize, random: &mut Random) -> Tested {
    match noise {
        Noise::Starts => {
            let sd = if at.is_multiple_of(4) { 0.1 } else { 0.005 };
            let drawn = 0.01 * random.normal();
            let logs: Vec<f64> = (0..n).map(|_| drawn + sd * random.normal()).collect();
            of_log_ratios(&logs).unwrap()
        }
        Noise::Ratio(shape) => {
            let logs: Vec<f64> = blocks(n, shape, random).iter().map(|e| 0.08 * e).collect();
            of_log_ratios(&logs).unwrap()
        }
        Noise::Sides(shape) => {
            let mut side = || -> Vec<f64> {
                blocks(n, shape, random).iter().map(|e| 1e4 * (0.06 * e).exp()).collect()
            };
            let (base, candidate) = (side(), side());
            paired_test(&base, &candidate).unwrap()
        }
    }
}

#[test]
fn runs_of_the_same_system_call_few_differences() {
    const RUNS: u32 = 2000;
    const STEPS: usize = 40;
    let cases = [
        ("normal", Noise::Ratio(Shape::Normal)),
        ("both sides slowed now and then (exponential)", Noise::Sides(Shape::Skewed)),
        ("both sides slowed now and then (one block in ten)", Noise::Sides(Shape::Contaminated)),
        ("neighbours correlate by 0.2", Noise::Ratio(Shape::Correlated(0.2))),
        ("starts 1% apart, most steps calm", Noise::Starts),
        ("one side alone slowed (exponential)", Noise::Ratio(Shape::Skewed)),
    ];
    let mut rows = Vec::new();
    for (name, noise) in cases {
        for n in [8, 12, 20] {
            let mut random = Random::new(n as u64 + 17);
            let (mut alone, mut kept, mut significant_runs, mut called_runs) = (0, 0, 0, 0);
            for _ in 0..RUNS {
                let run: Vec<Tested> =
                    (0..STEPS).map(|at| step(n, noise, at, &mut random)).collect();
                let found = decisions(&run, DEFAULT_BOUND, DEFAULT_Q);
                let is_called = |v: Verdict| matches!(v, Verdict::Slower | Verdict::Faster);
                alone += found.iter().filter(|d| is_called(d.alone)).count();
                let called = found.iter().filter(|d| is_called(d.verdict)).count();
                kept += called;
                called_runs += u32::from(called > 0);
                significant_runs += u32::from(found.iter().any(|d| d.is_significant));
            }
            let all = f64::from(RUNS) * STEPS as f64;
            let (alone, kept) = (alone as f64 / all, kept as f64 / all);
            let runs = [called_runs, significant_runs].map(|r| f64::from(r) / f64::from(RUNS));
            // One run in twenty, and three standard errors of 2000 runs.
            assert!(runs[0] <= 0.065, "{name} {n}: {runs:?}");
            assert!(kept <= 0.005, "{name} {n}: {kept}");
            rows.push(format!(
                "| {name} | {n} | {:.2}% | {:.2}% | {} | {} |",
                alone * 100.0,
                kept * 100.0,
                percent(runs[0]),
                percent(runs[1])
            ));
        }
    }
    assert_documented(&rows);
}

#[test]
fn coverage_when_blocks_stop_at_a_width() {
    const RUNS: u32 = 2000;
    const MOST: usize = 60;
    let shapes = [Shape::Normal, Shape::Skewed, Shape::Contaminated, Shape::Correlated(0.2)];
    let mut rows = Vec::new();
    for from in [4_u32, 8, 12, 16] {
        let cells = shapes.map(|shape| {
            let mut random = Random::new(u64::from(from) + 23);
            let (mut covered, mut used) = (0, 0);
            for _ in 0..RUNS {
                // A spread of 2% and a target of 1%: some 18 blocks when the spread is known.
                let logs: Vec<f64> =
                    blocks(MOST, shape, &mut random).iter().map(|e| 0.02 * e).collect();
                let mut n = 4;
                let mut found = of_log_ratios(&logs[..n]).unwrap().estimate;
                while n < MOST && !is_reached(&[found], 0.01, from) {
                    n += 1;
                    found = of_log_ratios(&logs[..n]).unwrap().estimate;
                }
                let (low, high) = found.interval.unwrap();
                covered += u32::from(low <= 1.0 && 1.0 <= high);
                used += n;
            }
            let (mean, share) =
                (used as f64 / f64::from(RUNS), f64::from(covered) / f64::from(RUNS));
            assert!(from < MIN_BLOCKS || share >= 0.915, "{from}: {share}");
            format!("{} ({mean:.0})", percent(share))
        });
        rows.push(format!("| {from} | {} |", cells.join(" | ")));
    }
    assert_documented(&rows);
}

/// Of the ratios that are unclear after 12 blocks: how many get a projection within 400 blocks, how
/// many of those have a verdict after that many, and the median projection.
#[test]
fn projections_come_true_as_often_as_they_say() {
    const RUNS: u32 = 600;
    const LIMIT: u32 = 400;
    let mut rows = Vec::new();
    for sd in [0.05, 0.1, 0.2] {
        let mut random = Random::new(29);
        let (mut unclear, mut settled, mut projections) = (0_u32, 0_u32, Vec::new());
        while unclear < RUNS {
            let truth = 0.4 * (random.uniform() - 0.5);
            let mut logs: Vec<f64> = (0..12).map(|_| truth + sd * random.normal()).collect();
            let now = of_log_ratios(&logs).unwrap().estimate;
            if verdict(&now, DEFAULT_BOUND) != Verdict::Unclear {
                continue;
            }
            unclear += 1;
            if let Some(More::Blocks(more)) = blocks_to_settle(&now, DEFAULT_BOUND, LIMIT) {
                projections.push(more);
                logs.extend((0..more).map(|_| truth + sd * random.normal()));
                let then = of_log_ratios(&logs).unwrap().estimate;
                settled += u32::from(verdict(&then, DEFAULT_BOUND) != Verdict::Unclear);
            }
        }
        projections.sort_unstable();
        let n = projections.len() as f64;
        let came_true = f64::from(settled) / n;
        assert!((0.7..0.92).contains(&came_true), "{sd}: {came_true}");
        rows.push(format!(
            "| {:.0}% | {} | {} | {} |",
            sd * 100.0,
            percent(n / f64::from(RUNS)),
            percent(came_true),
            projections[projections.len() / 2]
        ));
    }
    assert_documented(&rows);
}
