//! Signals: those that ask for a clean end, and Ctrl-Z.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};
use rqps_runner::Suspension;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};

/// Those that ask for an end.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The first signal asks for a clean end; a second one ends rqps at once, and the kernel ends its servers
/// with it. SIGHUP is never a second one: a terminal that is closed sends it by its shell, and again when the shell
/// ends. What else interrupts (`--stop-after`) is no signal: the first one after it changes nothing.
/// Whoever started rqps by `nohup` wants it to outlive the terminal, and SIGHUP stays without effect.
pub(crate) fn listen(interrupt: &Arc<AtomicBool>, suspension: &Suspension) -> Result<()> {
    let is_second: Arc<AtomicBool> = Arc::default();
    // Where it cannot be read every signal is heard.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_heard = |signal: &i32| *signal != SIGHUP || !is_ignored(&status, SIGHUP);
    for signal in ENDING.into_iter().filter(is_heard) {
        if signal != SIGHUP {
            let is_second = Arc::clone(&is_second);
            signal_hook::flag::register_conditional_shutdown(signal, 130, is_second)
                .context("listen for signals")?;
        }
        signal_hook::flag::register(signal, Arc::clone(&is_second))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(interrupt)))
            .context("listen for signals")?;
    }
    // Stopped by Ctrl-Z at once, or in a moment when no server would stay stopped with it.
    signal_hook::flag::register_conditional_default(SIGTSTP, Arc::clone(&suspension.at_once))
        .and_then(|_| signal_hook::flag::register(SIGTSTP, Arc::clone(&suspension.asked)))
        .context("listen for signals")?;
    Ok(())
}

/// Lets signals that ask for an end change nothing.
pub(crate) fn pass_over() -> Result<()> {
    let unheard = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        let registered = signal_hook::flag::register(signal, Arc::clone(&unheard));
        registered.context("pass over signals")?;
    }
    Ok(())
}

/// Whether a process ignores a signal, by the text of its `/proc/PID/status` (proc_pid_status(5):
/// `SigIgn` is a mask in hexadecimal digits, whose lowest bit is signal 1).
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1_u64 << (signal - 1)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_ignored_from_the_start_is_read_off_the_mask() {
        let status = |mask: &str| format!("Name:\trqps\nSigBlk:\tffff\nSigIgn:\t{mask}\n");
        assert!(is_ignored(&status("0000000000000001"), SIGHUP));
        assert!(is_ignored(&status("0000000000001007"), SIGHUP));
        assert!(!is_ignored(&status("0000000000001006"), SIGHUP));
        assert!(is_ignored(&status("0000000000001006"), SIGINT));
        assert!(!is_ignored(&status("0000000000000000"), SIGTERM));
        assert!(!is_ignored("", SIGHUP) && !is_ignored("SigIgn:\tx\n", SIGHUP));
    }
}
