//! The metrics that the field prints for each step of the Insert Benchmark, by its names.

use rqps_model::metric;

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldMetric {
    /// The field's name of it.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
}

const fn one(name: &'static str, unit: &'static str) -> FieldMetric {
    FieldMetric { name, unit }
}

/// The metrics in the field's order.
pub const FIELD_METRICS: [FieldMetric; 20] = [
    one("ips", "rows/s"),
    one("qps", "queries/s"),
    one("rps", "reads/s"),
    one("rmbps", "MB/s"),
    one("wps", "writes/s"),
    one("wmbps", "MB/s"),
    one("rpq", "count"),
    one("rkbpq", "KB"),
    one("wpi", "count"),
    one("wkbpi", "KB"),
    one("csps", "count/s"),
    one("cpups", "%"),
    one("cspq", "count"),
    one("cpupq", "us"),
    one("dbgb1", "GB"),
    one("dbgb2", "GB"),
    one("rss", "GB"),
    one("maxop", "s"),
    one("p50", "per s"),
    one("p99", "per s"),
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
