//! Whether the host is quiet before a run measures.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rqps_sample::{Busy, busy};

use crate::journal::Journal;
use crate::run_context::RunContext;

/// How long a look takes.
const LOOK: Duration = Duration::from_secs(1);

/// A host whose CPUs are used for a smaller share than this is quiet.
const QUIET_SHARE: f64 = 0.10;

/// Looks in a row that find the host quiet, after which a run that waits begins.
const LOOKS: u32 = 3;

/// Runs that are expected to take less are begun without a look: it would cost them more than it tells.
const SHORT: Duration = Duration::from_secs(60);

/// Looks who uses the CPUs before the run has started a server. Waits for a quiet host where that is asked for; else only
/// says what it found.
///
/// # Errors
/// When the host was not quiet in the time that was given, or the user has interrupted.
pub(crate) fn look(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    expected: Duration,
) -> Result<()> {
    let Some(at_most) = run.environment.wait_for_quiet else {
        if expected >= SHORT
            && let Some(found) = busy(LOOK).filter(|found| found.share >= QUIET_SHARE)
        {
            journal.note(&format!(
                "{}. A step has no verdict when the host is busy for half of it. \
                 --wait-for-quiet 10m waits for a quiet host",
                told(&found)
            ));
        }
        return Ok(());
    };
    let since = Instant::now();
    let (mut n_quiet, mut is_told) = (0, false);
    while n_quiet < LOOKS {
        run.check_interrupt()?;
        let Some(found) = busy(LOOK) else { return Ok(()) };
        if found.share < QUIET_SHARE {
            n_quiet += 1;
            continue;
        }
        n_quiet = 0;
        if since.elapsed() >= at_most {
            bail!(
                "{} after {} s of waiting (--wait-for-quiet); stop other programs, wait longer, \
                 or leave the option out",
                told(&found),
                since.elapsed().as_secs()
            );
        }
        if !is_told {
            journal.note(&format!("{}; the run begins when the host is quiet", told(&found)));
            is_told = true;
        }
    }
    Ok(())
}

/// `71% of this host's CPU is in use (rustc 46%, cc1 20%)`
fn told(found: &Busy) -> String {
    let one = |(name, share): &(String, f64)| format!("{name} {:.0}%", share * 100.0);
    let programs: Vec<String> = found.programs.iter().map(one).collect();
    let of =
        if programs.is_empty() { String::new() } else { format!(" ({})", programs.join(", ")) };
    format!("{:.0}% of this host's CPU is in use{of}", found.share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_uses_the_cpus_is_named() {
        let programs = vec![("rustc".to_owned(), 0.46), ("cc1".to_owned(), 0.2)];
        assert_eq!(
            told(&Busy { share: 0.71, programs }),
            "71% of this host's CPU is in use (rustc 46%, cc1 20%)"
        );
        let none = Busy { share: 0.5, programs: Vec::new() };
        assert_eq!(told(&none), "50% of this host's CPU is in use");
    }
}
