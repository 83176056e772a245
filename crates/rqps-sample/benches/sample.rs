//! Microseconds of one sample: this process, with as many threads as a small server has.

#![expect(clippy::expect_used, reason = "a benchmark that cannot start has nothing else to say")]

use std::hint::black_box;
use std::sync::mpsc::channel;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use rqps_sample::{Sampler, Target};

fn sample(c: &mut Criterion) {
    let dir = std::env::current_dir().ok();
    let target = Target { server_pid: None, data_dir: dir.clone() };
    let mut without = Sampler::new(Instant::now(), target).expect("sample this host");
    c.bench_function("host, client and storage", |b| b.iter(|| black_box(without.sample())));

    for n_threads in [1, 50] {
        let (sender, receiver) = channel::<()>();
        let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
        let threads: Vec<_> = (1..n_threads)
            .map(|_| {
                let receiver = std::sync::Arc::clone(&receiver);
                std::thread::spawn(move || receiver.lock().map(|r| r.recv()).is_ok())
            })
            .collect();
        let pid = i32::try_from(std::process::id()).ok();
        let target = Target { server_pid: pid, data_dir: dir.clone() };
        let mut sampler = Sampler::new(Instant::now(), target).expect("sample this host");
        let name = format!("the same and a server of {n_threads} threads");
        c.bench_function(&name, |b| b.iter(|| black_box(sampler.sample())));
        drop(sender);
        for thread in threads {
            let _ = thread.join();
        }
    }
}

criterion_group!(benches, sample);
criterion_main!(benches);
