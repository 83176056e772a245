//! The CPU and the storage traffic of a split that causes use.

use rqps_model::Metric;

use crate::part::TimePart;
use crate::quantity::Quantity;
use crate::split::{Change, Split};

/// Storage traffic below this many KB per operation, and changes below it, are nothing.
const NO_KB: f64 = 0.02;

/// Largest difference of CPU or storage traffic per operation that counts as unchanged.
pub const UNCHANGED: f64 = 0.1;

impl Split {
    /// The change of some parts together, microseconds.
    #[must_use]
    pub fn change_us(&self, parts: &[TimePart]) -> Option<f64> {
        parts.iter().map(|part| Some(self.part(*part)?.difference.point)).sum()
    }

    /// Whether the CPU of all server threads changed differently from that of connection threads,
    /// which the parts are about: less background work can hide more CPU of connection threads.
    #[must_use]
    pub fn is_told_apart(&self, parts: &[TimePart]) -> bool {
        let all = self.quantity(Quantity::Metric(Metric::ServerCpu)).and_then(Change::times);
        let serving = self.part(TimePart::Server).and_then(Change::times);
        let is_about = parts.contains(&TimePart::Server) && !parts.contains(&TimePart::Background);
        let (Some(all), Some(serving)) = (all, serving) else { return false };
        let is_other_way = (all - 1.0) * (serving - 1.0) < 0.0;
        let hides_it =
            (all - 1.0).abs() < UNCHANGED / 2.0 && (serving - 1.0).abs() > UNCHANGED / 2.0;
        is_about && ((all / serving - 1.0).abs() > UNCHANGED || is_other_way || hides_it)
    }

    /// Whether the server's CPU is that of the measured clients' connection threads. Else it is
    /// that of the whole server, as in the reports' tables.
    #[must_use]
    pub fn is_of_serving(&self, parts: &[TimePart]) -> bool {
        self.others_beside || self.is_told_apart(parts)
    }

    /// The server's CPU per operation; that of the measured clients' connection threads, where
    /// other clients work beside them, or where it changed differently.
    #[must_use]
    pub fn server_cpu(&self, parts: &[TimePart]) -> Option<&Change> {
        if self.is_of_serving(parts) {
            return self.part(TimePart::Server);
        }
        self.quantity(Quantity::Metric(Metric::ServerCpu))
    }

    /// Whether neither reads nor writes changed; `None` where they were not measured.
    #[must_use]
    pub fn is_io_unchanged(&self) -> Option<bool> {
        let all = self.traffic();
        (!all.is_empty()).then(|| all.iter().all(|(_, change)| is_same_traffic(change)))
    }

    /// Reads and writes per operation; empty where other clients work beside the measured ones.
    #[must_use]
    pub fn traffic(&self) -> Vec<(Quantity, Change)> {
        if self.others_beside {
            return Vec::new();
        }
        let device = [Quantity::Metric(Metric::ReadKb), Quantity::Metric(Metric::WrittenKb)];
        let own = [Quantity::ServerReadKb, Quantity::ServerWrittenKb];
        let known = |of: [Quantity; 2]| -> Vec<(Quantity, Change)> {
            of.into_iter().filter_map(|q| Some((q, *self.quantity(q)?))).collect()
        };
        let found = known(device);
        if found.is_empty() { known(own) } else { found }
    }
}

/// Whether storage traffic is unchanged: the difference is small, not only within chance.
#[must_use]
pub fn is_same_traffic(change: &Change) -> bool {
    let is_nothing = change.base < NO_KB && change.candidate < NO_KB;
    let is_small = change.difference.point.abs() < NO_KB;
    let is_alike = change.times().is_some_and(|times| (times - 1.0).abs() <= UNCHANGED);
    is_nothing || is_small || is_alike
}
