//! Measured coverage of ratios of totals (blocks of equal work), and the tables of it in
//! docs/reference/simulations.md. Beside the method that is used stand two that are not.

use rqps_stats::random::Random;
use rqps_stats::totals::{self, BlockTotals};
use rqps_stats::{CONFIDENCE, student};

/// Candidate / base of the rates that blocks have without stalls.
const TRUTH: f64 = 0.7;

/// How long blocks take. The noise of every block is that of a fifth of its time.
#[derive(Clone, Copy)]
enum Shape {
    /// Noise alone.
    Steady,
    /// The last block takes twice as long as the first, on both systems.
    Slowing,
    /// Noise of neighbours correlates by 0.4.
    Correlated,
    /// A block takes `times` as long with this chance, on the candidate alone or on both.
    Stalls { chance: f64, times: f64, on_both: bool },
}

const SOME: Shape = Shape::Stalls { chance: 0.2, times: 3.0, on_both: false };
const RARE: Shape = Shape::Stalls { chance: 0.05, times: 20.0, on_both: false };
const RARE_ON_BOTH: Shape = Shape::Stalls { chance: 0.05, times: 20.0, on_both: true };

/// The times of a run's blocks on base and candidate.
struct Simulated {
    base: Vec<f64>,
    candidate: Vec<f64>,
    /// Whether any block of the candidate stalled.
    has_stall: bool,
}

/// Log-normal noise with the mean 1.
fn noise(z: f64) -> f64 {
    const SD: f64 = 0.2;
    (SD * z - SD * SD / 2.0).exp()
}

fn simulated(n: usize, shape: Shape, random: &mut Random) -> Simulated {
    let mut run = Simulated { base: Vec::new(), candidate: Vec::new(), has_stall: false };
    let mut last = random.normal();
    for idx in 0..n {
        let mut base = noise(random.normal());
        let mut candidate = match shape {
            Shape::Correlated => {
                last = 0.4 * last + (1.0 - 0.4_f64 * 0.4).sqrt() * random.normal();
                noise(last)
            }
            _ => noise(random.normal()),
        };
        match shape {
            Shape::Slowing => {
                let slower = 1.0 + idx as f64 / (n - 1) as f64;
                (base, candidate) = (base * slower, candidate * slower);
            }
            Shape::Stalls { chance, times, on_both } => {
                if on_both && random.uniform() < chance {
                    base += times - 1.0;
                }
                if random.uniform() < chance {
                    candidate += times - 1.0;
                    run.has_stall = true;
                }
            }
            Shape::Steady | Shape::Correlated => {}
        }
        run.base.push(base);
        run.candidate.push(candidate / TRUTH);
    }
    run
}

/// The ratio of totals that infinitely many blocks would have.
fn truth(shape: Shape) -> f64 {
    match shape {
        Shape::Stalls { chance, times, on_both: false } => TRUTH / (1.0 + chance * (times - 1.0)),
        _ => TRUTH,
    }
}

fn parts(times: &[f64]) -> Vec<BlockTotals> {
    times.iter().map(|&per| BlockTotals { amount: 1.0, per }).collect()
}

/// The method that is used.
fn jackknife(run: &Simulated) -> (f64, f64) {
    let tested = totals::paired_test(&parts(&run.base), &parts(&run.candidate));
    tested.unwrap().estimate.interval.unwrap()
}

/// Logarithm of the ratio of totals, and its standard error by Cochran's linear approximation.
fn linear(base: &[f64], candidate: &[f64]) -> (f64, f64) {
    let n = base.len() as f64;
    let [b, c] = [base, candidate].map(|times| times.iter().sum::<f64>() / n);
    let squares: f64 =
        base.iter().zip(candidate).map(|(own_b, own_c)| (own_b / b - own_c / c).powi(2)).sum();
    ((b / c).ln(), (squares / (n - 1.0) / n).sqrt())
}

fn cochran(run: &Simulated) -> (f64, f64) {
    let (log, error) = linear(&run.base, &run.candidate);
    let half = student::quantile(CONFIDENCE, run.base.len() as f64 - 1.0) * error;
    ((log - half).exp(), (log + half).exp())
}

/// The studentised bootstrap of 199 resamples: its fifth value from either end.
fn bootstrap(run: &Simulated, random: &mut Random) -> (f64, f64) {
    let n = run.base.len();
    let (log, error) = linear(&run.base, &run.candidate);
    let mut ts: Vec<f64> = (0..199)
        .map(|_| {
            let drawn: Vec<usize> = (0..n).map(|_| random.position(n)).collect();
            let [base, candidate] = [&run.base, &run.candidate]
                .map(|times| drawn.iter().map(|&idx| times[idx]).collect::<Vec<f64>>());
            let (own_log, own_error) = linear(&base, &candidate);
            (own_log - log) / own_error.max(1e-9)
        })
        .collect();
    ts.sort_unstable_by(f64::total_cmp);
    ((log - ts[194] * error).exp(), (log - ts[4] * error).exp())
}

/// What simulated runs say of a method.
#[derive(Default)]
struct Coverage {
    runs: u32,
    covered: u32,
    with_stall: u32,
    covered_with_stall: u32,
    /// High end / low end.
    spans: Vec<f64>,
}

impl Coverage {
    fn add(&mut self, run: &Simulated, (low, high): (f64, f64), truth: f64) {
        let covers = low <= truth && truth <= high;
        self.runs += 1;
        self.covered += u32::from(covers);
        self.with_stall += u32::from(run.has_stall);
        self.covered_with_stall += u32::from(run.has_stall && covers);
        self.spans.push(high / low);
    }

    fn share(&self) -> f64 {
        f64::from(self.covered) / f64::from(self.runs)
    }

    fn share_with_stall(&self) -> f64 {
        f64::from(self.covered_with_stall) / f64::from(self.with_stall)
    }

    fn median_span(&mut self) -> f64 {
        self.spans.sort_unstable_by(f64::total_cmp);
        self.spans[self.spans.len() / 2]
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn documented(rows: &[String]) {
    let docs = include_str!("../../../../docs/reference/simulations.md");
    for row in rows {
        assert!(
            docs.contains(row),
            "docs/reference/simulations.md lacks its rows:\n{}",
            rows.join("\n")
        );
    }
}

#[test]
fn coverage_of_totals() {
    let shapes = [Shape::Steady, Shape::Slowing, Shape::Correlated, SOME, RARE_ON_BOTH, RARE];
    let mut rows = Vec::new();
    for n in [8, 20, 40] {
        let mut random = Random::new(n as u64 * 1000 + 13);
        let all = shapes.map(|shape| {
            let mut coverage = Coverage::default();
            for _ in 0..2000 {
                let run = simulated(n, shape, &mut random);
                coverage.add(&run, jackknife(&run), truth(shape));
            }
            coverage
        });
        assert!((0.94..0.98).contains(&all[0].share()), "{n} steady: {}", all[0].share());
        assert!((0.94..0.98).contains(&all[1].share()), "{n} slowing: {}", all[1].share());
        let mut cells: Vec<String> = all.iter().map(|c| percent(c.share())).collect();
        cells.push(percent(all[5].share_with_stall()));
        rows.push(format!("| {n} | {} |", cells.join(" | ")));
    }
    documented(&rows);
}

#[test]
fn other_methods_see_no_more() {
    let mut rows = Vec::new();
    for (name, shape) in [
        ("noise alone", Shape::Steady),
        ("one in 5 takes 3 times", SOME),
        ("one in 20 takes 20 times, on both", RARE_ON_BOTH),
        ("the same on the candidate alone", RARE),
    ] {
        let mut random = Random::new(17);
        let mut found: [Coverage; 3] = Default::default();
        for _ in 0..1000 {
            let run = simulated(20, shape, &mut random);
            let intervals = [jackknife(&run), cochran(&run), bootstrap(&run, &mut random)];
            for (coverage, interval) in found.iter_mut().zip(intervals) {
                coverage.add(&run, interval, truth(shape));
            }
        }
        let cells = found.map(|mut c| format!("{}, {:.2}", percent(c.share()), c.median_span()));
        rows.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    documented(&rows);
}
