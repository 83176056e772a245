//! Background work of a server that begins within a step: settling brought it to rest, or it had not begun, and
//! blocks that have it stand beside blocks that have not.
//!
//! What tells it is the same for every server: CPU of threads that serve no client, and bytes that a server
//! writes where no statement writes. Servers read what they have left to do at the end of some steps only.

use rqps_model::warning::BackgroundWork;
use rqps_model::{Slice, StepKind, WarningKind};

/// Share of the host's CPU time that threads which serve no client use at most in a block at rest, and the one
/// from which on they are at work: that from which on other processes are told of
/// ([`rqps_model::Usage::others_pct`]), as both take it from the clients and those that serve them.
const CPU: Bounds = Bounds { rest: 0.01, work: 0.04 };

/// The same of bytes written, where they are no statement's: those of reads that tell colder caches.
const BYTES: Bounds = Bounds { rest: 65_536.0, work: 1_048_576.0 };

/// What a block at rest has at most, and one at work at least.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    rest: f64,
    work: f64,
}

/// The warning of a step; `None` where nothing began.
pub(super) fn began(kind: StepKind, slices: &[Slice]) -> Option<WarningKind> {
    let work = |values: Vec<f64>| {
        let most = values.iter().copied().reduce(f64::max)?;
        Some(BackgroundWork { most, n: values.len() })
    };
    let cpu = work(after_rest(slices, CPU, other_threads));
    let written = work(after_rest(slices, BYTES, written)).filter(|_| kind == StepKind::Read);
    let are_blocks = slices.iter().any(|slice| slice.n_rounds.is_some());
    let n_slices = slices.len();
    (cpu.is_some() || written.is_some()).then_some(WarningKind::BackgroundBegan {
        cpu,
        written,
        n_slices,
        are_blocks,
    })
}

/// The values of slices at work that come after one at rest, on the same start of the servers.
fn after_rest(slices: &[Slice], bounds: Bounds, value: impl Fn(&Slice) -> Option<f64>) -> Vec<f64> {
    let mut out = Vec::new();
    for of_start in slices.chunk_by(|a, b| a.start == b.start) {
        let mut was_at_rest = false;
        for value in of_start.iter().filter_map(&value) {
            if was_at_rest && value >= bounds.work {
                out.push(value);
            }
            was_at_rest |= value <= bounds.rest;
        }
    }
    out
}

/// Share of the host's CPU time that threads of the server used which serve no client; `None` where they are
/// not known.
fn other_threads(slice: &Slice) -> Option<f64> {
    let usage = &slice.usage;
    let other_ns = usage.server?.cpu_total_ns.saturating_sub(usage.waits.served_cpu_ns?);
    let whole_ns = usage.wall_ns as f64 * f64::from(usage.host.n_cpus);
    (whole_ns > 0.0).then(|| other_ns as f64 / whole_ns)
}

fn written(slice: &Slice) -> Option<f64> {
    slice.usage.server.map(|server| server.write_bytes as f64)
}
