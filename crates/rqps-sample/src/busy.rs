//! How busy other programs keep a host's CPUs, and which programs.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::process_text::parse_process_stat;
use crate::stat_text::{HostStat, parse_host_stat};

/// The use of a host's CPUs over some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Busy {
    /// Share of all CPU time that was used, from 0 to 1. Time that the hypervisor took counts as used.
    pub share: f64,
    /// The programs that used most of it, by name, with their shares, in falling order.
    pub programs: Vec<(String, f64)>,
}

/// Programs that are told.
const MOST_PROGRAMS: usize = 3;

/// The least share of all CPU time that makes a program one of them.
const LEAST_SHARE: f64 = 0.02;

/// Watches the host for some time, in which the caller sleeps. `None` where the kernel does not report it.
#[must_use]
pub fn busy(during: Duration) -> Option<Busy> {
    let before = (host()?, processes());
    #[expect(clippy::disallowed_methods, reason = "to watch for a while is the point")]
    std::thread::sleep(during);
    Some(between(&before.0, &host()?, &before.1, &processes()))
}

fn host() -> Option<HostStat> {
    parse_host_stat(&fs::read_to_string("/proc/stat").ok()?).ok()
}

/// A process as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    name: String,
    /// CPU time that it has used, ticks.
    ticks: u64,
    /// Tells a process from a later one with the same id. Names change: those of kernel threads with their work.
    started_ticks: u64,
}

/// The processes by their ids.
type Processes = BTreeMap<i32, Seen>;

fn processes() -> Processes {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let of = |pid: i32| {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, parse(&String::from_utf8_lossy(&text))?))
    };
    pids.filter_map(of).collect()
}

/// A process from its `stat`.
fn parse(text: &str) -> Option<Seen> {
    let stat = parse_process_stat(text).ok()?;
    let name = text.split_once('(')?.1.rsplit_once(')')?.0.to_owned();
    let ticks = stat.user_ticks.saturating_add(stat.system_ticks);
    Some(Seen { name, ticks, started_ticks: stat.start_ticks })
}

fn between(before: &HostStat, after: &HostStat, old: &Processes, new: &Processes) -> Busy {
    let used = |stat: &HostStat| stat.user_ticks + stat.system_ticks + stat.steal_ticks;
    let all = |stat: &HostStat| used(stat) + stat.idle_ticks + stat.iowait_ticks;
    let whole = all(after).saturating_sub(all(before)).max(1) as f64;
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (pid, own) in new {
        let was = old.get(pid).filter(|known| known.started_ticks == own.started_ticks);
        let used = own.ticks.saturating_sub(was.map_or(0, |was| was.ticks));
        *by_name.entry(&own.name).or_default() += used;
    }
    let shares = by_name.into_iter().map(|(name, ticks)| (name.to_owned(), ticks as f64 / whole));
    let mut programs: Vec<(String, f64)> =
        shares.filter(|(_, share)| *share >= LEAST_SHARE).collect();
    programs.sort_by(|a, b| b.1.total_cmp(&a.1));
    programs.truncate(MOST_PROGRAMS);
    Busy { share: used(after).saturating_sub(used(before)) as f64 / whole, programs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(user_ticks: u64, idle_ticks: u64) -> HostStat {
        HostStat { user_ticks, idle_ticks, steal_ticks: 10, ..HostStat::default() }
    }

    #[test]
    fn programs_are_told_by_what_they_used_meanwhile() {
        let of = |list: &[(i32, &str, u64, u64)]| -> Processes {
            let one = |(pid, name, ticks, started_ticks): &(i32, &str, u64, u64)| {
                let name = (*name).to_owned();
                (*pid, Seen { name, ticks: *ticks, started_ticks: *started_ticks })
            };
            list.iter().map(one).collect()
        };
        // 7 is another process than before, 9 has begun, 8 used nothing, 6 has another name by now.
        let old = of(&[(7, "sh", 900, 1), (8, "init", 50, 1), (5, "cc", 100, 1), (6, "a", 900, 1)]);
        let new = of(&[
            (7, "rustc", 40, 2),
            (8, "init", 50, 1),
            (9, "rustc", 20, 2),
            (5, "cc", 110, 1),
            (6, "b", 901, 1),
        ]);
        let found = between(&stat(1000, 1000), &stat(1080, 1120), &old, &new);
        assert!((found.share - 0.4).abs() < 1e-9, "{found:?}");
        let programs = [("rustc".to_owned(), 0.3), ("cc".to_owned(), 0.05)];
        assert_eq!(found.programs, programs);
    }

    #[test]
    fn a_name_may_hold_anything() {
        let text = "12 (a) R 1) S 1 2 3 0 -1 0 0 0 0 0 7 5 0 0 20 0 1 0 99 0 0";
        let seen = Seen { name: "a) R 1".to_owned(), ticks: 12, started_ticks: 99 };
        assert_eq!(parse(text), Some(seen));
        assert_eq!(parse("12 no name"), None);
    }

    #[test]
    fn this_host_tells() {
        let found = busy(Duration::from_millis(20)).unwrap();
        assert!((0.0..=1.0).contains(&found.share), "{found:?}");
    }
}
