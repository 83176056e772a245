//! What the calibration of the host says of a run's figures, in a sentence.

use rqps_model::{Calibrated, Host, Run};

use crate::number::utc;
use crate::words::{list, one_line};

/// How far a system differs from itself here, and what is seen; that the calibration was made
/// elsewhere, where it was. Nothing for a run without one.
pub(super) fn sentence(run: &Run) -> Option<String> {
    let Calibrated { made_unix_ms, host, system, seconds, apart, visible } =
        run.calibration.as_ref()?;
    let when = utc(*made_unix_ms);
    let day = when.split(' ').next().unwrap_or(&when);
    let seen = match visible {
        Some(visible) => {
            format!("; differences of {:.1}% are then seen four times in five", visible * 100.0)
        }
        None => String::new(),
    };
    let elsewhere = elsewhere(host, &run.host);
    let but = if elsewhere.is_empty() {
        String::new()
    } else {
        format!(
            " It was made on {}: calibrate anew before you trust small differences.",
            list(&elsewhere)
        )
    };
    Some(format!(
        "Calibrated on {day} with {}: A/A differs by at most {:.1}% after {seconds} s on each side{seen}.{but}",
        one_line(system),
        apart * 100.0
    ))
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
