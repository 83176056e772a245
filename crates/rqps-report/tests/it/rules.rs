//! Causes by rules and in words, of splits made by hand: each cause, mixtures, none, and counters that are missing. A
//! long file: all stand on the same made-up slices, and what others take is beside it.

mod beside;
mod host;
mod starts;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use expect_test::{Expect, expect};
use rqps_analysis::{Differing, Evidence, Hint, Moves};
use rqps_explain::part::{Basis, Parts};
use rqps_explain::{
    Cause, Change, Kind, Question, Reason, Sides, Slots, Split, Start, TimePart, judge,
};
use rqps_model::query_plan::difference::{Aspect, StatementDifference};
use rqps_model::{
    Figure, HostCounters, Placement, ProcessCounters, Slice, StepKind, StorageCounters, Usage,
    Waits, Windows,
};
use rqps_report::causes::sentence;

/// What an operation takes, microseconds, and what it does.
#[derive(Debug, Clone)]
struct Op {
    server: f64,
    /// Of the server's CPU, that in the kernel.
    kernel: f64,
    background: f64,
    client: f64,
    /// CPU that other processes take from the slot, and on the other CPU.
    taken: f64,
    elsewhere: f64,
    /// CPU that the hypervisor takes from the slot; of all CPUs it is twice that.
    stolen: f64,
    /// Of what was taken, the part that the client waited.
    taken_of_client: f64,
    storage: f64,
    waiting: f64,
    reads: f64,
    writes: f64,
    /// Whether the server's own processes asked for the reads.
    own_reads: bool,
    counters: Vec<(&'static str, f64)>,
}

/// A query of 20 µs in the server and 5 in the client.
fn op() -> Op {
    Op {
        server: 20.0,
        kernel: 4.0,
        background: 0.5,
        client: 5.0,
        taken: 0.0,
        elsewhere: 0.0,
        stolen: 0.0,
        taken_of_client: 0.0,
        storage: 0.0,
        waiting: 1.0,
        reads: 0.0,
        writes: 0.0,
        own_reads: true,
        counters: vec![
            ("Handler_read_key", 1.0),
            ("Innodb_buffer_pool_read_requests", 3.0),
            ("Innodb_buffer_pool_reads", 0.0),
            ("Innodb_data_fsyncs", 0.0),
            ("Innodb_row_lock_waits", 0.0),
        ],
    }
}

fn whole(value: f64) -> u64 {
    format!("{value:.0}").parse().unwrap()
}

/// Operations of a slice.
const N: u64 = 50_000;

/// A slice of one client on two CPUs whose times are `jitter` times what `op` says.
fn slice(idx: u32, op: &Op, jitter: f64) -> Slice {
    let ns = |us: f64| whole(us * jitter * 1e3 * N as f64);
    let cpu = op.server + op.background / 2.0 + op.client;
    let total = cpu + op.taken + op.stolen + op.storage + op.waiting;
    let (server, cpus) = (op.server + op.background, 2.0 * total);
    let others = op.taken + op.elsewhere;
    // Woken by its client, which still ran.
    let server_waited = op.client + op.background / 2.0 + op.taken - op.taken_of_client;
    let process = |us: f64, kernel: f64| ProcessCounters {
        cpu_user_ns: ns(us - kernel),
        cpu_system_ns: ns(kernel),
        cpu_total_ns: ns(us),
        ..ProcessCounters::default()
    };
    let (user, system) =
        (server - op.kernel + 0.5 * op.client + others, op.kernel + 0.5 * op.client);
    let usage = Usage {
        wall_ns: ns(total),
        host: HostCounters {
            cpu_user_ns: ns(user),
            cpu_system_ns: ns(system),
            cpu_idle_ns: ns((cpus - user - system - op.storage - 2.0 * op.stolen).max(0.0)),
            cpu_iowait_ns: ns(op.storage),
            cpu_steal_ns: ns(2.0 * op.stolen),
            n_cpus: 2,
            ..HostCounters::default()
        },
        server: Some(ProcessCounters {
            read_bytes: if op.own_reads { whole(op.reads * 16384.0 * N as f64) } else { 0 },
            ..process(server, op.kernel)
        }),
        client: process(op.client, 0.5 * op.client),
        storage: Some(StorageCounters {
            reads: whole(op.reads * N as f64),
            read_bytes: whole(op.reads * 16384.0 * N as f64),
            writes: whole(op.writes * N as f64),
            write_bytes: whole(op.writes * 4096.0 * N as f64),
            busy_ns: 0,
        }),
        sampler_cpu_ns: 0,
        waits: Waits {
            server_run_wait_ns: Some(ns(server_waited)),
            served_cpu_ns: Some(ns(op.server)),
            served_run_wait_ns: Some(ns(server_waited)),
            client_threads_cpu_ns: Some(ns(op.client)),
            client_threads_run_wait_ns: Some(ns(op.taken_of_client)),
            io_stalled_ns: Some(ns(op.storage)),
        },
    };
    let counters: BTreeMap<String, u64> =
        op.counters.iter().map(|(name, n)| ((*name).to_owned(), whole(n * N as f64))).collect();
    Slice {
        idx,
        start: 0,
        load: 0,
        n_rounds: Some(20),
        start_unix_ms: 0,
        duration_ns: ns(total),
        seed: 1,
        n_events: N,
        n_queries: N,
        n_operations: N,
        n_rows: N,
        errors: Vec::new(),
        lateness: None,
        windows: Windows::default(),
        series: Vec::new(),
        response_times: Vec::new(),
        usage,
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: None,
        counters,
        stated: None,
    }
}

/// What surrounds a pair.
#[derive(Debug, Clone)]
struct Around {
    is_interleaved: bool,
    kind: StepKind,
    is_comparable: bool,
    unlike: Option<Reason>,
    /// How far blocks lie apart, share.
    noise: f64,
    evidence: Evidence,
    change: fn(&mut Slice),
}

fn around() -> Around {
    Around {
        is_interleaved: true,
        kind: StepKind::Read,
        is_comparable: true,
        unlike: None,
        noise: 0.01,
        evidence: Evidence::default(),
        change: |_| {},
    }
}

/// A cause with its sentence.
#[derive(Debug, PartialEq)]
struct Found {
    cause: Cause,
    sentence: String,
}

impl Deref for Found {
    type Target = Cause;

    fn deref(&self) -> &Cause {
        &self.cause
    }
}

/// The cause of ten blocks of each.
fn cause(base: &Op, candidate: &Op, around: &Around) -> Option<Found> {
    let blocks = |op: &Op, phase: u32| -> Vec<Slice> {
        let jitter = |i: u32| if (i * 7 + phase) % 5 < 2 { around.noise } else { -around.noise };
        let mut all: Vec<Slice> = (0..10).map(|i| slice(i, op, 1.0 + jitter(i))).collect();
        all.iter_mut().for_each(around.change);
        all
    };
    let (b, c) = (blocks(base, 0), blocks(candidate, 3));
    let start = Start { base: b.iter().collect(), candidate: c.iter().collect() };
    let sides = Sides {
        starts: vec![start],
        is_interleaved: around.is_interleaved,
        is_one_run: true,
        prior: None,
    };
    let rqps = sides.ratio(|slice| Some(slice.figure())).unwrap();
    let split = Split::of(&sides, Slots::of(1, Placement::Paired, 2));
    let cause = judge(&Question {
        sides: &sides,
        split: split.as_ref(),
        verdict: rqps_stats::verdict(&rqps, 0.05),
        kind: around.kind,
        figure: Figure::Queries,
        is_comparable: around.is_comparable,
        unlike: around.unlike,
        has_other_plan: around.evidence.plan.is_some(),
    })?;
    let sentence = sentence::sentence(&cause, rqps, split.as_ref(), &around.evidence, None);
    Some(Found { cause, sentence })
}

fn check(base: &Op, candidate: &Op, around: &Around, kind: Kind, told: &Expect) {
    let found = cause(base, candidate, around).unwrap();
    told.assert_eq(&found.sentence);
    assert_eq!(found.kind, kind);
}

#[test]
fn new_cpu_overhead_and_its_mirror() {
    let more = Op { server: 31.0, kernel: 6.0, ..op() };
    let told = expect![[
        r#"0.70: server CPU per query 1.54x (+11 µs of +11 µs), IO unchanged: new CPU overhead"#
    ]];
    check(&op(), &more, &around(), Kind::CpuOverhead, &told);
    let told = expect![[
        r#"1.42: server CPU per query 0.65x (-11 µs of -11 µs), IO unchanged: less CPU overhead"#
    ]];
    check(&more, &op(), &around(), Kind::CpuOverhead, &told);
}

#[test]
fn less_background_work_does_not_hide_whose_cpu_grew() {
    let base = Op { background: 30.0, ..op() };
    let more = Op { server: 40.0, background: 2.0, ..op() };
    let told = expect![
        "0.87: CPU of connection threads per query 2.00x (+20 µs of +6.0 µs), IO unchanged: new CPU overhead"
    ];
    check(&base, &more, &around(), Kind::CpuOverhead, &told);
    assert!(cause(&base, &more, &around()).unwrap().times.unwrap() > 1.9);
    // Nor does a little of it where it grew by a little.
    let base = Op { background: 1.0, ..op() };
    let more = Op { server: 21.98, background: 0.0, ..op() };
    let told = expect![
        "0.95: CPU of connection threads per query 1.10x (+1.98 µs of +1.48 µs), IO unchanged: new CPU overhead"
    ];
    check(&base, &more, &around(), Kind::CpuOverhead, &told);
}

#[test]
fn both_ends_need_more_cpu_where_tls_is_on() {
    let more = Op { server: 24.0, client: 10.0, ..op() };
    let hint = Hint {
        what: Differing::Setting("tls".to_owned()),
        base: Some("off".to_owned()),
        own: Some("TLSv1.3".to_owned()),
        moves: Moves::All,
    };
    let evidence = Evidence { hints: vec![hint], ..Evidence::default() };
    let told = expect![
        "0.74: server and client CPU per query 1.36x (+9.0 µs of +9.0 µs), IO unchanged, with tls TLSv1.3 against off: new CPU overhead"
    ];
    check(&op(), &more, &Around { evidence, ..around() }, Kind::CpuOverhead, &told);
}

#[test]
fn more_rows_are_more_work_where_they_may_be_compared() {
    let mut more = Op { server: 60.0, ..op() };
    more.counters[0].1 = 41.0;
    let told = expect![
        "0.396: rows read per query 1.00 to 41, server CPU per query 2.95x (+40 µs of +40 µs), IO unchanged: more work per operation"
    ];
    check(&op(), &more, &around(), Kind::MoreWork, &told);
    let unlike = Around { is_comparable: false, ..around() };
    assert_eq!(cause(&op(), &more, &unlike).unwrap().kind, Kind::CpuOverhead);
    // A few rows more do not explain three times the CPU, be they times as many.
    for rows in [1.3, 4.0] {
        more.counters[0].1 = rows;
        assert_eq!(cause(&op(), &more, &around()).unwrap().kind, Kind::CpuOverhead);
    }
    // Nor do many more, where they are few times as many.
    let (mut base, mut more) = (op(), more);
    (base.counters[0].1, more.counters[0].1) = (100.0, 130.0);
    assert_eq!(cause(&base, &more, &around()).unwrap().kind, Kind::CpuOverhead);
}

#[test]
fn another_plan_is_told_as_such() {
    let mut more = Op { server: 600.0, ..op() };
    more.counters[0].1 = 1000.0;
    let plan = StatementDifference {
        statement_idx: 0,
        sql: "SELECT k FROM sbtest1".to_owned(),
        aspects: BTreeSet::from([Aspect::Path]),
        base: "index k_1".to_owned(),
        vs: "full scan".to_owned(),
    };
    let evidence = Evidence { plan: Some(plan), ..Evidence::default() };
    let told = expect![
        "0.043: full scan instead of index k_1, rows read per query 1.00 to 1000, server CPU per query 29.29x, +579 µs in total: plan change"
    ];
    let with_plan = Around { evidence, ..around() };
    check(&op(), &more, &with_plan, Kind::PlanChange, &told);
    // Another plan that costs nothing explains no waiting, also where the server needs more CPU for it.
    for server in [20.0, 21.0] {
        let mut slow = Op { server, waiting: 9.0, ..op() };
        slow.counters[0].1 = 4.0;
        assert_eq!(cause(&op(), &slow, &with_plan).unwrap().kind, Kind::Waiting);
    }
    // Nor does one that touches as many rows and pages explain CPU; of others these are not known.
    let slow = Op { server: 40.0, ..op() };
    assert_eq!(cause(&op(), &slow, &with_plan).unwrap().kind, Kind::CpuOverhead);
    let unlike = Around { is_comparable: false, ..with_plan };
    assert_eq!(cause(&op(), &slow, &unlike).unwrap().kind, Kind::PlanChange);
}

#[test]
fn a_server_that_is_stopped_waits() {
    let slow = Op { waiting: 4.0, ..op() };
    let told = expect![
        "0.897: waiting +3.0 µs of +3.0 µs per query, server CPU unchanged, IO unchanged: contention or waiting"
    ];
    check(&op(), &slow, &Around { noise: 0.002, ..around() }, Kind::Waiting, &told);
}

#[test]
fn lock_waits_are_named() {
    let mut slow = Op { waiting: 40.0, ..op() };
    slow.counters[4].1 = 0.5;
    let told = expect![
        "0.402: waiting +39 µs of +39 µs per query, server CPU unchanged, IO unchanged, row lock waits per query 0 to 0.50: contention or waiting"
    ];
    check(&op(), &slow, &Around { kind: StepKind::Write, ..around() }, Kind::Waiting, &told);
}

#[test]
fn reads_of_storage() {
    let mut slow =
        Op { server: 40.0, kernel: 15.0, storage: 80.0, waiting: 20.0, reads: 0.6, ..op() };
    slow.counters[2].1 = 0.6;
    let told = expect![
        "0.181: storage reads per query 0 to 0.60, KB read per query 0 to 9.6, pages not in the cache per query 0 to 0.60, waiting +99 µs of +119 µs per query, server CPU 1.98x: storage reads"
    ];
    check(&op(), &slow, &around(), Kind::StorageReads, &told);
    // Whatever else waits: few reads explain nothing.
    let few = Op { waiting: 60.0, reads: 0.01, ..op() };
    assert_eq!(cause(&op(), &few, &around()).unwrap().kind, Kind::Waiting);
}

#[test]
fn pages_that_the_page_cache_holds_are_still_not_in_the_servers() {
    let mut slow = Op { server: 33.0, kernel: 14.0, waiting: 4.0, ..op() };
    slow.counters[2].1 = 3.0;
    let told = expect![
        "0.621: pages not in the cache per query 0 to 3.0, server CPU in the kernel +10 µs of +16 µs per query, server CPU 1.63x: storage reads"
    ];
    check(&op(), &slow, &around(), Kind::StorageReads, &told);
    // As many pages explain neither waiting nor the server's other CPU, nor few of them so much.
    let mut waiting = Op { server: 24.0, kernel: 8.0, waiting: 15.0, ..op() };
    waiting.counters[2].1 = 3.0;
    assert_eq!(cause(&op(), &waiting, &around()).unwrap().kind, Kind::Waiting);
    let mut busy = Op { server: 40.0, kernel: 5.0, ..op() };
    busy.counters[2].1 = 3.0;
    assert_eq!(cause(&op(), &busy, &around()).unwrap().kind, Kind::CpuOverhead);
    slow.counters[2].1 = 1.0;
    assert_ne!(cause(&op(), &slow, &around()).unwrap().kind, Kind::StorageReads);
}

#[test]
fn writes_of_storage_are_the_cause_of_steps_that_write_and_background_of_others() {
    let mut slow = Op { storage: 150.0, waiting: 30.0, writes: 2.0, ..op() };
    slow.counters[3].1 = 1.0;
    let writing = Around { kind: StepKind::Write, ..around() };
    let told = expect![
        "0.128: storage writes per query 0 to 2.0, KB written per query 0 to 8.0, fsyncs per query 0 to 1.00, waiting +179 µs of +179 µs per query, server CPU unchanged: waiting for writes: write amplification or write-back"
    ];
    check(&op(), &slow, &writing, Kind::StorageWrites, &told);
    assert_eq!(cause(&op(), &slow, &around()).unwrap().kind, Kind::BackgroundWork);
    // Writing that nothing waits for is no cause of waiting.
    let unawaited = Op { waiting: 60.0, writes: 2.0, ..op() };
    assert_eq!(cause(&op(), &unawaited, &writing).unwrap().kind, Kind::Waiting);
}

#[test]
fn threads_that_serve_nobody_are_background_work() {
    let slow = Op { background: 20.0, ..op() };
    let told =
        expect!["0.73: CPU of background threads +9.7 µs of +9.7 µs per query: background work"];
    check(&op(), &slow, &around(), Kind::BackgroundWork, &told);
}

#[test]
fn work_on_a_cpu_that_nobody_waits_for_costs_the_clients_nothing() {
    let busy = slice(0, &Op { background: 20.0, ..op() }, 1.0);
    let slots = Slots::of(1, Placement::Paired, 2);
    let basis =
        Basis { served: true, clients: true, run_waits: true, served_waits: true, pressure: true };
    let parts = |waited_us: f64, slots: Slots| {
        let mut slice = busy.clone();
        slice.usage.waits.served_run_wait_ns = Some(whole(waited_us * 1e3 * N as f64));
        Parts::of(&slice, slots, basis).unwrap()
    };
    let is_about = |us: f64, expected: f64| assert!((us - expected).abs() < 0.01, "{us}");
    // The server's thread waited 5 µs for its client, which was not done yet, and the rest for background work.
    for (waited_us, background_us) in [(15.0, 10.0), (9.0, 4.0), (3.0, 0.0), (90.0, 10.0)] {
        let parts = parts(waited_us, slots);
        is_about(parts.get(TimePart::Background), background_us);
        is_about(parts.get(TimePart::Waiting), 11.0 - background_us);
    }
    // On a CPU of its own, the client holds up nobody.
    is_about(parts(9.0, Slots { is_paired: false, ..slots }).get(TimePart::Background), 9.0);
}

#[test]
fn a_mixture_has_several_causes() {
    let slow = Op { server: 25.0, waiting: 6.5, client: 5.0, ..op() };
    let told = expect![
        "0.71: +10 µs per query (base 26 µs), other waiting +5.5 µs, CPU of connection threads +5.0 µs: several causes"
    ];
    check(&op(), &slow, &Around { noise: 0.04, ..around() }, Kind::Several, &told);
}

#[test]
fn what_chance_can_make_is_not_called_a_cause() {
    let slow = Op { server: 22.5, ..op() };
    let found = cause(&op(), &slow, &Around { noise: 0.001, ..around() }).unwrap();
    assert_eq!(found.kind, Kind::CpuOverhead);
    // The same difference among blocks that differ more has no verdict, and so no cause.
    assert_eq!(cause(&op(), &slow, &Around { noise: 0.1, ..around() }), None);
    assert_eq!(cause(&op(), &op(), &around()), None);
}

#[test]
fn what_cannot_be_told_says_why() {
    let more = Op { server: 40.0, ..op() };
    let of = |change: fn(&mut Slice)| {
        let found = cause(&op(), &more, &Around { change, ..around() }).unwrap();
        assert_eq!((found.kind, found.share), (Kind::NotExplained, None));
        found.sentence
    };
    let unknown = of(|slice| slice.usage.server = None);
    expect!["0.568: not explained: rqps does not know the server's processes"].assert_eq(&unknown);
    let rated = of(|slice| slice.lateness = Some(rqps_model::Lateness::default()));
    assert!(rated.ends_with("the clients worked at a set rate"), "{rated}");
    let beside = of(|slice| {
        slice.streams.push(beside::at_a_rate());
        slice.usage.waits.served_cpu_ns = None;
    });
    assert!(beside.ends_with("which threads serve which clients"), "{beside}");
}

#[test]
fn a_kernel_that_tells_less_still_shows_the_cause() {
    let around = Around { change: |slice| slice.usage.waits = Waits::default(), ..around() };
    let more = Op { server: 31.0, ..op() };
    assert_eq!(cause(&op(), &more, &around).unwrap().kind, Kind::CpuOverhead);
    let slow = Op { waiting: 8.0, ..op() };
    assert_eq!(cause(&op(), &slow, &around).unwrap().kind, Kind::Waiting);
    let hog = Op { taken: 25.0, elsewhere: 30.0, ..op() };
    let alone = Around { is_interleaved: false, ..around };
    assert_eq!(cause(&op(), &hog, &alone).unwrap().kind, Kind::HostLimited);
}

#[test]
fn what_the_hypervisor_takes_is_no_waiting_of_threads() {
    let alone = Around { is_interleaved: false, ..around() };
    let stolen = Op { stolen: 20.0, ..op() };
    assert_eq!(cause(&op(), &stolen, &alone).unwrap().kind, Kind::HostLimited);
}

#[test]
fn cpu_that_others_take_from_one_interleaved_side_alone_is_not_excluded() {
    let busy = Op { taken: 25.0, taken_of_client: 5.0, elsewhere: 20.0, ..op() };
    let hit = Op { server: 24.0, taken: 55.0, ..busy.clone() };
    let found = cause(&busy, &hit, &around()).unwrap();
    assert_eq!((found.kind, found.share), (Kind::NotExplained, None));
    let why =
        "other processes took more CPU from the slower system than in proportion to its own CPU";
    assert!(found.sentence.ends_with(why), "{}", found.sentence);
    let mirrored = cause(&hit, &busy, &around()).unwrap();
    assert_eq!((mirrored.kind, mirrored.share), (Kind::NotExplained, None));
}

#[test]
fn requests_that_come_with_time_are_no_cause_of_more_time() {
    // Something reads all the time, and storage is awaited in half of it: locks are what waits.
    let of = |us: f64| Op { storage: us / 2.0, reads: us / 100.0, own_reads: false, ..op() };
    let (base, slow) = (of(40.0), Op { waiting: 40.0, ..of(120.0) });
    assert_eq!(cause(&base, &slow, &around()).unwrap().kind, Kind::Waiting);
    // The same reads are the server's own: more of them for an operation.
    let (base, slow) = (Op { own_reads: true, ..base }, Op { own_reads: true, ..slow });
    assert_eq!(cause(&base, &slow, &around()).unwrap().kind, Kind::StorageReads);
}

#[test]
fn storage_must_be_awaited_in_more_of_the_time() {
    // Twice the waiting, storage awaited in no more of the time, and many times the requests.
    let base = Op { storage: 18.0, reads: 0.01, ..op() };
    let slow = Op { waiting: 27.7, storage: 36.0, reads: 0.1, ..op() };
    assert_eq!(cause(&base, &slow, &around()).unwrap().kind, Kind::Waiting);
}

#[test]
fn storage_that_several_clients_wait_for_is_no_other_waiting() {
    let slots = Slots::of(2, Placement::Paired, 2);
    let slice = slice(0, &Op { storage: 60.0, ..op() }, 1.0);
    let start = Start { base: vec![&slice], candidate: vec![&slice] };
    let sides = Sides { starts: vec![start], is_interleaved: true, is_one_run: true, prior: None };
    let parts = Parts::of(&slice, slots, Basis::of(&sides)).unwrap();
    let per_slot = parts.get(TimePart::Storage) / slots.n;
    assert!((per_slot - 60.0).abs() < 0.01, "{per_slot}");
}

#[test]
fn cpu_that_is_nearly_all_the_clients_is_no_overhead_of_the_server() {
    let busy = Op { server: 21.0, client: 15.0, ..op() };
    let quiet = Around { noise: 0.002, ..around() };
    assert_eq!(cause(&op(), &busy, &quiet).unwrap().kind, Kind::ClientLimited);
    // Nor where none of them carries it alone.
    let mixed = Op { server: 23.0, client: 9.0, waiting: 3.8, ..op() };
    assert_eq!(cause(&op(), &mixed, &quiet).unwrap().kind, Kind::Several);
}

#[test]
fn others_that_use_no_more_of_the_host_take_nothing_by_being_there() {
    let unknown = |slice: &mut Slice| slice.usage.waits = Waits::default();
    let around = Around { is_interleaved: false, change: unknown, ..around() };
    // They have five eighths of both CPUs' time on either side.
    let of = |us: f64| Op { elsewhere: 1.25 * us, waiting: us - 25.25, ..op() };
    assert_ne!(cause(&of(80.0), &of(160.0), &around).unwrap().kind, Kind::HostLimited);
}

#[test]
fn what_is_not_of_the_run_spreads_over_all_cpus_of_the_host() {
    let slots = Slots::of(1, Placement::Paired, 1);
    let mut slice = slice(0, &Op { elsewhere: 16.0, stolen: 2.0, waiting: 20.0, ..op() }, 1.0);
    slice.usage.waits = Waits::default();
    slice.usage.host.n_cpus = 4;
    let start = Start { base: vec![&slice], candidate: vec![&slice] };
    let sides = Sides { starts: vec![start], is_interleaved: true, is_one_run: true, prior: None };
    let parts = Parts::of(&slice, slots, Basis::of(&sides)).unwrap();
    let taken = parts.get(TimePart::Taken);
    assert!((taken - 5.0).abs() < 0.01, "{taken}");
}

#[test]
fn other_hardware_is_no_doing_of_the_system() {
    let more = Op { server: 31.0, ..op() };
    let unlike = Around { unlike: Some(Reason::OtherHosts), ..around() };
    let found = cause(&op(), &more, &unlike).unwrap();
    assert_eq!((found.kind, found.share), (Kind::NotExplained, None));
    assert!(found.sentence.ends_with("not explained: measured on different hosts"));
}

#[test]
fn counters_of_another_family_decide_nothing() {
    let unlike = Around { is_comparable: false, kind: StepKind::Write, ..around() };
    let mut slow = Op { storage: 150.0, waiting: 30.0, ..op() };
    slow.counters[3].1 = 1.0;
    assert_eq!(cause(&op(), &slow, &unlike).unwrap().kind, Kind::Waiting);
    let mut slow = Op { waiting: 40.0, ..op() };
    slow.counters[4].1 = 0.5;
    let told = cause(&op(), &slow, &unlike).unwrap().sentence;
    assert!(!told.contains("row lock waits"), "{told}");
}

#[test]
fn storage_traffic_that_chance_can_have_changed_is_not_called_unchanged() {
    // Every fifth slice reads much, whatever the side; the candidate's read twice as much.
    let change = |slice: &mut Slice| {
        if slice.idx.is_multiple_of(5) {
            let more = if slice.duration_ns > 1_700_000_000 { 2 } else { 1 };
            slice.usage.storage.as_mut().unwrap().read_bytes = more * 1024 * N;
        }
    };
    let more = Op { server: 31.0, ..op() };
    let told = cause(&op(), &more, &Around { change, ..around() }).unwrap().sentence;
    assert!(told.ends_with("(+11 µs of +11 µs): new CPU overhead"), "{told}");
}

#[test]
fn starts_of_runs_of_their_own_are_no_partners() {
    let of = |server: f64| slice(0, &Op { server, ..op() }, 1.0);
    let (base, candidate) = ([of(20.0), of(30.0), of(40.0)], [of(21.0), of(31.0), of(41.0)]);
    let ns = |all: &[Slice]| -> Vec<f64> { all.iter().map(|s| s.duration_ns as f64).collect() };
    let (b, c) = (ns(&base), ns(&candidate));
    let starts = base.iter().zip(&candidate);
    let starts = starts.map(|(b, c)| Start { base: vec![b], candidate: vec![c] }).collect();
    let mut sides = Sides { starts, is_interleaved: false, is_one_run: false, prior: None };
    let width = |sides: &Sides<'_>| {
        let ns = |slice: &Slice| Some(slice.duration_ns as f64);
        let found = sides.difference(&sides.weights(ns).unwrap(), ns).unwrap();
        found.interval.map(|(low, high)| high - low).unwrap()
    };
    let wanted = rqps_stats::difference::of_two(&b, &c).unwrap().interval.unwrap();
    assert!((width(&sides) / (wanted.1 - wanted.0) - 1.0).abs() < 1e-9);
    let ratio = sides.ratio(|slice| Some(slice.duration_ns as f64)).unwrap();
    assert_eq!(Some(ratio), rqps_stats::ratio(&b, &c));
    // As partners, all differ by as much.
    let apart = width(&sides);
    sides.is_one_run = true;
    assert!(width(&sides) < apart / 100.0);
}

#[test]
fn what_ticks_make_of_nothing_was_not_taken_by_others() {
    let taken = |us: f64| {
        let slice = slice(0, &Op { taken: us, ..op() }, 1.0);
        let start = Start { base: vec![&slice], candidate: vec![&slice] };
        let sides =
            Sides { starts: vec![start], is_interleaved: true, is_one_run: true, prior: None };
        let slots = Slots::of(1, Placement::Paired, 2);
        Parts::of(&slice, slots, Basis::of(&sides)).unwrap().get(TimePart::Taken)
    };
    // 28 of 280 ticks of 10 ms are within chance, 100 are not.
    assert!(taken(3.0).abs() < 1e-9 && (taken(20.0) - 20.0).abs() < 0.01);
}
