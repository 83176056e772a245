//! The metrics that the field prints for each step of the Insert Benchmark, by its names.

use rqps_model::run::SystemStep;
use rqps_model::{Role, RunStep, Slice, Stated, StepKind, Usage, metric};

use super::Flow;
use crate::analysis::{Cell, memory};

const MB: f64 = 1_048_576.0;
const GB: f64 = 1_073_741_824.0;

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldMetric {
    /// The field's name of it.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

const fn one(name: &'static str, unit: &'static str, meaning: &'static str) -> FieldMetric {
    FieldMetric { name, unit, meaning }
}

/// The metrics in the field's order.
pub const FIELD_METRICS: [FieldMetric; 20] = [
    one("ips", "rows/s", "rows inserted per second; in l.x rows indexed"),
    one("qps", "queries/s", "queries per second"),
    one("rps", "reads/s", "storage reads per second"),
    one("rmbps", "MB/s", "MB read from storage per second"),
    one("wps", "writes/s", "storage writes per second"),
    one("wmbps", "MB/s", "MB written to storage per second"),
    one("rpq", "count", "storage reads per query; per row where the step does not query"),
    one("rkbpq", "KB", "KB read from storage per query or row, as rpq"),
    one("wpi", "count", "storage writes per row inserted"),
    one("wkbpi", "KB", "KB written to storage per row inserted"),
    one("csps", "count/s", "context switches of the host per second"),
    one("cpups", "%", "CPU of the whole host, user and system, all CPUs together are 100"),
    one("cspq", "count", "context switches of the host per query or row, as rpq"),
    one("cpupq", "us", "CPU of the whole host per query or row, as rpq"),
    one("dbgb1", "GB", "tables and indexes after the step"),
    one("dbgb2", "GB", "data directory after the step"),
    one("rss", "GB", "resident memory of the server at the end of the step, one reading"),
    one("maxop", "s", "slowest of the operations that the figure counts"),
    one("p50", "per s", "rate that half of the seconds reached or exceeded"),
    one("p99", "per s", "rate that 99% of the seconds reached or exceeded"),
];

/// Their values; absent where not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldMetrics {
    /// In the order of [`FIELD_METRICS`].
    pub values: [Option<f64>; FIELD_METRICS.len()],
}

impl FieldMetrics {
    /// The value of the metric of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values[FIELD_METRICS.iter().position(|m| m.name == name)?]
    }

    /// Each value / the base's: 0/0 is 1, x/0 is infinite.
    #[must_use]
    pub fn relative_to(&self, base: &Self) -> Self {
        let mut values = [None; FIELD_METRICS.len()];
        for (value, (own, base)) in values.iter_mut().zip(self.values.iter().zip(base.values)) {
            *value = own.zip(base).map(|(own, base)| metric::relative(own, base));
        }
        Self { values }
    }
}

/// The metrics of a cell that has its figure; of an imported one as its file states them.
pub(super) fn metrics(
    step: &RunStep,
    system: &SystemStep,
    (cell, flows): (&Cell, &[Flow]),
) -> FieldMetrics {
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
    let Totals { reads, read_bytes, writes, write_bytes, switches, cpu_ns } = totals(&used);
    let gb = |bytes: Option<u64>| bytes.map(|b| b as f64 / GB);
    let cpus = f64::from(used.host.n_cpus.max(1));
    let kb = |bytes: Option<f64>| bytes.map(|b| b / 1024.0);
    let slowest = own.and_then(|f| f.response.as_ref()).or(cell.response.as_ref());
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
            gb(cell.sizes.database_bytes),
            gb(cell.sizes.data_dir_bytes),
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
struct Totals {
    reads: Option<f64>,
    read_bytes: Option<f64>,
    writes: Option<f64>,
    write_bytes: Option<f64>,
    switches: Option<f64>,
    cpu_ns: Option<f64>,
}

fn totals(used: &Usage) -> Totals {
    let storage = used.storage;
    let host = &used.host;
    Totals {
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

    #[test]
    fn relative_values_follow_the_field() {
        let mut base = FieldMetrics { values: [Some(0.0); 20] };
        let mut own = base.clone();
        (own.values[1], own.values[2], base.values[3]) = (Some(2.0), None, Some(4.0));
        let relative = own.relative_to(&base);
        assert_eq!(&relative.values[..4], [Some(1.0), Some(f64::INFINITY), None, Some(0.0)]);
        assert_eq!(own.get("qps"), Some(2.0));
        assert_eq!(own.get("tag"), None);
    }
}
