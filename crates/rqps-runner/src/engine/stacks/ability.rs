//! What perf can do on this host and for this user, and the command that would let it do more.

use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::geteuid;
use rqps_sample::condition;
use rqps_stacks::counter_text::parse_counters;
use rqps_stacks::profile::NotHad;

/// What lets an ordinary user sample his own processes, the kernel's part included.
const ALLOW: &str = "sysctl kernel.perf_event_paranoid=1 (as root)";

/// The package with perf, as Debian and Ubuntu name it.
const INSTALL: &str = "apt-get install linux-perf";

/// What perf can sample on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// perf's event for CPU time: with the kernel's part if this user may see that part.
    pub event: &'static str,
    /// What is not available, with the command that helps.
    pub missing: Vec<NotHad>,
    /// Whether the CPU has counters of cycles and instructions that perf can read.
    pub has_counters: bool,
}

/// Finds out what perf can sample.
///
/// # Errors
/// What keeps perf from sampling at all.
pub fn look() -> Result<Ability, NotHad> {
    let version = perf().arg("--version").output();
    let has_perf = version.is_ok_and(|output| output.status.success());
    let level = condition(Path::new("/")).perf_event_paranoid;
    let ability = judge(has_perf, level, geteuid().is_root())?;
    let has_counters = has_counters();
    let mut missing = ability.missing;
    if !has_counters {
        missing.push(NotHad {
            what: "hardware counters".to_owned(),
            reason: "this CPU or its hypervisor provides none (cycles, instructions, cache misses)"
                .to_owned(),
            remedy: String::new(),
        });
    }
    Ok(Ability { missing, has_counters, ..ability })
}

/// What follows from what was found: perf_event_open(2) and Documentation/admin-guide/sysctl/kernel.rst.
/// Above 2, Debian's and Ubuntu's kernels refuse ordinary users altogether.
fn judge(has_perf: bool, level: Option<i64>, is_root: bool) -> Result<Ability, NotHad> {
    let not_had = |what: &str, reason: String, remedy: &str| NotHad {
        what: what.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    };
    if !has_perf {
        let reason = "perf is not found, or does not run with this kernel".to_owned();
        return Err(not_had("stacks", reason, INSTALL));
    }
    let full = Ability { event: "cpu-clock", missing: Vec::new(), has_counters: false };
    match level {
        _ if is_root => Ok(full),
        Some(level) if level > 2 => {
            let reason = format!("kernel.perf_event_paranoid is {level}: only root may sample");
            Err(not_had("stacks", reason, ALLOW))
        }
        Some(2) => {
            let reason = "kernel.perf_event_paranoid is 2: only root may sample it".to_owned();
            let missing = vec![not_had("the kernel's part of the stacks", reason, ALLOW)];
            Ok(Ability { event: "cpu-clock:u", missing, ..full })
        }
        _ => Ok(full),
    }
}

/// Whether perf counts cycles here.
fn has_counters() -> bool {
    let output = perf().args(["stat", "-x,", "-e", "cycles:u", "--", "true"]).output();
    let Ok(output) = output else { return false };
    let text = String::from_utf8_lossy(&output.stderr);
    parse_counters(&text).is_ok_and(|all| all.iter().any(|counter| counter.value.is_some()))
}

/// perf without the user's settings, input, or language.
pub(super) fn perf() -> Command {
    let mut command = Command::new("perf");
    rqps_server::secrets::keep_from(&mut command);
    command.env("LC_ALL", "C").env("PERF_CONFIG", "/dev/null").stdin(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_decide_what_is_sampled() {
        let event =
            |level, is_root| judge(true, level, is_root).map(|a| (a.event, a.missing.len()));
        assert_eq!(event(Some(4), true), Ok(("cpu-clock", 0)));
        assert_eq!(event(Some(1), false), Ok(("cpu-clock", 0)));
        assert_eq!(event(Some(-1), false), Ok(("cpu-clock", 0)));
        assert_eq!(event(None, false), Ok(("cpu-clock", 0)));
        assert_eq!(event(Some(2), false), Ok(("cpu-clock:u", 1)));
    }

    #[test]
    fn what_is_missing_names_its_remedy() {
        let missing = judge(false, Some(1), true).unwrap_err();
        assert_eq!(missing.remedy, "apt-get install linux-perf");
        let missing = judge(true, Some(3), false).unwrap_err();
        assert!(missing.reason.contains("is 3"), "{missing:?}");
        assert_eq!(missing.remedy, "sysctl kernel.perf_event_paranoid=1 (as root)");
    }
}
