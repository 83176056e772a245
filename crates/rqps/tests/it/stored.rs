//! Runs made by hand and put into a store, so that what commands say of them depends on no clock.

use rqps_model::run::SystemStep;
use rqps_model::{
    Dbms, Figure, Group, Host, Label, Placement, Run, RunStatus, RunStep, RunSystem, Schedule,
    Slice, StepInfo, StepKind, StepOutcome, SystemSource, SystemSpec, Usage, Windows,
};
use rqps_store::Store;

use crate::bench::Bench;

const DAY_MS: i64 = 86_400_000;

/// Puts a run into the bench's store.
pub(crate) fn store(bench: &Bench, run: &Run) {
    Store::open(&bench.path("rqps-results")).unwrap().create_run(run).unwrap();
}

/// A finished run of PostgreSQL versions on a day of November 2026; per step its name and the systems'
/// queries per second, which spread by half a percent.
pub(crate) fn run(day: u32, versions: &[&str], steps: &[(&str, &[u32])]) -> Run {
    Run {
        calibration: None,
        warnings: Vec::new(),
        imported: None,
        id: format!("202611{day:02}-080000-nightly"),
        name: "nightly".to_owned(),
        status: RunStatus::Finished,
        started_unix_ms: 1_793_520_000_000 + i64::from(day - 1) * DAY_MS,
        finished_unix_ms: Some(1_793_520_060_000 + i64::from(day - 1) * DAY_MS),
        n_resumed: 0,
        rqps_version: "0.1.0".to_owned(),
        command_line: ["rqps", "run", "nightly.toml"].map(str::to_owned).to_vec(),
        plan: "name = 'nightly'\n[[suite]]\nrows = 1000\n".to_owned(),
        seed: 7,
        schedule: Schedule::Sequential { slices: 6 },
        host: Host { hostname: "bench1".to_owned(), n_cpus: 2, ..Host::default() },
        base: 0,
        systems: versions.iter().map(|version| system(version)).collect(),
        steps: steps.iter().map(|(name, qps)| step(name, qps)).collect(),
    }
}

fn system(version: &str) -> RunSystem {
    let parsed: rqps_model::Version = version.parse().unwrap();
    let label = Label::of(Dbms::Postgres, &parsed, None, "small");
    let source = SystemSource::Catalogue { version: parsed.clone(), build: None };
    RunSystem {
        version: Some(parsed),
        version_text: version.to_owned(),
        ..RunSystem::new(SystemSpec::new(label, Dbms::Postgres, source))
    }
}

fn step(name: &str, qps: &[u32]) -> RunStep {
    let info = StepInfo {
        name: name.to_owned(),
        family: name.to_owned(),
        n: None,
        kind: StepKind::Read,
        group: Group::Point,
        figure: Figure::Queries,
        what: format!("the statements of {name}"),
    };
    let system = |qps: &u32| SystemStep {
        outcome: StepOutcome::Done,
        slices: (0..6).map(|idx| slice(idx, *qps)).collect(),
        ..SystemStep::pending()
    };
    let systems = qps.iter().map(system).collect();
    RunStep { info, clients: 1, placement: Placement::Paired, start: 0, systems }
}

fn slice(idx: u32, qps: u32) -> Slice {
    // Up and down by half a percent.
    let qps = if idx.is_multiple_of(2) { qps + qps / 200 } else { qps - qps / 200 };
    let n = u64::from(qps) * 10;
    Slice {
        start: 0,
        load: 0,
        idx,
        n_rounds: None,
        start_unix_ms: 0,
        duration_ns: 10_000_000_000,
        seed: 7,
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
        counters: std::collections::BTreeMap::new(),
        stated: None,
    }
}
