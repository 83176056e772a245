//! What the calibration of the host says of a run's figures.

use rqps_model::WarningKind;

use super::Analysis;

/// What was found, and that it was elsewhere, where it was. Nothing for a run without a calibration.
pub(super) fn calibrated(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let found = Box::new(analysis.calibration()?.clone());
    let host = analysis.host();
    let other = |of: &str, now: &str| (of != now).then(|| now.to_owned());
    let other_host = other(&found.host.hostname, &host.hostname);
    let other_kernel = other(&found.host.kernel, &host.kernel);
    Some(WarningKind::Calibrated { found, other_host, other_kernel })
}
