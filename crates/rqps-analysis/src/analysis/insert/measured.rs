//! What is said of a cell of the Insert Benchmark that has its figure.

use rqps_model::run::SystemStep;
use rqps_model::{Estimate, Role, RunStep, Slice, Stated, StepKind, Usage};

use super::field::{FIELD_METRICS, FieldMetrics};
use super::{Flow, InsertCell, Sla, flow};
use crate::analysis::memory;
use crate::analysis::totals::Totals;
use crate::response::ResponseTimes;

const MB: f64 = 1_048_576.0;
const GB: f64 = 1_073_741_824.0;

/// What its cell has whatever the suite.
#[derive(Clone, Copy)]
pub(in crate::analysis) struct Beside<'c> {
    pub(in crate::analysis) figure: Option<Estimate>,
    pub(in crate::analysis) totals: Totals,
    pub(in crate::analysis) response: Option<&'c ResponseTimes>,
}

/// What is said of a cell that has its figure.
pub(in crate::analysis) fn measure(
    step: &RunStep,
    system: &SystemStep,
    cell: Beside<'_>,
) -> InsertCell {
    let mut flows = flow::flows(step, system);
    // One thing has one figure.
    for own in flows.iter_mut().filter(|flow| flow.is_own) {
        own.rate_per_s = cell.figure.map_or(own.rate_per_s, |figure| figure.point);
    }
    let sla = flows.iter().find(|f| f.role == Role::Insert).and_then(Sla::of);
    let field = metrics(step, system, cell, &flows);
    let is_stated = system.slices.iter().any(|slice| slice.stated.is_some());
    InsertCell { flows, sla, field, is_stated }
}

/// The metrics of a cell that has its figure; of an imported one as its file states them.
fn metrics(step: &RunStep, system: &SystemStep, cell: Beside<'_>, flows: &[Flow]) -> FieldMetrics {
    if let [Slice { stated: Some(stated), .. }] = system.slices.as_slice() {
        return of_stated(stated);
    }
    let flow = |role: Role| flows.iter().find(|f| f.role == role);
    let queries = step.info.kind == StepKind::Mixed;
    let own = flows.iter().find(|f| f.is_own);
    // The step's figure: a report has one for one thing.
    let own_rate = cell.figure.map_or(0.0, |figure| figure.point);
    let inserts = flow(Role::Insert);
    let (ips, n_inserts) = if queries {
        (inserts.map(|f| f.rate_per_s), inserts.map_or(0, |f| f.n_operations))
    } else {
        (Some(own_rate), cell.totals.n_operations)
    };
    let used = system.slices.iter().map(|s| s.usage).reduce(|sum, one| sum.plus(&one));
    let used = used.unwrap_or_default();
    let seconds = used.wall_ns as f64 / 1e9;
    let [per_s, per_op, per_row] = [seconds, cell.totals.n_operations as f64, n_inserts as f64]
        .map(|by| move |total: Option<f64>| total.filter(|_| by > 0.0).map(|total| total / by));
    let Used { reads, read_bytes, writes, write_bytes, switches, cpu_ns } = totals(&used);
    let gb = |bytes: Option<u64>| bytes.map(|b| b as f64 / GB);
    let cpus = f64::from(used.host.n_cpus.max(1));
    let kb = |bytes: Option<f64>| bytes.map(|b| b / 1024.0);
    let slowest = own.and_then(|f| f.response.as_ref()).or(cell.response);
    let [p50, p99] = [0.50, 0.99].map(|share| own.and_then(|f| reached(&f.seconds, share)));
    FieldMetrics {
        values: [
            ips,
            Some(if queries { own_rate } else { 0.0 }),
            per_s(reads),
            per_s(read_bytes).map(|b| b / MB),
            per_s(writes),
            per_s(write_bytes).map(|b| b / MB),
            per_op(reads),
            kb(per_op(read_bytes)),
            per_row(writes),
            kb(per_row(write_bytes)),
            per_s(switches),
            per_s(cpu_ns).map(|ns| ns / 1e9 / cpus * 100.0),
            per_op(switches),
            per_op(cpu_ns).map(|ns| ns / 1e3),
            gb(system.sizes.database_bytes),
            gb(system.sizes.data_dir_bytes),
            gb(memory::last_reading(&system.slices)),
            slowest.map(|r| r.max_ns as f64 / 1e9),
            p50,
            p99,
        ],
    }
}

fn of_stated(stated: &Stated) -> FieldMetrics {
    FieldMetrics { values: FIELD_METRICS.map(|metric| stated.column(metric.name)) }
}

/// What the whole step used.
struct Used {
    reads: Option<f64>,
    read_bytes: Option<f64>,
    writes: Option<f64>,
    write_bytes: Option<f64>,
    switches: Option<f64>,
    cpu_ns: Option<f64>,
}

fn totals(used: &Usage) -> Used {
    let storage = used.storage;
    let host = &used.host;
    Used {
        reads: storage.map(|s| s.reads as f64),
        read_bytes: storage.map(|s| s.read_bytes as f64),
        writes: storage.map(|s| s.writes as f64),
        write_bytes: storage.map(|s| s.write_bytes as f64),
        switches: Some(host.context_switches as f64),
        cpu_ns: Some(host.cpu_user_ns.saturating_add(host.cpu_system_ns) as f64),
    }
}

/// The rate that a `share` of the seconds reached or exceeded.
fn reached(seconds: &[Vec<f64>], share: f64) -> Option<f64> {
    let mut all: Vec<f64> = seconds.iter().flatten().copied().collect();
    all.sort_by(|a, b| b.total_cmp(a));
    // The first of them, from the fastest down, that completes the share.
    let place =
        all.iter().zip(1_u32..).find(|(_, n)| f64::from(*n) >= share * all.len() as f64 - 1e-9);
    place.map(|(rate, _)| *rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_a_share_of_the_seconds_reached() {
        let seconds = vec![vec![50.0, 10.0, 40.0], vec![30.0]];
        assert_eq!(reached(&seconds, 0.5), Some(40.0));
        assert_eq!(reached(&seconds, 0.99), Some(10.0));
        assert_eq!(reached(&[], 0.5), None);
    }

    #[test]
    fn imported_values_are_those_of_the_file() {
        let columns = vec![("p99".to_owned(), 3050.0), ("other".to_owned(), 1.0)];
        let own = of_stated(&Stated { columns, ..Stated::default() });
        assert_eq!((own.get("p99"), own.get("p50")), (Some(3050.0), None));
        assert_eq!(own.values.iter().flatten().count(), 1);
    }
}
