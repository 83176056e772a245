//! Runs made by hand, for tests alone: deterministic, with every outcome and warning that reports must show.

#![expect(clippy::unwrap_used, reason = "fixtures are test code outside of test functions")]

pub mod blocks;
pub mod causes;
pub mod hostile;
pub mod inserts;
pub mod many;
pub mod plans;
pub mod several;
pub mod stacks;
pub mod versions;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use rqps_model::run::SystemStep;
use rqps_model::{
    Dbms, Engine, ErrorCount, Figure, Group, Host, HostCounters, Label, Placement, ProcessCounters,
    Run, RunStatus, RunStep, RunSystem, Schedule, SeriesPoint, Sizes, Slice, StepInfo, StepKind,
    StepOutcome, StorageCounters, SystemSource, SystemSpec, Transport, Usage, Variant, Waits,
    WarningKind, Windows,
};

const START_MS: i64 = 1_795_293_015_000;

/// A small generator, so that fixtures are the same on every machine: Knuth's MMIX constants.
#[derive(Debug)]
pub struct Draw(pub u64);

impl Draw {
    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX)
    }
}

/// A value above 0, rounded.
#[must_use]
pub fn whole(value: f64) -> u64 {
    format!("{value:.0}").parse().unwrap()
}

/// What a slice is made to show.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Operations per second.
    pub qps: f64,
    /// Spread of the slices, share of the figure.
    pub noise: f64,
    /// Length of the slice.
    pub seconds: u64,
    /// CPU of the server per operation.
    pub server_us: f64,
    /// Kilobytes written per operation.
    pub written_kb: f64,
}

/// A slice of that shape.
#[must_use]
pub fn slice(idx: u32, shape: Shape, draw: &mut Draw) -> Slice {
    let qps = shape.qps * (1.0 + shape.noise * (draw.unit() - 0.5) * 2.0);
    let n = whole(qps * shape.seconds as f64).max(1);
    let duration_ns = shape.seconds * 1_000_000_000;
    let per_s: Vec<f64> =
        (0..shape.seconds).map(|_| qps * (1.0 + 2.0 * shape.noise * (draw.unit() - 0.5))).collect();
    let point = |q: &f64| SeriesPoint {
        queries: u32::try_from(whole(*q)).unwrap(),
        events: u32::try_from(whole(*q)).unwrap(),
        errors: 0,
        sum_ns: 1_000_000_000,
        max_ns: 3_000_000,
    };
    let mut times = Histogram::<u64>::new(3).unwrap();
    for _ in 0..2000 {
        let ns = 1e9 / qps * (0.8 + draw.unit() * 0.3 + draw.unit().powi(12) * 20.0);
        times.record(whole(ns)).unwrap();
    }
    let mut response_times = Vec::new();
    V2DeflateSerializer::new().serialize(&times, &mut response_times).unwrap();
    let cpu_noise = 1.0 + 0.01 * (draw.unit() - 0.5);
    let total = |us: f64| whole(us * cpu_noise * 1000.0 * n as f64);
    let process = |us: f64| ProcessCounters {
        cpu_user_ns: total(us * 0.7),
        cpu_system_ns: total(us * 0.3),
        cpu_total_ns: total(us),
        // Servers that need more CPU hold more memory here.
        rss_bytes: 400_000_000 + whole(us * 1e6),
        ..ProcessCounters::default()
    };
    Slice {
        idx,
        start: 0,
        load: 0,
        n_rounds: None,
        start_unix_ms: START_MS + i64::from(idx) * 30_000,
        duration_ns,
        seed: 7 + u64::from(idx),
        n_events: n,
        n_queries: n,
        n_operations: n,
        n_rows: n,
        errors: Vec::new(),
        lateness: None,
        windows: Windows {
            length_ns: 20_000_000,
            counts: (0..shape.seconds * 50)
                .map(|_| u32::try_from(whole(qps / 50.0 * (0.85 + 0.3 * draw.unit()))).unwrap())
                .collect(),
        },
        series: per_s.iter().map(point).collect(),
        response_times,
        usage: Usage {
            wall_ns: duration_ns,
            host: HostCounters {
                cpu_user_ns: total(shape.server_us * 0.7 + 2.0),
                cpu_system_ns: total(shape.server_us * 0.3 + 4.0),
                context_switches: n * 4,
                n_cpus: 2,
                ..HostCounters::default()
            },
            server: Some(process(shape.server_us)),
            client: process(6.0),
            storage: Some(StorageCounters {
                write_bytes: whole(shape.written_kb * 1024.0 * n as f64),
                ..StorageCounters::default()
            }),
            sampler_cpu_ns: 2_000_000,
            waits: Waits::default(),
        },
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: None,
        counters: BTreeMap::new(),
        stated: None,
    }
}

/// A system of the catalogue.
#[must_use]
pub fn system(dbms: Dbms, version: &str) -> RunSystem {
    let parsed = version.parse().unwrap();
    let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    RunSystem {
        spec: SystemSpec {
            label: Label::of(dbms, &parsed, None, "small"),
            dbms,
            source: SystemSource::Catalogue { version: parsed.clone(), build: None },
            engine: Engine::Innodb,
            config: "small".to_owned(),
            options: BTreeMap::new(),
            transport: Transport::Socket,
            variant: Variant::default(),
            is_null_arm: false,
        },
        version: Some(parsed),
        version_text: version.to_owned(),
        origin: format!("{dbms} {version}, sha256 0123456789abcdef"),
        settings: text(&[
            ("datadir", &format!("/data/{version}")),
            ("innodb_buffer_pool_size", "1073741824"),
            ("innodb_flush_method", "O_DIRECT"),
        ]),
        session: text(&[("transport", "socket"), ("tls", ""), ("character_set_client", "latin1")]),
        process: text(&[("malloc", "glibc 2.36")]),
        build: text(&[("source", "official"), ("compiled", "generic tarball"), ("debug", "off")]),
        origins: BTreeMap::new(),
    }
}

/// What a step is, by its name.
#[must_use]
pub fn info(name: &str, kind: StepKind, group: Group) -> StepInfo {
    StepInfo {
        name: name.to_owned(),
        family: name.split(['.', '_']).next().unwrap_or(name).to_owned(),
        n: name.split_once("range=").and_then(|(_, n)| n.parse().ok()),
        kind,
        group,
        figure: match kind {
            StepKind::Load => Figure::RowsInserted,
            _ if name.starts_with("scan") => Figure::RowsRead,
            _ => Figure::Queries,
        },
        what: format!("the statements of {name}"),
    }
}

/// The host of all runs.
#[must_use]
pub fn host() -> Host {
    Host {
        hostname: "bench1".to_owned(),
        kernel: "6.8.0-31-generic".to_owned(),
        os: "Ubuntu 24.04 LTS".to_owned(),
        cpu_model: "AMD Ryzen 7 7735HS".to_owned(),
        n_cpus: 8,
        memory_bytes: 32 << 30,
        virtual_machine: false,
        storage: "ext4 on /dev/nvme0n1".to_owned(),
        read_ahead_kb: Some(128),
    }
}

/// A finished run of these systems and steps.
#[must_use]
pub fn run(systems: Vec<RunSystem>, steps: Vec<RunStep>) -> Run {
    Run {
        id: "20261121-203015-demo".to_owned(),
        name: "mysql-5.6-to-8.0".to_owned(),
        status: RunStatus::Finished,
        started_unix_ms: START_MS,
        finished_unix_ms: Some(START_MS + 3_725_000),
        n_resumed: 0,
        rqps_version: "0.1.0".to_owned(),
        command_line: words("rqps run demo.toml --steps point-*"),
        plan: "name = \"mysql-5.6-to-8.0\"\nbase = \"my5614.small\"\n".to_owned(),
        seed: 42,
        schedule: Schedule::Sequential { slices: 3 },
        host: host(),
        calibration: None,
        warnings: Vec::new(),
        imported: None,
        base: 0,
        systems,
        steps,
    }
}

/// A finished step on a system.
#[must_use]
pub fn done(slices: Vec<Slice>) -> SystemStep {
    let sizes = Sizes {
        database_bytes: Some(256 << 20),
        data_dir_bytes: Some(1400 << 20),
        redo_bytes: Some(1 << 30),
        binlog_bytes: Some(48 << 20),
    };
    SystemStep { outcome: StepOutcome::Done, slices, sizes, ..SystemStep::pending() }
}

/// One step: per system its QPS as a share of `qps` and its server CPU as a multiple of `us`.
#[must_use]
pub fn step(info: StepInfo, qps: f64, us: f64, ratios: &[(f64, f64)]) -> RunStep {
    let mut draw = Draw(whole(qps) ^ info.name.len() as u64);
    let written_kb = if info.group == Group::Write { 12.5 } else { 0.0 };
    let grown = if info.group == Group::Write { 64 << 20 } else { 0 };
    let systems = ratios
        .iter()
        .zip(0_u64..)
        .map(|((of_qps, of_cpu), nth)| {
            let shape = Shape {
                qps: qps * of_qps,
                noise: 0.015,
                seconds: 10,
                server_us: us * of_cpu,
                written_kb,
            };
            let mut state = done((0..3).map(|idx| slice(idx, shape, &mut draw)).collect());
            // Later systems pack their rows worse and grow faster.
            for part in [&mut state.sizes.database_bytes, &mut state.sizes.data_dir_bytes] {
                *part = part.map(|bytes| bytes + nth * (20 << 20) + (1 + nth) * grown);
            }
            state
        })
        .collect();
    RunStep { info, clients: 1, placement: Placement::Paired, start: 0, systems }
}

/// Three systems and the steps that show everything: losses, gains, noise, marks, a failure, a step
/// that was not reached.
#[must_use]
pub fn demo() -> Run {
    let mut systems = vec![
        system(Dbms::Mysql, "5.6.14"),
        system(Dbms::Mysql, "8.0.33"),
        system(Dbms::Mariadb, "11.4.5"),
    ];
    systems[2].spec.options.insert("innodb_flush_method".to_owned(), "fsync".to_owned());
    systems[2].settings.insert("innodb_flush_method".to_owned(), "fsync".to_owned());
    systems[1].settings.insert("innodb_dedicated_server".to_owned(), "OFF".to_owned());
    systems[1].session.insert("character_set_client".to_owned(), "utf8mb4".to_owned());
    let (read, write) = (StepKind::Read, StepKind::Write);
    let all = |a: f64, b: f64| [(1.0, 1.0), (a, 1.0 / a), (b, 1.0 / b)];
    let mut steps = vec![
        step(info("load", StepKind::Load, Group::Other), 152_000.0, 5.0, &all(0.61, 0.93)),
        step(
            info("point-query.warm", StepKind::WarmUp, Group::Other),
            24_000.0,
            20.0,
            &all(0.7, 0.9),
        ),
        step(info("point-query.pre", read, Group::Point), 24_575.0, 21.0, &all(0.68, 0.91)),
        step(
            info("random-points.pre_range=100", read, Group::Point),
            1_590.0,
            540.0,
            &all(0.82, 1.0),
        ),
        step(info("range-covered-pk.pre", read, Group::Range), 9_170.0, 88.0, &all(0.71, 0.97)),
        step(info("scan", read, Group::Range), 3_875_000.0, 0.2, &all(0.89, 1.21)),
        step(
            info("read-only_range=10000", read, Group::RangeAggregate),
            298.0,
            3100.0,
            &all(1.42, 1.2),
        ),
        step(info("update-index", write, Group::Write), 3_875.0, 170.0, &all(0.87, 1.16)),
        step(info("update-inlist", write, Group::Write), 5_865.0, 150.0, &all(0.75, 1.0)),
        step(info("insert", StepKind::Insert, Group::Write), 12_725.0, 60.0, &all(0.66, 0.8)),
    ];
    mark(&mut steps);
    let mut run = run(systems, steps);
    run.n_resumed = 1;
    run
}

fn mark(steps: &mut [RunStep]) {
    let at =
        |steps: &mut [RunStep], name: &str| steps.iter().position(|s| s.info.name == name).unwrap();
    let points = at(steps, "random-points.pre_range=100");
    let mut draw = Draw(99);
    let noisy = Shape { qps: 1500.0, noise: 0.3, seconds: 10, server_us: 560.0, written_kb: 0.0 };
    steps[points].systems[2] = done((0..3).map(|i| slice(i, noisy, &mut draw)).collect());
    let scan = at(steps, "scan");
    for slice in &mut steps[scan].systems[1].slices {
        slice.warnings.push(WarningKind::ClientBound { pct: 96 });
        slice.usage.server = None;
    }
    for slice in &mut steps[scan].systems[0].slices {
        slice.warnings.push(WarningKind::ClientBound { pct: 94 });
        slice.usage.storage = None;
    }
    let index = at(steps, "update-index");
    let slice = &mut steps[index].systems[1].slices[1];
    slice.errors = vec![
        ErrorCount { code: "1213".to_owned(), n: 11 },
        ErrorCount { code: "1205".to_owned(), n: 1 },
    ];
    slice.warnings.push(WarningKind::Errors { n: 12, by_code: Vec::new() });
    let left = "history list length 120000".to_owned();
    steps[index].systems[2].slices[0].warnings.push(WarningKind::NotSettled { left });
    for point in steps[index].systems[0].slices.iter_mut().flat_map(|s| &mut s.series[5..]) {
        point.queries -= point.queries / 5;
    }
    let inlist = at(steps, "update-inlist");
    steps[inlist].systems[1].slices.truncate(1);
    let insert = at(steps, "insert");
    steps[insert].systems[1] = SystemStep {
        outcome: StepOutcome::Failed {
            reason: "the server ended while it was measured\nmysqld: signal 11\nin <main>"
                .to_owned(),
        },
        ..SystemStep::pending()
    };
    steps[insert].systems[2] = SystemStep::pending();
}

/// One candidate and three steps: small enough to read whole.
#[must_use]
pub fn pair() -> Run {
    let mut run = demo();
    run.systems.truncate(2);
    let kept = ["point-query.pre", "scan", "update-index", "insert"];
    run.steps.retain(|s| kept.contains(&s.info.name.as_str()));
    for step in &mut run.steps {
        step.systems.truncate(2);
    }
    run
}

/// The whole suite on five systems.
#[must_use]
pub fn large() -> Run {
    let mut run = suite();
    for version in ["18.1", "18.2", "18.3"] {
        run.systems.push(system(Dbms::Postgres, version));
    }
    for step in &mut run.steps {
        let like = step.systems[1].clone();
        step.systems.extend([like.clone(), like.clone(), like]);
    }
    run
}

/// The whole suite on two systems, three slices of a minute each: what a real report has to carry.
#[must_use]
pub fn suite() -> Run {
    let systems = vec![system(Dbms::Postgres, "17.4"), system(Dbms::Postgres, "18.0")];
    let families: [(&str, StepKind, Group); 8] = [
        ("point-query", StepKind::Read, Group::Point),
        ("random-points_range=100", StepKind::Read, Group::Point),
        ("range-covered-pk", StepKind::Read, Group::Range),
        ("range-notcovered-si", StepKind::Read, Group::Range),
        ("read-only_range=10000", StepKind::Read, Group::RangeAggregate),
        ("read-only-distinct", StepKind::Read, Group::RangeAggregate),
        ("update-index", StepKind::Write, Group::Write),
        ("read-write_range=10", StepKind::Write, Group::Write),
    ];
    let mut draw = Draw(5);
    let steps = (0..47)
        .map(|at| {
            let (name, kind, group) = families[at % families.len()];
            let info = info(&format!("{name}.{}", at / families.len() + 1), kind, group);
            let (qps, ratio) = (500.0 + 30_000.0 * draw.unit(), 0.75 + 0.4 * draw.unit());
            let systems = [1.0, ratio].map(|share| {
                let shape = Shape {
                    qps: qps * share,
                    noise: 0.004 + 0.02 * draw.unit(),
                    seconds: 60,
                    server_us: 1e6 / qps / share,
                    written_kb: 0.0,
                };
                done((0..3).map(|idx| slice(idx, shape, &mut draw)).collect())
            });
            RunStep {
                info,
                clients: 1,
                placement: Placement::Paired,
                start: 0,
                systems: systems.into(),
            }
        })
        .collect();
    run(systems, steps)
}

/// The words of a command that has no quotes.
#[must_use]
pub fn words(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

/// The histogram of so many responses of 90 µs and a little more.
#[must_use]
pub fn response_times(n: u64) -> Vec<u8> {
    let mut times = Histogram::<u64>::new(3).unwrap();
    (0..n).for_each(|i| times.record(90_000 + i).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&times, &mut bytes).unwrap();
    bytes
}
