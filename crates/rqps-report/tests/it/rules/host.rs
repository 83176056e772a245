//! What others on the host, and the client itself, take away.

use super::*;

#[test]
fn others_on_the_cpus_are_the_hosts_doing_and_no_servers() {
    let alone = Around { is_interleaved: false, ..around() };
    let hog = Op { taken: 25.0, elsewhere: 30.0, taken_of_client: 5.0, server: 22.0, ..op() };
    let told = expect![
        "0.493: other processes used 52% of the host's CPUs, 0% in the base's slices, threads waited +25 µs of +27 µs per query for a CPU: host limited"
    ];
    check(&op(), &hog, &alone, Kind::HostLimited, &told);
    // On the other thread of a core they take no CPU and may make the server's slower: nothing is claimed.
    let beside = Op { elsewhere: 36.0, server: 30.0, ..op() };
    let found = cause(&op(), &beside, &alone).unwrap();
    assert_eq!((found.kind, found.share), (Kind::NotExplained, None));
    let why = "not explained: other processes used more of the host's CPUs during the slower \
               system's slices";
    assert!(found.sentence.ends_with(why), "{}", found.sentence);
    // They hit interleaved systems alike.
    assert_eq!(cause(&op(), &beside, &around()).unwrap().kind, Kind::CpuOverhead);
}

#[test]
fn cpu_that_others_take_from_both_interleaved_sides_hides_no_cause() {
    // On a host whose CPUs are mostly others', each microsecond of CPU waits for three.
    let busy = |server: f64| Op {
        server,
        taken: 3.0 * (server + 5.0),
        taken_of_client: 15.0,
        elsewhere: 20.0,
        ..op()
    };
    let told = expect![
        "0.70: server CPU per query 1.54x (+11 µs of +11 µs), IO unchanged, excluding +33 µs of CPU that others took: new CPU overhead"
    ];
    check(&busy(20.0), &busy(31.0), &around(), Kind::CpuOverhead, &told);
}

#[test]
fn a_client_whose_threads_wait_is_the_limit() {
    let alone = Around { is_interleaved: false, ..around() };
    let hog = Op { taken: 25.0, taken_of_client: 24.0, ..op() };
    let told = expect![
        "0.512: other processes used 24% of the host's CPUs, 0% in the base's slices, client threads waited +25 µs of +25 µs per query for a CPU: client limited"
    ];
    check(&op(), &hog, &alone, Kind::ClientLimited, &told);
    // In runs one after the other the threads that serve clients are not told apart.
    let change = |slice: &mut Slice| {
        slice.usage.waits.served_cpu_ns = None;
        slice.usage.waits.served_run_wait_ns = None;
    };
    let untold = Around { change, ..alone };
    check(&op(), &hog, &untold, Kind::ClientLimited, &told);
    let busy = Op { client: 15.0, ..op() };
    assert_eq!(cause(&op(), &busy, &around()).unwrap().kind, Kind::ClientLimited);
}
