//! The noise of a host: `rqps calibrate` measures one system under two labels.

mod calibrated;
mod findings;

use serde::{Deserialize, Serialize};

use crate::{Estimate, Host, Placement};
pub use calibrated::{Calibrated, CalibratedStarts, Floor};
pub use findings::{Disturbance, Narrowest};

/// Half-widths of an interval that a difference must have, to be found with a chance of 80%:
/// (z(0.975) + z(0.8)) / z(0.975), of the normal distribution.
const VISIBLE: f64 = (1.960 + 0.842) / 1.960;

/// A calibration as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// When it was made, milliseconds since 1970.
    pub made_unix_ms: i64,
    /// Version of rqps that made it.
    pub rqps_version: String,
    /// Where.
    pub host: Host,
    /// The server that was measured against itself: `PostgreSQL 17.4`.
    pub system: String,
    /// Measured time of each trial on each side, seconds.
    pub seconds: f64,
    /// The trials, on point queries.
    pub trials: Vec<Trial>,
    /// The best placement for each number of clients that was tried.
    pub best: Vec<Best>,
    /// The best length of a slice, milliseconds.
    pub slice_ms: u32,
    /// The noise that remains with the best of these.
    pub floors: Vec<Floor>,
    /// Differences between starts of the servers.
    pub starts: Vec<CalibratedStarts>,
    /// How often injected slowdowns were found; empty where that was not tried.
    pub power: Vec<Power>,
    /// All slices and blocks; 0 in calibrations of older versions.
    #[serde(default)]
    pub n_slices: u32,
    /// What disturbed some of them.
    #[serde(default)]
    pub disturbances: Vec<Disturbance>,
    /// A location of the windows that is steadier here than the average; for information.
    #[serde(default)]
    pub narrowest: Option<Narrowest>,
}

/// A trial: one way to measure the same system under two labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Client threads.
    pub clients: u32,
    /// Where they ran.
    pub placement: Placement,
    /// Length of an interleaved slice, milliseconds; absent where one side came after the other, in
    /// slices of a second.
    pub slice_ms: Option<u32>,
    /// Operations per second of the first side.
    pub figure_per_s: f64,
    /// rQPS by each location of the windows, the average first; the others only where the sides were
    /// interleaved.
    pub located: Vec<Located>,
}

impl Trial {
    /// Half the width of the average's interval, as a share; absent without an interval.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.located.first().and_then(|first| first.ratio.half_width())
    }
}

/// rQPS at one location of the windows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Located {
    /// `average`, `median`, `midmean`, `p90`, `p80-95`.
    pub location: String,
    /// One side / the other: 1, except for noise.
    pub ratio: Estimate,
}

/// The best placement for a number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Best {
    /// Client threads.
    pub clients: u32,
    /// Where they are to run.
    pub placement: Placement,
}

impl Floor {
    /// The smallest difference that is found with a chance of 80% after the same time, as a share;
    /// absent without an interval. Never less than the difference of the system from itself.
    #[must_use]
    pub fn visible(&self) -> Option<f64> {
        let half_width = self.ratio.half_width()?;
        Some((half_width * VISIBLE).max(self.apart()))
    }

    /// The difference of the system from itself, as a share.
    #[must_use]
    pub fn apart(&self) -> f64 {
        (self.ratio.point - 1.0).abs()
    }
}

/// How often an injected slowdown was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// The step.
    pub step: String,
    /// Client threads.
    pub clients: u32,
    /// The injected slowdown, percent; 0 for none, where each find is a false one.
    pub injected_slowdown_pct: f64,
    /// Measurements.
    pub n: u32,
    /// Of these, with the whole interval below 1 (without an injected slowdown: with an interval
    /// that excludes 1).
    pub n_found: u32,
    /// Of these, with the verdict `slower` at the default bound (without an injected slowdown: `slower` or
    /// `faster`); absent in calibrations of older versions, as the next.
    #[serde(default)]
    pub n_judged: Option<u32>,
    /// The same at a bound of half the injected slowdown; absent without one.
    #[serde(default)]
    pub n_judged_at_half: Option<u32>,
    /// rQPS over all of them.
    pub ratio: Estimate,
}

impl Calibration {
    /// The best placement for `clients` clients: that of the nearest number tried; `None` above all
    /// of them.
    #[must_use]
    pub fn placement_for(&self, clients: u32) -> Option<Placement> {
        let fits = self.best.iter().filter(|best| best.clients >= clients);
        fits.min_by_key(|best| best.clients).map(|best| best.placement)
    }

    /// Whether it applies to a host: the same kind and number of CPUs.
    #[must_use]
    pub fn is_of(&self, host: &Host) -> bool {
        self.host.cpu_model == host.cpu_model && self.host.n_cpus == host.n_cpus
    }

    /// Its summary for a run.
    #[must_use]
    pub fn summary(&self) -> Calibrated {
        let worst = self.floors.iter().max_by(|a, b| a.apart().total_cmp(&b.apart()));
        let alike = || self.power.iter().filter(|power| power.injected_slowdown_pct <= 0.0);
        let false_alarms =
            alike().map(|power| (power.n_found, power.n)).reduce(|a, b| (a.0 + b.0, a.1 + b.1));
        let visible: Option<Vec<f64>> = self.floors.iter().map(Floor::visible).collect();
        Calibrated {
            made_unix_ms: self.made_unix_ms,
            host: self.host.clone(),
            system: self.system.clone(),
            seconds: self.floors.first().map_or(self.seconds, |floor| floor.seconds),
            apart: worst.map_or(0.0, Floor::apart),
            worst: worst.cloned(),
            false_alarms,
            visible: visible.and_then(|all| all.into_iter().reduce(f64::max)),
            starts: self.starts.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WarningKind;

    fn calibration() -> Calibration {
        let floor = |step: &str, point: f64, half: f64| Floor {
            step: step.to_owned(),
            clients: 2,
            seconds: 20.0,
            ratio: Estimate { point, interval: Some((point - half, point + half)), n: 8 },
        };
        Calibration {
            made_unix_ms: 0,
            rqps_version: "0.1.0".to_owned(),
            host: Host { cpu_model: "x".to_owned(), n_cpus: 8, ..Host::default() },
            system: "PostgreSQL 17.4".to_owned(),
            seconds: 10.0,
            trials: Vec::new(),
            best: vec![
                Best { clients: 8, placement: Placement::Free },
                Best { clients: 1, placement: Placement::Paired },
            ],
            slice_ms: 100,
            floors: vec![floor("point-query", 1.004, 0.01), floor("update-index", 0.985, 0.03)],
            starts: Vec::new(),
            power: Vec::new(),
            n_slices: 0,
            disturbances: Vec::new(),
            narrowest: None,
        }
    }

    #[test]
    fn the_nearest_number_of_clients_above_decides() {
        let found = [1, 2, 8, 9].map(|clients| calibration().placement_for(clients));
        let (free, paired) = (Some(Placement::Free), Some(Placement::Paired));
        assert_eq!(found, [paired, free, free, None]);
    }

    #[test]
    fn a_run_remembers_the_worst() {
        let summary = calibration().summary();
        assert!((summary.apart - 0.015).abs() < 1e-9 && (summary.seconds - 20.0).abs() < 1e-9);
        // 3% of 0.985, times 1.43.
        assert!((summary.visible.unwrap() - 0.03 / 0.985 * VISIBLE).abs() < 1e-9);
    }

    #[test]
    fn a_disturbance_counts_from_a_tenth_of_the_slices_on() {
        let disturbance = |kind: WarningKind, n| Disturbance { kind, n };
        let disturbances = vec![
            disturbance(WarningKind::Steal { pct: 5 }, 9),
            disturbance(WarningKind::Swapped { pages: 1 }, 10),
            disturbance(WarningKind::OtherProcesses { pct: 40 }, 60),
        ];
        let found = Calibration { n_slices: 100, disturbances, ..calibration() };
        let n: Vec<u32> = found.disturbed_by().iter().map(|d| d.n).collect();
        assert_eq!(n, [60, 10]);
        assert!(calibration().disturbed_by().is_empty());
    }

    #[test]
    fn another_cpu_is_another_host() {
        let calibration = calibration();
        let host = |n_cpus| Host { n_cpus, ..calibration.host.clone() };
        assert!(calibration.is_of(&host(8)) && !calibration.is_of(&host(4)));
    }
}
