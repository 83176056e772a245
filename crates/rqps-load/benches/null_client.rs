//! Events per second of one thread on the null client: the whole loop, clock and histogram
//! included. The project's target is 5 million a second; Criterion prints the rate as `Melem/s`.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rqps_client::NullConnection;
use rqps_load::{ClientPool, Control, Member, Order, Pace, Stop};
use rqps_model::Dbms;
use rqps_workload::{Program, Size, Suite, SysbenchWorker};

/// Events of one measured slice: about 0.1 s, so that its fixed lead of 10 ms can be excluded from
/// the time by reading the slice's own clock.
const EVENTS: u64 = 1_000_000;

fn null_client(criterion: &mut Criterion) {
    let Ok(suite) = Suite::sysbench() else { return };
    let mut group = criterion.benchmark_group("null-client");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for name in ["point-query", "update-nonindex"] {
        let Ok(step) = suite.step(name) else { continue };
        let Ok(program) = Program::compile(step, &Size::Tiny.args(), Dbms::Mysql) else { continue };
        let mut connection = NullConnection::default();
        let Ok(worker) = SysbenchWorker::new(program, &mut connection, 0, 1) else { continue };
        let member = Member { connection, worker, cpus: Vec::new(), role: 0 };
        let Ok(mut pool) = ClientPool::start(vec![member]) else { continue };
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|n| {
                // The slice's own clock, from the common start to the last answer, scaled to n.
                let order = Order { pace: Pace::Closed, stop: Stop::Events(EVENTS), seed: n };
                match pool.run(&order, &mut |_| {}, &mut |_| Control::Go) {
                    Ok(tally) => {
                        Duration::from_nanos(tally.last_ns).mul_f64(n as f64 / EVENTS as f64)
                    }
                    Err(_) => Duration::from_secs(3600),
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, null_client);
criterion_main!(benches);
