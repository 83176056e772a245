//! Others that work at a set rate beside the clients whose QPS is measured.

use super::*;

/// Others that insert at a set rate: what they cost is the server's and not in the QPS.
#[test]
fn others_at_a_rate_beside_are_told_apart_by_the_threads_that_serve_them() {
    let change = |slice: &mut Slice| slice.streams.push(at_a_rate());
    let around = Around { change, ..around() };
    let beside = Op { background: 10.0, ..op() };
    // More rows and writes of the whole server are those of both.
    let counters = vec![("Handler_read_key", 30.0), ("Innodb_buffer_pool_read_requests", 90.0)];
    let more = Op { server: 40.0, writes: 1.0, counters, ..beside.clone() };
    check(
        &beside,
        &more,
        &around,
        Kind::CpuOverhead,
        &expect![
            "0.608: CPU of these clients' connection threads per query 2.00x (+20 µs of +20 µs): new CPU overhead"
        ],
    );
    let busier = Op { background: 60.0, ..beside.clone() };
    check(
        &beside,
        &busier,
        &around,
        Kind::BackgroundWork,
        &expect![
            "0.554: CPU of the server's other threads +25 µs of +25 µs per query: background work"
        ],
    );
}

pub(super) fn at_a_rate() -> rqps_model::Stream {
    rqps_model::Stream {
        role: rqps_model::Role::Insert,
        clients: 1,
        target_per_s: Some(100.0),
        duration_ns: 1_000_000_000,
        n_events: 100,
        n_queries: 100,
        n_operations: 100,
        lateness: None,
        delays: Vec::new(),
        own_delays: Vec::new(),
        errors: Vec::new(),
        series: Vec::new(),
        response_times: Vec::new(),
    }
}
