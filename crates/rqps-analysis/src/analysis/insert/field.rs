//! The metrics that the field prints for each step of the Insert Benchmark, by its names.

use rqps_model::metric;

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

#[cfg(test)]
mod tests {
    use super::*;

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
