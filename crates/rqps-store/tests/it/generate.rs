//! Runs with anything in them that can be measured, drawn from a seed.

use std::collections::BTreeMap;

use rqps_model::calibration::{CalibratedStarts, Floor};
use rqps_model::query_plan::{Access, Asked, Extra, Join, Path, PlanCounts, PlanKind};
use rqps_model::run::SystemStep;
use rqps_model::warning::{ChangedSetting, LastSlice, ServerFault, StopWay};
use rqps_model::*;

/// Splitmix64: small, and the same on every machine.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 1
    }

    /// A count of up to 63 bits, of any magnitude.
    fn count(&mut self) -> u64 {
        let shift = 1 + self.below(63);
        self.bits() >> shift
    }

    fn small(&mut self) -> u32 {
        let shift = 32 + self.below(32);
        u32::try_from(self.bits() >> shift).unwrap()
    }

    fn time(&mut self) -> i64 {
        i64::try_from(self.count()).unwrap() * if self.yes() { 1 } else { -1 }
    }

    fn text(&mut self) -> String {
        const PIECES: [&str; 8] =
            ["demo", " ", "'; DROP TABLE slice; --", "\"", "ü€\u{1F600}", "\n\t", "\\", "{}[]"];
        let n = self.below(4);
        (0..n).map(|_| *self.one(&PIECES)).collect()
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    fn some<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.yes().then(|| draw(self))
    }

    fn list<T>(&mut self, max: u64, mut draw: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let n = self.below(max + 1);
        (0..n).map(|_| draw(self)).collect()
    }

    fn map(&mut self) -> BTreeMap<String, String> {
        self.list(4, |d| (d.text(), d.text())).into_iter().collect()
    }
}

fn calibrated(d: &mut Draw) -> Calibrated {
    Calibrated {
        made_unix_ms: d.time(),
        host: Host { hostname: d.text(), kernel: d.text(), ..Host::default() },
        system: d.text(),
        seconds: f64::from(d.small()),
        // Few digits: readers of JSON round the others.
        apart: f64::from(d.small() % 1000) / 1024.0,
        visible: d.some(|d| f64::from(d.small() % 1000) / 1024.0),
        worst: d.some(|d| Floor {
            step: d.text(),
            clients: d.small(),
            seconds: f64::from(d.small()),
            ratio: Estimate { point: 1.0, interval: Some((0.5, 1.5)), n: 12 },
        }),
        false_alarms: d.some(|d| (d.small(), d.small())),
        starts: d.list(2, |d| CalibratedStarts {
            dbms: *d.one(&Dbms::ALL),
            step: d.text(),
            kind: *d.one(&[StepKind::Read, StepKind::Write]),
            n_starts: d.small(),
            sd: f64::from(d.small() % 1000) / 1024.0,
        }),
    }
}

pub(crate) fn run(d: &mut Draw) -> Run {
    let n_systems = 1 + d.below(3);
    let systems: Vec<_> = (0..n_systems).map(|i| system(d, i)).collect();
    Run {
        id: format!("{}-run", d.bits()),
        name: d.text(),
        status: *d.one(&[
            RunStatus::Running,
            RunStatus::Finished,
            RunStatus::Interrupted,
            RunStatus::Failed,
        ]),
        started_unix_ms: d.time(),
        finished_unix_ms: d.some(Draw::time),
        n_resumed: d.small(),
        rqps_version: d.text(),
        command_line: vec![d.text()],
        plan: d.text(),
        seed: d.bits(),
        schedule: if d.yes() {
            Schedule::Sequential { slices: d.small() }
        } else {
            Schedule::Interleaved {
                slice_ms: d.small(),
                slices: d.small(),
                budget_ms: d.some(Draw::small),
                half_width_bp: d.some(Draw::small),
            }
        },
        calibration: d.some(calibrated),
        imported: d.some(|d| Imported {
            tool: Tool::Mytools,
            source: d.text(),
            notes: d.list(2, Draw::text),
        }),
        host: Host {
            hostname: d.text(),
            kernel: d.text(),
            os: d.text(),
            cpu_model: d.text(),
            n_cpus: d.small(),
            memory_bytes: d.count(),
            virtual_machine: d.yes(),
            storage: d.text(),
            read_ahead_kb: d.some(Draw::small),
        },
        base: usize::try_from(d.below(n_systems)).unwrap(),
        steps: d.list(3, |d| step(d, n_systems)),
        systems,
        warnings: d.list(3, |d| run_warning(d, n_systems)),
    }
}

fn system(d: &mut Draw, i: u64) -> RunSystem {
    let version: Version = (*d.one(&["5.6.14", "10.11.5", "17.4", "19rc1", "9"])).parse().unwrap();
    let source = match d.below(4) {
        0 => SystemSource::Catalogue { version: version.clone(), build: d.some(Draw::text) },
        1 => SystemSource::Basedir { path: format!("/opt/{}", d.text()).into() },
        2 => SystemSource::External { dsn: d.text() },
        _ => SystemSource::Builtin,
    };
    let settings = d.map();
    let origins =
        settings.keys().filter_map(|name| Some((name.clone(), d.some(origin)?))).collect();
    RunSystem {
        spec: SystemSpec {
            label: Label(format!("{i}{}", d.text())),
            dbms: *d.one(&[Dbms::Mysql, Dbms::Mariadb, Dbms::Postgres, Dbms::Null]),
            source,
            engine: *d.one(&[Engine::Innodb, Engine::Rocksdb, Engine::Heap]),
            config: d.text(),
            options: d.map(),
            transport: *d.one(&[Transport::Socket, Transport::Tcp, Transport::Tls]),
            variant: variant(d),
            is_null_arm: d.yes(),
        },
        version: d.some(|_| version),
        version_text: d.text(),
        origin: d.text(),
        settings,
        session: d.map(),
        process: d.map(),
        build: d.map(),
        origins,
    }
}

fn origin(d: &mut Draw) -> SettingOrigin {
    use SettingSource::{CommandLine, Computed, Config, Default, Other};
    let source = *d.one(&[Default, Config, CommandLine, Computed, Other]);
    SettingOrigin { source, default: d.some(Draw::text) }
}

fn variant(d: &mut Draw) -> Variant {
    Variant {
        malloc: *d.one(&[Malloc::Build, Malloc::System, Malloc::Jemalloc, Malloc::Tcmalloc]),
        durability: *d.one(&[Durability::Relaxed, Durability::Full]),
        compression: (*d.one(&["none", "row", "page-zlib", "lz4+zstd"])).parse().unwrap(),
        limits: Limits {
            memory_bytes: d.some(Draw::count),
            cpus: d.some(|d| (*d.one(&["0", "0-1,7"])).parse().unwrap()),
        },
        injected_slowdown_bp: *d.one(&[0, 500]),
        sql_after_load: d.list(2, Draw::text),
    }
}

fn step(d: &mut Draw, n_systems: u64) -> RunStep {
    let kinds =
        [StepKind::Load, StepKind::Read, StepKind::Write, StepKind::Insert, StepKind::WarmUp];
    let placements = [Placement::Auto, Placement::Free, Placement::Split, Placement::Paired];
    RunStep {
        info: StepInfo {
            name: d.text(),
            family: d.text(),
            n: d.some(Draw::small),
            kind: *d.one(&kinds),
            group: *d.one(&Group::ALL),
            figure: *d.one(&[Figure::Queries, Figure::RowsRead, Figure::RowsInserted]),
            what: d.text(),
        },
        clients: d.small(),
        placement: *d.one(&placements),
        start: d.small(),
        systems: (0..n_systems).map(|_| system_step(d)).collect(),
    }
}

fn system_step(d: &mut Draw) -> SystemStep {
    let outcome = match d.below(3) {
        0 => StepOutcome::Pending,
        1 => StepOutcome::Done,
        _ => StepOutcome::Failed { reason: d.text() },
    };
    let n_slices = u32::try_from(d.below(4)).unwrap();
    let slices = (0..n_slices).map(|idx| slice(d, idx)).collect();
    let mut debt = BTreeMap::new();
    for _ in 0..d.below(3) {
        debt.insert(d.text(), d.count());
    }
    let (checks, plans) = (d.list(3, check), d.list(3, plan));
    let plans_of_starts = Vec::new();
    let facts = [TableFact::Writes, TableFact::DeadRows].into_iter();
    let table_state = facts.map(|fact| (fact, d.below(1 << 40))).collect();
    let sizes = sizes(d);
    let recalls = BTreeMap::new();
    SystemStep {
        outcome,
        slices,
        sizes,
        debt,
        checks,
        plans,
        plans_of_starts,
        table_state,
        recalls,
    }
}

fn plan(d: &mut Draw) -> QueryPlan {
    let access = |d: &mut Draw| Access {
        table: d.text(),
        path: *d.one(&[Path::Lookup, Path::Range, Path::WholeIndex, Path::WholeTable]),
        index: d.yes().then(|| d.text()),
        is_covering: d.yes(),
    };
    let shape = |d: &mut Draw| PlanShape {
        accesses: d.list(3, access),
        joins: d.list(2, |d| *d.one(&[Join::Hash, Join::Merge])).into_iter().collect(),
        extras: d.list(3, |d| *d.one(&[Extra::Sort, Extra::Parallel])).into_iter().collect(),
        is_write: d.yes(),
        kind: d.yes().then(|| *d.one(&[PlanKind::Generic, PlanKind::Custom, PlanKind::Mixed])),
    };
    QueryPlan {
        dbms: *d.one(&[Dbms::Mysql, Dbms::Mariadb, Dbms::Postgres]),
        sql: d.text(),
        asked: *d.one(&[Asked::Prepared, Asked::Text, Asked::Never]),
        shape: d.yes().then(|| shape(d)),
        reason: d.text(),
        text: d.text(),
        counts: d.yes().then(|| counts(d)),
    }
}

fn counts(d: &mut Draw) -> PlanCounts {
    let [n_generic, n_custom, n_trial] = [d.count(), d.count(), d.count()];
    PlanCounts { n_sessions: d.small(), n_generic, n_custom, n_trial }
}

fn check(d: &mut Draw) -> Check {
    Check { name: d.text(), passed: d.yes(), found: d.text() }
}

fn sizes(d: &mut Draw) -> Sizes {
    Sizes {
        database_bytes: d.some(Draw::count),
        data_dir_bytes: d.some(Draw::count),
        redo_bytes: d.some(Draw::count),
        binlog_bytes: d.some(Draw::count),
    }
}

pub(crate) fn slice(d: &mut Draw, idx: u32) -> Slice {
    Slice {
        idx,
        start: 0,
        load: 0,
        n_rounds: d.some(Draw::small),
        start_unix_ms: d.time(),
        duration_ns: d.count(),
        seed: d.bits(),
        n_events: d.count(),
        n_queries: d.count(),
        n_operations: d.count(),
        n_rows: d.count(),
        errors: d.list(3, |d| ErrorCount { code: d.text(), n: d.count() }),
        lateness: d.some(lateness),
        windows: Windows { length_ns: d.count(), counts: d.list(9, Draw::small) },
        series: d.list(4, point),
        response_times: bytes(d),
        usage: {
            let sample = sample(d);
            let Sample { at_ns, host, server, client, storage, sampler_cpu_ns, waits } = sample;
            Usage { wall_ns: at_ns, host, server, client, storage, sampler_cpu_ns, waits }
        },
        samples: d.list(4, sample),
        warnings: d.list(4, warning),
        streams: streams(d),
        whole_operations: d.some(Draw::count),
        counters: d.list(3, |d| (d.text(), d.count())).into_iter().collect(),
        stated: d.some(stated),
    }
}

fn stated(d: &mut Draw) -> Stated {
    Stated {
        figure: d.some(|d| d.count() as f64 / 7.0),
        metrics: d.list(3, |d| (Metric::ContextSwitches, d.count() as f64 / 3.0)),
        response: d.some(|d| StatedResponse {
            n: d.count(),
            min_ns: d.some(Draw::count),
            mean_ns: d.some(|d| d.count() as f64),
            max_ns: d.count(),
            percentiles_ns: d.list(2, |d| (95.0, d.count())),
            buckets: d.some(|d| std::array::from_fn(|_| d.count())),
        }),
        stream_responses: BTreeMap::new(),
        columns: d.list(3, |d| (d.text(), d.count() as f64 / 5.0)),
        target_inserts_per_s: d.some(|d| d.count() as f64),
        server_rss_bytes: d.some(Draw::count),
    }
}

fn lateness(d: &mut Draw) -> Lateness {
    Lateness {
        n_due: d.count(),
        n_late: d.count(),
        n_missed: d.count(),
        max_ns: d.count(),
        sum_ns: d.count(),
    }
}

fn point(d: &mut Draw) -> SeriesPoint {
    SeriesPoint {
        queries: d.small(),
        events: d.small(),
        errors: d.small(),
        sum_ns: d.count(),
        max_ns: d.count(),
    }
}

fn bytes(d: &mut Draw) -> Vec<u8> {
    d.list(40, |d| u8::try_from(d.below(256)).unwrap())
}

/// Some of the roles, each once, in their order.
fn streams(d: &mut Draw) -> Vec<Stream> {
    let roles: Vec<Role> = Role::ALL.into_iter().filter(|_| d.yes()).collect();
    roles.into_iter().map(|role| stream(d, role)).collect()
}

fn stream(d: &mut Draw, role: Role) -> Stream {
    Stream {
        role,
        clients: d.small(),
        target_per_s: d.some(|d| f64::from(d.small()) / 8.0),
        duration_ns: d.count(),
        n_events: d.count(),
        n_queries: d.count(),
        n_operations: d.count(),
        lateness: d.some(lateness),
        errors: d.list(3, |d| ErrorCount { code: d.text(), n: d.count() }),
        delays: bytes(d),
        own_delays: bytes(d),
        series: d.list(4, point),
        response_times: bytes(d),
    }
}

fn warning(d: &mut Draw) -> WarningKind {
    match d.below(21) {
        0 => WarningKind::Errors { n: d.count(), by_code: Vec::new() },
        1 => WarningKind::Failed { reason: d.text() },
        2 => WarningKind::ClientBound { pct: d.small() },
        3 => WarningKind::NotSettled { left: d.text() },
        4 => WarningKind::RateMissed { n_missed: d.count() },
        5 => WarningKind::Steal { pct: d.small() },
        6 => WarningKind::Swapped { pages: d.count() },
        7 => WarningKind::Resumed,
        8 => WarningKind::OtherProcesses { pct: d.small() },
        9 => WarningKind::Throttled { n: d.count() },
        10 => WarningKind::FrequencyChanged { pct: d.small() },
        11 => WarningKind::Colder { bytes: d.count() },
        12 => WarningKind::InjectedSlowdown { share_bp: d.small(), way: StopWay::Tracing },
        13 => WarningKind::Paused { seconds: d.small() },
        14 => WarningKind::StartedAgain,
        16 => WarningKind::HostSuspended { ms: d.count() },
        17 => WarningKind::ClockSet { by_ms: -d.count().cast_signed() },
        18 => WarningKind::MeasuredAgain,
        19 => WarningKind::WithoutBase,
        15 => WarningKind::BulkLoad { n_loaders: d.small(), n_clients: d.small() },
        _ => WarningKind::ImportedFault { text: d.text() },
    }
}

fn run_warning(d: &mut Draw, n_systems: u64) -> Warning {
    let scope = match d.some(|d| usize::try_from(d.below(n_systems)).unwrap()) {
        Some(idx) => Scope::System(idx),
        None => Scope::Run,
    };
    let last = |d: &mut Draw| LastSlice {
        step: d.text(),
        n_clients: d.small(),
        system: d.some(Draw::text),
        until_unix_ms: d.time(),
    };
    let setting =
        |d: &mut Draw| ChangedSetting { name: d.text(), before: d.some(Draw::text), after: None };
    let kind = match d.below(5) {
        0 => WarningKind::RunResumed { last: d.some(last) },
        1 => WarningKind::SettingsChanged { settings: d.list(3, setting) },
        2 => {
            let fault = ServerFault { n: d.small(), n_tolerated: 3, reason: d.text() };
            WarningKind::ServerFailed { fault }
        }
        3 => WarningKind::NewTables,
        _ => WarningKind::Excluded { reason: d.text() },
    };
    Warning { at_unix_ms: d.some(Draw::time), scope, kind }
}

fn sample(d: &mut Draw) -> Sample {
    Sample {
        at_ns: d.count(),
        host: HostCounters {
            cpu_user_ns: d.count(),
            cpu_system_ns: d.count(),
            cpu_idle_ns: d.count(),
            cpu_iowait_ns: d.count(),
            cpu_steal_ns: d.count(),
            context_switches: d.count(),
            procs_running: d.count(),
            procs_blocked: d.count(),
            memory_available_bytes: d.count(),
            swap_in_pages: d.count(),
            swap_out_pages: d.count(),
            n_cpus: d.small(),
        },
        server: d.some(process),
        client: process(d),
        storage: d.some(|d| StorageCounters {
            reads: d.count(),
            read_bytes: d.count(),
            writes: d.count(),
            write_bytes: d.count(),
            busy_ns: d.count(),
        }),
        sampler_cpu_ns: d.count(),
        waits: Waits {
            server_run_wait_ns: d.some(Draw::count),
            served_cpu_ns: d.some(Draw::count),
            served_run_wait_ns: d.some(Draw::count),
            client_threads_cpu_ns: d.some(Draw::count),
            client_threads_run_wait_ns: d.some(Draw::count),
            io_stalled_ns: d.some(Draw::count),
        },
    }
}

fn process(d: &mut Draw) -> ProcessCounters {
    ProcessCounters {
        cpu_user_ns: d.count(),
        cpu_system_ns: d.count(),
        cpu_total_ns: d.count(),
        rss_bytes: d.count(),
        minor_faults: d.count(),
        major_faults: d.count(),
        voluntary_switches: d.count(),
        involuntary_switches: d.count(),
        read_bytes: d.count(),
        write_bytes: d.count(),
        n_processes: d.small(),
        n_threads: d.small(),
    }
}

/// A small run with fixed names: two systems, two steps, no slices.
pub(crate) fn plain_run(id: &str) -> Run {
    let mut draw = Draw(1);
    let mut run = run(&mut draw);
    id.clone_into(&mut run.id);
    run.status = RunStatus::Running;
    run.finished_unix_ms = None;
    run.n_resumed = 0;
    run.base = 0;
    run.warnings = Vec::new();
    run.systems = (0..2).map(|i| system(&mut draw, i)).collect();
    run.steps = (0..2).map(|_| step(&mut draw, 2)).collect();
    for step in &mut run.steps {
        for system in &mut step.systems {
            *system = SystemStep::pending();
        }
    }
    run
}
