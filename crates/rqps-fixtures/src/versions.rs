//! Runs over days and versions, for histories.

use rqps_model::{
    COMMIT, COMMIT_SUBJECT, COMMIT_TIME, COMMITS_AFTER_BASE, Dbms, Group, Host, Label, Placement,
    Run, RunStep, RunSystem, Schedule, SourceBuild, SourceOrigin, StepKind, SystemSource,
    WarningKind,
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

/// Runs of `rqps track`: the pinned commit, the one that was measured last, and the newest. 8% of point-query was lost
/// after the seventh commit, by the nineteenth.
#[must_use]
pub fn commits() -> Vec<Run> {
    let nights = [(None, 2), (Some(2), 7), (Some(7), 19), (Some(19), 20)];
    nights
        .iter()
        .zip(0..)
        .map(|(&(last, new), day)| {
            let places = [Some(0), last, Some(new)];
            let systems = places.iter().flatten().map(|&place| commit(place)).collect();
            let host = 1.0 - 0.03 * f64::from(u8::try_from(day).unwrap());
            let qps = |&place: &u32| 20_000.0 * host * if place > 7 { 0.92 } else { 1.0 };
            let point: Vec<f64> = places.iter().flatten().map(qps).collect();
            run(day, systems, &[("point-query", &point)])
        })
        .collect()
}

/// A system of a commit that is so many after the pinned one.
fn commit(place: u32) -> RunSystem {
    let mut system = system(Dbms::Postgres, "17.4");
    let hash = format!("{place:02x}").repeat(20);
    let origin = SourceOrigin::Commit {
        repo: "/src/postgres".into(),
        revision: hash.clone(),
        hash: Some(hash.clone()),
    };
    system.spec.source = SystemSource::Built(SourceBuild::of(origin));
    system.spec.label = Label(format!("commit-{place}"));
    let mut facts = vec![
        (COMMIT, hash),
        (COMMIT_SUBJECT, format!("Change number {place}")),
        // Clocks of committers: the seventh commit's went wrong.
        (COMMIT_TIME, format!("2026-11-{:02}T08:00:00Z", if place == 7 { 28 } else { 1 + place })),
    ];
    if place > 0 {
        facts.push((COMMITS_AFTER_BASE, place.to_string()));
    }
    system.build = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    system
}

/// The runs of [`versions`], with one of another host before them, other kernels, a sequential run and warnings.
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
