//! Runs over days and versions, for histories.

use rqps_model::{
    Dbms, Group, Host, Placement, Run, RunStep, RunSystem, Schedule, StepKind, WarningKind,
};

use crate::{Draw, Shape, done, info, slice, system};

/// Length of a day, milliseconds.
pub const DAY_MS: i64 = 86_400_000;

/// The schedule of these runs.
pub const INTERLEAVED: Schedule = Schedule::interleaved(100, 6);

/// A step with a steady rate: slices spread by half a percent.
#[must_use]
pub fn steady(name: &str, qps: &[f64], seed: u64) -> RunStep {
    let mut draw = Draw(seed);
    let systems = qps
        .iter()
        .map(|&qps| {
            let shape =
                Shape { qps, noise: 0.005, seconds: 10, server_us: 1e6 / qps, written_kb: 0.0 };
            done((0..6).map(|idx| slice(idx, shape, &mut draw)).collect())
        })
        .collect();
    let info = info(name, StepKind::Read, Group::Point);
    RunStep { info, clients: 1, placement: Placement::Paired, start: 0, systems }
}

/// A run of systems on the day `day`; per step its name and the systems' QPS.
#[must_use]
pub fn run(day: i64, systems: Vec<RunSystem>, steps: &[(&str, &[f64])]) -> Run {
    let seed = day.unsigned_abs() + 11;
    let steps = steps.iter().map(|(name, qps)| steady(name, qps, seed)).collect();
    let mut run = crate::run(systems, steps);
    run.id = format!("202611{:02}-080000-nightly", day + 1);
    run.schedule = INTERLEAVED;
    run.started_unix_ms = 1_793_491_200_000 + (day + 1) * DAY_MS - DAY_MS / 3 * 2;
    run
}

/// A run per version against the same base, in another order than that of the versions; 10.11.5 lost
/// 8% of point-query.
#[must_use]
pub fn versions() -> Vec<Run> {
    ["10.11.5", "10.6.5", "11.4.5", "10.2.11", "10.11.4"]
        .iter()
        .zip(0..)
        .map(|(version, day)| {
            let systems = vec![system(Dbms::Mariadb, "10.1.23"), system(Dbms::Mariadb, version)];
            let lost = if ["10.11.5", "11.4.5"].contains(version) { 0.92 } else { 1.0 };
            // The host is slower every day, which the base shares.
            let host = 1.0 - 0.03 * f64::from(u8::try_from(day).unwrap());
            let point = [20_000.0 * host, 19_000.0 * host * lost];
            let scan = [4_000_000.0 * host, 4_100_000.0 * host];
            run(day, systems, &[("point-query", &point), ("scan", &scan)])
        })
        .collect()
}

/// The same with a run of another host before them, other kernels, a sequential run and warnings.
#[must_use]
pub fn versions_with_warnings() -> Vec<Run> {
    let mut runs = versions();
    let mut other = runs[0].clone();
    other.id = "20261101-070000-elsewhere".to_owned();
    other.started_unix_ms -= 1;
    other.host = Host { hostname: "bench2".to_owned(), ..crate::host() };
    runs.push(other);
    let left = "dirty pages".to_owned();
    runs[2].steps[1].systems[1].slices[0].warnings.push(WarningKind::NotSettled { left });
    runs[1].steps[1].systems[0].slices[0].warnings.push(WarningKind::Swapped { pages: 9 });
    for run in [0, 2] {
        runs[run].host.kernel = "6.5.0-14-generic".to_owned();
    }
    runs[1].schedule = Schedule::Sequential { slices: 6 };
    runs
}
