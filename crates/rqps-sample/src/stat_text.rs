//! Reads the text of /proc/stat: CPU time by kind, context switches, run queue.

use crate::TextError;

/// What /proc/stat says of the whole host (`proc_stat(5)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostStat {
    /// `user` + `nice`, ticks. The kernel counts `guest` in `user` and `guest_nice` in `nice`
    /// already, so that those two are not added.
    pub user_ticks: u64,
    /// `system` + `irq` + `softirq`, ticks.
    pub system_ticks: u64,
    /// `idle`, ticks.
    pub idle_ticks: u64,
    /// `iowait`, ticks.
    pub iowait_ticks: u64,
    /// `steal`, ticks; 0 before Linux 2.6.11.
    pub steal_ticks: u64,
    /// `ctxt`.
    pub context_switches: u64,
    /// `procs_running`.
    pub procs_running: u64,
    /// `procs_blocked`.
    pub procs_blocked: u64,
    /// Lines `cpuN`: CPUs that are online.
    pub n_cpus: u32,
}

/// Reads the text of /proc/stat. Lines that are not asked for are not looked at.
///
/// # Errors
/// Names the line that is malformed or absent.
pub fn parse_host_stat(text: &str) -> Result<HostStat, TextError> {
    let mut stat = HostStat::default();
    let (mut has_cpu, mut has_switches) = (false, false);
    for (i, line) in text.lines().enumerate() {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "cpu" => {
                parse_cpu(rest, &mut stat).map_err(|problem| TextError::at(i, line, problem))?;
                has_cpu = true;
            }
            "ctxt" => {
                stat.context_switches = number(i, line, rest)?;
                has_switches = true;
            }
            "procs_running" => stat.procs_running = number(i, line, rest)?,
            "procs_blocked" => stat.procs_blocked = number(i, line, rest)?,
            _ if is_cpu_line(key) => stat.n_cpus += 1,
            _ => {}
        }
    }
    match (has_cpu, has_switches) {
        (false, _) => Err(TextError::absent(text, "the line \"cpu\"")),
        (_, false) => Err(TextError::absent(text, "the line \"ctxt\"")),
        _ => Ok(stat),
    }
}

fn is_cpu_line(key: &str) -> bool {
    key.strip_prefix("cpu").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn parse_cpu(rest: &str, stat: &mut HostStat) -> Result<(), String> {
    // user nice system idle iowait irq softirq steal; guest and guest_nice follow.
    let mut ticks = [0_u64; 8];
    let mut n_fields = 0;
    for (slot, field) in ticks.iter_mut().zip(rest.split_ascii_whitespace()) {
        *slot = field.parse().map_err(|_| format!("{field:?} is not a number of ticks"))?;
        n_fields += 1;
    }
    if n_fields < 4 {
        return Err(format!("{n_fields} fields where at least 4 were expected"));
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    stat.user_ticks = user.saturating_add(nice);
    stat.system_ticks = system.saturating_add(irq).saturating_add(softirq);
    stat.idle_ticks = idle;
    stat.iowait_ticks = iowait;
    stat.steal_ticks = steal;
    Ok(())
}

fn number(line_idx: usize, line: &str, text: &str) -> Result<u64, TextError> {
    text.trim().parse().map_err(|_| TextError::at(line_idx, line, "not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL_6: &str = "\
cpu  42493 7 4831 231413 965 3 202 155 40 5
cpu0 22016 0 2206 115144 518 0 58 70 0 0
cpu1 20477 7 2625 116269 446 3 144 85 40 5
intr 1234 0 9 0 0
ctxt 716571
btime 1795292987
processes 12884
procs_running 3
procs_blocked 1
softirq 325761 0 30883 4 53037 116865 0 218 67192 0 57562
";
    /// Linux 2.6.18: no guest columns, blocked processes only.
    const KERNEL_2_6_18: &str = "\
cpu  100 20 30 400 50 6 7 8
cpu0 100 20 30 400 50 6 7 8
ctxt 9
procs_running 1
procs_blocked 0
";

    #[test]
    fn kernel_6() {
        let expected = HostStat {
            user_ticks: 42_500,
            system_ticks: 5036,
            idle_ticks: 231_413,
            iowait_ticks: 965,
            steal_ticks: 155,
            context_switches: 716_571,
            procs_running: 3,
            procs_blocked: 1,
            n_cpus: 2,
        };
        assert_eq!(parse_host_stat(KERNEL_6), Ok(expected));
    }

    #[test]
    fn older_kernel_without_guest() {
        let stat = parse_host_stat(KERNEL_2_6_18).unwrap();
        assert_eq!((stat.user_ticks, stat.system_ticks, stat.steal_ticks), (120, 43, 8));
    }

    #[test]
    fn names_the_line() {
        let error = parse_host_stat("cpu  1 2 3 4\nctxt many\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2 \"ctxt many\": not a number");
        let error = parse_host_stat("cpu  1 2\nctxt 1\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1 \"cpu  1 2\": 2 fields where at least 4 were expected"
        );
        let error = parse_host_stat("cpu  1 2 3 4\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2 \"\": the line \"ctxt\" is absent");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(?s).{0,300}", line in "(cpu|ctxt|cpu[0-9]) [ 0-9]{0,80}") {
            let _ = parse_host_stat(&text);
            let _ = parse_host_stat(&line);
        }
    }
}
