//! How noisy this host is: the same system under two labels, measured in each placement, with slices
//! of several lengths, and one side after the other for contrast.

mod bench;
mod disturbed;
mod judge;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rqps_model::calibration::{Best, CalibratedStarts, Floor, Power, Trial};
use rqps_model::{Calibration, Placement, SystemSource};
use rqps_store::unix_ms;

use crate::Plan;
use crate::environment::Environment;
use crate::event::{Event, Listener};
use crate::plan::seed::mix;
use crate::plan::{descriptors, placement};
use crate::system::leftover;
use bench::{Bench, Sides, Way};
use judge::StartSd;

pub use disturbed::disturbed;

/// Lengths of slices that are tried, milliseconds.
const SLICES_MS: [u32; 3] = [20, 50, 100];

/// Placements that are tried; the second half of them needs two CPUs.
const PLACEMENTS: [Placement; 3] = [Placement::Paired, Placement::Free, Placement::Split];

/// How much longer than a trial the best ways are measured.
const FLOOR_TIMES: f64 = 2.0;

/// Starts of the servers whose spread is measured.
const STARTS: u32 = 6;

/// How much longer than a trial a step is measured on each of those.
const START_TIMES: f64 = 0.5;

/// Injected slowdowns that are looked for, percent; none as well, to see how often something is found there.
const SLOWDOWNS_PCT: [u32; 4] = [0, 2, 5, 10];

/// What a calibration measures.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// Measured time of each trial on each side.
    pub time: Duration,
    /// Measurements for each injected slowdown; 0 for none.
    pub n_looks: u32,
}

/// The steps of a calibration: one that reads and one that writes.
pub const STEPS: [&str; 2] = ["point-query", "update-index"];

/// Calibrates this host. The plan has the same system under two labels, and a suite with the steps of
/// [`STEPS`] for each number of clients. Nothing is stored.
///
/// # Errors
/// Whatever keeps the servers from being started or measured, and the user's interrupt.
pub fn calibrate(
    plan: &Plan,
    wish: Wish,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<Calibration> {
    let has_server = plan.systems.iter().all(|system| system.source != SystemSource::Builtin);
    ensure!(
        has_server || wish.n_looks == 0,
        "the null client has no server to slow down; leave out --power, or name DBMS@VERSION"
    );
    descriptors::check(plan)?;
    leftover::sweep_strays(environment, listen);
    let host = rqps_sample::host_info(&environment.results).context("describe this host")?;
    let cpus = placement::usable_cpus()?;
    let mut bench = Bench::start(plan, &cpus, environment, listen)?;
    let mut found = match with_bench(&mut bench, wish, listen) {
        Ok(found) => found,
        Err(error) => return Err(bench.fail(error)),
    };
    (found.host, found.system) = (host, bench.system());
    bench.end(listen)?;
    found.rqps_version.clone_from(&environment.rqps_version);
    Ok(found)
}

fn with_bench(bench: &mut Bench<'_>, wish: Wish, listen: &mut Listener<'_>) -> Result<Calibration> {
    let trials = try_all(bench, wish, listen)?;
    let clients = bench.clients();
    let (best, slice_ms) = judge::best(&trials, &clients);
    let narrowest = judge::narrowest(&trials);
    let mut floors = Vec::new();
    for step in STEPS {
        for best in &best {
            let time = wish.time.mul_f64(FLOOR_TIMES);
            let way = Way { clients: best.clients, placement: best.placement, time };
            tell(listen, &format!("noise of {step}, {}", described(&way, Some(slice_ms))));
            let sides = bench.interleaved(step, way, slice_ms, listen)?;
            let Some(ratio) = judge::average(&sides) else { continue };
            let (step, seconds) = (step.to_owned(), time.as_secs_f64());
            floors.push(Floor { step, clients: best.clients, seconds, ratio });
        }
    }
    let starts = starts(bench, wish, slice_ms, &best, listen)?;
    let mut power = Vec::new();
    if wish.n_looks > 0
        && let Some(best) = best.last()
    {
        let way = Way { clients: best.clients, placement: best.placement, time: wish.time };
        for step in STEPS {
            for percent in SLOWDOWNS_PCT {
                let hidden = Hidden { step, way, slice_ms, percent, n_looks: wish.n_looks };
                power.extend(look_for(bench, hidden, listen)?);
            }
        }
    }
    Ok(Calibration {
        made_unix_ms: unix_ms(),
        rqps_version: String::new(),
        host: rqps_model::Host::default(),
        system: String::new(),
        seconds: wish.time.as_secs_f64(),
        trials,
        best,
        slice_ms,
        floors,
        starts,
        power,
        n_slices: bench.disturbed().n_slices,
        disturbances: bench.disturbed().all.clone(),
        narrowest,
    })
}

/// Tries every way, in an order that is drawn: what the host does meanwhile is nothing of a way's own.
fn try_all(bench: &mut Bench<'_>, wish: Wish, listen: &mut Listener<'_>) -> Result<Vec<Trial>> {
    let n_placements = if bench.n_cpus() < 2 { 2 } else { PLACEMENTS.len() };
    let mut ways = Vec::new();
    for clients in bench.clients() {
        for &placement in &PLACEMENTS[..n_placements] {
            let way = Way { clients, placement, time: wish.time };
            ways.extend(SLICES_MS.map(Some).into_iter().chain([None]).map(|ms| (way, ms)));
        }
    }
    let n = ways.len();
    let mut trials: Vec<Option<Trial>> = vec![None; n];
    for (nth, at) in (1..).zip(bench.drawn_order(n)) {
        let (way, slice_ms) = ways[at];
        tell(listen, &format!("trial {nth} of {n}: {}", described(&way, slice_ms)));
        let sides = match slice_ms {
            Some(slice_ms) => bench.interleaved(STEPS[0], way, slice_ms, listen)?,
            None => bench.one_by_one(STEPS[0], way, listen)?,
        };
        trials[at] = Some(judge::trial(way, slice_ms, &sides));
    }
    Ok(trials.into_iter().flatten().collect())
}

/// How far starts of the servers differ on each step, with the most clients.
fn starts(
    bench: &mut Bench<'_>,
    wish: Wish,
    slice_ms: u32,
    best: &[Best],
    listen: &mut Listener<'_>,
) -> Result<Vec<CalibratedStarts>> {
    let Some(best) = best.last().filter(|_| bench.has_servers()) else { return Ok(Vec::new()) };
    let time = wish.time.mul_f64(START_TIMES);
    let way = Way { clients: best.clients, placement: best.placement, time };
    let mut sides: [Vec<Sides>; STEPS.len()] = Default::default();
    for nth in 1..=STARTS {
        bench.restart(listen)?;
        tell(listen, &format!("start {nth} of {STARTS}, {}", described(&way, Some(slice_ms))));
        for (step, sides) in STEPS.into_iter().zip(&mut sides) {
            sides.push(bench.interleaved(step, way, slice_ms, listen)?);
        }
    }
    let mut found = Vec::new();
    for (step, sides) in STEPS.into_iter().zip(sides) {
        let spread = judge::start_sd(&sides).zip(bench.describe(step));
        found.extend(spread.map(|(StartSd { n_starts, sd }, (dbms, kind))| CalibratedStarts {
            dbms,
            step: step.to_owned(),
            kind,
            n_starts,
            sd,
        }));
    }
    Ok(found)
}

/// An injected slowdown that is looked for.
#[derive(Clone, Copy)]
struct Hidden<'a> {
    step: &'a str,
    way: Way,
    slice_ms: u32,
    /// The injected slowdown.
    percent: u32,
    n_looks: u32,
}

/// Measures with an injected slowdown of the second side, over and over.
fn look_for(
    bench: &mut Bench<'_>,
    hidden: Hidden<'_>,
    listen: &mut Listener<'_>,
) -> Result<Option<Power>> {
    let Hidden { step, way, slice_ms, percent, n_looks } = hidden;
    let mut looks = Vec::new();
    bench.slow_down(percent * 100);
    for nth in 1..=n_looks {
        let doing = format!("injected slowdown {percent}% on {step}, {nth} of {n_looks}");
        tell(listen, &format!("{doing}, {}", described(&way, Some(slice_ms))));
        looks.push(bench.interleaved(step, way, slice_ms, listen)?);
    }
    bench.slow_down(0);
    let hidden = judge::HiddenSlowdown { step, clients: way.clients, percent };
    Ok(judge::power(&hidden, &looks))
}

fn described(way: &Way, slice_ms: Option<u32>) -> String {
    let Way { clients, placement, .. } = way;
    let clients = if *clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
    match slice_ms {
        Some(ms) => format!("{clients}, {placement}, slices of {ms} ms"),
        None => format!("{clients}, {placement}, sequential"),
    }
}

fn tell(listen: &mut Listener<'_>, sentence: &str) {
    listen(Event::Note(sentence));
}

/// A seed for the `n`th measurement of a calibration.
fn seed(plan: &Plan, environment: &Environment, n: u64) -> u64 {
    mix(plan.seed.unwrap_or(environment.drawn_seed), n)
}
