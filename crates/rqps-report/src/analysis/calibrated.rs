//! What the calibration of the host says of a run's figures, in a sentence.

use rqps_model::calibration::Floor;
use rqps_model::{Calibrated, Estimate, Host};

use super::Analysis;
use crate::number::{count, utc};
use crate::words::{list, one_line};

/// How far a system differs from itself here, and what is seen; that the calibration was made
/// elsewhere, where it was. Nothing for a run without one.
pub(super) fn sentence(analysis: &Analysis<'_>) -> Option<String> {
    let calibrated = analysis.calibration()?;
    let when = utc(calibrated.made_unix_ms);
    let day = when.split(' ').next().unwrap_or(&when);
    let elsewhere = elsewhere(&calibrated.host, analysis.host());
    let but = if elsewhere.is_empty() {
        String::new()
    } else {
        format!(
            " It was made on {}: calibrate anew before you trust small differences.",
            list(&elsewhere)
        )
    };
    let seen = match calibrated.visible {
        Some(visible) => format!(
            "; differences of {:.1}% and more are then seen four times in five on every step that \
             was tried",
            visible * 100.0
        ),
        None => String::new(),
    };
    let alarms = match calibrated.false_alarms {
        Some((n_found, n)) => format!("; {n_found} of {n} A/A intervals did not hold 1"),
        None => String::new(),
    };
    Some(format!(
        "Calibrated on {day} with {} on one start of each server: A/A differs by at most {:.1}%{} after \
         {} s on each side{seen}{alarms}.{but}",
        one_line(&calibrated.system),
        calibrated.apart * 100.0,
        worst(calibrated),
        calibrated.seconds
    ))
}

/// The step with the largest difference, and its interval.
fn worst(calibrated: &Calibrated) -> String {
    let Some(Floor { step, clients, ratio, .. }) = &calibrated.worst else { return String::new() };
    let interval = interval(ratio);
    format!(
        " ({}, {}: {:.3} {interval})",
        one_line(step),
        count(usize::try_from(*clients).unwrap_or(usize::MAX), "client"),
        ratio.point
    )
}

fn interval(ratio: &Estimate) -> String {
    match ratio.interval {
        Some((low, high)) => format!("[{low:.3}, {high:.3}]"),
        None => "n=1".to_owned(),
    }
}

/// What was another host or kernel.
fn elsewhere(of: &Host, run: &Host) -> Vec<String> {
    let mut all = Vec::new();
    if of.hostname != run.hostname {
        all.push(format!(
            "the host {} (this is {})",
            one_line(&of.hostname),
            one_line(&run.hostname)
        ));
    }
    if of.kernel != run.kernel {
        all.push(format!("kernel {} (this is {})", one_line(&of.kernel), one_line(&run.kernel)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_kernel_is_told() {
        let host = |kernel: &str| Host {
            hostname: "h".to_owned(),
            kernel: kernel.to_owned(),
            ..Host::default()
        };
        assert!(elsewhere(&host("6.1"), &host("6.1")).is_empty());
        assert_eq!(elsewhere(&host("6.1"), &host("6.2")), ["kernel 6.1 (this is 6.2)"]);
    }
}
