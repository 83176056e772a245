//! What an event costs beside its client: the null client answers, so all time is the worker's.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rqps_client::NullConnection;
use rqps_model::Dbms;
use rqps_workload::{Program, Size, Suite, SysbenchWorker, Worker};

fn events(criterion: &mut Criterion) {
    let Ok(suite) = Suite::sysbench() else { return };
    let mut group = criterion.benchmark_group("event");
    for name in ["point-query", "update-nonindex", "update-zipf", "random-points_range=100"] {
        let Ok(step) = suite.step(name) else { continue };
        let Ok(program) = Program::compile(step, &Size::Tiny.args(), Dbms::Mysql) else { continue };
        let mut connection = NullConnection::default();
        let Ok(mut worker) = SysbenchWorker::new(program, &mut connection, 0, 1) else { continue };
        group.throughput(Throughput::Elements(1));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                worker.event(&mut connection, &mut |outcome| {
                    black_box(outcome);
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, events);
criterion_main!(benches);
