//! Coverage of the ratios beside rQPS, and the effect of excluded blocks, simulated with the code
//! that reports use. The tables of docs/reference/simulations.md are made here.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use rqps_model::run::SystemStep;
use rqps_model::{
    Estimate, Figure, Group, HostCounters, Placement, ProcessCounters, RunStep, Slice, StepInfo,
    StepKind, StepOutcome, Usage, Verdict, Windows,
};
use rqps_stats::random::Random;
use rqps_stats::starts::StartPrior;
use rqps_stats::{DEFAULT_BOUND, paired_ratio, verdict};

use super::comparison::{Comparison, Judgement, Ratios};
use super::estimate::{Measured, Pair};
use super::observed::{self, OfSlice, OfSystem};
use super::start_prior::StartPriors;
use super::system_pair::SystemPair;
use crate::response::{BlockTimes, COMPARED};

/// Simulated runs of a row: standard errors of a coverage of 95% are 0.7% and 0.9%.
const RUNS: u32 = 1000;
const RUNS_OF_RULE: u32 = 600;

/// Blocks that those of a run are drawn from. What is true is then known: it is of these.
const POOL: usize = 200;

/// rQPS, server CPU, steady rate, and the percentiles.
const N_RATIOS: usize = 3 + COMPARED.len();

/// The place of p95 among them.
const P95: usize = 4;

fn assert_documented(rows: &[String]) {
    let docs = include_str!("../../../../docs/reference/simulations.md");
    let is_there = rows.iter().all(|row| docs.contains(row));
    assert!(is_there, "docs/reference/simulations.md lacks its rows:\n{}", rows.join("\n"));
}

/// A share in percent, one digit.
fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is drawn is above 0 and small"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// A block of turns of two seconds with so many operations, and nothing else.
fn bare(idx: u32, n: u64) -> Slice {
    Slice {
        idx,
        start: 0,
        load: 0,
        n_rounds: Some(100),
        start_unix_ms: 0,
        duration_ns: 2_000_000_000,
        seed: 0,
        n_events: n,
        n_queries: n,
        n_operations: n,
        n_rows: n,
        errors: Vec::new(),
        lateness: None,
        windows: Windows::default(),
        series: Vec::new(),
        response_times: Vec::new(),
        usage: Usage::default(),
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: None,
        counters: BTreeMap::new(),
        stated: None,
    }
}

/// A step that reads, with these slices of each system.
fn step(systems: Vec<Vec<Slice>>) -> RunStep {
    let info = StepInfo {
        name: "point-query".to_owned(),
        family: "point-query".to_owned(),
        n: None,
        kind: StepKind::Read,
        group: Group::Point,
        figure: Figure::Queries,
        what: String::new(),
    };
    let system =
        |slices| SystemStep { outcome: StepOutcome::Done, slices, ..SystemStep::pending() };
    let systems = systems.into_iter().map(system).collect();
    RunStep { info, clients: 1, placement: Placement::Paired, start: 0, systems }
}

/// What the host does to blocks.
#[derive(Clone, Copy)]
struct Host {
    /// Share of windows that are slowed down, on average; it differs from block to block by as much again.
    slowed: f64,
    /// Responses of a block.
    n_responses: u32,
}

/// A block of 100 windows of 200 operations each, give or take 5%; the whole block goes 1% faster or slower. Slowed
/// windows lose 30% on average, and one response in ten of theirs is held up, to eleven times its length on average.
/// CPU per operation has noise of 1% and is 10% higher in them.
fn block(host: Host, random: &mut Random) -> Slice {
    let speed = (0.01 * random.normal()).exp();
    let slowed = (host.slowed * random.exponential()).min(0.9);
    let mut counts = Vec::new();
    for _ in 0..100 {
        let mut rate = 200.0 * speed * (1.0 + 0.05 * random.normal());
        if random.uniform() < slowed {
            rate *= (-0.3 * random.exponential()).exp();
        }
        counts.push(u32::try_from(whole(rate)).unwrap());
    }
    let mut times = Histogram::<u64>::new(3).unwrap();
    for _ in 0..host.n_responses {
        let mut ns = 90_000.0 / speed * (0.2 * random.normal()).exp();
        if random.uniform() < slowed / 10.0 {
            ns *= 1.0 + 10.0 * random.exponential();
        }
        times.record(whole(ns)).unwrap();
    }
    let mut response_times = Vec::new();
    V2DeflateSerializer::new().serialize(&times, &mut response_times).unwrap();
    let n: u64 = counts.iter().map(|n| u64::from(*n)).sum();
    let cpu_ns = 40_000.0 * (0.01 * random.normal()).exp() * (1.0 + 0.1 * slowed);
    let cpu_total_ns = whole(cpu_ns * n as f64);
    let server = Some(ProcessCounters { cpu_total_ns, ..ProcessCounters::default() });
    Slice {
        windows: Windows { length_ns: 20_000_000, counts },
        response_times,
        usage: Usage { server, ..Usage::default() },
        ..bare(0, n)
    }
}

/// A block, and what analyses read from its windows and histogram.
struct KnownBlock {
    slice: Slice,
    steady_rate: f64,
    n_responses: u64,
    percentiles_ns: [f64; COMPARED.len()],
}

/// Blocks, and the mean logarithm of each value that ratios are of.
struct Pool {
    blocks: Vec<KnownBlock>,
    mean_logs: [f64; N_RATIOS],
}

impl Pool {
    fn of(host: Host) -> Self {
        let mut random = Random::new(whole(host.slowed * 1e6) + u64::from(host.n_responses));
        let step = step(vec![(0..POOL).map(|_| block(host, &mut random)).collect()]);
        let observed = observed::of_step(&step);
        let known = |(at, slice): (usize, &Slice)| {
            let known = observed[0].slice(at).unwrap();
            let times = known.times.as_ref().unwrap();
            let (windows, response_times) = (Windows::default(), Vec::new());
            KnownBlock {
                slice: Slice { windows, response_times, ..slice.clone() },
                steady_rate: known.steady_rate.unwrap(),
                n_responses: times.n,
                percentiles_ns: times.percentiles_ns,
            }
        };
        let blocks: Vec<KnownBlock> =
            step.systems[0].slices.iter().enumerate().map(known).collect();
        let mut mean_logs = [0.0; N_RATIOS];
        for block in &blocks {
            let slice = &block.slice;
            let cpu_ns = slice.usage.server.unwrap().cpu_total_ns as f64;
            let cpu = cpu_ns / slice.n_operations as f64;
            let values = [slice.figure(), cpu, block.steady_rate].into_iter();
            for (sum, value) in mean_logs.iter_mut().zip(values.chain(block.percentiles_ns)) {
                *sum += value.ln() / blocks.len() as f64;
            }
        }
        Self { blocks, mean_logs }
    }

    /// `n` of the blocks, each drawn from all.
    fn draw(&self, n: usize, random: &mut Random) -> (Vec<Slice>, OfSystem) {
        let (mut slices, mut observed) = (Vec::new(), Vec::new());
        for idx in (0..).take(n) {
            let own = &self.blocks[random.position(self.blocks.len())];
            slices.push(Slice { idx, ..own.slice.clone() });
            let (n, percentiles_ns) = (own.n_responses, own.percentiles_ns);
            let times = Some(BlockTimes { n, percentiles_ns });
            observed.push(OfSlice { steady_rate: Some(own.steady_rate), times });
        }
        (slices, OfSystem::of_slices(observed))
    }
}

/// Shares of simulated runs of `n` blocks in which each ratio's interval holds what is true.
fn covered(n: usize, base: &Pool, candidate: &Pool) -> [f64; N_RATIOS] {
    let mut random = Random::new(n as u64 * 1000 + 17);
    let mut n_covered = [0_u32; N_RATIOS];
    for _ in 0..RUNS {
        let (base_slices, of_base) = base.draw(n, &mut random);
        let (slices, of_candidate) = candidate.draw(n, &mut random);
        let step = step(vec![base_slices, slices]);
        let observed = [of_base, of_candidate];
        let pair =
            Pair::of(&step, &observed, SystemPair { base: 0, candidate: 1 }, Measured::Interleaved)
                .unwrap();
        let ratios = Ratios::of(&pair, pair.rqps().unwrap());
        let found = Comparison::of(ratios, &Judgement::default());
        let first = [Some(found.rqps), found.server_cpu, found.steady].into_iter();
        let all = first.chain(found.responses.iter().map(|ratio| ratio.judged));
        let logs = base.mean_logs.iter().zip(candidate.mean_logs);
        let truths = logs.map(|(base, candidate)| candidate - base);
        for ((n, judged), truth) in n_covered.iter_mut().zip(all).zip(truths) {
            let (low, high) = judged.unwrap().estimate().interval.unwrap();
            *n += u32::from(low.ln() <= truth && truth <= high.ln());
        }
    }
    n_covered.map(|n| f64::from(n) / f64::from(RUNS))
}

#[test]
fn coverage_of_the_ratios_beside_rqps() {
    let host = |slowed| Pool::of(Host { slowed, n_responses: 2000 });
    let (calm, some, many) = (host(0.0), host(0.1), host(0.3));
    let few = Pool::of(Host { slowed: 0.1, n_responses: 1000 });
    let cases = [
        ("calm host", &calm, &calm),
        ("one window in ten slowed, on both", &some, &some),
        ("the same, 1000 responses a block", &few, &few),
        ("three in ten, on both", &many, &many),
        ("three in ten, on the candidate alone", &calm, &many),
    ];
    let mut rows = Vec::new();
    for (name, base, candidate) in cases {
        for n in [8, 12, 20] {
            let shares = covered(n, base, candidate);
            // Where one side alone has a tail that begins about there, p95 falls before or into it.
            let least =
                |of: usize| if of == P95 && !std::ptr::eq(base, candidate) { 0.79 } else { 0.93 };
            let all_hold = shares.iter().enumerate().all(|(of, share)| *share >= least(of));
            assert!(all_hold, "{name}, {n}: {shares:?}");
            rows.push(format!("| {name} | {n} | {} |", shares.map(percent).join(" | ")));
        }
    }
    assert_documented(&rows);
}

/// Blocks of one load of two equal servers: `n_starts` starts of four blocks, whose logs have the standard deviation 1%, as
/// the starts and the load have.
fn load_of_starts(load: u32, n_starts: u32, random: &mut Random) -> [Vec<Slice>; 2] {
    let of_load = 0.01 * random.normal();
    let (mut base, mut candidate) = (Vec::new(), Vec::new());
    for start in load * n_starts..(load + 1) * n_starts {
        let of_start = of_load + 0.01 * random.normal();
        for idx in 0..4 {
            let log = of_start + 0.01 * random.normal();
            base.push(Slice { start, load, ..bare(idx, 1_000_000) });
            candidate.push(Slice { start, load, ..bare(idx, whole(1e6 * log.exp())) });
        }
    }
    [base, candidate]
}

#[test]
fn starts_on_the_same_tables_share_what_the_tables_are() {
    let mut random = Random::new(38);
    let mut n_covered = 0;
    for _ in 0..RUNS {
        let loads: Vec<[Vec<Slice>; 2]> =
            (0..4).map(|load| load_of_starts(load, 4, &mut random)).collect();
        let of_system =
            |idx: usize| loads.iter().flat_map(|load| load[idx].iter().cloned()).collect();
        let step = step(vec![of_system(0), of_system(1)]);
        let observed = [OfSystem::of_slices(Vec::new()), OfSystem::of_slices(Vec::new())];
        let systems = SystemPair { base: 0, candidate: 1 };
        let prior = StartPrior { sd: 0.012, df: 4.0 };
        let pair = Pair::of(&step, &observed, systems, Measured::Interleaved).unwrap();
        let pair = pair.assuming(Some(StartPriors { of_one: prior, of_several: prior }));
        let found = pair.rqps().unwrap();
        assert_eq!((found.starts, pair.sides().starts.len()), (4, 4));
        let (low, high) = found.tested.estimate.interval.unwrap();
        n_covered += u32::from(low <= 1.0 && 1.0 <= high);
    }
    // As sixteen starts they would hold it in 82%.
    assert!(f64::from(n_covered) >= 0.93 * f64::from(RUNS), "{n_covered} of {RUNS}");
}

#[test]
fn a_start_without_partners_is_no_observation() {
    let mut random = Random::new(7);
    let starts: Vec<[Vec<Slice>; 2]> =
        (0..2).map(|start| load_of_starts(start, 1, &mut random)).collect();
    let side = |idx: usize| -> Vec<Slice> {
        let slices = starts.iter().flat_map(|of| of[idx].iter().cloned());
        slices.map(|slice| Slice { load: 0, ..slice }).collect()
    };
    let (base, mut candidate) = (side(0), side(1));
    // The second start of the candidate was measured at another time.
    candidate.iter_mut().filter(|s| s.start == 1).for_each(|s| s.start_unix_ms = 9);
    let step = step(vec![base, candidate]);
    let observed = [OfSystem::of_slices(Vec::new()), OfSystem::of_slices(Vec::new())];
    let systems = SystemPair { base: 0, candidate: 1 };
    let of = |sd: f64| StartPrior { sd, df: 4.0 };
    let priors = StartPriors { of_one: of(0.035), of_several: of(0.015) };
    let pair = Pair::of(&step, &observed, systems, Measured::Interleaved).unwrap();
    let found = pair.assuming(Some(priors)).rqps().unwrap();
    assert_eq!((found.starts, found.prior), (1, Some(of(0.035))));
    let (low, high) = found.tested.estimate.interval.unwrap();
    assert!(high / low > 1.18, "{low} {high}");
}

/// Share of the CPU time that was wanted and is not had in disturbed blocks: anything between.
type Denied = (f64, f64);

/// The mean logarithm of what is left: of u = 1 - share, uniform, the integral of ln u is u ln u - u.
fn mean_log((least, most): Denied) -> f64 {
    let integral = |u: f64| u * u.ln() - u;
    (integral(1.0 - least) - integral(1.0 - most)) / (most - least)
}

/// Blocks with noise of 3%, those that are hit slower by what they are denied.
fn side(
    n: usize,
    is_hit: impl Fn(usize) -> bool,
    (least, most): Denied,
    random: &mut Random,
) -> Vec<Slice> {
    const BUSY_NS: f64 = 1.8e9;
    let mut slices = Vec::new();
    for (idx, at) in (0..).zip(0..n) {
        let quiet = 20_000.0 * (0.03 * random.normal()).exp();
        if !is_hit(at) {
            slices.push(bare(idx, whole(quiet)));
            continue;
        }
        let denied = least + (most - least) * random.uniform();
        let host = HostCounters {
            n_cpus: 2,
            cpu_user_ns: whole(BUSY_NS),
            cpu_steal_ns: whole(BUSY_NS * denied / (1.0 - denied)),
            ..HostCounters::default()
        };
        let usage = Usage { host, ..Usage::default() };
        slices.push(Slice { usage, ..bare(idx, whole(quiet * (1.0 - denied))) });
    }
    slices
}

/// What intervals of simulated runs say.
#[derive(Default)]
struct Tally {
    n_covered: u32,
    n_called: u32,
    half_widths_pct: Vec<f64>,
}

impl Tally {
    fn add(&mut self, found: &Estimate, truth: f64) {
        let (low, high) = found.interval.unwrap();
        self.n_covered += u32::from(low <= truth && truth <= high);
        let called = verdict(found, DEFAULT_BOUND);
        self.n_called += u32::from(matches!(called, Verdict::Slower | Verdict::Faster));
        self.half_widths_pct.push(50.0 * (high.ln() - low.ln()));
    }

    fn covered(&self) -> f64 {
        f64::from(self.n_covered) / f64::from(RUNS_OF_RULE)
    }

    fn called(&self) -> f64 {
        f64::from(self.n_called) / f64::from(RUNS_OF_RULE)
    }

    /// The median.
    fn half_width_pct(&self) -> f64 {
        let mut sorted = self.half_widths_pct.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    fn cells(&self) -> String {
        let (covered, called) = (percent(self.covered()), percent(self.called()));
        format!("{covered} | {:.1}% | {called}", self.half_width_pct())
    }
}

/// Runs of `n` blocks of which `n_hit`, one after the other, are disturbed: without the rule, with it, and the share
/// in which it leaves any out.
fn judged(n: usize, n_hit: usize, denied: [Denied; 2]) -> (Tally, Tally, f64) {
    let mut random = Random::new(n as u64 * 1000 + n_hit as u64);
    let logs = mean_log(denied[1]) - mean_log(denied[0]);
    let truth = (logs * n_hit as f64 / n as f64).exp();
    let (mut without, mut with) = (Tally::default(), Tally::default());
    let mut n_left_out = 0;
    for _ in 0..RUNS_OF_RULE {
        let first = random.position(n);
        let is_hit = |at: usize| (at + n - first) % n < n_hit;
        let systems = denied.map(|denied| side(n, is_hit, denied, &mut random));
        let step = step(systems.into());
        let [base, candidate] = [0, 1].map(|idx: usize| -> Vec<f64> {
            step.systems[idx].slices.iter().map(Slice::figure).collect()
        });
        without.add(&paired_ratio(&base, &candidate).unwrap(), truth);
        let observed = [OfSystem::of_slices(Vec::new()), OfSystem::of_slices(Vec::new())];
        let pair =
            Pair::of(&step, &observed, SystemPair { base: 0, candidate: 1 }, Measured::Interleaved)
                .unwrap();
        with.add(&pair.rqps().unwrap().tested.estimate, truth);
        n_left_out += u32::from(!pair.left_out_blocks().is_empty());
    }
    (without, with, f64::from(n_left_out) / f64::from(RUNS_OF_RULE))
}

#[test]
fn what_leaving_blocks_out_does() {
    const ALIKE: [Denied; 2] = [(0.1, 0.6), (0.1, 0.6)];
    const UNLIKE: [Denied; 2] = [(0.1, 0.6), (0.25, 0.75)];
    let mut rows = Vec::new();
    for (name, denied, is_alike) in
        [("both suffer alike", ALIKE, true), ("the candidate suffers more", UNLIKE, false)]
    {
        for (n, n_hit) in [(12, 2), (12, 3), (20, 2), (20, 5), (40, 4), (40, 10)] {
            let (without, with, left_out) = judged(n, n_hit, denied);
            let told = format!("{name}, {n_hit} of {n}: {} and {}", without.cells(), with.cells());
            if is_alike {
                assert!(with.covered() > 0.9, "{told}");
                assert!(with.called() <= without.called() + 0.02, "{told}");
                // Where most of what is disturbed stays, it is no narrower.
                let most = if n_hit * 5 <= n { 1.0 } else { 1.1 };
                assert!(with.half_width_pct() <= most * without.half_width_pct(), "{told}");
                assert!(left_out > 0.3, "{told}, in {left_out}");
            }
            rows.push(format!(
                "| {name} | {n_hit} of {n} | {} | {} | {} |",
                without.cells(),
                percent(left_out),
                with.cells()
            ));
        }
    }
    assert_documented(&rows);
}
