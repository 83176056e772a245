//! Means since the boot amid the reports of FreeBSD and illumos, which print no line when a recording begins.

use super::{Iostat, Report};
use crate::error::TextProblem;

/// How far a later mean since the boot may be from the first, besides a unit: the host ran on in between.
const SHARE: f64 = 0.1;
const UNIT: f64 = 1.0;

/// Reports that are means since the boot, and so are no samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BootAgain {
    /// The first of them, from 1, among all reports.
    first_no: usize,
    n: usize,
}

impl BootAgain {
    /// What is to be known of them.
    pub(super) fn problem(self) -> TextProblem {
        let Self { first_no, n } = self;
        let others = match n {
            1 => "it is".to_owned(),
            n => format!("it and {} more such reports are", n - 1),
        };
        format!(
            "report {first_no} is like the first, the mean since the boot, and unlike those around \
             it: {others} excluded, as iostat was restarted"
        )
        .into()
    }
}

/// Leaves out reports like the mean since the boot, where those before and after are not.
pub(super) fn exclude(boot: &Report, measured: &mut Vec<Report>) -> Option<BootAgain> {
    // Of a host that did next to nothing before, a pause of the step looks the same.
    let has_moved = boot.values().any(|device| values(device).any(|value| value > 10.0 * UNIT));
    if !has_moved {
        return None;
    }
    let like: Vec<bool> = measured.iter().map(|report| is_like(report, boot)).collect();
    let is_alone = |at: usize| {
        let is_other = |near: Option<usize>| near.and_then(|at| like.get(at)).is_some_and(|is| !is);
        like[at] && is_other(at.checked_sub(1)) && is_other(Some(at + 1))
    };
    let again: Vec<usize> = (0..like.len()).filter(|at| is_alone(*at)).collect();
    for at in again.iter().rev() {
        measured.remove(*at);
    }
    let first = again.first()?;
    Some(BootAgain { first_no: first + 2, n: again.len() })
}

fn values(device: &Iostat) -> impl Iterator<Item = f64> {
    let all = [device.reads_per_s, device.read_kb_per_s, device.written_kb_per_s];
    all.into_iter().flatten()
}

/// Whether all values of all devices are nearly the same.
fn is_like(report: &Report, boot: &Report) -> bool {
    let is_close = |own: f64, boot: f64| (own - boot).abs() <= SHARE * boot + UNIT;
    report.len() == boot.len()
        && report.iter().all(|(name, device)| {
            boot.get(name).is_some_and(|boot| {
                values(device).zip(values(boot)).all(|(own, boot)| is_close(own, boot))
            })
        })
}
