//! What disturbed a calibration: the marks of its slices that the host is to blame for, by kind.

use std::mem::discriminant;

use rqps_model::calibration::Disturbance;
use rqps_model::{Calibration, Mark, Slice};

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
        for mark in slice.marks.iter().filter(|mark| badness(mark).is_some()) {
            let is_it = |d: &&mut Disturbance| discriminant(&d.mark) == discriminant(mark);
            match self.all.iter_mut().find(is_it) {
                Some(known) => {
                    known.n += 1;
                    if badness(mark) > badness(&known.mark) {
                        known.mark = mark.clone();
                    }
                }
                None => self.all.push(Disturbance { mark: mark.clone(), n: 1 }),
            }
        }
    }
}

/// How bad what the host did is, among marks of its kind; `None` for what a host does not do.
fn badness(mark: &Mark) -> Option<u64> {
    match mark {
        Mark::Steal { pct } | Mark::OtherProcesses { pct } => Some(u64::from(*pct)),
        Mark::Swapped { pages } => Some(*pages),
        Mark::Throttled { n } => Some(*n),
        Mark::FrequencyChanged { pct } => Some(u64::from(100_u32.saturating_sub(*pct))),
        Mark::Paused { seconds } => Some(u64::from(*seconds)),
        Mark::Errors { .. }
        | Mark::Failed { .. }
        | Mark::ClientBound { .. }
        | Mark::NotSettled { .. }
        | Mark::RateMissed { .. }
        | Mark::Colder { .. }
        | Mark::Handicapped { .. }
        | Mark::Resumed
        | Mark::Note { .. } => None,
    }
}

/// What disturbed a calibration so often that what it found may be that; `None` for a quiet one.
#[must_use]
pub fn disturbed(found: &Calibration) -> Option<String> {
    let parts: Vec<String> = found
        .disturbed_by()
        .into_iter()
        .map(|Disturbance { mark, n }| format!("{} in {n}", words(mark)))
        .collect();
    (!parts.is_empty()).then(|| format!("{} of {} slices", parts.join(", "), found.n_slices))
}

fn words(mark: &Mark) -> String {
    match mark {
        Mark::Steal { pct } => format!("the hypervisor took up to {pct}% of the CPU time"),
        Mark::OtherProcesses { pct } => {
            format!("other processes took up to {pct}% of the CPU time")
        }
        Mark::Paused { seconds } => format!("rqps or its host did not run for up to {seconds} s"),
        Mark::Swapped { .. } => "pages were swapped".to_owned(),
        Mark::Throttled { .. } => "hot CPUs were slowed down".to_owned(),
        Mark::FrequencyChanged { pct } => format!("CPUs ran at down to {pct}% of their frequency"),
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
            |marks| crate::engine::window::slice_of(&tally, 0, 1, Default::default(), marks);
        let mut disturbed = Disturbed::default();
        let others = |pct| Mark::OtherProcesses { pct };
        for marks in [
            vec![others(4), Mark::ClientBound { pct: 90 }],
            vec![others(31), Mark::Swapped { pages: 2 }],
            vec![others(12), Mark::FrequencyChanged { pct: 70 }],
            vec![Mark::FrequencyChanged { pct: 60 }],
            vec![Mark::Note { text: "x".to_owned() }],
        ] {
            disturbed.add(&slice(marks));
        }
        assert_eq!(disturbed.n_slices, 5);
        let found: Vec<(Mark, u32)> = disturbed.all.iter().map(|d| (d.mark.clone(), d.n)).collect();
        let expected = [
            (others(31), 3),
            (Mark::Swapped { pages: 2 }, 1),
            (Mark::FrequencyChanged { pct: 60 }, 2),
        ];
        assert_eq!(found, expected);
    }
}
