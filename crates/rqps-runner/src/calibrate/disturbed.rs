//! What disturbed a calibration: the warnings of its slices that the host is to blame for, by kind.

use std::mem::discriminant;

use rqps_model::calibration::Disturbance;
use rqps_model::{Calibration, Slice, WarningKind};

/// Slices so far, and what disturbed them.
#[derive(Debug, Default)]
pub(super) struct Disturbed {
    pub(super) n_slices: u32,
    pub(super) all: Vec<Disturbance>,
}

impl Disturbed {
    /// Counts a slice.
    pub(super) fn add(&mut self, slice: &Slice) {
        self.n_slices += 1;
        for warning in slice.warnings.iter().filter(|warning| badness(warning).is_some()) {
            let is_it = |d: &&mut Disturbance| discriminant(&d.kind) == discriminant(warning);
            match self.all.iter_mut().find(is_it) {
                Some(known) => {
                    known.n += 1;
                    if badness(warning) > badness(&known.kind) {
                        known.kind = warning.clone();
                    }
                }
                None => self.all.push(Disturbance { kind: warning.clone(), n: 1 }),
            }
        }
    }
}

/// How bad what the host did is, among warnings of its kind; `None` for what a host does not do.
fn badness(warning: &WarningKind) -> Option<u64> {
    match warning {
        WarningKind::Steal { pct } | WarningKind::OtherProcesses { pct } => Some(u64::from(*pct)),
        WarningKind::Swapped { pages } => Some(*pages),
        WarningKind::Throttled { n } => Some(*n),
        WarningKind::FrequencyChanged { pct } => Some(u64::from(100_u32.saturating_sub(*pct))),
        WarningKind::Paused { seconds } => Some(u64::from(*seconds)),
        _ => None,
    }
}

/// Disturbances that make a calibration doubtful; `None` for a quiet one.
#[must_use]
pub fn disturbed(found: &Calibration) -> Option<String> {
    let parts: Vec<String> = found
        .disturbed_by()
        .into_iter()
        .map(|Disturbance { kind, n }| format!("{} in {n}", words(kind)))
        .collect();
    (!parts.is_empty()).then(|| format!("{} of {} slices", parts.join(", "), found.n_slices))
}

fn words(warning: &WarningKind) -> String {
    match warning {
        WarningKind::Steal { pct } => format!("the hypervisor took up to {pct}% of the CPU time"),
        WarningKind::OtherProcesses { pct } => {
            format!("other processes took up to {pct}% of the CPU time")
        }
        WarningKind::Paused { seconds } => {
            format!("rqps or the host was paused for up to {seconds} s")
        }
        WarningKind::Swapped { .. } => "pages were swapped".to_owned(),
        WarningKind::Throttled { .. } => "hot CPUs were throttled".to_owned(),
        WarningKind::FrequencyChanged { pct } => {
            format!("the CPU frequency fell to {pct}%")
        }
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_did_is_counted_by_kind() {
        let order = rqps_load::Order {
            pace: rqps_load::Pace::Closed,
            stop: rqps_load::Stop::Events(0),
            seed: 1,
        };
        let tally = rqps_load::Tally::for_order(&order);
        let slice =
            |warnings| crate::engine::window::slice_of(&tally, 0, 1, Default::default(), warnings);
        let mut disturbed = Disturbed::default();
        let others = |pct| WarningKind::OtherProcesses { pct };
        for warnings in [
            vec![others(4), WarningKind::ClientBound { pct: 90 }],
            vec![others(31), WarningKind::Swapped { pages: 2 }],
            vec![others(12), WarningKind::FrequencyChanged { pct: 70 }],
            vec![WarningKind::FrequencyChanged { pct: 60 }],
            vec![WarningKind::Resumed],
        ] {
            disturbed.add(&slice(warnings));
        }
        assert_eq!(disturbed.n_slices, 5);
        let found: Vec<(WarningKind, u32)> =
            disturbed.all.iter().map(|d| (d.kind.clone(), d.n)).collect();
        let expected = [
            (others(31), 3),
            (WarningKind::Swapped { pages: 2 }, 1),
            (WarningKind::FrequencyChanged { pct: 60 }, 2),
        ];
        assert_eq!(found, expected);
    }
}
