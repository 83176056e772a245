//! A run whose steps lose by different causes.

use rqps_model::{Run, StepKind};

use crate::blocks::{self, Wanted, around, reads};

/// A step that loses by CPU, one that loses by waiting, and one that loses nothing.
#[must_use]
pub fn run() -> Run {
    let steps = vec![
        reads("point-query", &around(-0.3, 0.01, 12)),
        reads("range-covered-pk", &around(-0.3, 0.01, 12)),
        reads("scan", &around(0.0, 0.002, 12)),
    ];
    let mut run = blocks::run(&[steps]);
    for slice in &mut run.steps[0].systems[1].slices {
        // All that an operation takes beyond the base's 100 µs is the server's.
        let lost_ns = slice.duration_ns - slice.n_operations * 100_000;
        let server = slice.usage.server.as_mut().unwrap();
        server.cpu_total_ns = slice.n_operations * 20_000 + lost_ns;
    }
    run
}

/// A step before and after one that writes, which has aged on the candidate.
#[must_use]
pub fn ageing() -> Run {
    let steps = vec![
        reads("point-query.pre", &around(-0.1, 0.01, 12)),
        Wanted { name: "update-index".to_owned(), kind: StepKind::Write, logs: vec![0.0; 12] },
        reads("point-query", &around(-0.3, 0.01, 12)),
    ];
    blocks::run(&[steps])
}
