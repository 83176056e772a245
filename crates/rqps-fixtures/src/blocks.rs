//! Runs in turns made by hand: blocks whose ratios are as wanted, on one start of the servers or more.

use rqps_model::run::SystemStep;
use rqps_model::{Dbms, Group, Placement, Run, RunStep, Schedule, Slice, StepKind};

use crate::{Draw, Shape, done, info, system};

/// Operations per second of the base.
pub const QPS: f64 = 10_000.0;

/// Seconds of a block.
const SECONDS: u64 = 2;

/// One step: its name and kind, and the log ratio candidate / base of each of its blocks.
#[derive(Debug)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: StepKind,
    /// Per block.
    pub logs: Vec<f64>,
}

/// A step that reads.
#[must_use]
pub fn reads(name: &str, logs: &[f64]) -> Wanted {
    Wanted { name: name.to_owned(), kind: StepKind::Read, logs: logs.to_vec() }
}

/// `n` log ratios that lie by turns `spread` above and below `middle`.
#[must_use]
pub fn around(middle: f64, spread: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| if i % 2 == 0 { middle + spread } else { middle - spread }).collect()
}

/// A run of two systems with these steps on each of the starts given.
#[must_use]
pub fn run(starts: &[Vec<Wanted>]) -> Run {
    let systems = vec![system(Dbms::Mariadb, "10.11.5"), system(Dbms::Mariadb, "11.4.5")];
    let mut steps = Vec::new();
    for (start, wanted) in starts.iter().enumerate() {
        steps.extend(wanted.iter().map(|wanted| step(u32::try_from(start).unwrap(), wanted)));
    }
    let mut run = crate::run(systems, steps);
    run.schedule = Schedule::interleaved(100, 6);
    run
}

/// The same run of systems without a server: no start of one widens its intervals.
#[must_use]
pub fn without_servers(mut run: Run) -> Run {
    for system in &mut run.systems {
        system.spec.dbms = Dbms::Null;
    }
    run
}

fn step(start: u32, wanted: &Wanted) -> RunStep {
    let group = if wanted.kind == StepKind::Read { Group::Point } else { Group::Write };
    let mut draw = Draw(u64::from(start) * 1000 + wanted.name.len() as u64);
    let base = vec![0.0; wanted.logs.len()];
    let mut side = |logs: &[f64]| -> SystemStep {
        let blocks = logs.iter().zip(0_u32..).map(|(log, idx)| block(idx, *log, &mut draw));
        done(blocks.collect())
    };
    let systems = vec![side(&base), side(&wanted.logs)];
    let info = info(&wanted.name, wanted.kind, group);
    RunStep { info, clients: 1, placement: Placement::Paired, start, systems }
}

fn block(idx: u32, log: f64, draw: &mut Draw) -> Slice {
    let shape = Shape {
        qps: QPS * log.exp(),
        noise: 0.0,
        seconds: SECONDS,
        server_us: 20.0 / log.exp(),
        written_kb: 0.0,
    };
    Slice { n_rounds: Some(20), ..crate::slice(idx, shape, draw) }
}
